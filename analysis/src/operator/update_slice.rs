//! A part of a tensor, at indices that are data.

use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Copies a tensor, then another one over a part of it: `DYNAMIC_UPDATE_SLICE`. Where that part lies
/// depends on the data, so that all is taken for loaded when the output is complete: nothing may
/// overlap.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UpdateSlice {
    /// Extents of the tensor.
    pub input: Vec<u32>,
    /// Extents of the part, on each axis at most the tensor's.
    pub update: Vec<u32>,
    /// Bytes per element of both and of the output.
    pub element_bytes: u32,
    /// Bytes of an index.
    pub begin_bytes: u32,
}

impl UpdateSlice {
    /// TensorFlow Lite Micro takes no more.
    pub const MOST_AXES: usize = 6;
}

/// Number of elements; the most there are if that does not fit.
fn elements(extents: &[u32]) -> u32 {
    let extents = extents.iter();
    extents.fold(1, |product: u32, &extent| product.saturating_mul(extent))
}

impl ReferenceKernel for UpdateSlice {
    fn check(&self) -> Result<(), ShapeError> {
        let [axes, updated] = [&self.input, &self.update].map(Vec::len);
        if axes > Self::MOST_AXES {
            return Err(ShapeError::TooLarge {
                what: "number of axes".to_owned(),
                given: u32::try_from(axes).unwrap_or(u32::MAX),
                limit: Self::MOST_AXES as u32,
            });
        }
        if axes != updated {
            return Err(ShapeError::Mismatch {
                what: "number of the update's axes".to_owned(),
                given: updated as u64,
                expected: axes as u64,
                reason: "that of the input",
            });
        }
        for (axis, (&given, &limit)) in self.update.iter().zip(&self.input).enumerate() {
            if given > limit {
                return Err(ShapeError::TooLarge {
                    what: format!("update's extent on axis {axis}"),
                    given,
                    limit,
                });
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let whole = [1, 1, 1, elements(&self.input)];
        let part = [1, 1, 1, elements(&self.update)];
        let indices = [1, 1, 1, self.input.len() as u32];
        Buffers {
            inputs: vec![
                Buffer::new("input", whole, self.element_bytes),
                Buffer::new("update", part, self.element_bytes),
                Buffer::new("indices", indices, self.begin_bytes),
            ],
            outputs: vec![Buffer::new("output", whole, self.element_bytes)],
        }
    }

    fn displacement_bytes(&self, _: usize, output: usize) -> Option<i64> {
        self.buffers().displacement_if_unknown(output)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        self.buffers().accesses_if_unknown(visit);
    }
}
