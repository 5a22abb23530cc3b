//! Slices.

use super::error::extent_of;
use super::store_lead::{each_element, longest_of_axes, slopes, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slice: index `c` of the output is index `begin + c * stride` of the input, on each
/// axis; the output is stored in order. A slice without strides has strides of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct StridedSlice {
    /// Shape of the input.
    pub input: Shape,
    /// The first index on each axis.
    pub begin: Shape,
    /// From one index to the next on each axis; backwards where it is negative, and 0 where one
    /// index serves all of the output's.
    pub stride: [i32; 4],
    /// Shape of the output.
    pub output: Shape,
    /// The kernel copies runs of elements by a library function, in an order that no standard
    /// fixes: nothing may overlap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_runs: bool,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for StridedSlice {
    fn check(&self) -> Result<(), ShapeError> {
        for axis in 0..4 {
            let begin = i64::from(self.begin[axis]);
            let steps = i64::from(self.output[axis]) - 1;
            for (end, given) in [
                ("first", begin),
                ("last", begin + steps * i64::from(self.stride[axis])),
            ] {
                if !(0..i64::from(self.input[axis])).contains(&given) {
                    return Err(ShapeError::Outside {
                        what: format!("{end} index of the {}", extent_of("slice", axis)),
                        given,
                        last: self.input[axis].saturating_sub(1),
                    });
                }
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output, self.element_bytes);
        let input = strides_bytes(self.input, self.element_bytes);
        // An axis of one index never takes the stride, which may be of any size.
        let loaded = std::array::from_fn(|axis| match self.output[axis] {
            1 => 0,
            _ => i64::from(self.stride[axis]) * input[axis],
        });
        let first: i64 = (0..4)
            .map(|axis| i64::from(self.begin[axis]) * input[axis])
            .sum();
        Some(longest_of_axes(self.output, slopes(stored, loaded)) - first)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = strides(self.input);
        each_element(self.output, |indices, element| {
            let source = (0..4).map(|axis| {
                // Inside the input, so it is right whatever wraps on the way.
                let along = indices[axis].wrapping_mul(self.stride[axis].cast_unsigned());
                self.begin[axis].wrapping_add(along) * loaded[axis]
            });
            visit(AccessKind::Load, 0, source.sum());
            visit(AccessKind::Store, 0, element);
        });
    }
}
