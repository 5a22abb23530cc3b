//! The window that convolutions and pooling move over their input.

use super::{Shape, ShapeError, expect_equal};
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// Extent and movement of a window; height first, then width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Strides, taps and paddings above this are taken for mistakes.
const EXTENT_LIMIT: u32 = 1 << 16;

impl Window {
    pub(super) fn check(&self, input: Shape, output: Shape) -> Result<(), ShapeError> {
        expect_equal("output's batch", output[0], input[0], "that of the input")?;
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
                        what,
                        given,
                        limit: EXTENT_LIMIT,
                    });
                }
            }
        }
        Ok(())
    }

    /// The displacement in elements: `channels` is the largest lead of the stored over
    /// the loaded channel. None when no tap of any output lies in the input.
    pub(super) fn displacement(&self, input: Shape, output: Shape, channels: i64) -> Option<u32> {
        let [batches, input_height, input_width, input_depth] = input.map(i64::from);
        let [_, output_height, output_width, output_depth] = output.map(i64::from);
        let rows = self
            .axis(0, input, output)
            .longest_lead(output_width * output_depth, input_width * input_depth)?;
        let columns = self
            .axis(1, input, output)
            .longest_lead(output_depth, input_depth)?;
        let batch_lead =
            output_height * output_width * output_depth - input_height * input_width * input_depth;
        let lead = (batches - 1) * batch_lead.max(0) + rows + columns + channels;
        // A lead never exceeds the output, whose size fits.
        Some(u32::try_from(lead.max(0)).unwrap_or(u32::MAX))
    }

    /// For each output position (b, oy, ox) and output channel `oc`: the loads of all
    /// its taps and of `inputs_of(oc)` at each, then the store.
    pub(super) fn accesses<I: Iterator<Item = u32>>(
        &self,
        input: Shape,
        output: Shape,
        inputs_of: impl Fn(u32) -> I,
        visit: &mut dyn FnMut(AccessKind, u32),
    ) {
        let [batches, output_height, output_width, output_depth] = output;
        let [_, input_height, input_width, input_depth] = input;
        let mut stored = 0;
        for b in 0..batches {
            for oy in 0..output_height {
                for ox in 0..output_width {
                    for oc in 0..output_depth {
                        for iy in self
                            .taps(0, oy)
                            .filter(|iy| (0..i64::from(input_height)).contains(iy))
                        {
                            for ix in self
                                .taps(1, ox)
                                .filter(|ix| (0..i64::from(input_width)).contains(ix))
                            {
                                let pixel =
                                    (b * input_height + iy as u32) * input_width + ix as u32;
                                for ic in inputs_of(oc) {
                                    visit(AccessKind::Load, pixel * input_depth + ic);
                                }
                            }
                        }
                        visit(AccessKind::Store, stored);
                        stored += 1;
                    }
                }
            }
        }
    }

    /// Where the taps of one output lie, inside the input or not.
    fn taps(&self, axis: usize, output: u32) -> impl Iterator<Item = i64> {
        let first =
            i64::from(output) * i64::from(self.stride[axis]) - i64::from(self.padding_before[axis]);
        let dilation = i64::from(self.dilation[axis]);
        (0..i64::from(self.kernel[axis])).map(move |tap| first + tap * dilation)
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

impl Axis {
    /// The maximum of `o * stored - t(o) * loaded` over all outputs `o` that have a first
    /// tap `t(o)` inside the input.
    fn longest_lead(&self, stored: i64, loaded: i64) -> Option<i64> {
        let lead = |o| Some(o * stored - self.first_tap(o)? * loaded);
        if self.dilation > 1 && self.kernel > 1 {
            return (0..self.output).filter_map(lead).max();
        }
        // Without dilation t(o) = max(0, o*stride - padding) wherever it exists, which
        // is one run of outputs. The lead rises while there is padding and is straight
        // after it: it is longest where the padding ends or at the end of the run.
        let padding_ends = self.padding_before / self.stride;
        let first = (self.padding_before - self.kernel + self.stride).max(0) / self.stride;
        let last = ((self.padding_before + self.input - 1) / self.stride).min(self.output - 1);
        if first > last {
            return None;
        }
        [padding_ends, padding_ends + 1, last]
            .into_iter()
            .filter_map(|o| lead(o.clamp(first, last)))
            .max()
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
}
