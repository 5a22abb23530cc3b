//! What is computed in memory of its own.

use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Round after round, a run of the input goes to memory of the operator's own, and then a run of
/// the output comes out of it, in any order within the run. A second input may be loaded before the
/// first round.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Staged {
    /// Number of rounds.
    pub rounds: u32,
    /// Elements of the input in a round.
    pub input_run: u32,
    /// Elements of the output in a round.
    pub output_run: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
    /// Bytes of a second input, one element, which is loaded before anything else; 0 if there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_bytes: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
const fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

impl ReferenceKernel for Staged {
    fn buffers(&self) -> Buffers {
        let mut buffers = Buffers::pair(
            [1, 1, self.rounds, self.input_run],
            [1, 1, self.rounds, self.output_run],
            [self.input_element_bytes, self.output_element_bytes],
        );
        if self.first_bytes > 0 {
            let first = Buffer::new("number", [1; 4], self.first_bytes);
            buffers.inputs.push(first);
        }
        buffers
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        if input > 0 {
            // Nothing has been stored yet.
            return Some(0);
        }
        let bytes = |run: u32, element_bytes: u32| i64::from(run) * i64::from(element_bytes);
        let loaded = bytes(self.input_run, self.input_element_bytes);
        let stored = bytes(self.output_run, self.output_element_bytes);
        Some(longest(self.rounds, stored - loaded))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        if self.first_bytes > 0 {
            visit(AccessKind::Load, 1, 0);
        }
        for round in 0..self.rounds {
            for element in 0..self.input_run {
                visit(AccessKind::Load, 0, round * self.input_run + element);
            }
            for element in 0..self.output_run {
                visit(AccessKind::Store, 0, round * self.output_run + element);
            }
        }
    }
}
