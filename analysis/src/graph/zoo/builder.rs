//! Builds a graph operator by operator and computes the shapes on the way.

use crate::graph::{Graph, GraphTensor, Kernel, Node, Storage, TensorId};
use crate::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, FullyConnected, Interpolation,
    Operator, Pad, Pool2d, Reduce, Reduction, Reshape, ResizeBilinear, Shape, Softmax, SpatialMean,
    Split, StridedSlice, Window, tflite_padding_before,
};
use serde::{Deserialize, Serialize};

/// Type of the activations and weights of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// 32-bit floating point, biases too.
    Float32,
    /// 8-bit integers, with 32-bit biases.
    Int8,
}

impl Element {
    /// Bytes of an activation or weight.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Float32 => 4,
            Self::Int8 => 1,
        }
    }

    /// Type of activations and weights in the words of TensorFlow Lite's schema.
    fn name(self) -> &'static str {
        match self {
            Self::Float32 => "FLOAT32",
            Self::Int8 => "INT8",
        }
    }

    /// Type of biases.
    fn bias_name(self) -> &'static str {
        match self {
            Self::Float32 => "FLOAT32",
            Self::Int8 => INTEGER,
        }
    }
}

/// Type of shapes, axes, paddings.
const INTEGER: &str = "INT32";

/// An activation under construction. A vector has height and width 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tensor {
    id: TensorId,
    pub shape: Shape,
}

impl Tensor {
    pub fn channels(self) -> u32 {
        self.shape[3]
    }
}

/// What a convolution or pooling moves over its input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taps {
    kernel: [u32; 2],
    stride: u32,
    dilation: u32,
    padded: bool,
}

/// Height and width of a kernel; one number for a square one.
pub(super) trait Extent {
    fn extent(self) -> [u32; 2];
}

impl Extent for u32 {
    fn extent(self) -> [u32; 2] {
        [self; 2]
    }
}

impl Extent for [u32; 2] {
    fn extent(self) -> [u32; 2] {
        self
    }
}

/// `SAME` padding: as many outputs as inputs, divided by the stride and rounded up.
pub(super) fn same(kernel: impl Extent) -> Taps {
    Taps {
        kernel: kernel.extent(),
        stride: 1,
        dilation: 1,
        padded: true,
    }
}

/// `VALID` padding, which is none.
pub(super) fn valid(kernel: impl Extent) -> Taps {
    Taps {
        padded: false,
        ..same(kernel)
    }
}

impl Taps {
    pub fn stride(self, stride: u32) -> Self {
        Self { stride, ..self }
    }

    pub fn dilation(self, dilation: u32) -> Self {
        Self { dilation, ..self }
    }

    fn outputs(self, axis: usize, input: u32) -> u32 {
        let reach = (self.kernel[axis] - 1) * self.dilation;
        let first_taps = if self.padded { input } else { input - reach };
        first_taps.div_ceil(self.stride)
    }

    fn output(self, input: Shape, channels: u32) -> Shape {
        let [height, width] = [0, 1].map(|axis| self.outputs(axis, input[axis + 1]));
        [input[0], height, width, channels]
    }

    fn window(self, input: Shape, output: Shape) -> Window {
        let padding_before = [0, 1].map(|axis| {
            tflite_padding_before(
                input[axis + 1],
                output[axis + 1],
                self.kernel[axis],
                self.stride,
                self.dilation,
            )
        });
        Window {
            kernel: self.kernel,
            stride: [self.stride; 2],
            dilation: [self.dilation; 2],
            padding_before,
        }
    }
}

/// A graph under construction. Batch normalisation after a convolution is taken as
/// folded into it, and an activation function after a convolution or addition as fused:
/// neither leaves a trace. What cannot be folded has [`normalise`](Self::normalise) and
/// [`relu`](Self::relu).
pub(super) struct Builder {
    graph: Graph,
    element: Element,
    scope: String,
    /// Tensors and what they are behind a ReLU.
    active: Vec<(TensorId, Tensor)>,
}

