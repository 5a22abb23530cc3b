//! Element-wise operators of any number of inputs, with broadcasting.

use super::error::extent_of;
use super::store_lead::{each_element, longest_of_axes, position, slopes, strides, strides_bytes};
use super::{Buffer, Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Element-wise operator of any number of inputs: a sum, or the choice between two by a third. An
/// input of extent 1 on an axis serves all of it. All inputs are loaded for each element, also
/// where a kernel needs only one of them.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementwiseMany {
    /// The inputs, in the operator's order.
    pub inputs: Vec<ElementwiseInput>,
    /// Shape of the output.
    pub output: Shape,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

/// One input of an element-wise operator.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementwiseInput {
    /// Its shape; each extent is that of the output or 1.
    pub shape: Shape,
    /// Bytes per element.
    pub element_bytes: u32,
}

impl ElementwiseInput {
    /// Strides with 0 on the axes on which the input has one element for all.
    fn broadcast<T: Default + Copy>(&self, strides: [T; 4]) -> [T; 4] {
        std::array::from_fn(|axis| match self.shape[axis] {
            1 => T::default(),
            _ => strides[axis],
        })
    }
}

impl ReferenceKernel for ElementwiseMany {
    fn check(&self) -> Result<(), ShapeError> {
        if self.inputs.is_empty() {
            return Err(ShapeError::Zero {
                what: "number of inputs",
            });
        }
        for (index, input) in self.inputs.iter().enumerate() {
            for (axis, (given, expected)) in input.shape.into_iter().zip(self.output).enumerate() {
                if given != 1 && given != expected {
                    return Err(ShapeError::Broadcast {
                        what: extent_of(&format!("input {index}"), axis),
                        given,
                        expected,
                    });
                }
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let input = |it: &ElementwiseInput| Buffer::new("input", it.shape, it.element_bytes);
        let output = Buffer::new("output", self.output, self.output_element_bytes);
        Buffers {
            inputs: self.inputs.iter().map(input).collect(),
            outputs: vec![output],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let input = self.inputs.get(input)?;
        let stored = strides_bytes(self.output, self.output_element_bytes);
        let loaded = input.broadcast(strides_bytes(input.shape, input.element_bytes));
        Some(longest_of_axes(self.output, slopes(stored, loaded)))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let strides: Vec<[u32; 4]> = self
            .inputs
            .iter()
            .map(|input| input.broadcast(strides(input.shape)))
            .collect();
        each_element(self.output, |indices, element| {
            for (input, &strides) in strides.iter().enumerate() {
                visit(AccessKind::Load, input, position(indices, strides));
            }
            visit(AccessKind::Store, 0, element);
        });
    }
}
