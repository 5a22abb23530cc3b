//! Bounds on a run.

use super::FaultCause;
use dmo_analysis::trace::Time;
use std::time::{Duration, Instant};

/// Bounds on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Executed instructions.
    pub max_instructions: u64,
    /// Real time.
    pub timeout: Duration,
}

/// Instructions and time that a machine may still use, see [`super::Machine::limits_left`].
pub struct LimitsLeft {
    limits: Limits,
    last_instruction: Time,
    deadline: Option<Instant>,
    time: Time,
    instant: Instant,
}

/// Limits in force, with the points that they amount to.
pub(super) struct Allowance {
    limits: Limits,
    /// The time at which the limit of instructions is reached.
    pub(super) last_instruction: Time,
    /// Real time runs from the first run on.
    deadline: Option<Instant>,
}

impl Allowance {
    /// Limits that count from the program's first instruction on.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            last_instruction: limits.max_instructions,
            deadline: None,
        }
    }

    /// Limits that count from now on.
    pub(super) fn renew(&mut self, limits: Limits, now: Time) {
        *self = Self {
            last_instruction: now.saturating_add(limits.max_instructions),
            ..Self::new(limits)
        };
    }

    pub(super) fn left(&self, now: Time) -> LimitsLeft {
        LimitsLeft {
            limits: self.limits,
            last_instruction: self.last_instruction,
            deadline: self.deadline,
            time: now,
            instant: Instant::now(),
        }
    }

    pub(super) fn resume(&mut self, left: &LimitsLeft, now: Time) {
        let meanwhile = now - left.time;
        *self = Self {
            limits: left.limits,
            last_instruction: left.last_instruction.saturating_add(meanwhile),
            deadline: left
                .deadline
                .and_then(|deadline| deadline.checked_add(left.instant.elapsed())),
        };
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Instant::now().checked_add(self.limits.timeout);
        }
    }

    /// That the limit of instructions is reached.
    pub(super) fn out_of_instructions(&self) -> FaultCause {
        FaultCause::InstructionLimit {
            limit: self.limits.max_instructions,
        }
    }

    /// The limit of real time, once it is reached.
    pub(super) fn out_of_time(&self) -> Option<FaultCause> {
        let limit = self.limits.timeout;
        let is_over = self
            .deadline
            .is_some_and(|deadline| Instant::now() > deadline);
        is_over.then_some(FaultCause::Timeout { limit })
    }
}
