//! Rows that are kept from one tile to the next.

use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows of a tensor that the next tile needs too, copied by one `memmove`. No operator of a model:
/// [`Split::cached`](crate::transform::Split::cached) makes it.
///
/// Each element is loaded before it can be stored over, wherever the output begins at or below the
/// input: that is what `memmove` promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct KeptRows {
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for KeptRows {
    fn buffers(&self) -> Buffers {
        let shape = [1, 1, 1, self.elements];
        Buffers::pair(shape, shape, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        Some(0)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for element in 0..self.elements {
            visit(AccessKind::Load, 0, element);
            visit(AccessKind::Store, 0, element);
        }
    }
}
