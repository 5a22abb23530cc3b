//! Data processing of 32 bits: constants, shifted registers, bit fields, shifts, extensions.

use super::operand::{constant, register, repeats_zero, shifted, shifted_register};
use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Armv81, Baseline, Dsp, Mainline};
use crate::operation::{
    AluOperation, Comparison, Condition, Extension, Operation, Reversal, Selection, SetFlags,
    ShiftKind, Source,
};
use AluOperation::{Adc, Add, And, Bic, Eor, Orn, Orr, Rsb, Sbc, Sub};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    // A constant of a byte, rotated or repeated.
    entry(Mainline, "AND (immediate)", "11110 i 0 0000 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, And, constant(f, true)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "TST (immediate)", "11110 i 0 0000 1 nnnn 0 iii 1111 iiiiiiii", |f| compare(f, Comparison::Tst, constant(f, true)))
        .bad("n").unpredictable(&[repeats_zero]),
    entry(Mainline, "BIC (immediate)", "11110 i 0 0001 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Bic, constant(f, true)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "ORR (immediate)", "11110 i 0 0010 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Orr, constant(f, true)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "MOV (immediate)", "11110 i 0 0010 S 1111 0 iii dddd iiiiiiii", |f| moves(f, false, constant(f, true)))
        .bad("d").unpredictable(&[repeats_zero]),
    entry(Mainline, "ORN (immediate)", "11110 i 0 0011 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Orn, constant(f, true)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "MVN (immediate)", "11110 i 0 0011 S 1111 0 iii dddd iiiiiiii", |f| moves(f, true, constant(f, true)))
        .bad("d").unpredictable(&[repeats_zero]),
    entry(Mainline, "EOR (immediate)", "11110 i 0 0100 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Eor, constant(f, true)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "TEQ (immediate)", "11110 i 0 0100 1 nnnn 0 iii 1111 iiiiiiii", |f| compare(f, Comparison::Teq, constant(f, true)))
        .bad("n").unpredictable(&[repeats_zero]),
    entry(Mainline, "ADD (immediate)", "11110 i 0 1000 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Add, constant(f, false)))
        .pc("dn").unpredictable(&[repeats_zero, makes_stack_pointer]),
    entry(Mainline, "CMN (immediate)", "11110 i 0 1000 1 nnnn 0 iii 1111 iiiiiiii", |f| compare(f, Comparison::Cmn, constant(f, false)))
        .pc("n").unpredictable(&[repeats_zero]),
    entry(Mainline, "ADC (immediate)", "11110 i 0 1010 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Adc, constant(f, false)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "SBC (immediate)", "11110 i 0 1011 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Sbc, constant(f, false)))
        .bad("dn").unpredictable(&[repeats_zero]),
    entry(Mainline, "SUB (immediate)", "11110 i 0 1101 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Sub, constant(f, false)))
        .pc("dn").unpredictable(&[repeats_zero, makes_stack_pointer]),
    entry(Mainline, "CMP (immediate)", "11110 i 0 1101 1 nnnn 0 iii 1111 iiiiiiii", |f| compare(f, Comparison::Cmp, constant(f, false)))
        .pc("n").unpredictable(&[repeats_zero]),
    entry(Mainline, "RSB (immediate)", "11110 i 0 1110 S nnnn 0 iii dddd iiiiiiii", |f| alu(f, Rsb, constant(f, false)))
        .bad("dn").unpredictable(&[repeats_zero]),

    // A plain constant.
    entry(Mainline, "ADD (immediate)", "11110 i 1 0000 0 nnnn 0 iii dddd iiiiiiii", |f| alu(f, Add, number(f)))
        .pc("d").unpredictable(&[makes_stack_pointer]),
    entry(Mainline, "ADR", "11110 i 1 0000 0 1111 0 iii dddd iiiiiiii", |f| Operation::Address { rd: f.reg('d'), offset: f.get('i') as i32 })
        .bad("d"),
    entry(Mainline, "SUB (immediate)", "11110 i 1 0101 0 nnnn 0 iii dddd iiiiiiii", |f| alu(f, Sub, number(f)))
        .pc("d").unpredictable(&[makes_stack_pointer]),
    entry(Mainline, "ADR", "11110 i 1 0101 0 1111 0 iii dddd iiiiiiii", |f| Operation::Address { rd: f.reg('d'), offset: -(f.get('i') as i32) })
        .bad("d"),
    entry(Baseline, "MOV (immediate)", "11110 i 1 0010 0 jjjj 0 kkk dddd kkkkkkkk", |f| moves(f, false, Source::Immediate { value: half(f).into(), carry: None }))
        .bad("d"),
    entry(Baseline, "MOVT", "11110 i 1 0110 0 jjjj 0 kkk dddd kkkkkkkk", |f| Operation::MoveTop { rd: f.reg('d'), value: half(f) })
        .bad("d"),

    // Bit fields and saturation.
    entry(Mainline, "SSAT", "11110 (0) 11 00 t 0 nnnn 0 iii dddd ii (0) bbbbb", |f| saturate(f, true))
        .bad("dn").undefined(|f| f.bit('t') && f.get('i') == 0),
    entry(Dsp, "SSAT16", "11110 (0) 11 00 1 0 nnnn 0 000 dddd 00 (0)(0) bbbb", |f| Operation::SaturateHalves { signed: true, bits: f.reg('b') + 1, rd: f.reg('d'), rn: f.reg('n') })
        .bad("dn"),
    entry(Mainline, "SBFX", "11110 (0) 11 01 0 0 nnnn 0 iii dddd ii (0) wwwww", |f| extract(f, true))
        .bad("dn").unpredictable(&[|f| f.get('i') + f.get('w') > 31]),
    entry(Mainline, "BFI", "11110 (0) 11 01 1 0 nnnn 0 iii dddd ii (0) bbbbb", |f| insert(f, Some(f.reg('n'))))
        .bad("d").sp("n").unpredictable(&[|f| f.get('b') < f.get('i')]),
    entry(Mainline, "BFC", "11110 (0) 11 01 1 0 1111 0 iii dddd ii (0) bbbbb", |f| insert(f, None))
        .bad("d").unpredictable(&[|f| f.get('b') < f.get('i')]),
    entry(Mainline, "USAT", "11110 (0) 11 10 t 0 nnnn 0 iii dddd ii (0) bbbbb", |f| saturate(f, false))
        .bad("dn").undefined(|f| f.bit('t') && f.get('i') == 0),
    entry(Dsp, "USAT16", "11110 (0) 11 10 1 0 nnnn 0 000 dddd 00 (0)(0) bbbb", |f| Operation::SaturateHalves { signed: false, bits: f.reg('b'), rd: f.reg('d'), rn: f.reg('n') })
        .bad("dn"),
    entry(Mainline, "UBFX", "11110 (0) 11 11 0 0 nnnn 0 iii dddd ii (0) wwwww", |f| extract(f, false))
        .bad("dn").unpredictable(&[|f| f.get('i') + f.get('w') > 31]),

    // A shifted register.
    entry(Mainline, "AND (register)", "11101 01 0000 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, And, shift(f)))
        .bad("dnm"),
    entry(Mainline, "TST (register)", "11101 01 0000 1 nnnn (0) iii 1111 ii tt mmmm", |f| compare(f, Comparison::Tst, shift(f)))
        .bad("nm"),
    entry(Mainline, "BIC (register)", "11101 01 0001 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Bic, shift(f)))
        .bad("dnm"),
    // Where the fifth bit of the second halfword is 1 are the conditional selects.
    entry(Mainline, "ORR (register)", "11101 01 0010 S nnnn 0 iii dddd ii tt mmmm", |f| alu(f, Orr, shift(f)))
        .bad("dnm"),
    entry(Mainline, "MOV (register)", "11101 01 0010 S 1111 0 000 dddd 00 00 mmmm", |f| moves(f, false, register(f.reg('m'))))
        .pc("dm").unpredictable(&[
            |f| f.reg('d') == 13 && (f.bit('S') || f.reg('m') == 13),
            |f| f.reg('m') == 13 && f.bit('S'),
        ]),
    entry(Mainline, "LSL (immediate)", "11101 01 0010 S 1111 0 iii dddd ii 00 mmmm", |f| shift_constant(f, ShiftKind::Lsl))
        .bad("dm"),
    entry(Mainline, "LSR (immediate)", "11101 01 0010 S 1111 0 iii dddd ii 01 mmmm", |f| shift_constant(f, ShiftKind::Lsr))
        .bad("dm"),
    entry(Mainline, "ASR (immediate)", "11101 01 0010 S 1111 0 iii dddd ii 10 mmmm", |f| shift_constant(f, ShiftKind::Asr))
        .bad("dm"),
    entry(Mainline, "ROR (immediate)", "11101 01 0010 S 1111 0 iii dddd ii 11 mmmm", |f| shift_constant(f, ShiftKind::Ror))
        .bad("dm"),
    entry(Mainline, "RRX", "11101 01 0010 S 1111 0 000 dddd 00 11 mmmm", |f| shift_constant(f, ShiftKind::Ror))
        .bad("dm"),
    entry(Mainline, "ORN (register)", "11101 01 0011 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Orn, shift(f)))
        .bad("dnm"),
    entry(Mainline, "MVN (register)", "11101 01 0011 S 1111 (0) iii dddd ii tt mmmm", |f| moves(f, true, shift(f)))
        .bad("dm"),
    entry(Mainline, "EOR (register)", "11101 01 0100 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Eor, shift(f)))
        .bad("dnm"),
    entry(Mainline, "TEQ (register)", "11101 01 0100 1 nnnn (0) iii 1111 ii tt mmmm", |f| compare(f, Comparison::Teq, shift(f)))
        .bad("nm"),
    entry(Dsp, "PKHBT", "11101 01 0110 0 nnnn (0) iii dddd ii 00 mmmm", |f| pack(f, ShiftKind::Lsl))
        .bad("dnm"),
    entry(Dsp, "PKHTB", "11101 01 0110 0 nnnn (0) iii dddd ii 10 mmmm", |f| pack(f, ShiftKind::Asr))
        .bad("dnm"),
    entry(Mainline, "ADD (register)", "11101 01 1000 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Add, shift(f)))
        .bad("m").pc("dn").unpredictable(&[makes_stack_pointer, shifts_stack_pointer]),
    entry(Mainline, "CMN (register)", "11101 01 1000 1 nnnn (0) iii 1111 ii tt mmmm", |f| compare(f, Comparison::Cmn, shift(f)))
        .bad("m").pc("n"),
    entry(Mainline, "ADC (register)", "11101 01 1010 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Adc, shift(f)))
        .bad("dnm"),
    entry(Mainline, "SBC (register)", "11101 01 1011 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Sbc, shift(f)))
        .bad("dnm"),
    entry(Mainline, "SUB (register)", "11101 01 1101 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Sub, shift(f)))
        .bad("m").pc("dn").unpredictable(&[makes_stack_pointer, shifts_stack_pointer]),
    entry(Mainline, "CMP (register)", "11101 01 1101 1 nnnn (0) iii 1111 ii tt mmmm", |f| compare(f, Comparison::Cmp, shift(f)))
        .bad("m").pc("n"),
    entry(Mainline, "RSB (register)", "11101 01 1110 S nnnn (0) iii dddd ii tt mmmm", |f| alu(f, Rsb, shift(f)))
        .bad("dnm"),
    entry(Armv81, "CSEL", "11101 01 0010 1 nnnn 1 000 dddd cccc mmmm", |f| select(f, Selection::Csel))
        .bad("d").sp("nm").undefined(|f| f.get('c') >= 14),
    entry(Armv81, "CSINC", "11101 01 0010 1 nnnn 1 001 dddd cccc mmmm", |f| select(f, Selection::Csinc))
        .bad("d").sp("nm").undefined(|f| f.get('c') >= 14),
    entry(Armv81, "CSINV", "11101 01 0010 1 nnnn 1 010 dddd cccc mmmm", |f| select(f, Selection::Csinv))
        .bad("d").sp("nm").undefined(|f| f.get('c') >= 14),
    entry(Armv81, "CSNEG", "11101 01 0010 1 nnnn 1 011 dddd cccc mmmm", |f| select(f, Selection::Csneg))
        .bad("d").sp("nm").undefined(|f| f.get('c') >= 14),

    // Registers only.
    entry(Mainline, "LSL (register)", "11111 010 000 S nnnn 1111 dddd 0000 mmmm", |f| shift_by(f, ShiftKind::Lsl))
        .bad("dnm"),
    entry(Mainline, "LSR (register)", "11111 010 001 S nnnn 1111 dddd 0000 mmmm", |f| shift_by(f, ShiftKind::Lsr))
        .bad("dnm"),
    entry(Mainline, "ASR (register)", "11111 010 010 S nnnn 1111 dddd 0000 mmmm", |f| shift_by(f, ShiftKind::Asr))
        .bad("dnm"),
    entry(Mainline, "ROR (register)", "11111 010 011 S nnnn 1111 dddd 0000 mmmm", |f| shift_by(f, ShiftKind::Ror))
        .bad("dnm"),
    entry(Dsp, "SXTAH", "11111 010 0 000 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxth, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Mainline, "SXTH", "11111 010 0 000 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxth, None))
        .bad("dm"),
    entry(Dsp, "UXTAH", "11111 010 0 001 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxth, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Mainline, "UXTH", "11111 010 0 001 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxth, None))
        .bad("dm"),
    entry(Dsp, "SXTAB16", "11111 010 0 010 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxtb16, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Dsp, "SXTB16", "11111 010 0 010 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxtb16, None))
        .bad("dm"),
    entry(Dsp, "UXTAB16", "11111 010 0 011 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxtb16, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Dsp, "UXTB16", "11111 010 0 011 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxtb16, None))
        .bad("dm"),
    entry(Dsp, "SXTAB", "11111 010 0 100 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxtb, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Mainline, "SXTB", "11111 010 0 100 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Sxtb, None))
        .bad("dm"),
    entry(Dsp, "UXTAB", "11111 010 0 101 nnnn 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxtb, Some(f.reg('n'))))
        .bad("dm").sp("n"),
    entry(Mainline, "UXTB", "11111 010 0 101 1111 1111 dddd 1 (0) rr mmmm", |f| extend(f, Extension::Uxtb, None))
        .bad("dm"),
    entry(Mainline, "REV", "11111 010 1 001 nnnn 1111 dddd 1 000 mmmm", |f| reverse(f, Reversal::Rev))
        .bad("dm").unpredictable(&[differ]),
    entry(Mainline, "REV16", "11111 010 1 001 nnnn 1111 dddd 1 001 mmmm", |f| reverse(f, Reversal::Rev16))
        .bad("dm").unpredictable(&[differ]),
    entry(Mainline, "RBIT", "11111 010 1 001 nnnn 1111 dddd 1 010 mmmm", |f| reverse(f, Reversal::Rbit))
        .bad("dm").unpredictable(&[differ]),
    entry(Mainline, "REVSH", "11111 010 1 001 nnnn 1111 dddd 1 011 mmmm", |f| reverse(f, Reversal::Revsh))
        .bad("dm").unpredictable(&[differ]),
    entry(Mainline, "CLZ", "11111 010 1 011 nnnn 1111 dddd 1 000 mmmm", |f| Operation::CountLeadingZeros { rd: f.reg('d'), rm: f.reg('m') })
        .bad("dm").unpredictable(&[differ]),
];

/// Whether the stack pointer is to be what was not made from it.
fn makes_stack_pointer(f: &Fields) -> bool {
    f.reg('d') == 13 && f.reg('n') != 13
}

/// Whether the stack pointer is to change by a register shifted by more than LSL by 3.
fn shifts_stack_pointer(f: &Fields) -> bool {
    f.reg('d') == 13 && (f.get('t') != 0 || f.get('i') > 3)
}

/// Whether the register that is given twice is not the same.
fn differ(f: &Fields) -> bool {
    f.get('n') != f.get('m')
}

fn flags(f: &Fields) -> SetFlags {
    if f.bit('S') {
        SetFlags::Yes
    } else {
        SetFlags::No
    }
}

fn alu(f: &Fields, operation: AluOperation, source: Source) -> Operation {
    Operation::Alu {
        operation,
        flags: flags(f),
        rd: f.reg('d'),
        rn: f.reg('n'),
        source,
    }
}

fn moves(f: &Fields, not: bool, source: Source) -> Operation {
    Operation::Move {
        not,
        flags: flags(f),
        rd: f.reg('d'),
        source,
    }
}

fn compare(f: &Fields, comparison: Comparison, source: Source) -> Operation {
    Operation::Compare {
        comparison,
        rn: f.reg('n'),
        source,
    }
}

fn number(f: &Fields) -> Source {
    Source::Immediate {
        value: f.get('i'),
        carry: None,
    }
}

fn half(f: &Fields) -> u16 {
    (f.get('j') << 12 | f.get('i') << 11 | f.get('k')) as u16
}

fn shift(f: &Fields) -> Source {
    Source::Register(shifted_register(f))
}

fn shift_constant(f: &Fields, kind: ShiftKind) -> Operation {
    moves(
        f,
        false,
        Source::Register(shifted(f.reg('m'), kind, f.reg('i'))),
    )
}

fn shift_by(f: &Fields, kind: ShiftKind) -> Operation {
    Operation::ShiftBy {
        kind,
        flags: flags(f),
        rd: f.reg('d'),
        rn: f.reg('n'),
        rm: f.reg('m'),
    }
}

fn saturate(f: &Fields, signed: bool) -> Operation {
    let kind = if f.bit('t') {
        ShiftKind::Asr
    } else {
        ShiftKind::Lsl
    };
    let source = shifted(f.reg('n'), kind, f.reg('i'));
    Operation::Saturate {
        signed,
        bits: f.reg('b') + u8::from(signed),
        rd: f.reg('d'),
        source,
    }
}

fn extract(f: &Fields, signed: bool) -> Operation {
    Operation::BitFieldExtract {
        signed,
        rd: f.reg('d'),
        rn: f.reg('n'),
        lsb: f.reg('i'),
        width: f.reg('w') + 1,
    }
}

fn insert(f: &Fields, rn: Option<u8>) -> Operation {
    let lsb = f.reg('i');
    Operation::BitFieldInsert {
        rd: f.reg('d'),
        rn,
        lsb,
        width: f.reg('b') + 1 - lsb,
    }
}

fn pack(f: &Fields, kind: ShiftKind) -> Operation {
    let source = shifted(f.reg('m'), kind, f.reg('i'));
    Operation::Pack {
        top: kind == ShiftKind::Asr,
        rd: f.reg('d'),
        rn: f.reg('n'),
        source,
    }
}

fn select(f: &Fields, selection: Selection) -> Operation {
    let condition = Condition::from_bits(f.get('c'));
    Operation::ConditionalSelect {
        selection,
        condition,
        rd: f.reg('d'),
        rn: f.reg('n'),
        rm: f.reg('m'),
    }
}

fn extend(f: &Fields, extension: Extension, rn: Option<u8>) -> Operation {
    Operation::Extend {
        extension,
        rd: f.reg('d'),
        rn,
        rm: f.reg('m'),
        rotation: f.reg('r') * 8,
    }
}

fn reverse(f: &Fields, reversal: Reversal) -> Operation {
    Operation::Reverse {
        reversal,
        rd: f.reg('d'),
        rm: f.reg('m'),
    }
}
