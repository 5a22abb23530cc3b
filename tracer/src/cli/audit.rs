//! `dmo-trace audit`: whether somebody's plan is safe.

use super::options::overlap::kinds_of_geometry;
use super::{Verdict, output};
use anyhow::Context;
use dmo_analysis::foreign::{Fault, Memory};
use dmo_analysis::verify::Clash;
use dmo_analysis::wording::{grouped, parse_size};
use dmo_planner::plan::{Plan, ViolationKind};
use dmo_trace::study::audit::Audit;
use dmo_trace::study::foreign::{ForeignFile, is_foreign};
use dmo_trace::study::overlap_source::OverlapKind;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::problem;
use dmo_trace::study::source::Source;
use dmo_trace::words;
use dmo_trace::words::names;
use dmo_trace::words::regions::{self, UsedRegion};
use dmo_trace::words::report::Report;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Model with an embedded plan for TensorFlow Lite Micro, any model with --plan, a MiniMalloc
    /// .csv with offsets, an ExecuTorch program as .json, or a c_info.json of ST Edge AI
    model: OsString,
    /// The plan, a .json file written by `dmo-trace plan --out`
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Which overlaps count as safe: none, or those of TensorFlow Lite's reference kernels
    /// [default: what plan.json says, otherwise analytic]
    #[arg(long, value_parser = kinds_of_geometry())]
    overlap: Option<OverlapKind>,
    /// Fail (exit code 1) if the arena is larger than this, for example 64K
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    capacity: Option<u64>,
    /// Of a c_info.json: take the tool's word where an output shares bytes with an input that dies,
    /// and where two buffers have the same bytes and the same life
    #[arg(long)]
    trust_tool: bool,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

/// Overlaps that the tool has planned for its own kernels.
const TRUSTED: &str = "trusted";

/// At most this many clashes are reported.
const MOST_CLASHES: usize = 100;

#[derive(JsonSchema, Serialize)]
pub struct AuditReport {
    model: String,
    /// What outputs may overlap, by whose kernels.
    overlap: &'static str,
    safe: bool,
    arena_bytes: u64,
    /// The memories of a plan of several, which follow each other in that arena; empty of one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<UsedRegion>,
    capacity_bytes: Option<u64>,
    /// Whether the arena is within the capacity, where one is given.
    fits: Option<bool>,
    clashes: Vec<Clash>,
    /// What is wrong, in words: clashes and the plan's own faults.
    messages: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let report = if problem::is_problem(arguments.model.as_ref()) {
        of_problem(arguments)?
    } else if is_foreign(arguments.model.as_ref()) {
        of_foreign(arguments)?
    } else {
        of_model(arguments)?
    };
    output::report(&report, arguments.json)?;
    Ok(Verdict::from(report.safe && report.fits != Some(false)))
}

fn fits(arguments: &Arguments, arena_bytes: u64) -> Option<bool> {
    arguments.capacity.map(|capacity| arena_bytes <= capacity)
}

impl Report for AuditReport {
    const SCHEMA: &'static str = "dmo-trace/audit/1";

    fn text(&self) -> String {
        let mut text = match &self.regions[..] {
            [] => format!(
                "{}: arena {} bytes\n",
                self.model,
                grouped(self.arena_bytes)
            ),
            regions => format!(
                "{}: a plan of several memories\n{}",
                self.model,
                regions::lines(regions)
            ),
        };
        if let (Some(capacity), Some(false)) = (self.capacity_bytes, self.fits) {
            text += &format!("TOO LARGE: {} bytes are allowed\n", grouped(capacity));
        }
        for message in &self.messages {
            text += &format!("{message}\n");
        }
        text + match (self.safe, self.overlap) {
            (false, "none" | TRUSTED) => "UNSAFE\n",
            (false, _) => {
                "UNSAFE with TensorFlow Lite's reference kernels (dmo-trace verify --kernels judges \
                 others)\n"
            }
            (true, "none") => {
                "SAFE with any kernels: nothing that is in use at the same time overlaps\n"
            }
            (true, TRUSTED) => {
                "SAFE if the tool's kernels allow what it has planned for them: apart from that, \
                 nothing that is in use at the same time overlaps\n"
            }
            (true, _) => {
                "SAFE with TensorFlow Lite's reference kernels: what is in use at the same time \
                 overlaps no further than these kernels allow (dmo-trace verify --kernels judges \
                 others)\n"
            }
        }
    }
}

