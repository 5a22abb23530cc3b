//! What the kernels of a firmware allow, and what they do in a plan.
//!
//! The firmware runs the model twice: as its own planner lays it out, where nothing overlaps, and
//! in the plan. The first run is traced: it gives O_s of each operator, and is replayed on the plan.
//! After each operator of the second all tensors that are needed have to hold what they hold in the
//! first.

use super::error::{FirmwareError, StudyError};
use super::firmware::ensure_explained;
use super::firmware_kernels::Hosted;
use crate::model::verify::{Difference, Mismatch, OtherBytes, input_number};
use crate::program::inferences::{Run, Snapshot};
use dmo_analysis::firmware::{Observed, Placed, Witness, overlaps};
use dmo_analysis::graph::overlaps::Overlaps;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::profile::pattern::{Pattern, PatternRecorder};
use dmo_analysis::profile::{OtherInput, Profile, Profiler};
use dmo_analysis::replay::{Finding, Replay, ReplayError};
use dmo_analysis::trace::{Address, Event, Layer, Span, Time, TraceSink};
use std::collections::BTreeSet;
use std::ops::Range;

/// What the arena holds before the first inference, without overlaps and in a plan: what a kernel
/// loads and nobody has stored shows.
const FILL: [u8; 2] = [0x5a, 0xa7];

/// At most this many findings are kept of one operator on one input.
const MOST_FINDINGS: usize = 8;

/// A model without overlaps in a firmware, on several inputs.
pub struct Measured {
    /// What each operator did on the first input, and whether others lead to other accesses.
    pub profile: Profile,
    /// What may overlap.
    pub overlaps: Overlaps,
    /// Executed instructions of the first inference.
    pub instructions: Time,
    run: Run,
}

/// What replaying the accesses of a model on a plan finds.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Loads and stores.
    pub accesses: u64,
    /// What is wrong: the input, the operator and the finding.
    pub findings: Vec<(u64, OperatorId, Finding)>,
    /// Bytes that are wrong and not among these.
    pub further_bytes: u64,
    /// An operator has no whole trace.
    pub incomplete: bool,
}

/// Runs the model without overlaps; where a plan is given, its accesses are replayed there.
///
/// # Errors
/// When the firmware does something that its own plan does not explain, or overwrites what is
/// needed.
pub fn measure(
    hosted: &Hosted,
    inputs: u64,
    plan: Option<&Hosted>,
) -> Result<(Measured, Replayed), StudyError> {
    let placed = &hosted.interpreted.placed;
    let mut watcher = Watcher::new(plan.map(|plan| &plan.interpreted.placed));
    watcher.operators = placed.layers.len();
    let mut witness = Witness::new(placed, &mut watcher);
    let (run, _) = hosted
        .run(inputs, FILL[0], &mut witness)
        .map_err(Box::new)?;
    let observed = witness.finish()?;
    ensure_explained(placed, &observed).map_err(Box::new)?;
    if !observed.is_safe() || placed.has_overlaps() {
        let problem = problem(placed, &observed);
        return Err(FirmwareError::UnsafeAlone { problem }.into());
    }
    let (mut profile, replayed) = watcher.finish()?;
    // A state's content differs from one inference to the next, and so may all that follows.
    let patterns = profile.others;
    let of_operator = |operator: usize| {
        let later = patterns.iter().skip(operator).step_by(placed.layers.len());
        later
            .map(|&pattern| OtherInput::Accesses(pattern))
            .collect()
    };
    let others: Vec<Vec<OtherInput>> = (0..placed.layers.len()).map(of_operator).collect();
    profile.first.compare_inputs(&others);
    let measured = Measured {
        overlaps: overlaps(placed, &profile.first),
        profile: profile.first,
        instructions: run.instructions.first().copied().unwrap_or(0),
        run,
    };
    Ok((measured, replayed))
}

fn problem(placed: &Placed, observed: &Observed) -> String {
    match observed.wrong.first() {
        Some(wrong) => format!(
            "operator {} {}",
            wrong.operator.0,
            placed.node(wrong.operator).kind.escape_debug()
        ),
        None => {
            "its own plan overlaps tensors, or code between operators stores to them".to_owned()
        }
    }
}

/// What a firmware does in a plan.
#[derive(Debug, Default)]
pub struct InPlan {
    /// What it does otherwise than without overlaps.
    pub differences: Vec<Difference>,
    /// What its accesses there say by themselves: that it does not keep to the plan, or that code
    /// between two operators overwrites what is needed.
    pub contradictions: Vec<String>,
}

