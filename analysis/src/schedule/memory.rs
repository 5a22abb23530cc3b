//! Memory while the operators run, step by step, forwards and back.

use super::bits;
use super::cost::StepCost;
use super::dataflow::Dataflow;
use crate::graph::OperatorId;

/// What is in memory after a set of operators has run. The set is closed: it contains the
/// predecessors of its members.
pub(super) struct Memory<'a> {
    flow: &'a Dataflow,
    measure: &'a mut dyn StepCost,
    executed: Vec<u64>,
    ready: Vec<u64>,
    /// Predecessors that have not run, of each operator.
    waiting: Vec<usize>,
    /// Readers that have not run, of each tensor.
    readers_left: Vec<usize>,
    live_bytes: u64,
    steps: usize,
    first_step_bytes: u64,
    dying: Vec<bool>,
    /// Steps run, taken back and measured since [`Memory::take_work`].
    work: u64,
}

/// Work of measuring a step, in steps that are run.
const MEASURED: u64 = 4;

impl<'a> Memory<'a> {
    /// Before the first step.
    pub(super) fn new(flow: &'a Dataflow, measure: &'a mut dyn StepCost) -> Self {
        let operators = &flow.operators;
        let words = bits::words(operators.len());
        let mut ready = vec![0; words];
        for (index, operator) in operators.iter().enumerate() {
            if operator.predecessors.is_empty() {
                bits::insert(&mut ready, index);
            }
        }
        let given = flow
            .tensors
            .iter()
            .filter(|tensor| tensor.given && tensor.needed());
        Self {
            executed: vec![0; words],
            ready,
            waiting: operators
                .iter()
                .map(|operator| operator.predecessors.len())
                .collect(),
            readers_left: flow
                .tensors
                .iter()
                .map(|tensor| tensor.readers.len())
                .collect(),
            live_bytes: given.map(|tensor| tensor.bytes).sum(),
            steps: 0,
            first_step_bytes: flow.unneeded_given_bytes(),
            dying: Vec::new(),
            work: 0,
            flow,
            measure,
        }
    }

    pub(super) fn flow(&self) -> &'a Dataflow {
        self.flow
    }

    /// What was done since this was last called, in units of [`Budget`](dmo_planner::budget::Budget).
    pub(super) fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    /// The operators that have run.
    pub(super) fn executed(&self) -> &[u64] {
        &self.executed
    }

    /// The operators that can run next.
    pub(super) fn ready(&self) -> &[u64] {
        &self.ready
    }

    /// What is in memory between two steps, in bytes.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// What the step costs in which this ready operator runs, in bytes.
    pub(super) fn cost(&mut self, operator: usize) -> u64 {
        let inputs = &self.flow.operators[operator].inputs;
        self.work += MEASURED;
        self.dying.clear();
        let mut touched = 0;
        for input in inputs {
            let tensor = &self.flow.tensors[input.0];
            touched += tensor.bytes;
            self.dying
                .push(self.readers_left[input.0] == 1 && !tensor.kept);
        }
        let extent = self
            .measure
            .touched_bytes(OperatorId(operator), &self.dying);
        let once = if self.steps == 0 {
            self.first_step_bytes
        } else {
            0
        };
        (self.live_bytes - touched)
            .saturating_add(extent)
            .saturating_add(once)
    }

    /// Runs a ready operator.
    pub(super) fn run(&mut self, operator: usize) {
        self.work += 1;
        let flow = &self.flow.operators[operator];
        for output in &flow.outputs {
            let tensor = &self.flow.tensors[output.0];
            if tensor.needed() {
                self.live_bytes += tensor.bytes;
            }
        }
        for input in &flow.inputs {
            let left = &mut self.readers_left[input.0];
            *left -= 1;
            let tensor = &self.flow.tensors[input.0];
            if *left == 0 && !tensor.kept {
                self.live_bytes -= tensor.bytes;
            }
        }
        for successor in &flow.successors {
            let waiting = &mut self.waiting[successor.0];
            *waiting -= 1;
            if *waiting == 0 {
                bits::insert(&mut self.ready, successor.0);
            }
        }
        bits::remove(&mut self.ready, operator);
        bits::insert(&mut self.executed, operator);
        self.steps += 1;
    }

    /// Takes back an operator that has run and whose successors have not.
    pub(super) fn undo(&mut self, operator: usize) {
        self.work += 1;
        let flow = &self.flow.operators[operator];
        for successor in &flow.successors {
            let waiting = &mut self.waiting[successor.0];
            if *waiting == 0 {
                bits::remove(&mut self.ready, successor.0);
            }
            *waiting += 1;
        }
        for input in &flow.inputs {
            let left = &mut self.readers_left[input.0];
            let tensor = &self.flow.tensors[input.0];
            if *left == 0 && !tensor.kept {
                self.live_bytes += tensor.bytes;
            }
            *left += 1;
        }
        for output in &flow.outputs {
            let tensor = &self.flow.tensors[output.0];
            if tensor.needed() {
                self.live_bytes -= tensor.bytes;
            }
        }
        bits::insert(&mut self.ready, operator);
        bits::remove(&mut self.executed, operator);
        self.steps -= 1;
    }

    /// By how much the ready operator raises what is in memory, in bytes.
    pub(super) fn growth(&self, operator: usize) -> i128 {
        let flow = &self.flow.operators[operator];
        let mut growth = 0;
        for output in &flow.outputs {
            let tensor = &self.flow.tensors[output.0];
            growth += i128::from(tensor.bytes) * i128::from(tensor.needed());
        }
        for input in &flow.inputs {
            let tensor = &self.flow.tensors[input.0];
            let dies = self.readers_left[input.0] == 1 && !tensor.kept;
            growth -= i128::from(tensor.bytes) * i128::from(dies);
        }
        growth
    }

    /// Back to before the first step.
    pub(super) fn restart(&mut self) {
        self.go_to_first(0);
    }

    /// On to after the last step.
    pub(super) fn finish(&mut self) {
        self.go_to_first(self.flow.operators.len());
    }

    /// To where the file's first `count` operators have run.
    pub(super) fn go_to_first(&mut self, count: usize) {
        let mut executed = vec![0; self.executed.len()];
        for operator in 0..count {
            bits::insert(&mut executed, operator);
        }
        self.go_to(&executed, 0);
    }

    /// Runs and takes back until just the given operators have run in the words from
    /// `first_word` on; elsewhere nothing changes.
    pub(super) fn go_to(&mut self, executed: &[u64], first_word: usize) {
        for (index, &wanted) in executed.iter().enumerate().rev() {
            let word = first_word + index;
            let mut surplus = self.executed[word] & !wanted;
            while surplus != 0 {
                let bit = 63 - surplus.leading_zeros() as usize;
                self.undo(word * 64 + bit);
                surplus &= !(1 << bit);
            }
        }
        for (index, &wanted) in executed.iter().enumerate() {
            let word = first_word + index;
            let mut missing = wanted & !self.executed[word];
            while missing != 0 {
                let bit = missing.trailing_zeros() as usize;
                self.run(word * 64 + bit);
                missing &= missing - 1;
            }
        }
    }
}
