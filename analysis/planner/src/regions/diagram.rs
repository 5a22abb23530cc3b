//! What the buffers that are still to come cost at least.
//!
//! Buffers are decided in the order in which they come to life. All that the rest depends on, if
//! each step by itself has to fit into the regions, is where those lie that are still alive: a
//! state. From the last buffer back to the first, the least cost of the rest is known for each
//! state (dynamic programming over a decision diagram). Where there are too many states, the
//! smallest buffers are forgotten, so that several states become one; a buffer that is forgotten
//! takes no room, and the cost stays a lower bound (a relaxed decision diagram: Bergman, Cire,
//! van Hoeve, Hooker, *Decision Diagrams for Optimization*).

use super::RegionProblem;
use crate::budget::Budget;
use std::collections::{HashMap, HashSet};

/// At most this many states are kept for each buffer that is decided.
const MOST_STATES: usize = 4096;
/// A state has four bits for each buffer, of 128.
const BITS: usize = 4;
const MOST_KEPT: usize = 31;

/// The states before each decision, and what the rest costs at least.
pub(super) struct Diagram<'a> {
    problem: &'a RegionProblem,
    /// The buffers in the order in which they are decided.
    pub order: Vec<usize>,
    /// One for each decision and one after the last.
    levels: Vec<Level>,
    /// What all from this decision on cost in their cheapest regions.
    cheapest: Vec<u64>,
    /// Whether the levels hold the least costs: the budget was enough.
    is_complete: bool,
}

/// The states before a decision.
#[derive(Default)]
struct Level {
    /// The buffers that are alive, decided, and not forgotten.
    kept: Vec<usize>,
    /// What the rest costs at least in each state that has a rest.
    least: HashMap<u128, u64>,
}

impl<'a> Diagram<'a> {
    pub(super) fn new(problem: &'a RegionProblem, budget: &mut Budget<'_>) -> Self {
        let buffers = problem.problem().buffers();
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_key(|&buffer| (buffers[buffer].alive.start, buffer));
        let mut cheapest = vec![0; order.len() + 1];
        for (level, &buffer) in order.iter().enumerate().rev() {
            let least = problem.choices(buffer).first().copied();
            let cost = least.map_or(0, |region| problem.cost(buffer, region));
            cheapest[level] = cheapest[level + 1] + cost;
        }
        let mut diagram = Self {
            problem,
            order,
            levels: Vec::new(),
            cheapest,
            is_complete: false,
        };
        diagram.is_complete = diagram.fill(budget);
        diagram
    }

    /// What the buffers from this decision on cost at least, where those before lie as
    /// `assigned` says; `None` if they cannot all be placed.
    pub(super) fn rest(&self, level: usize, assigned: &[usize]) -> Option<u64> {
        if !self.is_complete {
            return Some(self.cheapest[level]);
        }
        let level = &self.levels[level];
        level.least.get(&key(&level.kept, assigned)).copied()
    }

    /// The states from the first decision on, then their costs from the last one back. Returns
    /// whether the budget was enough.
    fn fill(&mut self, budget: &mut Budget<'_>) -> bool {
        let count = self.order.len();
        let mut fits = Fits::new(self.problem);
        let mut kept: Vec<Vec<usize>> = vec![Vec::new()];
        let mut states: Vec<HashSet<u128>> = vec![HashSet::from([0])];
        let mut assigned = vec![0; count];
        for level in 0..count {
            let mut next = self.alive_after(level, &kept[level]);
            let mut reached = HashSet::new();
            for &state in &states[level] {
                unpack(state, &kept[level], &mut assigned);
                for region in self.problem.choices(self.order[level]) {
                    if budget.spend(kept[level].len() as u64 + 1) {
                        return false;
                    }
                    if fits.fits(&kept[level], self.order[level], region, &assigned, budget) {
                        assigned[self.order[level]] = region;
                        reached.insert(key(&next, &assigned));
                    }
                }
                while reached.len() > MOST_STATES {
                    reached = self.forget(&mut next, &reached, &mut assigned);
                    unpack(state, &kept[level], &mut assigned);
                }
            }
            kept.push(next);
            states.push(reached);
        }
        let mut levels: Vec<Level> = kept
            .into_iter()
            .map(|kept| Level {
                kept,
                ..Level::default()
            })
            .collect();
        levels[count].least = states[count].iter().map(|&state| (state, 0)).collect();
        for level in (0..count).rev() {
            let (buffer, kept) = (self.order[level], levels[level].kept.clone());
            for &state in &states[level] {
                unpack(state, &kept, &mut assigned);
                let mut least = None;
                for region in self.problem.choices(buffer) {
                    if budget.spend(kept.len() as u64 + 1) {
                        return false;
                    }
                    if !fits.fits(&kept, buffer, region, &assigned, budget) {
                        continue;
                    }
                    assigned[buffer] = region;
                    let after = &levels[level + 1];
                    let rest = after.least.get(&key(&after.kept, &assigned));
                    let cost = rest.map(|rest| rest + self.problem.cost(buffer, region));
                    least = least.into_iter().chain(cost).min();
                }
                levels[level]
                    .least
                    .extend(least.map(|least| (state, least)));
            }
        }
        self.levels = levels;
        true
    }

