//! What an instruction computes from what.

use super::places::{
    C, COMPARED, EXCEPTIONS, GE, NZ, NZCV, Places, Q, asked_by, core, cores, float, single,
};
use crate::operation::{
    Accumulation, Addressing, AluOperation, Comparison, Lanes, Offset, Operation, Precision,
    SetFlags, ShiftKind, Shifted, Source,
};

/// Which places an instruction uses, and how. What it loads and stores is a
/// [`Transfer`](super::transfer::Transfer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Footprint {
    /// What values are computed from.
    pub(super) reads: Places,
    /// What holds them afterwards.
    pub(super) writes: Places,
    /// What holds them, or stays as it was.
    pub(super) changes: Places,
    /// What decides where the program goes on.
    pub(super) decides: Places,
    /// What decides how the core works from now on.
    pub(super) sets_up: Places,
}

/// The footprint of an instruction, which is in an IT block or not.
pub(super) fn footprint(operation: &Operation, in_it_block: bool) -> Footprint {
    let found = data_processing(operation, in_it_block)
        .or_else(|| bits(operation))
        .or_else(|| multiplication(operation, in_it_block))
        .or_else(|| control(operation))
        .or_else(|| floating_point(operation))
        .or_else(|| float_move(operation))
        .or_else(|| written_back(operation));
    let mut footprint = found.unwrap_or_default();
    // A program counter that is computed is a branch, of itself too.
    if footprint.writes & core(15) != 0 {
        footprint.decides |= footprint.reads | core(15);
        footprint.writes &= !core(15);
    }
    footprint
}

/// What an address is made of.
pub(super) fn base(addressing: Addressing) -> Places {
    let index = match addressing.offset {
        Offset::Immediate(_) => 0,
        Offset::Register { rm, .. } => core(rm),
    };
    core(addressing.rn) & !core(15) | index
}

fn computed(reads: Places, writes: Places) -> Footprint {
    Footprint {
        // The program counter is the same whatever the data are.
        reads: reads & !core(15),
        writes,
        ..Footprint::default()
    }
}

/// May set Q, which stays set.
fn saturating(footprint: Footprint) -> Footprint {
    Footprint {
        changes: footprint.changes | Q,
        ..footprint
    }
}

fn of_shifted(shifted: Shifted) -> Places {
    match shifted.kind {
        ShiftKind::Rrx => core(shifted.rm) | C,
        _ => core(shifted.rm),
    }
}

fn of_source(source: Source) -> Places {
    match source {
        Source::Immediate { .. } => 0,
        Source::Register(shifted) => of_shifted(shifted),
    }
}

fn sets(flags: SetFlags, in_it_block: bool) -> bool {
    match flags {
        SetFlags::No => false,
        SetFlags::Yes => true,
        SetFlags::OutsideIt => !in_it_block,
    }
}

/// Flags of logical operations: V stays, C is that of the shift, where there is one.
fn logical_flags(source: Source) -> Places {
    let carries = match source {
        Source::Immediate { carry, .. } => carry.is_some(),
        Source::Register(shifted) => shifted.amount != 0 || shifted.kind != ShiftKind::Lsl,
    };
    if carries { NZ | C } else { NZ }
}

fn data_processing(operation: &Operation, in_it_block: bool) -> Option<Footprint> {
    use Operation as O;
    Some(match *operation {
        O::Alu {
            operation,
            flags,
            rd,
            rn,
            source,
        } => {
            use AluOperation::{Adc, Add, And, Bic, Eor, Orn, Orr, Rsb, Sbc, Sub};
            let carry = if matches!(operation, Adc | Sbc) { C } else { 0 };
            let set = match operation {
                _ if !sets(flags, in_it_block) => 0,
                And | Bic | Orr | Orn | Eor => logical_flags(source),
                Add | Adc | Sub | Sbc | Rsb => NZCV,
            };
            computed(core(rn) | of_source(source) | carry, core(rd) | set)
        }
        O::Move {
            flags, rd, source, ..
        } => {
            let set = if sets(flags, in_it_block) {
                logical_flags(source)
            } else {
                0
            };
            computed(of_source(source), core(rd) | set)
        }
        O::Compare {
            comparison,
            rn,
            source,
        } => {
            let set = match comparison {
                Comparison::Tst | Comparison::Teq => logical_flags(source),
                Comparison::Cmp | Comparison::Cmn => NZCV,
            };
            computed(core(rn) | of_source(source), set)
        }
        O::ShiftBy {
            flags, rd, rn, rm, ..
        } => {
            let set = sets(flags, in_it_block);
            Footprint {
                // A shift by 0 leaves the carry.
                changes: if set { C } else { 0 },
                ..computed(cores([rn, rm]), core(rd) | if set { NZ } else { 0 })
            }
        }
        _ => return None,
    })
}

