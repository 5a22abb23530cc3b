//! Random small networks of spatial operators, with branches that join again.

use super::graphs::Random;
use dmo_analysis::graph::{Graph, GraphTensor, Kernel, Node, Storage, TensorId, TensorType};
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, Operator, Pad, Pool2d, Shape,
    Window,
};

pub struct Network {
    pub graph: Graph,
    random: Random,
}

/// A network of up to so many operators.
pub fn network(seed: u64, most_operators: u64) -> Graph {
    let mut network = Network {
        graph: Graph::default(),
        random: Random(seed),
    };
    let extent = |random: &mut Random| 3 + random.below(8) as u32;
    let (height, width) = (extent(&mut network.random), extent(&mut network.random));
    let depth = 1 + network.random.below(3) as u32;
    let mut tensor = network.tensor([1, height, width, depth]);
    network.graph.inputs.push(tensor);
    let count = 1 + network.random.below(most_operators);
    while (network.graph.operators.len() as u64) < count {
        tensor = network.step(tensor);
    }
    network.graph.outputs.push(tensor);
    network.graph
}

impl Network {
    fn shape(&self, id: TensorId) -> Shape {
        self.graph.tensor(id).shape.as_slice().try_into().unwrap()
    }

    fn tensor(&mut self, shape: Shape) -> TensorId {
        self.graph.tensors.push(GraphTensor {
            name: format!("t{}", self.graph.tensors.len()),
            shape: shape.to_vec(),
            element_type: TensorType::Int8,
            size_bytes: shape.into_iter().map(u64::from).product(),
            storage: Storage::Arena,
        });
        TensorId(self.graph.tensors.len() - 1)
    }

    fn add(&mut self, inputs: &[TensorId], output: Shape, operator: Operator) -> TensorId {
        let output = self.tensor(output);
        self.graph.operators.push(Node {
            kind: kind(&operator).into(),
            inputs: inputs.to_vec(),
            outputs: vec![output],
            kernel: Some(Kernel {
                operator,
                inputs: inputs.to_vec(),
                outputs: vec![output],
            }),
            scratch_bytes: Vec::new(),
        });
        output
    }

    fn step(&mut self, from: TensorId) -> TensorId {
        match self.random.below(8) {
            0 | 1 => self.convolution(from, false),
            2 => self.depthwise(from),
            3 => self.pool(from),
            4 => self.element_wise(from),
            5 => self.pad(from),
            6 => {
                // A residual: both ways have the same shape.
                let way = self.convolution(from, true);
                let shape = self.shape(way);
                if shape == self.shape(from) {
                    self.binary(from, way)
                } else {
                    way
                }
            }
            _ => {
                let (one, other) = (self.convolution(from, true), self.depthwise_same(from));
                let [shape, second] = [self.shape(one), self.shape(other)];
                let depth = shape[3] + second[3];
                let concat = Operator::Concat(Concat {
                    inputs: vec![shape, second],
                    axis: 3,
                    element_bytes: 1,
                });
                self.add(&[one, other], [1, shape[1], shape[2], depth], concat)
            }
        }
    }

    fn window(&mut self, input: Shape, same: bool) -> (Window, [u32; 2]) {
        let random = &mut self.random;
        let mut window = Window::default();
        let mut output = [0; 2];
        for axis in 0..2 {
            let extent = input[axis + 1];
            let kernel = 1 + random.below(3) as u32;
            let stride = if same { 1 } else { 1 + random.below(2) as u32 };
            let dilation = 1 + u32::from(random.one_in(6));
            let reach = (kernel - 1) * dilation;
            let padded = same || random.one_in(2) || reach >= extent;
            let padding = if padded { reach / 2 } else { 0 };
            window.kernel[axis] = kernel;
            window.stride[axis] = stride;
            window.dilation[axis] = dilation;
            window.padding_before[axis] = padding;
            output[axis] = if padded {
                extent.div_ceil(stride)
            } else {
                (extent - reach).div_ceil(stride)
            };
        }
        (window, output)
    }

    fn convolution(&mut self, from: TensorId, same: bool) -> TensorId {
        let input = self.shape(from);
        let (window, [height, width]) = self.window(input, same);
        let depth = 1 + self.random.below(4) as u32;
        let output = [1, height, width, depth];
        let operator = Operator::Conv2d(Conv2d {
            input,
            output,
            window,
            groups: 1,
            element_bytes: 1,
        });
        self.add(&[from], output, operator)
    }

    fn depthwise(&mut self, from: TensorId) -> TensorId {
        let multiplier = 1 + self.random.below(2) as u32;
        self.depthwise_with(from, false, multiplier)
    }

    fn depthwise_same(&mut self, from: TensorId) -> TensorId {
        self.depthwise_with(from, true, 1)
    }

    fn depthwise_with(&mut self, from: TensorId, same: bool, multiplier: u32) -> TensorId {
        let input = self.shape(from);
        let (window, [height, width]) = self.window(input, same);
        let output = [1, height, width, input[3] * multiplier];
        let operator = Operator::DepthwiseConv2d(DepthwiseConv2d {
            input,
            output,
            window,
            multiplier,
            element_bytes: 1,
        });
        self.add(&[from], output, operator)
    }

    fn pool(&mut self, from: TensorId) -> TensorId {
        let input = self.shape(from);
        let (window, [height, width]) = self.window(input, false);
        let window = Window {
            dilation: [1, 1],
            ..window
        };
        let output = [1, height, width, input[3]];
        let operator = Operator::Pool2d(Pool2d {
            input,
            output,
            window,
            element_bytes: 1,
        });
        self.add(&[from], output, operator)
    }

    fn element_wise(&mut self, from: TensorId) -> TensorId {
        let shape = self.shape(from);
        let operator = Operator::Elementwise(Elementwise {
            elements: shape.iter().product(),
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        self.add(&[from], shape, operator)
    }

    fn binary(&mut self, one: TensorId, other: TensorId) -> TensorId {
        let shape = self.shape(one);
        let operator = Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [shape; 2],
            output: shape,
            input_element_bytes: [1; 2],
            output_element_bytes: 1,
        });
        self.add(&[one, other], shape, operator)
    }

    fn pad(&mut self, from: TensorId) -> TensorId {
        let input = self.shape(from);
        let before = [
            0,
            self.random.below(2) as u32,
            self.random.below(2) as u32,
            0,
        ];
        let mut output = input;
        for axis in 1..3 {
            output[axis] += before[axis] + self.random.below(2) as u32;
        }
        let operator = Operator::Pad(Pad {
            input,
            before,
            output,
            element_bytes: 1,
        });
        self.add(&[from], output, operator)
    }
}

fn kind(operator: &Operator) -> &'static str {
    match operator {
        Operator::Conv2d(_) => "CONV_2D",
        Operator::DepthwiseConv2d(_) => "DEPTHWISE_CONV_2D",
        Operator::Pool2d(pool) if pool.window.kernel[0] > 1 => "AVERAGE_POOL_2D",
        Operator::Pool2d(_) => "MAX_POOL_2D",
        Operator::Elementwise(_) => "RELU",
        Operator::ElementwiseBinary(_) => "ADD",
        Operator::Pad(_) => "PAD",
        Operator::Concat(_) => "CONCATENATION",
        other => unreachable!("{other:?}"),
    }
}
