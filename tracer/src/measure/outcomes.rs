//! The O_s of a kernel whose stores depend on the data, such as `if (*from > *to) *to = *from`
//! compiled to a conditional store: one that holds whichever of these stores are made.
//!
//! The first conditional instruction of an IT block accesses what its address registers say whether
//! or not its condition holds, so that both outcomes are known from one run. Instructions whose
//! conditions differ between the inputs, or never held, count with both outcomes, wherever they are executed. Where
//! the accesses are then the same for all inputs that are tried, every store that a run may make is
//! among them. `docs/theory.md` has the argument.

use super::{Bench, Calls, MeasureError};
use crate::mcu::machine::{Condition, RawAccess};
use crate::program::data_decision::{DataDecision, Decides};
use crate::program::other_inputs::inputs_of;
use dmo_analysis::profile::pattern::{Pattern, PatternRecorder};
use dmo_analysis::profile::{LayerProfile, Pair, Profiler};
use dmo_analysis::trace::AccessKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Which accesses of conditional instructions are in a trace.
pub(super) enum Outcomes {
    /// Those that were made.
    Actual,
    /// The same; and what the conditions of each instruction said is noted, for each call.
    Noted(Arc<Mutex<Vec<Decisions>>>),
    /// Of these instructions all loads, and all stores or none; of others those that were made.
    Both {
        depending: Arc<BTreeSet<u32>>,
        stores: bool,
    },
}

/// Inputs on which conditions are noted: few executions of an instruction may say the same on the
/// usual number of inputs.
const NOTED_INPUTS: u64 = 32;

/// Fewer where these calls would execute more instructions than that.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

/// By address of a conditional instruction, a digest of when its condition held.
pub(super) type Decisions = BTreeMap<u32, Decided>;

/// How many times a condition was asked, and a digest of what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Decided {
    count: u64,
    digest: u64,
    held: bool,
}

/// Addresses of conditional instructions.
struct Conditional {
    /// All that are executed.
    executed: BTreeSet<u32>,
    /// Those whose conditions say otherwise on another input; and those whose conditions never held, for
    /// they may ask for a rare value.
    depending: BTreeSet<u32>,
}

impl Decided {
    fn add(&mut self, holds: bool) {
        let mixed = (self.digest ^ u64::from(holds)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.digest = mixed.rotate_left(29);
        self.count += 1;
        self.held |= holds;
    }
}

/// Whether an access stays in the trace.
type Filter = Box<dyn FnMut(&RawAccess) -> bool + Send>;

impl Outcomes {
    /// The accesses that were made, and nothing beside.
    pub(super) fn is_actual(&self) -> bool {
        matches!(self, Self::Actual)
    }

    /// Both outcomes of one of these instructions would have to be known.
    pub(super) fn depend_on_any(&self, unknown: &[u32]) -> bool {
        match self {
            Self::Actual | Self::Noted(_) => false,
            Self::Both { depending, .. } => unknown.iter().any(|pc| depending.contains(pc)),
        }
    }

    /// For the next call; `None` if all of its accesses stay.
    pub(super) fn filter(&self) -> Option<Filter> {
        match self {
            Self::Actual => None,
            Self::Noted(calls) => {
                let calls = Arc::clone(calls);
                if let Ok(mut calls) = calls.lock() {
                    calls.push(Decisions::new());
                }
                Some(Box::new(move |access| {
                    if access.condition != Condition::Unconditional
                        && let Ok(mut calls) = calls.lock()
                        && let Some(decisions) = calls.last_mut()
                    {
                        let holds = access.condition == Condition::Holds;
                        decisions.entry(access.pc).or_default().add(holds);
                    }
                    access.condition != Condition::Fails
                }))
            }
            Self::Both { depending, stores } => {
                let (depending, stores) = (Arc::clone(depending), *stores);
                Some(Box::new(move |access| {
                    if depending.contains(&access.pc) {
                        stores || access.kind == AccessKind::Load
                    } else {
                        access.condition != Condition::Fails
                    }
                }))
            }
        }
    }
}

impl Bench<'_> {
    /// Grants what is safe with every outcome, in place of what depends on the data, and strikes such
    /// outcomes from the decisions that are known; gives these. `None` where nothing depends, or it is
    /// not known on what; the layer is then as it was.
    pub(super) fn grant_for_every_outcome(
        &self,
        layer: &mut LayerProfile,
        inputs: u64,
        decisions: &mut Option<Vec<DataDecision>>,
    ) -> Option<BTreeSet<u32>> {
        let decided = decisions.iter().flatten();
        let conditional = decided.filter(|it| it.decides == Decides::Access);
        let conditional: BTreeSet<u32> = conditional.map(|it| it.address.0).collect();
        let differs = layer.data_dependent == Some(true);
        if self.case.accesses_by_data() || !differs && conditional.is_empty() {
            return None;
        }
        let inputs = inputs_of(layer.instructions(), inputs);
        let affordable = MOST_INSTRUCTIONS / layer.instructions().max(1);
        let noted = inputs.max(affordable.min(NOTED_INPUTS));
        let pairs = self.with_every_outcome(noted, inputs, &conditional).ok()?;
        layer.pairs = pairs;
        if let Some(decisions) = decisions {
            decisions.retain(|it| !conditional.contains(&it.address.0));
        }
        Some(conditional)
    }

