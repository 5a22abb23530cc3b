//! The window that convolutions and pooling move over their input.

use super::error::expect_same_extents;
use super::store_lead::{longest, strides_bytes};
use super::{Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extent and movement of a window; height first, then width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Window {
    /// Taps.
    pub kernel: [u32; 2],
    /// Input elements from one output to the next.
    pub stride: [u32; 2],
    /// Input elements from one tap to the next.
    pub dilation: [u32; 2],
    /// Taps of the first output that lie before the input, in input elements.
    pub padding_before: [u32; 2],
}

impl Default for Window {
    /// One tap on each element.
    fn default() -> Self {
        Self {
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            padding_before: [0, 0],
        }
    }
}

/// The padding before the input that TensorFlow Lite computes for one axis. For `VALID`
/// padding it comes out as 0, as it does for `SAME` where the taps do not
/// reach beyond the input.
pub fn tflite_padding_before(
    input: u32,
    output: u32,
    kernel: u32,
    stride: u32,
    dilation: u32,
) -> u32 {
    let last_output = u128::from(output.saturating_sub(1)) * u128::from(stride);
    let last_tap = u128::from(kernel.saturating_sub(1)) * u128::from(dilation);
    let reach = (last_output + last_tap + 1).saturating_sub(u128::from(input));
    u32::try_from(reach / 2).unwrap_or(u32::MAX)
}

/// How TensorFlow Lite's windows pad their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Padding {
    /// An output for each stride of the input.
    Same,
    /// An output wherever all taps lie inside the input.
    Valid,
}

/// Strides, taps and paddings above this are taken for mistakes.
pub(super) const EXTENT_LIMIT: u32 = 1 << 16;

impl Window {
    /// The window with the [padding](tflite_padding_before) that TensorFlow Lite gives it.
    #[must_use]
    pub fn with_tflite_padding(self, input: Shape, output: Shape) -> Self {
        let before = |axis: usize| {
            let (from, to) = (input[axis + 1], output[axis + 1]);
            let (kernel, stride) = (self.kernel[axis], self.stride[axis]);
            tflite_padding_before(from, to, kernel, stride, self.dilation[axis])
        };
        Self {
            padding_before: [0, 1].map(before),
            ..self
        }
    }

    /// Whether TensorFlow Lite makes this window and this output when it is asked to pad this way.
    pub fn is_padded(&self, padding: Padding, input: Shape, output: Shape) -> bool {
        let has_outputs = |axis: usize| {
            let (from, to) = (u64::from(input[axis + 1]), u64::from(output[axis + 1]));
            let taps = u64::from(self.kernel[axis].saturating_sub(1));
            let places = match padding {
                Padding::Same => Some(from),
                Padding::Valid => from.checked_sub(taps * u64::from(self.dilation[axis])),
            };
            let stride = u64::from(self.stride[axis].max(1));
            places.map(|places| places.div_ceil(stride)) == Some(to)
        };
        has_outputs(0) && has_outputs(1) && *self == self.with_tflite_padding(input, output)
    }

    pub(super) fn check(&self, input: Shape, output: Shape) -> Result<(), ShapeError> {
        expect_same_extents(input, output, &[0])?;
        for (what, extents, least) in [
            ("kernel", self.kernel, 1),
            ("stride", self.stride, 1),
            ("dilation", self.dilation, 1),
            ("padding", self.padding_before, 0),
        ] {
            for given in extents {
                if given < least {
                    return Err(ShapeError::Zero { what });
                }
                if given > EXTENT_LIMIT {
                    return Err(ShapeError::TooLarge {
                        what: what.to_owned(),
                        given,
                        limit: EXTENT_LIMIT,
                    });
                }
            }
        }
        Ok(())
    }

    /// The displacement in bytes, not floored: `channels` is the longest lead of the stored over
    /// the loaded channel. None when no tap of any output lies in the input.
    pub(super) fn displacement_bytes(
        &self,
        [input, output]: [Shape; 2],
        channels: i64,
        element_bytes: u32,
    ) -> Option<i64> {
        let [loaded, stored] = [input, output].map(|shape| strides_bytes(shape, element_bytes));
        let pixels = self.lead(input, output, stored, loaded)?;
        let batches = longest(input[0], stored[0] - loaded[0]);
        Some(batches + pixels + channels * i64::from(element_bytes))
    }

    /// The same without channels and batches, for the strides of rows and pixels in the output
    /// and the input, in bytes.
    pub(super) fn lead(
        &self,
        input: Shape,
        output: Shape,
        stored: [i64; 4],
        loaded: [i64; 4],
    ) -> Option<i64> {
        let axis = |axis: usize| {
            let positions = self.axis(axis, input, output);
            positions.longest_lead(stored[axis + 1], loaded[axis + 1])
        };
        Some(axis(0)? + axis(1)?)
    }

