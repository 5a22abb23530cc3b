//! The order of the lowest peak.
//!
//! States are the sets of operators that have run. What is in memory depends on the set
//! only, so that of two ways to a set the one with the lower peak is enough. Sets are taken
//! up in the order of their peaks, the largest set first among equals: what is taken up is a
//! lower bound of the best peak, and the first whole order is a best one.
//!
//! | file | what it does |
//! |---|---|
//! | `late` | operators that run as late as they can |
//! | `first` | orders to begin with: greedy, depth first |
//! | `segment` | best first through the sets of one segment of an order |
//! | `moves` | steps that can be taken without looking at others |
//! | `chains` | steps that need not be interrupted |
//! | `states` | the sets found so far |
//! | `budget` | limits, and progress |
//!
//! Before that the graph is divided where every order passes through the same set. The peak
//! of an order is that of its worst segment, so that each segment is ordered by itself, the worst
//! first, and no further than the worst of the others.

mod budget;
mod chains;
mod first;
mod late;
mod moves;
mod segment;
mod states;
#[cfg(test)]
mod unaided;

use super::ancestry::Ancestry;
use super::cost::StepCost;
use super::dataflow::Dataflow;
use super::memory::Memory;
use super::{CountedEnds, Proof, Schedule, ScheduleError};
use crate::graph::Graph;
use budget::SearchBudget;
use chains::Chains;
use dmo_planner::budget::Budget;
use late::{Renamed, RenamedCost};
use segment::Segment;

/// Graphs of more operators are not searched; they get the best of a few orders.
const MOST_OPERATORS: usize = 8192;

/// Where a search ends without a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// States that it may visit.
    pub states: u64,
    /// Memory that its states may take, in bytes.
    pub memory_bytes: u64,
}

impl Default for Limits {
    /// No limit on states, one GiB.
    fn default() -> Self {
        Self {
            states: u64::MAX,
            memory_bytes: 1 << 30,
        }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// States visited.
    pub states: u64,
    /// Peak of the best order so far, in bytes.
    pub peak_bytes: u64,
    /// What no order can stay below, as far as is known, in bytes.
    pub bound_bytes: u64,
}

/// The order of the lowest peak, with steps measured by `cost`. A limit that is reached,
/// or work that is spent, leaves the best order found and a sound bound.
///
/// # Errors
/// Those of [`Dataflow::new`].
pub fn search(
    graph: &Graph,
    ends: CountedEnds,
    cost: &mut dyn StepCost,
    limits: Limits,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Schedule, ScheduleError> {
    let mut budget = SearchBudget::new(limits, budget, progress);
    let Renamed { flow, names } = Renamed::new(&Dataflow::new(graph, ends)?, cost);
    let names = &names;
    let cost = &mut RenamedCost { names, cost };
    let (cuts, mut bound) = division(&flow, cost);
    let chains = Chains::new(&flow, cost);
    let mut memory = Memory::new(&flow, cost);
    let mut segments = Segment::all(&cuts);
    first::improve(&mut memory, &mut segments, &mut budget);
    bound = bound.max(least_bound(&mut memory));

    segments.sort_by_key(|segment| std::cmp::Reverse(segment.peak_bytes));
    for index in 0..segments.len() {
        let others = segments
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != index);
        let others = others
            .map(|(_, segment)| segment.peak_bytes)
            .max()
            .unwrap_or(0);
        budget.report(segments[index].peak_bytes.max(others), bound);
        if flow.operators.len() <= MOST_OPERATORS {
            let proved = segments[index].solve(&mut memory, &chains, bound, others, &mut budget);
            bound = bound.max(proved);
        }
    }
    let peak_bytes = segments
        .iter()
        .map(|segment| segment.peak_bytes)
        .max()
        .unwrap_or(0);
    let bound_bytes = bound.min(peak_bytes);
    budget.report(peak_bytes, bound_bytes);
    segments.sort_by_key(|segment| segment.begin);
    Ok(Schedule {
        order: segments
            .into_iter()
            .flat_map(|segment| segment.order)
            .map(|operator| names[operator])
            .collect(),
        peak_bytes,
        bound_bytes,
        proof: if bound_bytes == peak_bytes {
            Proof::Optimal
        } else {
            Proof::BestFound
        },
    })
}

/// Where the graph is divided, and what no order stays below because of a single step.
fn division(flow: &Dataflow, cost: &mut dyn StepCost) -> (Vec<usize>, u64) {
    let count = flow.operators.len();
    if count > MOST_OPERATORS {
        return (vec![0, count], 0);
    }
    let ancestry = Ancestry::new(flow);
    let costs = (0..count).map(|operator| ancestry.least_cost(flow, operator, cost));
    (ancestry.cuts(), costs.max().unwrap_or(0))
}

/// Whatever runs first, everything that is given is in memory.
fn least_bound(memory: &mut Memory<'_>) -> u64 {
    memory.restart();
    let ready: Vec<usize> = super::bits::ones(memory.ready()).collect();
    let costs = ready.iter().map(|&operator| memory.cost(operator));
    costs.min().unwrap_or(0)
}
