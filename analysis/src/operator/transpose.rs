//! Permutation of axes.

use super::store_lead::{each_element, longest_of_axes, position, slopes, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Permutation of axes: axis `k` of the output is axis `permutation[k]` of the input; the
/// output is stored in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Transpose {
    /// Shape of the input.
    pub input: Shape,
    /// For each axis of the output, that of the input.
    pub permutation: [u32; 4],
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl Transpose {
    /// What belongs to the input's axes, in the order of the output's. A number that is
    /// no axis, which `check` refuses, counts as the last.
    fn permuted<T: Copy>(&self, of_input: [T; 4]) -> [T; 4] {
        self.permutation.map(|axis| of_input[axis.min(3) as usize])
    }

    fn output(&self) -> Shape {
        self.permuted(self.input)
    }
}

impl ReferenceKernel for Transpose {
    fn check(&self) -> Result<(), ShapeError> {
        if (0..4).any(|axis| !self.permutation.contains(&axis)) {
            return Err(ShapeError::Permutation {
                given: self.permutation,
            });
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output(), [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output(), self.element_bytes);
        let loaded = self.permuted(strides_bytes(self.input, self.element_bytes));
        Some(longest_of_axes(self.output(), slopes(stored, loaded)))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = self.permuted(strides(self.input));
        each_element(self.output(), |indices, element| {
            visit(AccessKind::Load, 0, position(indices, loaded));
            visit(AccessKind::Store, 0, element);
        });
    }
}
