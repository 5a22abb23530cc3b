//! One segment of the order, ordered best first.

use super::super::bits;
use super::super::memory::Memory;
use super::budget::SearchBudget;
use super::chains::Chains;
use super::moves::settle;
use super::states::{SetOrigin, States};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// States that are followed in each step of the search for a good order.
const BEAM_WIDTH: usize = 32;

/// Operators that every order runs one after the other, and the best order of them so far.
pub(super) struct Segment {
    /// The first of them.
    pub(super) begin: usize,
    /// One after the last of them.
    pub(super) end: usize,
    pub(super) order: Vec<usize>,
    /// The largest step of the order, in bytes.
    pub(super) peak_bytes: u64,
}

/// A set that can be reached in one step and the moves that follow from it.
struct Child {
    set: Vec<u64>,
    operator: usize,
    peak_bytes: u64,
    live_bytes: u64,
}

impl Segment {
    /// The segments between the cuts.
    pub(super) fn all(cuts: &[usize]) -> Vec<Self> {
        let segment = |cuts: &[usize]| Self {
            begin: cuts[0],
            end: cuts[1],
            order: Vec::new(),
            peak_bytes: u64::MAX,
        };
        cuts.windows(2).map(segment).collect()
    }

    /// Takes the order if it is better.
    pub(super) fn offer(&mut self, order: &[usize], peak_bytes: u64) {
        if peak_bytes < self.peak_bytes || self.order.is_empty() {
            self.order = order.to_vec();
            self.peak_bytes = peak_bytes;
        }
    }

    /// Looks for an order whose peak is at most `floor`, or else for the best one; the
    /// bytes that no order of the segment, or none of the graph, can stay below.
    ///
    /// `floor` is such a bound of the graph, `others` the peak of the other segments.
    pub(super) fn solve(
        &mut self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        floor: u64,
        others: u64,
        budget: &mut SearchBudget<'_, '_>,
    ) -> u64 {
        if self.peak_bytes > floor {
            self.follow_a_few(memory, chains, floor, others, budget);
        }
        if self.peak_bytes > floor {
            self.best_first(memory, chains, floor, others, budget)
        } else {
            floor
        }
    }

    /// Follows the sets with the lowest peaks and the least memory, a few of each length.
    fn follow_a_few(
        &mut self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        floor: u64,
        others: u64,
        budget: &mut SearchBudget<'_, '_>,
    ) {
        let (mut states, first) = self.first_state(memory, floor);
        let mut layer = vec![first];
        while !layer.is_empty() && self.peak_bytes > floor {
            let mut next: Vec<(u64, u64, u32)> = Vec::new();
            for &parent in &layer {
                let peak = self.peak_bytes.max(others);
                if !budget.visit(memory, states.memory_bytes(), peak, floor) {
                    return;
                }
                for child in self.children(memory, chains, &states, parent) {
                    let live = child.live_bytes;
                    if let Some(index) = self.enter(memory, chains, &mut states, parent, &child) {
                        next.push((child.peak_bytes, live, index));
                    }
                }
            }
            next.sort_unstable();
            next.dedup_by_key(|&mut (_, _, index)| index);
            next.truncate(BEAM_WIDTH);
            layer = next.into_iter().map(|(_, _, index)| index).collect();
        }
    }

    /// A state that is taken up has its best way: ways to it lead over states of at most
    /// its peak, which have been taken up before.
    pub(super) fn best_first(
        &mut self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        floor: u64,
        others: u64,
        budget: &mut SearchBudget<'_, '_>,
    ) -> u64 {
        let (mut states, first) = self.first_state(memory, floor);
        let mut open = BinaryHeap::from([(Reverse(floor), 0, first)]);
        while let Some((Reverse(bound), _, parent)) = open.pop() {
            if bound >= self.peak_bytes {
                break;
            }
            if states.origin(parent).peak_bytes < bound {
                continue;
            }
            let peak = self.peak_bytes.max(others);
            if !budget.visit(memory, states.memory_bytes(), peak, bound) {
                return bound;
            }
            for child in self.children(memory, chains, &states, parent) {
                if let Some(index) = self.enter(memory, chains, &mut states, parent, &child) {
                    let size: u32 = child.set.iter().map(|word| word.count_ones()).sum();
                    open.push((Reverse(child.peak_bytes), size, index));
                }
            }
        }
        self.peak_bytes
    }

