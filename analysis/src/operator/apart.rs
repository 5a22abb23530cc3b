//! An operator whose buffers are known, and of which nothing may overlap.

use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An operator with kernels of its own whose loops grant nothing, or are not the runtime's, so that
/// nothing may overlap, measured or not: for all that can be said, it stores all outputs before it
/// loads anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Apart {
    /// Its inputs.
    pub inputs: Vec<ApartBuffer>,
    /// Its outputs.
    pub outputs: Vec<ApartBuffer>,
}

/// A buffer of such an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct ApartBuffer {
    /// Number of its elements.
    pub elements: u32,
    /// Bytes per element.
    pub element_bytes: u32,
}

impl ReferenceKernel for Apart {
    fn buffers(&self) -> Buffers {
        let size = |it: &ApartBuffer| (it.elements, it.element_bytes);
        Buffers::without_shapes(self.inputs.iter().map(size), self.outputs.iter().map(size))
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        self.buffers().displacement_if_unknown(output)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.buffers().accesses_if_unknown(visit);
    }
}
