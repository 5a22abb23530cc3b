//! Graphs of the size of published networks.

use super::graphs::{self, Random};
use super::judge::Judge;
use dmo_analysis::graph::{Graph, overlaps};
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::search::{Limits, search};
use dmo_analysis::schedule::{CountedEnds, Proof};
use dmo_planner::budget::Budget;
use std::time::{Duration, Instant};

fn solve(graph: &Graph) -> u64 {
    let mut cost = Overlapped::new(graph, &overlaps::none(graph), CountedEnds::default()).unwrap();
    let mut states = 0;
    let begin = Instant::now();
    let limits = Limits::default();
    let found = search(
        graph,
        CountedEnds::default(),
        &mut cost,
        limits,
        &mut Budget::of_seconds(60.0),
        &mut |progress| {
            states = progress.states;
        },
    )
    .unwrap();
    let mut judge = Judge::new(graph, CountedEnds::default(), None);
    let file = judge.peak(&graph.file_order());
    println!(
        "{} operators: {file} -> {} (bound {}), {states} states, {:?}",
        graph.operators.len(),
        found.peak_bytes,
        found.bound_bytes,
        begin.elapsed()
    );
    assert_eq!(found.proof, Proof::Optimal);
    assert!(judge.is_order(&found.order));
    assert_eq!(judge.peak(&found.order), found.peak_bytes);
    assert!(found.peak_bytes <= file);
    states
}

#[test]
fn series_parallel_graphs_are_solved() {
    let mut random = Random(7);
    for depth in [2, 2, 2] {
        solve(&graphs::series_parallel(depth, &mut random));
    }
}

#[test]
fn cells_that_read_two_before_them_are_solved() {
    let mut random = Random(8);
    for count in [1, 2, 4, 8, 16, 18] {
        solve(&graphs::cells(count, &mut random));
    }
}

/// As converters write models with weights of half precision: all are dequantised first.
#[test]
fn cells_with_dequantised_weights_are_solved() {
    let mut random = Random(9);
    for count in [1, 4, 18] {
        let cells = graphs::cells(count, &mut random);
        solve(&graphs::with_weights(&cells, &mut random));
    }
}

/// Thousands of operators, all ready at once: the limits hold.
#[test]
fn limits_hold_on_absurd_graphs() {
    for width in [2_000, 20_000] {
        let mut graph = Graph::default();
        let ends: Vec<_> = (0..width)
            .map(|index| graphs::operator(&mut graph, &[], 1 + index % 7))
            .collect();
        graphs::operator(&mut graph, &ends, 1);
        let mut cost =
            Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
        let limits = Limits::default();
        let begin = Instant::now();
        let found = search(
            &graph,
            CountedEnds::default(),
            &mut cost,
            limits,
            &mut Budget::of_seconds(0.3),
            &mut |_| {},
        )
        .unwrap();
        assert!(found.bound_bytes <= found.peak_bytes);
        assert_eq!(found.order.len(), graph.operators.len());
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{:?}",
            begin.elapsed()
        );
    }
}
