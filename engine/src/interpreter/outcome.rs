//! What conditional instructions access with either outcome.

use super::address;
use crate::core::Core;
use crate::fault::AccessKind;
use crate::memory::{Condition, Memory, Moment};
use crate::operation::{Addressing, Operation, Width};

/// Loads or stores of one or two words, or of less.
struct Access {
    kind: AccessKind,
    width: Width,
    count: u32,
    addressing: Addressing,
}

/// The condition holds: what the instruction accesses is recorded as it is executed.
#[cold]
pub(super) fn note_executed(pc: u32, memory: &mut Memory, operation: &Operation) {
    note_unknown(pc, memory, operation);
    memory.condition = Condition::Holds;
}

/// The condition fails: records what the instruction at the program counter would access. The
/// registers that give its address are what they are then.
#[cold]
pub(super) fn note_skipped(core: &Core, memory: &mut Memory, operation: &Operation) {
    let pc = core.r[15];
    note_unknown(pc, memory, operation);
    let Some(access) = access(operation) else {
        return;
    };
    let (address, _) = address::of_one(core, access.addressing);
    let moment = Moment {
        time: core.time + 1,
        pc,
    };
    let size_bytes = access.width.bytes();
    memory.condition = Condition::Fails;
    for index in 0..access.count {
        let address = address.wrapping_add(index * size_bytes);
        memory.record(access.kind, moment, address, size_bytes as usize);
    }
    memory.condition = Condition::Unconditional;
}

/// Notes an instruction whose accesses with the other outcome are not known. Those of the first in
/// an IT block are, but for what a write-back does to the address the next time: no register depends
/// on the condition before it.
fn note_unknown(pc: u32, memory: &mut Memory, operation: &Operation) {
    let is_first = std::mem::take(&mut memory.is_first_in_block);
    let is_known = match access(operation) {
        Some(access) => is_first && !access.addressing.writeback,
        None => !accesses_otherwise(operation),
    };
    if !is_known {
        memory.unknown_outcomes.insert(pc);
    }
}

fn access(operation: &Operation) -> Option<Access> {
    use AccessKind::{Load, Store};
    let (kind, width, count, addressing) = match *operation {
        Operation::Load {
            width, addressing, ..
        } => (Load, width, 1, addressing),
        Operation::Store {
            width, addressing, ..
        } => (Store, width, 1, addressing),
        Operation::LoadDouble { addressing, .. } => (Load, Width::Word, 2, addressing),
        Operation::StoreDouble { addressing, .. } => (Store, Width::Word, 2, addressing),
        _ => return None,
    };
    Some(Access {
        kind,
        width,
        count,
        addressing,
    })
}

/// Whether it accesses memory, or has others access it, in another way.
fn accesses_otherwise(operation: &Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::LoadMultiple { .. }
            | O::StoreMultiple { .. }
            | O::LoadExclusive { .. }
            | O::StoreExclusive { .. }
            | O::LoadAcquire { .. }
            | O::StoreRelease { .. }
            | O::TableBranch { .. }
            | O::SupervisorCall { .. }
            | O::FloatLoad { .. }
            | O::FloatStore { .. }
            | O::FloatLoadMultiple { .. }
            | O::FloatStoreMultiple { .. }
    )
}
