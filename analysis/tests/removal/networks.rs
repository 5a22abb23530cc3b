//! Small random networks of convolutions, element-wise operators and what moves data.

use dmo_analysis::graph::{Graph, GraphTensor, Kernel, Node, Storage, TensorId, TensorType};
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, Operator, Pad, Pool2d,
    Reshape, Shape, Split, StridedSlice, Window,
};
use proptest::prelude::*;

/// A network of up to 14 operators; elements of one byte or of four.
pub fn network() -> impl Strategy<Value = Graph> {
    let steps = prop::collection::vec(any::<[u16; 8]>(), 2..14);
    let ends = any::<[u16; 3]>();
    (steps, ends, prop::sample::select(vec![1_u32, 1, 4])).prop_map(|(steps, ends, bytes)| {
        let mut builder = Builder {
            graph: Graph::default(),
            bytes,
        };
        for index in 0..1 + usize::from(ends[0] % 2) {
            let input = builder.tensor([1, 3 + index as u32, 4, 2]);
            builder.graph.inputs.push(input);
        }
        for choice in steps {
            builder.step(choice);
        }
        builder.finish(ends)
    })
}

struct Builder {
    graph: Graph,
    bytes: u32,
}

impl Builder {
    fn tensor(&mut self, shape: Shape) -> TensorId {
        let id = TensorId(self.graph.tensors.len());
        self.graph.tensors.push(GraphTensor {
            name: format!("t{}", id.0),
            shape: shape.to_vec(),
            element_type: if self.bytes == 4 {
                TensorType::Float32
            } else {
                TensorType::Int8
            },
            size_bytes: u64::from(shape.iter().product::<u32>() * self.bytes),
            storage: Storage::Arena,
        });
        id
    }

    fn shape(&self, id: TensorId) -> Shape {
        self.graph.tensor(id).shape.as_slice().try_into().unwrap()
    }

    /// Recent tensors come more often.
    fn pick(&self, choice: u16) -> TensorId {
        let count = self.graph.tensors.len();
        let back = usize::from(choice) % (2 * count);
        TensorId(count - 1 - back.min(back % 4) % count)
    }

    fn add(
        &mut self,
        kind: &str,
        operator: Operator,
        inputs: Vec<TensorId>,
        outputs: Vec<TensorId>,
    ) {
        self.graph.operators.push(Node {
            kind: kind.into(),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            kernel: Some(Kernel {
                operator,
                inputs,
                outputs,
            }),
            scratch_bytes: Vec::new(),
        });
    }

    fn step(&mut self, [kind, one, a, b, c, d, e, f]: [u16; 8]) {
        let input = self.pick(one);
        let shape = self.shape(input);
        let of = |choice: u16, count: u32| u32::from(choice) % count.max(1);
        match kind % 11 {
            0 | 1 => self.convolve(input, [a, b, c, d]),
            2 => {
                let elements = shape.iter().product();
                let output = self.tensor(shape);
                let operator = Operator::Elementwise(Elementwise {
                    elements,
                    input_element_bytes: self.bytes,
                    output_element_bytes: self.bytes,
                });
                self.add("RELU", operator, vec![input], vec![output]);
            }
            3 => self.add_two(input, a),
            4 => {
                let output = self.tensor(match a % 3 {
                    0 => [1, 1, 1, shape.iter().product()],
                    1 => [1, shape[2], shape[1], shape[3]],
                    _ => [1, shape[1] * shape[2], 1, shape[3]],
                });
                let operator = Operator::Reshape(Reshape {
                    elements: shape.iter().product(),
                    element_bytes: self.bytes,
                });
                self.add("RESHAPE", operator, vec![input], vec![output]);
            }
            5 | 6 => self.join(input, [a, b, c]),
            7 => {
                let axis = 1 + of(a, 3);
                let extent = shape[axis as usize];
                if extent < 2 {
                    return;
                }
                let first = 1 + of(b, extent - 1);
                let parts = vec![first, extent - first];
                let outputs = parts.iter().map(|&part| {
                    let mut shape = shape;
                    shape[axis as usize] = part;
                    self.tensor(shape)
                });
                let outputs = outputs.collect();
                let operator = Operator::Split(Split {
                    input: shape,
                    axis,
                    parts,
                    element_bytes: self.bytes,
                });
                self.add("SPLIT", operator, vec![input], outputs);
            }
            8 => {
                let mut begin = [0; 4];
                let mut output = shape;
                for (axis, [from, length]) in [[a, b], [c, d], [e, f]].into_iter().enumerate() {
                    let axis = axis + 1;
                    if from % 2 == 0 {
                        continue;
                    }
                    begin[axis] = of(from / 2, shape[axis]);
                    output[axis] = 1 + of(length, shape[axis] - begin[axis]);
                }
                let to = self.tensor(output);
                let operator = Operator::StridedSlice(StridedSlice {
                    input: shape,
                    begin,
                    stride: [1; 4],
                    output,
                    in_runs: false,
                    element_bytes: self.bytes,
                });
                self.add("SLICE", operator, vec![input], vec![to]);
            }
            _ => {
                let before = [0, of(a, 2), of(b, 2), 0];
                let mut output = shape;
                output[1] += before[1] + of(c, 2);
                output[2] += before[2] + of(d, 2);
                let to = self.tensor(output);
                let operator = Operator::Pad(Pad {
                    input: shape,
                    before,
                    output,
                    element_bytes: self.bytes,
                });
                self.add("PAD", operator, vec![input], vec![to]);
                if e % 3 > 0 {
                    self.convolve(to, [f, a, b, c]);
                }
            }
        }
    }

