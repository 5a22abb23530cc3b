//! Resizing with linear interpolation between four pixels.

use super::resize_nearest::{check_resized, longest_resized};
use super::store_lead::{each_element, longest, position, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resizing with linear interpolation; the output is stored in order, each element after
/// the loads of its four pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct ResizeBilinear {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// The centres of the corner pixels fall on one another.
    pub align_corners: bool,
    /// A pixel's place is its centre, not its corner.
    pub half_pixel_centers: bool,
    /// The arithmetic that finds the pixels.
    pub interpolation: Interpolation,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

/// The arithmetic that finds the pixels; the two round differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// 32-bit floating point, for float32.
    Float,
    /// Fixed point with 10 fractional bits, for int8 and int16.
    FixedPoint,
}

impl ResizeBilinear {
    /// The two input rows or columns of each output row or column, in the arithmetic of
    /// TensorFlow Lite. The lower is the first.
    fn sources(&self, axis: usize) -> impl Fn(u32) -> [u32; 2] + use<> {
        let (input, output) = (self.input[axis], self.output[axis]);
        let (numerator, denominator) = if self.align_corners && output > 1 {
            (input - 1, output - 1)
        } else {
            (input, output)
        };
        let half_pixel_centers = self.half_pixel_centers;
        let interpolation = self.interpolation;
        let scale = numerator as f32 / denominator as f32;
        let fixed_scale =
            (i64::from(numerator) * ONE + i64::from(denominator / 2)) / i64::from(denominator);
        move |index| {
            let (lower, upper) = match interpolation {
                Interpolation::Float => {
                    let scaled = if half_pixel_centers {
                        (index as f32 + 0.5) * scale - 0.5
                    } else {
                        index as f32 * scale
                    };
                    // Casts of negative numbers give 0.
                    (scaled as u32, scaled.ceil() as u32)
                }
                Interpolation::FixedPoint => {
                    let half = if half_pixel_centers {
                        fixed_scale / 2 - ONE / 2
                    } else {
                        0
                    };
                    let scaled = i64::from(index) * fixed_scale + half;
                    let pixel = |place: i64| u32::try_from(place.max(0)).unwrap_or(u32::MAX);
                    (pixel(scaled / ONE), pixel((scaled + ONE - 1) / ONE))
                }
            };
            [lower, upper].map(|pixel| pixel.min(input - 1))
        }
    }
}

/// 1 in fixed point.
const ONE: i64 = 1 << 10;

impl ReferenceKernel for ResizeBilinear {
    fn check(&self) -> Result<(), ShapeError> {
        check_resized(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output, self.element_bytes);
        let loaded = strides_bytes(self.input, self.element_bytes);
        let axes = [1, 2].map(|axis| {
            let sources = self.sources(axis);
            longest_resized(self.output[axis], stored[axis], loaded[axis], |index| {
                sources(index)[0]
            })
        });
        Some(longest(self.input[0], stored[0] - loaded[0]) + axes[0] + axes[1])
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = strides(self.input);
        let [rows, columns] = [1, 2].map(|axis| self.sources(axis));
        each_element(self.output, |[b, y, x, c], element| {
            for row in rows(y) {
                for column in columns(x) {
                    visit(AccessKind::Load, 0, position([b, row, column, c], loaded));
                }
            }
            visit(AccessKind::Store, 0, element);
        });
    }
}
