//! Which runs may be split, and how.

use super::Search;
use crate::graph::{Graph, OperatorId};
use crate::transform::Recipe;
use crate::transform::region::{Region, part};
use std::collections::HashSet;

/// Longer runs recompute more than they save.
const MOST_OPERATORS: usize = 32;

/// Runs of operators that follow each other, hold one of the operators of the peak, and have
/// nothing in common with the recipe's; the shortest first.
pub(super) fn runs(
    graph: &Graph,
    order: &[OperatorId],
    recipe: &Recipe,
    peak: &[OperatorId],
) -> Vec<Vec<OperatorId>> {
    let taken: HashSet<OperatorId> = recipe
        .splits
        .iter()
        .flat_map(|split| split.operators.iter().copied())
        .collect();
    let fits = |operator: &OperatorId| !taken.contains(operator) && is_spatial(graph, *operator);
    let Some(at) = peak
        .iter()
        .filter_map(|operator| order.iter().position(|other| other == operator))
        .find(|&at| fits(&order[at]))
    else {
        return Vec::new();
    };
    let before = order[..at].iter().rev().take_while(|one| fits(one)).count();
    let behind = order[at..].iter().take_while(|one| fits(one)).count();
    let mut found: Vec<Vec<OperatorId>> = Vec::new();
    for first in at - before..=at {
        for end in at + 1..=at + behind {
            if end - first <= MOST_OPERATORS {
                found.push(order[first..end].to_vec());
            }
        }
    }
    found.sort_by_key(Vec::len);
    found
}

/// Whether a part of its output needs a part of its inputs only.
fn is_spatial(graph: &Graph, operator: OperatorId) -> bool {
    let Some(kernel) = &graph.operators[operator.0].kernel else {
        return false;
    };
    let [output] = kernel.outputs[..] else {
        return false;
    };
    let shape: Option<[u32; 4]> = graph.tensor(output).shape.as_slice().try_into().ok();
    let Some(shape) = shape.filter(|shape| shape[0] == 1 && shape[1] * shape[2] > 1) else {
        return false;
    };
    part(&kernel.operator, shape, &Region::whole(shape)).is_some()
}

/// Numbers of tiles along an axis.
const PARTS: [u32; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64];

/// The grids to be tried on a run: bands, then squares and what is twice as long.
pub(super) fn grids(search: &Search<'_>, run: &[OperatorId]) -> Vec<[u32; 2]> {
    let last = run.last().map(|last| &search.graph.operators[last.0]);
    let shape = last.and_then(|node| search.graph.tensor(*node.outputs.first()?).shape.get(1..3));
    let Some(&[height, width]) = shape else {
        return Vec::new();
    };
    let bands = PARTS.iter().map(|&rows| [rows, 1]);
    let bands = bands.chain((!PARTS.contains(&height)).then_some([height, 1]));
    let patches = PARTS[..8].iter().flat_map(|&columns| {
        let rows = [columns.div_ceil(2), columns, 2 * columns];
        rows.map(|rows| [rows, columns])
    });
    let bands = bands.filter(|grid| search.bands && grid[0] > 1);
    let patches = patches.filter(|grid| search.patches && grid[1] > 1);
    let mut grids: Vec<[u32; 2]> = bands.chain(patches).collect();
    grids.retain(|grid| grid[0] <= height && grid[1] <= width);
    grids.sort_unstable();
    grids.dedup();
    grids
}
