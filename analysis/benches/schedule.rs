//! What orders cost.
//!
//! `cargo bench -p dmo-analysis --bench schedule`. Aims: graphs of the size of published
//! networks ordered with a proof, in milliseconds where a single step is the bottleneck and in
//! seconds where none is. Wrong answers fail.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may fail loudly")]

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/schedule/graphs.rs"]
mod graphs;

use divan::Bencher;
use dmo_analysis::graph::{Graph, overlaps};
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::lifetime::working_sets;
use dmo_analysis::schedule::search::{Limits, search};
use dmo_analysis::schedule::{CountedEnds, Proof};
use dmo_planner::budget::Budget;
use graphs::Random;

fn main() {
    divan::main();
}

/// Cells of which each reads the two before it, with tensors of many sizes, so that no
/// single step is the bottleneck.
fn cells(count: usize) -> Graph {
    let mut random = Random(9);
    let mut graph = graphs::cells(count, &mut random);
    for tensor in &mut graph.tensors {
        tensor.size_bytes *= 1 + random.below(8);
    }
    for tensor in &mut graph.tensors[..3] {
        tensor.size_bytes = 600;
    }
    graph
}

#[divan::bench(args = [1, 4, 16], sample_count = 10)]
fn search_cells(bencher: Bencher<'_, '_>, count: usize) {
    let graph = cells(count);
    bencher.bench(|| {
        let mut cost =
            Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
        let limits = Limits::default();
        let found = search(
            &graph,
            CountedEnds::default(),
            &mut cost,
            limits,
            &mut Budget::of_seconds(10.0),
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(found.proof, Proof::Optimal);
    });
}

#[divan::bench(args = [1, 4], sample_count = 10)]
fn search_cells_with_overlaps(bencher: Bencher<'_, '_>, count: usize) {
    let graph = cells(count);
    let overlaps = graphs::overlaps(&graph, &mut Random(10));
    bencher.bench(|| {
        let mut cost = Overlapped::new(&graph, &overlaps, CountedEnds::default()).unwrap();
        let limits = Limits::default();
        let found = search(
            &graph,
            CountedEnds::default(),
            &mut cost,
            limits,
            &mut Budget::of_seconds(10.0),
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(found.proof, Proof::Optimal);
    });
}

#[divan::bench]
fn search_example(bencher: Bencher<'_, '_>) {
    let graph = graphs::liberis_lane();
    bencher.bench(|| {
        let mut cost =
            Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
        let limits = Limits::default();
        let found = search(
            &graph,
            CountedEnds::default(),
            &mut cost,
            limits,
            &mut Budget::of_seconds(10.0),
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(found.peak_bytes, 4960);
    });
}

#[divan::bench]
fn working_sets_of_sixteen_cells(bencher: Bencher<'_, '_>) {
    let graph = cells(16);
    let order = graph.file_order();
    bencher.bench(|| working_sets(&graph, &order, CountedEnds::default()).unwrap());
}
