//! Whether buffers fit into a region at all steps together, decided exactly, and plans that are
//! made buffer by buffer.

use super::error::LeftOver;
use super::{RegionOffset, RegionProblem};
use crate::budget::Budget;
use crate::plan::Plan;
use crate::plan::exact::{self, Decision};
use crate::problem::Buffer;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Steps of a decision on whose outcome little depends.
const FEW_NODES: u64 = 500;
/// Steps of a decision that a proof depends on.
const MANY_NODES: u64 = 20_000;
/// A set of buffers is made smaller only where it has at most this many.
const MOST_MINIMISED: usize = 400;

/// What fits, as far as it is known.
pub(super) struct Packing<'a> {
    problem: &'a RegionProblem,
    known: HashMap<(usize, Vec<usize>), Decision>,
}

/// What lies in a region, ordered by index, and where.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub members: Vec<usize>,
    pub offsets: Vec<u64>,
}

impl Part {
    fn has(&self, buffer: usize) -> bool {
        self.members.binary_search(&buffer).is_ok()
    }

    fn remove(&mut self, buffer: usize) {
        if let Ok(place) = self.members.binary_search(&buffer) {
            self.members.remove(place);
            self.offsets.remove(place);
        }
    }
}

/// The places of all buffers, which lie in one part each.
pub(super) fn places(parts: &[Part]) -> Vec<RegionOffset> {
    let count = parts.iter().map(|part| part.members.len()).sum();
    let nowhere = RegionOffset {
        region: 0,
        offset: 0,
    };
    let mut places = vec![nowhere; count];
    for (region, part) in parts.iter().enumerate() {
        for (&buffer, &offset) in part.members.iter().zip(&part.offsets) {
            places[buffer] = RegionOffset { region, offset };
        }
    }
    places
}

/// The same the other way round.
pub(super) fn parts(places: &[RegionOffset], regions: usize) -> Vec<Part> {
    let mut parts = vec![Part::default(); regions];
    for (buffer, place) in places.iter().enumerate() {
        parts[place.region].members.push(buffer);
        parts[place.region].offsets.push(place.offset);
    }
    parts
}

impl<'a> Packing<'a> {
    pub(super) fn new(problem: &'a RegionProblem) -> Self {
        Self {
            problem,
            known: HashMap::new(),
        }
    }

    /// Whether these buffers, ordered by index, fit into the region.
    pub(super) fn fit(
        &mut self,
        region: usize,
        members: &[usize],
        budget: &mut Budget<'_>,
    ) -> Decision {
        let key = (region, members.to_vec());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let decision = self.decide(region, members, MANY_NODES, budget);
        if decision != Decision::Unknown {
            self.known.insert(key, decision.clone());
        }
        decision
    }

    fn decide(
        &self,
        region: usize,
        members: &[usize],
        nodes: u64,
        budget: &mut Budget<'_>,
    ) -> Decision {
        if members.is_empty() {
            return Decision::Possible(Vec::new());
        }
        let part = self.problem.within(region).subset(members);
        let capacity = self.problem.regions()[region].capacity_bytes;
        exact::decide(&part, capacity, nodes, budget)
    }