    /// For each output position (b, oy, ox) and output channel `oc`: the loads of all
    /// its taps and of `inputs_of(oc)` at each, then the store.
    pub(super) fn accesses<I: Iterator<Item = u32>>(
        &self,
        input: Shape,
        output: Shape,
        inputs_of: impl Fn(u32) -> I,
        mut visit: impl FnMut(AccessKind, usize, u32),
    ) {
        let [_, input_height, input_width, input_depth] = input;
        let [rows, columns] = [0, 1].map(|axis| self.axis(axis, input, output));
        for row in 0..output[0] * output[1] {
            let (b, oy) = (row / output[1], row % output[1]);
            let tap_rows = rows.taps(oy);
            for ox in 0..output[2] {
                let tap_columns = columns.taps(ox);
                let pixel = row * output[2] + ox;
                for oc in 0..output[3] {
                    for iy in tap_rows.positions() {
                        let row = (b * input_height + iy) * input_width;
                        for ix in tap_columns.positions() {
                            let pixel = (row + ix) * input_depth;
                            for ic in inputs_of(oc) {
                                visit(AccessKind::Load, 0, pixel + ic);
                            }
                        }
                    }
                    visit(AccessKind::Store, 0, pixel * output[3] + oc);
                }
            }
        }
    }

    /// Pairs of an output pixel and a tap of its window that lies inside the input, of one batch.
    pub(crate) fn taps_inside(&self, input: Shape, output: Shape) -> u64 {
        let along = |axis| self.taps_along(axis, input, output).sum::<u64>();
        along(0).saturating_mul(along(1))
    }

    /// For each output along an axis, how many of its taps lie inside the input.
    pub(crate) fn taps_along(
        &self,
        axis: usize,
        input: Shape,
        output: Shape,
    ) -> impl Iterator<Item = u64> + use<> {
        let Axis {
            input,
            output,
            kernel,
            stride,
            dilation,
            padding_before,
        } = self.axis(axis, input, output);
        (0..output).map(move |output| {
            let first = output * stride - padding_before;
            // The first tap at 0 or above, and the last one below the end.
            let before = ((-first).max(0) + dilation - 1) / dilation;
            let until = (input - first + dilation - 1).max(0) / dilation;
            (until.min(kernel) - before).max(0) as u64
        })
    }

    fn axis(&self, axis: usize, input: Shape, output: Shape) -> Axis {
        Axis {
            input: i64::from(input[axis + 1]),
            output: i64::from(output[axis + 1]),
            kernel: i64::from(self.kernel[axis]),
            stride: i64::from(self.stride[axis]),
            dilation: i64::from(self.dilation[axis]),
            padding_before: i64::from(self.padding_before[axis]),
        }
    }
}

/// One axis of a window.
struct Axis {
    input: i64,
    output: i64,
    kernel: i64,
    stride: i64,
    dilation: i64,
    padding_before: i64,
}

/// The taps of one output that lie inside the input.
#[derive(Clone, Copy)]
struct Taps {
    first: u32,
    count: u32,
    dilation: u32,
}

impl Taps {
    #[inline]
    fn positions(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |tap| self.first + tap * self.dilation)
    }
}

impl Axis {
    /// The maximum of `o * stored - t(o) * loaded` over all outputs `o` that have a first
    /// tap `t(o)` inside the input.
    fn longest_lead(&self, stored: i64, loaded: i64) -> Option<i64> {
        let lead = |o| Some(o * stored - self.first_tap(o)? * loaded);
        // Where there is no padding, t(o) = o*stride - padding: a straight run of
        // outputs up to the last one whose first tap is inside.
        let run = (self.padding_before + self.stride - 1) / self.stride;
        let last = ((self.padding_before + self.input - 1) / self.stride).min(self.output - 1);
        let straight = [run, last].into_iter().filter(|&o| run <= o && o <= last);
        // In the padding the first tap inside depends on the remainder by the dilation.
        // Without dilation it is 0, and the last output leads.
        let padded_end = run.min(self.output);
        let padded_start = if self.dilation == 1 {
            padded_end - 1
        } else {
            0
        };
        let padded = padded_start.max(0)..padded_end;
        straight.chain(padded).filter_map(lead).max()
    }

    fn first_tap(&self, output: i64) -> Option<i64> {
        let first = output * self.stride - self.padding_before;
        if first >= 0 {
            return (first < self.input).then_some(first);
        }
        let inside = first.rem_euclid(self.dilation);
        let tap = (inside - first) / self.dilation;
        (tap < self.kernel && inside < self.input).then_some(inside)
    }

    /// All taps inside, found without [`first_tap`](Self::first_tap), which is tested
    /// against it.
    fn taps(&self, output: u32) -> Taps {
        let first = i64::from(output) * self.stride - self.padding_before;
        let inside = |tap: &i64| (0..self.input).contains(&(first + tap * self.dilation));
        let mut taps = (0..self.kernel).filter(inside);
        let first_tap = taps.next();
        Taps {
            // Inside the input, so not negative and 32 bits.
            first: first_tap.map_or(0, |tap| (first + tap * self.dilation) as u32),
            count: first_tap.map_or(0, |_| 1 + taps.count() as u32),
            dilation: self.dilation as u32,
        }
    }
}
