//! Fully connected layer.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fully connected layer: each output of a batch loads all inputs of that batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct FullyConnected {
    /// Number of input and output vectors.
    pub batches: u32,
    /// Elements of an input vector.
    pub input_depth: u32,
    /// Elements of an output vector.
    pub output_depth: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for FullyConnected {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [self.batches, 1, 1, self.input_depth],
            [self.batches, 1, 1, self.output_depth],
            [self.element_bytes; 2],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let (inputs, outputs) = (i64::from(self.input_depth), i64::from(self.output_depth));
        // The last output of a batch leads the batch's first input.
        let elements = longest(self.batches, outputs - inputs) + outputs - 1;
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for b in 0..self.batches {
            for oc in 0..self.output_depth {
                for ic in 0..self.input_depth {
                    visit(AccessKind::Load, 0, b * self.input_depth + ic);
                }
                visit(AccessKind::Store, 0, b * self.output_depth + oc);
            }
        }
    }
}
