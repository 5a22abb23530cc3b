//! The trace of one operator, and what it says of a layout.

use super::in_layout::InLayout;
use super::{MOST_FINDINGS, Runs, Subject, VerifyError, failed, input_number};
use crate::call::CallError;
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::FaultCause;
use crate::measure::MeasureError;
use crate::measure::attribution::{Accesses, Attribution};
use crate::measure::sequence::Relocated;
use crate::model::overlaps::Allowed;
use crate::model::tracing::{Contents, ModelBuffer, Traced, TracedLayer};
use crate::model::{Deployment, Placement};
use crate::program::data_decision::DataDecision;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::profile::overlap::Binding;
use dmo_analysis::profile::pattern::{Pattern, PatternRecorder};
use dmo_analysis::profile::{LayerProfile, OtherInput, Pair, Profile, Profiler, Refusal};
use dmo_analysis::replay::{self, Alive, Finding, Replay, ReplayReport, ViewPart};
use dmo_analysis::trace::TraceSink;
use dmo_analysis::verify::Occupant;
use schemars::JsonSchema;
use serde::Serialize;

/// An operator to trace and to replay on the plan.
pub(super) struct LayerCheck {
    /// Number of the model's input.
    pub number: u64,
    /// Position in the order.
    pub index: usize,
    pub operator: OperatorId,
    /// Contents of the tensors that it loads.
    pub contents: Contents,
    /// Contents of its outputs when nothing overlapped.
    pub outputs: Contents,
}

/// The outcome.
pub(super) struct Outcome {
    number: u64,
    index: usize,
    operator: OperatorId,
    places: Vec<ModelBuffer>,
    /// The accesses, to be compared with those on other inputs.
    pattern: Pattern,
    /// Of the first input alone.
    details: Option<Details>,
    replay: ReplayReport,
    /// `true` if its outputs are those of another machine, at other addresses.
    repeats: bool,
    /// A real core faults, and why.
    misaligned: Option<String>,
    stack_bytes: Option<u32>,
    decisions: Option<Vec<DataDecision>>,
    otherwise_in_layout: bool,
}

/// Measured on the first input only. Where another input leads to the same accesses, the same
/// overlaps are safe; where it leads to different ones, none is granted.
struct Details {
    profile: LayerProfile,
    work: Attribution,
    cycles: Option<Cycles>,
}

/// An operator of a verified model.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedLayer {
    /// The operator.
    pub operator: OperatorId,
    /// The function that computes it.
    pub function: &'static str,
    /// Which functions did its work on the first input.
    pub work: Attribution,
    /// Instructions on the first input.
    pub instructions: u64,
    /// Estimated cycles on the first input; `None` if they are not known.
    pub cycles: Option<Cycles>,
    /// O_s of each input with each output, of those in the arena.
    pub pairs: Vec<MeasuredPair>,
    /// Loads and stores that were replayed, on all inputs.
    pub replayed: u64,
    /// Objections of the replay, each with the number of the model's input.
    pub findings: Vec<(u64, Finding)>,
    /// Bytes that are wrong and not among the findings.
    pub further_bytes: u64,
    /// Replays that saw no whole trace, or accesses to none of the layer's buffers: nothing can
    /// be said of them.
    pub incomplete: bool,
    /// Scratch memory from the operator's first byte to the last that it touches, in bytes.
    pub scratch_used_bytes: Option<u32>,
    /// Its deepest stack on all inputs, in bytes; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// `true` if its outputs are the same at other addresses, on a machine that has run nothing
    /// before.
    pub repeats: bool,
    /// An access is not aligned, in the layout, as a real core wants it: which.
    pub misaligned: Option<String>,
    /// Where data decide what it accesses: nowhere, if it is empty, whatever the inputs are. `None`
    /// if that was not asked for, or is not known.
    pub decisions: Option<Vec<DataDecision>>,
    /// In the layout it accesses other bytes than with its buffers apart, for which the replay says
    /// nothing. False if that was not looked at.
    pub otherwise_in_layout: bool,
}

