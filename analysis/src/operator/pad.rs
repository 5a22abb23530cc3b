//! Padding.

use super::error::extent_of;
use super::store_lead::{each_element, longest_of_axes, position, slopes, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Surrounds the input by a constant; the output is stored in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Pad {
    /// Shape of the input.
    pub input: Shape,
    /// Constants before the input on each axis.
    pub before: Shape,
    /// Shape of the output; what it has beyond `before` and the input is constant.
    pub output: Shape,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for Pad {
    fn check(&self) -> Result<(), ShapeError> {
        for axis in 0..4 {
            let least = u64::from(self.before[axis]) + u64::from(self.input[axis]);
            if u64::from(self.output[axis]) < least {
                return Err(ShapeError::TooSmall {
                    what: extent_of("output", axis),
                    given: self.output[axis],
                    least,
                    reason: "padding before and input",
                });
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output, self.element_bytes);
        let loaded = strides_bytes(self.input, self.element_bytes);
        // The lead at the first load, and what it grows by over the input.
        let first: i64 = (0..4)
            .map(|axis| i64::from(self.before[axis]) * stored[axis])
            .sum();
        Some(first + longest_of_axes(self.input, slopes(stored, loaded)))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = strides(self.input);
        each_element(self.output, |indices, element| {
            let source: Shape =
                std::array::from_fn(|axis| indices[axis].wrapping_sub(self.before[axis]));
            if (0..4).all(|axis| source[axis] < self.input[axis]) {
                visit(AccessKind::Load, 0, position(source, loaded));
            }
            visit(AccessKind::Store, 0, element);
        });
    }
}
