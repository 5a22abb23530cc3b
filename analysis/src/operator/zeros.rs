//! Zeros.

use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stores zeros, and loads nothing: `ZEROS_LIKE`, which needs the shape of its input alone.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Zeros {
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element.
    pub element_bytes: u32,
}

impl ReferenceKernel for Zeros {
    fn buffers(&self) -> Buffers {
        let output = [1, 1, 1, self.elements];
        Buffers {
            inputs: Vec::new(),
            outputs: vec![Buffer::new("output", output, self.element_bytes)],
        }
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        None
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        (0..self.elements).for_each(|element| visit(AccessKind::Store, 0, element));
    }
}
