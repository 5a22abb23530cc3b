//! Element-wise operators of one input.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Element-wise operator of one input: activation functions, conversions between types
/// (quantize, dequantize, requantize, cast).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Elementwise {
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for Elementwise {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [1, 1, 1, self.elements],
            [1, 1, 1, self.elements],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        // Wider elements run ahead of narrower ones.
        let slope = i64::from(self.output_element_bytes) - i64::from(self.input_element_bytes);
        Some(longest(self.elements, slope))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for element in 0..self.elements {
            visit(AccessKind::Load, 0, element);
            visit(AccessKind::Store, 0, element);
        }
    }
}
