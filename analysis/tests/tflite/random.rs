//! Random networks, and recipes for them.

use super::net::Net;
use dmo_analysis::graph::{Graph, OperatorId, TensorId, TensorType};
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, Operator, Pad, Pool2d, Shape, Window,
    tflite_padding_before,
};
use dmo_analysis::transform::{Recipe, Split};
use proptest::prelude::*;

/// An operator of a random network: its kind and numbers that say the rest.
pub type Step = (usize, [u32; 6]);

/// Any operator.
pub fn step() -> impl Strategy<Value = Step> {
    (0..8usize, proptest::array::uniform6(0..1000u32))
}

fn shape_of(net: &Net, id: TensorId) -> Shape {
    net.graph.tensor(id).shape.as_slice().try_into().unwrap()
}

/// The network: its input's height, width and depth, and its operators.
pub fn build([height, width, depth]: [u32; 3], steps: &[Step]) -> Graph {
    let mut net = Net::new(TensorType::Int8, 1);
    let mut known = vec![net.input(&[1, height, width, depth])];
    for (kind, numbers) in steps {
        let from = *known.last().unwrap();
        known.push(add(&mut net, &known, from, *kind, *numbers));
    }
    net.output(*known.last().unwrap())
}

fn add(net: &mut Net, known: &[TensorId], from: TensorId, kind: usize, n: [u32; 6]) -> TensorId {
    let input = shape_of(net, from);
    match kind {
        0 | 1 => {
            let (output, window) = windowed(input, 1 + n[5] % 4, n);
            let conv = Conv2d {
                input,
                output,
                window,
                groups: 1,
                element_bytes: 1,
            };
            net.add("CONV_2D", &[from], &output, Operator::Conv2d(conv))
        }
        2 | 3 => {
            let multiplier = 1 + n[5] % 2;
            let (output, window) = windowed(input, input[3] * multiplier, n);
            let conv = DepthwiseConv2d {
                input,
                output,
                window,
                multiplier,
                element_bytes: 1,
            };
            let operator = Operator::DepthwiseConv2d(conv);
            net.add("DEPTHWISE_CONV_2D", &[from], &output, operator)
        }
        4 => {
            let (output, window) = windowed(input, input[3], [n[0], n[1], n[2], n[3], 0, 0]);
            let pool = Pool2d {
                input,
                output,
                window,
                element_bytes: 1,
            };
            let kinds = ["AVERAGE_POOL_2D", "MAX_POOL_2D"];
            let kind = kinds[n[5] as usize % 2];
            net.add(kind, &[from], &output, Operator::Pool2d(pool))
        }
        5 => {
            let before = [0, n[0] % 3, n[1] % 3, 0];
            let after = [0, n[2] % 3, n[3] % 3, 0];
            let output = std::array::from_fn(|axis| before[axis] + input[axis] + after[axis]);
            let pad = Pad {
                input,
                before,
                output,
                element_bytes: 1,
            };
            net.add("PAD", &[from], &output, Operator::Pad(pad))
        }
        6 => {
            // With something of the same shape, or side by side with what has the same pixels.
            let same = known
                .iter()
                .rev()
                .skip(1)
                .find(|&&id| shape_of(net, id) == input);
            if let Some(&other) = same.filter(|_| n[0].is_multiple_of(2)) {
                return net.sum(other, from);
            }
            let pixels = |id: &&TensorId| shape_of(net, **id)[1..3] == input[1..3];
            let other = *known.iter().rev().skip(1).find(pixels).unwrap_or(&from);
            let shapes = [shape_of(net, other), input];
            let concat = Concat {
                inputs: shapes.to_vec(),
                axis: 3,
                element_bytes: 1,
            };
            let output = [1, input[1], input[2], shapes[0][3] + shapes[1][3]];
            net.add(
                "CONCATENATION",
                &[other, from],
                &output,
                Operator::Concat(concat),
            )
        }
        _ => {
            let elementwise = Elementwise {
                elements: input.iter().product(),
                input_element_bytes: 1,
                output_element_bytes: 1,
            };
            net.add("RELU", &[from], &input, Operator::Elementwise(elementwise))
        }
    }
}

/// `SAME` or `VALID`, as far as the input is large enough.
fn windowed(input: Shape, depth: u32, n: [u32; 6]) -> (Shape, Window) {
    let mut window = Window {
        stride: [1 + n[2] % 3, 1 + n[2] % 3],
        dilation: [1 + n[4] % 5 / 3; 2],
        ..Window::default()
    };
    let mut output = [1, 0, 0, depth];
    let valid = n[3].is_multiple_of(3);
    for axis in [0, 1] {
        let extent = input[axis + 1];
        let (stride, dilation) = (window.stride[axis], window.dilation[axis]);
        let most = 1 + (extent - 1) / dilation;
        let kernel = (1 + n[axis] % 4).min(most);
        window.kernel[axis] = kernel;
        let places = if valid {
            extent - (kernel - 1) * dilation
        } else {
            extent
        };
        output[axis + 1] = places.div_ceil(stride);
        let before = tflite_padding_before(extent, output[axis + 1], kernel, stride, dilation);
        window.padding_before[axis] = before;
    }
    (output, window)
}

/// One run or two, from numbers that say which and what their grids are.
pub fn recipe(graph: &Graph, run: [usize; 2], grid: [u32; 2]) -> Recipe {
    let count = graph.operators.len();
    let first = run[0] % count;
    let last = first + run[1] % (count - first);
    let split = |run: std::ops::RangeInclusive<usize>, grid: [u32; 2]| {
        let output = graph.operators[*run.end()].outputs[0];
        let shape = &graph.tensor(output).shape;
        Split {
            operators: run.map(OperatorId).collect(),
            grid: [1 + grid[0] % shape[1], 1 + grid[1] % shape[2]],
            cached: false,
        }
    };
    let mut splits = vec![split(first..=last, grid)];
    if last + 1 < count && run[1].is_multiple_of(3) {
        splits.push(split(last + 1..=count - 1, [grid[1], grid[0]]));
    }
    Recipe {
        splits,
        ..Recipe::default()
    }
}