impl Builder {
    pub fn new(name: impl Into<String>, element: Element) -> Self {
        Self {
            graph: Graph {
                name: name.into(),
                ..Graph::default()
            },
            element,
            scope: String::new(),
            active: Vec::new(),
        }
    }

    /// Names the part of the network that follows; its tensors bear the name.
    pub fn scope(&mut self, name: impl Into<String>) {
        self.scope = name.into();
    }

    pub fn input(&mut self, height: u32, width: u32, channels: u32) -> Tensor {
        let shape = [1, height, width, channels];
        let id = self.tensor("input".to_owned(), shape.to_vec(), Storage::Arena);
        self.graph.inputs.push(id);
        Tensor { id, shape }
    }

    pub fn finish(mut self, outputs: &[Tensor]) -> Graph {
        self.graph.outputs = outputs.iter().map(|tensor| tensor.id).collect();
        self.graph
    }

    pub fn conv(&mut self, input: Tensor, filters: u32, taps: Taps) -> Tensor {
        let shape = taps.output(input.shape, filters);
        let operator = Operator::Conv2d(Conv2d {
            input: input.shape,
            output: shape,
            window: taps.window(input.shape, shape),
            groups: 1,
            element_bytes: self.element.bytes(),
        });
        let [height, width] = taps.kernel;
        let filter = self.weights(&[filters, height, width, input.channels()]);
        let bias = self.bias(filters);
        self.push("CONV_2D", operator, &[input], &[filter, bias], shape)
    }

    pub fn depthwise(&mut self, input: Tensor, taps: Taps) -> Tensor {
        self.depthwise_multiplied(input, 1, taps)
    }

    pub fn depthwise_multiplied(&mut self, input: Tensor, multiplier: u32, taps: Taps) -> Tensor {
        let channels = input.channels() * multiplier;
        let shape = taps.output(input.shape, channels);
        let operator = Operator::DepthwiseConv2d(DepthwiseConv2d {
            input: input.shape,
            output: shape,
            window: taps.window(input.shape, shape),
            multiplier,
            element_bytes: self.element.bytes(),
        });
        let [height, width] = taps.kernel;
        let filter = self.weights(&[1, height, width, channels]);
        let bias = self.bias(channels);
        let kind = "DEPTHWISE_CONV_2D";
        self.push(kind, operator, &[input], &[filter, bias], shape)
    }

    /// A depthwise convolution and a 1x1 convolution.
    pub fn separable(&mut self, input: Tensor, filters: u32, taps: Taps) -> Tensor {
        let depthwise = self.depthwise(input, taps);
        self.conv(depthwise, filters, same(1))
    }

    pub fn max_pool(&mut self, input: Tensor, taps: Taps) -> Tensor {
        self.pool("MAX_POOL_2D", input, taps)
    }

    pub fn average_pool(&mut self, input: Tensor, taps: Taps) -> Tensor {
        self.pool("AVERAGE_POOL_2D", input, taps)
    }

    /// Average pooling of each channel to one pixel.
    pub fn average_to_pixel(&mut self, input: Tensor) -> Tensor {
        let [_, height, width, _] = input.shape;
        self.average_pool(input, valid([height, width]))
    }

    fn pool(&mut self, kind: &str, input: Tensor, taps: Taps) -> Tensor {
        let shape = taps.output(input.shape, input.channels());
        let operator = Operator::Pool2d(Pool2d {
            input: input.shape,
            output: shape,
            window: taps.window(input.shape, shape),
            element_bytes: self.element.bytes(),
        });
        self.push(kind, operator, &[input], &[], shape)
    }

    /// The mean of each channel, as a vector.
    pub fn mean(&mut self, input: Tensor) -> Tensor {
        let bytes = self.element.bytes();
        let operator = match self.element {
            Element::Float32 => Operator::Reduce(Reduce {
                input: input.shape,
                axes: [false, true, true, false],
                reduction: Reduction::Mean,
                input_element_bytes: bytes,
                output_element_bytes: bytes,
            }),
            Element::Int8 => Operator::SpatialMean(SpatialMean {
                input: input.shape,
                input_element_bytes: bytes,
                output_element_bytes: bytes,
            }),
        };
        let axes = self.integers("axes", &[2]);
        let shape = [input.shape[0], 1, 1, input.channels()];
        let vector = vec![input.shape[0], input.channels()];
        self.push_shaped("MEAN", operator, &[input], &[axes], shape, vector)
    }

