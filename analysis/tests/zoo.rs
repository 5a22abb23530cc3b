//! The zoo's networks: sound as graphs, and equal to figures published elsewhere.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "zoo/counts.rs"]
mod counts;
#[path = "zoo/memory.rs"]
mod memory;
#[path = "zoo/soundness.rs"]
mod soundness;
#[path = "zoo/table.rs"]
mod table;

use dmo_analysis::graph::zoo::{Element, find};
use dmo_analysis::graph::{Graph, OperatorId};

fn network(name: &str, element: Element) -> Graph {
    find(name).unwrap().build(element)
}

fn float(name: &str) -> Graph {
    network(name, Element::Float32)
}

/// An order with a small largest sum of live activations, and that sum in bytes: of all
/// orders that begin as the best few hundred did so far, the best.
fn better_order(graph: &Graph) -> (Vec<OperatorId>, u64) {
    const KEPT: usize = 300;
    let readers = reader_counts(graph);
    let mut states = vec![State::start(graph, &readers)];
    for _ in &graph.operators {
        let mut next: Vec<State> = Vec::new();
        for state in &states {
            for operator in state.ready(graph) {
                next.push(state.run(graph, operator));
            }
        }
        next.sort_by(|one, other| {
            let key = |state: &State| (state.peak, state.live, state.done.clone());
            key(one).cmp(&key(other))
        });
        // The same operators in another order leave the same behind.
        next.dedup_by(|one, other| one.done == other.done);
        next.truncate(KEPT);
        states = next;
    }
    let best = states.remove(0);
    (best.order, best.peak)
}

fn reader_counts(graph: &Graph) -> Vec<usize> {
    let mut counts = vec![0; graph.tensors.len()];
    for node in &graph.operators {
        for id in graph.arena_inputs(node) {
            counts[id.0] += 1;
        }
    }
    // The application reads the outputs.
    for id in &graph.outputs {
        counts[id.0] += 1;
    }
    counts
}

#[derive(Clone)]
struct State {
    peak: u64,
    live: u64,
    done: Vec<bool>,
    stored: Vec<bool>,
    to_read: Vec<usize>,
    order: Vec<OperatorId>,
}

impl State {
    fn start(graph: &Graph, readers: &[usize]) -> Self {
        let mut stored = vec![false; graph.tensors.len()];
        for id in &graph.inputs {
            stored[id.0] = true;
        }
        Self {
            peak: 0,
            live: graph
                .inputs
                .iter()
                .map(|&id| graph.tensor(id).size_bytes)
                .sum(),
            done: vec![false; graph.operators.len()],
            stored,
            to_read: readers.to_vec(),
            order: Vec::new(),
        }
    }

    fn ready(&self, graph: &Graph) -> Vec<usize> {
        let is_ready = |&operator: &usize| {
            let inputs = graph.arena_inputs(&graph.operators[operator]);
            !self.done[operator] && inputs.iter().all(|id| self.stored[id.0])
        };
        (0..graph.operators.len()).filter(is_ready).collect()
    }

    fn run(&self, graph: &Graph, operator: usize) -> Self {
        let mut next = self.clone();
        let node = &graph.operators[operator];
        for id in graph.arena_outputs(node) {
            next.stored[id.0] = true;
            next.live += graph.tensor(id).size_bytes;
        }
        next.peak = next.peak.max(next.live);
        for id in graph.arena_inputs(node) {
            next.to_read[id.0] -= 1;
            if next.to_read[id.0] == 0 {
                next.live -= graph.tensor(id).size_bytes;
            }
        }
        next.done[operator] = true;
        next.order.push(OperatorId(operator));
        next
    }
}
