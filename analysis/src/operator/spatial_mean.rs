//! Mean over height and width, 8 bit.

use super::store_lead::{longest, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mean over height and width that sums in a register (int8, int16). For other axes and
/// for float32 see [`Reduce`](super::Reduce).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct SpatialMean {
    /// Shape of the input; the output's height and width are 1.
    pub input: Shape,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl SpatialMean {
    fn output(&self) -> Shape {
        [self.input[0], 1, 1, self.input[3]]
    }
}

impl ReferenceKernel for SpatialMean {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            self.input,
            self.output(),
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output(), self.output_element_bytes);
        let loaded = strides_bytes(self.input, self.input_element_bytes);
        let axes = [0, 3].map(|axis| longest(self.input[axis], stored[axis] - loaded[axis]));
        Some(axes[0] + axes[1])
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let [batches, height, width, depth] = self.input;
        let batch_elements = strides(self.input)[0];
        for b in 0..batches {
            for c in 0..depth {
                for pixel in 0..height * width {
                    visit(AccessKind::Load, 0, b * batch_elements + pixel * depth + c);
                }
                visit(AccessKind::Store, 0, b * depth + c);
            }
        }
    }
}
