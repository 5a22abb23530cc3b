//! Operators that move elements and compute none, and resizing.

use super::{Builder, Tensor};
use crate::graph::Kind;
use crate::graph::zoo::element::Element;
use crate::operator::{
    Concat, Interpolation, Operator, Pad, Reshape, ResizeBilinear, Shape, Split, StridedSlice,
};

impl Builder {
    /// Concatenation of the channels.
    pub fn concat(&mut self, inputs: &[Tensor]) -> Tensor {
        let (operator, shape) = self.concatenation(3, inputs);
        self.push(Kind::Concatenation, operator, inputs, &[], shape)
    }

    /// On an axis of 0 to 3.
    fn concatenation(&self, axis: usize, inputs: &[Tensor]) -> (Operator, Shape) {
        let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape).collect();
        let mut shape = shapes.first().copied().unwrap_or_default();
        shape[axis] = shapes.iter().map(|shape| shape[axis]).sum();
        let operator = Operator::Concat(Concat {
            inputs: shapes,
            axis: axis as u32,
            element_bytes: self.element.bytes(),
        });
        (operator, shape)
    }

    /// Rows of predictions from several feature maps, one below the other: each map's
    /// channels become rows of `depth`, a tensor `[1, rows, depth]`.
    pub fn stack_rows(&mut self, maps: &[Tensor], depth: u32) -> Tensor {
        let stacks: Vec<Tensor> = maps
            .iter()
            .map(|&map| {
                let rows = map.shape.iter().product::<u32>() / depth;
                self.reshape(map, &[1, rows, depth], [1, 1, rows, depth])
            })
            .collect();
        let (operator, shape) = self.concatenation(2, &stacks);
        let given = shape[1..].to_vec();
        self.push_shaped(Kind::Concatenation, operator, &stacks, &[], shape, given)
    }

    /// Zeros around height and width: before and after each.
    pub fn pad(&mut self, input: Tensor, before: [u32; 2], after: [u32; 2]) -> Tensor {
        let [top, left] = before;
        let [bottom, right] = after;
        self.pad_axes(input, [0, top, left, 0], [0, bottom, right, 0])
    }

    /// Zeros after the channels, up to this many.
    pub fn pad_channels(&mut self, input: Tensor, channels: u32) -> Tensor {
        self.pad_axes(input, [0; 4], [0, 0, 0, channels - input.channels()])
    }

    fn pad_axes(&mut self, input: Tensor, before: Shape, after: Shape) -> Tensor {
        let shape = std::array::from_fn(|axis| before[axis] + input.shape[axis] + after[axis]);
        let operator = Operator::Pad(Pad {
            input: input.shape,
            before,
            output: shape,
            element_bytes: self.element.bytes(),
        });
        let paddings = self.integers("paddings", &[4, 2]);
        self.push(Kind::Pad, operator, &[input], &[paddings], shape)
    }

    /// Without its first row and column.
    pub fn crop_first(&mut self, input: Tensor) -> Tensor {
        let [batches, height, width, channels] = input.shape;
        let shape = [batches, height - 1, width - 1, channels];
        let operator = Operator::StridedSlice(StridedSlice {
            input: input.shape,
            begin: [0, 1, 1, 0],
            stride: [1; 4],
            output: shape,
            in_runs: false,
            element_bytes: self.element.bytes(),
        });
        let constants = ["begin", "end", "strides"].map(|what| self.integers(what, &[4]));
        self.push(Kind::StridedSlice, operator, &[input], &constants, shape)
    }

    /// Linear interpolation, the corner pixels on one another.
    pub fn resize_bilinear(&mut self, input: Tensor, height: u32, width: u32) -> Tensor {
        let shape = [input.shape[0], height, width, input.channels()];
        let operator = Operator::ResizeBilinear(ResizeBilinear {
            input: input.shape,
            output: shape,
            align_corners: true,
            half_pixel_centers: false,
            interpolation: match self.element {
                Element::Float32 => Interpolation::Float,
                Element::Int8 => Interpolation::FixedPoint,
            },
            element_bytes: self.element.bytes(),
        });
        let size = self.integers("size", &[2]);
        self.push(Kind::ResizeBilinear, operator, &[input], &[size], shape)
    }

    /// A split into one part, which is the whole: converters leave such behind.
    pub fn split_whole(&mut self, input: Tensor) -> Tensor {
        let operator = Operator::Split(Split {
            input: input.shape,
            axis: 3,
            parts: vec![input.channels()],
            element_bytes: self.element.bytes(),
        });
        let axis = self.integers("axis", &[]);
        let whole = self.push(Kind::Split, operator, &[input], &[axis], input.shape);
        // This operator alone has its constant first.
        if let Some(node) = self.graph.operators.last_mut() {
            node.inputs.reverse();
        }
        whole
    }

    /// One pixel as a vector.
    pub fn flatten(&mut self, input: Tensor) -> Tensor {
        let elements = input.shape.iter().product();
        self.reshape(input, &[1, elements], [1, 1, 1, elements])
    }

    fn reshape(&mut self, input: Tensor, given: &[u32], shape: Shape) -> Tensor {
        let operator = Operator::Reshape(Reshape {
            elements: input.shape.iter().product(),
            element_bytes: self.element.bytes(),
        });
        let constant = self.integers("shape", &[given.len() as u32]);
        let given = given.to_vec();
        self.push_shaped(Kind::Reshape, operator, &[input], &[constant], shape, given)
    }
}
