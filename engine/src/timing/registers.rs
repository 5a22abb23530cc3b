//! Which core registers an instruction reads and writes.

use crate::operation::{Accumulation, Addressing, Offset, Operation, Precision, Source};

/// Sets of core registers, by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Registers {
    /// Needed in time; not what is stored or accumulated onto, which is needed later.
    pub(super) reads: u16,
    /// What the address is made of.
    pub(super) address: u16,
    /// Written.
    pub(super) writes: u16,
    /// Of these, what comes from memory.
    pub(super) loads: u16,
    /// The base that is written back.
    pub(super) written_back: Option<u8>,
}

impl Registers {
    pub(super) fn of(operation: &Operation) -> Self {
        access(operation)
            .or_else(|| data_processing(operation))
            .or_else(|| multiplication(operation))
            .or_else(|| others(operation))
            .unwrap_or_default()
    }

    fn computed(reads: u16, writes: u16) -> Self {
        Self {
            reads,
            writes,
            ..Self::default()
        }
    }
}

fn bit(register: u8) -> u16 {
    1 << (register & 15)
}

fn bits<const N: usize>(registers: [u8; N]) -> u16 {
    registers.into_iter().fold(0, |set, it| set | bit(it))
}

fn source_bits(source: Source) -> u16 {
    match source {
        Source::Immediate { .. } => 0,
        Source::Register(shifted) => bit(shifted.rm),
    }
}

fn data_processing(operation: &Operation) -> Option<Registers> {
    use Operation as O;
    let (reads, writes) = match *operation {
        O::Alu { rd, rn, source, .. } => (bit(rn) | source_bits(source), bit(rd)),
        O::Move { rd, source, .. } => (source_bits(source), bit(rd)),
        O::Compare { rn, source, .. } => (bit(rn) | source_bits(source), 0),
        O::ShiftBy { rd, rn, rm, .. } => (bits([rn, rm]), bit(rd)),
        O::MoveTop { rd, .. } => (bit(rd), bit(rd)),
        O::Address { rd, .. } => (0, bit(rd)),
        O::Extend { rd, rm, .. } | O::Reverse { rd, rm, .. } | O::CountLeadingZeros { rd, rm } => {
            (bit(rm), bit(rd))
        }
        O::BitFieldInsert { rd, rn, .. } => (bit(rd) | rn.map_or(0, bit), bit(rd)),
        O::BitFieldExtract { rd, rn, .. } => (bit(rn), bit(rd)),
        O::ConditionalSelect { rd, rn, rm, .. } => (bits([rn, rm]) & 0x7fff, bit(rd)),
        O::Saturate { rd, source, .. } => (bit(source.rm), bit(rd)),
        O::SaturateHalves { rd, rn, .. } => (bit(rn), bit(rd)),
        O::Parallel { rd, rn, rm, .. }
        | O::SaturatingAdd { rd, rn, rm, .. }
        | O::SumOfDifferences { rd, rn, rm, .. }
        | O::Select { rd, rn, rm } => (bits([rn, rm]), bit(rd)),
        O::Pack { rd, rn, source, .. } => (bits([rn, source.rm]), bit(rd)),
        _ => return None,
    };
    Some(Registers::computed(reads, writes))
}

fn multiplication(operation: &Operation) -> Option<Registers> {
    use Operation as O;
    let (reads, writes) = match *operation {
        O::Multiply { rd, rn, rm, .. }
        | O::MultiplyAdd { rd, rn, rm, .. }
        | O::Divide { rd, rn, rm, .. }
        | O::MultiplyHalves { rd, rn, rm, .. }
        | O::MultiplyWordByHalf { rd, rn, rm, .. }
        | O::MultiplyDual { rd, rn, rm, .. }
        | O::MultiplyTop { rd, rn, rm, .. } => (bits([rn, rm]), bit(rd)),
        O::MultiplyLong { lo, hi, rn, rm, .. }
        | O::MultiplyHalvesLong { lo, hi, rn, rm, .. }
        | O::MultiplyDualLong { lo, hi, rn, rm, .. } => (bits([rn, rm]), bits([lo, hi])),
        _ => return None,
    };
    Some(Registers::computed(reads, writes))
}

