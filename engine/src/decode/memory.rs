//! Loads and stores of 32 bits.

use super::operand::{indexed, load, offset, signed_offset, store};
use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Armv8, Armv81, Baseline, Mainline};
use crate::operation::{Addressing, Offset, Operation, Width};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    // Several registers.
    entry(Mainline, "STM", "1110100 010 W 0 nnnn (0) r (0) rrrrrrrrrrrrr", |f| store_multiple(f, false))
        .pc("n").unpredictable(&[few_registers, list_has_base]),
    entry(Mainline, "LDM", "1110100 010 W 1 nnnn p r (0) rrrrrrrrrrrrr", |f| load_multiple(f, false))
        .pc("n").unpredictable(&[few_registers, list_has_base, both_return_registers]),
    entry(Mainline, "POP", "1110100 010 1 1 1101 p r (0) rrrrrrrrrrrrr", |f| Operation::LoadMultiple { rn: 13, registers: list(f), decrement: false, writeback: true })
        .unpredictable(&[few_registers, both_return_registers]),
    entry(Mainline, "STMDB", "1110100 100 W 0 nnnn (0) r (0) rrrrrrrrrrrrr", |f| store_multiple(f, true))
        .pc("n").unpredictable(&[few_registers, list_has_base]),
    entry(Mainline, "PUSH", "1110100 100 1 0 1101 (0) r (0) rrrrrrrrrrrrr", |f| Operation::StoreMultiple { rn: 13, registers: list(f), decrement: true, writeback: true })
        .unpredictable(&[few_registers]),
    entry(Mainline, "LDMDB", "1110100 100 W 1 nnnn p r (0) rrrrrrrrrrrrr", |f| load_multiple(f, true))
        .pc("n").unpredictable(&[few_registers, list_has_base, both_return_registers]),
    entry(Armv81, "CLRM", "1110100 010 0 1 1111 p r (0) rrrrrrrrrrrrr", |f| Operation::ClearRegisters { registers: list(f) })
        .unpredictable(&[|f| list(f) == 0]),

    // Two registers.
    entry(Mainline, "STRD (immediate)", "1110100 P U 1 W 0 nnnn tttt ssss iiiiiiii", |f| Operation::StoreDouble { rt: f.reg('t'), rt2: f.reg('s'), addressing: double_addressing(f) })
        .bad("ts").pc("n").unpredictable(&[writes_base_back_twice]).undefined(is_unindexed),
    entry(Mainline, "LDRD (immediate)", "1110100 P U 1 W 1 nnnn tttt ssss iiiiiiii", load_double)
        .bad("ts").unpredictable(&[writes_base_back_twice, loads_twice]).undefined(is_unindexed),
    entry(Mainline, "LDRD (literal)", "1110100 1 U 1 (0) 1 1111 tttt ssss iiiiiiii", load_literals)
        .bad("ts").unpredictable(&[loads_twice]),
    entry(Armv8, "SG", "1110100 1 0 1 1 1 1111 1110 1001 0111 1111", |_| Operation::Nop),

    // Exclusives, acquire and release.
    entry(Baseline, "STREX", "1110100 0 0 1 0 0 nnnn tttt dddd iiiiiiii", |f| store_exclusive(f, Width::Word, f.get('i') * 4))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Baseline, "LDREX", "1110100 0 0 1 0 1 nnnn tttt (1)(1)(1)(1) iiiiiiii", |f| load_exclusive(f, Width::Word, f.get('i') * 4))
        .bad("t").pc("n"),
    entry(Baseline, "STREXB", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 0100 dddd", |f| store_exclusive(f, Width::Byte, 0))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Baseline, "STREXH", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 0101 dddd", |f| store_exclusive(f, Width::Half, 0))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Armv8, "STLB", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1000 (1)(1)(1)(1)", |f| store_release(f, Width::Byte))
        .bad("t").pc("n"),
    entry(Armv8, "STLH", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1001 (1)(1)(1)(1)", |f| store_release(f, Width::Half))
        .bad("t").pc("n"),
    entry(Armv8, "STL", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1010 (1)(1)(1)(1)", |f| store_release(f, Width::Word))
        .bad("t").pc("n"),
    entry(Armv8, "STLEXB", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1100 dddd", |f| store_exclusive(f, Width::Byte, 0))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Armv8, "STLEXH", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1101 dddd", |f| store_exclusive(f, Width::Half, 0))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Armv8, "STLEX", "1110100 0 1 1 0 0 nnnn tttt (1)(1)(1)(1) 1110 dddd", |f| store_exclusive(f, Width::Word, 0))
        .bad("dt").pc("n").unpredictable(&[overwrites_operand]),
    entry(Baseline, "LDREXB", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 0100 (1)(1)(1)(1)", |f| load_exclusive(f, Width::Byte, 0))
        .bad("t").pc("n"),
    entry(Baseline, "LDREXH", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 0101 (1)(1)(1)(1)", |f| load_exclusive(f, Width::Half, 0))
        .bad("t").pc("n"),
    entry(Armv8, "LDAB", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1000 (1)(1)(1)(1)", |f| load_acquire(f, Width::Byte))
        .bad("t").pc("n"),
    entry(Armv8, "LDAH", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1001 (1)(1)(1)(1)", |f| load_acquire(f, Width::Half))
        .bad("t").pc("n"),
    entry(Armv8, "LDA", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1010 (1)(1)(1)(1)", |f| load_acquire(f, Width::Word))
        .bad("t").pc("n"),
    entry(Armv8, "LDAEXB", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1100 (1)(1)(1)(1)", |f| load_exclusive(f, Width::Byte, 0))
        .bad("t").pc("n"),
    entry(Armv8, "LDAEXH", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1101 (1)(1)(1)(1)", |f| load_exclusive(f, Width::Half, 0))
        .bad("t").pc("n"),
    entry(Armv8, "LDAEX", "1110100 0 1 1 0 1 nnnn tttt (1)(1)(1)(1) 1110 (1)(1)(1)(1)", |f| load_exclusive(f, Width::Word, 0))
        .bad("t").pc("n"),

    // Words, whose load may be a branch.
    entry(Mainline, "LDR (immediate)", "11111 00 0 1 10 1 nnnn tttt iiiiiiiiiiii", |f| load(f, Width::Word, offset(f.reg('n'), f.get('i')))).not_pc("n"),
    entry(Mainline, "LDR (immediate)", "11111 00 0 0 10 1 nnnn tttt 1 P U W iiiiiiii", |f| load(f, Width::Word, addressing(f)))
        .not_pc("n").unpredictable(&[writes_base_back_twice]).undefined(is_unindexed),
    entry(Mainline, "LDRT", "11111 00 0 0 10 1 nnnn tttt 1 110 iiiiiiii", |f| load(f, Width::Word, offset(f.reg('n'), f.get('i'))))
        .not_pc("n").bad("t"),
    entry(Mainline, "LDR (register)", "11111 00 0 0 10 1 nnnn tttt 0 00000 ii mmmm", |f| load(f, Width::Word, indexed(f)))
        .not_pc("n").bad("m"),
    entry(Mainline, "LDR (literal)", "11111 00 0 U 10 1 1111 tttt iiiiiiiiiiii", |f| load(f, Width::Word, literal(f))),

    // Hints in the place of loads of bytes and halfwords to r15.
    entry(Mainline, "PLD (immediate)", "11111 00 0 1 00 1 nnnn 1111 iiiiiiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "PLD (immediate)", "11111 00 0 0 00 1 nnnn 1111 1 100 iiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "PLD (register)", "11111 00 0 0 00 1 nnnn 1111 0 00000 ii mmmm", |_| Operation::Nop)
        .not_pc("n").bad("m"),
    entry(Mainline, "PLD (literal)", "11111 00 0 U 00 1 1111 1111 iiiiiiiiiiii", |_| Operation::Nop),
    entry(Mainline, "PLI (immediate)", "11111 00 1 1 00 1 nnnn 1111 iiiiiiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "PLI (immediate)", "11111 00 1 0 00 1 nnnn 1111 1 100 iiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "PLI (register)", "11111 00 1 0 00 1 nnnn 1111 0 00000 ii mmmm", |_| Operation::Nop)
        .not_pc("n").bad("m"),
    entry(Mainline, "PLI (literal)", "11111 00 1 U 00 1 1111 1111 iiiiiiiiiiii", |_| Operation::Nop),
    entry(Mainline, "memory hint", "11111 00 0 1 01 1 nnnn 1111 iiiiiiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 0 0 01 1 nnnn 1111 1 100 iiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 0 0 01 1 nnnn 1111 0 00000 ii mmmm", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 0 U 01 1 1111 1111 iiiiiiiiiiii", |_| Operation::Nop),
    entry(Mainline, "memory hint", "11111 00 1 1 01 1 nnnn 1111 iiiiiiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 1 0 01 1 nnnn 1111 1 100 iiiiiiii", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 1 0 01 1 nnnn 1111 0 00000 ii mmmm", |_| Operation::Nop).not_pc("n"),
    entry(Mainline, "memory hint", "11111 00 1 U 01 1 1111 1111 iiiiiiiiiiii", |_| Operation::Nop),
];

/// The stores: a line for each, with the bits of its width.
macro_rules! stores {
    ($($name:literal $bits:literal $width:ident $check:ident)*) => { &[$(
        entry(
            Mainline,
            concat!($name, " (immediate)"),
            concat!("11111 00 0 1 ", $bits, " 0 nnnn tttt iiiiiiiiiiii"),
            |f| store(f, Width::$width, offset(f.reg('n'), f.get('i'))),
        )
        .$check("t").undefined(stores_to_literal),
        entry(
            Mainline,
            concat!($name, " (immediate)"),
            concat!("11111 00 0 0 ", $bits, " 0 nnnn tttt 1 P U W iiiiiiii"),
            |f| store(f, Width::$width, addressing(f)),
        )
        .$check("t")
        .unpredictable(&[writes_base_back_twice])
        .undefined(|f| stores_to_literal(f) || is_unindexed(f)),
        entry(
            Mainline,
            concat!($name, "T"),
            concat!("11111 00 0 0 ", $bits, " 0 nnnn tttt 1 110 iiiiiiii"),
            |f| store(f, Width::$width, offset(f.reg('n'), f.get('i'))),
        )
        .bad("t").undefined(stores_to_literal),
        entry(
            Mainline,
            concat!($name, " (register)"),
            concat!("11111 00 0 0 ", $bits, " 0 nnnn tttt 0 00000 ii mmmm"),
            |f| store(f, Width::$width, indexed(f)),
        )
        .$check("t")
        .unpredictable(&[|f| matches!(f.reg('m'), 13 | 15)])
        .undefined(stores_to_literal),
    )*] };
}

pub(super) const STORES: &[Entry] = stores! {
    "STRB" "00" Byte bad
    "STRH" "01" Half bad
    "STR" "10" Word pc
};

/// The loads of bytes and halfwords: a line for each, with the bits of its sign and width.
macro_rules! narrow_loads {
    ($($name:literal $sign:literal $bits:literal $width:ident $signed:literal)*) => { &[$(
        entry(
            Mainline,
            concat!($name, " (immediate)"),
            concat!("11111 00 ", $sign, " 1 ", $bits, " 1 nnnn tttt iiiiiiiiiiii"),
            |f| narrow_load(f, Width::$width, $signed, offset(f.reg('n'), f.get('i'))),
        )
        .sp("t").not_pc("n"),
        entry(
            Mainline,
            concat!($name, " (immediate)"),
            concat!("11111 00 ", $sign, " 0 ", $bits, " 1 nnnn tttt 1 P U W iiiiiiii"),
            |f| narrow_load(f, Width::$width, $signed, addressing(f)),
        )
        .bad("t").not_pc("n").unpredictable(&[writes_base_back_twice]).undefined(is_unindexed),
        entry(
            Mainline,
            concat!($name, "T"),
            concat!("11111 00 ", $sign, " 0 ", $bits, " 1 nnnn tttt 1 110 iiiiiiii"),
            |f| narrow_load(f, Width::$width, $signed, offset(f.reg('n'), f.get('i'))),
        )
        .bad("t").not_pc("n"),
        entry(
            Mainline,
            concat!($name, " (register)"),
            concat!("11111 00 ", $sign, " 0 ", $bits, " 1 nnnn tttt 0 00000 ii mmmm"),
            |f| narrow_load(f, Width::$width, $signed, indexed(f)),
        )
        .bad("m").sp("t").not_pc("n"),
        entry(
            Mainline,
            concat!($name, " (literal)"),
            concat!("11111 00 ", $sign, " U ", $bits, " 1 1111 tttt iiiiiiiiiiii"),
            |f| narrow_load(f, Width::$width, $signed, literal(f)),
        )
        .sp("t"),
    )*] };
}

pub(super) const NARROW_LOADS: &[Entry] = narrow_loads! {
    "LDRB" "0" "00" Byte false
    "LDRH" "0" "01" Half false
    "LDRSB" "1" "00" Byte true
    "LDRSH" "1" "01" Half true
};

/// The registers of a list: `p` stands for r15 and `r` for r14 and r12 to r0.
fn list(f: &Fields) -> u16 {
    let bits = f.get('r') as u16;
    (f.get('p') as u16) << 15 | (bits & 1 << 13) << 1 | bits & 0x1fff
}

fn few_registers(f: &Fields) -> bool {
    list(f).count_ones() < 2
}

fn list_has_base(f: &Fields) -> bool {
    f.bit('W') && list(f) >> f.get('n') & 1 == 1
}

fn both_return_registers(f: &Fields) -> bool {
    list(f) >> 14 == 3
}

/// Whether a load or store neither indexes nor writes back: there is none.
fn is_unindexed(f: &Fields) -> bool {
    !f.bit('P') && !f.bit('W')
}

fn stores_to_literal(f: &Fields) -> bool {
    f.reg('n') == 15
}

/// Whether the base is written back and is r15, or also loaded or stored. Pairs have a second
/// register `s`.
fn writes_base_back_twice(f: &Fields) -> bool {
    let n = f.reg('n');
    f.bit('W') && (n == 15 || n == f.reg('t') || f.has('s') && n == f.reg('s'))
}

fn loads_twice(f: &Fields) -> bool {
    f.get('t') == f.get('s')
}

/// Whether the result of an exclusive store overwrites base or value.
fn overwrites_operand(f: &Fields) -> bool {
    f.get('d') == f.get('n') || f.get('d') == f.get('t')
}

fn plus_or_minus(f: &Fields, value: u32) -> i32 {
    if f.bit('U') {
        value as i32
    } else {
        -(value as i32)
    }
}

fn addressing_by(f: &Fields, value: u32) -> Addressing {
    Addressing {
        rn: f.reg('n'),
        offset: Offset::Immediate(plus_or_minus(f, value)),
        index: f.bit('P'),
        writeback: f.bit('W'),
    }
}

fn addressing(f: &Fields) -> Addressing {
    addressing_by(f, f.get('i'))
}

fn double_addressing(f: &Fields) -> Addressing {
    addressing_by(f, f.get('i') * 4)
}

fn literal(f: &Fields) -> Addressing {
    signed_offset(15, plus_or_minus(f, f.get('i')))
}

fn narrow_load(f: &Fields, width: Width, signed: bool, addressing: Addressing) -> Operation {
    Operation::Load {
        width,
        signed,
        rt: f.reg('t'),
        addressing,
    }
}

fn load_double(f: &Fields) -> Operation {
    Operation::LoadDouble {
        rt: f.reg('t'),
        rt2: f.reg('s'),
        addressing: double_addressing(f),
    }
}

fn load_literals(f: &Fields) -> Operation {
    let addressing = signed_offset(15, plus_or_minus(f, f.get('i') * 4));
    Operation::LoadDouble {
        rt: f.reg('t'),
        rt2: f.reg('s'),
        addressing,
    }
}

fn load_multiple(f: &Fields, decrement: bool) -> Operation {
    Operation::LoadMultiple {
        rn: f.reg('n'),
        registers: list(f),
        decrement,
        writeback: f.bit('W'),
    }
}

fn store_multiple(f: &Fields, decrement: bool) -> Operation {
    Operation::StoreMultiple {
        rn: f.reg('n'),
        registers: list(f),
        decrement,
        writeback: f.bit('W'),
    }
}

fn load_exclusive(f: &Fields, width: Width, offset: u32) -> Operation {
    Operation::LoadExclusive {
        width,
        rt: f.reg('t'),
        rn: f.reg('n'),
        offset,
    }
}

fn store_exclusive(f: &Fields, width: Width, offset: u32) -> Operation {
    Operation::StoreExclusive {
        width,
        rd: f.reg('d'),
        rt: f.reg('t'),
        rn: f.reg('n'),
        offset,
    }
}

fn load_acquire(f: &Fields, width: Width) -> Operation {
    Operation::LoadAcquire {
        width,
        rt: f.reg('t'),
        rn: f.reg('n'),
    }
}

fn store_release(f: &Fields, width: Width) -> Operation {
    Operation::StoreRelease {
        width,
        rt: f.reg('t'),
        rn: f.reg('n'),
    }
}
