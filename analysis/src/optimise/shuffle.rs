//! Orders beside an order: one operator moved to another place that its inputs and readers
//! allow. The sequence of moves is the same in each run.

use crate::graph::{Graph, OperatorId};
use crate::schedule::dataflow::{Dataflow, OperatorFlow};
use crate::schedule::{Options, ScheduleError};

/// Operators to be moved.
pub(super) struct Shuffle {
    flow: Dataflow,
    state: u64,
}

impl Shuffle {
    pub(super) fn new(graph: &Graph) -> Result<Self, ScheduleError> {
        Ok(Self {
            flow: Dataflow::new(graph, Options::default())?,
            state: 1,
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
            let from = self.below(order.len());
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
            let to = first + self.below(last - first + 1);
            let moved = order.remove(from);
            order.insert(to, moved);
            break;
        }
        order
    }

    /// Splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * limit as u128) >> 64) as usize
    }
}
