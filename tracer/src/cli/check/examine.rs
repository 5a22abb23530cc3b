//! A model, planned and verified: what is found, without a judgement.

use super::baseline::{DEFAULT_KERNELS, Model, PlanOrigin, Wanted};
use crate::cli::cache::CacheArguments;
use crate::cli::library::{LibraryArguments, VersionArgument};
use crate::cli::plan::given::{Given, of_plan, read_plan};
use crate::cli::plan::kernels::{Ground, KernelArguments, LIMITS, ground};
use crate::cli::plan::source::Source;
use crate::cli::plan::{OverlapKind, plan_of};
use crate::cli::verify::{self, Kernels, ensure_is_for};
use anyhow::{Context, ensure};
use dmo_analysis::graph::Graph;
use dmo_analysis::optimise::Certificate;
use dmo_analysis::verify::{Positions, clashes};
use dmo_trace::words::names;
use std::time::{Duration, Instant};

/// What came of a model.
pub struct Examined {
    /// An error is in words.
    pub findings: Result<Findings, String>,
    /// What it took.
    pub time: Duration,
}

/// A plan and what is known of it.
pub struct Findings {
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// What is proven; none of a plan that was given.
    pub certificate: Option<Certificate>,
    /// Where the overlaps come from.
    pub overlap: &'static str,
    /// CPU model that machine code has run on, verified or measured.
    pub cpu: Option<String>,
    /// What the three witnesses say, in the order of [`WITNESSES`].
    pub testimonies: [Testimony; 3],
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Geometry, replay of the trace, execution.
pub const WITNESSES: [&str; 3] = ["geometry", "replay", "execution"];

/// What a witness says.
pub enum Testimony {
    Safe,
    /// The first objections, in words; perhaps none where the trace says nothing.
    Unsafe(Vec<String>),
    /// It was not asked, and why.
    NotAsked(&'static str),
}

impl Findings {
    /// No witness objects.
    pub fn is_safe(&self) -> bool {
        let objects = |said: &Testimony| matches!(said, Testimony::Unsafe(_));
        !self.testimonies.iter().any(objects)
    }
}

impl Examined {
    /// Plans and verifies it.
    pub fn of(model: &Model, cache: &CacheArguments) -> Self {
        let start = Instant::now();
        Self {
            findings: findings(model, cache).map_err(|error| format!("{error:#}")),
            time: start.elapsed(),
        }
    }
}

/// So many clashes are told.
const MOST_CLASHES: usize = 10;

fn findings(model: &Model, cache: &CacheArguments) -> anyhow::Result<Findings> {
    let plan = match &model.plan {
        PlanOrigin::Given(path) => Some(path.as_path()),
        PlanOrigin::Made(_) => None,
    };
    let source = Source::load_for(&model.file, plan)?;
    match model.inputs {
        Some(inputs) => run(model, &source, inputs, cache),
        None => without_running(model, &source, cache),
    }
}

/// A plan, and what is proven of it.
type Planned = (Given, Option<Certificate>);

/// What a model's outputs may overlap.
fn grounded(
    model: &Model,
    source: &Source,
    overlap: OverlapKind,
    cache: &CacheArguments,
) -> anyhow::Result<Ground> {
    ground(
        &KernelArguments::new(overlap, &model.library, cache),
        source,
    )
}

/// A plan that is made anew. `scratch_of` as in [`of_plan`].
fn made(
    source: &Source,
    ground: &Ground,
    wanted: &Wanted,
    scratch_of: Option<&Graph>,
) -> anyhow::Result<Planned> {
    let plan = plan_of(source, ground, wanted.layout, wanted.order, wanted.seconds)?;
    let certificate = plan.certificate;
    let given = of_plan(plan, source, scratch_of, "the plan that was made")?;
    Ok((given, Some(certificate)))
}

/// All three witnesses.
fn run(
    model: &Model,
    source: &Source,
    inputs: u64,
    cache: &CacheArguments,
) -> anyhow::Result<Findings> {
    let (given, certificate) = match &model.plan {
        PlanOrigin::Given(path) => (read_plan(path, source, None)?, None),
        PlanOrigin::Made(wanted) => {
            let ground = grounded(model, source, wanted.overlap, cache)?;
            made(source, &ground, wanted, None)?
        }
    };
    let library = model.library.load()?;
    let kernels = Kernels {
        library: &library,
        name: &model.library.kernels,
    };
    let report = verify::examine(source, &given, kernels, inputs, LIMITS)?;
    let testimonies = match report.testimonies() {
        Some(said) => {
            let [geometry, replay, execution] = said.map(|said| {
                if said.safe {
                    Testimony::Safe
                } else {
                    Testimony::Unsafe(said.objections.to_vec())
                }
            });
            // What is wrong with the plan itself is told with the geometry.
            let geometry = match (report.faults(), geometry) {
                ([], geometry) => geometry,
                (faults, Testimony::Unsafe(objections)) => {
                    Testimony::Unsafe([faults.to_vec(), objections].concat())
                }
                (faults, _) => Testimony::Unsafe(faults.to_vec()),
            };
            [geometry, replay, execution]
        }
        None => {
            let why = "the layout cannot be run";
            [
                Testimony::Unsafe(report.faults().to_vec()),
                Testimony::NotAsked(why),
                Testimony::NotAsked(why),
            ]
        }
    };
    let findings = Findings {
        arena_bytes: given.arena_bytes,
        certificate,
        overlap: given.overlap.name(),
        cpu: Some(library.cpu().name.to_owned()),
        testimonies,
        notes: report.notes().to_vec(),
    };
    ensure!(
        findings.is_safe() == report.is_safe(),
        "{}: the witnesses and `dmo-trace verify` disagree, please report this",
        source.name
    );
    Ok(findings)
}

/// What a given plan was made with, where that says something of the kernels.
fn planned_overlap(model: &Model, given: &Given) -> anyhow::Result<OverlapKind> {
    let LibraryArguments {
        kernels,
        cpu,
        version,
    } = &model.library;
    let named =
        kernels != DEFAULT_KERNELS || cpu.is_some() || *version != VersionArgument::default();
    ensure!(
        given.overlap == OverlapKind::Traced || !named,
        "kernels and cpu: nothing runs on them with verify = false and a plan with overlap {:?}",
        given.overlap.name()
    );
    if given.kernels.is_some() {
        let kernels = Kernels {
            library: &model.library.load()?,
            name: kernels,
        };
        ensure_is_for(given, kernels)?;
    }
    Ok(given.overlap)
}

/// Geometry with the overlaps that the plan was made with.
fn without_running(
    model: &Model,
    source: &Source,
    cache: &CacheArguments,
) -> anyhow::Result<Findings> {
    let overlap = match &model.plan {
        PlanOrigin::Given(path) => planned_overlap(model, &read_plan(path, source, None)?)?,
        PlanOrigin::Made(wanted) => wanted.overlap,
    };
    let ground = grounded(model, source, overlap, cache)?;
    let scratch_of = Some(&ground.graph);
    let (given, certificate) = match &model.plan {
        PlanOrigin::Given(path) => (read_plan(path, source, scratch_of)?, None),
        PlanOrigin::Made(wanted) => made(source, &ground, wanted, scratch_of)?,
    };
    let mut objections = given.faults(&ground.graph);
    let positions = Positions {
        tensors: &given.tensors,
        scratch: &given.scratch,
        keep_inputs: given.layout.keep_inputs,
    };
    let found = clashes(
        &ground.graph,
        &given.order,
        &ground.overlaps,
        positions,
        MOST_CLASHES,
    );
    let found = found.with_context(|| source.name.clone())?;
    objections.extend(found.iter().map(|clash| names::clash(&ground.graph, clash)));
    let why = "verify = false";
    Ok(Findings {
        arena_bytes: given.arena_bytes,
        certificate,
        overlap: given.overlap.name(),
        cpu: ground.measured.map(|measured| measured.planned.cpu),
        testimonies: [
            if objections.is_empty() {
                Testimony::Safe
            } else {
                Testimony::Unsafe(objections)
            },
            Testimony::NotAsked(why),
            Testimony::NotAsked(why),
        ],
        notes: Vec::new(),
    })
}