fn bits(operation: &Operation) -> Option<Footprint> {
    use Operation as O;
    let optional = |register: Option<u8>| register.map_or(0, core);
    Some(match *operation {
        O::MoveTop { rd, .. } => computed(core(rd), core(rd)),
        O::Address { rd, .. } => computed(0, core(rd)),
        O::Extend { rd, rn, rm, .. } => computed(core(rm) | optional(rn), core(rd)),
        O::Reverse { rd, rm, .. } | O::CountLeadingZeros { rd, rm } => computed(core(rm), core(rd)),
        O::BitFieldInsert { rd, rn, .. } => computed(core(rd) | optional(rn), core(rd)),
        O::BitFieldExtract { rd, rn, .. } => computed(core(rn), core(rd)),
        O::ConditionalSelect {
            condition,
            rd,
            rn,
            rm,
            ..
        } => computed(cores([rn, rm]) | asked_by(condition), core(rd)),
        O::Parallel {
            lanes, rd, rn, rm, ..
        } => {
            let compares = matches!(lanes, Lanes::Signed | Lanes::Unsigned);
            computed(cores([rn, rm]), core(rd) | if compares { GE } else { 0 })
        }
        O::SaturatingAdd { rd, rm, rn, .. } => saturating(computed(cores([rn, rm]), core(rd))),
        O::Saturate { rd, source, .. } => saturating(computed(of_shifted(source), core(rd))),
        O::SaturateHalves { rd, rn, .. } => saturating(computed(core(rn), core(rd))),
        O::SumOfDifferences { rd, rn, rm, ra } => {
            computed(cores([rn, rm]) | optional(ra), core(rd))
        }
        O::Select { rd, rn, rm } => computed(cores([rn, rm]) | GE, core(rd)),
        O::Pack { rd, rn, source, .. } => computed(core(rn) | of_shifted(source), core(rd)),
        _ => return None,
    })
}

fn multiplication(operation: &Operation, in_it_block: bool) -> Option<Footprint> {
    use Operation as O;
    let optional = |register: Option<u8>| register.map_or(0, core);
    Some(match *operation {
        O::Multiply { flags, rd, rn, rm } => {
            let set = if sets(flags, in_it_block) { NZ } else { 0 };
            computed(cores([rn, rm]), core(rd) | set)
        }
        O::MultiplyAdd { rd, rn, rm, ra, .. } => computed(cores([rn, rm, ra]), core(rd)),
        O::MultiplyLong {
            accumulation,
            lo,
            hi,
            rn,
            rm,
            ..
        } => {
            let added = match accumulation {
                Accumulation::None => 0,
                Accumulation::Long | Accumulation::BothWords => cores([lo, hi]),
            };
            computed(cores([rn, rm]) | added, cores([lo, hi]))
        }
        O::Divide { rd, rn, rm, .. } => computed(cores([rn, rm]), core(rd)),
        O::MultiplyHalves { rd, rn, rm, ra, .. }
        | O::MultiplyWordByHalf { rd, rn, rm, ra, .. }
        | O::MultiplyDual { rd, rn, rm, ra, .. } => {
            saturating(computed(cores([rn, rm]) | optional(ra), core(rd)))
        }
        O::MultiplyTop { rd, rn, rm, ra, .. } => computed(cores([rn, rm]) | optional(ra), core(rd)),
        O::MultiplyHalvesLong { lo, hi, rn, rm, .. }
        | O::MultiplyDualLong { lo, hi, rn, rm, .. } => {
            computed(cores([rn, rm, lo, hi]), cores([lo, hi]))
        }
        _ => return None,
    })
}

/// The numbers of the special registers: flags, and both stack pointers.
const FLAGS: std::ops::RangeInclusive<u8> = 0..=3;
const STACK_POINTERS: std::ops::RangeInclusive<u8> = 8..=9;

fn control(operation: &Operation) -> Option<Footprint> {
    use Operation as O;
    let deciding = |decides| Footprint {
        decides,
        ..Footprint::default()
    };
    Some(match *operation {
        O::Branch { condition, .. } => deciding(asked_by(condition)),
        O::BranchLink { .. } => computed(0, core(14)),
        O::BranchExchange { link, rm } => Footprint {
            decides: core(rm),
            ..computed(0, if link { core(14) } else { 0 })
        },
        O::CompareBranch { rn, .. } => deciding(core(rn)),
        O::TableBranch { rn, rm, .. } => deciding(cores([rn, rm])),
        O::LoopStart { rn, skip: None } => computed(core(rn), core(14)),
        O::LoopStart { rn, skip: Some(_) } => Footprint {
            reads: core(rn),
            // Without a loop LR stays.
            changes: core(14),
            ..deciding(core(rn))
        },
        O::LoopEnd { forever: false, .. } => deciding(core(14)),
        O::ClearRegisters { registers } => {
            let flags = if registers >> 15 == 1 {
                NZCV | Q | GE
            } else {
                0
            };
            computed(0, Places::from(registers & 0x7fff) | flags)
        }
        O::ReadSpecial { rd, special } if FLAGS.contains(&special) => {
            computed(NZCV | Q | GE, core(rd))
        }
        O::ReadSpecial { rd, special } if STACK_POINTERS.contains(&special) => {
            computed(core(13), core(rd))
        }
        O::ReadSpecial { rd, .. } => computed(0, core(rd)),
        O::WriteSpecial { rn, special, mask } if FLAGS.contains(&special) => {
            let flags = if mask & 0b10 == 0 { 0 } else { NZCV | Q };
            // Without the DSP extension GE stays.
            Footprint {
                changes: if mask & 0b01 == 0 { 0 } else { GE },
                ..computed(core(rn), flags)
            }
        }
        // The stack pointer that is not in use is not followed.
        O::WriteSpecial { rn, .. } => Footprint {
            sets_up: core(rn) | core(13),
            ..Footprint::default()
        },
        _ => return None,
    })
}

