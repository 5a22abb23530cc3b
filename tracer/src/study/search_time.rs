//! The time that a user gives a search, as its budget.

use dmo_planner::budget::{Budget, work_in};
use std::time::{Duration, Instant};

/// What a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchTime {
    /// It gets the work that takes about this long on an idle machine.
    pub work: Duration,
    /// It ends after this time in any case.
    pub limit: Duration,
}

impl SearchTime {
    /// The work of this time, also where the machine has more to do.
    pub fn patient(work: Duration) -> Self {
        Self {
            work,
            limit: 10 * work,
        }
    }
}

impl From<Duration> for SearchTime {
    fn from(time: Duration) -> Self {
        Self {
            work: time,
            limit: time,
        }
    }
}

/// Runs a search with the work that is granted for this time, which ends it in any case: so what it
/// finds is the same on every machine, but for slow ones, whose searches are
/// [stopped](Budget::was_stopped).
pub fn within_time<R>(time: impl Into<SearchTime>, search: impl FnOnce(&mut Budget<'_>) -> R) -> R {
    let SearchTime { work, limit } = time.into();
    let start = Instant::now();
    let stop = || start.elapsed() >= limit;
    search(&mut Budget::new(work_in(work.as_secs_f64()), &stop))
}

/// What is said of a result whose search was stopped by the clock.
pub const STOPPED: &str = "the search ran out of time before it had done its work: what it found \
                           depends on the machine; more --time finds more";