/// Runs the model in a plan and compares.
///
/// # Errors
/// When the emulator refuses.
pub fn run_in_plan(
    plan: &Hosted,
    measured: &Measured,
    apart: &Hosted,
) -> Result<InPlan, StudyError> {
    let placed = &plan.interpreted.placed;
    let mut nothing = PatternRecorder::default();
    let mut witness = Witness::new(placed, &mut nothing);
    let inputs = measured.run.snapshots.len() as u64;
    let run = match plan.run(inputs, FILL[1], &mut witness) {
        Ok((run, _)) => run,
        // It could without overlaps.
        Err(error) => {
            return Ok(InPlan {
                contradictions: vec![format!("the firmware does not run in the plan: {error}")],
                ..InPlan::default()
            });
        }
    };
    let observed = witness.finish()?;
    let mut contradictions = Vec::new();
    if let Some(contradiction) = &observed.contradiction {
        contradictions.push(contradiction.to_string());
    }
    for store in &observed.between {
        let next = store.operator.0;
        contradictions.push(format!(
            "code before operator {next} stores to tensor {}, which is needed, the first time by {}",
            store.tensor.0, store.pc
        ));
    }
    let comparison = Comparison {
        sides: [apart, plan],
        states: plan.states(),
    };
    let mut differences = Vec::new();
    let both = measured.run.snapshots.iter().zip(&run.snapshots);
    for (index, (expected, found)) in both.enumerate() {
        differences.extend(comparison.inference(index as u64, expected, found));
    }
    Ok(InPlan {
        differences,
        contradictions,
    })
}

/// A model without overlaps, and in a plan.
struct Comparison<'a> {
    sides: [&'a Hosted; 2],
    states: Vec<TensorId>,
}

impl Comparison<'_> {
    fn inference(&self, index: u64, expected: &[Snapshot], found: &[Snapshot]) -> Vec<Difference> {
        let input = input_number(index);
        let mut differences = Vec::new();
        let operators = self.sides[1].graph.operators.len();
        for operator in (0..operators).map(OperatorId) {
            let [Some(before), Some(after), Some(expected)] = [
                found.get(operator.0),
                found.get(operator.0 + 1),
                expected.get(operator.0 + 1),
            ] else {
                continue;
            };
            let mismatches = self.tensors(operator, expected, after);
            let stray = self.stray(operator, before, after);
            let mismatches = mismatches.into_iter().chain(stray);
            differences.extend(mismatches.map(|mismatch| Difference {
                input,
                operator,
                mismatch,
            }));
        }
        differences
    }

    /// Tensors that are needed, and states, that hold something else.
    fn tensors(
        &self,
        operator: OperatorId,
        expected: &Snapshot,
        found: &Snapshot,
    ) -> Vec<Mismatch> {
        let [apart, plan] = self.sides;
        let node = &plan.graph.operators[operator.0];
        let step = plan.interpreted.placed.layer(operator).step();
        let needed = step.after.iter().map(|needed| needed.tensor);
        let mut compared: BTreeSet<TensorId> = needed.collect();
        compared.extend(plan.graph.arena_outputs(node));
        let mut mismatches = Vec::new();
        for tensor in compared {
            let size = plan.graph.tensor(tensor).size_bytes;
            let bytes = |side: &Hosted, snapshot: &Snapshot| -> Option<Vec<u8>> {
                let start = side.offset(tensor)? as usize;
                let head = snapshot.first()?;
                Some(head.get(start..start.checked_add(size as usize)?)?.to_vec())
            };
            let both = bytes(apart, expected).zip(bytes(plan, found));
            if let Some((expected, found)) = both {
                let other = OtherBytes::find(tensor, &expected, &found);
                let is_output = node.outputs.contains(&tensor);
                mismatches.extend(other.map(|other| {
                    if is_output {
                        Mismatch::Tensor(other)
                    } else {
                        Mismatch::Lost(other)
                    }
                }));
            }
        }
        let states = self.states.iter().zip(expected.iter().skip(1));
        for ((&state, expected), found) in states.zip(found.iter().skip(1)) {
            mismatches.extend(OtherBytes::find(state, expected, found).map(Mismatch::Tensor));
        }
        mismatches
    }

    /// Bytes of the plan that change, and are neither output nor scratch memory of the operator.
    fn stray(&self, operator: OperatorId, before: &Snapshot, after: &Snapshot) -> Option<Mismatch> {
        let plan = self.sides[1];
        let node = &plan.graph.operators[operator.0];
        let outputs = plan.graph.arena_outputs(node).into_iter();
        let outputs = outputs.filter_map(|id| {
            let start = plan.offset(id)?;
            Some(start..start + plan.graph.tensor(id).size_bytes)
        });
        let start = plan.interpreted.placed.head.start;
        let scratch = plan.placement.scratch.iter();
        let scratch = scratch.filter(|(owner, ..)| *owner == operator);
        let scratch = scratch.map(|(_, address, bytes)| address - start..address - start + bytes);
        let own: Vec<Range<u64>> = outputs.chain(scratch).collect();
        let both = before.first()?.iter().zip(after.first()?).enumerate();
        let changed = both.filter(|(index, (before, after))| {
            let at = *index as u64;
            before != after && !own.iter().any(|own| own.contains(&at))
        });
        let places: Vec<usize> = changed.map(|(index, _)| index).collect();
        let (first, last) = (places.first()?, places.last()?);
        Some(Mismatch::Stray {
            arena: *first..last + 1,
        })
    }
}

