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
use dmo_analysis::graph::overlaps::{Overlaps, analytic, none};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::transform::remove::moving;
use dmo_analysis::transform::{Recipe, Split, TransformError, Transformed, apply};
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact;
use dmo_planner::plan::tflm;
use machine::Machine;
use networks::network;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::{Cell, RefCell};
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

/// Where a plan has the tensors.
type Offsets = Vec<Option<u64>>;

/// A plan that makes use of overlaps, and one of none.
fn planned(graph: &Graph, overlaps: &Overlaps, keep_inputs: bool) -> [Offsets; 2] {
    let layout = Layout {
        keep_inputs,
        ..Layout::default()
    };
    let arena = Arena::new(graph, &graph.file_order(), overlaps, layout).unwrap();
    let exact = exact::plan(&arena.problem, &mut Budget::of_work(100_000)).plan;
    let apart = tflm::plan(&arena.problem.without_overlaps());
    [exact, apart].map(|plan| arena.tensor_offsets(&plan))
}

fn is_safe(graph: &Graph, overlaps: &Overlaps, tensors: &Offsets, keep_inputs: bool) -> bool {
    let positions = Positions {
        tensors,
        scratch: &[],
        keep_inputs,
    };
    let found = clashes(graph, &graph.file_order(), overlaps, positions, 1);
    found.unwrap().is_empty()
}

/// The result computes the same apart and in a planned arena, and the check agrees to the plan.
fn check(graph: &Graph, transformed: &Transformed, counts: bool) -> Result<(), TestCaseError> {
    let result = &transformed.graph;
    let all = Machine::original(graph, counts).ends_apart();
    let machine = Machine::transformed(transformed, counts);
    prop_assert_eq!(&machine.ends_apart(), &all, "apart: {:#?}", result);
    for overlaps in [analytic(result), none(result)] {
        for keep_inputs in [false, true] {
            let kept = graph.inputs.len() * usize::from(keep_inputs);
            let expected = &all[..graph.outputs.len() + kept];
            for tensors in planned(result, &overlaps, keep_inputs) {
                prop_assert!(
                    is_safe(result, &overlaps, &tensors, keep_inputs),
                    "{:#?}",
                    result
                );
                let ends = machine.ends_in_arena(&tensors, keep_inputs);
                prop_assert_eq!(&ends, expected, "{:?} {:#?}", &tensors, result);
            }
        }
    }
    Ok(())
}

/// Tensors moved about: what the check takes for safe computes the same. Whether it was taken for
/// safe, and whether it computes the same.
fn moved(graph: &Graph, transformed: &Transformed, by: &[i64]) -> [bool; 2] {
    let result = &transformed.graph;
    let overlaps = analytic(result);
    let [mut tensors, _] = planned(result, &overlaps, false);
    for (index, offset) in tensors.iter_mut().enumerate() {
        let moved = |offset: u64| offset.saturating_add_signed(by[index % by.len()]);
        *offset = offset.map(moved);
    }
    let tensors = result.with_views(tensors);
    let all = Machine::original(graph, true).ends_apart();
    let expected = &all[..graph.outputs.len()];
    let same = Machine::transformed(transformed, true).ends_in_arena(&tensors, false) == expected;
    [is_safe(result, &overlaps, &tensors, false), same]
}

/// A network, in which order its operators are left out, and how many are tried.
fn tasks() -> impl Strategy<Value = (Graph, Vec<OperatorId>)> {
    let order = Just((0..64).map(OperatorId).collect::<Vec<_>>()).prop_shuffle();
    (network(), order, 1_usize..64).prop_map(|(graph, mut candidates, most)| {
        candidates.retain(|operator| operator.0 < graph.operators.len());
        candidates.truncate(most);
        (graph, candidates)
    })
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
    let seen = RefCell::new(Seen::default());
    let mut runner = TestRunner::new(Config::with_cases(2500));
    let tried = runner.run(&tasks(), |(graph, candidates)| {
        let (removed, transformed) = greedily(&graph, &candidates);
        let left = transformed.graph.operators.len();
        prop_assert_eq!(left + removed.len(), graph.operators.len());
        seen.borrow_mut().note(&graph, &removed, &transformed);
        check(&graph, &transformed, true)
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

#[test]
fn tiles_of_what_is_left_compute_the_same() {
    let seen = Cell::new([0; 2]);
    let grids = (0..64_usize, 1..6_usize, [1..4_u32, 1..3_u32]);
    let mut runner = TestRunner::new(Config::with_cases(2000));
    let tried = runner.run(
        &(tasks(), grids),
        |((graph, candidates), (first, count, grid))| {
            let (removed, _) = greedily(&graph, &candidates);
            let mut left = graph.file_order();
            left.retain(|operator| !removed.contains(operator));
            prop_assume!(!left.is_empty());
            let first = first % left.len();
            let run = left[first..].iter().take(count).copied();
            let recipe = Recipe {
                removed: removed.clone(),
                splits: vec![Split {
                    operators: run.collect(),
                    grid,
                    cached: false,
                }],
                ..Recipe::default()
            };
            let Ok(transformed) = apply(&graph, &recipe) else {
                return Ok(());
            };
            let [tried, with] = seen.get();
            seen.set([tried + 1, with + usize::from(!removed.is_empty())]);
            check(&graph, &transformed, false)
        },
    );
    tried.unwrap();
    let [tried, with] = seen.get();
    println!("{tried} split, {with} of them with operators left out");
    assert!(with > 100);
}

#[test]
fn what_the_check_takes_for_safe_computes_the_same() {
    let seen = Cell::new([0; 3]);
    let by = prop::collection::vec(prop::sample::select(vec![0_i64, 0, 0, -1, 1, -4, 3]), 7);
    let mut runner = TestRunner::new(Config::with_cases(3000));
    let tried = runner.run(&(tasks(), by), |((graph, candidates), by)| {
        let (_, transformed) = greedily(&graph, &candidates);
        let [safe, same] = moved(&graph, &transformed, &by);
        prop_assert!(same || !safe, "{:#?}", transformed.graph);
        let [both, caught, strict] = seen.get();
        seen.set(match (safe, same) {
            (true, _) => [both + 1, caught, strict],
            (false, false) => [both, caught + 1, strict],
            (false, true) => [both, caught, strict + 1],
        });
        Ok(())
    });
    tried.unwrap();
    let [safe, caught, strict] = seen.get();
    println!("{safe} safe, {caught} caught, {strict} refused that compute the same");
    assert!(safe > 50 && caught > 500);
}

#[test]
fn refusals_name_the_operator() {
    let mut runner = TestRunner::new(Config::with_cases(200));
    let tried = runner.run(&network(), |graph| {
        let moves = moving(&graph);
        for operator in graph.file_order() {
            let recipe = Recipe {
                removed: vec![operator],
                ..Recipe::default()
            };
            match apply(&graph, &recipe) {
                Ok(_) => prop_assert!(moves.contains(&operator)),
                Err(error) => {
                    let named = matches!(error, TransformError::Operator { .. });
                    prop_assert!(named, "{}", error);
                }
            }
            let twice = Recipe {
                removed: vec![operator; 2],
                ..Recipe::default()
            };
            prop_assert!(apply(&graph, &twice).is_err());
        }
        Ok(())
    });
    tried.unwrap();
}
