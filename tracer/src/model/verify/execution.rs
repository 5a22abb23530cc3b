//! The machine code in the layout, held against itself without overlaps.

use super::layer::LayerCheck;
use super::{Subject, VerifyError, failed, model_inputs, without_overlaps};
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Limits, Observation};
use crate::model::tracing::Contents;
use crate::model::{Deployment, Inference, Step};
use dmo_analysis::graph::{OperatorId, Storage, TensorId};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Something that execution in the layout does and execution without overlaps does not.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Difference {
    /// Number of the model's input.
    pub input: u64,
    /// The operator after which it shows.
    pub operator: OperatorId,
    /// The kind of the difference.
    #[serde(flatten)]
    pub mismatch: Mismatch,
}

/// The kind of the difference.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "mismatch")]
pub enum Mismatch {
    /// A tensor or state that the operator stores has other bytes.
    Tensor(OtherBytes),
    /// The operator has changed bytes of the arena that are neither output nor scratch.
    Stray {
        /// From the first to the last of them, from the arena's start.
        arena: Range<usize>,
    },
    /// The operator does not return, or reports an error.
    Failed {
        /// Why.
        reason: String,
    },
    /// The changed model computes something else than the model, also without overlaps.
    Original(OtherBytes),
    /// A tensor that the application reads at the end has been overwritten.
    Lost(OtherBytes),
}

/// A tensor whose bytes are not those that were expected.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OtherBytes {
    /// The tensor, a state too.
    pub tensor: TensorId,
    /// The first byte that differs.
    pub first_byte: usize,
    /// How many differ.
    pub bytes: usize,
}

/// What the arenas hold before the first inference: not the same, so that what a kernel loads
/// and nobody has stored shows.
const POISON: [u8; 2] = [0x5a, 0xa7];
// One even and one odd: stack and registers differ too (`Inference::new`).
const _: () = assert!(POISON[0] % 2 != POISON[1] % 2);

/// Both executions, operator by operator.
pub(super) struct Execution<'a> {
    deployment: &'a Deployment<'a>,
    subject: &'a Subject<'a>,
    apart: Inference<'a>,
    planned: Inference<'a>,
    /// The differences found so far.
    pub(super) differences: Vec<Difference>,
}

impl<'a> Execution<'a> {
    pub(super) fn new(
        deployment: &'a Deployment<'a>,
        subject: &'a Subject<'a>,
        limits: Limits,
    ) -> Result<Self, VerifyError> {
        let apart = without_overlaps(deployment, subject.order)?;
        let watch = Observation::Watch;
        let mut apart = Inference::new(deployment, &apart, POISON[0], watch, limits)?;
        apart.count_cycles();
        Ok(Self {
            deployment,
            subject,
            apart,
            planned: Inference::new(deployment, subject.placement, POISON[1], watch, limits)?,
            differences: Vec::new(),
        })
    }

    /// Instructions without overlaps, of all inferences.
    pub(super) fn instructions(&self) -> u64 {
        self.apart.instructions()
    }

    /// The same in estimated cycles; `None` if they are not known.
    pub(super) fn cycles(&self) -> Option<Cycles> {
        self.apart.cycles()
    }

    /// One inference of each; `tell` receives every operator, and gives false when nobody
    /// listens any more.
    pub(super) fn infer(
        &mut self,
        number: u64,
        tell: &dyn Fn(LayerCheck) -> bool,
    ) -> Result<(), VerifyError> {
        let inputs = model_inputs(self.deployment, number);
        self.apart.begin(&inputs)?;
        self.planned.begin(&inputs)?;
        let mut goes_on = true;
        for (index, &operator) in self.subject.order.iter().enumerate() {
            let step = self.deployment.step(operator);
            let contents = loaded(self.deployment, &self.apart, step)?;
            self.apart
                .run(operator)
                .map_err(|error| failed(step, error))?;
            let stored: Vec<TensorId> = step.outputs.iter().chain(&step.states).copied().collect();
            let outputs = own_bytes(&self.apart, &stored)?;
            goes_on = goes_on && self.run_planned(number, step, &outputs)?;
            if step.kernel.is_err() {
                continue;
            }
            let job = LayerCheck {
                number,
                index,
                operator,
                contents,
                outputs,
            };
            if !tell(job) {
                return Ok(());
            }
        }
        if goes_on {
            self.compare_what_is_left(number, &inputs)?;
        }
        Ok(())
    }