    /// Of those that are kept before a decision and the one that is decided, those that are alive
    /// at the next decision: not more than a state has room for.
    fn alive_after(&self, level: usize, kept: &[usize]) -> Vec<usize> {
        let Some(&next) = self.order.get(level + 1) else {
            return Vec::new();
        };
        let buffers = self.problem.problem().buffers();
        let start = buffers[next].alive.start;
        let all = kept.iter().chain([&self.order[level]]).copied();
        let mut alive: Vec<usize> = all
            .filter(|&buffer| buffers[buffer].alive.end > start)
            .collect();
        alive.sort_unstable();
        while alive.len() > MOST_KEPT {
            self.remove_smallest(&mut alive);
        }
        alive
    }

    /// Forgets the smallest buffer; the states without it.
    fn forget(
        &self,
        kept: &mut Vec<usize>,
        states: &HashSet<u128>,
        assigned: &mut [usize],
    ) -> HashSet<u128> {
        let before = kept.clone();
        self.remove_smallest(kept);
        let shorter = |&state: &u128| {
            unpack(state, &before, assigned);
            key(kept, assigned)
        };
        states.iter().map(shorter).collect()
    }

    fn remove_smallest(&self, kept: &mut Vec<usize>) {
        let size = |buffer: usize| self.problem.problem().buffers()[buffer].size_bytes;
        let places = 0..kept.len();
        if let Some(smallest) = places.min_by_key(|&place| size(kept[place])) {
            kept.remove(smallest);
        }
    }
}

/// Where these buffers lie, as a number.
fn key(kept: &[usize], assigned: &[usize]) -> u128 {
    kept.iter()
        .fold(0, |key, &buffer| key << BITS | assigned[buffer] as u128)
}

fn unpack(mut key: u128, kept: &[usize], assigned: &mut [usize]) {
    for &buffer in kept.iter().rev() {
        assigned[buffer] = (key & ((1 << BITS) - 1)) as usize;
        key >>= BITS;
    }
}

/// Whether buffers that are alive at one step can lie in one region, as far as a bound says.
struct Fits<'a> {
    problem: &'a RegionProblem,
    /// Which others each buffer may overlap, in each region.
    partners: Vec<Vec<Vec<usize>>>,
    known: HashMap<(usize, Vec<usize>), bool>,
}

/// What a bound that is not known yet costs, in the unit of a budget.
const WORK_OF_BOUND: u64 = 1000;

impl<'a> Fits<'a> {
    fn new(problem: &'a RegionProblem) -> Self {
        let regions = 0..problem.regions().len();
        Self {
            problem,
            partners: regions.map(|it| problem.within(it).partners()).collect(),
            known: HashMap::new(),
        }
    }

    /// Whether the buffer fits into the region beside those of `kept` that lie there.
    fn fits(
        &mut self,
        kept: &[usize],
        buffer: usize,
        region: usize,
        assigned: &[usize],
        budget: &mut Budget<'_>,
    ) -> bool {
        let there = kept.iter().copied();
        let there = there.filter(|&other| assigned[other] == region);
        let mut members: Vec<usize> = there.chain([buffer]).collect();
        members.sort_unstable();
        if let Some(&known) = self.known.get(&(region, members.clone())) {
            return known;
        }
        budget.spend(WORK_OF_BOUND);
        let bound = self
            .problem
            .within(region)
            .step_bound(&members, &self.partners[region]);
        let fits = bound <= self.problem.regions()[region].capacity_bytes;
        self.known.insert((region, members), fits);
        fits
    }
}
