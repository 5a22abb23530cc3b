//! Buffers in several memories: as much as possible in the first, fastest one, what does not
//! fit in the next.
//!
//! Which buffers move out is a heuristic: of the step that overflows most, the smallest one
//! that is large enough; then each that fits after all comes back. So the bytes that move out
//! are few, and not proven to be the fewest. Whether a set of buffers fits into a memory is
//! decided exactly.

use crate::budget::Budget;
use crate::plan::Plan;
use crate::plan::exact::{self, Decision};
use crate::problem::{Problem, Section};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use thiserror::Error;

/// A memory that is a part of the arena.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ArenaRegion {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub capacity_bytes: u64,
}

/// Where a buffer lies: in which region, and where in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RegionOffset {
    /// Index of the region.
    pub region: usize,
    /// First byte in it.
    pub offset: u64,
}

/// Why buffers cannot be placed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegionsError {
    /// Some are left over when the last region is full.
    #[error(
        "no plan was found within the regions: for {left} of the buffers, {bytes} bytes together, \
         there is no room beside the others; the largest, {largest:?}, has {largest_bytes} bytes"
    )]
    NoRoom {
        /// How many.
        left: usize,
        /// Their sizes together.
        bytes: u64,
        /// Name of the largest.
        largest: String,
        /// Its size.
        largest_bytes: u64,
    },
}

/// Steps that a decision may take.
const NODES: u64 = 20_000;

/// A place for each buffer, each region filled before the next one is begun.
///
/// # Errors
/// When the regions are too small, as far as the search sees.
pub fn assign(
    problem: &Problem,
    regions: &[ArenaRegion],
    budget: &mut Budget<'_>,
) -> Result<Vec<RegionOffset>, RegionsError> {
    let buffers = problem.buffers();
    let mut places: Vec<Option<RegionOffset>> = vec![None; buffers.len()];
    let mut left: Vec<usize> = (0..buffers.len()).collect();
    for (region, memory) in regions.iter().enumerate() {
        let (kept, plan) = fill(problem, &left, memory.capacity_bytes, budget);
        for (&buffer, &offset) in kept.iter().zip(&plan.offsets) {
            places[buffer] = Some(RegionOffset { region, offset });
        }
        left.retain(|&buffer| places[buffer].is_none());
    }
    let largest = left
        .iter()
        .max_by_key(|&&buffer| buffers[buffer].size_bytes);
    match largest {
        None => Ok(places.into_iter().flatten().collect()),
        Some(&largest) => Err(RegionsError::NoRoom {
            left: left.len(),
            bytes: left.iter().map(|&buffer| buffers[buffer].size_bytes).sum(),
            largest: buffers[largest].name.clone(),
            largest_bytes: buffers[largest].size_bytes,
        }),
    }
}

/// Which of the buffers stay in a memory of this capacity, and where.
fn fill(
    problem: &Problem,
    buffers: &[usize],
    capacity: u64,
    budget: &mut Budget<'_>,
) -> (Vec<usize>, Plan) {
    let mut kept = buffers.to_vec();
    let mut moved = Vec::new();
    let mut plan = loop {
        if let Some(plan) = fit(problem, &kept, capacity, budget) {
            break plan;
        }
        let Some(position) = overflowing(problem, &kept, capacity) else {
            break Plan {
                offsets: Vec::new(),
            };
        };
        moved.push(kept.remove(position));
    };
    moved.sort_by_key(|&buffer| Reverse(problem.buffers()[buffer].size_bytes));
    for buffer in moved {
        let mut more = kept.clone();
        more.push(buffer);
        if let Some(found) = fit(problem, &more, capacity, budget) {
            (kept, plan) = (more, found);
        }
    }
    (kept, plan)
}

fn fit(problem: &Problem, kept: &[usize], capacity: u64, budget: &mut Budget<'_>) -> Option<Plan> {
    let part = problem.subset(kept);
    match exact::decide(&part, capacity, NODES, budget) {
        Decision::Possible(offsets) => Some(Plan { offsets }),
        Decision::Impossible | Decision::Unknown => None,
    }
}

/// Position in `kept` of the buffer that relieves the widest section: the smallest that does
/// it alone, else the largest.
fn overflowing(problem: &Problem, kept: &[usize], capacity: u64) -> Option<usize> {
    let part = problem.subset(kept);
    let sections = part.sections();
    let bound = |section: &&Section| part.section_bound(section);
    let widest = sections.iter().max_by_key(bound)?;
    let excess = bound(&widest).saturating_sub(capacity).max(1);
    let size = |&position: &usize| part.buffers()[position].size_bytes;
    let enough = widest.alive.iter().copied();
    enough
        .filter(|position| size(position) >= excess)
        .min_by_key(size)
        .or_else(|| widest.alive.iter().copied().max_by_key(size))
}
