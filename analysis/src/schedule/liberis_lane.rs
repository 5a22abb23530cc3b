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

use super::ancestry::Ancestry;
use super::dataflow::Dataflow;
use super::{Options, Proof, Schedule, ScheduleError, bits};
use crate::graph::{Graph, OperatorId};
use std::collections::HashMap;

/// More operators are refused: the sets of tensors would hardly be few.
const MOST_OPERATORS: usize = 4096;

/// A set of tensors and how it was reached.
struct Reached {
    /// The lowest peak of what runs after the set is in memory.
    peak_bytes: u64,
    /// The set at the level before, and the operator that was undone in it.
    undone: Option<(Box<[u64]>, usize)>,
}

impl Reached {
    /// Ways of equal peaks are told apart, so that the order is the same each time.
    fn way(&self) -> (u64, usize, &[u64]) {
        match &self.undone {
            Some((set, operator)) => (self.peak_bytes, *operator, set),
            None => (self.peak_bytes, 0, &[]),
        }
    }
}

type Level = HashMap<Box<[u64]>, Reached>;

/// The order with the lowest peak without overlaps; none when more than `most_sets` sets of
/// tensors would have to be remembered.
///
/// # Errors
/// Those of [`Dataflow::new`], and when the graph has more than 4096 operators.
pub fn liberis_lane(
    graph: &Graph,
    options: Options,
    most_sets: usize,
) -> Result<Option<Schedule>, ScheduleError> {
    let flow = Dataflow::new(graph, options)?;
    if flow.operators.len() > MOST_OPERATORS {
        return Err(ScheduleError::TooManyOperators {
            what: "Algorithm 1",
            given: flow.operators.len(),
            limit: MOST_OPERATORS,
        });
    }
    let undoing = Undoing::new(&flow);
    let begin = Reached {
        peak_bytes: 0,
        undone: None,
    };
    let mut levels: Vec<Level> = vec![Level::from([(undoing.end(), begin)])];
    let mut sets = 1;
    for _ in 0..flow.operators.len() {
        let mut next = Level::new();
        for (set, reached) in levels.last().into_iter().flatten() {
            undoing.undo_each(set, |operator, earlier, bytes| {
                let peak_bytes = reached.peak_bytes.max(bytes);
                let way = (peak_bytes, operator, &set[..]);
                let better = next.get(&earlier).is_none_or(|known| way < known.way());
                if better {
                    let undone = Some((set.clone(), operator));
                    next.insert(earlier, Reached { peak_bytes, undone });
                }
            });
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
    let (mut set, last) = levels.last()?.iter().next()?;
    let mut order = Vec::new();
    for level in levels.iter().rev() {
        if let Some((later, operator)) = &level.get(set)?.undone {
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

/// Sets hold tensors and, after them, the operators' tokens.
struct Undoing<'a> {
    flow: &'a Dataflow,
    ancestry: Ancestry,
}

impl<'a> Undoing<'a> {
    fn new(flow: &'a Dataflow) -> Self {
        Self {
            flow,
            ancestry: Ancestry::new(flow),
        }
    }

    /// What is in memory at the end: the graph's outputs, and the tokens.
    fn end(&self) -> Box<[u64]> {
        let tensors = self.flow.tensors.len();
        let mut set = vec![0; bits::words(tensors + self.flow.operators.len())];
        for (index, tensor) in self.flow.tensors.iter().enumerate() {
            if tensor.kept {
                bits::insert(&mut set, index);
            }
        }
        for (index, operator) in self.flow.operators.iter().enumerate() {
            let mut outputs = operator.outputs.iter();
            if !outputs.any(|&output| self.flow.tensor(output).needed()) {
                bits::insert(&mut set, tensors + index);
            }
        }
        set.into()
    }

    fn producer(&self, member: usize) -> Option<usize> {
        match self.flow.tensors.get(member) {
            Some(tensor) => tensor.producer.map(|producer| producer.0),
            None => Some(member - self.flow.tensors.len()),
        }
    }

    /// Calls `found` with each operator that can be undone, the set before it, and the
    /// working set of its step in bytes.
    fn undo_each(&self, set: &[u64], mut found: impl FnMut(usize, Box<[u64]>, u64)) {
        let mut producers: Vec<usize> = bits::ones(set)
            .filter_map(|member| self.producer(member))
            .collect();
        producers.sort_unstable();
        producers.dedup();
        for &operator in &producers {
            let mut others = producers.iter();
            if others.any(|&other| self.ancestry.precedes(operator, other)) {
                continue;
            }
            let (earlier, bytes) = self.undo(set, operator, producers.len() == 1);
            found(operator, earlier, bytes);
        }
    }

    fn undo(&self, set: &[u64], operator: usize, last: bool) -> (Box<[u64]>, u64) {
        let flow = &self.flow.operators[operator];
        let size = |member: usize| {
            self.flow
                .tensors
                .get(member)
                .map_or(0, |tensor| tensor.bytes)
        };
        let mut earlier: Box<[u64]> = set.into();
        bits::remove(&mut earlier, self.token(operator));
        for output in &flow.outputs {
            bits::remove(&mut earlier, output.0);
        }
        for input in &flow.inputs {
            bits::insert(&mut earlier, input.0);
        }
        let outputs: u64 = flow.outputs.iter().map(|output| size(output.0)).sum();
        let mut bytes = bits::ones(&earlier).map(size).sum::<u64>() + outputs + flow.scratch_bytes;
        let any_left = bits::ones(&earlier).any(|member| self.producer(member).is_some());
        if last && !any_left {
            bytes += self.flow.unneeded_given_bytes();
        }
        (earlier, bytes)
    }

    fn token(&self, operator: usize) -> usize {
        self.flow.tensors.len() + operator
    }
}
