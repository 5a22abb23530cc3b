//! Random networks in standard operators: what they compute, by the loads and stores of the
//! reference kernels, and what a file keeps of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with what it was given"
)]

#[path = "tflite/net.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod net;

use dmo_analysis::graph::{Graph, Node, OperatorId, Storage, TensorId, overlaps, tflite};
use dmo_analysis::handover::tiled;
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, Operator, Pad, Pool2d, Shape, Window,
    tflite_padding_before,
};
use dmo_analysis::trace::AccessKind;
use dmo_analysis::transform::standard::{Standard, TensorSource, standard};
use dmo_analysis::transform::{Recipe, Split, TransformError, apply};
use dmo_analysis::verify::{Positions, clashes};
use net::Net;
use proptest::prelude::*;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// A zero point: a convolution does not see it.
const ZERO: u64 = 0;
/// The lowest number: a maximum does not see it.
const LOWEST: u64 = 2;

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() | 1
}

/// What the graph's outputs are: a number for each element, of all that it was computed from
/// and of where its weights come from. `origin` says which operator's weights a node has.
fn compute(graph: &Graph, origin: impl Fn(usize) -> Option<OperatorId>) -> Vec<Vec<u64>> {
    let mut values: HashMap<TensorId, Vec<u64>> = HashMap::new();
    for &id in &graph.inputs {
        let count: u32 = graph.tensor(id).shape.iter().product();
        values.insert(id, (0..count).map(|element| hash((id, element))).collect());
    }
    for (index, node) in graph.operators.iter().enumerate() {
        let output = run(graph, node, origin(index), &values);
        values.insert(node.outputs[0], output);
    }
    let outputs = graph.outputs.iter();
    outputs.map(|id| values[id].clone()).collect()
}

fn run(
    graph: &Graph,
    node: &Node,
    origin: Option<OperatorId>,
    values: &HashMap<TensorId, Vec<u64>>,
) -> Vec<u64> {
    let kernel = node.kernel.as_ref().unwrap();
    let shape = &graph.tensor(node.outputs[0]).shape;
    let depth = *shape.last().unwrap();
    let mut output = vec![u64::MAX; shape.iter().product::<u32>() as usize];
    let inputs: Vec<&Vec<u64>> = kernel.inputs.iter().map(|id| &values[id]).collect();
    let mut loaded: Vec<u64> = Vec::new();
    let visit = |access, which: usize, element: u32| match access {
        AccessKind::Load => loaded.push(inputs[which][element as usize]),
        AccessKind::Store => {
            output[element as usize] = match (node.kind.as_str(), &loaded[..]) {
                ("PAD", []) => ZERO,
                ("PADV2", []) => LOWEST,
                ("PAD" | "PADV2" | "SLICE" | "CONCATENATION", &[value]) => value,
                ("PAD" | "PADV2" | "SLICE" | "CONCATENATION", _) => panic!("{node:?}"),
                ("MAX_POOL_2D", _) => {
                    loaded.retain(|&value| value != LOWEST);
                    hash((origin.unwrap(), &loaded))
                }
                ("CONV_2D" | "DEPTHWISE_CONV_2D", _) => {
                    loaded.retain(|&value| value != ZERO);
                    hash((origin.unwrap(), element % depth, &loaded))
                }
                _ => hash((origin.unwrap(), &loaded)),
            };
            loaded.clear();
        }
    };
    kernel.operator.accesses(visit).unwrap();
    output
}

/// An operator of a random network: its kind and numbers that say the rest.
type Step = (usize, [u32; 6]);

fn step() -> impl Strategy<Value = Step> {
    (0..8usize, proptest::array::uniform6(0..1000u32))
}

fn shape_of(net: &Net, id: TensorId) -> Shape {
    net.graph.tensor(id).shape.as_slice().try_into().unwrap()
}

fn build([height, width, depth]: [u32; 3], steps: &[Step]) -> Graph {
    let mut net = Net::new("INT8", 1);
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
        let places = match valid {
            true => extent - (kernel - 1) * dilation,
            false => extent,
        };
        output[axis + 1] = places.div_ceil(stride);
        let before = tflite_padding_before(extent, output[axis + 1], kernel, stride, dilation);
        window.padding_before[axis] = before;
    }
    (output, window)
}