fn of_model(arguments: &Arguments) -> anyhow::Result<AuditReport> {
    let mut source = Source::load(&arguments.model)?;
    let plan = match &arguments.plan {
        Some(path) => {
            let plan = source.follow_plan(path)?;
            PlanToCheck::new(&plan, &source, Some(source.graph()))?
        }
        None => PlanToCheck::carried(&source, source.graph())?,
    };
    anyhow::ensure!(
        plan.regions.is_empty() || arguments.capacity.is_none(),
        regions::no_capacity("--capacity", plan.regions.len())
    );
    let graph = source.graph();
    let overlap = arguments.overlap.unwrap_or(plan.overlap);
    let overlaps = overlap.of(graph).context(
        "measured overlaps are those of kernels, which audit does not have\n  hint: dmo-trace verify",
    )?;
    let audit = Audit::of(&plan, graph, &overlaps, MOST_CLASHES);
    let audit = audit.with_context(|| source.name.clone())?;
    let clashes = audit.clashes.iter();
    let mut messages: Vec<String> = clashes
        .map(|clash| names::clash(graph, clash, &plan.regions))
        .collect();
    if messages.len() == MOST_CLASHES {
        messages.push(format!(
            "and perhaps more: only {MOST_CLASHES} are reported"
        ));
    }
    let faults = audit.faults.iter();
    messages.extend(faults.map(|fault| names::fault(graph, fault, &plan.regions)));
    Ok(AuditReport {
        model: source.name.clone(),
        overlap: overlap.name(),
        safe: audit.is_safe(),
        arena_bytes: plan.arena_bytes,
        regions: regions::used(&plan.regions),
        capacity_bytes: arguments.capacity,
        fits: fits(arguments, plan.arena_bytes),
        clashes: audit.clashes,
        messages,
    })
}

fn of_problem(arguments: &Arguments) -> anyhow::Result<AuditReport> {
    let table = problem::read(arguments.model.as_ref())?;
    let offsets = table.offsets.clone().with_context(|| {
        format!(
            "{}: there is no column offset to be checked",
            arguments.model.display()
        )
    })?;
    let plan = Plan { offsets };
    let broken = table.check(&plan);
    let broken = broken.with_context(|| arguments.model.display().to_string())?;
    let buffers = table.problem.buffers();
    let name = |buffer: usize| &buffers[buffer].name;
    let messages = broken.iter().take(MOST_CLASHES).map(|violation| {
        let buffer = name(violation.buffer);
        match violation.kind {
            ViolationKind::TooClose { other, .. } => {
                format!("buffers {buffer} and {} share bytes", name(other))
            }
            ViolationKind::Misaligned { offset } => format!(
                "buffer {buffer} lies at {offset}, no multiple of {}",
                buffers[violation.buffer].alignment
            ),
            ViolationKind::Missing | ViolationKind::Moved { .. } => {
                format!("buffer {buffer} does not lie where it has to")
            }
        }
    });
    let arena_bytes = plan.arena_bytes(&table.problem);
    Ok(AuditReport {
        model: arguments.model.to_string_lossy().into_owned(),
        overlap: OverlapKind::None.name(),
        safe: broken.is_empty(),
        arena_bytes,
        regions: Vec::new(),
        capacity_bytes: arguments.capacity,
        fits: fits(arguments, arena_bytes),
        clashes: Vec::new(),
        messages: messages.collect(),
    })
}

fn of_foreign(arguments: &Arguments) -> anyhow::Result<AuditReport> {
    let file = ForeignFile::read(arguments.model.as_ref())?;
    let mut messages = Vec::new();
    let (mut safe, mut trusted) = (true, false);
    for memory in &file.plan.memories {
        for fault in memory.faults() {
            let meant = matches!(
                fault,
                Fault::Shared {
                    reason: Some(_),
                    ..
                }
            );
            trusted |= meant && arguments.trust_tool;
            safe &= meant && arguments.trust_tool;
            if messages.len() < MOST_CLASHES {
                messages.push(words::foreign::fault(memory, &fault));
            }
        }
    }
    let used = file.plan.memories.iter().map(Memory::used_bytes);
    let arena_bytes = used.max().unwrap_or(0);
    Ok(AuditReport {
        model: file.name,
        overlap: if trusted {
            TRUSTED
        } else {
            OverlapKind::None.name()
        },
        safe,
        arena_bytes,
        regions: Vec::new(),
        capacity_bytes: arguments.capacity,
        fits: fits(arguments, arena_bytes),
        clashes: Vec::new(),
        messages,
    })
}