impl VerifiedLayer {
    /// The replay objects to nothing.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
            && self.further_bytes == 0
            && !self.incomplete
            && self.repeats
            && self.misaligned.is_none()
    }
}

/// How far an output may overlap an input.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MeasuredPair {
    /// The input.
    pub input: TensorId,
    /// The output.
    pub output: TensorId,
    /// O_s in bytes.
    pub safe_overlap_bytes: u32,
    /// The least distance of the input's start from the output's that is safe together with
    /// all greater ones, in bytes.
    pub displacement_bytes: u32,
    /// Both may start at the same byte, whatever greater displacements do.
    pub in_place: bool,
    /// The store and the load that forbid a smaller displacement.
    pub binding: Option<Binding>,
    /// Why no overlap is granted.
    pub refusals: Vec<Refusal>,
}

impl MeasuredPair {
    /// The overlap that a plan may use, in bytes; `None` if every overlap is refused.
    pub(in crate::model) fn allowed(&self) -> Option<Allowed> {
        self.refusals.is_empty().then_some(Allowed {
            input: self.input,
            output: self.output,
            displacement_bytes: self.displacement_bytes.into(),
            in_place: self.in_place,
        })
    }
}

/// Traces an operator and replays the trace on the layout.
pub(super) fn trace(
    deployment: &Deployment,
    subject: &Subject,
    alive: &[Alive],
    job: &LayerCheck,
    runs: &Runs,
) -> Result<Outcome, VerifyError> {
    let attempt = |aligned_as| attempt(deployment, subject, alive, job, aligned_as, runs);
    let traced = match attempt(Some(subject.placement)) {
        // The rest can be said of it where it is aligned.
        Err(VerifyError::Measure(error)) => match misaligned(&error) {
            None => Err(error.into()),
            Some(reason) => attempt(None).map(|outcome| Outcome {
                misaligned: Some(reason),
                ..outcome
            }),
        },
        traced => traced,
    };
    traced.map_err(|error| match error {
        VerifyError::Measure(error) => failed(deployment.step(job.operator), error),
        error => error,
    })
}

/// The fault of a real core at an address that is not aligned, which the emulator lets pass.
fn misaligned(error: &MeasureError) -> Option<String> {
    let MeasureError::Call(CallError::Fault(fault)) = error else {
        return None;
    };
    matches!(fault.cause, FaultCause::Unaligned { .. }).then(|| fault.to_string())
}

