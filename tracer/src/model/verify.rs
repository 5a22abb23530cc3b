//! Whether a layout of a model's tensors is safe, by three witnesses that share nothing:
//!
//! * geometry: what is in use at the same time keeps the distance that the measured O_s of
//!   each operator asks for;
//! * replay: the recorded accesses, moved onto the layout, find in each byte what their own
//!   tensor has stored there;
//! * execution: the machine code, run in the layout, computes after each operator what it
//!   computes without any overlap.
//!
//! Of an operator that no kernel can be called for, geometry grants no overlap, and execution stores
//! something in its place; nothing is replayed.
//!
//! Only the last does not trust the trace, and only the other two see a byte that was lost and
//! happened to be right all the same.
//!
//! ```text
//! without overlaps  |op 1|op 2|op 3| ...     one machine, one operator after the other
//! in the layout     |op 1|op 2|op 3| ...     another; compared after each operator
//! traced                 |op 1   |op 3  ...  the same operators on machines of their own,
//!                         |op 2    | ...     as many side by side as there are cores
//! ```

mod execution;
mod in_layout;
mod layer;
mod original;
mod outcomes;
mod reader;

pub use execution::{Difference, Mismatch, OtherBytes};
pub use layer::{MeasuredPair, VerifiedLayer};
pub use original::differences_from;
pub use reader::LaterLoad;

use super::overlaps::granted;
use super::{Deployment, Placement, Step};
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::Limits;
use crate::measure::MeasureError;
use crate::program::other_inputs::Variation;
use dmo_analysis::arena::{Arena, ArenaError, Layout};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::replay::{ReplayError, alive};
use dmo_analysis::trace::{Address, Role, Tensor};
use dmo_analysis::verify::{Clash, Positions, clashes};
use dmo_planner::plan::tflm;
use execution::Execution;
pub(super) use execution::loaded;
use layer::{LayerCheck, Outcome};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

/// A layout to be verified, and the limits of the runs.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// Operators in the order in which they run.
    pub order: &'a [OperatorId],
    /// Where everything lies.
    pub placement: &'a Placement,
    /// The model's inputs have to be as they were when an inference has ended.
    pub keep_inputs: bool,
}

/// How a layout is tried.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// On how many different inputs.
    pub inputs: u64,
    /// Bounds of one call of an operator.
    pub limits: Limits,
    /// What data decide in each operator is found, which takes longer: where that is nothing, what holds
    /// on one input holds on all.
    pub follows_data: bool,
}

impl Runs {
    /// On so many inputs, and no more.
    pub fn on(inputs: u64, limits: Limits) -> Self {
        Self {
            inputs,
            limits,
            follows_data: false,
        }
    }
}

/// The findings of the three witnesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// Measurements of each operator, in the order in which they run.
    pub layers: Vec<VerifiedLayer>,
    /// Objections of geometry.
    pub clashes: Vec<Clash>,
    /// Objections of execution.
    pub differences: Vec<Difference>,
    /// Loads of what the replay found destroyed, the first few.
    pub readers: Vec<LaterLoad>,
    /// Instructions of one inference.
    pub instructions: u64,
    /// Estimated cycles of one inference; `None` if they are not known.
    pub cycles: Option<Cycles>,
}

impl Verification {
    /// No witness objects.
    pub fn is_safe(&self) -> bool {
        self.clashes.is_empty()
            && self.differences.is_empty()
            && self.layers.iter().all(VerifiedLayer::is_clean)
    }
}

/// Why nothing could be verified.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum VerifyError {
    #[error("operator {} {}: {error}", operator.0, .function.unwrap_or("(not executed)"))]
    Operator {
        operator: OperatorId,
        function: Option<&'static str>,
        error: MeasureError,
    },
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("a thread panicked")]
    Panic,
}

/// At most this many clashes are reported.
const MOST_CLASHES: usize = 100;

/// At most this many findings are reported for an operator on one input.
const MOST_FINDINGS: usize = 8;

