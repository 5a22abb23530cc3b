//! What is found of a model, in words, without a judgement.

use super::baseline::Model;
use anyhow::ensure;
use dmo_analysis::optimise::Certificate;
use dmo_trace::study::Session;
use dmo_trace::study::examine::Examination;
use dmo_trace::words::names;
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
    /// What is proven; `None` of a plan that was given.
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

/// The answer of a witness.
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
    match model.inputs {
        Some(inputs) => verified(model, &examination, inputs, session),
        None => audited(&examination, session),
    }
}

/// All three witnesses.
fn verified(
    model: &Model,
    examination: &Examination,
    inputs: u64,
    session: &Session,
) -> anyhow::Result<Findings> {
    let kernels = model.request.kernels.load()?;
    let (verified, certificate) = examination.verify(&kernels, inputs, session)?;
    let model = &examination.source.name;
    let report = VerifyReport::new(model, &kernels.name, &verified);
    let findings = Findings {
        arena_bytes: verified.plan.arena_bytes,
        certificate,
        overlap: verified.plan.overlap.name(),
        cpu: Some(kernels.library.cpu().name.to_owned()),
        testimonies: testimonies(&report),
        notes: report.notes().to_vec(),
    };
    ensure!(
        findings.is_safe() == verified.is_safe(),
        "{model}: the witnesses and `dmo-trace verify` disagree, please report this"
    );
    Ok(findings)
}

fn testimonies(report: &VerifyReport) -> [Testimony; 3] {
    let faults = report.faults().to_vec();
    let Some(said) = report.testimonies() else {
        let unasked = || Testimony::NotAsked("the layout cannot be run");
        return [Testimony::Unsafe(faults), unasked(), unasked()];
    };
    let [geometry, replay, execution] = said.map(|said| {
        if said.safe {
            Testimony::Safe
        } else {
            Testimony::Unsafe(said.objections.to_vec())
        }
    });
    // What is wrong with the plan itself is told with the geometry.
    let geometry = match geometry {
        geometry if faults.is_empty() => geometry,
        Testimony::Unsafe(objections) => Testimony::Unsafe([faults, objections].concat()),
        _ => Testimony::Unsafe(faults),
    };
    [geometry, replay, execution]
}

/// Geometry with the overlaps that the plan was made with.
fn audited(examination: &Examination, session: &Session) -> anyhow::Result<Findings> {
    let audited = examination.audit(MOST_CLASHES, session)?;
    let graph = &audited.overlaps.graph;
    let faults = audited.audit.faults.iter();
    let faults = faults.map(|fault| names::fault(graph, fault));
    let clashes = audited.audit.clashes.iter();
    let clashes = clashes.map(|clash| names::clash(graph, clash));
    let objections: Vec<String> = faults.chain(clashes).collect();
    let geometry = if objections.is_empty() {
        Testimony::Safe
    } else {
        Testimony::Unsafe(objections)
    };
    let unasked = || Testimony::NotAsked("verify = false");
    Ok(Findings {
        arena_bytes: audited.plan.arena_bytes,
        certificate: audited.certificate,
        overlap: audited.plan.overlap.name(),
        cpu: audited
            .overlaps
            .measured
            .map(|measured| measured.planned.cpu),
        testimonies: [geometry, unasked(), unasked()],
        notes: Vec::new(),
    })
}
