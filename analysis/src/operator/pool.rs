//! 2-D pooling.

use super::{Buffer, ReferenceKernel, Shape, ShapeError, Window, expect_equal};
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// 2-D pooling: maximum, average or L2, which all make the same accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pool2d {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// What is pooled.
    pub window: Window,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for Pool2d {
    fn check(&self) -> Result<(), ShapeError> {
        expect_equal(
            "output's depth",
            self.output[3],
            self.input[3],
            "that of the input",
        )?;
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> (Buffer, Buffer) {
        Buffer::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self) -> Option<u32> {
        self.window
            .displacement(self.input, self.output, 0)
            .map(|elements| elements * self.element_bytes)
    }

    fn accesses(&self, visit: &mut dyn FnMut(AccessKind, u32)) {
        self.window
            .accesses(self.input, self.output, std::iter::once, visit);
    }
}
