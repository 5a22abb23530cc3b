//! Buffers in several memories, so that what is accessed most lies where an access costs least.
//!
//! | module | what it holds |
//! |---|---|
//! | `problem` | buffers, regions, what is accessed how often, what is pinned where |
//! | `check` | the check of a plan, which knows no search |
//! | `error` | what can be wrong with a problem, and why there is no plan |
//! | `diagram` | what the buffers that are still to come cost at least |
//! | `packing` | whether buffers fit into a region, exactly |
//! | `search` | the least cost, with proof |
//!
//! The cost of a plan is the sum over all buffers of their accesses times the cost of an access
//! in their region. [`place`] begins with all buffers in one region that takes them, if there is
//! one, and moves them to cheaper ones. Then it decides the buffers in the order in which they
//! come to life. What the rest costs at least is known beforehand, from a relaxation in which each
//! step by itself has to fit into the regions; so the search goes straight to an assignment that
//! is the best of that relaxation. Where a region's buffers then fit at all steps together, which
//! is decided exactly, that is the proof. Where they do not, the fewest of them that do not fit
//! are never again put into that region together.

mod check;
mod diagram;
mod error;
mod packing;
mod problem;
mod search;

pub use check::{RegionViolation, RegionViolationKind};
pub use error::{NoRoom, RegionsError};
pub use problem::RegionProblem;
pub use search::{place, place_from};

use serde::{Deserialize, Serialize};

/// No plan has more regions.
pub const MOST_REGIONS: usize = 16;

/// A memory that holds a part of the arena.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ArenaRegion {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub capacity_bytes: u64,
    /// What an access costs: the cycles that it takes, at least 1.
    #[serde(default = "one_cycle")]
    pub access_cost: u32,
    /// Offsets in it are multiples of this many bytes, at least 1.
    #[serde(default = "any_offset")]
    pub alignment: u64,
}

fn one_cycle() -> u32 {
    1
}

fn any_offset() -> u64 {
    1
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

/// A place for each buffer of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionPlan {
    /// In the order of the problem's buffers.
    pub places: Vec<RegionOffset>,
}

/// The best plan found and what is proven of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionOptimum {
    /// The plan.
    pub plan: RegionPlan,
    /// What all accesses cost.
    pub cost: u64,
    /// No plan costs less.
    pub bound: u64,
}

impl RegionOptimum {
    /// Whether the plan is proven to be the best.
    pub fn is_optimal(&self) -> bool {
        self.cost == self.bound
    }
}
