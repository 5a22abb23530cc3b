//! Graphs of which operators were left out compute what they computed: in memory without
//! overlaps, and in the planned arena, access by access.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with the graph"
)]

#[path = "removal/machine.rs"]
mod machine;
#[path = "removal/networks.rs"]
mod networks;

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps::{analytic, none};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::plan::exact::{self, Budget};
use dmo_analysis::plan::tflm;
use dmo_analysis::transform::{Recipe, Transformed, apply};
use dmo_analysis::verify::{Positions, clashes};
use machine::{outputs_apart, outputs_in_arena};
use networks::network;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

fn removing(graph: &Graph, removed: &[OperatorId]) -> Option<Transformed> {
    let recipe = Recipe {
        removed: removed.to_vec(),
        ..Recipe::default()
    };
    apply(graph, &recipe).ok()
}

/// As many as go together, in the order given.
fn greedily(graph: &Graph, candidates: &[OperatorId]) -> (Vec<OperatorId>, Transformed) {
    let mut removed = Vec::new();
    let mut best = removing(graph, &[]).unwrap();
    for &candidate in candidates {
        let mut more = removed.clone();
        more.push(candidate);
        if let Some(transformed) = removing(graph, &more) {
            (removed, best) = (more, transformed);
        }
    }
    (removed, best)
}

/// The result computes the same apart and in a planned arena, and the check agrees to the plan.
fn check(graph: &Graph, transformed: &Transformed) -> Result<(), TestCaseError> {
    let expected = outputs_apart(graph);
    let result = &transformed.graph;
    prop_assert_eq!(&outputs_apart(result), &expected, "apart: {:#?}", result);
    let order = result.file_order();
    let overlaps = analytic(result);
    for overlaps in [&overlaps, &none(result)] {
        let arena = Arena::new(result, &order, overlaps, Layout::default()).unwrap();
        let mut steps = 0;
        let mut stop = || {
            steps += 1;
            steps > 200
        };
        let exact = exact::plan(&arena.problem, &mut Budget::new(&mut stop)).plan;
        for plan in [exact, tflm::plan(&arena.problem.without_overlaps())] {
            let tensors = arena.tensor_offsets(&plan);
            let positions = Positions {
                tensors: &tensors,
                scratch: &[],
                keep_inputs: false,
            };
            let found = clashes(result, &order, overlaps, positions, 1).unwrap();
            prop_assert!(found.is_empty(), "{:?} {:#?}", found, result);
            let outputs = outputs_in_arena(result, &tensors);
            prop_assert_eq!(&outputs, &expected, "{:?} {:#?}", &tensors, result);
        }
    }
    Ok(())
}

/// What has been left out so far, by kind, and how many operators then work on pieces.
#[derive(Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn note(&mut self, graph: &Graph, removed: &[OperatorId], transformed: &Transformed) {
        let of = |graph: &Graph, operator: OperatorId| {
            let kernel = graph.operators[operator.0].kernel.as_ref().unwrap();
            let text = format!("{:?}", kernel.operator);
            text.split('(').next().unwrap().to_owned()
        };
        for &operator in removed {
            *self.0.entry(of(graph, operator)).or_default() += 1;
        }
        for operator in transformed.graph.file_order() {
            let kind = of(&transformed.graph, operator);
            if kind == "Pitched" {
                *self.0.entry(kind).or_default() += 1;
            }
        }
    }
}

#[test]
fn what_is_left_computes_the_same() {
    let order = Just((0..64).map(OperatorId).collect::<Vec<_>>()).prop_shuffle();
    let seen = RefCell::new(Seen::default());
    let mut runner = TestRunner::new(Config::with_cases(1000));
    let tried = runner.run(&(network(), order, 1_usize..64), |(graph, order, most)| {
        let mut candidates = order;
        candidates.retain(|operator| operator.0 < graph.operators.len());
        candidates.truncate(most);
        let (removed, transformed) = greedily(&graph, &candidates);
        let left = transformed.graph.operators.len();
        prop_assert_eq!(left + removed.len(), graph.operators.len());
        seen.borrow_mut().note(&graph, &removed, &transformed);
        check(&graph, &transformed)
    });
    tried.unwrap();
    let Seen(counts) = seen.into_inner();
    println!("{counts:?}");
    for kind in [
        "Reshape",
        "Concat",
        "Split",
        "StridedSlice",
        "Pad",
        "Pitched",
    ] {
        assert!(
            counts.get(kind).is_some_and(|&count| count > 50),
            "{kind}: {counts:?}"
        );
    }
}
