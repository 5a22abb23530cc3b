//! Split.

use super::error::{axis_index, expect_equal, extent_of};
use super::{Buffer, Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Split along one axis, the reverse of [`Concat`](super::Concat): for each position on
/// the axes before it, one run of each output. What is said there of `memcpy` holds
/// here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Split {
    /// Shape of the input.
    pub input: Shape,
    /// The axis: 0 for the batch, 3 for the depth.
    pub axis: u32,
    /// The outputs' extents on the axis; their sum is the input's.
    pub parts: Vec<u32>,
    /// Bytes per element of all buffers.
    pub element_bytes: u32,
}

impl Split {
    fn axis(&self) -> usize {
        self.axis.min(3) as usize
    }
}

impl ReferenceKernel for Split {
    fn check(&self) -> Result<(), ShapeError> {
        let axis = axis_index(self.axis)?;
        if self.parts.is_empty() {
            return Err(ShapeError::Zero {
                what: "number of outputs",
            });
        }
        let sum: u64 = self.parts.iter().copied().map(u64::from).sum();
        expect_equal(
            || format!("sum of the {}s", extent_of("output", axis)),
            sum,
            self.input[axis],
            "that of the input",
        )
    }

    fn buffers(&self) -> Buffers {
        let output = |&part: &u32| {
            let mut shape = self.input;
            shape[self.axis()] = part;
            Buffer::new("output", shape, self.element_bytes)
        };
        Buffers {
            inputs: vec![Buffer::new("input", self.input, self.element_bytes)],
            outputs: self.parts.iter().map(output).collect(),
        }
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        // What an output has received was loaded before, and so was all below it.
        Some(0)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let rounds: u32 = self.input[..self.axis()].iter().product();
        let inner: u32 = self.input[self.axis() + 1..].iter().product();
        let mut loaded = 0;
        for round in 0..rounds {
            for (output, run) in self.parts.iter().map(|part| part * inner).enumerate() {
                for element in 0..run {
                    visit(AccessKind::Load, 0, loaded + element);
                    visit(AccessKind::Store, output, round * run + element);
                }
                loaded += run;
            }
        }
    }
}
