//! What the reader of a run's report should know.

use super::Warning;
use crate::program::target::Target;
use crate::study::run::Traced;
use dmo_analysis::profile::{LayerProfile, OtherInput};
use std::collections::BTreeSet;

impl Warning {
    /// What the reader of the report of a run of this program should know.
    pub fn all(traced: &Traced, target: &Target) -> Vec<Self> {
        let (outcome, profile) = (&traced.outcome, &traced.profile);
        let crossing = outcome
            .crossing_loads
            .iter()
            .map(|crossing| Self::CrossingLoads {
                layer: crossing.layer.clone(),
                tensor: crossing.tensor.clone(),
                count: crossing.count,
                pc: crossing.pc,
            });
        let failed = profile
            .layers
            .iter()
            .zip(&traced.others)
            .filter_map(|(layer, others)| {
                let reason = others.iter().find_map(|other| match other {
                    OtherInput::Failed(reason) => reason.lines().next().map(str::to_owned),
                    OtherInput::Accesses(_) => None,
                })?;
                Some(Self::OtherInputFailed {
                    layer: layer.name.clone(),
                    reason,
                })
            });
        let ticks = outcome.expects_ticks.then_some(Self::NoTicks);
        let others = (outcome.other_models > 0).then_some(Self::OtherModels {
            count: outcome.other_models,
        });
        let requested = outcome.requested_exception;
        let exception = requested.map(|exception| Self::NoException { exception });
        let functions = outcome.skipped.clone();
        let skipped = (!functions.is_empty()).then_some(Self::NotLayers { functions });
        let stopped = Self::of_exit(outcome.exit);
        let layers = may_compare_addresses(&profile.layers, target);
        let compares = (!layers.is_empty()).then_some(Self::MayCompareAddresses { layers });
        let warnings = crossing.chain(failed).chain(ticks).chain(exception);
        let warnings = warnings.chain(skipped).chain(others);
        warnings.chain(compares).chain(stopped).collect()
    }
}

/// The layers with a granted overlap whose outputs are stored by code of GCC at -O3 or -Ofast, as far
/// as the debug information says. Where an interpreter runs them, its arena says how they lie.
fn may_compare_addresses(layers: &[LayerProfile], target: &Target) -> Vec<String> {
    if target.interpreted.is_some() {
        return Vec::new();
    }
    let asks = |layer: &&LayerProfile| {
        let granted = layer.pairs.iter().filter(|pair| pair.refusals.is_empty());
        let mut stores = granted
            .filter(|pair| pair.safe_overlap_bytes > 0)
            .filter_map(|pair| layer.tensors[pair.output].first_store.as_ref());
        stores.any(|store| {
            let producer = target.image.debug.producer_at(store.pc.0);
            producer.is_some_and(|it| it.contains(" -O3") || it.contains(" -Ofast"))
        })
    };
    let names: BTreeSet<&str> = layers.iter().filter(asks).map(|it| &*it.name).collect();
    names.into_iter().map(str::to_owned).collect()
}
