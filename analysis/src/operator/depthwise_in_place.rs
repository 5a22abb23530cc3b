//! Depthwise 2-D convolution that goes through its channels one by one.

use super::error::expect_same_extents;
use super::store_lead::longest;
use super::{Buffers, ReferenceKernel, Shape, ShapeError, Window};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Depthwise 2-D convolution with one output channel for each input channel, that may store
/// over its input (TinyEngine): each channel of an image is copied to a scratch buffer of
/// [`scratch_bytes`](Self::scratch_bytes), then computed from there and stored. Between two
/// copies, only that channel's bytes are touched: displacement 0 is safe wherever
/// [`is_in_place`](Self::is_in_place), although not all greater ones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct DepthwiseInPlace {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output; as many batches and channels as the input.
    pub output: Shape,
    /// The filter's window.
    pub window: Window,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl DepthwiseInPlace {
    /// One channel of one image of the input.
    pub fn scratch_bytes(&self) -> u64 {
        let [_, height, width, _] = self.input.map(u64::from);
        height * width * u64::from(self.element_bytes)
    }

    /// Whether input and output may start at the same byte: an image's output does not reach
    /// into the input of a later one.
    pub fn is_in_place(&self) -> bool {
        self.input[0] == 1 || pixels(self.output) <= pixels(self.input)
    }
}

fn pixels([_, height, width, _]: Shape) -> u64 {
    u64::from(height) * u64::from(width)
}

impl ReferenceKernel for DepthwiseInPlace {
    fn check(&self) -> Result<(), ShapeError> {
        expect_same_extents(self.input, self.output, &[3])?;
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let [batches, _, _, channels] = self.input;
        let [stored, loaded] = [self.output, self.input].map(|shape| pixels(shape) as i64);
        let channel_count = i64::from(channels);
        // A channel is loaded from its first pixel when the one before is stored to its last.
        let channel = match channels {
            1 => 0,
            _ => (stored - 1) * channel_count,
        };
        let elements = longest(batches, (stored - loaded) * channel_count) + channel;
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let [batches, _, _, channels] = self.input;
        let [stored, loaded] = [self.output, self.input].map(|[_, h, w, _]| h * w);
        for b in 0..batches {
            for c in 0..channels {
                for pixel in b * loaded..(b + 1) * loaded {
                    visit(AccessKind::Load, 0, pixel * channels + c);
                }
                for pixel in b * stored..(b + 1) * stored {
                    visit(AccessKind::Store, 0, pixel * channels + c);
                }
            }
        }
    }
}
