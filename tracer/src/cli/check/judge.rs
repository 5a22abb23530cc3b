//! What is found, held against the baseline: six cases for each model.

use super::baseline::Model;
use super::case::{ARENA, CAPACITY, Case, EVERY_INPUT, Outcome, WITNESSES};
use super::examine::{Examined, Findings};
use crate::cli::options::kernels::kernels_again;
use dmo_analysis::optimise::Certificate;
use dmo_analysis::wording::grouped;
use dmo_trace::study::kernel_request::REFERENCE;
use dmo_trace::study::whole_arena::RuntimeArena;
use dmo_trace::words::names::pasted;
use dmo_trace::words::regions::UsedRegion;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// Whether the arenas that were found become the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    NotAsked,
    /// Not all that was found is safe.
    Refused,
    Recorded,
}

/// A model, judged.
#[derive(JsonSchema, Serialize)]
pub struct Judged {
    pub name: String,
    /// The path of the model, or `zoo:NAME`.
    pub file: String,
    /// The path of the plan that was given.
    plan: Option<String>,
    overlap: Option<&'static str>,
    /// `None` if no machine code has run.
    kernels: Option<String>,
    cpu: Option<String>,
    /// On how many inputs the model was run; 0 where geometry is enough.
    pub inputs: u64,
    /// Of a plan in several memories, what they take together.
    pub arena_bytes: Option<u64>,
    /// The memories of such a plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<UsedRegion>,
    /// As recorded before this check.
    pub baseline_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    /// The least `kTensorArenaSize`; `None` where it is not known.
    runtime_bytes: Option<u64>,
    runtime_capacity_bytes: Option<u64>,
    /// None of a plan that was given, for nobody has proven anything here.
    pub certificate: Option<Certificate>,
    pub safe: Option<bool>,
    /// How many operators no kernel can be called for: nothing overlaps there.
    pub not_executed: usize,
    pub cases: Vec<Case>,
    pub notes: Vec<String>,
    /// The options that name the kernels again; `None` if no machine code has run.
    #[serde(skip)]
    pub again: Option<String>,
    #[serde(skip)]
    pub time: Duration,
}

impl Judged {
    /// Judges what is found; where it has been recorded, the arena may have any size.
    pub fn new(model: &Model, examined: &Examined, update: Update) -> Self {
        let findings = examined.findings.as_ref().ok();
        let cases = match &examined.findings {
            Ok(findings) => cases(model, findings, update),
            Err(error) => unknown(error),
        };
        let mut notes = findings.map_or(Vec::new(), |findings| findings.notes.clone());
        notes.extend(findings.and_then(|findings| note(model, findings, update)));
        notes.extend(findings.and_then(|findings| of_the_planned_part(model, findings)));
        Self {
            name: model.name.clone(),
            file: model.request.model.clone(),
            plan: model
                .request
                .plan
                .file()
                .map(|path| path.display().to_string()),
            overlap: findings.map(|findings| findings.overlap),
            kernels: findings
                .filter(|findings| findings.cpu.is_some())
                .map(|_| model.request.kernels.names()),
            cpu: findings.and_then(|findings| findings.cpu.clone()),
            inputs: model.inputs.unwrap_or(0),
            arena_bytes: findings.map(|findings| findings.arena_bytes),
            regions: findings.map_or(Vec::new(), |findings| findings.regions.clone()),
            baseline_bytes: model.arena_bytes,
            capacity_bytes: model.capacity_bytes,
            runtime_bytes: findings.and_then(runtime_bytes),
            runtime_capacity_bytes: model.runtime_capacity_bytes,
            certificate: findings.and_then(|findings| findings.certificate),
            safe: findings.map(Findings::is_safe),
            not_executed: findings.map_or(0, |findings| findings.not_executed),
            cases,
            notes,
            again: findings
                .filter(|findings| findings.cpu.is_some())
                .map(|_| again(model)),
            time: examined.time,
        }
    }

    /// Some case has this outcome.
    pub fn has(&self, outcome: Outcome) -> bool {
        self.cases.iter().any(|case| case.outcome == outcome)
    }

    /// The case of this name has failed.
    pub fn fails(&self, name: &str) -> bool {
        self.cases
            .iter()
            .any(|case| case.name == name && case.fails())
    }
}

/// The options by which other commands take the same kernels.
fn again(model: &Model) -> String {
    let request = &model.request.kernels;
    let kernels = std::iter::once(&request.kernels).chain(&request.further);
    kernels_again(kernels, request.cpu.as_ref(), request.cmsis_nn_version)
}

/// The model, and the kernels if others are named than those that `plan` takes.
fn planned_again(model: &Model) -> String {
    let kernels = match again(model) {
        reference if reference == format!(" --kernels {REFERENCE}") => String::new(),
        kernels => kernels,
    };
    pasted(&model.request.model).to_string() + &kernels
}

/// Nothing is known.
fn unknown(error: &str) -> Vec<Case> {
    let mut cases = vec![Case::new(ARENA, Outcome::Error, error)];
    let rest = WITNESSES.into_iter().chain([EVERY_INPUT, CAPACITY]);
    cases.extend(rest.map(|name| Case::new(name, Outcome::Skipped, "not examined")));
    cases
}

