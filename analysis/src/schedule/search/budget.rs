//! Limits of a search, and who is told of its progress.

use super::{Limits, Progress};
use std::time::{Duration, Instant};

/// Between two looks at the clock.
const STATES_BETWEEN: u64 = 128;
/// Between two reports.
const TIME_BETWEEN: Duration = Duration::from_millis(100);

/// What is left of the limits.
pub(super) struct Budget<'a> {
    limits: Limits,
    progress: &'a mut dyn FnMut(Progress),
    begin: Instant,
    reported: Instant,
    states: u64,
    spent: bool,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: Limits, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let begin = Instant::now();
        Self {
            limits,
            progress,
            begin,
            reported: begin,
            states: 0,
            spent: false,
        }
    }

    /// Whether one more state may be visited, when those so far take this much memory;
    /// `u64::MAX` is too much whatever the limit.
    pub(super) fn visit(&mut self, memory_bytes: u64, peak_bytes: u64, bound_bytes: u64) -> bool {
        self.spent |= self.states >= self.limits.states
            || memory_bytes > self.limits.memory_bytes.min(u64::MAX - 1);
        if self.states.is_multiple_of(STATES_BETWEEN) && self.in_time() {
            let now = Instant::now();
            if now.duration_since(self.reported) >= TIME_BETWEEN {
                self.reported = now;
                self.report(peak_bytes, bound_bytes);
            }
        }
        self.states += u64::from(!self.spent);
        !self.spent
    }

    /// Whether there is time left.
    pub(super) fn in_time(&mut self) -> bool {
        self.spent |= self.begin.elapsed() >= self.limits.time;
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
