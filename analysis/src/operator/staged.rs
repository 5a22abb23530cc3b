//! What is computed in memory of its own.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Round after round, a run of the input goes to memory of the operator's own, and then a run of
/// the output comes out of it, in any order within the run.
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
}

impl ReferenceKernel for Staged {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [1, 1, self.rounds, self.input_run],
            [1, 1, self.rounds, self.output_run],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let bytes = |run: u32, element_bytes: u32| i64::from(run) * i64::from(element_bytes);
        let loaded = bytes(self.input_run, self.input_element_bytes);
        let stored = bytes(self.output_run, self.output_element_bytes);
        Some(longest(self.rounds, stored - loaded))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
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
