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
        self.buffers().displacement_if_unknown(output)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.buffers().accesses_if_unknown(visit);
    }
}
