//! Fully connected layer.

use super::{Buffer, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// Fully connected layer: each output of a batch loads all inputs of that batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    fn buffers(&self) -> (Buffer, Buffer) {
        Buffer::pair(
            [self.batches, 1, 1, self.input_depth],
            [self.batches, 1, 1, self.output_depth],
            [self.element_bytes; 2],
        )
    }

    fn displacement_bytes(&self) -> Option<u32> {
        // The last output of a batch leads the batch's first input.
        let batch_lead = self.output_depth.saturating_sub(self.input_depth);
        let elements = (self.batches - 1) * batch_lead + self.output_depth - 1;
        Some(elements * self.element_bytes)
    }

    fn accesses(&self, visit: &mut dyn FnMut(AccessKind, u32)) {
        for b in 0..self.batches {
            for oc in 0..self.output_depth {
                for ic in 0..self.input_depth {
                    visit(AccessKind::Load, b * self.input_depth + ic);
                }
                visit(AccessKind::Store, b * self.output_depth + oc);
            }
        }
    }
}
