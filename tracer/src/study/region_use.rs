//! How much of each memory a plan uses, and how often it is accessed.

use dmo_analysis::handover::PlannedRegion;
use dmo_planner::regions::ArenaRegion;
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// A memory of a plan in an inference.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RegionUse {
    /// The memory.
    #[serde(flatten)]
    pub region: ArenaRegion,
    /// How much of it is used, in bytes.
    pub used_bytes: u64,
    /// Accesses that the plan was made with; `None` if they are not known.
    pub planned_accesses: Option<u64>,
    /// Accesses that were counted where the model ran in the plan.
    pub accesses: u64,
}

impl RegionUse {
    /// Cycles that the core waits for it: all that an access takes but the first.
    pub fn wait_cycles(&self) -> u64 {
        let each = u64::from(self.region.access_cost.saturating_sub(1));
        self.accesses.saturating_mul(each)
    }
}

/// Counts the accesses to each of several memories, by offsets in the arena that they make.
#[derive(Debug, Clone)]
pub(super) struct RegionAccesses(Rc<[(Range<u32>, Cell<u64>)]>);

impl RegionAccesses {
    /// None of any so far.
    pub fn of(regions: &[PlannedRegion]) -> Self {
        let extents = regions.iter();
        let extents = extents.map(|it| (it.start as u32..it.end() as u32, Cell::new(0)));
        Self(extents.collect())
    }

    /// There is something to count.
    pub fn are_several(&self) -> bool {
        !self.0.is_empty()
    }

    /// One more at this offset.
    pub fn add(&self, offset: u32) {
        let mut known = self.0.iter();
        if let Some((_, count)) = known.find(|(extent, _)| extent.contains(&offset)) {
            count.set(count.get() + 1);
        }
    }

    /// How many there were, in the order of the memories.
    pub fn counts(&self) -> Vec<u64> {
        self.0.iter().map(|(_, count)| count.get()).collect()
    }
}