    /// Runs an operator in the layout; false when the inference cannot go on.
    fn run_planned(
        &mut self,
        number: u64,
        step: &Step,
        expected: &Contents,
    ) -> Result<bool, VerifyError> {
        let before = self.planned.arena()?;
        if let Err(error) = self.planned.run(step.operator) {
            let reason = error.to_string();
            self.note(number, step.operator, Mismatch::Failed { reason });
            return Ok(false);
        }
        let after = self.planned.arena()?;
        if let Some(arena) = self.stray(step, &before, &after) {
            self.note(number, step.operator, Mismatch::Stray { arena });
        }
        for (tensor, bytes) in expected {
            let found = self.planned.own_bytes(*tensor)?;
            if let Some(other) = OtherBytes::find(*tensor, bytes, &found) {
                self.note(number, step.operator, Mismatch::Tensor(other));
            }
        }
        Ok(true)
    }

    /// From the first to the last byte that has changed and that the operator does not own.
    fn stray(&self, step: &Step, before: &[u8], after: &[u8]) -> Option<Range<usize>> {
        let placement = self.subject.placement;
        let graph = &self.deployment.graph;
        let outputs = step.outputs.iter().flat_map(|id| {
            let offset = placement.offset(*id);
            let runs = graph.own_bytes(*id).into_iter();
            runs.filter_map(move |run| Some(offset? + run.start..offset? + run.end))
        });
        let scratch = placement.scratch[step.operator.0];
        let scratch = scratch.map(|offset| offset..offset + u64::from(step.scratch.total_bytes));
        let own: Vec<Range<u64>> = outputs.chain(scratch).collect();
        let strays = |&byte: &usize| {
            let offset = byte as u64;
            before[byte] != after[byte] && !own.iter().any(|range| range.contains(&offset))
        };
        let mut changed = (0..before.len().min(after.len())).filter(strays);
        let first = changed.next()?;
        Some(first..changed.next_back().unwrap_or(first) + 1)
    }

    /// At the end the application reads the outputs, and the inputs too where they are kept.
    fn compare_what_is_left(&mut self, number: u64, inputs: &Contents) -> Result<(), VerifyError> {
        let Some(&last) = self.subject.order.last() else {
            return Ok(());
        };
        let graph = &self.deployment.graph;
        let mut computed = graph.outputs.clone();
        computed.retain(|&tensor| graph.in_arena(tensor));
        let mut expected = tensors(&self.apart, &computed)?;
        if self.subject.keep_inputs {
            expected.extend(inputs.iter().cloned());
        }
        for (tensor, bytes) in expected {
            let found = self.planned.tensor(tensor)?;
            if let Some(other) = OtherBytes::find(tensor, &bytes, &found) {
                self.note(number, last, Mismatch::Lost(other));
            }
        }
        Ok(())
    }

    fn note(&mut self, input: u64, operator: OperatorId, mismatch: Mismatch) {
        self.differences.push(Difference {
            input,
            operator,
            mismatch,
        });
    }
}

/// The contents of the tensors that an operator loads, states included.
pub(in crate::model) fn loaded(
    deployment: &Deployment,
    inference: &Inference,
    step: &Step,
) -> Result<Contents, VerifyError> {
    let mut loaded = step.inputs.clone();
    // Constants are placed with the operator's parameters.
    let graph = &deployment.graph;
    loaded.retain(|&id| graph.tensor(id).storage != Storage::Constant);
    loaded.extend(&step.states);
    tensors(inference, &loaded)
}

fn tensors(inference: &Inference, ids: &[TensorId]) -> Result<Contents, VerifyError> {
    let bytes = |&id: &TensorId| Ok((id, inference.tensor(id)?));
    ids.iter().map(bytes).collect()
}

/// What an operator has stored, of a view without what lies between its own bytes.
fn own_bytes(inference: &Inference, ids: &[TensorId]) -> Result<Contents, VerifyError> {
    let bytes = |&id: &TensorId| Ok((id, inference.own_bytes(id)?));
    ids.iter().map(bytes).collect()
}

impl OtherBytes {
    /// The bytes of a tensor that are not what is expected; `None` where all are.
    pub(crate) fn find(tensor: TensorId, expected: &[u8], found: &[u8]) -> Option<Self> {
        let pairs = expected.iter().zip(found).enumerate();
        let mut different = pairs.filter(|(_, (one, other))| one != other);
        let (first_byte, _) = different.next()?;
        let bytes = different.count() + 1;
        Some(Self {
            tensor,
            first_byte,
            bytes,
        })
    }
}
