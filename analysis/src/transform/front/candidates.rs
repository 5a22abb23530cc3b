//! Which runs may be split, and how.

use super::Search;
use super::cuts::Step;
use crate::graph::OperatorId;
use crate::operator::Shape;
use crate::transform::Split;

/// Longer runs recompute more than they save.
pub(super) const MOST_OPERATORS: usize = 32;

/// What the steps need that cannot be split: it is of no use to need less. `needs` are the bytes
/// of each step.
pub(super) fn least_bytes(steps: &[Option<Step<'_>>], needs: &[u64]) -> u64 {
    let whole = needs.iter().zip(steps).filter(|(_, step)| step.is_none());
    whole.map(|(bytes, _)| *bytes).max().unwrap_or(0)
}

/// Numbers of tiles along an axis.
const PARTS: [u32; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64];

/// How a run is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tiling {
    /// Tiles along the rows and along the columns.
    pub(super) grid: [u32; 2],
    /// Rows are kept for the next tile.
    pub(super) cached: bool,
}

impl Tiling {
    /// The run of these operators.
    pub(super) fn split(self, operators: &[OperatorId]) -> Split {
        Split {
            operators: operators.to_vec(),
            grid: self.grid,
            cached: self.cached,
        }
    }
}

/// The tilings to be tried on runs with an output of this shape, from the coarsest on: bands; patches,
/// which are squares, or twice as long or wide; and bands that keep rows.
pub(super) fn tilings(search: &Search<'_>, output: Shape) -> Vec<Tiling> {
    let [_, height, width, _] = output;
    let bands = PARTS.iter().map(|&rows| [rows, 1]);
    let bands = bands.chain((!PARTS.contains(&height)).then_some([height, 1]));
    let bands: Vec<[u32; 2]> = bands.filter(|grid| grid[0] > 1).collect();
    let patches = PARTS[..8].iter().flat_map(|&columns| {
        let rows = [columns.div_ceil(2), columns, 2 * columns];
        rows.map(|rows| [rows, columns])
    });
    let patches: Vec<[u32; 2]> = patches.filter(|grid| grid[1] > 1).collect();
    let kinds = [
        (search.bands, bands.clone(), false),
        (search.patches, patches, false),
        (search.cached, bands, true),
    ];
    let tilings = kinds.into_iter().filter(|(is_allowed, ..)| *is_allowed);
    let tilings = tilings.flat_map(|(_, mut grids, cached)| {
        grids.retain(|grid| grid[0] <= height && grid[1] <= width);
        grids.sort_unstable_by_key(|grid| (grid[0] * grid[1], grid[0]));
        grids.dedup();
        grids.into_iter().map(move |grid| Tiling { grid, cached })
    });
    tilings.collect()
}
