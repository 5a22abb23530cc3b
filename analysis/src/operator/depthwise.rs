//! Depthwise 2-D convolution.

use super::{Buffer, ReferenceKernel, Shape, ShapeError, Window, expect_equal};
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// Depthwise 2-D convolution. Input channel `ic` gives the output channels
/// `ic * multiplier + m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl ReferenceKernel for DepthwiseConv2d {
    fn check(&self) -> Result<(), ShapeError> {
        if self.multiplier == 0 {
            return Err(ShapeError::Zero {
                what: "depth multiplier",
            });
        }
        expect_equal(
            "output's depth",
            self.output[3],
            self.input[3].saturating_mul(self.multiplier),
            "depth of the input times the multiplier",
        )?;
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> (Buffer, Buffer) {
        Buffer::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self) -> Option<u32> {
        // The last output channel leads the last input channel.
        let channels = i64::from(self.output[3]) - i64::from(self.input[3]);
        self.window
            .displacement(self.input, self.output, channels)
            .map(|elements| elements * self.element_bytes)
    }

    fn accesses(&self, visit: &mut dyn FnMut(AccessKind, u32)) {
        let inputs_of = |oc| std::iter::once(oc / self.multiplier);
        self.window
            .accesses(self.input, self.output, inputs_of, visit);
    }
}
