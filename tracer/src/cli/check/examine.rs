//! What is found of a model, in words, without a judgement.

use super::baseline::Model;
use super::case::{Case, EVERY_INPUT, Outcome, WITNESSES};
use anyhow::ensure;
use dmo_analysis::optimise::Certificate;
use dmo_trace::study::Session;
use dmo_trace::study::examine::{Examination, Run};
use dmo_trace::study::verify::VerifyRequest;
use dmo_trace::study::whole_arena::RuntimeArena;
use dmo_trace::words::names;
use dmo_trace::words::regions::{self, UsedRegion};
use dmo_trace::words::verification::VerifyReport;
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
    /// What TensorFlow Lite Micro needs in all; `None` if that is not known.
    pub runtime: Option<RuntimeArena>,
    /// The memories of a plan of several; empty of one arena.
    pub regions: Vec<UsedRegion>,
    /// What is proven; `None` of a plan that was given.
    pub certificate: Option<Certificate>,
    /// Where the overlaps come from.
    pub overlap: &'static str,
    /// CPU model that machine code has run on, verified or measured.
    pub cpu: Option<String>,
    /// How many operators no kernel can be called for; 0 where nothing was to run.
    pub not_executed: usize,
    /// What the three witnesses say.
    pub witnesses: [Case; 3],
    /// Whether that holds on every input.
    pub every_input: Case,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

impl Findings {
    /// No witness objects.
    pub fn is_safe(&self) -> bool {
        !self.witnesses.iter().any(Case::fails)
    }

    /// It is safe, and as far beyond the inputs tried as is asked for.
    pub fn holds(&self) -> bool {
        self.is_safe() && !self.every_input.fails()
    }
}

impl Examined {
    /// Plans and verifies it.
    pub fn of(model: &Model, session: &Session) -> Self {
        let start = Instant::now();
        Self {
            findings: findings(model, session).map_err(|error| format!("{error:#}")),
            time: start.elapsed(),
        }
    }
}

/// At most this many clashes are reported.
const MOST_CLASHES: usize = 10;

fn findings(model: &Model, session: &Session) -> anyhow::Result<Findings> {
    let examination = model.request.load()?;
    let findings = match model.inputs {
        Some(inputs) => verified(model, &examination, inputs, session),
        None => audited(&examination, session),
    }?;
    ensure!(
        findings.regions.is_empty() || model.capacity_bytes.is_none(),
        regions::no_capacity("capacity", findings.regions.len())
    );
    Ok(findings)
}

/// All three witnesses.
fn verified(
    model: &Model,
    examination: &Examination,
    inputs: u64,
    session: &Session,
) -> anyhow::Result<Findings> {
    let kernels = model.request.kernels.load()?;
    let request = VerifyRequest {
        inputs,
        follows_data: model.every_input,
        ..VerifyRequest::default()
    };
    let Run {
        verified,
        certificate,
        runtime,
    } = examination.verify(&kernels, request, session)?;
    let name = &examination.source.name;
    let report = VerifyReport::new(name, &kernels.name(), &verified);
    let findings = Findings {
        arena_bytes: verified.plan.arena_bytes,
        runtime,
        regions: regions::used(&verified.plan.regions),
        certificate,
        overlap: verified.plan.overlap.name(),
        cpu: Some(kernels.cpu().name.to_owned()),
        not_executed: report.not_executed(),
        witnesses: witnesses(&report),
        every_input: every_input(model, &report),
        notes: [
            report
                .remainder()
                .iter()
                .map(|line| format!("not executed: {line}"))
                .collect(),
            report.notes,
        ]
        .concat(),
    };
    ensure!(
        findings.is_safe() != verified.has_objections(),
        "{name}: the witnesses and `dmo-trace verify` disagree, please report this"
    );
    Ok(findings)
}

fn witnesses(report: &VerifyReport) -> [Case; 3] {
    let [geometry, replay, execution] = WITNESSES;
    let said = report.testimonies();
    let [first, second, third] = said.map(|said| {
        move |name| match said {
            Some(said) => Case::of_witness(name, said.safe, said.objections),
            None => Case::new(name, Outcome::Skipped, "the layout cannot be run"),
        }
    });
    [first(geometry), second(replay), third(execution)]
}

/// What following the data has shown, where that is asked for.
fn every_input(model: &Model, report: &VerifyReport) -> Case {
    if !model.every_input {
        return Case::new(EVERY_INPUT, Outcome::Skipped, "not asked for");
    }
    if report.holds_on_every_input() {
        return Case::new(EVERY_INPUT, Outcome::Passed, "");
    }
    Case {
        findings: report.data_decisions(),
        ..Case::new(
            EVERY_INPUT,
            Outcome::Failed,
            "it is not shown that the layout is safe on inputs other than those tried",
        )
    }
}

/// Geometry with the overlaps that the plan was made with.
fn audited(examination: &Examination, session: &Session) -> anyhow::Result<Findings> {
    let audited = examination.audit(MOST_CLASHES, session)?;
    let graph = &audited.overlaps.graph;
    let faults = audited.audit.faults.iter();
    let faults = faults.map(|fault| names::fault(graph, fault, &audited.plan.regions));
    let clashes = audited.audit.clashes.iter();
    let clashes = clashes.map(|clash| names::clash(graph, clash, &audited.plan.regions));
    let objections: Vec<String> = faults.chain(clashes).collect();
    let [geometry, replay, execution] = WITNESSES;
    let unasked = |name| Case::new(name, Outcome::Skipped, "verify = false");
    Ok(Findings {
        arena_bytes: audited.plan.arena_bytes,
        runtime: audited.runtime,
        regions: regions::used(&audited.plan.regions),
        certificate: audited.certificate,
        overlap: audited.plan.overlap.name(),
        cpu: audited
            .overlaps
            .measured
            .map(|measured| measured.planned.cpu),
        witnesses: [
            Case::of_witness(geometry, objections.is_empty(), objections),
            unasked(replay),
            unasked(execution),
        ],
        every_input: unasked(EVERY_INPUT),
        not_executed: 0,
        notes: Vec::new(),
    })
}
