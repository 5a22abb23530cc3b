//! Orders to begin a search with.

use super::super::bits;
use super::super::dataflow::{Dataflow, OperatorFlow};
use super::super::memory::Memory;
use super::budget::SearchBudget;
use super::segment::Segment;
use crate::graph::OperatorId;

/// What a greedy choice makes least: the highest step so far, with this one in bytes, and
/// memory after it in bytes.
type Preference = fn(peak_bytes: u64, live_bytes: u64) -> (u64, u64);

const LOWEST_STEP: Preference = |peak, live| (peak, live);
const LEAST_MEMORY: Preference = |peak, live| (live, peak);

/// Gives each segment the best of its beginnings: the file's order, depth first, greedy,
/// greedy from the end. Beginnings that take more work than is left are left out.
pub(super) fn improve(
    memory: &mut Memory<'_>,
    segments: &mut [Segment],
    budget: &mut SearchBudget<'_, '_>,
) {
    let flow = memory.flow();
    let file_order: Vec<usize> = (0..flow.operators.len()).collect();
    try_order(memory, segments, &file_order);
    for upwards in [true, false] {
        try_order(memory, segments, &depth_first(flow, upwards));
    }
    for preference in [LOWEST_STEP, LEAST_MEMORY] {
        if let Some(order) = greedy(memory, preference, budget) {
            try_order(memory, segments, &order);
        }
        if let Some(order) = greedy_from_end(memory, preference, budget) {
            try_order(memory, segments, &order);
        }
    }
}

fn try_order(memory: &mut Memory<'_>, segments: &mut [Segment], order: &[usize]) {
    memory.restart();
    for segment in segments {
        let order = &order[segment.begin..segment.end];
        let mut peak_bytes = 0;
        for &operator in order {
            peak_bytes = peak_bytes.max(memory.cost(operator));
            memory.run(operator);
        }
        segment.offer(order, peak_bytes);
    }
    memory.restart();
}

/// All that an operator needs directly before it, as far as it has not run.
fn depth_first(flow: &Dataflow, upwards: bool) -> Vec<usize> {
    let arranged = |ids: &[OperatorId]| {
        let ids = ids.iter().map(|id| id.0);
        // The last one pushed is the first one taken.
        let pushed: Vec<usize> = if upwards {
            ids.rev().collect()
        } else {
            ids.collect()
        };
        pushed
    };
    let is_last = |operator: &OperatorFlow| operator.successors.is_empty();
    let ends: Vec<OperatorId> = (0..flow.operators.len())
        .filter(|&index| is_last(&flow.operators[index]))
        .map(OperatorId)
        .collect();
    let mut order = Vec::new();
    let mut visited = vec![false; flow.operators.len()];
    let mut done = visited.clone();
    let mut stack = arranged(&ends);
    while let Some(&operator) = stack.last() {
        if !std::mem::replace(&mut visited[operator], true) {
            stack.extend(arranged(&flow.operators[operator].predecessors));
        } else {
            stack.pop();
            if !std::mem::replace(&mut done[operator], true) {
                order.push(operator);
            }
        }
    }
    order
}

fn greedy(
    memory: &mut Memory<'_>,
    preference: Preference,
    budget: &mut SearchBudget<'_, '_>,
) -> Option<Vec<usize>> {
    memory.restart();
    let mut order = Vec::new();
    let mut peak = 0;
    while order.len() < memory.flow().operators.len() {
        let ready: Vec<usize> = bits::ones(memory.ready()).collect();
        let mut best = None;
        for operator in ready {
            if !budget.has_work(memory) {
                return None;
            }
            let step = memory.cost(operator).max(peak);
            memory.run(operator);
            let live = memory.live_bytes();
            memory.undo(operator);
            let rank = (preference(step, live), operator, step);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        let (_, operator, step) = best?;
        memory.run(operator);
        order.push(operator);
        peak = step;
    }
    Some(order)
}

fn greedy_from_end(
    memory: &mut Memory<'_>,
    preference: Preference,
    budget: &mut SearchBudget<'_, '_>,
) -> Option<Vec<usize>> {
    let operators = &memory.flow().operators;
    memory.finish();
    let mut followers: Vec<usize> = operators
        .iter()
        .map(|operator| operator.successors.len())
        .collect();
    let mut last: Vec<usize> = (0..operators.len())
        .filter(|&index| followers[index] == 0)
        .collect();
    let mut order = Vec::new();
    let mut peak = 0;
    while !last.is_empty() {
        let mut best = None;
        for (place, &operator) in last.iter().enumerate() {
            if !budget.has_work(memory) {
                return None;
            }
            memory.undo(operator);
            let step = memory.cost(operator).max(peak);
            let live = memory.live_bytes();
            memory.run(operator);
            let rank = (
                preference(step, live),
                std::cmp::Reverse(operator),
                step,
                place,
            );
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        let (_, _, step, place) = best?;
        let operator = last.swap_remove(place);
        memory.undo(operator);
        order.push(operator);
        peak = step;
        for predecessor in &operators[operator].predecessors {
            followers[predecessor.0] -= 1;
            if followers[predecessor.0] == 0 {
                last.push(predecessor.0);
            }
        }
    }
    order.reverse();
    Some(order)
}
