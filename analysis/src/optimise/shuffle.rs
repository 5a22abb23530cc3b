//! Orders beside an order: one operator moved to another place that its inputs and readers
//! allow. The sequence of moves is the same in each run.

use crate::graph::{Graph, OperatorId};
use crate::random::SplitMix64;
use crate::schedule::dataflow::{Dataflow, OperatorFlow};
use crate::schedule::{CountedEnds, ScheduleError};

/// Operators to be moved.
pub(super) struct Shuffle {
    flow: Dataflow,
    random: SplitMix64,
}

impl Shuffle {
    pub(super) fn new(graph: &Graph) -> Result<Self, ScheduleError> {
        Ok(Self {
            flow: Dataflow::new(graph, CountedEnds::default())?,
            random: SplitMix64::new(1),
        })
    }

    /// Whether there is more than one order: some operator does not need the one before it.
    pub(super) fn has_choice(&self) -> bool {
        let follows = |(place, operator): (usize, &OperatorFlow)| {
            operator.predecessors.contains(&OperatorId(place))
        };
        let mut operators = self.flow.operators.iter().skip(1).enumerate();
        !operators.all(follows)
    }

    /// One operator moved. The order has to be one of the graph's.
    pub(super) fn step(&mut self, order: &[OperatorId]) -> Vec<OperatorId> {
        let mut order = order.to_vec();
        for _ in 0..order.len() {
            let from = self.random.below(order.len());
            let flow = self.flow.operator(order[from]);
            let is_before = |other: &OperatorId| flow.predecessors.contains(other);
            let is_after = |other: &OperatorId| flow.successors.contains(other);
            let first = order[..from].iter().rposition(is_before);
            let first = first.map_or(0, |position| position + 1);
            let last = order[from + 1..].iter().position(is_after);
            let last = last.map_or(order.len() - 1, |position| from + position);
            if first == last {
                continue;
            }
            let to = first + self.random.below(last - first + 1);
            let moved = order.remove(from);
            order.insert(to, moved);
            break;
        }
        order
    }
}