fn others(operation: &Operation) -> Option<Registers> {
    use Operation as O;
    let (reads, writes) = match *operation {
        O::BranchLink { .. } => (0, bit(14)),
        O::BranchExchange { rm, link } => (bit(rm), if link { bit(14) } else { 0 }),
        O::CompareBranch { rn, .. } => (bit(rn), 0),
        O::LoopStart { rn, .. } => (bit(rn), bit(14)),
        O::LoopEnd { .. } => (bit(14), bit(14)),
        O::ClearRegisters { registers } => (0, registers & 0x7fff),
        O::ReadSpecial { rd, .. } => (0, bit(rd)),
        O::WriteSpecial { rn, .. } => (bit(rn), 0),
        O::MoveSingle { to_core, rt, .. } | O::MoveLane { to_core, rt, .. } => {
            if to_core {
                (0, bit(rt))
            } else {
                (bit(rt), 0)
            }
        }
        O::MoveSingles {
            to_core, rt, rt2, ..
        }
        | O::MoveDouble {
            to_core, rt, rt2, ..
        } => {
            let both = bits([rt, rt2]);
            if to_core { (0, both) } else { (both, 0) }
        }
        O::ReadFloatStatus { rt } => (0, bit(rt) & 0x7fff),
        O::WriteFloatStatus { rt } => (bit(rt), 0),
        _ => return None,
    };
    Some(Registers::computed(reads, writes))
}

fn access(operation: &Operation) -> Option<Registers> {
    use Operation as O;
    let list = |rn: u8, loads: u16, writeback: bool| Registers {
        address: bit(rn),
        writes: loads | if writeback { bit(rn) } else { 0 },
        loads,
        written_back: writeback.then_some(rn),
        ..Registers::default()
    };
    Some(match *operation {
        O::Load { rt, addressing, .. } => single(addressing, bit(rt)),
        O::Store { addressing, .. } | O::StoreDouble { addressing, .. } => single(addressing, 0),
        O::LoadDouble {
            rt,
            rt2,
            addressing,
        } => single(addressing, bits([rt, rt2])),
        O::LoadMultiple {
            rn,
            registers,
            writeback,
            ..
        } => list(rn, registers, writeback),
        O::StoreMultiple { rn, writeback, .. } => list(rn, 0, writeback),
        O::LoadExclusive { rt, rn, .. } | O::LoadAcquire { rt, rn, .. } => list(rn, bit(rt), false),
        O::StoreExclusive { rd, rn, .. } => Registers {
            writes: bit(rd),
            ..list(rn, 0, false)
        },
        O::StoreRelease { rn, .. } => list(rn, 0, false),
        O::TableBranch { rn, rm, .. } => Registers {
            address: bits([rn, rm]),
            ..Registers::default()
        },
        O::FloatLoad { rn, .. } | O::FloatStore { rn, .. } => list(rn, 0, false),
        O::FloatLoadMultiple { rn, writeback, .. }
        | O::FloatStoreMultiple { rn, writeback, .. } => list(rn, 0, writeback),
        _ => return None,
    })
}

fn single(addressing: Addressing, loads: u16) -> Registers {
    let Addressing {
        rn,
        offset,
        writeback,
        ..
    } = addressing;
    let index = match offset {
        Offset::Immediate(_) => 0,
        Offset::Register { rm, .. } => bit(rm),
    };
    Registers {
        address: bit(rn) | index,
        writes: loads | if writeback { bit(rn) } else { 0 },
        loads,
        written_back: writeback.then_some(rn),
        ..Registers::default()
    }
}

/// How many words a load or store of several moves.
pub(super) fn words(operation: &Operation) -> u8 {
    use Operation as O;
    let of = |precision: Precision| match precision {
        Precision::Single => 1,
        Precision::Double => 2,
    };
    match *operation {
        O::LoadDouble { .. } | O::StoreDouble { .. } => 2,
        O::LoadMultiple { registers, .. } | O::StoreMultiple { registers, .. } => {
            registers.count_ones() as u8
        }
        O::FloatLoad { precision, .. } | O::FloatStore { precision, .. } => of(precision),
        O::FloatLoadMultiple {
            precision, count, ..
        }
        | O::FloatStoreMultiple {
            precision, count, ..
        } => of(precision) * count,
        _ => 1,
    }
}

/// Whether a long multiplication adds to something.
pub(super) fn accumulates(accumulation: Accumulation) -> bool {
    accumulation != Accumulation::None
}