    /// Nothing of the segment has run.
    fn first_state(&self, memory: &mut Memory<'_>, floor: u64) -> (States, u32) {
        memory.go_to_first(self.begin);
        let mut states = States::new(self.words().len());
        let first = states.insert(&memory.executed()[self.words()], SetOrigin::first(floor));
        (states, first.unwrap_or(0))
    }

    fn words(&self) -> std::ops::Range<usize> {
        self.begin / 64..bits::words(self.end)
    }

    /// The child's index if it is worth following; a whole order is taken.
    fn enter(
        &mut self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        states: &mut States,
        parent: u32,
        child: &Child,
    ) -> Option<u32> {
        let way = SetOrigin {
            parent,
            operator: child.operator as u32,
            peak_bytes: child.peak_bytes,
        };
        let index = states.insert(&child.set, way)?;
        let whole = (self.begin..self.end)
            .rev()
            .all(|operator| bits::contains(&child.set, operator - self.words().start * 64));
        if whole && child.peak_bytes < self.peak_bytes {
            let order = self.retrace(memory, chains, states, index);
            self.offer(&order, child.peak_bytes);
        }
        (!whole).then_some(index)
    }

    /// The sets to which steps lead that keep the peak below that of the best order.
    fn children(
        &self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        states: &States,
        parent: u32,
    ) -> Vec<Child> {
        let peak_bytes = states.origin(parent).peak_bytes;
        memory.go_to(states.set(parent), self.words().start);
        let ready = memory.ready().to_vec();
        let live_bytes = memory.live_bytes();
        let mut children = Vec::new();
        let mut trail = Vec::new();
        for operator in bits::ones(&ready).take_while(|&operator| operator < self.end) {
            trail.clear();
            let step = run_stretch(memory, chains, operator, &mut trail);
            let peak = peak_bytes.max(step);
            if peak >= self.peak_bytes {
                take_back(memory, &trail);
                continue;
            }
            let settled = self.settle(memory, peak, &ready, &mut trail);
            let child = Child {
                set: memory.executed()[self.words()].to_vec(),
                operator,
                peak_bytes: peak,
                live_bytes: memory.live_bytes(),
            };
            take_back(memory, &trail);
            // The rest of the graph can do no better than to begin with this.
            if step <= peak_bytes && settled <= live_bytes {
                return vec![child];
            }
            children.push(child);
        }
        children
    }

    /// Memory, in bytes, after the moves that the steps so far made possible; other moves
    /// come after them.
    fn settle(
        &self,
        memory: &mut Memory<'_>,
        peak_bytes: u64,
        ready: &[u64],
        trail: &mut Vec<usize>,
    ) -> u64 {
        settle(memory, self.end, peak_bytes, Some(ready), trail);
        let settled = memory.live_bytes();
        settle(memory, self.end, peak_bytes, None, trail);
        settled
    }

    /// The order by which a set was reached: the same moves again.
    fn retrace(
        &self,
        memory: &mut Memory<'_>,
        chains: &Chains,
        states: &States,
        index: u32,
    ) -> Vec<usize> {
        memory.go_to_first(self.begin);
        let mut order = Vec::new();
        let mut trail = Vec::new();
        for origin in states.way_to(index) {
            let ready = memory.ready().to_vec();
            let operator = origin.operator as usize;
            run_stretch(memory, chains, operator, &mut trail);
            self.settle(memory, origin.peak_bytes, &ready, &mut trail);
            order.append(&mut trail);
        }
        order
    }
}

/// Runs the operator and what follows it before any other; the highest step, in bytes.
fn run_stretch(
    memory: &mut Memory<'_>,
    chains: &Chains,
    operator: usize,
    trail: &mut Vec<usize>,
) -> u64 {
    let mut highest = 0;
    for operator in std::iter::once(operator).chain(chains.rest(operator)) {
        highest = highest.max(memory.cost(operator));
        memory.run(operator);
        trail.push(operator);
    }
    highest
}

fn take_back(memory: &mut Memory<'_>, trail: &[usize]) {
    for &operator in trail.iter().rev() {
        memory.undo(operator);
    }
}
