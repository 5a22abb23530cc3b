//! Taking a tensor apart.

use super::pack::{MOST_PARTS, check_parts};
use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes a tensor apart along an axis, the reverse of [`Pack`](super::Pack): one output after the
/// other, and of each a run for each position on the axes before. Elements are copied one by one.
/// Each output goes through the whole input again.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unpack {
    /// Number of outputs, the extent of the axis.
    pub parts: u32,
    /// Positions on the axes before it.
    pub rounds: u32,
    /// Elements of an output for each of them: the extents after the axis.
    pub run: u32,
    /// Bytes per element of all buffers.
    pub element_bytes: u32,
}

impl ReferenceKernel for Unpack {
    fn check(&self) -> Result<(), ShapeError> {
        check_parts("number of outputs", self.parts)
    }

    fn buffers(&self) -> Buffers {
        let input = [1, self.rounds, self.parts, self.run];
        let output = Buffer::new("output", [1, 1, self.rounds, self.run], self.element_bytes);
        Buffers {
            inputs: vec![Buffer::new("input", input, self.element_bytes)],
            outputs: vec![output; self.parts.min(MOST_PARTS) as usize],
        }
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        let [parts, rounds, run] = [self.parts, self.rounds, self.run].map(i64::from);
        let output = output as i64;
        // What an output has received was loaded before, and so was all below it; but then the
        // next output loads from the front, when this one has been stored as a whole.
        let elements = if output + 1 < parts {
            (rounds - output - 1) * run
        } else {
            0
        };
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for part in 0..self.parts {
            for round in 0..self.rounds {
                for element in 0..self.run {
                    let run = round * self.parts + part;
                    visit(AccessKind::Load, 0, run * self.run + element);
                    visit(AccessKind::Store, part as usize, round * self.run + element);
                }
            }
        }
    }
}