    fn convolve(&mut self, input: TensorId, [kind, kernel, stride, depth]: [u16; 4]) {
        let shape = self.shape(input);
        let kernel = [1, 2].map(|axis| (1 + u32::from(kernel) % 3).min(shape[axis]));
        let stride = 1 + u32::from(stride) % 2;
        let extent = |axis: usize| (shape[axis] - kernel[axis - 1]) / stride + 1;
        let mut output = [1, extent(1), extent(2), shape[3]];
        let window = Window {
            kernel,
            stride: [stride; 2],
            ..Window::default()
        };
        let element_bytes = self.bytes;
        let (name, operator) = match kind % 3 {
            0 => {
                output[3] = 1 + u32::from(depth) % 3;
                let conv = Conv2d {
                    input: shape,
                    output,
                    window,
                    groups: 1,
                    element_bytes,
                };
                ("CONV_2D", Operator::Conv2d(conv))
            }
            1 => {
                let conv = DepthwiseConv2d {
                    input: shape,
                    output,
                    window,
                    multiplier: 1,
                    element_bytes,
                };
                ("DEPTHWISE_CONV_2D", Operator::DepthwiseConv2d(conv))
            }
            _ => {
                let pool = Pool2d {
                    input: shape,
                    output,
                    window,
                    element_bytes,
                };
                ("MAX_POOL_2D", Operator::Pool2d(pool))
            }
        };
        let to = self.tensor(output);
        self.add(name, operator, vec![input], vec![to]);
    }

    /// Of any two tensors of one shape.
    fn add_two(&mut self, input: TensorId, other: u16) {
        let shape = self.shape(input);
        let ids = (0..self.graph.tensors.len()).map(TensorId);
        let same: Vec<TensorId> = ids.filter(|&id| self.shape(id) == shape).collect();
        let other = same[usize::from(other) % same.len()];
        let output = self.tensor(shape);
        let operator = Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [shape; 2],
            output: shape,
            input_element_bytes: [self.bytes; 2],
            output_element_bytes: self.bytes,
        });
        self.add("ADD", operator, vec![input, other], vec![output]);
    }

    /// Of up to three tensors that agree on all axes but one.
    fn join(&mut self, input: TensorId, [axis, other, third]: [u16; 3]) {
        let axis = 1 + usize::from(axis) % 3;
        let shape = self.shape(input);
        let fits = |id: &TensorId| {
            let other = self.shape(*id);
            (0..4).all(|at| at == axis || other[at] == shape[at])
        };
        let ids = (0..self.graph.tensors.len()).map(TensorId);
        let all: Vec<TensorId> = ids.filter(fits).collect();
        let mut inputs = vec![input, all[usize::from(other) % all.len()]];
        if third % 3 == 0 {
            inputs.insert(
                usize::from(third / 3) % 3,
                all[usize::from(third / 9) % all.len()],
            );
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&id| self.shape(id)).collect();
        let mut output = shape;
        output[axis] = shapes.iter().map(|shape| shape[axis]).sum();
        if output.iter().product::<u32>() > 200 {
            return;
        }
        let to = self.tensor(output);
        let operator = Operator::Concat(Concat {
            inputs: shapes,
            axis: axis as u32,
            element_bytes: self.bytes,
        });
        self.add("CONCATENATION", operator, inputs, vec![to]);
    }

    /// What nothing reads is an output, and sometimes what is read too.
    fn finish(mut self, [_, also, which]: [u16; 3]) -> Graph {
        let read: Vec<TensorId> = self
            .graph
            .operators
            .iter()
            .flat_map(|node| node.inputs.clone())
            .collect();
        for id in (0..self.graph.tensors.len()).map(TensorId) {
            let chosen = also % 4 == 0 && usize::from(which) % self.graph.tensors.len() == id.0;
            if !read.contains(&id) || chosen {
                self.graph.outputs.push(id);
            }
        }
        self.graph
    }
}
