//! Elements at indices that are data.

use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Copies a run of elements for each index, or for each tuple of them: `GATHER`, `GATHER_ND` and
/// `EMBEDDING_LOOKUP`. Which runs it loads depends on the data, so that all is taken for loaded when
/// the output is complete: nothing may overlap.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gather {
    /// Batches, each with indices of its own.
    pub batches: u32,
    /// Positions before the axes that are indexed, which share the indices of their batch.
    pub outer: u32,
    /// Extents of the axes that are indexed.
    pub extents: Vec<u32>,
    /// Elements of a run: those of all axes that follow.
    pub run: u32,
    /// Indices of a batch, or tuples.
    pub count: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

/// Bytes of an index.
const INDEX_BYTES: u32 = 4;

impl Gather {
    /// More axes are indexed by no kernel.
    pub const MOST_AXES: usize = 5;

    /// Positions of the axes that are indexed; the most there are if that does not fit.
    fn positions(&self) -> u32 {
        let extents = self.extents.iter();
        extents.fold(1, |product: u32, &extent| product.saturating_mul(extent))
    }

    fn indices(&self) -> u32 {
        self.extents.len() as u32
    }
}

impl ReferenceKernel for Gather {
    fn check(&self) -> Result<(), ShapeError> {
        match self.extents.len() {
            0 => Err(ShapeError::Zero {
                what: "number of indices",
            }),
            1..=Self::MOST_AXES => Ok(()),
            more => Err(ShapeError::TooLarge {
                what: "number of indices".to_owned(),
                given: u32::try_from(more).unwrap_or(u32::MAX),
                limit: Self::MOST_AXES as u32,
            }),
        }
    }

    fn buffers(&self) -> Buffers {
        let input = [self.batches, self.outer, self.positions(), self.run];
        let indices = [self.batches, 1, self.count, self.indices()];
        let output = [self.batches, self.outer, self.count, self.run];
        Buffers {
            inputs: vec![
                Buffer::new("input", input, self.element_bytes),
                Buffer::new("indices", indices, INDEX_BYTES),
            ],
            outputs: vec![Buffer::new("output", output, self.element_bytes)],
        }
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        self.buffers().displacement_if_unknown(output)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.buffers().accesses_if_unknown(visit);
    }
}
