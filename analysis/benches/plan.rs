//! What plans cost.
//!
//! `cargo bench -p dmo-analysis --bench plan`. Aims: each network of the zoo planned in 2
//! seconds, each strategy at most 1 ms for 100 buffers, MiniMalloc's problems in at most 10
//! seconds each. Invalid plans fail, and so do plans below their bound.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may fail loudly")]

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/schedule/graphs.rs"]
mod graphs;

use divan::Bencher;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::zoo::{Element, NETWORKS, find};
use dmo_analysis::optimise::{Task, optimise};
use dmo_planner::budget::Budget;
use dmo_planner::minimalloc::Table;
use dmo_planner::plan::exact::{self, Decision};
use dmo_planner::plan::{Plan, STRATEGIES, Strategy};
use dmo_planner::problem::{Buffer, Displacement, Problem};
use graphs::Random;
use std::path::PathBuf;

fn main() {
    divan::main();
}

const LIMIT: f64 = 2.0;

fn networks() -> impl Iterator<Item = &'static str> {
    NETWORKS.iter().map(|network| network.name)
}

#[divan::bench(args = networks(), sample_count = 1, sample_size = 1)]
fn network(bencher: Bencher<'_, '_>, name: &str) {
    let graph = find(name).unwrap().build(Element::Float32);
    let overlaps = overlaps::analytic(&graph);
    let task = Task {
        graph: &graph,
        overlaps: &overlaps,
        layout: Layout::default(),
        reorder: true,
        fixed: &[],
    };
    bencher.bench(|| {
        let planned = optimise(task, &mut Budget::of_seconds(LIMIT), &mut |_| {}).unwrap();
        assert_eq!(planned.plan.check(&planned.arena.problem), vec![]);
        assert!(planned.bound_bytes <= planned.arena_bytes);
        planned.certificate()
    });
}

/// A hundred buffers of a few steps each, of which those that follow one another overlap.
fn hundred_buffers() -> Problem {
    let mut random = Random(1);
    let buffers: Vec<Buffer> = (0..100)
        .map(|step| Buffer {
            name: format!("buffer {step}"),
            size_bytes: 1 + random.below(100_000),
            alive: step..step + 2 + random.below(4) as u32,
            alignment: 16,
            fixed_offset: None,
        })
        .collect();
    let displacements: Vec<Displacement> = (1..100)
        .map(|lower| Displacement {
            lower,
            upper: lower - 1,
            bytes: random.below(buffers[lower].size_bytes),
        })
        .collect();
    Problem::new(buffers, &displacements).unwrap()
}

fn strategies() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().map(|strategy| strategy.name)
}

#[divan::bench(args = strategies())]
fn strategy(bencher: Bencher<'_, '_>, name: &str) {
    let problem = hundred_buffers();
    let strategy = Strategy::named(name).unwrap();
    let plan = strategy.plan(&problem).unwrap();
    assert_eq!(plan.check(&problem), vec![]);
    assert!(plan.arena_bytes(&problem) >= problem.lower_bound());
    bencher.bench(|| strategy.plan(&problem));
}

/// The capacity of the published problems, in bytes.
const MINIMALLOC_BYTES: u64 = 1 << 20;

/// Those that are found in `$DMO_TRACE_MINIMALLOC`, or beside the repository.
#[divan::bench(args = minimalloc_problems(), sample_count = 1, sample_size = 1)]
fn minimalloc(bencher: Bencher<'_, '_>, name: &str) {
    let text = std::fs::read_to_string(minimalloc_path(name)).unwrap();
    let problem = Table::parse(&text).unwrap().problem;
    bencher.bench(|| {
        let found = exact::fit(&problem, MINIMALLOC_BYTES, &mut Budget::unlimited());
        let Decision::Possible(offsets) = found else {
            unreachable!("{found:?}");
        };
        let plan = Plan { offsets };
        assert_eq!(plan.check(&problem), vec![]);
        assert!(plan.arena_bytes(&problem) <= MINIMALLOC_BYTES);
    });
}

fn minimalloc_problems() -> impl Iterator<Item = &'static str> {
    let problems = ["A", "B", "C", "D", "E"].into_iter();
    problems.filter(|name| minimalloc_path(name).is_file())
}

fn minimalloc_path(name: &str) -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/minimalloc");
    let folder = std::env::var_os("DMO_TRACE_MINIMALLOC");
    let folder = folder.map_or(PathBuf::from(beside), PathBuf::from);
    folder.join(format!("{name}.1048576.csv"))
}
