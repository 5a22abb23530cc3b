//! Graphs built in code.

use dmo_analysis::graph::{Graph, GraphTensor, Kernel, Node, Storage, TensorId, TensorType};
use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, ElementwiseBinary, FullyConnected, Operator, Pad, Pool2d, Reduce,
    Reduction, Reshape, Shape, Softmax, Window, tflite_padding_before,
};

/// A graph under construction.
pub struct Net {
    pub graph: Graph,
    element_type: TensorType,
    element_bytes: u32,
}

impl Net {
    pub fn new(element_type: TensorType, element_bytes: u32) -> Self {
        Self {
            graph: Graph {
                name: "net".to_owned(),
                ..Graph::default()
            },
            element_type,
            element_bytes,
        }
    }

    pub fn tensor(&mut self, shape: &[u32]) -> TensorId {
        let id = TensorId(self.graph.tensors.len());
        let elements: u32 = shape.iter().product();
        self.graph.tensors.push(GraphTensor {
            name: format!("t{}", id.0),
            shape: shape.to_vec(),
            element_type: self.element_type,
            size_bytes: u64::from(elements * self.element_bytes),
            storage: Storage::Arena,
        });
        id
    }

    pub fn input(&mut self, shape: &[u32]) -> TensorId {
        let id = self.tensor(shape);
        self.graph.inputs.push(id);
        id
    }

    pub fn add(
        &mut self,
        kind: &str,
        inputs: &[TensorId],
        shape: &[u32],
        operator: Operator,
    ) -> TensorId {
        let output = self.tensor(shape);
        self.graph.operators.push(Node {
            kind: kind.into(),
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

    fn shape(&self, id: TensorId) -> Shape {
        let shape = &self.graph.tensor(id).shape;
        let mut four = [1; 4];
        four[4 - shape.len()..].copy_from_slice(shape);
        four
    }

    /// `SAME` padding.
    fn conv(&mut self, input: TensorId, depth: u32, kernel: u32, stride: u32) -> TensorId {
        let from = self.shape(input);
        let (to, window) = same(from, depth, kernel, stride);
        let conv = Conv2d {
            input: from,
            output: to,
            window,
            groups: 1,
            element_bytes: self.element_bytes,
        };
        self.add("CONV_2D", &[input], &to, Operator::Conv2d(conv))
    }

    fn depthwise(&mut self, input: TensorId, kernel: u32, stride: u32) -> TensorId {
        let from = self.shape(input);
        let (to, window) = same(from, from[3], kernel, stride);
        let conv = DepthwiseConv2d {
            input: from,
            output: to,
            window,
            multiplier: 1,
            element_bytes: self.element_bytes,
        };
        let operator = Operator::DepthwiseConv2d(conv);
        self.add("DEPTHWISE_CONV_2D", &[input], &to, operator)
    }

    pub fn sum(&mut self, one: TensorId, other: TensorId) -> TensorId {
        let shape = self.shape(one);
        let elements = shape.iter().product();
        let flat = [1, 1, 1, elements];
        let sum = ElementwiseBinary {
            inputs: [flat, flat],
            output: flat,
            input_element_bytes: [self.element_bytes; 2],
            output_element_bytes: self.element_bytes,
        };
        let operator = Operator::ElementwiseBinary(sum);
        self.add("ADD", &[one, other], &shape, operator)
    }

    pub fn output(mut self, id: TensorId) -> Graph {
        self.graph.outputs.push(id);
        self.graph
    }
}

fn same(from: Shape, depth: u32, kernel: u32, stride: u32) -> (Shape, Window) {
    let [height, width] = [1, 2].map(|axis| from[axis].div_ceil(stride));
    let padding = |from, to| tflite_padding_before(from, to, kernel, stride, 1);
    let window = Window {
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding_before: [padding(from[1], height), padding(from[2], width)],
        ..Window::default()
    };
    ([from[0], height, width, depth], window)
}

/// A network of two branches, with one operator of most kinds.
pub fn network(element_type: TensorType, element_bytes: u32) -> Graph {
    let mut net = Net::new(element_type, element_bytes);
    let input = net.input(&[1, 8, 8, 3]);
    let stem = net.conv(input, 4, 3, 2);
    let left = net.depthwise(stem, 3, 1);
    let right = net.conv(stem, 4, 1, 1);
    let sum = net.sum(left, right);
    let pad = Pad {
        input: [1, 4, 4, 4],
        before: [0, 1, 0, 0],
        output: [1, 6, 5, 4],
        element_bytes,
    };
    let padded = net.add("PAD", &[sum], &[1, 6, 5, 4], Operator::Pad(pad));
    let pool = Pool2d {
        input: [1, 6, 5, 4],
        output: [1, 3, 2, 4],
        window: Window {
            kernel: [2, 2],
            stride: [2, 2],
            ..Window::default()
        },
        element_bytes,
    };
    let pooled = net.add(
        "MAX_POOL_2D",
        &[padded],
        &[1, 3, 2, 4],
        Operator::Pool2d(pool),
    );
    let mean = Reduce {
        input: [1, 3, 2, 4],
        axes: [false, true, true, false],
        reduction: Reduction::Mean,
        input_element_bytes: element_bytes,
        output_element_bytes: element_bytes,
    };
    let mean = net.add("MEAN", &[pooled], &[1, 1, 1, 4], Operator::Reduce(mean));
    let reshape = Reshape {
        elements: 4,
        element_bytes,
    };
    let flat = net.add("RESHAPE", &[mean], &[1, 4], Operator::Reshape(reshape));
    let dense = FullyConnected {
        batches: 1,
        input_depth: 4,
        output_depth: 5,
        element_bytes,
    };
    let dense = net.add(
        "FULLY_CONNECTED",
        &[flat],
        &[1, 5],
        Operator::FullyConnected(dense),
    );
    let softmax = Softmax {
        rows: 1,
        depth: 5,
        input_element_bytes: element_bytes,
        output_element_bytes: element_bytes,
    };
    let softmax = net.add("SOFTMAX", &[dense], &[1, 5], Operator::Softmax(softmax));
    net.output(softmax)
}
