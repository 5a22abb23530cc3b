//! Stretches of operators that need not be interrupted.
//!
//! In a chain `c1 .. cn` each operator has one successor, the next, which has no other
//! predecessor, and all inputs are read by nothing else (or are kept to the end). So what
//! the chain adds to memory does not depend on what else has run: `p(i)` after `ci`, and
//! `e(i)` during its step. If some `p(i)` is at most 0, let the stretch end at the first
//! such `i`; otherwise at the last of the lowest `p(i)` from the highest step of the whole
//! chain on. In both cases, with `ch` the highest step of the stretch:
//!
//! * before `ch` all `p(i)` are above 0: operators between `c1` and `ch` are better off
//!   when `c1 .. c(h-1)` run directly before `ch` instead;
//! * from `ch` on no `p(i)` is below that at the end of the stretch: operators between `ch`
//!   and the end are better off when the rest of the stretch runs directly after `ch`;
//! * there its steps cost no more than that of `ch`.
//!
//! So for each order there is one that is no worse in which the stretch is not interrupted,
//! and what was uninterrupted stays so: one stretch after the other can be gathered. The
//! next stretch begins where one ends.
//!
//! An operator that does not raise memory is a stretch of its own, so that
//! [`settle`](super::moves::settle) never stops within one; and as others run between
//! stretches only, what it says of operators holds of stretches.

use super::super::cost::StepCost;
use super::super::dataflow::Dataflow;
use crate::graph::OperatorId;

/// The stretch that begins with each operator.
pub(super) struct Chains {
    lengths: Vec<usize>,
    next: Vec<Option<usize>>,
}

/// What an operator of a chain does to memory.
#[derive(Clone, Copy)]
struct Effect {
    /// Its step, above what is in memory before, in bytes.
    step: i128,
    /// After it, above what is in memory before, in bytes.
    growth: i128,
}

impl Chains {
    pub(super) fn new(flow: &Dataflow, cost: &mut dyn StepCost) -> Self {
        let count = flow.operators.len();
        let mut chains = Self {
            lengths: vec![1; count],
            next: (0..count).map(|operator| next(flow, operator)).collect(),
        };
        // Whatever runs first bears what is in memory in the first step only.
        if flow.unneeded_given_bytes() > 0 {
            return chains;
        }
        let mut later: Vec<Effect> = Vec::new();
        for operator in (0..count)
            .rev()
            .filter(|&operator| is_private(flow, operator))
        {
            // From the end of each chain to its beginning.
            if chains.next[operator].is_none() {
                later.clear();
                let mut member = operator;
                loop {
                    later.push(effect(flow, member, cost));
                    chains.lengths[member] = stretch(&later);
                    match flow.operators[member].predecessors[..] {
                        [before]
                            if chains.next[before.0] == Some(member)
                                && is_private(flow, before.0) =>
                        {
                            member = before.0;
                        }
                        _ => break,
                    }
                }
            }
        }
        chains
    }

    /// The operators to run after this one before any other.
    pub(super) fn rest(&self, operator: usize) -> impl Iterator<Item = usize> + '_ {
        let later = std::iter::successors(self.next[operator], |&member| self.next[member]);
        later.take(self.lengths[operator] - 1)
    }
}

fn next(flow: &Dataflow, operator: usize) -> Option<usize> {
    let [OperatorId(next)] = flow.operators[operator].successors[..] else {
        return None;
    };
    let alone = flow.operators[next].predecessors.len() == 1;
    (alone && is_private(flow, next)).then_some(next)
}

/// Whether each input dies here, or nowhere.
fn is_private(flow: &Dataflow, operator: usize) -> bool {
    flow.operators[operator].inputs.iter().all(|&input| {
        let tensor = flow.tensor(input);
        tensor.kept || tensor.readers.len() == 1
    })
}

fn effect(flow: &Dataflow, operator: usize, cost: &mut dyn StepCost) -> Effect {
    let of = &flow.operators[operator];
    let inputs = || of.inputs.iter().map(|&input| flow.tensor(input));
    let dying: Vec<bool> = inputs().map(|tensor| !tensor.kept).collect();
    let touched: u64 = inputs().map(|tensor| tensor.bytes).sum();
    let freed: u64 = inputs()
        .filter(|tensor| !tensor.kept)
        .map(|tensor| tensor.bytes)
        .sum();
    let outputs = of.outputs.iter().map(|&output| flow.tensor(output));
    let added: u64 = outputs
        .filter(|tensor| tensor.needed())
        .map(|tensor| tensor.bytes)
        .sum();
    let extent = cost.touched_bytes(OperatorId(operator), &dying);
    Effect {
        step: i128::from(extent) - i128::from(touched),
        growth: i128::from(added) - i128::from(freed),
    }
}

/// Length of the first stretch of a chain, given from its end to its beginning.
fn stretch(chain: &[Effect]) -> usize {
    let mut memory = 0;
    let mut highest = i128::MIN;
    let (mut lowest, mut length) = (i128::MAX, 1);
    for (index, effect) in chain.iter().rev().enumerate() {
        let step = memory + effect.step;
        memory += effect.growth;
        if memory <= 0 {
            return index + 1;
        }
        if step > highest {
            (highest, lowest) = (step, i128::MAX);
        }
        if memory <= lowest {
            (lowest, length) = (memory, index + 1);
        }
    }
    length
}
