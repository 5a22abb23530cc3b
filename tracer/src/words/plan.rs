//! A model's plan, with what other planners and other kernels would need.

mod answer;
mod assembly;
mod front;
mod kernels;
pub mod node_data;

use crate::model::overlaps::KernelOverlaps;
use crate::study::change::WorkFront;
use crate::study::others::{LoopOrderCost, Planner};
use crate::study::peak::ArenaPeak;
use crate::study::whole_arena::ArenaChange;
use crate::words::integer_io;
use crate::words::pruning::PruneSummary;
use crate::words::report::Report;
use crate::words::{names, table};
use dmo_analysis::handover::{self, OnDevice, PlanFile};
use dmo_analysis::transform::integer_io::IntegerIoReport;
use dmo_analysis::wording::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// A row for each planner; `best` bytes count as one.
pub fn planner_table(planners: &[Planner], best: u64) -> String {
    let header = ["planner", "bytes", "of ours", "method", "published by"];
    let rows = planners.iter().map(|planner| {
        [
            planner.name.to_owned(),
            grouped(planner.arena_bytes),
            format!("{:.3}", planner.arena_bytes as f64 / best.max(1) as f64),
            if planner.valid {
                planner.title.to_owned()
            } else {
                format!("{}: INVALID", planner.title)
            },
            planner.source.split(':').next().unwrap_or("").to_owned(),
        ]
    });
    table(header, [1, 2], rows)
}

/// A kind of operator that gets no overlap.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Apart {
    /// Its text, for a terminal.
    pub kind: String,
    /// Why, a sentence without its full stop.
    pub reason: String,
}

/// A model's plan, and what other planners and other kernels would need.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanReport {
    /// The plan as it is handed over.
    #[serde(flatten)]
    pub plan: PlanFile,
    /// Number of the model's operators.
    pub operators: usize,
    /// Bytes of all tensors, each in memory of its own.
    pub naive_bytes: u64,
    /// The operators run in another order than the file's.
    pub reordered: bool,
    /// The most bytes that the arena may have, if that was given.
    pub capacity_bytes: Option<u64>,
    /// The arena is within the capacity; `None` if none is given.
    pub fits: Option<bool>,
    /// Kinds of operators that no overlap is granted to, because no formula covers them.
    pub unknown: Vec<String>,
    /// The same kinds, each with the reason; those with one reason together.
    pub apart: Vec<Apart>,
    /// What other operators for the same result would save; `None` if no change is allowed.
    pub front: Option<WorkFront>,
    /// Which ends of the model are integers and were floats; `None` if they stay as they are.
    pub integer_io: Option<IntegerIoReport>,
    /// What pruning did to the model; `None` if it is not allowed.
    pub pruning: Option<PruneSummary>,
    /// The model carries a plan already.
    pub carries_plan: bool,
    /// TensorFlow Lite Micro's arena, as the model is and with the plan.
    pub device: Option<[OnDevice; 2]>,
    /// TensorFlow Lite Micro's whole arena, as the model is and with the plan, for the kernels that
    /// the plan is for; `None` where it could not use the plan.
    pub arena_changes: Option<Vec<ArenaChange>>,
    /// What came of the model files that were emitted, a sentence each without its full stop.
    pub headlines: Vec<String>,
    /// The whole arena of the model files that were written, as the model is and as it is there.
    #[serde(skip)]
    pub written_changes: Vec<ArenaChange>,
    /// Other files that were written.
    #[serde(skip)]
    pub written: Vec<String>,
    /// What the kernels allow, in the file's order; `None` if they were not measured.
    #[serde(rename = "kernel_overlaps")]
    pub kernels: Option<Vec<KernelOverlaps>>,
    /// What the loops of the kernels cost the arena; `None` if they were not measured.
    pub loop_order_cost: Option<LoopOrderCost>,
    /// Kinds of the operators, in the file's order.
    #[serde(skip)]
    pub kinds: Vec<String>,
    /// What each planner needs, in the file's order of operators; `None` if not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planners: Option<Vec<Planner>>,
    /// Where most of the arena is in use; `None` if it is empty.
    pub peak: Option<ArenaPeak>,
    /// What to do next, a sentence each without its full stop.
    #[serde(skip)]
    pub next: Vec<String>,
    /// What the certificate does not cover.
    pub limits_of_proof: Vec<String>,
    /// What else the reader should know, a sentence each without its full stop.
    pub notes: Vec<String>,
}

impl Report for PlanReport {
    const SCHEMA: &'static str = handover::SCHEMA;

    fn text(&self) -> String {
        let plan = &self.plan;
        let mut text = format!(
            "{}: {}, {} in the arena, {} bytes without reuse\n\n",
            plan.model,
            counted(self.operators as u64, "operator", "operators"),
            counted(plan.tensors.len() as u64, "tensor", "tensors"),
            grouped(self.naive_bytes)
        );
        if let Some(ends) = &self.integer_io {
            text += &format!("{}\n\n", integer_io::sentence(ends));
        }
        if let Some(pruning) = &self.pruning {
            text += &format!("{}\n\n", pruning.sentence());
        }
        if let Some(planners) = &self.planners {
            text += &format!("{}\n\n", planner_table(planners, plan.arena_bytes));
        }
        if let (Some(kernels), Some(cost)) = (&self.kernels, &self.loop_order_cost) {
            text += &if plan.recipe.is_some() {
                kernels::IN_TILES.to_owned()
            } else {
                kernels::kernel_table(&self.kinds, kernels, cost, plan.arena_bytes)
            };
            text += "\n\n";
        }
        if let Some(front) = &self.front {
            let by_formula = self.kernels.is_some();
            text += &format!("{}\n\n", front::front_table(front, by_formula));
        }
        for line in self.remarks() {
            text += &format!("{line}\n\n");
        }
        text + &self.answer()
    }

    /// The plan's own form, which names its schema itself, with further keys.
    fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl PlanReport {
    /// What the reader should know, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if !self.plan.overlaps.is_empty() {
            let changed = self.plan.recipe.is_some();
            remarks.push(names::safe_with(
                &self.plan.overlap,
                self.plan.kernels.as_ref(),
                changed,
            ));
        }
        if let (Some(kernels), Some(cost)) = (&self.kernels, &self.loop_order_cost) {
            remarks.extend(kernels::loop_order(cost, kernels, self.plan.arena_bytes));
        }
        let reasons = self.apart.chunk_by(|one, other| one.reason == other.reason);
        let reasons = reasons.map(|alike| {
            let kinds: Vec<&str> = alike.iter().map(|it| it.kind.as_str()).collect();
            format!("{} ({})", kinds.join(", "), alike[0].reason)
        });
        let reasons: Vec<String> = reasons.collect();
        if !reasons.is_empty() {
            remarks.push(format!(
                "No overlap is granted by formula to {}.",
                reasons.join("; ")
            ));
        }
        remarks.extend(self.notes.iter().map(|note| format!("Note: {note}.")));
        remarks
    }
}
