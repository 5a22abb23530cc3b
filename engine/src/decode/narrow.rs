//! Instructions of 16 bits.

use super::operand::{indexed, load, offset, register, shifted, store};
use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Base, Baseline, Mainline};
use crate::operation::{
    AluOperation, Comparison, Condition, Extension, Operation, Reversal, SetFlags, ShiftKind,
    Source, Width,
};
use AluOperation::{Adc, Add, And, Bic, Eor, Orr, Rsb, Sbc, Sub};
use SetFlags::{No, OutsideIt, Yes};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    entry(Base, "LSL (immediate)", "00000 iiiii mmm ddd", |f| shift(f, ShiftKind::Lsl)),
    entry(Base, "LSR (immediate)", "00001 iiiii mmm ddd", |f| shift(f, ShiftKind::Lsr)),
    entry(Base, "ASR (immediate)", "00010 iiiii mmm ddd", |f| shift(f, ShiftKind::Asr)),
    entry(Base, "MOV (register)", "00000 00000 mmm ddd", |f| moves(f, Yes, register(f.reg('m')))),
    entry(Base, "ADD (register)", "0001100 mmm nnn ddd", |f| alu(f, Add, 'n', register(f.reg('m')))),
    entry(Base, "SUB (register)", "0001101 mmm nnn ddd", |f| alu(f, Sub, 'n', register(f.reg('m')))),
    entry(Base, "ADD (immediate)", "0001110 iii nnn ddd", |f| alu(f, Add, 'n', number(f))),
    entry(Base, "SUB (immediate)", "0001111 iii nnn ddd", |f| alu(f, Sub, 'n', number(f))),
    entry(Base, "MOV (immediate)", "00100 ddd iiiiiiii", |f| moves(f, OutsideIt, number(f))),
    entry(Base, "CMP (immediate)", "00101 nnn iiiiiiii", |f| compare(f, Comparison::Cmp, number(f))),
    entry(Base, "ADD (immediate)", "00110 ddd iiiiiiii", |f| alu(f, Add, 'd', number(f))),
    entry(Base, "SUB (immediate)", "00111 ddd iiiiiiii", |f| alu(f, Sub, 'd', number(f))),

    entry(Base, "AND (register)", "0100000000 mmm ddd", |f| alu(f, And, 'd', register(f.reg('m')))),
    entry(Base, "EOR (register)", "0100000001 mmm ddd", |f| alu(f, Eor, 'd', register(f.reg('m')))),
    entry(Base, "LSL (register)", "0100000010 mmm ddd", |f| shift_by(f, ShiftKind::Lsl)),
    entry(Base, "LSR (register)", "0100000011 mmm ddd", |f| shift_by(f, ShiftKind::Lsr)),
    entry(Base, "ASR (register)", "0100000100 mmm ddd", |f| shift_by(f, ShiftKind::Asr)),
    entry(Base, "ADC (register)", "0100000101 mmm ddd", |f| alu(f, Adc, 'd', register(f.reg('m')))),
    entry(Base, "SBC (register)", "0100000110 mmm ddd", |f| alu(f, Sbc, 'd', register(f.reg('m')))),
    entry(Base, "ROR (register)", "0100000111 mmm ddd", |f| shift_by(f, ShiftKind::Ror)),
    entry(Base, "TST (register)", "0100001000 mmm nnn", |f| compare(f, Comparison::Tst, register(f.reg('m')))),
    entry(Base, "RSB (immediate)", "0100001001 nnn ddd", |f| alu(f, Rsb, 'n', number(f))),
    entry(Base, "CMP (register)", "0100001010 mmm nnn", |f| compare(f, Comparison::Cmp, register(f.reg('m')))),
    entry(Base, "CMN (register)", "0100001011 mmm nnn", |f| compare(f, Comparison::Cmn, register(f.reg('m')))),
    entry(Base, "ORR (register)", "0100001100 mmm ddd", |f| alu(f, Orr, 'd', register(f.reg('m')))),
    entry(Base, "MUL", "0100001101 nnn ddd", |f| Operation::Multiply { flags: OutsideIt, rd: f.reg('d'), rn: f.reg('n'), rm: f.reg('d') }),
    entry(Base, "BIC (register)", "0100001110 mmm ddd", |f| alu(f, Bic, 'd', register(f.reg('m')))),
    entry(Base, "MVN (register)", "0100001111 mmm ddd", |f| Operation::Move { not: true, flags: OutsideIt, rd: f.reg('d'), source: register(f.reg('m')) }),

    entry(Base, "ADD (register)", "01000100 d mmmm ddd", |f| add_high(f, f.reg('d')))
        .unpredictable(&[|f| f.reg('d') == 15 && f.reg('m') == 15]),
    entry(Base, "CMP (register)", "01000101 n mmmm nnn", |f| compare(f, Comparison::Cmp, register(f.reg('m'))))
        .pc("nm").unpredictable(&[|f| f.reg('n') < 8 && f.reg('m') < 8]),
    entry(Base, "MOV (register)", "01000110 d mmmm ddd", |f| moves(f, No, register(f.reg('m')))),
    entry(Base, "BX", "010001110 mmmm (0)(0)(0)", |f| Operation::BranchExchange { link: false, rm: f.reg('m') }),
    entry(Base, "BLX (register)", "010001111 mmmm (0)(0)(0)", |f| Operation::BranchExchange { link: true, rm: f.reg('m') })
        .pc("m"),

    entry(Base, "LDR (literal)", "01001 ttt iiiiiiii", |f| load(f, Width::Word, offset(15, f.get('i') * 4))),
    entry(Base, "STR (register)", "0101000 mmm nnn ttt", |f| store(f, Width::Word, indexed(f))),
    entry(Base, "STRH (register)", "0101001 mmm nnn ttt", |f| store(f, Width::Half, indexed(f))),
    entry(Base, "STRB (register)", "0101010 mmm nnn ttt", |f| store(f, Width::Byte, indexed(f))),
    entry(Base, "LDRSB (register)", "0101011 mmm nnn ttt", |f| load_signed(f, Width::Byte)),
    entry(Base, "LDR (register)", "0101100 mmm nnn ttt", |f| load(f, Width::Word, indexed(f))),
    entry(Base, "LDRH (register)", "0101101 mmm nnn ttt", |f| load(f, Width::Half, indexed(f))),
    entry(Base, "LDRB (register)", "0101110 mmm nnn ttt", |f| load(f, Width::Byte, indexed(f))),
    entry(Base, "LDRSH (register)", "0101111 mmm nnn ttt", |f| load_signed(f, Width::Half)),
    entry(Base, "STR (immediate)", "01100 iiiii nnn ttt", |f| store(f, Width::Word, offset(f.reg('n'), f.get('i') * 4))),
    entry(Base, "LDR (immediate)", "01101 iiiii nnn ttt", |f| load(f, Width::Word, offset(f.reg('n'), f.get('i') * 4))),
    entry(Base, "STRB (immediate)", "01110 iiiii nnn ttt", |f| store(f, Width::Byte, offset(f.reg('n'), f.get('i')))),
    entry(Base, "LDRB (immediate)", "01111 iiiii nnn ttt", |f| load(f, Width::Byte, offset(f.reg('n'), f.get('i')))),
    entry(Base, "STRH (immediate)", "10000 iiiii nnn ttt", |f| store(f, Width::Half, offset(f.reg('n'), f.get('i') * 2))),
    entry(Base, "LDRH (immediate)", "10001 iiiii nnn ttt", |f| load(f, Width::Half, offset(f.reg('n'), f.get('i') * 2))),
    entry(Base, "STR (immediate)", "10010 ttt iiiiiiii", |f| store(f, Width::Word, offset(13, f.get('i') * 4))),
    entry(Base, "LDR (immediate)", "10011 ttt iiiiiiii", |f| load(f, Width::Word, offset(13, f.get('i') * 4))),

    entry(Base, "ADR", "10100 ddd iiiiiiii", |f| Operation::Address { rd: f.reg('d'), offset: f.get('i') as i32 * 4 }),
    entry(Base, "ADD (SP plus immediate)", "10101 ddd iiiiiiii", |f| stack(Add, f.reg('d'), f.get('i') * 4)),
    entry(Base, "ADD (SP plus immediate)", "101100000 iiiiiii", |f| stack(Add, 13, f.get('i') * 4)),
    entry(Base, "SUB (SP minus immediate)", "101100001 iiiiiii", |f| stack(Sub, 13, f.get('i') * 4)),
    entry(Baseline, "CBZ", "1011 0 0 i 1 iiiii nnn", |f| compare_branch(f, false)),
    entry(Baseline, "CBNZ", "1011 1 0 i 1 iiiii nnn", |f| compare_branch(f, true)),
    entry(Base, "SXTH", "1011001000 mmm ddd", |f| extend(f, Extension::Sxth)),
    entry(Base, "SXTB", "1011001001 mmm ddd", |f| extend(f, Extension::Sxtb)),
    entry(Base, "UXTH", "1011001010 mmm ddd", |f| extend(f, Extension::Uxth)),
    entry(Base, "UXTB", "1011001011 mmm ddd", |f| extend(f, Extension::Uxtb)),
    entry(Base, "PUSH", "1011010 r rrrrrrrr", |f| Operation::StoreMultiple { rn: 13, registers: list(f, 14), decrement: true, writeback: true })
        .unpredictable(&[|f| f.get('r') == 0]),
    entry(Base, "CPS", "10110110011 m (0)(0) 1 0", |f| Operation::ChangeState { disable: f.bit('m'), primask: true, faultmask: false }),
    entry(Mainline, "CPS", "10110110011 m (0)(0) I F", |f| Operation::ChangeState { disable: f.bit('m'), primask: f.bit('I'), faultmask: f.bit('F') })
        .unpredictable(&[|f| !f.bit('I') && !f.bit('F')]),
    entry(Base, "REV", "1011101000 mmm ddd", |f| reverse(f, Reversal::Rev)),
    entry(Base, "REV16", "1011101001 mmm ddd", |f| reverse(f, Reversal::Rev16)),
    entry(Base, "REVSH", "1011101011 mmm ddd", |f| reverse(f, Reversal::Revsh)),
    entry(Base, "POP", "1011110 r rrrrrrrr", |f| Operation::LoadMultiple { rn: 13, registers: list(f, 15), decrement: false, writeback: true })
        .unpredictable(&[|f| f.get('r') == 0]),
    entry(Base, "BKPT", "10111110 iiiiiiii", |f| Operation::Breakpoint { number: f.reg('i') }),
    entry(Mainline, "IT", "10111111 cccc mmmm", |f| Operation::IfThen { state: f.reg('c') << 4 | f.reg('m') })
        .pc("c").unpredictable(&[|f| f.get('c') == 14 && !f.get('m').is_power_of_two()]),
    entry(Base, "NOP", "10111111 hhhh 0000", |_| Operation::Nop),
    entry(Base, "YIELD", "10111111 0001 0000", |_| Operation::Hint),
    entry(Base, "WFE", "10111111 0010 0000", |_| Operation::Sleep),
    entry(Base, "WFI", "10111111 0011 0000", |_| Operation::Sleep),
    entry(Base, "SEV", "10111111 0100 0000", |_| Operation::Hint),
    entry(Base, "STM", "11000 nnn rrrrrrrr", |f| Operation::StoreMultiple { rn: f.reg('n'), registers: f.get('r') as u16, decrement: false, writeback: true })
        .unpredictable(&[|f| f.get('r') == 0]),
    entry(Base, "LDM", "11001 nnn rrrrrrrr", |f| Operation::LoadMultiple { rn: f.reg('n'), registers: f.get('r') as u16, decrement: false, writeback: f.get('r') >> f.reg('n') & 1 == 0 })
        .unpredictable(&[|f| f.get('r') == 0]),
    entry(Base, "B", "1101 cccc iiiiiiii", |f| Operation::Branch { condition: Condition::from_bits(f.get('c')), offset: f.signed('i') * 2 }),
    entry(Base, "UDF", "1101 1110 iiiiiiii", |_| Operation::PermanentlyUndefined),
    entry(Base, "SVC", "1101 1111 iiiiiiii", |f| Operation::SupervisorCall { number: f.reg('i') }),
    entry(Base, "B", "11100 iiiiiiiiiii", |f| Operation::Branch { condition: Condition::Al, offset: f.signed('i') * 2 }),
];

