//! Resizing to the nearest pixel.

use super::error::{expect_same_extents, extent_of};
use super::store_lead::{each_element, longest, position, strides, strides_bytes};
use super::window::EXTENT_LIMIT;
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resizing to the nearest pixel; the output is stored in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct ResizeNearest {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// The centres of the corner pixels fall on one another.
    pub align_corners: bool,
    /// A pixel's place is its centre, not its corner.
    pub half_pixel_centers: bool,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ResizeNearest {
    /// The input row or column of each output row or column, in the arithmetic of
    /// TensorFlow Lite.
    fn source(&self, axis: usize) -> impl Fn(u32) -> u32 + use<> {
        let (input, output) = (self.input[axis], self.output[axis]);
        let align = self.align_corners;
        let scale = if align && output > 1 {
            (input - 1) as f32 / (output - 1) as f32
        } else {
            input as f32 / output as f32
        };
        let offset = if self.half_pixel_centers { 0.5 } else { 0.0 };
        move |index| {
            let scaled = (index as f32 + offset) * scale;
            // Never negative, so that the cast rounds down.
            let nearest = if align { scaled.round() } else { scaled };
            (nearest as u32).min(input - 1)
        }
    }
}

impl ReferenceKernel for ResizeNearest {
    fn check(&self) -> Result<(), ShapeError> {
        check_resized(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output, self.element_bytes);
        let loaded = strides_bytes(self.input, self.element_bytes);
        let sources = [1, 2].map(|axis| {
            longest_resized(
                self.output[axis],
                stored[axis],
                loaded[axis],
                self.source(axis),
            )
        });
        Some(longest(self.input[0], stored[0] - loaded[0]) + sources[0] + sources[1])
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = strides(self.input);
        let [rows, columns] = [1, 2].map(|axis| self.source(axis));
        each_element(self.output, |[b, y, x, c], element| {
            visit(
                AccessKind::Load,
                0,
                position([b, rows(y), columns(x), c], loaded),
            );
            visit(AccessKind::Store, 0, element);
        });
    }
}

/// Batch and depth stay, height and width are such as pictures have.
pub(super) fn check_resized(input: Shape, output: Shape) -> Result<(), ShapeError> {
    expect_same_extents(input, output, &[0, 3])?;
    for (buffer, shape) in [("input", input), ("output", output)] {
        for axis in [1, 2] {
            if shape[axis] > EXTENT_LIMIT {
                return Err(ShapeError::TooLarge {
                    what: extent_of(buffer, axis),
                    given: shape[axis],
                    limit: EXTENT_LIMIT,
                });
            }
        }
    }
    Ok(())
}

/// The longest lead on an axis where output index `c` loads from `source(c)` upwards.
pub(super) fn longest_resized(
    extent: u32,
    stored: i64,
    loaded: i64,
    source: impl Fn(u32) -> u32,
) -> i64 {
    (0..extent)
        .map(|index| i64::from(index) * stored - i64::from(source(index)) * loaded)
        .fold(i64::MIN, i64::max)
}