fn attempt(
    deployment: &Deployment,
    subject: &Subject,
    alive: &[Alive],
    job: &LayerCheck,
    aligned_as: Option<&Placement>,
    runs: &Runs,
) -> Result<Outcome, VerifyError> {
    let mut layer = TracedLayer::new(deployment, job.operator, aligned_as)?;
    let places = layer.places.clone();
    let planned: Vec<Option<replay::BufferPlace>> = places
        .iter()
        .map(|&place| planned(deployment, subject, job.operator, place))
        .collect();
    let step = replay::ReplayStep {
        places: &planned,
        before: &alive[job.index].before,
        after: &alive[job.index].after,
    };
    let mut replay = Replay::new(&layer.layer, &step, MOST_FINDINGS)?;
    let is_first = job.number == input_number(0);
    layer.in_detail = is_first;
    let in_layout = match aligned_as {
        Some(placement) if is_first && runs.follows_data => {
            InLayout::new(deployment, placement, job.operator, runs.limits)?
        }
        _ => None,
    };
    let mut moved = in_layout
        .as_ref()
        .map(|it| Relocated::to(it.addresses(&places)));
    let traced = |sink: &mut dyn TraceSink| {
        let contents = job.contents.clone();
        layer.trace(deployment, job.operator, contents, runs.limits, sink)
    };
    let (traced, pattern, details) = if is_first {
        let mut profiler = Profiler::<()>::default();
        let mut accesses = Accesses::default();
        let mut sink = (&mut (&mut profiler, &mut accesses), &mut replay);
        let traced = match &mut moved {
            Some(moved) => traced(&mut (&mut sink, moved))?,
            None => traced(&mut sink)?,
        };
        let details = details(deployment, job.operator, profiler, &accesses, &traced)?;
        (traced, details.profile.pattern, Some(details))
    } else {
        let mut recorder = PatternRecorder::default();
        let traced = traced(&mut (&mut recorder, &mut replay))?;
        (traced, recorder.patterns.remove(0), None)
    };
    // Whether it fails in the layout, execution says.
    let followed = in_layout.and_then(|it| it.follow(&job.contents).ok());
    let followed_apart = match &followed {
        Some(_) => follow_apart(deployment, job, aligned_as, runs)?,
        None => None,
    };
    let there = followed.as_ref().map(|it| it.accesses);
    let kernel = deployment.step(job.operator).kernel.as_ref().ok();
    let accesses_otherwise = there.zip(kernel).is_some_and(|(there, kernel)| {
        !there.is_as(moved.and_then(Relocated::finish), &kernel.case.operator)
    });
    let apart = followed_apart.unwrap_or_default();
    let decides_otherwise = followed.as_ref().is_some_and(|there| {
        let is_there = |it: &DataDecision| {
            there
                .decisions
                .iter()
                .any(|other| other.address == it.address)
        };
        !apart.iter().all(is_there)
    });
    Ok(Outcome {
        number: job.number,
        index: job.index,
        operator: job.operator,
        places,
        pattern,
        details,
        replay: replay.finish(),
        repeats: traced.outputs == job.outputs,
        misaligned: None,
        stack_bytes: traced.stack_bytes,
        decisions: followed.map(|it| united(it.decisions, apart)),
        otherwise_in_layout: accesses_otherwise || decides_otherwise,
    })
}

/// Where data decide what the operator accesses with its buffers apart: there it may do something else
/// on other inputs, and what the layout is held against would be something else.
fn follow_apart(
    deployment: &Deployment,
    job: &LayerCheck,
    aligned_as: Option<&Placement>,
    runs: &Runs,
) -> Result<Option<Vec<DataDecision>>, MeasureError> {
    let mut layer = TracedLayer::new(deployment, job.operator, aligned_as)?;
    layer.follows_data = true;
    let contents = job.contents.clone();
    let mut ignored = PatternRecorder::default();
    let traced = layer.trace(
        deployment,
        job.operator,
        contents,
        runs.limits,
        &mut ignored,
    )?;
    Ok(traced.decisions)
}

/// Both, each instruction once, by address.
fn united(mut some: Vec<DataDecision>, others: Vec<DataDecision>) -> Vec<DataDecision> {
    some.extend(others);
    some.sort_by_key(|decision| decision.address);
    some.dedup_by_key(|decision| decision.address);
    some
}

fn details(
    deployment: &Deployment,
    operator: OperatorId,
    profiler: Profiler,
    accesses: &Accesses,
    traced: &Traced,
) -> Result<Details, MeasureError> {
    let (mut profile, ()) = profiler.finish();
    let kernel = deployment.step(operator).kernel.as_ref();
    let kernel = kernel.map_err(|_| MeasureError::NotExecuted { operator })?;
    let (library, function) = (deployment.library(kernel), kernel.contract.function);
    Ok(Details {
        profile: profile.layers.remove(0),
        work: Attribution::new(library, function, &traced.entered, accesses),
        cycles: traced.recorded.cycles.first().copied(),
    })
}

