//! Algorithm 1 of Liberis and Lane, 'Neural networks on microcontrollers: saving memory at
//! inference via operator reordering'.
//!
//! It goes backwards: from a set of tensors that has to be in memory it undoes, in all ways,
//! the operator that produced one of them, and takes the way whose largest working set is
//! the smallest. Answers are remembered by set of tensors; as the sets reached after equally
//! many operators are all that the next ones need, they are visited level by level here
//! instead of by recursion.
//!
//! It differs from the publication in this:
//!
//! * Tensors that no operator produces stay in the set. As published their sizes are added
//!   at each level of the recursion, so that a graph input that two operators read is
//!   counted twice.
//! * An operator may have several outputs. They are undone together, and those that nothing
//!   needs are in memory in its step only.
//! * An operator none of whose outputs is needed has a token of no bytes in the set that is
//!   begun with, for it has to run as well.

use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::schedule::dataflow::Dataflow;
use dmo_analysis::schedule::{CountedEnds, Proof, Schedule, ScheduleError};
use std::collections::{BTreeMap, BTreeSet};

/// Tensors in memory, by their numbers, and after the last tensor the operators' tokens.
type Set = BTreeSet<usize>;

/// How a set of tensors was reached.
struct Reached {
    /// The lowest peak of what runs after the set is in memory.
    peak_bytes: u64,
    /// The operator that was undone, and the set at the level before.
    undone: Option<(usize, Set)>,
}

type Level = BTreeMap<Set, Reached>;

/// The order with the lowest peak without overlaps; `None` if more than `most_sets` sets of
/// tensors would have to be remembered.
///
/// # Errors
/// Those of [`Dataflow::new`].
pub fn liberis_lane(
    graph: &Graph,
    ends: CountedEnds,
    most_sets: usize,
) -> Result<Option<Schedule>, ScheduleError> {
    let undoing = Undoing::new(Dataflow::new(graph, ends)?);
    let begin = Reached {
        peak_bytes: 0,
        undone: None,
    };
    let mut levels: Vec<Level> = vec![Level::from([(undoing.end(), begin)])];
    let mut sets = 1;
    for _ in 0..graph.operators.len() {
        let mut next = Level::new();
        for (set, reached) in levels.last().into_iter().flatten() {
            for (operator, earlier, bytes) in undoing.undo_each(set) {
                let way = Reached {
                    peak_bytes: reached.peak_bytes.max(bytes),
                    undone: Some((operator, set.clone())),
                };
                // Ways of equal peaks are told apart, so that the order is the same each time.
                let is_better = |known: &Reached| {
                    (way.peak_bytes, &way.undone) < (known.peak_bytes, &known.undone)
                };
                if next.get(&earlier).is_none_or(is_better) {
                    next.insert(earlier, way);
                }
            }
            if sets + next.len() > most_sets {
                return Ok(None);
            }
        }
        sets += next.len();
        levels.push(next);
    }
    Ok(trace_back(&levels))
}

/// The last level has one set: that of the given tensors.
fn trace_back(levels: &[Level]) -> Option<Schedule> {
    let (mut set, last) = levels.last()?.first_key_value()?;
    let mut order = Vec::new();
    for level in levels.iter().rev() {
        if let Some((operator, later)) = &level.get(set)?.undone {
            order.push(OperatorId(*operator));
            set = later;
        }
    }
    Some(Schedule {
        order,
        peak_bytes: last.peak_bytes,
        bound_bytes: last.peak_bytes,
        proof: Proof::Optimal,
    })
}

struct Undoing {
    flow: Dataflow,
    /// For each operator, those that run before it in every order.
    before: Vec<BTreeSet<usize>>,
}

impl Undoing {
    fn new(flow: Dataflow) -> Self {
        let mut before: Vec<BTreeSet<usize>> = Vec::new();
        for operator in &flow.operators {
            // Predecessors are earlier in the file.
            let predecessors = operator.predecessors.iter();
            let ancestors = predecessors.flat_map(|id| before[id.0].iter().copied().chain([id.0]));
            before.push(ancestors.collect());
        }
        Self { flow, before }
    }

    /// What is in memory at the end: the graph's outputs, and the tokens.
    fn end(&self) -> Set {
        let tensors = self.flow.tensors.iter().enumerate();
        let kept = tensors.filter(|(_, tensor)| tensor.kept);
        let kept = kept.map(|(index, _)| index);
        let operators = self.flow.operators.iter().enumerate();
        let unneeded = operators.filter(|(_, operator)| {
            let mut outputs = operator.outputs.iter();
            !outputs.any(|&output| self.flow.tensor(output).needed())
        });
        kept.chain(unneeded.map(|(index, _)| self.token(index)))
            .collect()
    }

    fn token(&self, operator: usize) -> usize {
        self.flow.tensors.len() + operator
    }

    fn producer(&self, member: usize) -> Option<usize> {
        match self.flow.tensors.get(member) {
            Some(tensor) => tensor.producer.map(|producer| producer.0),
            None => Some(member - self.flow.tensors.len()),
        }
    }

    /// Each operator that can be undone, the set before it, and the working set of its step in
    /// bytes.
    fn undo_each(&self, set: &Set) -> Vec<(usize, Set, u64)> {
        let producers = set.iter().filter_map(|&member| self.producer(member));
        let producers: BTreeSet<usize> = producers.collect();
        let is_last = |operator: &usize| {
            let mut others = producers.iter();
            !others.any(|&other| self.before[other].contains(operator))
        };
        let last = producers.iter().copied().filter(is_last);
        last.map(|operator| {
            let (earlier, bytes) = self.undo(set, operator, producers.len() == 1);
            (operator, earlier, bytes)
        })
        .collect()
    }

    fn undo(&self, set: &Set, operator: usize, last: bool) -> (Set, u64) {
        let flow = &self.flow.operators[operator];
        let tensors = &self.flow.tensors;
        let size = |member: usize| tensors.get(member).map_or(0, |tensor| tensor.bytes);
        let mut earlier = set.clone();
        earlier.remove(&self.token(operator));
        for output in &flow.outputs {
            earlier.remove(&output.0);
        }
        earlier.extend(flow.inputs.iter().map(|input| input.0));
        let outputs: u64 = flow.outputs.iter().map(|output| size(output.0)).sum();
        let held: u64 = earlier.iter().map(|&member| size(member)).sum();
        let mut bytes = held + outputs + flow.scratch_bytes;
        let mut left = earlier.iter();
        if last && !left.any(|&member| self.producer(member).is_some()) {
            bytes += self.flow.unneeded_given_bytes();
        }
        (earlier, bytes)
    }
}