fn cases(model: &Model, findings: &Findings, update: Update) -> Vec<Case> {
    let mut cases = vec![arena(model, findings, update)];
    cases.extend(findings.witnesses.iter().cloned());
    cases.push(findings.every_input.clone());
    cases.push(capacity(model, findings));
    cases
}

fn arena(model: &Model, findings: &Findings, update: Update) -> Case {
    let arena = findings.arena_bytes;
    match model.arena_bytes {
        _ if update == Update::Recorded => Case::new(ARENA, Outcome::Passed, ""),
        Some(baseline) if arena <= baseline => Case::new(ARENA, Outcome::Passed, ""),
        Some(baseline) => {
            let mut message = format!(
                "the arena has grown from {} to {} bytes",
                grouped(baseline),
                grouped(arena)
            );
            if findings.certificate == Some(Certificate::BestFound) {
                message += ", the best found within its time";
            }
            if update == Update::NotAsked {
                message += "\n  hint: where that is meant, record it with --update";
            }
            Case::new(ARENA, Outcome::Failed, message)
        }
        None => {
            let mut message = format!(
                "the baseline has no arena_bytes; the arena has {} bytes",
                grouped(arena)
            );
            if update == Update::NotAsked {
                message += "\n  hint: record it with --update";
            }
            Case::new(ARENA, Outcome::Failed, message)
        }
    }
}

/// Both limits, each where it is given.
fn capacity(model: &Model, findings: &Findings) -> Case {
    let limits = [
        model
            .capacity_bytes
            .map(|it| planned_part(it, model, findings)),
        model
            .runtime_capacity_bytes
            .map(|it| runtime(it, model, findings)),
    ];
    let limits = limits.into_iter().flatten();
    let worst = limits.max_by_key(|case| match case.outcome {
        Outcome::Skipped | Outcome::Passed => 0,
        Outcome::Failed => 1,
        Outcome::Error => 2,
    });
    worst.unwrap_or_else(|| Case::new(CAPACITY, Outcome::Skipped, "none is given"))
}

fn planned_part(capacity: u64, model: &Model, findings: &Findings) -> Case {
    let arena = findings.arena_bytes;
    if arena <= capacity {
        return Case::new(CAPACITY, Outcome::Passed, "");
    }
    Case::new(
        CAPACITY,
        Outcome::Failed,
        format!(
            "the arena has {} bytes, {} are allowed\n  hint: `dmo-trace plan {}` says what it is needed for, and \
             what may need less",
            grouped(arena),
            grouped(capacity),
            planned_again(model)
        ),
    )
}

fn runtime(capacity: u64, model: &Model, findings: &Findings) -> Case {
    match findings.runtime {
        Some(RuntimeArena { bytes, .. }) if bytes > capacity => Case::new(
            CAPACITY,
            Outcome::Failed,
            format!(
                "kTensorArenaSize has to be {} bytes at least, {} are allowed\n  hint: `dmo-trace plan {}` says what \
                 they are needed for, and what may need less",
                grouped(bytes),
                grouped(capacity),
                planned_again(model)
            ),
        ),
        Some(RuntimeArena {
            is_lower_bound: false,
            ..
        }) => Case::new(CAPACITY, Outcome::Passed, ""),
        Some(_) => Case::new(
            CAPACITY,
            Outcome::Error,
            format!(
                "kTensorArenaSize is not known, since some operators allocate an unknown amount (runtime_capacity)\n  hint: \
                 `dmo-trace arena {}` names them",
                pasted(&model.request.model)
            ),
        ),
        None => Case::new(
            CAPACITY,
            Outcome::Error,
            "kTensorArenaSize is not known for a model without a file, for a layout that TensorFlow Lite Micro cannot \
             obey, or for a plan by formula with kernels other than the reference kernels (runtime_capacity)",
        ),
    }
}

/// The least `kTensorArenaSize`, where it is known.
fn runtime_bytes(findings: &Findings) -> Option<u64> {
    let known = findings.runtime.filter(|it| !it.is_lower_bound);
    known.map(|it| it.bytes)
}

/// What a capacity that is kept to does not say.
fn of_the_planned_part(model: &Model, findings: &Findings) -> Option<String> {
    let capacity = model.capacity_bytes?;
    let is_kept = findings.arena_bytes <= capacity && model.runtime_capacity_bytes.is_none();
    is_kept.then(|| {
        let all = runtime_bytes(findings).map_or(String::new(), |bytes| {
            format!(", {} bytes in all", grouped(bytes))
        });
        format!(
            "the capacity is of the planned part; runtime_capacity is of kTensorArenaSize, with what TensorFlow Lite \
             Micro keeps beside it{all}"
        )
    })
}

/// What got better.
fn note(model: &Model, findings: &Findings, update: Update) -> Option<String> {
    let baseline = model.arena_bytes?;
    (findings.arena_bytes < baseline && findings.holds() && update == Update::NotAsked).then(|| {
        format!(
            "the arena has shrunk from {} to {} bytes: record it with --update",
            grouped(baseline),
            grouped(findings.arena_bytes)
        )
    })
}
