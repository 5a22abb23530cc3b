//! What runs before what in every order.

use super::bits;
use super::cost::StepCost;
use super::dataflow::{Dataflow, TensorFlow};
use crate::graph::OperatorId;

/// For each operator, the operators that run before it, and after it, in every order.
pub(super) struct Ancestry {
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
}

impl Ancestry {
    /// Takes memory in the square of the number of operators.
    pub(super) fn new(flow: &Dataflow) -> Self {
        let count = flow.operators.len();
        let mut before = vec![vec![0; bits::words(count)]; count];
        let mut after = before.clone();
        for index in 0..count {
            let operator = &flow.operators[index];
            gather(&mut before, index, &operator.predecessors);
        }
        for index in (0..count).rev() {
            let operator = &flow.operators[index];
            gather(&mut after, index, &operator.successors);
        }
        Self { before, after }
    }

    /// Whether `one` runs before `other` in every order.
    pub(super) fn precedes(&self, one: usize, other: usize) -> bool {
        bits::contains(&self.before[other], one)
    }

    /// Lengths of the beginnings of the file's order that are beginnings of every order, up
    /// to permutation: all operators after the cut depend on all before it. The first is 0,
    /// the last the number of operators.
    pub(super) fn cuts(&self) -> Vec<usize> {
        let count = self.before.len();
        // This many of the file's first operators run before this one in every order.
        let led_by = |index: usize| {
            let runs = self.before[index].iter().position(|&word| word != u64::MAX);
            runs.map_or(count, |word| {
                word * 64 + self.before[index][word].trailing_ones() as usize
            })
        };
        let mut cuts = vec![count];
        let mut least = count;
        for cut in (0..count).rev() {
            least = least.min(led_by(cut));
            if least >= cut {
                cuts.push(cut);
            }
        }
        cuts.reverse();
        cuts.dedup();
        cuts
    }

    /// What the operator's step costs at least, whatever the order: its tensors, with every
    /// input dying that can, and what was there before and is needed after in every order.
    pub(super) fn least_cost(
        &self,
        flow: &Dataflow,
        operator: usize,
        measure: &mut dyn StepCost,
    ) -> u64 {
        let touched = &flow.operators[operator];
        let may_die = |tensor: &TensorFlow| !tensor.kept && !self.read_after(tensor, operator);
        let dying: Vec<bool> = touched
            .inputs
            .iter()
            .map(|&input| may_die(flow.tensor(input)))
            .collect();
        let held = flow.tensors.iter().enumerate().filter(|(index, tensor)| {
            let id = crate::graph::TensorId(*index);
            let there = match tensor.producer {
                Some(producer) => self.precedes(producer.0, operator),
                None => tensor.given,
            };
            there
                && (tensor.kept || self.read_after(tensor, operator))
                && !touched.inputs.contains(&id)
                && !touched.outputs.contains(&id)
        });
        let held: u64 = held.map(|(_, tensor)| tensor.bytes).sum();
        measure
            .touched_bytes(OperatorId(operator), &dying)
            .saturating_add(held)
    }

    fn read_after(&self, tensor: &TensorFlow, operator: usize) -> bool {
        let after = &self.after[operator];
        let mut readers = tensor.readers.iter();
        readers.any(|reader| bits::contains(after, reader.0))
    }
}

fn gather(sets: &mut [Vec<u64>], index: usize, neighbours: &[OperatorId]) {
    let mut set = std::mem::take(&mut sets[index]);
    for neighbour in neighbours {
        bits::insert(&mut set, neighbour.0);
        bits::unite(&mut set, &sets[neighbour.0]);
    }
    sets[index] = set;
}
