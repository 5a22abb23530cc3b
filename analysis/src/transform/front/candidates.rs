//! Which runs may be split, and how.

use super::Search;
use crate::graph::{Graph, OperatorId};
use crate::transform::region::{Region, part};
use std::cmp::Reverse;
use std::ops::Range;

/// Longer runs recompute more than they save.
const MOST_OPERATORS: usize = 32;

/// Operators that follow each other.
pub(super) struct Run {
    /// Which of the order.
    pub(super) steps: Range<usize>,
    /// It is of no use to need less: something that cannot be split needs so much, in bytes.
    pub(super) least_bytes: u64,
}

/// All runs that may help, those of the operators that need most first, and of these the
/// shortest. `needs` are the bytes of each step of the order.
pub(super) fn runs(graph: &Graph, order: &[OperatorId], needs: &[u64]) -> Vec<Run> {
    let fits: Vec<bool> = order.iter().map(|&one| is_spatial(graph, one)).collect();
    let whole = needs.iter().zip(&fits).filter(|(_, fits)| !**fits);
    let least_bytes = whole.map(|(bytes, _)| *bytes).max().unwrap_or(0);
    let mut found = Vec::new();
    for first in 0..order.len() {
        let behind = fits[first..].iter().take(MOST_OPERATORS);
        let longest = behind.take_while(|fits| **fits).count();
        for end in first + 1..=first + longest {
            let most = needs[first..end].iter().copied().max().unwrap_or(0);
            if most > least_bytes {
                let steps = first..end;
                found.push((most, Run { steps, least_bytes }));
            }
        }
    }
    found.sort_by_key(|(most, run)| (Reverse(*most), run.steps.len()));
    found.into_iter().map(|(_, run)| run).collect()
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

/// The grids to be tried on a run, from the coarsest on: bands; and patches, which are squares,
/// or twice as long or wide.
pub(super) fn grids(search: &Search<'_>, run: &[OperatorId]) -> [Vec<[u32; 2]>; 2] {
    let last = run.last().map(|last| &search.graph.operators[last.0]);
    let shape = last.and_then(|node| search.graph.tensor(*node.outputs.first()?).shape.get(1..3));
    let Some(&[height, width]) = shape else {
        return [Vec::new(), Vec::new()];
    };
    let bands = PARTS.iter().map(|&rows| [rows, 1]);
    let bands = bands.chain((!PARTS.contains(&height)).then_some([height, 1]));
    let patches = PARTS[..8].iter().flat_map(|&columns| {
        let rows = [columns.div_ceil(2), columns, 2 * columns];
        rows.map(|rows| [rows, columns])
    });
    let bands: Vec<[u32; 2]> = bands.filter(|grid| search.bands && grid[0] > 1).collect();
    let patches: Vec<[u32; 2]> = patches
        .filter(|grid| search.patches && grid[1] > 1)
        .collect();
    [bands, patches].map(|mut grids| {
        grids.retain(|grid| grid[0] <= height && grid[1] <= width);
        grids.sort_unstable_by_key(|grid| (grid[0] * grid[1], grid[0]));
        grids.dedup();
        grids
    })
}
