//! What operands decide of an instruction's time.

use super::HALVES;
use super::registers::{accumulates, words};
use super::{Class, Pipeline};
use crate::core::Core;
use crate::operation::{Addressing, Offset, Operation, Width};

/// What operands decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Nothing.
    None,
    /// The quotient's length.
    Divide { signed: bool, rn: u8, rm: u8 },
    /// Whether both factors have 16 bits.
    LongMultiply { signed: bool, rn: u8, rm: u8 },
}

/// What a division takes beyond its least.
pub(crate) struct DivideExtra {
    pub(crate) most_extra_cycles: u32,
    /// Bits of the quotient.
    pub(crate) bits_per_cycle: u32,
}

/// Of all cores that divide.
pub(crate) const DIVIDE: DivideExtra = DivideExtra {
    most_extra_cycles: 10,
    bits_per_cycle: 3,
};
/// Cycles of the M3's long multiplication beyond its least where a factor has more than 16 bits.
pub(crate) const LONG_MULTIPLY_EXTRA: u32 = 2;

/// Halves of a cycle that an unaligned word takes more, by the lowest two bits of its address, four
/// bits each: two accesses in place of one, or three.
pub(crate) const UNALIGNED_WORD_HALVES: u32 = 0x4240;

impl Operands {
    pub(super) fn of(pipeline: Pipeline, class: Class, operation: &Operation) -> Self {
        match *operation {
            Operation::Divide { signed, rn, rm, .. } => Self::Divide { signed, rn, rm },
            Operation::MultiplyLong { signed, rn, rm, .. }
                if pipeline == Pipeline::CortexM3 && class == Class::MultiplyLong =>
            {
                Self::LongMultiply { signed, rn, rm }
            }
            _ => Self::None,
        }
    }

    /// Halves of a cycle that they add.
    pub(super) fn halves(self, core: &Core) -> u64 {
        let register = |index: u8| core.r[usize::from(index & 15)];
        match self {
            Self::None => 0,
            Self::Divide { signed, rn, rm } => {
                divide_extra_halves(signed, register(rn), register(rm))
            }
            Self::LongMultiply { signed, rn, rm } => {
                long_multiply_extra_halves(signed, register(rn), register(rm))
            }
        }
    }
}

fn magnitude(signed: bool, value: u32) -> u32 {
    if signed {
        (value as i32).unsigned_abs()
    } else {
        value
    }
}

/// Halves of a cycle that a division takes beyond its least: by the bits of its quotient.
fn divide_extra_halves(signed: bool, dividend: u32, divisor: u32) -> u64 {
    let (dividend, divisor) = (magnitude(signed, dividend), magnitude(signed, divisor));
    if divisor == 0 || dividend < divisor {
        return 0;
    }
    let quotient_bits = divisor.leading_zeros() - dividend.leading_zeros() + 1;
    let cycles = quotient_bits.div_ceil(DIVIDE.bits_per_cycle);
    u64::from(cycles.min(DIVIDE.most_extra_cycles)) * HALVES
}

/// Halves of a cycle that a long multiplication takes beyond its least.
fn long_multiply_extra_halves(signed: bool, a: u32, b: u32) -> u64 {
    let both = magnitude(signed, a) | magnitude(signed, b);
    u64::from(if both >> 16 == 0 {
        0
    } else {
        LONG_MULTIPLY_EXTRA
    }) * HALVES
}

/// What the M3's long multiplication takes at least: one cycle more with an addition, and one
/// more still where that is signed.
pub(super) fn least_long_multiply(operation: &Operation) -> u8 {
    match *operation {
        Operation::MultiplyLong {
            signed,
            accumulation,
            ..
        } if accumulates(accumulation) => 4 + u8::from(signed),
        _ => 3,
    }
}

/// What a load or store of one register accesses; `None` of all else.
fn single_access(operation: &Operation) -> Option<(Width, Addressing)> {
    match *operation {
        Operation::Load {
            width, addressing, ..
        }
        | Operation::Store {
            width, addressing, ..
        } => Some((width, addressing)),
        _ => None,
    }
}

/// Whether a load or store of one register may be unaligned: not by the stack pointer or the
/// program counter and whole words.
pub(super) fn may_be_unaligned(operation: &Operation) -> bool {
    let Some((width, addressing)) = single_access(operation) else {
        return false;
    };
    let by_words = match addressing.offset {
        Offset::Immediate(offset) => offset % 4 == 0,
        Offset::Register { .. } => false,
    };
    width != Width::Byte && !(by_words && matches!(addressing.rn, 13 | 15))
}

/// Where an instruction accesses memory, before it executes; `None` if it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) address: u32,
    /// Of one access, or of all of several.
    pub(super) size_bytes: u32,
}

impl Access {
    /// Of a load or store of one register, the only ones that may be unaligned.
    pub(super) fn single(operation: &Operation, core: &Core, pc: u32) -> Option<Self> {
        let (width, addressing) = single_access(operation)?;
        Some(Self {
            address: address(addressing, core, pc),
            size_bytes: width.bytes(),
        })
    }

    /// Of any load: where it begins, and the bytes of all its words.
    pub(super) fn load(operation: &Operation, core: &Core, pc: u32) -> Option<Self> {
        use Operation as O;
        let register = |index: u8| core.r[usize::from(index & 15)];
        let several = |rn: u8, decrement: bool| {
            let size_bytes = 4 * u32::from(words(operation));
            let base = register(rn);
            let address = if decrement {
                base.wrapping_sub(size_bytes)
            } else {
                base
            };
            (address, size_bytes)
        };
        let (address, size_bytes) = match *operation {
            O::Load { .. } => return Self::single(operation, core, pc),
            O::LoadDouble { addressing, .. } => (address(addressing, core, pc), 8),
            O::LoadMultiple { rn, decrement, .. } | O::FloatLoadMultiple { rn, decrement, .. } => {
                several(rn, decrement)
            }
            O::FloatLoad { rn, offset, .. } => {
                let base = match rn {
                    15 => pc.wrapping_add(4) & !3,
                    rn => register(rn),
                };
                let bytes = 4 * u32::from(words(operation));
                (base.wrapping_add_signed(offset), bytes)
            }
            O::LoadExclusive {
                width, rn, offset, ..
            } => (register(rn).wrapping_add(offset), width.bytes()),
            O::LoadAcquire { width, rn, .. } => (register(rn), width.bytes()),
            O::TableBranch { half, rn, rm } => {
                let base = match rn {
                    15 => pc.wrapping_add(4),
                    rn => register(rn),
                };
                let index = register(rm) << u32::from(half);
                (base.wrapping_add(index), 1 + u32::from(half))
            }
            _ => return None,
        };
        Some(Self {
            address,
            size_bytes,
        })
    }

    /// Halves of a cycle that it takes for being unaligned.
    pub(super) fn unaligned_halves(self) -> u64 {
        let low = self.address & 3;
        u64::from(match self.size_bytes {
            4 => UNALIGNED_WORD_HALVES >> (4 * low) & 0xf,
            2 => (low & 1) * HALVES as u32,
            _ => 0,
        })
    }
}

fn address(addressing: Addressing, core: &Core, pc: u32) -> u32 {
    let register = |index: u8| match index & 15 {
        15 => pc.wrapping_add(4),
        index => core.r[usize::from(index)],
    };
    let base = match addressing.rn {
        15 => register(15) & !3,
        rn => register(rn),
    };
    if !addressing.index {
        return base;
    }
    match addressing.offset {
        Offset::Immediate(offset) => base.wrapping_add_signed(offset),
        Offset::Register { rm, shift } => base.wrapping_add(register(rm) << shift),
    }
}