/// Where the layout has a buffer of the operator.
fn planned(
    deployment: &Deployment,
    subject: &Subject,
    operator: OperatorId,
    place: ModelBuffer,
) -> Option<replay::BufferPlace> {
    match place {
        ModelBuffer::Tensor(id) => {
            let graph = &deployment.graph;
            let root = graph.root(id);
            Some(replay::BufferPlace {
                occupant: Occupant::Tensor(root),
                offset: subject.placement.offset(root)?,
                part: graph.views.get(&id).map(|view| ViewPart {
                    whole_bytes: graph.tensor(root).size_bytes,
                    start: view.offset_bytes,
                    own: graph.own_bytes(id),
                }),
            })
        }
        ModelBuffer::Scratch => {
            let offset = subject.placement.scratch[operator.0]?;
            let occupant = Occupant::Scratch(operator);
            Some(replay::BufferPlace::whole(occupant, offset))
        }
        ModelBuffer::Beside => None,
    }
}

/// One layer an operator, in the order in which they run.
pub(super) fn merged(deployment: &Deployment, mut outcomes: Vec<Outcome>) -> Vec<VerifiedLayer> {
    outcomes.sort_by_key(|outcome| (outcome.index, outcome.number));
    let of_operator = outcomes.chunk_by(|one, other| one.index == other.index);
    of_operator
        .filter_map(|outcomes| layer(deployment, outcomes))
        .collect()
}

fn layer(deployment: &Deployment, outcomes: &[Outcome]) -> Option<VerifiedLayer> {
    let (first, others) = outcomes.split_first()?;
    let details = first.details.as_ref()?;
    let mut profile = Profile {
        layers: vec![details.profile.clone()],
    };
    let others = others.iter();
    let others = others.map(|outcome| OtherInput::Accesses(outcome.pattern));
    profile.compare_inputs(&[others.collect()]);
    let kernel = deployment.step(first.operator).kernel.as_ref().ok();
    if kernel.is_some_and(|kernel| kernel.case.accesses_by_data()) {
        profile.set_data_dependent(&[Some(true)]);
    }
    let compared = profile.layers.pop()?;
    let pairs = compared.pairs.iter();
    Some(VerifiedLayer {
        operator: first.operator,
        function: deployment.step(first.operator).function()?,
        work: details.work.clone(),
        instructions: details.profile.instructions(),
        cycles: details.cycles,
        pairs: pairs
            .filter_map(|pair| measured(&first.places, pair))
            .collect(),
        replayed: sum(outcomes, |replay| replay.loads + replay.stores),
        findings: outcomes.iter().flat_map(findings).collect(),
        further_bytes: sum(outcomes, |replay| replay.further_bytes),
        incomplete: outcomes
            .iter()
            .any(|outcome| !outcome.replay.complete || outcome.replay.foreign_events > 0),
        scratch_used_bytes: outcomes
            .iter()
            .flat_map(|outcome| &outcome.replay.scratch)
            .map(|scratch| scratch.touched_bytes)
            .max(),
        stack_bytes: outcomes.iter().filter_map(|it| it.stack_bytes).max(),
        repeats: outcomes.iter().all(|outcome| outcome.repeats),
        misaligned: outcomes
            .iter()
            .find_map(|outcome| outcome.misaligned.clone()),
        decisions: first.decisions.clone(),
        otherwise_in_layout: first.otherwise_in_layout,
    })
}

fn sum(outcomes: &[Outcome], of: impl Fn(&ReplayReport) -> u64) -> u64 {
    outcomes.iter().map(|outcome| of(&outcome.replay)).sum()
}

fn findings(outcome: &Outcome) -> impl Iterator<Item = (u64, Finding)> {
    let findings = outcome.replay.findings.iter();
    findings.map(|finding| (outcome.number, finding.clone()))
}

fn measured(places: &[ModelBuffer], pair: &Pair) -> Option<MeasuredPair> {
    let [ModelBuffer::Tensor(input), ModelBuffer::Tensor(output)] =
        [pair.input, pair.output].map(|position| places[position])
    else {
        return None;
    };
    Some(MeasuredPair {
        input,
        output,
        safe_overlap_bytes: pair.safe_overlap_bytes,
        displacement_bytes: pair.displacement_bytes,
        in_place: pair.in_place,
        binding: pair.binding,
        refusals: pair.refusals.clone(),
    })
}