/// Takes the layers of several inferences: the first in detail, the others by their accesses alone,
/// and replays all of them on a plan.
struct Watcher<'a> {
    operators: usize,
    /// Layers that have begun.
    begun: usize,
    profiler: Profiler<()>,
    others: PatternRecorder,
    plan: Option<&'a Placed>,
    replay: Option<Replay>,
    replayed: Replayed,
    error: Option<ReplayError>,
    is_layer: bool,
}

/// Profiles of the first inference, and the accesses of the others, operator by operator.
struct Profiles {
    first: Profile,
    others: Vec<Pattern>,
}

impl<'a> Watcher<'a> {
    fn new(plan: Option<&'a Placed>) -> Self {
        Self {
            operators: 0,
            begun: 0,
            profiler: Profiler::default(),
            others: PatternRecorder::default(),
            plan,
            replay: None,
            replayed: Replayed::default(),
            error: None,
            is_layer: false,
        }
    }

    fn is_first(&self) -> bool {
        self.begun <= self.operators
    }

    fn finish(self) -> Result<(Profiles, Replayed), ReplayError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (first, ()) = self.profiler.finish();
        let others = self.others.patterns;
        Ok((Profiles { first, others }, self.replayed))
    }

    fn end_replay(&mut self, time: Time) {
        let Some(mut replay) = self.replay.take() else {
            return;
        };
        replay.end_layer(time);
        let report = replay.finish();
        let last = self.begun.saturating_sub(1);
        let input = input_number((last / self.operators.max(1)) as u64);
        let operator = OperatorId(last % self.operators.max(1));
        self.replayed.accesses += report.loads + report.stores;
        self.replayed.further_bytes += report.further_bytes;
        self.replayed.incomplete |= !report.complete || report.foreign_events > 0;
        let findings = report.findings.into_iter();
        let findings = findings.map(|finding| (input, operator, finding));
        self.replayed.findings.extend(findings);
    }
}

impl TraceSink for Watcher<'_> {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.is_layer = layer.span == Span::Layer;
        if !self.is_layer {
            if self.is_first() {
                self.profiler.begin_layer(layer, time);
            }
            return;
        }
        self.begun += 1;
        if self.is_first() {
            self.profiler.begin_layer(layer, time);
        } else {
            self.others.begin_layer(layer, time);
        }
        if let Some(plan) = self.plan {
            let operator = plan.operator(self.begun - 1);
            match Replay::new(layer, &plan.layer(operator).step(), MOST_FINDINGS) {
                Ok(mut replay) => {
                    replay.begin_layer(layer, time);
                    self.replay = Some(replay);
                }
                Err(error) => {
                    self.error.get_or_insert(error);
                }
            }
        }
    }

    fn events(&mut self, events: &[Event]) {
        if self.is_first() {
            self.profiler.events(events);
        } else if self.is_layer {
            self.others.events(events);
        }
        if let (true, Some(replay)) = (self.is_layer, &mut self.replay) {
            replay.events(events);
        }
    }

    fn end_layer(&mut self, time: Time) {
        if self.is_first() {
            self.profiler.end_layer(time);
        } else if self.is_layer {
            self.others.end_layer(time);
        }
        if self.is_layer {
            self.end_replay(time);
        }
    }
}

impl Measured {
    /// The operators whose accesses differ from input to input: nothing overlaps there.
    pub fn data_dependent(&self) -> Vec<OperatorId> {
        let layers = self.profile.layers.iter().enumerate();
        let dependent = layers.filter(|(_, layer)| layer.data_dependent == Some(true));
        dependent
            .map(|(operator, _)| OperatorId(operator))
            .collect()
    }
}

/// The instructions that findings name.
pub fn instructions(replayed: &Replayed) -> BTreeSet<Address> {
    let named = replayed.findings.iter().flat_map(|(.., finding)| {
        let writer = finding.writer.and_then(|writer| writer.pc);
        [finding.access.map(|access| access.pc), writer]
    });
    named.flatten().collect()
}
