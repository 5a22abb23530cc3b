//! What the reader of a run's report should know.

use super::Warning;
use crate::study::run::Traced;
use dmo_analysis::profile::OtherInput;

impl Warning {
    /// What the reader of a run's report should know.
    pub fn all(traced: &Traced) -> Vec<Self> {
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
        let warnings = crossing.chain(failed).chain(ticks).chain(exception);
        let warnings = warnings.chain(skipped).chain(others);
        warnings.chain(stopped).collect()
    }
}