    /// A sum of two activations of the same shape.
    pub fn add(&mut self, first: Tensor, second: Tensor) -> Tensor {
        let operator = self.binary(first.shape, second.shape);
        self.push("ADD", operator, &[first, second], &[], first.shape)
    }

    /// Batch normalisation where no convolution before it can take it up: each channel
    /// times a constant, plus a constant. An activation function is fused to the sum.
    pub fn normalise(&mut self, input: Tensor) -> Tensor {
        let scaled = self.by_channel("MUL", input);
        self.by_channel("ADD", scaled)
    }

    fn by_channel(&mut self, kind: &str, input: Tensor) -> Tensor {
        let operator = self.binary(input.shape, [1, 1, 1, input.channels()]);
        let constant = self.weights(&[input.channels()]);
        self.push(kind, operator, &[input], &[constant], input.shape)
    }

    fn binary(&self, first: Shape, second: Shape) -> Operator {
        Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [first, second],
            output: first,
            input_element_bytes: [self.element.bytes(); 2],
            output_element_bytes: self.element.bytes(),
        })
    }

    /// A ReLU that cannot be fused with what computes its input: others read that too, or
    /// it is a concatenation. There is one of each input, as the converter merges equal
    /// operators.
    pub fn relu(&mut self, input: Tensor) -> Tensor {
        let known = self.active.iter().find(|(of, _)| *of == input.id);
        if let Some(&(_, active)) = known {
            return active;
        }
        let operator = Operator::Elementwise(Elementwise {
            elements: input.shape.iter().product(),
            input_element_bytes: self.element.bytes(),
            output_element_bytes: self.element.bytes(),
        });
        let active = self.push("RELU", operator, &[input], &[], input.shape);
        self.active.push((input.id, active));
        active
    }

    /// All that will read the tensor reads it through a ReLU, which is therefore fused
    /// with the operator that stores it.
    pub fn fuse_relu(&mut self, tensor: Tensor) {
        self.active.push((tensor.id, tensor));
    }

    /// Concatenation of the channels.
    pub fn concat(&mut self, inputs: &[Tensor]) -> Tensor {
        let (operator, shape) = self.concatenation(3, inputs);
        self.push("CONCATENATION", operator, inputs, &[], shape)
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
        self.push_shaped("CONCATENATION", operator, &stacks, &[], shape, given)
    }

    /// Zeros around height and width: before and after each.
    pub fn pad(&mut self, input: Tensor, before: [u32; 2], after: [u32; 2]) -> Tensor {
        let [top, left] = before;
        let [bottom, right] = after;
        self.pad_axes(input, [0, top, left, 0], [0, bottom, right, 0])
    }

    /// Zeros behind the channels, up to so many.
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
        self.push("PAD", operator, &[input], &[paddings], shape)
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
            element_bytes: self.element.bytes(),
        });
        let constants = ["begin", "end", "strides"].map(|what| self.integers(what, &[4]));
        self.push("STRIDED_SLICE", operator, &[input], &constants, shape)
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
        self.push("RESIZE_BILINEAR", operator, &[input], &[size], shape)
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
        let whole = self.push("SPLIT", operator, &[input], &[axis], input.shape);
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
        self.push_shaped("RESHAPE", operator, &[input], &[constant], shape, given)
    }

    /// Of a vector, or of all that has one pixel: the output is a vector.
    pub fn fully_connected(&mut self, input: Tensor, outputs: u32) -> Tensor {
        let depth = input.shape.iter().product();
        let operator = Operator::FullyConnected(FullyConnected {
            batches: 1,
            input_depth: depth,
            output_depth: outputs,
            element_bytes: self.element.bytes(),
        });
        let weights = self.weights(&[outputs, depth]);
        let bias = self.bias(outputs);
        self.push_shaped(
            "FULLY_CONNECTED",
            operator,
            &[input],
            &[weights, bias],
            [1, 1, 1, outputs],
            vec![1, outputs],
        )
    }

    pub fn softmax(&mut self, input: Tensor) -> Tensor {
        let operator = Operator::Softmax(Softmax {
            rows: input.shape[..3].iter().product(),
            depth: input.channels(),
            input_element_bytes: self.element.bytes(),
            output_element_bytes: self.element.bytes(),
        });
        let given = self.graph.tensor(input.id).shape.clone();
        self.push_shaped("SOFTMAX", operator, &[input], &[], input.shape, given)
    }

    fn push(
        &mut self,
        kind: &str,
        operator: Operator,
        inputs: &[Tensor],
        constants: &[TensorId],
        output: Shape,
    ) -> Tensor {
        self.push_shaped(kind, operator, inputs, constants, output, output.to_vec())
    }

    /// `given` is the output's shape in the file, which need not have four axes.
    fn push_shaped(
        &mut self,
        kind: &str,
        operator: Operator,
        inputs: &[Tensor],
        constants: &[TensorId],
        shape: Shape,
        given: Vec<u32>,
    ) -> Tensor {
        let index = self.graph.operators.len();
        let name = format!("{}/{}_{index}", self.scope, kind.to_lowercase());
        let id = self.tensor(name, given, Storage::Arena);
        let read = inputs.iter().map(|input| input.id);
        let read: Vec<TensorId> = read.chain(constants.iter().copied()).collect();
        // The kernels' inputs are the activations, and a constant only where the operator
        // is an element-wise one of two.
        let kernel_inputs = match operator {
            Operator::ElementwiseBinary(_) => read.clone(),
            _ => inputs.iter().map(|input| input.id).collect(),
        };
        self.graph.operators.push(Node {
            kind: kind.to_owned(),
            inputs: read,
            outputs: vec![id],
            kernel: Some(Kernel {
                operator,
                inputs: kernel_inputs,
                outputs: vec![id],
            }),
            scratch_bytes: Vec::new(),
        });
        Tensor { id, shape }
    }

    fn weights(&mut self, shape: &[u32]) -> TensorId {
        let name = self.constant_name("weights");
        self.tensor(name, shape.to_vec(), Storage::Constant)
    }

    fn bias(&mut self, channels: u32) -> TensorId {
        let name = self.constant_name("bias");
        self.constant_of_words(name, &[channels], self.element.bias_name())
    }

    fn integers(&mut self, what: &str, shape: &[u32]) -> TensorId {
        let name = self.constant_name(what);
        self.constant_of_words(name, shape, INTEGER)
    }

    /// Constants bear the number of the operator that reads them.
    fn constant_name(&self, what: &str) -> String {
        format!("{}/{what}_{}", self.scope, self.graph.operators.len())
    }

    /// A tensor of the network's type.
    fn tensor(&mut self, name: String, shape: Vec<u32>, storage: Storage) -> TensorId {
        self.store(GraphTensor {
            name,
            size_bytes: elements(&shape) * u64::from(self.element.bytes()),
            shape,
            element_type: self.element.name().to_owned(),
            storage,
        })
    }

    /// A constant of 4 bytes an element.
    fn constant_of_words(&mut self, name: String, shape: &[u32], element_type: &str) -> TensorId {
        self.store(GraphTensor {
            name,
            shape: shape.to_vec(),
            element_type: element_type.to_owned(),
            size_bytes: elements(shape) * 4,
            storage: Storage::Constant,
        })
    }

    fn store(&mut self, tensor: GraphTensor) -> TensorId {
        self.graph.tensors.push(tensor);
        TensorId(self.graph.tensors.len() - 1)
    }
}

fn elements(shape: &[u32]) -> u64 {
    shape.iter().map(|&extent| u64::from(extent)).product()
}
