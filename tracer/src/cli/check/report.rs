//! What `dmo-trace check` prints.

use super::case::{ARENA, CAPACITY, Case, EVERY_INPUT, Outcome, WITNESSES};
use super::judge::Judged;
use crate::cli::Verdict;
use dmo_analysis::optimise::Certificate;
use dmo_analysis::wording::{counted, grouped};
use dmo_trace::words::names::pasted;
use dmo_trace::words::regions;
use dmo_trace::words::report::Report;
use dmo_trace::words::table;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// At most this many findings of a case are printed.
const MOST_FINDINGS: usize = 3;

/// What became of each model of a baseline.
#[derive(JsonSchema, Serialize)]
pub struct CheckReport {
    baseline: String,
    /// `holds`, `fails`, or `error` where a model could not be checked.
    verdict: &'static str,
    /// The baseline now has what was found.
    recorded: bool,
    pub models: Vec<Judged>,
}

impl CheckReport {
    pub fn new(baseline: &Path, recorded: bool, models: Vec<Judged>) -> Self {
        Self {
            baseline: baseline.display().to_string(),
            verdict: match verdict(&models) {
                Verdict::Holds => "holds",
                Verdict::Fails => "fails",
                Verdict::Unknown => "error",
            },
            recorded,
            models,
        }
    }

    /// Of all models together.
    pub fn verdict(&self) -> Verdict {
        verdict(&self.models)
    }

    fn table(&self) -> String {
        let header = [
            "model",
            "arena",
            "baseline",
            "difference",
            "proof",
            "layout",
            "verdict",
        ];
        let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), grouped);
        let rows = self.models.iter().map(|model| {
            [
                model.name.clone(),
                bytes(model.arena_bytes),
                bytes(model.baseline_bytes),
                difference(model),
                proof(model).to_owned(),
                layout(model).to_owned(),
                words(model, self.recorded),
            ]
        });
        table(header, 1..=3, rows)
    }
}

impl Report for CheckReport {
    const SCHEMA: &'static str = "dmo-trace/check/1";

    /// A row for each model, and what is wrong.
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.table());
        for model in &self.models {
            // Of a model of which nothing is known a message has said so.
            let is_wrong = |case: &&Case| match case.outcome {
                Outcome::Failed => true,
                Outcome::Error => model.arena_bytes.is_some(),
                Outcome::Passed | Outcome::Skipped => false,
            };
            for case in model.cases.iter().filter(is_wrong) {
                text += &format!("\n{}: {}: {}\n", model.name, case.name, case.message);
                for finding in case.findings.iter().take(MOST_FINDINGS) {
                    text += &format!("  {}\n", finding.replace('\n', "\n  "));
                }
                if case.findings.len() > MOST_FINDINGS {
                    text += "  and more, which `dmo-trace verify` reports\n";
                }
            }
            for line in regions::lines(&model.regions).lines() {
                text += &format!("\n{}: {line}", model.name);
            }
            if !model.regions.is_empty() {
                text += "\n";
            }
            for note in &model.notes {
                text += &format!("\n{}: note: {note}\n", model.name);
            }
            text += &remedy(model);
        }
        let failing = self.models.iter().filter(|it| it.has(Outcome::Failed));
        let unknown = self
            .models
            .iter()
            .filter(|it| !it.has(Outcome::Failed) && it.has(Outcome::Error));
        let all = counted(self.models.len() as u64, "model", "models");
        match (failing.count(), unknown.count()) {
            (0, 0) => text,
            (failing, 0) => format!("{text}\n{failing} of {all} fail\n"),
            (0, unknown) => format!("{text}\n{unknown} of {all} could not be checked\n"),
            (failing, unknown) => {
                format!("{text}\n{failing} of {all} fail, {unknown} could not be checked\n")
            }
        }
    }
}

/// What to do about a layout that is not safe on the kernels that it was run on.
fn remedy(model: &Judged) -> String {
    let Some(kernels) = model.again.as_ref().filter(|_| model.safe == Some(false)) else {
        return String::new();
    };
    let file = pasted(&model.file);
    format!(
        "\n{}: Next: `dmo-trace plan {file}{kernels} --out FILE` makes a plan that these kernels allow\n",
        model.name
    )
}

fn verdict(models: &[Judged]) -> Verdict {
    let some = |outcome| models.iter().any(|model| model.has(outcome));
    if some(Outcome::Error) {
        Verdict::Unknown
    } else if some(Outcome::Failed) {
        Verdict::Fails
    } else {
        Verdict::Holds
    }
}

fn difference(model: &Judged) -> String {
    match (model.arena_bytes, model.baseline_bytes) {
        (Some(arena), Some(baseline)) if arena > baseline => {
            format!("+{}", grouped(arena - baseline))
        }
        (Some(arena), Some(baseline)) if arena < baseline => {
            format!("-{}", grouped(baseline - arena))
        }
        (Some(_), Some(_)) => "0".to_owned(),
        _ => "-".to_owned(),
    }
}

fn proof(model: &Judged) -> &'static str {
    match model.certificate {
        Some(Certificate::Optimal) => "proven",
        Some(Certificate::OptimalForOrder) => "proven for its order",
        Some(Certificate::BestFound) => "best found",
        None if model.arena_bytes.is_some() => "given",
        None => "-",
    }
}

fn layout(model: &Judged) -> &'static str {
    match model.safe {
        Some(false) => "UNSAFE",
        Some(true) if model.inputs == 0 => "safe by geometry",
        Some(true) if model.not_executed > 0 => "no objection",
        Some(true) => "safe",
        None => "-",
    }
}

fn words(model: &Judged, recorded: bool) -> String {
    if model.has(Outcome::Error) {
        return "ERROR".to_owned();
    }
    let unsafe_layout = WITNESSES.iter().any(|name| model.fails(name));
    let wrong = [
        (
            model.fails(ARENA) && model.baseline_bytes.is_none(),
            "NO BASELINE",
        ),
        (
            model.fails(ARENA) && model.baseline_bytes.is_some(),
            "GROWN",
        ),
        (unsafe_layout, "UNSAFE"),
        (model.fails(EVERY_INPUT), "NOT ON EVERY INPUT"),
        (model.fails(CAPACITY), "TOO LARGE"),
    ];
    let wrong = wrong.iter().filter(|(is_wrong, _)| *is_wrong);
    let wrong: Vec<&str> = wrong.map(|(_, word)| *word).collect();
    match wrong.is_empty() {
        false => wrong.join(", "),
        true if recorded && model.arena_bytes != model.baseline_bytes => "recorded".to_owned(),
        true if model.arena_bytes < model.baseline_bytes => "holds, smaller".to_owned(),
        true => "holds".to_owned(),
    }
}
