//! Operands that many instructions have.

use super::row::Fields;
use crate::operation::{Addressing, Offset, Operation, ShiftKind, Shifted, Source, Width};

/// A register as it is.
pub(super) fn register(rm: u8) -> Source {
    Source::Register(unshifted(rm))
}

/// A register, shifted by nothing.
pub(super) fn unshifted(rm: u8) -> Shifted {
    Shifted {
        rm,
        kind: ShiftKind::Lsl,
        amount: 0,
    }
}

/// A register, shifted by a constant of 5 bits, which for 0 may mean 32, or for ROR be RRX.
pub(super) fn shifted(rm: u8, kind: ShiftKind, amount: u8) -> Shifted {
    let (kind, amount) = match (kind, amount) {
        (ShiftKind::Lsr | ShiftKind::Asr, 0) => (kind, 32),
        (ShiftKind::Ror, 0) => (ShiftKind::Rrx, 1),
        _ => (kind, amount),
    };
    Shifted { rm, kind, amount }
}

/// The kind of a shift, by its field of two bits.
pub(super) fn shift_kind(bits: u32) -> ShiftKind {
    use ShiftKind::{Asr, Lsl, Lsr, Ror};
    [Lsl, Lsr, Asr, Ror][(bits & 3) as usize]
}

/// The register `m`, shifted as the fields `t` and `i` say.
pub(super) fn shifted_register(f: &Fields) -> Shifted {
    shifted(f.reg('m'), shift_kind(f.get('t')), f.reg('i'))
}

/// The modified constant of the 12 bits `i`: a byte rotated or repeated.
pub(super) fn constant(f: &Fields, logical: bool) -> Source {
    let bits = f.get('i');
    let byte = bits & 0xff;
    let (value, rotated) = match bits >> 8 {
        0 => (byte, false),
        1 => (byte * 0x0001_0001, false),
        2 => (byte * 0x0100_0100, false),
        3 => (byte * 0x0101_0101, false),
        _ => ((0x80 | bits & 0x7f).rotate_right(bits >> 7), true),
    };
    let carry = (rotated && logical).then_some(value >> 31 == 1);
    Source::Immediate { value, carry }
}

/// Whether the constant `i` repeats a byte that is 0, which is unpredictable.
pub(super) fn repeats_zero(f: &Fields) -> bool {
    matches!(f.get('i'), 0x100 | 0x200 | 0x300)
}

/// At a register plus a constant.
pub(super) fn offset(rn: u8, offset: u32) -> Addressing {
    signed_offset(rn, offset as i32)
}

/// At a register plus or minus a constant.
pub(super) fn signed_offset(rn: u8, offset: i32) -> Addressing {
    Addressing {
        rn,
        offset: Offset::Immediate(offset),
        index: true,
        writeback: false,
    }
}

/// At the register `n` plus the register `m`, shifted by `i` if there is such a field.
pub(super) fn indexed(f: &Fields) -> Addressing {
    Addressing {
        rn: f.reg('n'),
        offset: Offset::Register {
            rm: f.reg('m'),
            shift: f.reg('i'),
        },
        index: true,
        writeback: false,
    }
}

/// A load of the register `t`, with zeros above.
pub(super) fn load(f: &Fields, width: Width, addressing: Addressing) -> Operation {
    Operation::Load {
        width,
        signed: false,
        rt: f.reg('t'),
        addressing,
    }
}

/// A store of the register `t`.
pub(super) fn store(f: &Fields, width: Width, addressing: Addressing) -> Operation {
    Operation::Store {
        width,
        rt: f.reg('t'),
        addressing,
    }
}
