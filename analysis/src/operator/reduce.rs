//! Reductions over any axes.

use super::store_lead::{each_element, position, strides};
use super::{Buffers, ReferenceKernel, Shape};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reduction over any axes. One that accumulates in its output may overlap nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Reduce {
    /// Shape of the input.
    pub input: Shape,
    /// Whether each axis is reduced, to an extent of 1.
    pub axes: [bool; 4],
    /// What is done to the elements.
    pub reduction: Reduction,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

/// What a reduction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Sum, product, minimum, maximum, any, all.
    Fold,
    /// A sum with a second pass over the output that divides it.
    Mean,
    /// A sum in scratch memory of wider elements, apart from input and output (int8): the
    /// output is stored after all input has been loaded.
    Scratch,
}

impl Reduce {
    fn output(&self) -> Shape {
        std::array::from_fn(|axis| if self.axes[axis] { 1 } else { self.input[axis] })
    }
}

impl ReferenceKernel for Reduce {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            self.input,
            self.output(),
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let elements: i64 = self.output().map(i64::from).iter().product();
        Some(match self.reduction {
            // All of the output is stored before the first load.
            Reduction::Fold | Reduction::Mean => elements * i64::from(self.output_element_bytes),
            Reduction::Scratch => 0,
        })
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let stored = strides(self.output());
        let outputs = 0..self.output().iter().product();
        let in_output = self.reduction != Reduction::Scratch;
        if in_output {
            for element in outputs.clone() {
                visit(AccessKind::Store, 0, element);
            }
        }
        each_element(self.input, |indices, element| {
            visit(AccessKind::Load, 0, element);
            if !in_output {
                return;
            }
            let kept = std::array::from_fn(|axis| if self.axes[axis] { 0 } else { indices[axis] });
            visit(AccessKind::Store, 0, position(kept, stored));
        });
        if self.reduction != Reduction::Fold {
            for element in outputs {
                visit(AccessKind::Store, 0, element);
            }
        }
    }
}
