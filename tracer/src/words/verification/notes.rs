//! What else is to be said of a verified plan.

use crate::model::verify::{Verification, VerifiedLayer};
use crate::model::{Deployment, Step};
use crate::study::plan_to_check::PlanFault;
use crate::study::verify::Verified;
use crate::words::names;
use dmo_analysis::wording::{counted, grouped};

/// Operators whose trace says nothing, or at which a real core faults.
pub(super) fn doubts(found: &Verification) -> Vec<String> {
    let of_layer = |layer: &VerifiedLayer| {
        let place = format!("operator {} {}", layer.operator.0, layer.function);
        let repeats = (!layer.repeats).then(|| {
            format!(
                "{place} computes something else at other addresses, or in its first call: its \
                 trace says nothing"
            )
        });
        let whole = layer
            .incomplete
            .then(|| format!("{place}: its trace is not whole"));
        let misaligned = layer.misaligned.as_ref();
        let misaligned = misaligned.map(|reason| {
            format!("{place}, at the plan's offsets, faults on a real core: {reason}")
        });
        [repeats, whole, misaligned]
    };
    found.layers.iter().flat_map(of_layer).flatten().collect()
}

/// Scratch memory that nobody needs.
pub(super) fn notes(
    deployment: &Deployment,
    verified: &Verified,
    found: &Verification,
) -> Vec<String> {
    let plan = &verified.plan;
    let mut notes = Vec::new();
    if verified.inputs == 1 {
        notes.push(names::ON_ONE_INPUT.to_owned());
    }
    for layer in &found.layers {
        let step = deployment.step(layer.operator);
        let place = format!("operator {} {}", layer.operator.0, layer.function);
        if let Some(used) = layer.scratch_used_bytes
            && used < step.scratch.total_bytes
        {
            let asked = grouped(u64::from(step.scratch.total_bytes));
            notes.push(match used {
                0 => {
                    format!("{place} asks for {asked} bytes of scratch memory and uses none of it")
                }
                used => format!(
                    "{place} asks for {asked} bytes of scratch memory and uses the first {}",
                    grouped(u64::from(used))
                ),
            });
        }
        let planned = plan.scratch.iter();
        let planned = planned.filter(|(operator, _, _)| *operator == layer.operator);
        let planned: u64 = planned.map(|(_, _, bytes)| bytes).sum();
        if planned > u64::from(step.scratch.total_bytes) {
            notes.push(format!(
                "{place} wants {} bytes of scratch memory, the plan gives {}",
                grouped(u64::from(step.scratch.total_bytes)),
                grouped(planned)
            ));
        }
    }
    let lacks = |fault: &PlanFault| matches!(fault, PlanFault::LittleScratch { .. });
    let is_apart = |step: &&Step| {
        let wanted = u64::from(step.scratch.total_bytes);
        let mut given = plan.scratch.iter();
        let has_room = given.any(|it| it.0 == step.operator && it.2 >= wanted);
        step.kernel.is_ok() && wanted > 0 && !has_room
    };
    let apart = deployment.steps.iter().filter(is_apart).count();
    if apart > 0 && plan.layout.scratch && !verified.faults.iter().any(lacks) {
        notes.push(format!(
            "the scratch memory of {} lies outside the arena here: the plan has that of TensorFlow Lite \
             Micro's own kernels, which ask for other buffers, or none",
            counted(apart as u64, "operator", "operators")
        ));
    }
    let outside = deployment.steps.iter();
    let outside = outside.filter(|step| step.scratch.total_bytes > 0 && !plan.layout.scratch);
    let bytes = outside.map(|step| step.scratch.total_bytes).max();
    if let Some(bytes) = bytes {
        notes.push(format!(
            "the plan has no scratch memory in the arena; the kernels want up to {} bytes \
             elsewhere",
            grouped(u64::from(bytes))
        ));
    }
    notes
}
