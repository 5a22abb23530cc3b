//! Models in tiles on machine code: they compute bit for bit what the model computes, their plans
//! pass all three witnesses, and what is executed is what was counted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../analysis/tests/schedule/graphs.rs"]
mod graphs;
#[path = "../../analysis/tests/transform/networks.rs"]
mod networks;
mod support;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{Graph, Kind, OperatorId, overlaps, zoo};
use dmo_analysis::operator::Operator;
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::transform::{Recipe, Split, Transformed, apply, macs};
use dmo_planner::budget::Budget;
use dmo_trace::model::verify::{Runs, Subject, Verification, differences_from, verify};
use dmo_trace::model::{Deployment, Placement};
use graphs::Random;
use support::LIMITS;
use support::models::library;

fn planned(graph: &Graph) -> ModelPlan {
    let task = Task {
        graph,
        overlaps: &overlaps::analytic(graph),
        layout: Layout::default(),
        reorder: false,
        fixed: &[],
    };
    optimise(task, &mut Budget::of_seconds(2.0), &mut |_| ()).unwrap()
}

fn placement(deployment: &Deployment, plan: &ModelPlan) -> Placement {
    let mut scratch = vec![None; deployment.steps.len()];
    for buffer in &plan.arena.scratch {
        scratch[buffer.operator.0] = Some(plan.plan.offsets[buffer.buffer]);
    }
    Placement {
        tensors: plan.arena.tensor_offsets(&plan.plan),
        scratch,
        arena_bytes: plan.arena_bytes,
    }
}

fn verified(deployment: &Deployment, placement: &Placement) -> Verification {
    let subject = Subject {
        order: &deployment.graph.file_order(),
        placement,
        keep_inputs: false,
    };
    verify(deployment, &subject, Runs::on(1, LIMITS), &|_, _| ()).unwrap()
}

/// The changed model computes the same, its plan is safe, and its convolutions load as often as
/// they multiply.
fn check(original: &Deployment, transformed: &Transformed) -> (Placement, Verification) {
    let deployment = original.transformed(transformed, LIMITS).unwrap();
    let graph = &deployment.graph;
    let differences = differences_from(original, &deployment, 2, LIMITS).unwrap();
    assert_eq!(differences, [], "{:?}", transformed.graph);
    let placement = placement(&deployment, &planned(graph));
    let verification = verified(&deployment, &placement);
    assert!(
        verification.is_safe(),
        "{:?} {placement:?}",
        transformed.graph
    );
    for layer in &verification.layers {
        let node = &graph.operators[layer.operator.0];
        let operator = &node.kernel.as_ref().unwrap().operator;
        let plain = match operator {
            Operator::Pitched(pitched) => &*pitched.operator,
            plain => plain,
        };
        if matches!(plain, Operator::Conv2d(_) | Operator::DepthwiseConv2d(_)) {
            let stores = plain.buffers().unwrap().outputs[0].size_bytes();
            let expected = macs::of_operator(operator) + u64::from(stores);
            assert_eq!(layer.replayed, expected, "{operator:?}");
        }
    }
    (placement, verification)
}

fn split(run: std::ops::Range<usize>, grid: [u32; 2]) -> Split {
    Split {
        operators: run.map(OperatorId).collect(),
        grid,
        cached: false,
    }
}

/// Random networks, cut in all ways.
#[test]
fn random_networks() {
    let library = library("reference");
    let mut random = Random(1);
    let (mut done, mut kept) = (0, 0);
    for seed in 0..120 {
        let graph = networks::network(seed, 5);
        let Ok(original) = Deployment::invented(&graph, &library, LIMITS) else {
            continue;
        };
        let count = graph.operators.len() as u64;
        let first = random.below(count);
        let end = first + 1 + random.below(count - first);
        let grid = [1 + random.below(4) as u32, 1 + random.below(3) as u32];
        for cached in [false, true] {
            let split = Split {
                cached,
                ..split(first as usize..end as usize, grid)
            };
            let recipe = Recipe {
                splits: vec![split],
                ..Recipe::default()
            };
            if let Ok(transformed) = apply(&graph, &recipe) {
                check(&original, &transformed);
                done += 1;
                let nodes = &transformed.graph.operators;
                kept += nodes
                    .iter()
                    .filter(|node| node.kind == Kind::KeptRows)
                    .count();
            }
        }
    }
    // Else nothing was tried.
    assert!(done > 100 && kept > 15, "{done} networks, {kept} copies");
}

/// The published splits, in bands and in patches, in place where that is smaller.
#[test]
fn mobilenet() {
    let graph = zoo::find("mobilenet_v1_0.25_128").unwrap();
    let graph = graph.build(zoo::Element::Int8);
    let library = library("reference");
    let original = Deployment::invented(&graph, &library, LIMITS).unwrap();
    let bands = Recipe {
        splits: vec![split(2..4, [4, 1])],
        ..Recipe::default()
    };
    let patches = Recipe {
        in_place: dmo_analysis::transform::in_place::smaller(&graph),
        splits: vec![split(0..4, [4, 4])],
        ..Recipe::default()
    };
    assert!(!patches.in_place.is_empty());
    for recipe in [bands, patches] {
        let transformed = apply(&graph, &recipe).unwrap();
        let (placement, _) = check(&original, &transformed);
        // What lies in another tensor keeps its place in it; all else is made one byte too tight.
        let deployment = original.transformed(&transformed, LIMITS).unwrap();
        let tensor = deployment.graph.operators[0].outputs[0];
        let root = deployment.graph.root(tensor);
        let mut mutant = placement.clone();
        let input = deployment
            .graph
            .root(deployment.graph.operators[0].inputs[0]);
        mutant.tensors[root.0] = mutant.tensors[input.0];
        let found = verified(&deployment, &mutant);
        assert!(!found.is_safe(), "input and output at one place");
        assert!(!found.clashes.is_empty(), "geometry does not object");
        assert!(
            found.layers.iter().any(|layer| !layer.is_clean()),
            "replay does not object"
        );
    }
}
