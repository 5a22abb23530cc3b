//! SVDF: a fully connected layer over time, by singular value decomposition.

use super::{Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// SVDF, int8. All filters load the input of all batches before any output is stored. The
/// state, int8 or int16, is loaded and stored and persists: it overlaps nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Svdf {
    /// Number of input and output vectors.
    pub batches: u32,
    /// Elements of an input vector.
    pub input_depth: u32,
    /// Elements of an output vector.
    pub units: u32,
    /// Filters per unit.
    pub rank: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for Svdf {
    fn check(&self) -> Result<(), ShapeError> {
        if self.rank == 0 {
            return Err(ShapeError::Zero { what: "rank" });
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [self.batches, 1, 1, self.input_depth],
            [self.batches, 1, 1, self.units],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        Some(0)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for b in 0..self.batches {
            for _filter in 0..u64::from(self.units) * u64::from(self.rank) {
                for ic in 0..self.input_depth {
                    visit(AccessKind::Load, 0, b * self.input_depth + ic);
                }
            }
        }
        for element in 0..self.batches * self.units {
            visit(AccessKind::Store, 0, element);
        }
    }
}
