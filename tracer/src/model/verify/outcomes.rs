//! Operators whose stores depend on the data: what is safe whichever of them are made.

use super::{MeasuredPair, VerifiedLayer, VerifyError, failed};
use crate::mcu::machine::Limits;
use crate::model::Deployment;
use crate::model::overlaps::{Allowed, for_every_outcome};
use dmo_analysis::graph::Graph;
use dmo_analysis::profile::Refusal;

/// Grants pairs that are refused for nothing but such stores what their kernel allows with every
/// outcome, measured by itself.
pub(super) fn grant(
    deployment: &Deployment,
    layers: &mut [VerifiedLayer],
    inputs: u64,
    limits: Limits,
) -> Result<(), VerifyError> {
    for layer in layers {
        if !layer.pairs.iter().any(depends_on_data_only) {
            continue;
        }
        let step = deployment.step(layer.operator);
        let measured = for_every_outcome(deployment, step, inputs, limits);
        let allowed = measured.map_err(|error| failed(step, error))?;
        for pair in layer
            .pairs
            .iter_mut()
            .filter(|pair| depends_on_data_only(pair))
        {
            let same = |it: &&Allowed| (it.input, it.output) == (pair.input, pair.output);
            if let Some(&allowed) = allowed.iter().find(same) {
                replace(&deployment.graph, pair, allowed);
            }
        }
    }
    Ok(())
}

fn depends_on_data_only(pair: &MeasuredPair) -> bool {
    pair.refusals == [Refusal::DataDependent]
}

fn replace(graph: &Graph, pair: &mut MeasuredPair, allowed: Allowed) {
    let [input, output] = [pair.input, pair.output].map(|tensor| graph.tensor(tensor).size_bytes);
    let overlap = output.saturating_sub(allowed.displacement_bytes).min(input);
    pair.safe_overlap_bytes = u32::try_from(overlap).unwrap_or(0);
    pair.displacement_bytes = u32::try_from(allowed.displacement_bytes).unwrap_or(u32::MAX);
    pair.in_place = allowed.in_place;
    // It is that of one outcome.
    pair.binding = None;
    pair.refusals.clear();
}
