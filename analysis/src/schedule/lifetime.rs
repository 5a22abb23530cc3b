//! When each tensor is in use, and the working set of each step, of a given order.

use super::cost::StepCost;
use super::dataflow::{Dataflow, TensorFlow};
use super::memory::Memory;
use super::{CountedEnds, ScheduleError};
use crate::graph::{Graph, OperatorId, TensorId};
use std::ops::Range;

/// The steps in which each of the graph's tensors has to be in the arena, half-open.
///
/// Inputs of the graph, also those that nothing reads, are there from step 0 on; outputs
/// of the graph until after the last step. What nothing reads is there in the step that
/// produces it. Tensors outside the arena, and those that nothing touches, have an empty
/// range.
///
/// # Errors
/// Those of [`Dataflow::new`] and [`Dataflow::steps`].
pub fn lifetimes(graph: &Graph, order: &[OperatorId]) -> Result<Vec<Range<usize>>, ScheduleError> {
    let flow = Dataflow::new(graph, CountedEnds::default())?;
    let steps = flow.steps(order)?;
    Ok(flow
        .tensors
        .iter()
        .map(|tensor| lifetime(tensor, &steps))
        .collect())
}

/// Without operators there is still a time at which inputs and outputs are in use.
fn lifetime(tensor: &TensorFlow, steps: &[usize]) -> Range<usize> {
    let begin = match tensor.producer {
        Some(producer) => steps[producer.0],
        None if tensor.given => 0,
        None => return 0..0,
    };
    if tensor.kept {
        return begin..steps.len().max(1);
    }
    let last_read = tensor.readers.iter().map(|reader| steps[reader.0]).max();
    begin..last_read.unwrap_or(begin) + 1
}

/// What is in memory during a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingSet {
    /// The operator that runs.
    pub operator: OperatorId,
    /// The tensors in the arena that are in use, in the file's order; those that are not
    /// counted are left out.
    pub tensors: Vec<TensorId>,
    /// The operator's scratch buffers, in bytes.
    pub scratch_bytes: u64,
    /// Tensors and scratch together, in bytes: no two of them overlap.
    pub bytes: u64,
}

/// All working sets together may name at most this many tensors.
const MOST_TENSORS: usize = 1 << 24;

/// The working set of each step. [`step_costs`] gives the bytes alone.
///
/// # Errors
/// Those of [`Dataflow::new`] and [`Dataflow::steps`], and when all sets together would
/// name more than 16,777,216 tensors.
pub fn working_sets(
    graph: &Graph,
    order: &[OperatorId],
    ends: CountedEnds,
) -> Result<Vec<WorkingSet>, ScheduleError> {
    let flow = Dataflow::new(graph, ends)?;
    let steps = flow.steps(order)?;
    let counted = flow.tensors.iter().filter(|tensor| tensor.bytes > 0);
    let given = counted.map(|tensor| lifetime(tensor, &steps).len()).sum();
    if given > MOST_TENSORS {
        return Err(ScheduleError::TooManyTensors {
            given,
            limit: MOST_TENSORS,
        });
    }
    let mut sets: Vec<WorkingSet> = order
        .iter()
        .map(|&operator| WorkingSet {
            operator,
            tensors: Vec::new(),
            scratch_bytes: flow.operator(operator).scratch_bytes,
            bytes: flow.operator(operator).scratch_bytes,
        })
        .collect();
    for (index, tensor) in flow.tensors.iter().enumerate() {
        let range = lifetime(tensor, &steps);
        let sets = sets.get_mut(range).into_iter().flatten();
        for set in sets.filter(|_| tensor.bytes > 0) {
            set.tensors.push(TensorId(index));
            set.bytes += tensor.bytes;
        }
    }
    Ok(sets)
}

/// What each step costs in bytes, by the given measure: with
/// [`Overlapped`](super::cost::Overlapped) the largest is a lower bound on any arena for
/// this order.
///
/// # Errors
/// Those of [`Dataflow::new`] and [`Dataflow::steps`].
pub fn step_costs(
    graph: &Graph,
    order: &[OperatorId],
    ends: CountedEnds,
    cost: &mut dyn StepCost,
) -> Result<Vec<u64>, ScheduleError> {
    let flow = Dataflow::new(graph, ends)?;
    flow.steps(order)?;
    let mut memory = Memory::new(&flow, cost);
    Ok(order
        .iter()
        .map(|operator| {
            let bytes = memory.cost(operator.0);
            memory.run(operator.0);
            bytes
        })
        .collect())
}
