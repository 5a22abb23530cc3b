//! Inferences of a model, and what they compute and take.

use super::error::StudyError;
use super::region_use::RegionAccesses;
use crate::codegen::library::RecordedInference;
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Limits, Observation};
use crate::measure::MeasureError;
use crate::model::verify::{model_inputs, without_overlaps};
use crate::model::{Deployment, Inference, Placement};
use dmo_analysis::graph::OperatorId;
use dmo_analysis::handover::PlannedRegion;

/// Inferences one after the other, and what they took.
pub(super) struct Recording {
    pub inferences: Vec<RecordedInference>,
    pub stack_bytes: Option<u32>,
    pub instructions: u64,
    pub cycles: Option<Cycles>,
    /// Accesses to each of several memories, without those to states; none of one arena.
    pub accesses: Vec<u64>,
}

/// A layout that inferences are recorded in.
pub(super) struct RecordedLayout<'a> {
    pub order: &'a [OperatorId],
    pub placement: &'a Placement,
    /// The memories of its arena; none if it is one.
    pub regions: &'a [PlannedRegion],
}

/// Runs a model on several inputs, in a layout or with a buffer for each tensor.
pub(super) fn record(
    deployment: &Deployment,
    layout: Option<&RecordedLayout>,
    inputs: u64,
    limits: Limits,
) -> Result<Recording, StudyError> {
    const POISON: u8 = 0xc3;
    let file_order = deployment.graph.file_order();
    let apart;
    let (order, placement) = match layout {
        Some(layout) => (layout.order, layout.placement),
        None => {
            apart = without_overlaps(deployment, &file_order)?;
            (&file_order[..], &apart)
        }
    };
    let mut inference = Inference::new(deployment, placement, POISON, Observation::Watch, limits)?;
    inference.count_cycles();
    let counted = RegionAccesses::of(layout.map_or(&[], |layout| layout.regions));
    if counted.are_several() {
        let counted = counted.clone();
        inference.watch_arena(move |access| counted.add(access.address))?;
    }
    let mut inferences = Vec::new();
    for number in 0..inputs {
        let content = model_inputs(deployment, number);
        inference.infer(&content, order)?;
        let outputs = deployment.graph.outputs.iter();
        let outputs = outputs.map(|&tensor| inference.own_bytes(tensor));
        inferences.push(RecordedInference {
            inputs: content.into_iter().map(|(_, bytes)| bytes).collect(),
            outputs: outputs.collect::<Result<_, MeasureError>>()?,
        });
    }
    Ok(Recording {
        inferences,
        stack_bytes: inference.deepest_stack_bytes(),
        instructions: inference.instructions(),
        cycles: inference.cycles(),
        accesses: counted.counts(),
    })
}
