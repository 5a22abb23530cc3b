//! Element-wise operators of two inputs, with broadcasting.

use super::error::extent_of;
use super::store_lead::{each_element, longest_of_axes, position, slopes, strides, strides_bytes};
use super::{Buffer, Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Element-wise operator of two inputs: addition, subtraction, multiplication,
/// comparison and the like. An input of extent 1 on an axis serves all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct ElementwiseBinary {
    /// Shapes of the inputs; each extent is that of the output or 1.
    pub inputs: [Shape; 2],
    /// Shape of the output.
    pub output: Shape,
    /// Bytes per element of each input.
    pub input_element_bytes: [u32; 2],
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

const NAMES: [&str; 2] = ["first input", "second input"];

impl ElementwiseBinary {
    /// Strides with 0 on the axes on which the input has one element for all.
    fn broadcast<T: Default + Copy>(&self, input: usize, strides: [T; 4]) -> [T; 4] {
        std::array::from_fn(|axis| match self.inputs[input][axis] {
            1 => T::default(),
            _ => strides[axis],
        })
    }
}

impl ReferenceKernel for ElementwiseBinary {
    fn check(&self) -> Result<(), ShapeError> {
        for (name, shape) in NAMES.into_iter().zip(self.inputs) {
            for (axis, (given, expected)) in shape.into_iter().zip(self.output).enumerate() {
                if given != 1 && given != expected {
                    return Err(ShapeError::Broadcast {
                        what: extent_of(name, axis),
                        given,
                        expected,
                    });
                }
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let input = |index| {
            Buffer::new(
                NAMES[index],
                self.inputs[index],
                self.input_element_bytes[index],
            )
        };
        Buffers {
            inputs: vec![input(0), input(1)],
            outputs: vec![Buffer::new(
                "output",
                self.output,
                self.output_element_bytes,
            )],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let stored = strides_bytes(self.output, self.output_element_bytes);
        let loaded = strides_bytes(self.inputs[input], self.input_element_bytes[input]);
        let loaded = self.broadcast(input, loaded);
        Some(longest_of_axes(self.output, slopes(stored, loaded)))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let [first, second] =
            [0, 1].map(|input| self.broadcast(input, strides(self.inputs[input])));
        each_element(self.output, |indices, element| {
            visit(AccessKind::Load, 0, position(indices, first));
            visit(AccessKind::Load, 1, position(indices, second));
            visit(AccessKind::Store, 0, element);
        });
    }
}
