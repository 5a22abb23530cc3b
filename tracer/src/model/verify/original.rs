//! Compares the outputs of a changed model with those of the original, bit for bit.

use super::execution::OtherBytes;
use super::{Difference, Mismatch, VerifyError, input_number, model_inputs, without_overlaps};
use crate::mcu::machine::{Limits, Observation};
use crate::model::{Deployment, Inference};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};

/// Runs both without overlaps, and tells where the outputs of `changed`, or what it keeps for the
/// next inference, are others than those of `original`.
///
/// # Errors
/// When one of them cannot run.
pub fn differences_from(
    original: &Deployment,
    changed: &Deployment,
    inputs: u64,
    limits: Limits,
) -> Result<Vec<Difference>, VerifyError> {
    let orders = [original, changed].map(|deployment| deployment.graph.file_order());
    let [mut first, mut second] = [
        inference(original, &orders[0], limits)?,
        inference(changed, &orders[1], limits)?,
    ];
    let compared = compared(original);
    let mut differences = Vec::new();
    for number in (0..inputs).map(input_number) {
        let content = model_inputs(original, number);
        for (inference, order) in [(&mut first, &orders[0]), (&mut second, &orders[1])] {
            inference.infer(&content, order)?;
        }
        for &tensor in &compared {
            let [expected, found] = [first.tensor(tensor)?, second.tensor(tensor)?];
            let other = OtherBytes::find(tensor, &expected, &found);
            if let (Some(other), Some(&operator)) = (other, orders[1].last()) {
                differences.push(Difference {
                    input: number,
                    operator,
                    mismatch: Mismatch::Original(other),
                });
            }
        }
    }
    Ok(differences)
}

fn inference<'a>(
    deployment: &'a Deployment<'a>,
    order: &[OperatorId],
    limits: Limits,
) -> Result<Inference<'a>, VerifyError> {
    const POISON: u8 = 0x3c;
    let apart = without_overlaps(deployment, order)?;
    let inference = Inference::new(deployment, &apart, POISON, Observation::Watch, limits)?;
    Ok(inference)
}

/// The states, which last beyond an inference.
fn compared(deployment: &Deployment) -> Vec<TensorId> {
    let graph: &Graph = &deployment.graph;
    let outputs = graph.outputs.iter().filter(|id| graph.in_arena(**id));
    let states = deployment.steps.iter().flat_map(|step| &step.states);
    let mut compared: Vec<TensorId> = outputs.chain(states).copied().collect();
    compared.sort_unstable();
    compared.dedup();
    compared
}
