//! What each way of saving memory does to models.

use super::pruning::PruneSummary;
use super::report::Report;
use super::whole_arena::sizes;
use super::{cycles, names::pasted, table};
use crate::study::savings::Row;
use dmo_analysis::tflm::WholeArena;
use dmo_analysis::wording::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// What each way of saving memory does to some models.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SavingsReport {
    /// In the order in which they were given.
    pub models: Vec<ModelSavings>,
}

impl Report for SavingsReport {
    const SCHEMA: &'static str = "dmo-trace/savings/1";

    fn text(&self) -> String {
        let texts: Vec<String> = self.models.iter().map(text).collect();
        let next = match &self.models[..] {
            [] => String::new(),
            [only] => next(&only.given),
            _ => next("MODEL"),
        };
        texts.join("\n") + &next
    }
}

/// A model and what each way saves.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelSavings {
    /// The model's name.
    pub name: String,
    /// What it was given as.
    #[serde(skip)]
    pub given: String,
    /// What was left out of its file first; `None` if nothing was to be.
    pub pruning: Option<PruneSummary>,
    /// Multiply-accumulates of the model.
    pub macs: u64,
    /// The search for runs to be split tried all that it knows.
    pub complete: bool,
    /// One for each way, each added to those before it.
    pub rows: Vec<Row>,
    /// The whole arena of TensorFlow Lite Micro for the model as it is; empty where it is not known.
    pub whole_arenas: Vec<WholeArena>,
}

/// A row for each way of saving.
fn text(model: &ModelSavings) -> String {
    let has_run = model.rows.iter().any(|row| row.instructions.is_some());
    let mut header = vec!["", "arena", "bound", "of no reuse", "recomputed", "of all"];
    header.extend(has_run.then_some("instructions"));
    let has_cycles = model.rows.iter().any(|row| row.cycles.is_some());
    header.extend(has_cycles.then_some("cycles"));
    let right = 1..header.len();
    let naive = model.rows.first().map_or(1, |row| row.arena_bytes.max(1));
    let rows = model.rows.iter().map(|row| {
        let mut cells = cells(row, naive, model.macs);
        let instructions = row.instructions.map_or(String::new(), grouped);
        cells.extend(has_run.then_some(instructions));
        let total = cycles::total(row.cycles.as_ref());
        cells.extend(has_cycles.then_some(total));
        cells
    });
    let search = if model.complete {
        ""
    } else {
        "; of the tiles the best found within --time"
    };
    let whole = if model.whole_arenas.is_empty() {
        String::new()
    } else {
        let sizes = sizes(&model.whole_arenas);
        format!(
            "\nAs it is, with all that TensorFlow Lite Micro keeps there: kTensorArenaSize {sizes}\n"
        )
    };
    let how = "\nOverlaps are those of TensorFlow Lite's reference kernels, by formula. Stock TensorFlow Lite Micro can run \
               the rows without \"in place\" and \"removal\", with tiles in a larger form; `build` can run all.\n";
    let pruning = model.pruning.as_ref();
    let pruning = pruning.map_or(String::new(), |it| it.sentence() + "\n\n");
    format!(
        "{}: {} multiply-accumulates{search}\n\n{pruning}{}\n{whole}{how}",
        model.name,
        grouped(model.macs),
        table(header, right, rows)
    )
}

/// How to get what the rows promise.
fn next(name: &str) -> String {
    let model = pasted(name);
    let mut steps = vec![format!(
        "`dmo-trace plan {model} --allow split,patch` shows which operators are computed in tiles, and with `--out \
         tiled.tflite` writes what stock TensorFlow Lite Micro can run of it"
    )];
    // A network of the zoo has no weights to write into C code.
    if !model.starts_with("zoo:") {
        steps.push(format!(
            "`dmo-trace build {model} --front` runs and measures such forms"
        ));
    }
    format!("\nNext: {}.\n", steps.join("; "))
}

fn cells(row: &Row, naive: u64, macs: u64) -> Vec<String> {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    vec![
        row.added.to_owned(),
        grouped(row.arena_bytes),
        grouped(row.bound_bytes),
        format!("{:.1} %", percent(row.arena_bytes, naive)),
        grouped(row.extra_macs),
        format!("{:.2} %", percent(row.extra_macs, macs)),
    ]
}
