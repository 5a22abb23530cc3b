//! Limits of a search, and who hears of its progress.

use super::{Limits, Progress};
use crate::schedule::memory::Memory;
use dmo_planner::budget::Budget;

/// Between two reports.
const STATES_BETWEEN: u64 = 128;

/// What is left of the limits and of the caller's budget.
pub(super) struct SearchBudget<'a, 'b> {
    limits: Limits,
    work: &'a mut Budget<'b>,
    progress: &'a mut dyn FnMut(Progress),
    states: u64,
    spent: bool,
}

impl<'a, 'b> SearchBudget<'a, 'b> {
    pub(super) fn new(
        limits: Limits,
        work: &'a mut Budget<'b>,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Self {
        Self {
            limits,
            work,
            progress,
            states: 0,
            spent: false,
        }
    }

    /// Whether one more state may be visited, when those so far take this much space;
    /// `u64::MAX` is too much whatever the limit.
    pub(super) fn visit(
        &mut self,
        memory: &mut Memory<'_>,
        space_bytes: u64,
        peak_bytes: u64,
        bound_bytes: u64,
    ) -> bool {
        self.spent |= self.states >= self.limits.states
            || space_bytes > self.limits.memory_bytes.min(u64::MAX - 1);
        if self.has_work(memory) && self.states.is_multiple_of(STATES_BETWEEN) {
            self.report(peak_bytes, bound_bytes);
        }
        self.states += u64::from(!self.spent);
        !self.spent
    }

    /// Whether there is work left after what was done so far.
    pub(super) fn has_work(&mut self, memory: &mut Memory<'_>) -> bool {
        self.spent |= self.work.spend(1 + memory.take_work());
        !self.spent
    }

    pub(super) fn report(&mut self, peak_bytes: u64, bound_bytes: u64) {
        (self.progress)(Progress {
            states: self.states,
            peak_bytes,
            bound_bytes,
        });
    }
}
