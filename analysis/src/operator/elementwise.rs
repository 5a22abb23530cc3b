//! Element-wise operators.

use super::{Buffer, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// Element-wise operator: activation functions, quantisation, and addition and the
/// like as seen from an operand of the output's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Elementwise {
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for Elementwise {
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    fn buffers(&self) -> (Buffer, Buffer) {
        Buffer::pair(
            [1, 1, 1, self.elements],
            [1, 1, 1, self.elements],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self) -> Option<u32> {
        // Wider elements run ahead of narrower ones.
        let lead = self
            .output_element_bytes
            .saturating_sub(self.input_element_bytes);
        Some(lead * (self.elements - 1))
    }

    fn accesses(&self, visit: &mut dyn FnMut(AccessKind, u32)) {
        for element in 0..self.elements {
            visit(AccessKind::Load, element);
            visit(AccessKind::Store, element);
        }
    }
}