fn recipe(graph: &Graph, run: [usize; 2], grid: [u32; 2]) -> Recipe {
    let count = graph.operators.len();
    let first = run[0] % count;
    let last = first + run[1] % (count - first);
    let split = |run: std::ops::RangeInclusive<usize>, grid: [u32; 2]| {
        let output = graph.operators[*run.end()].outputs[0];
        let shape = &graph.tensor(output).shape;
        Split {
            operators: run.map(OperatorId).collect(),
            grid: [1 + grid[0] % shape[1], 1 + grid[1] % shape[2]],
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

/// What is refused is refused for a reason.
fn followed(graph: &Graph, recipe: &Recipe) -> Option<Standard> {
    match standard(graph, recipe) {
        Ok(standard) => Some(standard),
        Err(error) => {
            let kinds = recipe.splits.iter().flat_map(|split| &split.operators);
            let pools = |id: &OperatorId| graph.operators[id.0].kind == "AVERAGE_POOL_2D";
            let is_pool = match &error {
                TransformError::Operator { operator, .. } => pools(operator),
                _ => false,
            };
            assert!(is_pool || apply(graph, recipe).is_err(), "{error}");
            assert!(!is_pool || kinds.into_iter().any(pools));
            None
        }
    }
}

fn check(graph: &Graph, standard: &Standard) {
    let before = compute(graph, |index| Some(OperatorId(index)));
    let origin = |index: usize| {
        let origin: &Option<_> = &standard.origins[index];
        origin.as_ref().map(|origin| origin.operator)
    };
    assert_eq!(compute(&standard.graph, origin), before);
    assert!(standard.graph.views.is_empty());
    assert_eq!(standard.tensors.len(), standard.graph.tensors.len());
    assert_eq!(standard.origins.len(), standard.graph.operators.len());
    for (index, source) in standard.tensors.iter().enumerate() {
        let tensor = &standard.graph.tensors[index];
        match source {
            TensorSource::Original => assert_eq!(tensor, &graph.tensors[index]),
            TensorSource::Piece(of) => {
                let of = graph.tensor(*of);
                assert_eq!(tensor.element_type, of.element_type);
                assert_eq!(tensor.storage, Storage::Arena);
            }
            TensorSource::Integers(values) => {
                assert_eq!(tensor.size_bytes, 4 * values.len() as u64);
            }
            TensorSource::Lowest(of) => {
                assert_eq!(tensor.element_type, graph.tensor(*of).element_type);
                assert_eq!(tensor.size_bytes, 1);
            }
        }
    }
}

/// One tile for each pixel of a large tensor, which would take long to count up.
#[test]
fn too_many() {
    let mut net = Net::new("INT8", 1);
    let shape = [1, 1 << 15, 1 << 15, 1];
    let input = net.input(&shape);
    let elementwise = Elementwise {
        elements: 1 << 30,
        input_element_bytes: 1,
        output_element_bytes: 1,
    };
    let output = net.add("RELU", &[input], &shape, Operator::Elementwise(elementwise));
    let graph = net.output(output);
    let recipe = recipe(&graph, [0, 0], [(1 << 15) - 1; 2]);
    for error in [
        standard(&graph, &recipe).err(),
        apply(&graph, &recipe).err(),
    ] {
        assert!(matches!(error, Some(TransformError::TooLarge { .. })));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn computes_the_same(
        extents in [3..14u32, 3..14u32, 1..4u32],
        steps in prop::collection::vec(step(), 1..8),
        run in [0..8usize, 0..8usize],
        grid in [0..14u32, 0..14u32],
    ) {
        let graph = build(extents, &steps);
        let recipe = recipe(&graph, run, grid);
        if let Some(standard) = followed(&graph, &recipe) {
            check(&graph, &standard);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The file is read as what was meant, its plan is safe, and no weights are copied.
    #[test]
    fn files(
        extents in [3..10u32, 3..10u32, 1..4u32],
        steps in prop::collection::vec(step(), 1..6),
        run in [0..6usize, 0..6usize],
        grid in [0..4u32, 0..4u32],
    ) {
        let file = tflite::export(&build(extents, &steps), 1).unwrap();
        let graph = tflite::read(&file).unwrap().graphs.remove(0);
        let recipe = recipe(&graph, run, grid);
        let Some(standard) = followed(&graph, &recipe) else {
            return Ok(());
        };
        let time = Duration::from_millis(100);
        let handed = tiled(&file, &recipe, overlaps::analytic, time, &mut |_| {}).unwrap();
        let model = tflite::read(&handed.file).unwrap();
        prop_assert_eq!(&model.graphs, &vec![standard.graph.clone()]);
        prop_assert!(handed.file.ends_with(&file));
        check(&graph, &standard);

        let found = tflite::offline_plan(&handed.file).unwrap().unwrap();
        let offsets: Vec<Option<u64>> =
            found.offsets.iter().map(|&offset| u64::try_from(offset).ok()).collect();
        let used = |id: &TensorId| standard.graph.in_arena(*id);
        let operators = standard.graph.operators.iter();
        let mut tensors = operators.flat_map(|node| node.inputs.iter().chain(&node.outputs));
        prop_assert!(tensors.all(|id| !used(id) || offsets[id.0].is_some()));
        let positions = Positions { tensors: &offsets, scratch: &[], keep_inputs: false };
        let granted = overlaps::analytic(&standard.graph);
        let order = standard.graph.file_order();
        let clashes = clashes(&standard.graph, &order, &granted, positions, 10).unwrap();
        prop_assert_eq!(clashes, vec![]);
        prop_assert_eq!(handed.device.arena_bytes, handed.planned.arena_bytes);
    }
}
