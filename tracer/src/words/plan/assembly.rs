//! The report of a plan.

use super::{Apart, PlanReport, kernels};
use crate::study::emit::arena_changes;
use crate::study::error::StudyError;
use crate::study::others::{LoopOrderCost, on_tflm};
use crate::study::peak::ArenaPeak;
use crate::study::plan::Planned;
use crate::study::session::Session;
use crate::study::source::Source;
use crate::words::names;
use crate::words::pruning::PruneSummary;
use dmo_analysis::graph::tflite::WhyApart;
use dmo_analysis::graph::{Graph, Kind};
use dmo_analysis::handover::OnDevice;
use dmo_analysis::wording::{first_names, grouped};
use std::collections::BTreeSet;

impl PlanReport {
    /// The report of a plan whose kernels, where it names some, were measured on this many inputs.
    ///
    /// # Errors
    /// When there is no plan with what other kernels would allow, or the model carries a plan with
    /// an odd offset.
    pub fn new(
        source: &Source,
        planned: &Planned,
        inputs: u64,
        session: &Session,
    ) -> Result<Self, StudyError> {
        let graph = &planned.overlaps.graph;
        let measured = planned.overlaps.measured.as_ref();
        let kernels = measured.map(|measured| measured.layers.clone());
        let kernels = kernels.filter(|layers| !layers.is_empty());
        let device = on_tflm(source, planned)?;
        Ok(PlanReport {
            loop_order_cost: match kernels {
                Some(_) => Some(LoopOrderCost::of(planned, session)?),
                None => None,
            },
            limits_of_proof: limits_of_proof(source, planned, device.as_ref()),
            arena_changes: arena_changes(source, planned),
            headlines: Vec::new(),
            written_changes: Vec::new(),
            written: Vec::new(),
            device,
            planners: None,
            peak: ArenaPeak::of(planned),
            next: Vec::new(),
            naive_bytes: source.original().naive_bytes(),
            operators: graph.operators.len(),
            unknown: unknown(graph),
            apart: apart(graph),
            notes: [source.notes(), notes_of_kernels(inputs, planned)].concat(),
            front: planned.front.clone(),
            integer_io: source.integer_io().cloned(),
            pruning: source
                .pruning
                .as_ref()
                .map(|it| PruneSummary::new(&it.report)),
            carries_plan: source.obeyed_offsets().is_some(),
            capacity_bytes: None,
            fits: None,
            kernels,
            kinds: graph
                .operators
                .iter()
                .map(|node| node.kind.escape_debug().to_string())
                .collect(),
            reordered: planned.is_reordered(),
            plan: planned.file.clone(),
        })
    }
}

/// What the user should know of measured kernels, and of those that there are none of.
fn notes_of_kernels(inputs: u64, planned: &Planned) -> Vec<String> {
    let Some(measured) = &planned.overlaps.measured else {
        return Vec::new();
    };
    let graph = &planned.overlaps.graph;
    let further = measured.planned.further.iter();
    let mut notes: Vec<String> = further.map(|it| names::computed_by(graph, it)).collect();
    let not_executed = names::not_executed(graph, &measured.not_executed);
    notes.extend(
        not_executed
            .iter()
            .map(|line| format!("not executed: {line}")),
    );
    if !not_executed.is_empty() {
        notes.push(names::NOT_EXECUTED.to_owned());
    }
    let kinds = graph.operators.iter();
    let kinds: Vec<String> = kinds
        .map(|node| node.kind.escape_debug().to_string())
        .collect();
    notes.extend(kernels::doubts(&kinds, &measured.layers, inputs));
    if !measured.layers.is_empty() && inputs == 1 {
        notes.push(names::ON_ONE_INPUT.to_owned());
    }
    notes
}

/// At most this many inputs are named.
const MOST_UNREAD: usize = 3;

/// What the certificate of a plan leaves out.
fn limits_of_proof(
    source: &Source,
    planned: &Planned,
    device: Option<&[OnDevice; 2]>,
) -> Vec<String> {
    let mut limits = Vec::new();
    let mut unknown = source.unknown_memory();
    if let Some(measured) = &planned.overlaps.measured {
        let operators = &planned.overlaps.graph.operators;
        let kinds = measured.not_executed.iter();
        unknown.extend(kinds.map(|(id, _)| operators[id.0].kind.escape_debug().to_string()));
        unknown.sort();
        unknown.dedup();
    }
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        limits.push(format!(
            "without the scratch memory of {unknown}, which is not known"
        ));
    }
    let graph = &planned.overlaps.graph;
    let unread = graph.unread_inputs().filter(|&id| graph.in_arena(id));
    let unread: Vec<String> = unread.map(|id| names::tensor(graph, id)).collect();
    if !unread.is_empty() {
        limits.push(format!(
            "with {}, which nothing reads, beside what the first operator needs",
            first_names(&unread, MOST_UNREAD)
        ));
    }
    let carried = device.filter(|_| source.obeyed_offsets().is_some());
    if let Some([carried, _]) = carried
        && carried.arena_bytes < planned.file.arena_bytes
    {
        let bytes = grouped(carried.arena_bytes);
        limits.push(format!(
            "the plan that the model carries needs less, {bytes} bytes; `dmo-trace verify` says \
             whether these kernels allow it"
        ));
    }
    limits
}

/// The same with the reason, by reason.
fn apart(graph: &Graph) -> Vec<Apart> {
    let nodes = graph.operators.iter().filter(|node| node.kernel.is_none());
    let reasons: BTreeSet<_> = nodes
        .map(|node| (node.kind.why_apart(), &node.kind))
        .collect();
    let apart = |(reason, kind): (WhyApart, &Kind)| Apart {
        kind: kind.escape_debug().to_string(),
        reason: reason.to_string(),
    };
    reasons.into_iter().map(apart).collect()
}

/// Kinds of operators that get no overlap because they are not known.
fn unknown(graph: &Graph) -> Vec<String> {
    let nodes = graph.operators.iter().filter(|node| node.kernel.is_none());
    let kinds = nodes.map(|node| node.kind.escape_debug().to_string());
    let mut kinds: Vec<String> = kinds.collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
