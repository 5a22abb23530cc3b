//! What is wrong with a plan of another tool, in words.

use dmo_analysis::foreign::{Fault, Memory, SharedReason};
use dmo_analysis::wording::grouped;
use std::ops::Range;

/// A fault of a memory's plan.
pub fn fault(memory: &Memory, fault: &Fault) -> String {
    let name = &memory.name;
    match fault {
        Fault::Shared { buffers, reason } => {
            let [one, other] = buffers.map(|buffer| placed(memory, buffer));
            let shared = common(buffers.map(|buffer| bytes(memory, buffer)));
            let reason = match reason {
                None => String::new(),
                Some(SharedReason::InputDies(operator)) => format!(
                    "; {operator:?} reads the one for the last time and stores the other: whether \
                     its kernel allows that is not known here"
                ),
                Some(SharedReason::OneBuffer) => {
                    "; same bytes and same life: perhaps one buffer under two names".to_owned()
                }
            };
            format!(
                "{name}: {one} and {other} share bytes {}..{}{reason}",
                grouped(shared.start),
                grouped(shared.end)
            )
        }
        Fault::Misaligned { buffer } => format!(
            "{name}: {} is no multiple of its alignment, {} bytes",
            placed(memory, *buffer),
            memory.problem.buffers()[*buffer].alignment
        ),
        Fault::Beyond { buffer, end } => format!(
            "{name}: {} ends at {}, beyond the {} bytes of the memory",
            placed(memory, *buffer),
            grouped(*end),
            grouped(memory.size_bytes.unwrap_or(0))
        ),
    }
}

fn bytes(memory: &Memory, buffer: usize) -> Range<u64> {
    let offset = memory.plan.offsets[buffer];
    offset..offset.saturating_add(memory.problem.buffers()[buffer].size_bytes)
}

fn common([one, other]: [Range<u64>; 2]) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

fn placed(memory: &Memory, buffer: usize) -> String {
    let bytes = bytes(memory, buffer);
    let alive = &memory.problem.buffers()[buffer].alive;
    format!(
        "{:?} (bytes {}..{}, steps {} to {})",
        memory.buffer_name(buffer),
        grouped(bytes.start),
        grouped(bytes.end),
        alive.start,
        alive.end - 1
    )
}