fn floating_point(operation: &Operation) -> Option<Footprint> {
    use Operation as O;
    let footprint = match *operation {
        O::FloatBinary {
            precision, d, n, m, ..
        } => {
            let [d, n, m] = [d, n, m].map(|register| float(precision, register));
            computed(n | m, d)
        }
        O::FloatMultiplyAdd {
            precision, d, n, m, ..
        }
        | O::FloatFused {
            precision, d, n, m, ..
        } => {
            let [d, n, m] = [d, n, m].map(|register| float(precision, register));
            computed(d | n | m, d)
        }
        O::FloatUnary {
            precision, d, m, ..
        }
        | O::FloatRound {
            precision, d, m, ..
        } => computed(float(precision, m), float(precision, d)),
        O::FloatCompare {
            precision, d, m, ..
        } => {
            let m = m.map_or(0, |m| float(precision, m));
            computed(float(precision, d) | m, COMPARED)
        }
        O::FloatToInteger {
            precision, d, m, ..
        } => computed(float(precision, m), single(d)),
        O::IntegerToFloat {
            precision, d, m, ..
        } => computed(single(m), float(precision, d)),
        O::FloatFixed { precision, d, .. } => computed(float(precision, d), float(precision, d)),
        O::FloatConvert { to_double, d, m } => {
            let double = |register| float(Precision::Double, register);
            if to_double {
                computed(single(m), double(d))
            } else {
                computed(double(m), single(d))
            }
        }
        O::FloatHalf {
            to_half,
            precision,
            d,
            m,
            ..
        } => {
            if to_half {
                // The other half stays.
                computed(float(precision, m) | single(d), single(d))
            } else {
                computed(single(m), float(precision, d))
            }
        }
        _ => return None,
    };
    Some(Footprint {
        changes: EXCEPTIONS,
        ..footprint
    })
}

fn float_move(operation: &Operation) -> Option<Footprint> {
    use Operation as O;
    let moved = |to_core: bool, rt: Places, s: Places| {
        if to_core {
            computed(s, rt)
        } else {
            computed(rt, s)
        }
    };
    Some(match *operation {
        O::FloatImmediate { precision, d, .. } => computed(0, float(precision, d)),
        O::FloatSelect {
            condition,
            precision,
            d,
            n,
            m,
        } => {
            let [d, n, m] = [d, n, m].map(|register| float(precision, register));
            computed(n | m | asked_by(condition), d)
        }
        O::MoveSingle { to_core, rt, s } => moved(to_core, core(rt), single(s)),
        O::MoveSingles {
            to_core,
            rt,
            rt2,
            s,
        } => moved(to_core, cores([rt, rt2]), single(s) | single(s + 1)),
        O::MoveDouble {
            to_core,
            rt,
            rt2,
            d,
        } => moved(to_core, cores([rt, rt2]), float(Precision::Double, d)),
        O::MoveLane {
            to_core,
            rt,
            d,
            top,
        } => moved(to_core, core(rt), single(2 * d + u8::from(top))),
        O::ReadFloatStatus { rt: 15 } => computed(COMPARED, NZCV),
        O::ReadFloatStatus { rt } => computed(COMPARED | EXCEPTIONS, core(rt)),
        // Modes of rounding among it.
        O::WriteFloatStatus { rt } => Footprint {
            sets_up: core(rt),
            ..computed(core(rt), COMPARED | EXCEPTIONS)
        },
        _ => return None,
    })
}

/// The registers that loads and stores write beside what they load.
fn written_back(operation: &Operation) -> Option<Footprint> {
    use Operation as O;
    Some(match *operation {
        O::Load { addressing, .. }
        | O::Store { addressing, .. }
        | O::LoadDouble { addressing, .. }
        | O::StoreDouble { addressing, .. }
            if addressing.writeback =>
        {
            computed(base(addressing), core(addressing.rn))
        }
        O::LoadMultiple {
            rn,
            writeback: true,
            ..
        }
        | O::StoreMultiple {
            rn,
            writeback: true,
            ..
        }
        | O::FloatLoadMultiple {
            rn,
            writeback: true,
            ..
        }
        | O::FloatStoreMultiple {
            rn,
            writeback: true,
            ..
        } => computed(core(rn), core(rn)),
        // Whether it has stored, which does not depend on data.
        O::StoreExclusive { rd, .. } => computed(0, core(rd)),
        _ => return None,
    })
}