fn number(f: &Fields) -> Source {
    Source::Immediate {
        value: f.get('i'),
        carry: None,
    }
}

fn moves(f: &Fields, flags: SetFlags, source: Source) -> Operation {
    Operation::Move {
        not: false,
        flags,
        rd: f.reg('d'),
        source,
    }
}

fn shift(f: &Fields, kind: ShiftKind) -> Operation {
    moves(
        f,
        OutsideIt,
        Source::Register(shifted(f.reg('m'), kind, f.reg('i'))),
    )
}

fn shift_by(f: &Fields, kind: ShiftKind) -> Operation {
    let [rd, rm] = [f.reg('d'), f.reg('m')];
    Operation::ShiftBy {
        kind,
        flags: OutsideIt,
        rd,
        rn: rd,
        rm,
    }
}

fn alu(f: &Fields, operation: AluOperation, base: char, source: Source) -> Operation {
    Operation::Alu {
        operation,
        flags: OutsideIt,
        rd: f.reg('d'),
        rn: f.reg(base),
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

fn add_high(f: &Fields, rd: u8) -> Operation {
    Operation::Alu {
        operation: Add,
        flags: No,
        rd,
        rn: rd,
        source: register(f.reg('m')),
    }
}

fn stack(operation: AluOperation, rd: u8, value: u32) -> Operation {
    let source = Source::Immediate { value, carry: None };
    Operation::Alu {
        operation,
        flags: No,
        rd,
        rn: 13,
        source,
    }
}

fn load_signed(f: &Fields, width: Width) -> Operation {
    Operation::Load {
        width,
        signed: true,
        rt: f.reg('t'),
        addressing: indexed(f),
    }
}

fn compare_branch(f: &Fields, nonzero: bool) -> Operation {
    Operation::CompareBranch {
        nonzero,
        rn: f.reg('n'),
        offset: f.get('i') as i32 * 2,
    }
}

fn extend(f: &Fields, extension: Extension) -> Operation {
    Operation::Extend {
        extension,
        rd: f.reg('d'),
        rn: None,
        rm: f.reg('m'),
        rotation: 0,
    }
}

fn reverse(f: &Fields, reversal: Reversal) -> Operation {
    Operation::Reverse {
        reversal,
        rd: f.reg('d'),
        rm: f.reg('m'),
    }
}

/// The registers of PUSH or POP, whose ninth bit stands for this one.
fn list(f: &Fields, ninth: u8) -> u16 {
    let bits = f.get('r') as u16;
    bits & 0xff | bits >> 8 << ninth
}
