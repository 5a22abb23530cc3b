//! Whether buffers fit into a region at all steps together, decided exactly, and plans that are
//! made buffer by buffer.

use super::error::LeftOver;
use super::{RegionOffset, RegionProblem};
use crate::budget::Budget;
use crate::plan::exact::{self, Decision};
use crate::plan::{Family, Plan, STRATEGIES, placement};
use crate::problem::{Buffer, signed};
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

    /// Places one buffer after the other in this order, each in its `preferred` region or the
    /// cheapest other one that has room for it, and then moves each to a cheaper one that has.
    ///
    /// # Errors
    /// What is left over.
    pub(super) fn place_each(
        &self,
        order: &[usize],
        preferred: Option<&[usize]>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<RegionOffset>, LeftOver> {
        let mut parts = vec![Part::default(); self.problem.regions().len()];
        let mut left = Vec::new();
        for &buffer in order {
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
        self.move_to_cheaper(&mut parts, budget);
        Ok(places(&parts))
    }

    /// Places all buffers that may lie in the region there, the others in the cheapest ones that
    /// have room for them, and then moves each to a cheaper one that has. `known` are offsets of
    /// all buffers that may fit together. `None` if no such plan was found.
    pub(super) fn gather(
        &self,
        home: usize,
        known: Option<&[u64]>,
        budget: &mut Budget<'_>,
    ) -> Option<Vec<RegionOffset>> {
        let is_inside = |&buffer: &usize| self.problem.choices(buffer).contains(&home);
        let order = self.by_extent().into_iter();
        let (mut members, others): (Vec<usize>, Vec<usize>) = order.partition(is_inside);
        members.sort_unstable();
        let offsets = self.together(home, &members, known, budget)?;
        let mut parts = vec![Part::default(); self.problem.regions().len()];
        parts[home] = Part { members, offsets };
        let mut others = others.into_iter();
        let are_placed = others.all(|buffer| {
            let choices = self.problem.choices(buffer);
            self.add(buffer, &choices, &mut parts, budget)
        });
        are_placed.then(|| {
            self.move_to_cheaper(&mut parts, budget);
            places(&parts)
        })
    }

    /// Offsets of these buffers, ordered by index, in the region: those that are `known`, or else
    /// what the heuristics or a search find.
    fn together(
        &self,
        region: usize,
        members: &[usize],
        known: Option<&[u64]>,
        budget: &mut Budget<'_>,
    ) -> Option<Vec<u64>> {
        let capacity = self.problem.regions()[region].capacity_bytes;
        let part = self.problem.within(region).subset(members);
        if members.is_empty() || part.lower_bound() > capacity {
            return None;
        }
        let fits = |plan: &Plan| {
            let mut ends = part.buffers().iter().zip(&plan.offsets);
            let is_inside = ends.all(|(buffer, offset)| {
                let end = offset.checked_add(buffer.size_bytes);
                end.is_some_and(|end| end <= capacity)
            });
            is_inside && plan.check(&part).is_empty()
        };
        let known = known.and_then(|known| {
            let offsets = members.iter().map(|&buffer| known.get(buffer).copied());
            Some(Plan {
                offsets: offsets.collect::<Option<_>>()?,
            })
        });
        if let Some(known) = known.filter(fits) {
            return Some(known.offsets);
        }
        let strategies = STRATEGIES.iter().filter(|it| it.family == Family::Offsets);
        for strategy in strategies {
            if budget.spend((part.pairs() + members.len()) as u64) {
                return None;
            }
            if let Some(plan) = strategy.plan(&part).filter(fits) {
                return Some(plan.offsets);
            }
        }
        match exact::fit(&part, capacity, budget) {
            Decision::Possible(offsets) => Some(offsets),
            Decision::Impossible | Decision::Unknown => None,
        }
    }

    /// Moves each buffer to a cheaper region as long as one has room for it.
    fn move_to_cheaper(&self, parts: &mut [Part], budget: &mut Budget<'_>) {
        let order = self.by_gain();
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
                if self.add(buffer, &choices, parts, budget) {
                    parts[now].remove(buffer);
                    moved = true;
                }
            }
        }
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
            let part = &mut parts[region];
            let place = part.members.partition_point(|&other| other < buffer);
            if let Some(offset) = self.gap(buffer, region, part) {
                part.members.insert(place, buffer);
                part.offsets.insert(place, offset);
                return true;
            }
            let mut members = part.members.clone();
            members.insert(place, buffer);
            let decision = self.decide(region, &members, FEW_NODES, budget);
            if let Decision::Possible(offsets) = decision {
                parts[region] = Part { members, offsets };
                return true;
            }
        }
        false
    }

    /// The lowest offset in the region at which the buffer keeps its distances from what lies
    /// there.
    fn gap(&self, buffer: usize, region: usize, part: &Part) -> Option<u64> {
        let problem = self.problem.within(region);
        let what = &problem.buffers()[buffer];
        let capacity = self.problem.regions()[region].capacity_bytes;
        let last = capacity.checked_sub(what.size_bytes)?;
        let forbidden = placement::forbidden(problem, buffer, |other| {
            let place = part.members.binary_search(&other).ok()?;
            Some(signed(part.offsets[place]))
        });
        let lowest = || placement::lowest(problem, buffer, &forbidden);
        let offset = what.fixed_offset.map_or_else(lowest, signed);
        let is_free = !forbidden.iter().any(|range| range.contains(&offset));
        let offset = u64::try_from(offset).ok()?;
        (is_free && offset <= last).then_some(offset)
    }

    /// The buffers in the order in which they gain most: the difference between the dearest and
    /// the cheapest region, for each byte and step.
    pub(super) fn by_gain(&self) -> Vec<usize> {
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

    /// The buffers in the order of their bytes and steps, those first that can lie in one region
    /// only.
    pub(super) fn by_extent(&self) -> Vec<usize> {
        let buffers = self.problem.problem().buffers();
        let extent = |&buffer: &usize| {
            let what = &buffers[buffer];
            let extent = u128::from(what.size_bytes) * what.alive.len() as u128;
            (self.problem.choices(buffer).len() <= 1, extent)
        };
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_cached_key(|buffer| Reverse(extent(buffer)));
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
