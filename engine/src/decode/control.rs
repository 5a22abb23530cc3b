//! Branches, hints, barriers and special registers of 32 bits.

use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Armv8, Armv81, Base, Baseline, Dsp, Mainline};
use crate::operation::{Condition, Operation};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    entry(Mainline, "B", "11110 s cccc iiiiii 10 j 0 k iiiiiiiiiii", |f| Operation::Branch { condition: Condition::from_bits(f.get('c')), offset: conditional_offset(f) })
        .undefined(|f| f.get('c') >= 14),
    entry(Baseline, "B", "11110 s iiiiiiiiii 10 j 1 k iiiiiiiiiii", |f| Operation::Branch { condition: Condition::Al, offset: long_offset(f) }),
    entry(Base, "BL", "11110 s iiiiiiiiii 11 j 1 k iiiiiiiiiii", |f| Operation::BranchLink { offset: long_offset(f) }),
    entry(Mainline, "TBB", "11101000 1101 nnnn (1)(1)(1)(1) (0)(0)(0)(0) 000 0 mmmm", |f| Operation::TableBranch { half: false, rn: f.reg('n'), rm: f.reg('m') })
        .sp("n").bad("m"),
    entry(Mainline, "TBH", "11101000 1101 nnnn (1)(1)(1)(1) (0)(0)(0)(0) 000 1 mmmm", |f| Operation::TableBranch { half: true, rn: f.reg('n'), rm: f.reg('m') })
        .sp("n").bad("m"),
    entry(Armv81, "DLS", "11110 000010 0 nnnn 11 1 0 (0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0) 1", |f| Operation::LoopStart { rn: f.reg('n'), skip: None })
        .bad("n"),
    entry(Armv81, "WLS", "11110 000010 0 nnnn 11 0 0 j iiiiiiiiii 1", |f| Operation::LoopStart { rn: f.reg('n'), skip: Some(loop_offset(f)) })
        .bad("n"),
    entry(Armv81, "LE", "11110 000000 0 1111 11 0 0 j iiiiiiiiii 1", |f| Operation::LoopEnd { forever: false, offset: loop_offset(f) }),
    entry(Armv81, "LE", "11110 000001 0 1111 11 0 0 j iiiiiiiiii 1", |f| Operation::LoopEnd { forever: true, offset: loop_offset(f) }),

    entry(Mainline, "NOP", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 hhhhhhhh", |_| Operation::Nop),
    entry(Mainline, "YIELD", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 00000001", |_| Operation::Hint),
    entry(Mainline, "WFE", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 00000010", |_| Operation::Sleep),
    entry(Mainline, "WFI", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 00000011", |_| Operation::Sleep),
    entry(Mainline, "SEV", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 00000100", |_| Operation::Hint),
    entry(Mainline, "CSDB", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 00010100", |_| Operation::Nop),
    entry(Mainline, "DBG", "11110 0111010 (1)(1)(1)(1) 10 (0) 0 (0) 000 1111 oooo", |_| Operation::Nop),
    entry(Baseline, "CLREX", "11110 0111011 (1)(1)(1)(1) 10 (0) 0 (1)(1)(1)(1) 0010 (1)(1)(1)(1)", |_| Operation::ClearExclusive),
    entry(Base, "DSB", "11110 0111011 (1)(1)(1)(1) 10 (0) 0 (1)(1)(1)(1) 0100 oooo", |_| Operation::Nop),
    entry(Base, "DMB", "11110 0111011 (1)(1)(1)(1) 10 (0) 0 (1)(1)(1)(1) 0101 oooo", |_| Operation::Nop),
    entry(Base, "ISB", "11110 0111011 (1)(1)(1)(1) 10 (0) 0 (1)(1)(1)(1) 0110 oooo", |_| Operation::Nop),

    entry(Base, "MSR", "11110 0111 00 (0) nnnn 10 (0) 0 mm (0)(0) ssssssss", |f| Operation::WriteSpecial { rn: f.reg('n'), special: f.reg('s'), mask: f.reg('m') })
        .bad("n").unpredictable(&[is_unknown_special, has_wrong_mask]),
    entry(Base, "MRS", "11110 0111 11 (0) (1)(1)(1)(1) 10 (0) 0 dddd ssssssss", |f| Operation::ReadSpecial { rd: f.reg('d'), special: f.reg('s') })
        .bad("d").unpredictable(&[is_unknown_special]),
    entry(Base, "UDF", "11110 1111111 iiii 1010 iiiiiiiiiiii", |_| Operation::PermanentlyUndefined),
];

/// Whether a core like this has no special register of this number.
fn is_unknown_special(f: &Fields) -> bool {
    !match f.get('s') {
        0..=3 | 5..=9 | 16 | 20 => true,
        10 | 11 => f.features.meet(Armv8) && f.features.meet(Mainline),
        17..=19 => f.features.meet(Mainline),
        _ => false,
    }
}

/// Whether MSR does not write what it has to: only the first four registers have a choice.
fn has_wrong_mask(f: &Fields) -> bool {
    match f.get('m') {
        0 => true,
        2 => false,
        _ => f.get('s') > 3 || !f.features.meet(Dsp),
    }
}

fn conditional_offset(f: &Fields) -> i32 {
    sign(f) << 20 | (f.get('k') << 19 | f.get('j') << 18 | f.get('i') << 1) as i32
}

/// The offset of a branch whose next to highest bits are the others of `j` and `k` if the sign is
/// plus.
fn long_offset(f: &Fields) -> i32 {
    let same = |letter| u32::from(f.get(letter) == f.get('s'));
    sign(f) << 24 | (same('j') << 23 | same('k') << 22 | f.get('i') << 1) as i32
}

fn sign(f: &Fields) -> i32 {
    -i32::from(f.bit('s'))
}

fn loop_offset(f: &Fields) -> i32 {
    (f.get('i') << 2 | f.get('j') << 1) as i32
}
