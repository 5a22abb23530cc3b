//! Reshaping.

use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The same elements in another shape: one `memcpy`. What is said of it at
/// [`Concat`](super::Concat) holds here, except that a kernel may leave it out where
/// output and input are the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Reshape {
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for Reshape {
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
