//! Builds a graph operator by operator and computes the shapes on the way.

mod layout;

use super::element::Element;
use super::taps::{Taps, same, valid};
use crate::graph::{Graph, GraphTensor, Kernel, Kind, Node, Storage, TensorId, TensorType};
use crate::operator::{
    Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, FullyConnected, Operator, Pool2d,
    Reduce, Reduction, Shape, Softmax, SpatialMean,
};

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

/// A graph under construction. Batch normalisation after a convolution is taken as
/// folded into it, and an activation function after a convolution or addition as fused:
/// neither leaves a trace. What cannot be folded has [`normalise`](Self::normalise) and
/// [`relu`](Self::relu).
pub(super) struct Builder {
    graph: Graph,
    element: Element,
    scope: String,
    /// Tensors and what they are after a ReLU.
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

    /// Fully connected to the classes' probabilities, which are the only output.
    pub fn finish_classified(mut self, features: Tensor, classes: u32) -> Graph {
        let logits = self.fully_connected(features, classes);
        let probabilities = self.softmax(logits);
        self.finish(&[probabilities])
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
        self.push(Kind::Conv2d, operator, &[input], &[filter, bias], shape)
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
        let kind = Kind::DepthwiseConv2d;
        self.push(kind, operator, &[input], &[filter, bias], shape)
    }

    /// A depthwise convolution and a 1x1 convolution.
    pub fn separable(&mut self, input: Tensor, filters: u32, taps: Taps) -> Tensor {
        let depthwise = self.depthwise(input, taps);
        self.conv(depthwise, filters, same(1))
    }

    pub fn max_pool(&mut self, input: Tensor, taps: Taps) -> Tensor {
        self.pool(Kind::MaxPool2d, input, taps)
    }

    pub fn average_pool(&mut self, input: Tensor, taps: Taps) -> Tensor {
        self.pool(Kind::AveragePool2d, input, taps)
    }

    /// Average pooling of each channel to one pixel.
    pub fn average_to_pixel(&mut self, input: Tensor) -> Tensor {
        let [_, height, width, _] = input.shape;
        self.average_pool(input, valid([height, width]))
    }

    fn pool(&mut self, kind: Kind, input: Tensor, taps: Taps) -> Tensor {
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
        self.push_shaped(Kind::Mean, operator, &[input], &[axes], shape, vector)
    }

    /// A sum of two activations of the same shape.
    pub fn add(&mut self, first: Tensor, second: Tensor) -> Tensor {
        let operator = self.binary(first.shape, second.shape);
        self.push(Kind::Add, operator, &[first, second], &[], first.shape)
    }

    /// Batch normalisation where no convolution before it can take it up: each channel
    /// times a constant, plus a constant. An activation function is fused to the sum.
    pub fn normalise(&mut self, input: Tensor) -> Tensor {
        let scaled = self.by_channel(Kind::Mul, input);
        self.by_channel(Kind::Add, scaled)
    }

    fn by_channel(&mut self, kind: Kind, input: Tensor) -> Tensor {
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
        let active = self.push(Kind::Relu, operator, &[input], &[], input.shape);
        self.active.push((input.id, active));
        active
    }

    /// All that will read the tensor reads it through a ReLU, which is therefore fused
    /// with the operator that stores it.
    pub fn fuse_relu(&mut self, tensor: Tensor) {
        self.active.push((tensor.id, tensor));
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
            Kind::FullyConnected,
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
        self.push_shaped(Kind::Softmax, operator, &[input], &[], input.shape, given)
    }

    fn push(
        &mut self,
        kind: Kind,
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
        kind: Kind,
        operator: Operator,
        inputs: &[Tensor],
        constants: &[TensorId],
        shape: Shape,
        given: Vec<u32>,
    ) -> Tensor {
        let index = self.graph.operators.len();
        let name = format!("{}/{}_{index}", self.scope, kind.name().to_lowercase());
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
            kind,
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
        self.constant_of_words(name, &[channels], self.element.type_of_biases())
    }

    fn integers(&mut self, what: &str, shape: &[u32]) -> TensorId {
        let name = self.constant_name(what);
        self.constant_of_words(name, shape, TensorType::Int32)
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
            element_type: self.element.type_of_weights(),
            storage,
        })
    }

    /// A constant of 4 bytes an element.
    fn constant_of_words(
        &mut self,
        name: String,
        shape: &[u32],
        element_type: TensorType,
    ) -> TensorId {
        self.store(GraphTensor {
            name,
            shape: shape.to_vec(),
            element_type,
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
