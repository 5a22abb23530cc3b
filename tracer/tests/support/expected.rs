//! `traces/elf/expected.toml`: the layers of every recorded program.

use super::traces_elf;
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, DepthwiseInPlace, Elementwise, ElementwiseBinary,
    FullyConnected, Matmul, Operator, Pad, Pool2d, Reduce, Reduction, Reshape, Shape, Softmax,
    SpatialMean, Window,
};
use serde::Deserialize;

/// A layer as `expected.toml` has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedLayer {
    pub elf: String,
    pub index: usize,
    pub name: String,
    pub operator: String,
    #[serde(rename = "type")]
    element_type: String,
    input: Option<Vec<u32>>,
    inputs: Option<Vec<Vec<u32>>>,
    output: Vec<u32>,
    output_type: Option<String>,
    kernel: Option<[u32; 2]>,
    stride: Option<[u32; 2]>,
    dilation: Option<[u32; 2]>,
    padding: Option<[u32; 2]>,
    groups: Option<u32>,
    multiplier: Option<u32>,
    axis: Option<u32>,
}

/// All layers, those of one program in program order.
pub fn layers() -> Vec<ExpectedLayer> {
    #[derive(Deserialize)]
    struct File {
        layer: Vec<ExpectedLayer>,
    }
    let path = traces_elf().join("expected.toml");
    let text = std::fs::read_to_string(path).expect("expected.toml");
    toml::from_str::<File>(&text).expect("expected.toml").layer
}

/// The layers of one program.
pub fn layers_of(program: &str) -> Vec<ExpectedLayer> {
    let mut layers = layers();
    layers.retain(|layer| layer.elf == program);
    layers
}

impl ExpectedLayer {
    fn element_bytes(&self) -> u32 {
        element_bytes(&self.element_type)
    }

    fn output_element_bytes(&self) -> u32 {
        element_bytes(self.output_type.as_ref().unwrap_or(&self.element_type))
    }

    fn shapes(&self) -> Vec<&Vec<u32>> {
        self.inputs.iter().flatten().chain(&self.input).collect()
    }

    /// Sizes of the inputs in bytes.
    pub fn input_bytes(&self) -> Vec<u32> {
        let shapes = self.shapes().into_iter();
        shapes
            .map(|shape| elements(shape) * self.element_bytes())
            .collect()
    }

    /// Size of the output in bytes.
    pub fn output_bytes(&self) -> u32 {
        elements(&self.output) * self.output_element_bytes()
    }

    /// The operator with its closed form, where [`Operator`] has it.
    pub fn closed_form(&self) -> Option<Operator> {
        Some(match self.operator.as_str() {
            "conv2d" => Operator::Conv2d(Conv2d {
                input: self.input_shape(),
                output: self.output_shape(),
                window: self.window(),
                groups: self.groups.expect("groups"),
                element_bytes: self.element_bytes(),
            }),
            "depthwise_conv2d" => Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: self.input_shape(),
                output: self.output_shape(),
                window: self.window(),
                multiplier: self.multiplier.expect("multiplier"),
                element_bytes: self.element_bytes(),
            }),
            "depthwise_in_place" => Operator::DepthwiseInPlace(DepthwiseInPlace {
                input: self.input_shape(),
                output: self.output_shape(),
                window: self.window(),
                element_bytes: self.element_bytes(),
            }),
            "max_pool" | "avg_pool" => Operator::Pool2d(Pool2d {
                input: self.input_shape(),
                output: self.output_shape(),
                window: self.window(),
                element_bytes: self.element_bytes(),
            }),
            "fully_connected" => {
                let (batches, input_depth) = self.rows();
                Operator::FullyConnected(FullyConnected {
                    batches,
                    input_depth,
                    output_depth: self.output[1],
                    element_bytes: self.element_bytes(),
                })
            }
            "add" | "mul" => Operator::ElementwiseBinary(ElementwiseBinary {
                inputs: self.input_shapes().try_into().expect("two inputs"),
                output: self.output_shape(),
                input_element_bytes: [self.element_bytes(); 2],
                output_element_bytes: self.output_element_bytes(),
            }),
            "concat" => Operator::Concat(Concat {
                inputs: self.input_shapes(),
                axis: self.axis.expect("axis"),
                element_bytes: self.element_bytes(),
            }),
            "matmul" => {
                let extents = |index: usize| (self.shapes()[index][0], self.shapes()[index][1]);
                let ((rows, inner), (_, columns)) = (extents(0), extents(1));
                Operator::Matmul(Matmul {
                    rows,
                    inner,
                    columns,
                    input_element_bytes: self.element_bytes(),
                    output_element_bytes: self.output_element_bytes(),
                })
            }
            // Sums in a register, or in the output.
            "mean" if self.element_type == "int8" => Operator::SpatialMean(SpatialMean {
                input: self.input_shape(),
                input_element_bytes: self.element_bytes(),
                output_element_bytes: self.output_element_bytes(),
            }),
            "mean" => Operator::Reduce(Reduce {
                input: self.input_shape(),
                axes: [false, true, true, false],
                reduction: Reduction::Mean,
                input_element_bytes: self.element_bytes(),
                output_element_bytes: self.output_element_bytes(),
            }),
            "pad" => {
                let [top, left] = self.padding.expect("padding");
                Operator::Pad(Pad {
                    input: self.input_shape(),
                    before: [0, top, left, 0],
                    output: self.output_shape(),
                    element_bytes: self.element_bytes(),
                })
            }
            "reshape" => Operator::Reshape(Reshape {
                elements: elements(&self.output),
                element_bytes: self.element_bytes(),
            }),
            "relu" | "relu6" => Operator::Elementwise(Elementwise {
                elements: elements(&self.output),
                input_element_bytes: self.element_bytes(),
                output_element_bytes: self.output_element_bytes(),
            }),
            "softmax" => {
                let (rows, depth) = self.rows();
                Operator::Softmax(Softmax {
                    rows,
                    depth,
                    input_element_bytes: self.element_bytes(),
                    output_element_bytes: self.output_element_bytes(),
                })
            }
            _ => return None,
        })
    }

    fn input_shapes(&self) -> Vec<Shape> {
        let shapes = self.shapes().into_iter();
        shapes
            .map(|shape| shape.as_slice().try_into().expect("four extents"))
            .collect()
    }

    fn input_shape(&self) -> Shape {
        self.input_shapes()[0]
    }

    fn output_shape(&self) -> Shape {
        self.output.as_slice().try_into().expect("four extents")
    }

    fn rows(&self) -> (u32, u32) {
        match self.input.as_deref() {
            Some(&[rows, depth]) => (rows, depth),
            other => panic!("layer '{}' has input {other:?}", self.name),
        }
    }

    fn window(&self) -> Window {
        Window {
            kernel: self.kernel.expect("kernel"),
            stride: self.stride.expect("stride"),
            dilation: self.dilation.expect("dilation"),
            padding_before: self.padding.expect("padding"),
        }
    }
}

fn elements(shape: &[u32]) -> u32 {
    shape.iter().product()
}

fn element_bytes(name: &str) -> u32 {
    match name {
        "int8" | "uint8" => 1,
        "int32" | "float32" => 4,
        "int64" => 8,
        other => panic!("element type '{other}'"),
    }
}
