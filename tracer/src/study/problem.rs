//! A bare planning problem in the form of MiniMalloc, a .csv.

use super::error::{About, PlanError, StudyError};
use super::input;
use super::others::Planner;
use super::search_time::{STOPPED, within_time};
use super::session::{Session, Work};
use dmo_planner::budget::Budget;
use dmo_planner::minimalloc::Table;
use dmo_planner::plan::exact::{self, Decision};
use dmo_planner::plan::{Plan, STRATEGIES};
use dmo_planner::problem::Problem;
use std::path::Path;
use std::time::{Duration, Instant};

/// A problem of more bytes has more buffers than can be planned.
const MOST_BYTES: u64 = 64 << 20;

/// Whether the path is that of a problem, not of a model.
pub fn is_problem(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Reads a problem, and offsets where the file has them.
///
/// # Errors
/// When the file cannot be read, or is no such table.
pub fn read(path: &Path) -> Result<Table, StudyError> {
    let shown = path.display();
    let text = input::text(path, MOST_BYTES).about(format_args!("cannot read {shown}"))?;
    Table::parse(&text).about(shown)
}

/// A planned problem.
#[derive(Debug, Clone)]
pub struct PlannedProblem {
    /// Where the buffers lie.
    pub plan: Plan,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No arena is smaller, in bytes.
    pub bound_bytes: u64,
    /// What the search took.
    pub time: Duration,
}

/// The smallest plan of a table, which is looked for as if its buffers had no gaps; what is proven
/// takes them into account.
///
/// # Errors
/// Those of [`plan`].
pub fn plan_table(
    name: &str,
    table: &Table,
    capacity_bytes: Option<u64>,
    time: Duration,
    session: &Session,
) -> Result<PlannedProblem, PlanError> {
    let planned = plan(name, &table.problem, capacity_bytes, time, session)?;
    if !table.has_gaps() {
        return Ok(planned);
    }
    let invalid = || PlanError::InvalidPlan {
        problem: name.to_owned(),
    };
    let pieces = table.pieces().map_err(|_| invalid())?;
    let bound_bytes = pieces.lower_bound();
    Ok(PlannedProblem {
        bound_bytes,
        ..planned
    })
}

/// The smallest plan that is found in the time; one within the capacity is enough. `name` is that
/// of the problem.
///
/// # Errors
/// When what was found does not pass its check.
pub fn plan(
    name: &str,
    problem: &Problem,
    capacity_bytes: Option<u64>,
    time: Duration,
    session: &Session,
) -> Result<PlannedProblem, PlanError> {
    let start = Instant::now();
    let _running = session.begin(Work::Planning);
    let (plan, bound_bytes) = within_time(time, |budget| {
        let found = match capacity_bytes {
            None => {
                let best = exact::plan(problem, budget);
                (best.plan, best.bound_bytes)
            }
            Some(capacity) => within(problem, capacity, budget),
        };
        if budget.was_stopped() {
            session.progress.note(STOPPED);
        }
        found
    });
    let time = start.elapsed();
    if !plan.check(problem).is_empty() {
        let problem = name.to_owned();
        return Err(PlanError::InvalidPlan { problem });
    }
    Ok(PlannedProblem {
        arena_bytes: plan.arena_bytes(problem),
        plan,
        bound_bytes,
        time,
    })
}

/// A plan within the capacity if there is one, else the best heuristic; and what is proven.
fn within(problem: &Problem, capacity: u64, budget: &mut Budget<'_>) -> (Plan, u64) {
    let bound = problem.lower_bound();
    match exact::fit(problem, capacity, budget) {
        Decision::Possible(offsets) => (Plan { offsets }, bound),
        decision => {
            let best = exact::plan(problem, &mut Budget::of_work(0));
            let bound = match decision {
                Decision::Impossible => bound.max(capacity.saturating_add(1)),
                _ => bound,
            };
            (best.plan, bound)
        }
    }
}

/// What each planner without overlaps needs.
pub fn planners(problem: &Problem) -> Vec<Planner> {
    let rows = STRATEGIES.iter().filter(|strategy| !strategy.uses_overlaps);
    rows.filter_map(|strategy| Planner::of(strategy, problem))
        .collect()
}
