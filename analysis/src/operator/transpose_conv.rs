//! Transposed 2-D convolution.

use super::store_lead::{each_element, longest};
use super::{Buffers, ReferenceKernel, Shape, ShapeError, Window};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transposed 2-D convolution: each input element is loaded once and scattered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct TransposeConv2d {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// The filter's window, which moves over the *output*: the strides are output
    /// elements from one input to the next, and the padding is before the output.
    pub window: Window,
    /// Where the sums are kept.
    pub accumulation: Accumulation,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

/// Where sums are kept until they are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accumulation {
    /// In a scratch buffer of wider elements, apart from input and output (int8,
    /// int16): a batch's output is stored after all its input has been loaded.
    Scratch,
    /// In the output (float32): zeroed as a whole, then updated.
    Output,
}

impl ReferenceKernel for TransposeConv2d {
    fn check(&self) -> Result<(), ShapeError> {
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let [input, output] = [self.input, self.output].map(|shape| {
            let elements: i64 = shape[1..].iter().copied().map(i64::from).product();
            elements * i64::from(self.element_bytes)
        });
        Some(match self.accumulation {
            Accumulation::Scratch => longest(self.input[0], output - input),
            // All of the output is stored before the first load.
            Accumulation::Output => output * i64::from(self.output[0]),
        })
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let [batches, height, width, depth] = self.input;
        let batch_elements: u32 = self.output[1..].iter().product();
        if self.accumulation == Accumulation::Output {
            for element in 0..batches * batch_elements {
                visit(AccessKind::Store, 0, element);
            }
        }
        for b in 0..batches {
            let outputs = b * batch_elements..(b + 1) * batch_elements;
            each_element([1, height, width, depth], |[_, iy, ix, _], element| {
                visit(AccessKind::Load, 0, b * height * width * depth + element);
                if self.accumulation == Accumulation::Output {
                    self.scatter(b, iy, ix, |element| visit(AccessKind::Store, 0, element));
                }
            });
            if self.accumulation == Accumulation::Scratch {
                for element in outputs {
                    visit(AccessKind::Store, 0, element);
                }
            }
        }
    }
}

impl TransposeConv2d {
    /// The output elements that one input element is added to.
    fn scatter(&self, b: u32, iy: u32, ix: u32, mut visit: impl FnMut(u32)) {
        let [_, height, width, depth] = self.output;
        let Window {
            kernel,
            stride,
            dilation,
            padding_before,
        } = self.window;
        let positions = |axis: usize, input: u32, extent: u32| {
            let first =
                i64::from(input) * i64::from(stride[axis]) - i64::from(padding_before[axis]);
            (0..kernel[axis])
                .map(move |tap| first + i64::from(tap) * i64::from(dilation[axis]))
                // Inside the output, so 32 bits.
                .filter_map(move |at| u32::try_from(at).ok().filter(|&at| at < extent))
        };
        for oy in positions(0, iy, height) {
            for ox in positions(1, ix, width) {
                let pixel = (b * height + oy) * width + ox;
                for oc in 0..depth {
                    visit(pixel * depth + oc);
                }
            }
        }
    }
}
