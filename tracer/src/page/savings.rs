//! The page of what each way of saving memory does to models.

use super::{Fact, Page, SCHEMA, text};
use crate::words::cycles;
use crate::words::savings::{ModelSavings, SavingsReport};
use crate::words::whole_arena::sizes;
use dmo_analysis::wording::{bytes, counted};
use serde::Serialize;

/// A model and what each way saves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavingsTable {
    /// The model's name.
    pub model: String,
    /// Its multiply-accumulates.
    pub macs: u64,
    /// Each way with all those before it.
    pub rows: Vec<SavingsRow>,
    /// What else is known, a sentence each.
    pub notes: Vec<String>,
}

/// A way of saving memory, with all those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavingsRow {
    /// What is added.
    pub added: &'static str,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No arena for these operators in this order is smaller, in bytes.
    pub bound_bytes: u64,
    /// Multiply-accumulates that are computed again.
    pub extra_macs: u64,
    /// Instructions of one inference on the reference kernels; `None` where it was not run.
    pub instructions: Option<u64>,
    /// Estimated cycles of it, in words; `None` where they are not known.
    pub cycles: Option<String>,
}

/// The page of a report.
pub fn page(report: &SavingsReport) -> Page {
    let savings: Vec<SavingsTable> = report.models.iter().map(table).collect();
    let model = match &savings[..] {
        [one] => one.model.clone(),
        all => counted(all.len() as u64, "model", "models"),
    };
    Page {
        schema: SCHEMA,
        model,
        command: "savings",
        verdict: None,
        facts: facts(&savings),
        maps: Vec::new(),
        peak: None,
        front: None,
        layers: Vec::new(),
        traced: Vec::new(),
        witnesses: Vec::new(),
        notes: notes(report),
        savings,
    }
}

impl SavingsTable {
    /// The row of this name.
    fn row(&self, added: &str) -> Option<&SavingsRow> {
        self.rows.iter().find(|row| row.added == added)
    }

    /// All tensors apart.
    pub fn unplanned(&self) -> Option<&SavingsRow> {
        self.rows.first()
    }

    /// The best placement without overlaps, in the file's order.
    pub fn planned(&self) -> Option<&SavingsRow> {
        self.row("planned")
    }

    /// The smallest of all, the first of several.
    pub fn best(&self) -> Option<&SavingsRow> {
        self.rows.iter().min_by_key(|row| row.arena_bytes)
    }
}

fn table(model: &ModelSavings) -> SavingsTable {
    let rows = model.rows.iter().map(|row| SavingsRow {
        added: row.added,
        arena_bytes: row.arena_bytes,
        bound_bytes: row.bound_bytes,
        extra_macs: row.extra_macs,
        instructions: row.instructions,
        cycles: row.cycles.as_ref().map(|it| cycles::total(Some(it))),
    });
    let pruned = model.pruning.as_ref().map(|it| it.sentence() + ".");
    let whole = (!model.whole_arenas.is_empty()).then(|| {
        format!(
            "As it is, with all that TensorFlow Lite Micro keeps there: kTensorArenaSize {}.",
            sizes(&model.whole_arenas)
        )
    });
    let search = (!model.complete).then(|| {
        "Of the tiles these are the best found within --time; a longer one may find better."
            .to_owned()
    });
    let notes = [pruned, whole, search].into_iter().flatten();
    SavingsTable {
        model: text::name(&model.name),
        macs: model.macs,
        rows: rows.collect(),
        notes: notes.map(|note| text::message(&note)).collect(),
    }
}

/// Of one model; of several each has its own.
fn facts(models: &[SavingsTable]) -> Vec<Fact> {
    let [model] = models else {
        return Vec::new();
    };
    let best = model.best();
    let rows = [
        ("Smallest arena", best),
        ("Planned without overlaps", model.planned()),
        ("No reuse", model.unplanned()),
    ];
    let rows = rows.into_iter();
    rows.filter_map(|(name, row)| {
        Some(Fact {
            name,
            value: bytes(row?.arena_bytes),
        })
    })
    .collect()
}

fn notes(report: &SavingsReport) -> Vec<String> {
    let mut notes = vec![
        "Each way has all that the ways above it have. Overlaps are by formula, for TensorFlow \
         Lite's reference kernels."
            .to_owned(),
        "No arena for a row's operators in their order is smaller than its bound.".to_owned(),
    ];
    if report
        .models
        .iter()
        .any(|model| model.rows.iter().any(|row| row.instructions.is_some()))
    {
        notes.push(
            "Instructions and cycles are of one inference on the reference kernels.".to_owned(),
        );
    }
    notes
}