    /// The pairs where every store that may be made is made; conditions are noted on `noted` inputs.
    /// `conditional` ones are known to depend.
    fn with_every_outcome(
        &self,
        noted: u64,
        inputs: u64,
        conditional: &BTreeSet<u32>,
    ) -> Result<Vec<Pair>, MeasureError> {
        let Conditional {
            executed,
            mut depending,
        } = self.conditional_instructions(noted)?;
        // Those that only overlapped buffers lead to are in no trace.
        if !conditional.is_subset(&executed) {
            return Err(MeasureError::UnknownOutcomes);
        }
        depending.extend(conditional);
        let depending = Arc::new(depending);
        let profile = |stores| {
            let depending = Arc::clone(&depending);
            self.same_for_all_inputs(&Outcomes::Both { depending, stores }, inputs)
        };
        // A store that may be left out does not fill the output, nor does it make it new.
        let (certain, every) = (profile(false)?, profile(true)?);
        let mut pairs = certain.pairs.iter().chain(&every.pairs);
        if pairs.all(|pair| pair.refusals.is_empty()) {
            Ok(every.pairs)
        } else {
            Err(MeasureError::UnknownOutcomes)
        }
    }

    /// The conditional instructions of the first call and of others on so many inputs.
    fn conditional_instructions(&self, inputs: u64) -> Result<Conditional, MeasureError> {
        let noted = Arc::new(Mutex::new(Vec::new()));
        let outcomes = Outcomes::Noted(Arc::clone(&noted));
        for calls in [Calls::First, Calls::Later { inputs }] {
            self.record(calls, &outcomes, &mut PatternRecorder::default())?;
        }
        let calls = noted.lock().map_err(|_| MeasureError::Panic)?;
        let executed: BTreeSet<u32> = calls.iter().flat_map(BTreeMap::keys).copied().collect();
        let differs = |pc: &u32| {
            let mut decided = calls.iter().map(|call| call.get(pc));
            let first = decided.next();
            let mut said = calls.iter().filter_map(|call| call.get(pc));
            decided.any(|it| Some(it) != first) || said.all(|it| !it.held)
        };
        Ok(Conditional {
            depending: executed.iter().copied().filter(differs).collect(),
            executed,
        })
    }

    /// The profile of the first call, where its accesses are those of the calls on other inputs.
    fn same_for_all_inputs(
        &self,
        outcomes: &Outcomes,
        inputs: u64,
    ) -> Result<LayerProfile, MeasureError> {
        let mut profiler = Profiler::<()>::default();
        self.record(Calls::First, outcomes, &mut profiler)?;
        let mut later = PatternRecorder::default();
        self.record(Calls::Later { inputs }, outcomes, &mut later)?;
        let (mut profile, ()) = profiler.finish();
        let layer = profile.layers.pop().ok_or(MeasureError::UnknownOutcomes)?;
        let is_same = |pattern: &Pattern| *pattern == layer.pattern;
        if later.patterns.is_empty() || !later.patterns.iter().all(is_same) {
            return Err(MeasureError::UnknownOutcomes);
        }
        Ok(layer)
    }
}
