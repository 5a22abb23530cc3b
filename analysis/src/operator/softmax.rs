//! Softmax.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Softmax over the last axis: each row is loaded for its maximum, for its sum, and
/// once more as its outputs are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Softmax {
    /// Rows.
    pub rows: u32,
    /// Elements of a row.
    pub depth: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for Softmax {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [self.rows, 1, 1, self.depth],
            [self.rows, 1, 1, self.depth],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        // Only the third pass matters: the other two load what it loads, no later.
        let slope = i64::from(self.output_element_bytes) - i64::from(self.input_element_bytes);
        Some(longest(self.rows * self.depth, slope))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for row in 0..self.rows {
            let elements = row * self.depth..(row + 1) * self.depth;
            for _pass in ["maximum", "sum"] {
                for element in elements.clone() {
                    visit(AccessKind::Load, 0, element);
                }
            }
            for element in elements {
                visit(AccessKind::Load, 0, element);
                visit(AccessKind::Store, 0, element);
            }
        }
    }
}
