//! Operators that run as late as they can.
//!
//! An operator without inputs that only makes tensors for one other operator (the
//! dequantisation of weights, for instance) runs directly before it. No order is better
//! than the one in which it is moved there: until then memory is less by its outputs; its
//! own step costs what is in memory after it, at most what is in memory before the other
//! operator; and the step of that one costs no less.

use super::super::cost::StepCost;
use super::super::dataflow::{Dataflow, OperatorFlow};
use crate::graph::OperatorId;

/// The same flow with its operators in another sequence, each under a new number.
pub(super) struct Renamed {
    /// Late operators stand before the one they work for, and depend on all that it depends
    /// on.
    pub(super) flow: Dataflow,
    /// Their numbers in the graph.
    pub(super) names: Vec<OperatorId>,
}

impl Renamed {
    pub(super) fn new(flow: &Dataflow, cost: &mut dyn StepCost) -> Self {
        let count = flow.operators.len();
        // What is in memory in the first step only could become part of another one.
        let any = flow.unneeded_given_bytes() == 0;
        let is_late: Vec<bool> = (0..count)
            .map(|operator| any && is_late(flow, operator, cost))
            .collect();
        let mut servants: Vec<Vec<OperatorId>> = vec![Vec::new(); count];
        for operator in (0..count).filter(|&operator| is_late[operator]) {
            for served in &flow.operators[operator].successors {
                servants[served.0].push(OperatorId(operator));
            }
        }
        let mut names = Vec::with_capacity(count);
        let mut predecessors = Vec::with_capacity(count);
        for operator in (0..count).filter(|&operator| !is_late[operator]) {
            let mut before: Vec<OperatorId> = flow.operators[operator].predecessors.clone();
            before.retain(|other| !is_late[other.0]);
            let served = std::iter::once(OperatorId(operator));
            for member in servants[operator].drain(..).chain(served) {
                names.push(member);
                predecessors.push(std::mem::replace(&mut before, vec![member]));
            }
        }
        Self {
            flow: rename(flow, &names, &predecessors),
            names,
        }
    }
}

/// Whether the operator has no inputs and no effect but tensors for one other.
fn is_late(flow: &Dataflow, operator: usize, cost: &mut dyn StepCost) -> bool {
    let of = &flow.operators[operator];
    let mut outputs = of.outputs.iter().map(|&output| flow.tensor(output));
    let bytes: u64 = outputs.clone().map(|tensor| tensor.bytes).sum();
    of.inputs.is_empty()
        && of.predecessors.is_empty()
        && of.successors.len() == 1
        && outputs.all(|tensor| !tensor.kept && !tensor.readers.is_empty())
        && cost.touched_bytes(OperatorId(operator), &[]) == bytes
}

/// `names` are the operators in their new sequence, `predecessors` those of each, by their
/// old names.
fn rename(flow: &Dataflow, names: &[OperatorId], predecessors: &[Vec<OperatorId>]) -> Dataflow {
    let mut numbers = vec![OperatorId(0); names.len()];
    for (number, name) in names.iter().enumerate() {
        numbers[name.0] = OperatorId(number);
    }
    let renamed = |ids: &[OperatorId]| {
        let mut ids: Vec<OperatorId> = ids.iter().map(|id| numbers[id.0]).collect();
        ids.sort_unstable();
        ids
    };
    let mut operators: Vec<OperatorFlow> = names
        .iter()
        .zip(predecessors)
        .map(|(&name, predecessors)| OperatorFlow {
            predecessors: renamed(predecessors),
            successors: Vec::new(),
            ..flow.operator(name).clone()
        })
        .collect();
    for number in 0..operators.len() {
        for predecessor in operators[number].predecessors.clone() {
            operators[predecessor.0].successors.push(OperatorId(number));
        }
    }
    let mut tensors = flow.tensors.clone();
    for tensor in &mut tensors {
        tensor.producer = tensor.producer.map(|producer| numbers[producer.0]);
        tensor.readers = renamed(&tensor.readers);
    }
    Dataflow { tensors, operators }
}

/// The cost of operators under their new numbers.
pub(super) struct RenamedCost<'a> {
    pub(super) names: &'a [OperatorId],
    pub(super) cost: &'a mut dyn StepCost,
}

impl StepCost for RenamedCost<'_> {
    fn touched_bytes(&mut self, operator: OperatorId, dying: &[bool]) -> u64 {
        self.cost.touched_bytes(self.names[operator.0], dying)
    }
}