    /// Of buffers that do not fit into the region fewer that do not, in the order in which they
    /// are given: none of them can be left out, as far as short searches see.
    pub(super) fn conflict(
        &self,
        region: usize,
        members: &[usize],
        budget: &mut Budget<'_>,
    ) -> Vec<usize> {
        let fails = |some: &[usize], budget: &mut Budget<'_>| {
            let mut sorted = some.to_vec();
            sorted.sort_unstable();
            self.decide(region, &sorted, FEW_NODES, budget) == Decision::Impossible
        };
        // The first ones of them that do not fit.
        let (mut fit, mut fail) = (0, members.len());
        while fail - fit > 1 {
            let middle = fit + (fail - fit) / 2;
            if fails(&members[..middle], budget) {
                fail = middle;
            } else {
                fit = middle;
            }
        }
        let mut conflict = members[..fail].to_vec();
        if conflict.len() > MOST_MINIMISED {
            return conflict;
        }
        // Halves at first, then single ones: what is not in the way is most of them.
        let mut chunk = conflict.len() / 2;
        while chunk > 0 {
            let mut start = 0;
            while start < conflict.len() {
                let end = (start + chunk).min(conflict.len());
                let fewer = [&conflict[..start], &conflict[end..]].concat();
                if !fewer.is_empty() && fails(&fewer, budget) {
                    conflict = fewer;
                } else {
                    start = end;
                }
            }
            chunk /= 2;
        }
        conflict
    }

    /// Places one buffer after the other, those first that gain most for their bytes, each in its
    /// `preferred` region or the cheapest other one that has room for it, and then moves each to
    /// a cheaper one that has.
    ///
    /// # Errors
    /// What is left over.
    pub(super) fn place_each(
        &self,
        preferred: Option<&[usize]>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<RegionOffset>, LeftOver> {
        let mut parts = vec![Part::default(); self.problem.regions().len()];
        let order = self.by_gain();
        let mut left = Vec::new();
        for &buffer in &order {
            let mut choices = self.problem.choices(buffer);
            if let Some(first) = preferred.map(|preferred| preferred[buffer]) {
                choices.sort_by_key(|&region| region != first);
            }
            if !self.add(buffer, &choices, &mut parts, budget) {
                left.push(buffer);
            }
        }
        if !left.is_empty() {
            return Err(self.left_over(&left));
        }
        let mut moved = true;
        while moved && !budget.is_spent() {
            moved = false;
            for &buffer in &order {
                let Some(now) = parts.iter().position(|part| part.has(buffer)) else {
                    continue;
                };
                let cost = |region: usize| self.problem.cost(buffer, region);
                let mut choices = self.problem.choices(buffer);
                choices.retain(|&region| cost(region) < cost(now));
                if self.add(buffer, &choices, &mut parts, budget) {
                    parts[now].remove(buffer);
                    moved = true;
                }
            }
        }
        Ok(places(&parts))
    }

    /// Puts the buffer into the first of these regions that has room for it. Returns whether one
    /// has.
    fn add(
        &self,
        buffer: usize,
        choices: &[usize],
        parts: &mut [Part],
        budget: &mut Budget<'_>,
    ) -> bool {
        for &region in choices {
            let mut members = parts[region].members.clone();
            let place = members.partition_point(|&other| other < buffer);
            members.insert(place, buffer);
            let decision = self.decide(region, &members, FEW_NODES, budget);
            if let Decision::Possible(offsets) = decision {
                parts[region] = Part { members, offsets };
                return true;
            }
        }
        false
    }

    /// The buffers in the order in which they gain most: the difference between the dearest and
    /// the cheapest region, for each byte and step.
    fn by_gain(&self) -> Vec<usize> {
        let buffers = self.problem.problem().buffers();
        let gain = |&buffer: &usize| {
            let choices = self.problem.choices(buffer);
            let ends = choices.first().zip(choices.last());
            let gain = ends.map_or(0, |(&cheapest, &dearest)| {
                self.problem.cost(buffer, dearest) - self.problem.cost(buffer, cheapest)
            });
            let Buffer {
                size_bytes, alive, ..
            } = &buffers[buffer];
            let room = u128::from(*size_bytes) * alive.len() as u128;
            // Those that can lie in one region only come first.
            (choices.len() <= 1, (u128::from(gain) << 32) / room)
        };
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_cached_key(|buffer| Reverse(gain(buffer)));
        order
    }

    fn left_over(&self, left: &[usize]) -> LeftOver {
        let buffers = self.problem.problem().buffers();
        let size = |&buffer: &usize| buffers[buffer].size_bytes;
        let largest = left.iter().copied().max_by_key(size);
        LeftOver {
            buffers: left.len(),
            bytes: left.iter().map(size).sum(),
            largest: largest.map_or(String::new(), |it| buffers[it].name.clone()),
            largest_bytes: largest.as_ref().map_or(0, size),
        }
    }

    /// The same buffers in the region, so that little of it is used, and without overlaps where
    /// these save nothing.
    pub(super) fn compact(&self, region: usize, part: &mut Part, budget: &mut Budget<'_>) {
        if part.members.is_empty() {
            return;
        }
        let sharing = self.problem.within(region).subset(&part.members);
        let apart = sharing.without_overlaps();
        for problem in [&sharing, &apart] {
            let found = budget.share(2, |budget| exact::plan(problem, budget));
            let known = Plan {
                offsets: part.offsets.clone(),
            };
            if found.plan.check(problem).is_empty()
                && found.arena_bytes <= known.arena_bytes(problem)
            {
                part.offsets = found.plan.offsets;
            }
        }
    }
}
