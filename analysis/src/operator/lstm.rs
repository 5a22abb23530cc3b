//! Unidirectional LSTM over a sequence.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unidirectional LSTM over a sequence, int8. At each time the four gates load the whole
/// input of that time, then its output is stored. The hidden and the cell state persist
/// and overlap nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Lstm {
    /// Number of sequences.
    pub batches: u32,
    /// Times of a sequence.
    pub times: u32,
    /// Elements of an input vector.
    pub input_depth: u32,
    /// Elements of an output vector.
    pub output_depth: u32,
    /// Buffers are `[times, batches, depth]` and all batches go through each time
    /// together; otherwise `[batches, times, depth]`, one batch after the other.
    pub time_major: bool,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl Lstm {
    /// Number of steps, and vectors that one step loads and stores.
    fn steps(&self) -> (u32, u32) {
        if self.time_major {
            (self.times, self.batches)
        } else {
            (self.batches * self.times, 1)
        }
    }
}

impl ReferenceKernel for Lstm {
    fn buffers(&self) -> Buffers {
        let (outer, inner) = if self.time_major {
            (self.times, self.batches)
        } else {
            (self.batches, self.times)
        };
        Buffers::pair(
            [outer, 1, inner, self.input_depth],
            [outer, 1, inner, self.output_depth],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let (steps, vectors) = self.steps();
        let stored = i64::from(self.output_depth) * i64::from(self.output_element_bytes);
        let loaded = i64::from(self.input_depth) * i64::from(self.input_element_bytes);
        Some(longest(steps, i64::from(vectors) * (stored - loaded)))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let (steps, vectors) = self.steps();
        for step in 0..steps {
            for _gate in ["input", "forget", "cell", "output"] {
                for vector in step * vectors..(step + 1) * vectors {
                    for _unit in 0..self.output_depth {
                        for ic in 0..self.input_depth {
                            visit(AccessKind::Load, 0, vector * self.input_depth + ic);
                        }
                    }
                }
            }
            let outputs = vectors * self.output_depth;
            for element in step * outputs..(step + 1) * outputs {
                visit(AccessKind::Store, 0, element);
            }
        }
    }
}
