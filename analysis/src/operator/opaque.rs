//! An operator of which only the buffers are known.

use super::{Buffers, ReferenceKernel};
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
        let size = |&bytes: &u32| (bytes, 1);
        Buffers::without_shapes(self.inputs.iter().map(size), self.outputs.iter().map(size))
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        self.buffers().displacement_if_unknown(output)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.buffers().accesses_if_unknown(visit);
    }
}
