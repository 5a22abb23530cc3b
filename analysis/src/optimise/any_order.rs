//! A bound for all orders at once, where distances add up along operators that every order
//! has.
//!
//! Whatever the order, the tensors of one operator are in memory together, and no pair of them
//! may lie closer than when the input dies there. A problem of these pairs alone is a
//! relaxation of every order's problem: what it cannot do in a capacity no order can.

use crate::arena::{Layout, also_aligned};
use crate::graph::overlaps::{Overlaps, Sharing};
use crate::graph::{Graph, TensorId};
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact::{Decision, PairDistances};
use std::collections::BTreeMap;

/// Steps that a decision may take.
const NODES: u64 = 20_000;

/// More pairs than this are not tried.
const MOST_PAIRS: usize = 2_000_000;

/// The largest bound that the relaxation proves, between `bound` and `arena` bytes. Sizes and
/// displacements of the graph have to be rounded already.
pub(super) fn bound(
    graph: &Graph,
    overlaps: &Overlaps,
    layout: Layout,
    (bound, arena): (u64, u64),
    budget: &mut Budget<'_>,
) -> u64 {
    let Some(distances) = relaxation(graph, overlaps, layout) else {
        return bound;
    };
    let (mut proven, mut possible) = (bound, arena);
    // Usually the arena is the optimum already.
    let mut capacity = arena.saturating_sub(1);
    while proven < possible {
        match distances.decide(capacity, NODES, budget) {
            Decision::Impossible => proven = capacity + 1,
            Decision::Possible(_) => possible = capacity,
            Decision::Unknown => break,
        }
        capacity = proven + (possible - proven) / 2;
    }
    proven
}

/// Tensors of one operator, two and two; `None` where there are too many.
fn relaxation(graph: &Graph, overlaps: &Overlaps, layout: Layout) -> Option<PairDistances> {
    let counted = layout.counted;
    let touched = |node: &crate::graph::Node| {
        node.inputs.len() + node.outputs.len() + node.scratch_bytes.len()
    };
    let pairs: usize = graph
        .operators
        .iter()
        .map(|node| touched(node).pow(2))
        .sum();
    if pairs > MOST_PAIRS {
        return None;
    }
    let mut buffer_of: Vec<Option<usize>> = vec![None; graph.tensors.len()];
    // The size and alignment of each, in bytes.
    let mut buffers: Vec<(u64, u64)> = Vec::new();
    let left_out = |id: TensorId| {
        !counted.count_graph_inputs && graph.inputs.contains(&id)
            || !counted.count_graph_outputs && graph.outputs.contains(&id)
    };
    let mut distances: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (node, granted) in graph.operators.iter().zip(overlaps) {
        let mut touched = graph.arena_inputs(node);
        touched.extend(graph.arena_outputs(node));
        let mut members = Vec::new();
        for id in touched {
            let tensor = graph.tensor(id);
            if tensor.size_bytes == 0 || left_out(id) {
                continue;
            }
            let buffer = *buffer_of[id.0].get_or_insert_with(|| {
                let alignment = also_aligned(layout.alignment, tensor.element_type.alignment());
                buffers.push((tensor.size_bytes, alignment));
                buffers.len() - 1
            });
            members.push((buffer, Some(id)));
        }
        for &bytes in node.scratch_bytes.iter().filter(|&&bytes| bytes > 0) {
            buffers.push((bytes, layout.alignment));
            members.push((buffers.len() - 1, None));
        }
        for &(lower, lower_id) in &members {
            for &(upper, upper_id) in &members {
                if lower == upper {
                    continue;
                }
                let sharing = lower_id.zip(upper_id).and_then(|(lower, upper)| {
                    let pair = |input, output| {
                        let mut pairs = granted.iter();
                        pairs.find(|pair| (pair.input, pair.output) == (input, output))
                    };
                    match pair(upper, lower).map(|pair| pair.sharing) {
                        Some(Sharing::Displaced(bytes)) => Some(bytes),
                        Some(Sharing::Alias) => Some(0),
                        None => pair(lower, upper)
                            .filter(|pair| pair.sharing == Sharing::Alias)
                            .map(|_| 0),
                    }
                });
                let full = buffers[lower].0;
                let distance = sharing.map_or(full, |bytes| bytes.min(full));
                let known = distances.entry((lower, upper)).or_insert(0);
                // Two that meet at several operators keep the distance of each.
                *known = distance.max(*known);
            }
        }
    }
    PairDistances::new(&buffers, &distances).ok()
}
