//! Where each buffer lies in the arena, and the planners that decide it.
//!
//! A planner sees a [`Problem`] and gives a [`Plan`]; [`STRATEGIES`] lists those that need
//! no time limit, with their authors and the function that is each of them, and [`exact`] is
//! the one that proves what it finds. Whoever uses a plan has it checked by [`Plan::check`],
//! which knows no planner.
//!
//! To add a planner: a file with a function from [`Problem`] to [`Plan`], which places its
//! buffers in a `Placement` (`placement.rs`), its `mod` here, and a row in [`STRATEGIES`].
//!
//! [`objects`] and [`offsets`] also have variants of the published planners, for what their
//! texts leave open.

mod chain;
mod check;
pub mod exact;
mod heap;
mod lee;
pub mod objects;
pub mod offsets;
mod peak;
pub(crate) mod placement;
mod stack;
mod strategy;
mod strip_packing;
pub mod tflm;

pub use chain::peak_buffers;
pub use check::{Violation, ViolationKind};
pub use peak::Peak;
pub use strategy::{Family, STRATEGIES, Strategy};

use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// An offset in bytes for each buffer of a problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Plan {
    /// In the order of [`Problem::buffers`].
    pub offsets: Vec<u64>,
}

impl Plan {
    /// Size of the arena in bytes: the highest end of a buffer.
    pub fn arena_bytes(&self, problem: &Problem) -> u64 {
        let buffers = problem.buffers().iter().zip(&self.offsets);
        let ends = buffers.map(|(buffer, offset)| offset + buffer.size_bytes);
        ends.max().unwrap_or(0)
    }
}
