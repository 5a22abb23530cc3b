//! Random networks in standard operators: what they compute, by the loads and stores of the
//! reference kernels, and what a file keeps of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with what it was given"
)]

#[path = "tflite/handed.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod handed;
#[path = "tflite/net.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod net;
#[path = "tflite/random.rs"]
mod random;

use dmo_analysis::graph::{
    Graph, Node, OperatorId, Storage, TensorId, TensorType, overlaps, tflite,
};
use dmo_analysis::operator::{Elementwise, Operator};
use dmo_analysis::trace::AccessKind;
use dmo_analysis::transform::standard::{Standard, TensorSource, standard};
use dmo_analysis::transform::{Recipe, TransformError, apply};
use dmo_analysis::verify::{Positions, clashes};
use handed::hand_over;
use net::Net;
use proptest::prelude::*;
use random::{build, recipe, step};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
            output[element as usize] = match (node.kind.name(), &loaded[..]) {
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

/// What is refused is refused for a reason.
fn followed(graph: &Graph, recipe: &Recipe) -> Option<Standard> {
    match standard(graph, recipe) {
        Ok(standard) => Some(standard),
        Err(error) => {
            let kinds = recipe.splits.iter().flat_map(|split| &split.operators);
            let pools = |id: &OperatorId| graph.operators[id.0].kind.name() == "AVERAGE_POOL_2D";
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
    let mut net = Net::new(TensorType::Int8, 1);
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
        let handed = hand_over(&file, &recipe, overlaps::analytic, 0.1).unwrap();
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
