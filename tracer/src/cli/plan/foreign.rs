//! `dmo-trace plan FILE.json`: the plan of another tool, made anew.

use super::{Arguments, Verdict};
use crate::cli::output;
use crate::cli::progress::Bars;
use dmo_analysis::foreign::Memory;
use dmo_analysis::wording::{counted, grouped};
use dmo_planner::minimalloc;
use dmo_planner::plan::Plan;
use dmo_trace::study::error::{EmitReason, StudyError};
use dmo_trace::study::foreign::{ForeignFile, Renewed};
use dmo_trace::study::problem::is_problem;
use dmo_trace::study::session::Cache;
use dmo_trace::words::report::Report;
use dmo_trace::words::table;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

#[derive(JsonSchema, Serialize)]
pub struct RenewalReport<'a> {
    file: &'a str,
    /// The tool that has made the plan.
    tool: &'static str,
    memories: Vec<RenewedMemory<'a>>,
    capacity_bytes: Option<u64>,
    /// Whether each memory is within the capacity, where one is given.
    fits: Option<bool>,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
struct RenewedMemory<'a> {
    name: &'a str,
    /// Buffers after those that are one were counted once.
    buffers: usize,
    /// What the tool's plan needs.
    tool_bytes: u64,
    /// Whether buffers share bytes in the tool's plan that are in use at the same time, as far as the
    /// file says.
    is_unexplained: bool,
    arena_bytes: u64,
    bound_bytes: u64,
    /// How many pairs overlap in part in the tool's plan, which this one keeps apart.
    kept_apart: usize,
    /// Of the tool's buffers.
    offsets: Vec<u64>,
}

impl<'a> RenewedMemory<'a> {
    fn new(memory: &'a Memory, renewed: &Renewed) -> Self {
        let Renewed { renewal, planned } = renewed;
        Self {
            name: &memory.name,
            buffers: renewal.problem.buffers().len(),
            tool_bytes: memory.used_bytes(),
            is_unexplained: !memory.faults().is_empty(),
            arena_bytes: planned.arena_bytes,
            bound_bytes: planned.bound_bytes,
            kept_apart: renewal.kept_apart,
            offsets: renewal.offsets(&planned.plan),
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let file = ForeignFile::read(arguments.model.as_ref())?;
    let session = Bars::session(Cache::default());
    let renewed = file.renew(arguments.time.0, &session)?;
    let mut files = Vec::new();
    for path in &arguments.out {
        files.push((path.as_path(), content(path, &file, &renewed)?));
    }
    if let Some(path) = &arguments.problem {
        files.push((path, problem(path, &renewed, false)?));
    }
    output::write_all(files.iter().map(|(path, text)| (*path, text.as_bytes())))?;
    let memories = file.plan.memories.iter().zip(&renewed);
    let memories = memories.map(|(memory, renewed)| RenewedMemory::new(memory, renewed));
    let memories: Vec<RenewedMemory<'_>> = memories.collect();
    let most = memories.iter().map(|memory| memory.arena_bytes).max();
    let capacity = arguments.capacity;
    let fits = capacity.map(|capacity| most.unwrap_or(0) <= capacity);
    let seconds = renewed.iter().map(|one| one.planned.time.as_secs_f64());
    let report = RenewalReport {
        file: &file.name,
        tool: file.plan.tool.name(),
        memories,
        capacity_bytes: capacity,
        fits,
        seconds: seconds.sum(),
    };
    output::report(&report, arguments.json)?;
    Ok((fits != Some(false)).into())
}

/// What is written into a file of --out.
fn content(path: &Path, file: &ForeignFile, renewed: &[Renewed]) -> anyhow::Result<String> {
    if is_problem(path) {
        return problem(path, renewed, true);
    }
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    anyhow::ensure!(
        is_json,
        "cannot write {}: the plan of another tool is written as .json or .csv",
        path.display()
    );
    Ok(file.with_plans(renewed)?)
}

/// The one memory as a table.
fn problem(path: &Path, renewed: &[Renewed], placed: bool) -> anyhow::Result<String> {
    let [only] = renewed else {
        anyhow::bail!(
            "cannot write {}: a table holds one memory, and the plan has {}",
            path.display(),
            renewed.len()
        );
    };
    let plan: Option<&Plan> = placed.then_some(&only.planned.plan);
    let text = minimalloc::table(&only.renewal.problem, plan);
    Ok(text.map_err(|error| StudyError::from(EmitReason::Table(Box::new(error)).of(path)))?)
}

impl Report for RenewalReport<'_> {
    const SCHEMA: &'static str = "dmo-trace/foreign/1";

    fn text(&self) -> String {
        let rows = self.memories.iter().map(|memory| {
            let proof = match memory.bound_bytes {
                bound if bound == memory.arena_bytes => "proven".to_owned(),
                bound => grouped(bound),
            };
            [
                memory.name.to_owned(),
                grouped(memory.buffers as u64),
                grouped(memory.tool_bytes),
                grouped(memory.arena_bytes),
                proof,
            ]
        });
        let header = ["memory", "buffers", self.tool, "dmo-trace", "at least"];
        let mut text = format!("{}: a plan of {}\n\n", self.file, self.tool);
        text += &(table(header, [1, 2, 3, 4], rows) + "\n\n");
        text += &format!("Time: {:.2} s\n", self.seconds);
        let unexplained = self.memories.iter().filter(|memory| memory.is_unexplained);
        for memory in unexplained.filter(|memory| memory.kept_apart == 0) {
            text += &format!(
                "{}: in the tool's plan buffers share bytes that are in use at the same time, as far as the file \
                 says, which this plan keeps apart; `dmo-trace audit {}` names them\n",
                memory.name, self.file
            );
        }
        for memory in self.memories.iter().filter(|memory| memory.kept_apart > 0) {
            let pairs = counted(memory.kept_apart as u64, "pair", "pairs");
            text += &format!(
                "{}: {pairs} of buffers overlap in part in the tool's plan; whether its kernels \
                 allow that is not known here, and this plan keeps them apart\n",
                memory.name
            );
        }
        if let (Some(capacity), Some(fits)) = (self.capacity_bytes, self.fits) {
            let verdict = if fits { "it fits" } else { "NO PLAN FOUND" };
            text += &format!("Capacity: {} bytes, {verdict}\n", grouped(capacity));
        }
        text
    }
}
