//! Loops that never end, and do nothing.

use crate::decode::{decode, length};
use crate::features::Features;
use crate::memory::Memory;
use crate::operation::{Condition, Instruction, Operation};

/// The most instructions of such a loop.
pub(crate) const MOST_INSTRUCTIONS: u32 = 16;

/// Whether the instruction at an address begins such a loop: instructions that do nothing, and
/// a branch back to it.
pub(crate) fn is_endless(start: u32, features: &Features, memory: &Memory) -> bool {
    let mut pc = start;
    for _ in 0..MOST_INSTRUCTIONS {
        let Some(instruction) = instruction_at(pc, features, memory) else {
            return false;
        };
        match instruction.operation {
            Operation::Nop | Operation::Hint => pc = pc.wrapping_add(instruction.bytes.into()),
            Operation::Branch {
                condition: Condition::Al,
                offset,
            } => return pc.wrapping_add(4).wrapping_add_signed(offset) == start,
            _ => return false,
        }
    }
    false
}

/// The instruction at an address, if there is one.
pub(crate) fn instruction_at(pc: u32, features: &Features, memory: &Memory) -> Option<Instruction> {
    let first = memory.fetch(pc).ok()?;
    let second = match length(first) {
        2 => 0,
        _ => memory.fetch(pc.wrapping_add(2)).ok()?,
    };
    decode(first, second, features).ok()
}
