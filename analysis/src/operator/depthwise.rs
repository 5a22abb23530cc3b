//! Depthwise 2-D convolution.

use super::error::{expect_equal, extent_of};
use super::{Buffers, ReferenceKernel, Shape, ShapeError, Window};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Depthwise 2-D convolution. Input channel `ic` gives the output channels
/// `ic * multiplier + m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct DepthwiseConv2d {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// The filter's window.
    pub window: Window,
    /// Output channels for each input channel.
    pub multiplier: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl DepthwiseConv2d {
    /// The last output channel leads the last input channel by this many.
    pub(super) fn channel_lead(&self) -> i64 {
        i64::from(self.output[3]) - i64::from(self.input[3])
    }
}

impl ReferenceKernel for DepthwiseConv2d {
    fn check(&self) -> Result<(), ShapeError> {
        if self.multiplier == 0 {
            return Err(ShapeError::Zero {
                what: "depth multiplier",
            });
        }
        expect_equal(
            || extent_of("output", 3),
            self.output[3],
            u64::from(self.input[3]) * u64::from(self.multiplier),
            "depth of the input times the multiplier",
        )?;
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let shapes = [self.input, self.output];
        self.window
            .displacement_bytes(shapes, self.channel_lead(), self.element_bytes)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        let inputs_of = |oc| std::iter::once(oc / self.multiplier);
        self.window
            .accesses(self.input, self.output, inputs_of, visit);
    }
}
