//! Models of which operators were left out, on machine code: they compute bit for bit what the
//! model computes, and their plans pass all three witnesses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[path = "../../analysis/tests/removal/networks.rs"]
mod networks;
mod support;

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::graph::{
    Graph, GraphTensor, Kernel, Node, OperatorId, Storage, TensorId, TensorType, overlaps,
};
use dmo_analysis::operator::{Concat, Conv2d, Operator, Shape, Window};
use dmo_analysis::transform::remove::{keeps_values, moving};
use dmo_analysis::transform::{Recipe, Transformed, apply};
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact;
use dmo_trace::kernels::KernelLibrary;
use dmo_trace::model::verify::{Runs, Subject, differences_from, verify};
use dmo_trace::model::{Deployment, KernelSource, Placement};
use networks::network;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use support::LIMITS;
use support::models::library;

fn removing(graph: &Graph, removed: &[OperatorId]) -> Option<Transformed> {
    let recipe = Recipe {
        removed: removed.to_vec(),
        ..Recipe::default()
    };
    apply(graph, &recipe).ok()
}

/// All that only move data and keep the values, as many as go together.
fn without_moves(deployment: &Deployment) -> Transformed {
    let graph = &deployment.graph;
    let mut removed = Vec::new();
    let mut result = removing(graph, &removed).unwrap();
    let known = |operator: OperatorId| deployment.step(operator).parameters.as_ref();
    for operator in moving(graph) {
        if keeps_values(graph, operator, known).is_err() {
            continue;
        }
        removed.push(operator);
        match removing(graph, &removed) {
            Some(transformed) => result = transformed,
            None => drop(removed.pop()),
        }
    }
    result
}

/// The plan with overlaps by formula is safe, and the outputs are the original's.
fn check(original: &Deployment, changed: &Deployment) -> Result<(), TestCaseError> {
    let graph = &changed.graph;
    let order = graph.file_order();
    let layout = Layout {
        alignment: 4,
        ..Layout::default()
    };
    let arena = Arena::new(graph, &order, &overlaps::analytic(graph), layout).unwrap();
    let plan = exact::plan(&arena.problem, &mut Budget::of_work(1_000_000)).plan;
    let mut scratch = vec![None; graph.operators.len()];
    for planned in &arena.scratch {
        scratch[planned.operator.0] = Some(plan.offsets[planned.buffer]);
    }
    let placement = Placement {
        tensors: arena.tensor_offsets(&plan),
        scratch,
        arena_bytes: plan.arena_bytes(&arena.problem),
    };
    let subject = Subject {
        order: &order,
        placement: &placement,
        keep_inputs: false,
    };
    let found = verify(changed, &subject, Runs::on(2, LIMITS), &|_, _| ()).unwrap();
    let unclean = found.layers.iter().find(|layer| !layer.is_clean());
    prop_assert!(
        found.is_safe(),
        "{:?} {:?} {:?} {:#?}",
        found.clashes,
        found.differences,
        unclean,
        graph
    );
    let differences = differences_from(original, changed, 2, LIMITS).unwrap();
    prop_assert!(differences.is_empty(), "{:?} {:#?}", differences, graph);
    Ok(())
}

#[test]
fn what_is_left_computes_the_same_on_machine_code() {
    let library = library("reference");
    let (removed, pitched) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config::with_cases(300));
    let tried = runner.run(&network(), |graph| {
        let source = KernelSource {
            stands_for_reference: true,
            ..KernelSource::from(&library)
        };
        let original = Deployment::invented_on(&graph, &[source], LIMITS);
        let original = original.complete().unwrap();
        let transformed = without_moves(&original);
        removed.set(removed.get() + transformed.removed.len());
        let kernels = transformed
            .graph
            .operators
            .iter()
            .flat_map(|node| &node.kernel);
        let on_pieces = |kernel: &&Kernel| matches!(kernel.operator, Operator::Pitched(_));
        pitched.set(pitched.get() + kernels.filter(on_pieces).count());
        let changed = original.transformed(&transformed, LIMITS).unwrap();
        check(&original, &changed)
    });
    tried.unwrap();
    println!(
        "{} left out, {} work on pieces",
        removed.get(),
        pitched.get()
    );
    assert!(removed.get() > 100 && pitched.get() > 20);
}

/// Two convolutions whose outputs are joined along the channels.
fn joined() -> Graph {
    let mut graph = Graph::default();
    let mut tensor = |shape: Shape| {
        graph.tensors.push(GraphTensor {
            name: String::new(),
            shape: shape.to_vec(),
            element_type: TensorType::Int8,
            size_bytes: u64::from(shape.iter().product::<u32>()),
            storage: Storage::Arena,
        });
        TensorId(graph.tensors.len() - 1)
    };
    let whole = [1, 6, 5, 3];
    let [input, one, other] = [whole, [1, 6, 5, 2], [1, 6, 5, 4]].map(&mut tensor);
    let output = tensor([1, 6, 5, 6]);
    let conv = |depth: u32| {
        Operator::Conv2d(Conv2d {
            input: whole,
            output: [1, 6, 5, depth],
            window: Window::default(),
            groups: 1,
            element_bytes: 1,
        })
    };
    let concat = Operator::Concat(Concat {
        inputs: vec![[1, 6, 5, 2], [1, 6, 5, 4]],
        axis: 3,
        element_bytes: 1,
    });
    for (kind, operator, inputs, to) in [
        ("CONV_2D", conv(2), vec![input], one),
        ("CONV_2D", conv(4), vec![input], other),
        ("CONCATENATION", concat, vec![one, other], output),
    ] {
        graph.operators.push(Node {
            kind: kind.into(),
            inputs: inputs.clone(),
            outputs: vec![to],
            kernel: Some(Kernel {
                operator,
                inputs,
                outputs: vec![to],
            }),
            scratch_bytes: Vec::new(),
        });
    }
    (graph.inputs, graph.outputs) = (vec![input], vec![output]);
    graph
}

#[test]
fn channels_are_stored_where_the_concatenation_has_them() {
    let graph = joined();
    for set in ["reference", "dsp"] {
        let library: KernelLibrary = library(set);
        let original = Deployment::invented(&graph, &library, LIMITS).unwrap();
        let transformed = removing(&graph, &[OperatorId(2)]).unwrap();
        let changed = original.transformed(&transformed, LIMITS).unwrap();
        assert_eq!(changed.steps.len(), 2);
        check(&original, &changed).unwrap();
    }
}

#[test]
fn a_concatenation_of_other_scales_is_not_left_out() {
    let graph = joined();
    let library = library("reference");
    let mut original = Deployment::invented(&graph, &library, LIMITS).unwrap();
    let parameters = original.steps[2].parameters.as_mut().unwrap();
    parameters.operands = vec![Affine::PLAIN; 2];
    parameters.outputs = vec![Affine::PLAIN];
    let transformed = removing(&graph, &[OperatorId(2)]).unwrap();
    assert!(original.transformed(&transformed, LIMITS).is_ok());
    let parameters = original.steps[2].parameters.as_mut().unwrap();
    parameters.operands[1].scale = 0.5;
    let refusal = original.transformed(&transformed, LIMITS).err().unwrap();
    assert!(
        refusal.to_string().contains("quantised otherwise"),
        "{refusal}"
    );
}
