//! A shape as data.

use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stores the extents of a tensor, which are known before anything runs, and loads nothing of it:
/// `SHAPE`.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShapeOf {
    /// What it stores, a word each.
    pub extents: Vec<u32>,
}

/// Bytes of an extent.
const EXTENT_BYTES: u32 = 4;

impl ShapeOf {
    /// Tensors have no more axes.
    const MOST_AXES: u32 = 64;

    fn axes(&self) -> u32 {
        u32::try_from(self.extents.len()).unwrap_or(u32::MAX)
    }
}

impl ReferenceKernel for ShapeOf {
    fn check(&self) -> Result<(), ShapeError> {
        if self.axes() > Self::MOST_AXES {
            return Err(ShapeError::TooLarge {
                what: "number of axes".to_owned(),
                given: self.axes(),
                limit: Self::MOST_AXES,
            });
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let output = [1, 1, 1, self.axes()];
        Buffers {
            inputs: Vec::new(),
            outputs: vec![Buffer::new("output", output, EXTENT_BYTES)],
        }
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        None
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        (0..self.axes()).for_each(|axis| visit(AccessKind::Store, 0, axis));
    }
}
