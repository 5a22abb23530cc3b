//! The time that a user gives a search, as its budget.

use dmo_planner::budget::{Budget, work_in};
use std::time::{Duration, Instant};

/// Runs a search with the work that is granted for this time, which ends it in any case: so what it
/// finds is the same on every machine, but for slow ones, whose searches are
/// [stopped](Budget::was_stopped).
pub fn within_time<R>(time: Duration, search: impl FnOnce(&mut Budget<'_>) -> R) -> R {
    let start = Instant::now();
    let stop = || start.elapsed() >= time;
    search(&mut Budget::new(work_in(time.as_secs_f64()), &stop))
}

/// What is said of a result whose search was stopped by the clock.
pub const STOPPED: &str = "the search ran out of time before it had done its work: what it found \
                           depends on the machine; more --time finds more";