/// Verifies a layout. `progress` receives how many operators are done
/// and how many there are.
///
/// # Errors
/// When the model cannot run even without overlaps.
pub fn verify(
    deployment: &Deployment,
    subject: &Subject,
    runs: Runs,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Verification, VerifyError> {
    let Runs { inputs, limits, .. } = runs;
    let mut tensors = subject.placement.tensors.clone();
    tensors.resize(deployment.graph.tensors.len(), None);
    let placement = Placement {
        tensors: deployment.graph.with_views(tensors),
        ..subject.placement.clone()
    };
    let subject = &Subject {
        placement: &placement,
        ..*subject
    };
    let scratch = scratch_positions(deployment, subject);
    let alive = alive(
        &deployment.graph,
        subject.order,
        positions(subject, &scratch),
    )
    .map_err(ArenaError::from)?;
    let operators = subject.order.iter();
    let executed = operators.filter(|&&operator| deployment.step(operator).kernel.is_ok());
    let executed = executed.count();
    let total = executed * inputs as usize;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = sync_channel::<LayerCheck>(workers);
    let receiver = Arc::new(Mutex::new(receiver));
    let outcomes = Mutex::new(Vec::new());
    let execution = std::thread::scope(|scope| {
        let execution = scope.spawn(move || {
            let mut execution = Execution::new(deployment, subject, limits)?;
            for index in 0..inputs {
                execution.infer(input_number(index), &|job| sender.send(job).is_ok())?;
            }
            let cycles = execution.cycles().map(|cycles| cycles.of_each(inputs));
            let instructions = execution.instructions() / inputs;
            Ok::<_, VerifyError>((instructions, cycles, execution.differences))
        });
        for _ in 0..workers {
            let (receiver, outcomes, alive) = (receiver.clone(), &outcomes, &alive);
            scope.spawn(move || {
                while let Some(job) = next(&receiver) {
                    let outcome = layer::trace(deployment, subject, alive, &job, &runs);
                    let Ok(mut outcomes) = outcomes.lock() else {
                        return;
                    };
                    outcomes.push(outcome);
                    progress(outcomes.len(), total);
                }
            });
        }
        // When no worker is left, nobody listens, and the execution ends.
        drop(receiver);
        execution.join()
    });
    let (instructions, cycles, differences) = execution.map_err(|_| VerifyError::Panic)??;
    let outcomes = outcomes.into_inner().map_err(|_| VerifyError::Panic)?;
    let outcomes = outcomes.into_iter().collect::<Result<Vec<Outcome>, _>>()?;
    let told = outcomes.len();
    let mut layers = layer::merged(deployment, outcomes);
    // An operator of which nobody has told anything must not pass for one without objection.
    if told != total || layers.len() != executed {
        return Err(VerifyError::Panic);
    }
    outcomes::grant(deployment, &mut layers, inputs, limits)?;
    let clashes = geometric(deployment, subject, &layers)?;
    let readers = reader::readers(deployment, subject, &layers, limits)?;
    Ok(Verification {
        readers,
        layers,
        clashes,
        differences,
        instructions,
        cycles,
    })
}

pub(super) fn failed(step: &Step, error: MeasureError) -> VerifyError {
    VerifyError::Operator {
        operator: step.operator,
        function: step.function(),
        error,
    }
}

fn next(receiver: &Mutex<Receiver<LayerCheck>>) -> Option<LayerCheck> {
    receiver.lock().ok()?.recv().ok()
}

/// The first witness, with the overlaps that were measured.
fn geometric(
    deployment: &Deployment,
    subject: &Subject,
    layers: &[VerifiedLayer],
) -> Result<Vec<Clash>, VerifyError> {
    let overlaps = measured_overlaps(deployment, layers);
    let scratch = scratch_positions(deployment, subject);
    let positions = positions(subject, &scratch);
    let graph = &deployment.graph;
    let found = clashes(graph, subject.order, &overlaps, positions, MOST_CLASHES);
    Ok(found.map_err(ArenaError::from)?)
}

fn positions<'a>(subject: &Subject<'a>, scratch: &'a [(OperatorId, u64, u64)]) -> Positions<'a> {
    Positions {
        tensors: &subject.placement.tensors,
        scratch,
        keep_inputs: subject.keep_inputs,
    }
}

fn scratch_positions(deployment: &Deployment, subject: &Subject) -> Vec<(OperatorId, u64, u64)> {
    let steps = deployment.steps.iter();
    let scratch = steps.filter_map(|step| {
        let offset = subject.placement.scratch[step.operator.0]?;
        Some((step.operator, offset, u64::from(step.scratch.total_bytes)))
    });
    scratch.collect()
}

/// The overlaps that the traces of a model's operators allow.
pub fn measured_overlaps(deployment: &Deployment, layers: &[VerifiedLayer]) -> Overlaps {
    let mut overlaps = overlaps::none(&deployment.graph);
    for layer in layers {
        let measured = layer.pairs.iter().filter_map(MeasuredPair::allowed);
        overlaps[layer.operator.0] = granted(deployment, layer.operator, measured.collect());
    }
    overlaps
}

/// A layout without any overlap, as TensorFlow Lite Micro plans it.
///
/// # Errors
/// When the order is not one of the model's.
pub fn without_overlaps(
    deployment: &Deployment,
    order: &[OperatorId],
) -> Result<Placement, ArenaError> {
    let graph = &deployment.graph;
    let arena = Arena::new(graph, order, &overlaps::none(graph), Layout::tflm())?;
    let plan = tflm::plan(&arena.problem.without_overlaps());
    let mut scratch = vec![None; graph.operators.len()];
    for planned in &arena.scratch {
        scratch[planned.operator.0] = Some(plan.offsets[planned.buffer]);
    }
    Ok(Placement {
        tensors: arena.tensor_offsets(&plan),
        scratch,
        arena_bytes: plan.arena_bytes(&arena.problem),
    })
}

/// Numbers of the inputs in the order in which they are tried: one that is constant, in whose
/// outputs many bytes are equal, is never the last of three or more.
pub(crate) fn input_number(index: u64) -> u64 {
    const ORDER: [u64; 6] = [0, 2, 1, 3, 4, 5];
    ORDER.get(index as usize).copied().unwrap_or(index)
}

/// Bytes for the model's inputs, reproducible: number 0 is an ordinary one. A tensor that is an input
/// twice has the same bytes twice.
pub fn model_inputs(deployment: &Deployment, number: u64) -> Vec<(TensorId, Vec<u8>)> {
    let inputs = &deployment.graph.inputs;
    let content = |&id: &TensorId| {
        let position = inputs.iter().position(|&other| other == id);
        let position = position.unwrap_or_default();
        let known = deployment.graph.tensor(id);
        let tensor = Tensor {
            name: String::new(),
            role: Role::Input,
            address: Address(0),
            size_bytes: known.size_bytes as u32,
            element_type: deployment.element_type(id),
        };
        (id, Variation(number).ordinary(position, &tensor))
    };
    inputs.iter().map(content).collect()
}
