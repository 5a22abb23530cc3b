//! An operator of which only the buffers are known.

use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An operator of which only the buffers are known, so that nothing may overlap: for all
/// that can be said, it stores all outputs before it loads anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Opaque {
    /// Sizes of the inputs in bytes.
    pub inputs: Vec<u32>,
    /// Sizes of the outputs in bytes.
    pub outputs: Vec<u32>,
}

impl ReferenceKernel for Opaque {
    fn buffers(&self) -> Buffers {
        let buffers = |name, sizes: &[u32]| {
            let buffer = |&size| Buffer::new(name, [1, 1, 1, size], 1);
            sizes.iter().map(buffer).collect()
        };
        Buffers {
            inputs: buffers("input", &self.inputs),
            outputs: buffers("output", &self.outputs),
        }
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        Some(i64::from(self.outputs[output]))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for (kind, sizes) in [
            (AccessKind::Store, &self.outputs),
            (AccessKind::Load, &self.inputs),
        ] {
            for (buffer, &size) in sizes.iter().enumerate() {
                for byte in 0..size {
                    visit(kind, buffer, byte);
                }
            }
        }
    }
}
