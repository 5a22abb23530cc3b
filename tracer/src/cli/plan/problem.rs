//! `dmo-trace plan FILE.csv`: a bare planning problem in the form of MiniMalloc.

use super::report::{Planner, planner_table};
use super::{Arguments, Verdict};
use crate::cli::{input, output, progress};
use anyhow::Context;
use dmo_analysis::wording::grouped;
use dmo_planner::plan::exact::{self, Budget, Decision};
use dmo_planner::plan::{Plan, STRATEGIES};
use dmo_planner::problem::Problem;
use dmo_planner::problem::minimalloc::Table;
use dmo_trace::words::report::Report;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct ProblemReport<'a> {
    problem: &'a str,
    buffers: usize,
    arena_bytes: u64,
    bound_bytes: u64,
    capacity_bytes: Option<u64>,
    seconds: f64,
    offsets: &'a [u64],
    planners: Vec<Planner>,
}

/// Whether the path is that of a problem, not of a model.
pub fn is_problem(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// A problem of more bytes has more buffers than can be planned.
const MOST_BYTES: u64 = 64 << 20;

/// Reads a problem, and offsets where the file has them.
pub fn read(path: &str) -> anyhow::Result<Table> {
    let text =
        input::text(Path::new(path), MOST_BYTES).with_context(|| format!("cannot read {path}"))?;
    Table::parse(&text).with_context(|| path.to_owned())
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let path = &arguments.model;
    anyhow::ensure!(
        arguments.plot.is_none() && arguments.region.is_empty() && arguments.fix.is_empty(),
        "{path}: --plot, --region and --fix are for models"
    );
    let problem = read(path)?.problem;
    for path in &arguments.emit {
        anyhow::ensure!(
            is_problem(&path.to_string_lossy()),
            "cannot emit {}: the plan of a .csv is a .csv",
            path.display()
        );
    }
    let start = Instant::now();
    let time = Duration::from_secs_f64(arguments.time);
    let bar = progress::spinner("planning");
    let mut stop = || start.elapsed() >= time;
    let budget = &mut Budget::new(&mut stop);
    let (plan, bound_bytes) = match arguments.capacity {
        None => {
            let best = exact::plan(&problem, budget);
            (best.plan, best.bound_bytes)
        }
        Some(capacity) => within(&problem, capacity, budget),
    };
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    anyhow::ensure!(
        plan.check(&problem).is_empty(),
        "{path}: the plan found does not pass its check: please report this"
    );
    for path in &arguments.emit {
        output::write(path, table(&problem, &plan).as_bytes())?;
    }
    let arena_bytes = plan.arena_bytes(&problem);
    let report = ProblemReport {
        problem: path,
        buffers: problem.buffers().len(),
        arena_bytes,
        bound_bytes,
        capacity_bytes: arguments.capacity,
        seconds,
        offsets: &plan.offsets,
        planners: planners(&problem),
    };
    output::report(&report, arguments.json)?;
    Ok(match arguments.capacity {
        Some(capacity) if arena_bytes > capacity => Verdict::Fails,
        _ => Verdict::Holds,
    })
}

/// A plan within the capacity if there is one, else the best heuristic; and what is proven.
fn within(problem: &Problem, capacity: u64, budget: &mut Budget<'_>) -> (Plan, u64) {
    let bound = problem.lower_bound();
    match exact::fit(problem, capacity, budget) {
        Decision::Possible(offsets) => (Plan { offsets }, bound),
        decision => {
            let mut never = || true;
            let best = exact::plan(problem, &mut Budget::new(&mut never));
            let bound = match decision {
                Decision::Impossible => bound.max(capacity.saturating_add(1)),
                _ => bound,
            };
            (best.plan, bound)
        }
    }
}

fn planners(problem: &Problem) -> Vec<Planner> {
    let rows = STRATEGIES.iter().filter(|strategy| !strategy.uses_overlaps);
    rows.filter_map(|strategy| Planner::of(strategy, problem))
        .collect()
}

impl Report for ProblemReport<'_> {
    const SCHEMA: &'static str = "dmo-trace/problem/1";

    fn text(&self) -> String {
        let bytes = grouped(self.arena_bytes);
        let proof = if self.arena_bytes == self.bound_bytes {
            "proven: no placement needs less".to_owned()
        } else if self
            .capacity_bytes
            .is_some_and(|capacity| self.bound_bytes > capacity)
        {
            format!(
                "the best found; proven: at least {} are needed",
                grouped(self.bound_bytes)
            )
        } else {
            format!("at least {} are needed", grouped(self.bound_bytes))
        };
        let capacity = match self.capacity_bytes {
            None => String::new(),
            Some(capacity) if self.arena_bytes <= capacity => {
                format!("Capacity: {} bytes, it fits\n", grouped(capacity))
            }
            Some(capacity) => format!("Capacity: {} bytes, NO PLAN FOUND\n", grouped(capacity)),
        };
        format!(
            "{}: {} buffers\n\nArena: {bytes} bytes, {proof}\n{capacity}Time: {:.2} s\n\n{}\n",
            self.problem,
            self.buffers,
            self.seconds,
            planner_table(&self.planners, self.arena_bytes),
        )
    }
}

/// As `id,lower,upper,size,offset`.
fn table(problem: &Problem, plan: &Plan) -> String {
    let mut text = "id,lower,upper,size,offset\n".to_owned();
    for (buffer, offset) in problem.buffers().iter().zip(&plan.offsets) {
        text += &format!(
            "{},{},{},{},{offset}\n",
            buffer.name, buffer.alive.start, buffer.alive.end, buffer.size_bytes
        );
    }
    text
}
