//! The best-first search alone. Good first orders would hide what it overlooks.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "the tests of the crate's interface use the rest")]
#[path = "../../../tests/schedule/graphs.rs"]
mod graphs;

use super::*;
use crate::graph::overlaps::{self, Overlaps};
use crate::schedule::cost::Overlapped;
use graphs::Random;

/// The lowest peak, found without any order to begin with.
fn unaided(graph: &Graph, cost: &mut dyn StepCost) -> u64 {
    let ends = CountedEnds::default();
    let flow = Dataflow::new(graph, ends).unwrap();
    let Renamed { flow, names } = Renamed::new(&flow, cost);
    let cost = &mut RenamedCost {
        names: &names,
        cost,
    };
    let (cuts, _) = division(&flow, cost);
    let chains = Chains::new(&flow, cost);
    let mut memory = Memory::new(&flow, cost);
    let mut ignored = |_| {};
    let work = &mut Budget::unlimited();
    let mut budget = SearchBudget::new(Limits::default(), work, &mut ignored);
    let mut segments = Segment::all(&cuts);
    let mut highest = 0;
    for segment in &mut segments {
        let proved = segment.best_first(&mut memory, &chains, 0, 0, &mut budget);
        assert_eq!(proved, segment.peak_bytes);
        highest = highest.max(proved);
    }
    highest
}

fn agree(graph: &Graph, overlaps: &Overlaps, place: &str) {
    let ends = CountedEnds::default();
    let mut cost = Overlapped::new(graph, overlaps, ends).unwrap();
    let found = unaided(graph, &mut cost);
    let (limits, budget) = (Limits::default(), &mut Budget::unlimited());
    let aided = search(graph, ends, &mut cost, limits, budget, &mut |_| {}).unwrap();
    assert_eq!(aided.proof, Proof::Optimal);
    assert_eq!(found, aided.peak_bytes, "{place}: {graph:?} {overlaps:?}");
}

/// The search with first orders is held against all orders in `tests/schedule`.
#[test]
fn the_search_finds_the_same_alone() {
    let mut random = Random(20);
    for round in 0..6000 {
        let graph = match round % 3 {
            0 => graphs::any(&mut random, 10),
            1 => graphs::chains(&mut random, 8),
            _ => {
                let graph = graphs::any(&mut random, 5);
                graphs::with_weights(&graph, &mut random)
            }
        };
        agree(&graph, &overlaps::none(&graph), &format!("round {round}"));
    }
}

#[test]
fn with_overlaps_the_search_finds_the_same_alone() {
    let mut random = Random(21);
    for round in 0..4000 {
        let graph = match round % 2 {
            0 => graphs::any(&mut random, 10),
            _ => graphs::chains(&mut random, 8),
        };
        let overlaps = graphs::overlaps(&graph, &mut random);
        agree(&graph, &overlaps, &format!("round {round}"));
    }
}
