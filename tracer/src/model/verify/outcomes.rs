//! Operators whose stores depend on the data: what is safe whichever of them are made.

use super::{MeasuredPair, VerifiedLayer, VerifyError, failed};
use crate::mcu::machine::Limits;
use crate::model::Deployment;
use crate::model::overlaps::{Allowed, for_every_outcome};
use crate::program::data_decision::{DataDecision, Decides};
use dmo_analysis::graph::Graph;
use dmo_analysis::profile::Refusal;

/// Grants pairs that are refused for nothing but such stores what their kernel allows with every
/// outcome, measured by itself; and where data are known to decide on loads and stores that looked the
/// same on all inputs tried, no more than that.
pub(super) fn grant(
    deployment: &Deployment,
    layers: &mut [VerifiedLayer],
    inputs: u64,
    limits: Limits,
) -> Result<(), VerifyError> {
    for layer in layers {
        let decides = |it: &DataDecision| it.decides == Decides::Access;
        let is_decided = layer.decisions.iter().flatten().any(decides);
        if !is_decided && !layer.pairs.iter().any(depends_on_data_only) {
            continue;
        }
        let step = deployment.step(layer.operator);
        let measured = for_every_outcome(deployment, step, inputs, limits, is_decided);
        let Some((allowed, outcomes)) = measured.map_err(|error| failed(step, error))? else {
            continue;
        };
        for pair in &mut layer.pairs {
            let same = |it: &&Allowed| (it.input, it.output) == (pair.input, pair.output);
            let allowed = allowed.iter().find(same).copied();
            if depends_on_data_only(pair) || is_decided && pair.refusals.is_empty() {
                replace(&deployment.graph, pair, allowed);
            }
        }
        if let Some(decisions) = &mut layer.decisions {
            // What is allowed holds whichever of these are made.
            decisions.retain(|it| !decides(it) || !outcomes.contains(&it.address.0));
        }
    }
    Ok(())
}

fn depends_on_data_only(pair: &MeasuredPair) -> bool {
    pair.refusals == [Refusal::DataDependent]
}

fn replace(graph: &Graph, pair: &mut MeasuredPair, allowed: Option<Allowed>) {
    let Some(allowed) = allowed else {
        pair.safe_overlap_bytes = 0;
        pair.in_place = false;
        pair.refusals = vec![Refusal::DataDependent];
        return;
    };
    let [input, output] = [pair.input, pair.output].map(|tensor| graph.tensor(tensor).size_bytes);
    let overlap = output.saturating_sub(allowed.displacement_bytes).min(input);
    pair.safe_overlap_bytes = u32::try_from(overlap).unwrap_or(0);
    pair.displacement_bytes = u32::try_from(allowed.displacement_bytes).unwrap_or(u32::MAX);
    pair.in_place = allowed.in_place;
    // It is that of one outcome.
    pair.binding = None;
    pair.refusals.clear();
}
