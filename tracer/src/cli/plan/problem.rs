//! `dmo-trace plan FILE.csv`: a bare planning problem in the form of MiniMalloc.

use super::{Arguments, Verdict};
use crate::cli::output;
use crate::cli::progress::Bars;
use dmo_analysis::wording::grouped;
use dmo_planner::minimalloc;
use dmo_trace::study::others::Planner;
use dmo_trace::study::problem::{is_problem, plan_table, planners, read};
use dmo_trace::study::session::Cache;
use dmo_trace::words::plan::planner_table;
use dmo_trace::words::report::Report;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(JsonSchema, Serialize)]
pub struct ProblemReport<'a> {
    problem: &'a str,
    buffers: usize,
    arena_bytes: u64,
    bound_bytes: u64,
    capacity_bytes: Option<u64>,
    seconds: f64,
    offsets: &'a [u64],
    #[serde(skip_serializing_if = "Option::is_none")]
    planners: Option<Vec<Planner>>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let path = &arguments.model.to_string_lossy();
    let read = read(arguments.model.as_ref())?;
    let problem = &read.problem;
    for path in &arguments.out {
        anyhow::ensure!(
            is_problem(path),
            "cannot write {}: the plan of a .csv is a .csv",
            path.display()
        );
    }
    let session = Bars::session(Cache::default());
    let capacity = arguments.capacity;
    let planned = plan_table(path, &read, capacity, arguments.time.0, &session)?;
    let table = minimalloc::table_with_gaps(problem, &read.gaps, Some(&planned.plan))?;
    let files = arguments.out.iter();
    let files = files.map(|path| (path.as_path(), table.as_bytes()));
    let bare = minimalloc::table_with_gaps(problem, &read.gaps, None)?;
    let problem_file = arguments.problem.iter();
    let problem_file = problem_file.map(|path| (path.as_path(), bare.as_bytes()));
    output::write_all(files.chain(problem_file))?;
    let arena_bytes = planned.arena_bytes;
    let report = ProblemReport {
        problem: path,
        buffers: problem.buffers().len(),
        arena_bytes,
        bound_bytes: planned.bound_bytes,
        capacity_bytes: capacity,
        seconds: planned.time.as_secs_f64(),
        offsets: &planned.plan.offsets,
        planners: arguments.compare.then(|| planners(problem)),
    };
    output::report(&report, arguments.json)?;
    Ok(capacity
        .is_none_or(|capacity| arena_bytes <= capacity)
        .into())
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
        let planners = self.planners.as_ref();
        let planners = planners.map(|them| planner_table(them, self.arena_bytes) + "\n\n");
        format!(
            "{}: {} buffers\n\n{}Time: {:.2} s\nArena: {bytes} bytes, {proof}\n{capacity}",
            self.problem,
            grouped(self.buffers as u64),
            planners.unwrap_or_default(),
            self.seconds,
        )
    }
}
