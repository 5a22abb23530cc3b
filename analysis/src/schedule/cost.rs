//! What a step costs.

use super::dataflow::Dataflow;
use super::extent::{SharedPair, least_extent};
use super::{CountedEnds, ScheduleError};
use crate::graph::overlaps::{Overlaps, SafeOverlap};
use crate::graph::{Graph, OperatorId, TensorId};
use std::collections::HashMap;

/// What the tensors that an operator touches, and its scratch buffers, need together.
///
/// The search for an order relies on three things. The bytes are at least those of inputs
/// and scratch, and at least those of outputs, scratch and the inputs that do not die. They
/// are no more when more inputs die. And the same question has the same answer.
pub trait StepCost {
    /// In bytes. `dying` says of each of [`Graph::arena_inputs`] whether nothing needs it
    /// after this step.
    fn touched_bytes(&mut self, operator: OperatorId, dying: &[bool]) -> u64;
}

impl<F: FnMut(OperatorId, &[bool]) -> u64> StepCost for F {
    fn touched_bytes(&mut self, operator: OperatorId, dying: &[bool]) -> u64 {
        self(operator, dying)
    }
}

/// Outputs overlap dying inputs as far as the kernels let them: the least extent of the
/// step's tensors ([`least_extent`]).
///
/// The peak of an order by this measure is a lower bound on its arena, not an arena:
/// arrangements that are best for one step need not go together.
#[derive(Debug, Clone)]
pub struct Overlapped {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    scratch_bytes: u64,
    pairs: Vec<SharedPair>,
    /// Inputs in `pairs`, each once.
    sharers: Vec<usize>,
    /// By the set of sharers that die.
    known: HashMap<u64, u64>,
}

impl Overlapped {
    /// For the operators of the graph. Overlaps of tensors that the operator does not touch
    /// or that are not counted are ignored.
    ///
    /// # Errors
    /// Those of [`Dataflow::new`], and when `overlaps` is not of as many operators.
    pub fn new(
        graph: &Graph,
        overlaps: &Overlaps,
        ends: CountedEnds,
    ) -> Result<Self, ScheduleError> {
        let flow = Dataflow::new(graph, ends)?;
        if overlaps.len() != flow.operators.len() {
            return Err(ScheduleError::OverlapsLength {
                given: overlaps.len(),
                expected: flow.operators.len(),
            });
        }
        let sizes = |ids: &[TensorId]| ids.iter().map(|&id| flow.tensor(id).bytes).collect();
        let step = |(operator, overlaps): (usize, &Vec<SafeOverlap>)| {
            let operator = &flow.operators[operator];
            let pairs = shared_pairs(overlaps, &operator.inputs, &operator.outputs);
            let mut sharers: Vec<usize> = pairs.iter().map(|pair| pair.input).collect();
            sharers.sort_unstable();
            sharers.dedup();
            Step {
                inputs: sizes(&operator.inputs),
                outputs: sizes(&operator.outputs),
                scratch_bytes: operator.scratch_bytes,
                pairs,
                sharers,
                known: HashMap::new(),
            }
        };
        Ok(Self {
            steps: overlaps.iter().enumerate().map(step).collect(),
        })
    }
}

fn shared_pairs(
    overlaps: &[SafeOverlap],
    inputs: &[TensorId],
    outputs: &[TensorId],
) -> Vec<SharedPair> {
    let pair = |overlap: &SafeOverlap| {
        Some(SharedPair {
            input: inputs.iter().position(|&id| id == overlap.input)?,
            output: outputs.iter().position(|&id| id == overlap.output)?,
            sharing: overlap.sharing,
        })
    };
    overlaps.iter().filter_map(pair).collect()
}

impl StepCost for Overlapped {
    fn touched_bytes(&mut self, operator: OperatorId, dying: &[bool]) -> u64 {
        let step = &mut self.steps[operator.0];
        // With more than 64 inputs that share, all count as dying: a lower bound.
        let all = step.sharers.len() > 64;
        let dies = |input: usize| all || dying.get(input).is_some_and(|&dies| dies);
        let key = if all {
            u64::MAX
        } else {
            let bit = |(place, &input): (usize, &usize)| u64::from(dies(input)) << place;
            step.sharers.iter().enumerate().map(bit).sum()
        };
        let extent = || {
            let pairs: Vec<SharedPair> = step
                .pairs
                .iter()
                .copied()
                .filter(|pair| dies(pair.input))
                .collect();
            least_extent(&step.inputs, &step.outputs, &pairs) + step.scratch_bytes
        };
        *step.known.entry(key).or_insert_with(extent)
    }
}
