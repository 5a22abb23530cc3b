//! 2-D pooling.

use super::error::expect_same_extents;
use super::{Buffers, ReferenceKernel, Shape, ShapeError, Window};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// 2-D pooling: maximum, average or L2, which all make the same accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
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
        expect_same_extents(self.input, self.output, &[3])?;
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let shapes = [self.input, self.output];
        self.window
            .displacement_bytes(shapes, 0, self.element_bytes)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.window
            .accesses(self.input, self.output, std::iter::once, visit);
    }
}
