//! Stacking of tensors.

use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More inputs or outputs are refused: every pair of them is gone through.
pub(super) const MOST_PARTS: u32 = 1024;

/// Stacks tensors of one shape along a new axis: one input after the other, and of each a run for
/// each position on the axes before the new one. Elements are copied one by one, in ascending
/// order. The output is not stored in order: an input leaves gaps for those that follow.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pack {
    /// Number of inputs, the extent of the new axis.
    pub parts: u32,
    /// Positions on the axes before the new one.
    pub rounds: u32,
    /// Elements of an input for each of them: the extents after the new axis.
    pub run: u32,
    /// Bytes per element of all buffers.
    pub element_bytes: u32,
}

/// At least one part, and not too many.
pub(super) fn check_parts(what: &'static str, parts: u32) -> Result<(), ShapeError> {
    if parts == 0 {
        return Err(ShapeError::Zero { what });
    }
    if parts > MOST_PARTS {
        return Err(ShapeError::TooLarge {
            what: what.to_owned(),
            given: parts,
            limit: MOST_PARTS,
        });
    }
    Ok(())
}

impl ReferenceKernel for Pack {
    fn check(&self) -> Result<(), ShapeError> {
        check_parts("number of inputs", self.parts)
    }

    fn buffers(&self) -> Buffers {
        let input = Buffer::new("input", [1, 1, self.rounds, self.run], self.element_bytes);
        let output = [1, self.rounds, self.parts, self.run];
        Buffers {
            inputs: vec![input; self.parts.min(MOST_PARTS) as usize],
            outputs: vec![Buffer::new("output", output, self.element_bytes)],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let [parts, run] = [self.parts, self.run].map(i64::from);
        let round = parts * run;
        let elements = if input > 0 {
            // The input before it has stored its last run.
            longest(self.rounds, round) + input as i64 * run
        } else if run == 1 {
            // When it loads, the run before is the last that has been stored.
            longest(self.rounds.saturating_sub(1).max(1), parts - 1)
        } else {
            longest(self.rounds, round - run)
        };
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for part in 0..self.parts {
            for round in 0..self.rounds {
                for element in 0..self.run {
                    visit(AccessKind::Load, part as usize, round * self.run + element);
                    let run = round * self.parts + part;
                    visit(AccessKind::Store, 0, run * self.run + element);
                }
            }
        }
    }
}
