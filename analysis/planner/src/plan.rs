//! Where each buffer lies in the arena, and the planners that decide it.
//!
//! A planner sees a [`Problem`] and gives a [`Plan`]; [`STRATEGIES`] lists those that need
//! no time limit, and [`exact`] is the one that proves what it finds. Whoever uses a plan
//! has it checked by [`Plan::check`], which knows no planner.
//!
//! | planner | file |
//! |---|---|
//! | shared objects: Greedy by Size, by Size Improved, by Breadth (Pisarchyk and Lee) | `objects.rs` |
//! | shared objects: Greedy and min-cost flow (Lee et al.) | `lee.rs` |
//! | offsets: Greedy by Size, by Breadth (Pisarchyk and Lee), Greedy (Lee et al.) | `offsets.rs` |
//! | strip packing, best fit (Sekiyama et al.) | `strip_packing.rs` |
//! | TensorFlow Lite Micro's planner | `tflm.rs` |
//! | modified heap, forwards and backwards (Blacker et al.) | `heap.rs` |
//! | our own: constructive with overlaps | `stack.rs` |
//! | our own: exact | `exact.rs` |
//!
//! [`objects`] and [`offsets`] also have variants of the published planners, for what their
//! texts leave open.

mod check;
pub mod exact;
mod heap;
mod lee;
pub mod objects;
pub mod offsets;
mod placement;
mod stack;
mod strategy;
mod strip_packing;
pub mod tflm;

pub use check::{Violation, ViolationKind};
pub use strategy::{Family, STRATEGIES, Strategy};

use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// An offset in bytes for each buffer of a problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
