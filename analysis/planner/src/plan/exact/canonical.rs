//! Depth-first search over canonical plans: buffers are placed in ascending order of
//! offset, each as low as those placed before allow.
//!
//! Every valid plan can be pushed down to a canonical one, in which each buffer lies at its
//! first aligned offset above those placed before, so that nothing is lost. Sums of distances
//! are lower bounds whatever the alignments, for each distance is one. Bounds
//! and pruning are in the manner of MiniMalloc (Moffitt, ASPLOS 2024), generalised to
//! distances shorter than a buffer's size. Strong where many buffers are alive at once.

use super::Decision;
use crate::budget::Budget;
use crate::problem::{Problem, Section, signed};
use std::cmp::Reverse;
use std::ops::Range;

/// What decides which of the buffers with the same offset is tried first: the one with more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Steps of its life, times its size.
    Area,
    /// Steps of its life.
    Length,
    /// Buffers alive together with it.
    Neighbours,
    /// Sections of its life.
    Sections,
    /// What waits in the fullest section of its life.
    Total,
}

/// Keys, the first one first.
pub(super) type Preorder = &'static [Key];

/// Each finds plans that the others miss; the first ones find most.
pub(super) const PREORDERS: &[Preorder] = &[
    &[Key::Total, Key::Length, Key::Area],
    &[Key::Area, Key::Total],
    &[Key::Sections, Key::Total, Key::Area],
    &[Key::Length, Key::Area, Key::Total],
    &[Key::Total, Key::Neighbours],
    &[Key::Total, Key::Area, Key::Length],
];

/// Those that find a plan with hardly a step back more often than the others, the best one first: measured
/// on the problems of scripts/packings.py.
pub(super) const STRAIGHT: &[Preorder] = &[PREORDERS[4], PREORDERS[2], PREORDERS[1]];

/// One search for a plan within a capacity.
pub(super) struct Canonical<'a> {
    problem: &'a Problem,
    capacity: i64,
    preorder: Preorder,
    /// Position of each buffer in the preorder of its component.
    rank: Vec<usize>,
    sections: Vec<SectionState>,
    section_of: Vec<Range<usize>>,
    /// How many buffers without a place are alive in a section and in the next one.
    crossing: Vec<usize>,
    placed: Vec<bool>,
    /// Of a placed buffer its offset, of another one where it fits above those placed.
    offset: Vec<i64>,
    /// Of a waiting buffer, no plan from here on has it lower.
    least: Vec<i64>,
    /// While buffers are sorted: `least`, rank and buffer of each, in one number.
    keys: Vec<u128>,
    /// While floors are looked for: the next section without one.
    next_section: Vec<usize>,
    /// Some two buffers may start at the same offset.
    has_zero_distance: bool,
    /// Neighbours with which each buffer can share bytes, and how many at most.
    shared: Vec<Vec<(usize, i64)>>,
    trail: Vec<Placed>,
    nodes_left: u64,
}

struct SectionState {
    /// What those without a place need at least, one above the other.
    needed: i64,
    /// The topmost buffer is not rounded up to the grain: the most that this saves.
    slack: i64,
}

/// A placed buffer, and what placing it has changed.
struct Placed {
    buffer: usize,
    offsets: Vec<(usize, i64)>,
}

/// Buffers without a place that no other one is alive together with.
struct Component {
    /// Once it is known to fit, from the lowest up.
    waiting: Vec<usize>,
    sections: Range<usize>,
}

/// What a search for the rest of a plan has come to.
enum Outcome {
    /// All buffers of the component are placed.
    AllPlaced,
    NoPlan,
    Unknown,
}

impl<'a> Canonical<'a> {
    pub(super) fn new(problem: &'a Problem, preorder: Preorder, capacity: u64) -> Self {
        let count = problem.buffers().len();
        let sections = problem.sections();
        let section_of = sections_of_buffers(&sections, count);
        let mut crossing = vec![0; sections.len()];
        for range in &section_of {
            for crossed in &mut crossing[range.start..range.end.saturating_sub(1)] {
                *crossed += 1;
            }
        }
        let distances = |buffer: usize| {
            let neighbours = problem.neighbours(buffer).iter();
            neighbours.map(|neighbour| signed(neighbour.distance_below))
        };
        let mut search = Self {
            problem,
            capacity: signed(capacity),
            preorder,
            rank: vec![0; count],
            sections: Vec::new(),
            section_of,
            crossing,
            placed: vec![false; count],
            offset: vec![0; count],
            least: vec![0; count],
            keys: Vec::new(),
            next_section: vec![0; sections.len() + 1],
            has_zero_distance: (0..count).any(|buffer| distances(buffer).any(|bytes| bytes == 0)),
            shared: (0..count).map(|buffer| shared(problem, buffer)).collect(),
            trail: Vec::new(),
            nodes_left: 0,
        };
        search.sections = sections
            .iter()
            .map(|section| search.section_state(section))
            .collect();
        let all: Vec<usize> = (0..count).collect();
        search.rank_by_preorder(&all);
        search
    }

    /// Looks for a plan, at most this many placements long.
    pub(super) fn decide(&mut self, nodes: u64, budget: &mut Budget<'_>) -> Decision {
        self.nodes_left = nodes;
        let all: Vec<usize> = (0..self.placed.len()).collect();
        let components = self.components(&all, 0..self.sections.len());
        match self.search_all(components, 0, 0, budget) {
            Outcome::AllPlaced => {
                let offsets = self.offset.iter().map(|offset| offset.unsigned_abs());
                Decision::Possible(offsets.collect())
            }
            Outcome::NoPlan => Decision::Impossible,
            Outcome::Unknown => Decision::Unknown,
        }
    }

    /// Splits the buffers into components that are not alive together, each in the order given.
    fn components(&self, waiting: &[usize], sections: Range<usize>) -> Vec<Component> {
        let mut components: Vec<Component> = Vec::new();
        let mut component_of = vec![0; sections.len()];
        let mut start = sections.start;
        for section in sections.clone() {
            component_of[section - sections.start] = components.len();
            if self.crossing[section] == 0 || section + 1 == sections.end {
                components.push(Component {
                    waiting: Vec::new(),
                    sections: start..section + 1,
                });
                start = section + 1;
            }
        }
        for &buffer in waiting {
            let first = self.section_of[buffer].start - sections.start;
            components[component_of[first]].waiting.push(buffer);
        }
        components.retain(|component| !component.waiting.is_empty());
        components
    }

    /// Each component is a problem of its own; what is placed stays placed unless one has no
    /// plan.
    fn search_all(
        &mut self,
        mut components: Vec<Component>,
        last: i64,
        last_rank: usize,
        budget: &mut Budget<'_>,
    ) -> Outcome {
        if !components
            .iter_mut()
            .all(|component| self.fits(component, last))
        {
            return Outcome::NoPlan;
        }
        let start = self.trail.len();
        let is_split = components.len() > 1;
        for mut component in components {
            // What is left of the sections has another order of its own.
            let outcome = if is_split {
                self.search_anew(&mut component, last, budget)
            } else {
                self.search(&mut component, last, last_rank, budget)
            };
            if !matches!(outcome, Outcome::AllPlaced) {
                self.take_back(start);
                return outcome;
            }
        }
        Outcome::AllPlaced
    }

    /// Searches a component in a preorder of its own.
    fn search_anew(
        &mut self,
        component: &mut Component,
        last: i64,
        budget: &mut Budget<'_>,
    ) -> Outcome {
        let ranks = component.waiting.iter().map(|&buffer| self.rank[buffer]);
        let ranks: Vec<usize> = ranks.collect();
        let waiting = component.waiting.clone();
        self.rank_by_preorder(&waiting);
        let outcome = self.search(component, last, 0, budget);
        for (buffer, rank) in waiting.into_iter().zip(ranks) {
            self.rank[buffer] = rank;
        }
        outcome
    }

    /// Places one more buffer at or above `last`, and then the others.
    fn search(
        &mut self,
        component: &mut Component,
        last: i64,
        last_rank: usize,
        budget: &mut Budget<'_>,
    ) -> Outcome {
        if self.nodes_left == 0
            || budget.spend((component.waiting.len() + component.sections.len()) as u64)
        {
            return Outcome::Unknown;
        }
        self.nodes_left -= 1;
        let mut fits_from = last;
        for buffer in self.candidates(component, last, last_rank) {
            let (offset, rank) = (self.offset[buffer], self.rank[buffer]);
            // Candidates come from the lowest up: what is passed over by one is by all that follow.
            if offset > fits_from {
                if !self.fits(component, offset) {
                    break;
                }
                fits_from = offset;
            }
            let length = self.trail.len();
            let outcome = if self.place(buffer) {
                let components = self.rest(component, buffer);
                self.search_all(components, offset, rank, budget)
            } else {
                Outcome::NoPlan
            };
            match outcome {
                Outcome::NoPlan => self.take_back(length),
                outcome => return outcome,
            }
        }
        Outcome::NoPlan
    }

    /// The component without a buffer that was just placed.
    fn rest(&self, component: &Component, placed: usize) -> Vec<Component> {
        let waiting = component.waiting.iter().copied();
        let waiting: Vec<usize> = waiting.filter(|&buffer| buffer != placed).collect();
        let range = &self.section_of[placed];
        let mut crossed = self.crossing[range.start..range.end - 1].iter();
        let at_end = range.start == component.sections.start || range.end == component.sections.end;
        if at_end || crossed.any(|&crossing| crossing == 0) {
            self.components(&waiting, component.sections.clone())
        } else {
            vec![Component {
                waiting,
                sections: component.sections.clone(),
            }]
        }
    }

    /// Gives these buffers, all that wait in their sections, their positions in the preorder.
    fn rank_by_preorder(&mut self, waiting: &[usize]) {
        let mut order = waiting.to_vec();
        order.sort_by_cached_key(|&buffer| {
            let values = self.preorder.iter().map(|&key| self.value(buffer, key));
            (Reverse(values.collect::<Vec<i64>>()), buffer)
        });
        for (position, buffer) in order.into_iter().enumerate() {
            self.rank[buffer] = position;
        }
    }

    fn value(&self, buffer: usize, key: Key) -> i64 {
        let alive = &self.problem.buffers()[buffer].alive;
        let length = i64::from(alive.end - alive.start);
        match key {
            Key::Area => length.saturating_mul(self.size(buffer)),
            Key::Length => length,
            Key::Neighbours => self.problem.neighbours(buffer).len() as i64,
            Key::Sections => self.section_of[buffer].len() as i64,
            Key::Total => {
                let sections = &self.sections[self.section_of[buffer].clone()];
                let needed = sections.iter().map(|section| section.needed);
                needed.max().unwrap_or(0)
            }
        }
    }

    fn section_state(&self, section: &Section) -> SectionState {
        let spacing = |&buffer: &usize| signed(self.problem.spacing(buffer));
        let slack = |&buffer: &usize| {
            let size = self.problem.buffers()[buffer].size_bytes;
            signed(self.problem.spacing(buffer) - size)
        };
        let total: i64 = section.alive.iter().map(spacing).sum();
        let shared: i64 = section
            .alive
            .iter()
            .flat_map(|&buffer| &self.shared[buffer])
            .filter(|(other, _)| section.alive.binary_search(other).is_ok())
            .map(|(_, bytes)| bytes)
            .sum();
        SectionState {
            // Each pair was counted from both sides.
            needed: total - shared / 2,
            slack: section.alive.iter().map(slack).max().unwrap_or(0),
        }
    }

    /// The buffers that can come next: not below the last one, and not so high that
    /// another one could lie wholly underneath instead.
    fn candidates(&self, component: &Component, last: i64, last_rank: usize) -> Vec<usize> {
        let end = |&buffer: &usize| self.offset[buffer] + signed(self.problem.spacing(buffer));
        let lowest_end = component.waiting.iter().map(end).min().unwrap_or(0);
        let next = |&buffer: &usize| {
            let offset = self.offset[buffer];
            let in_order = offset > last
                || offset == last && (self.has_zero_distance || self.rank[buffer] >= last_rank);
            in_order && offset < lowest_end
        };
        component.waiting.iter().copied().filter(next).collect()
    }

    /// False when another buffer ends above the capacity now.
    fn place(&mut self, buffer: usize) -> bool {
        let mut fits = true;
        let mut undo = Placed {
            buffer,
            offsets: Vec::new(),
        };
        self.placed[buffer] = true;
        self.count(buffer, -1);
        for neighbour in self.problem.neighbours(buffer) {
            let other = neighbour.buffer;
            let least = self.offset[buffer] + signed(neighbour.distance_above);
            if self.placed[other] || self.offset[other] >= least {
                continue;
            }
            let least = self.problem.aligned(other, least);
            undo.offsets.push((other, self.offset[other]));
            self.offset[other] = least;
            if least + self.size(other) > self.capacity {
                fits = false;
                break;
            }
        }
        self.trail.push(undo);
        fits
    }

    fn take_back(&mut self, length: usize) {
        while self.trail.len() > length {
            let Some(undo) = self.trail.pop() else {
                return;
            };
            for &(other, offset) in undo.offsets.iter().rev() {
                self.offset[other] = offset;
            }
            self.count(undo.buffer, 1);
            self.placed[undo.buffer] = false;
        }
    }

    fn size(&self, buffer: usize) -> i64 {
        signed(self.problem.buffers()[buffer].size_bytes)
    }

    /// Counts the buffer as waiting (1) or as placed (-1) in its sections.
    fn count(&mut self, buffer: usize, sign: i64) {
        let spacing = signed(self.problem.spacing(buffer));
        let range = self.section_of[buffer].clone();
        for crossed in &mut self.crossing[range.start..range.end - 1] {
            *crossed = crossed.saturating_add_signed(sign as isize);
        }
        for index in range {
            self.sections[index].needed += sign * spacing;
        }
        for &(other, bytes) in &self.shared[buffer] {
            if !self.placed[other] {
                let (one, two) = (&self.section_of[buffer], &self.section_of[other]);
                for index in one.start.max(two.start)..one.end.min(two.end) {
                    self.sections[index].needed -= sign * bytes;
                }
            }
        }
    }

    /// Where the buffer lies at least if something at or above `last` still comes below it; `None`
    /// if nothing can.
    fn lifted(&self, buffer: usize, last: i64) -> Option<i64> {
        let neighbours = self.problem.neighbours(buffer).iter();
        let waiting = neighbours.filter(|neighbour| !self.placed[neighbour.buffer]);
        let least = waiting.map(|neighbour| {
            self.offset[neighbour.buffer].max(last) + signed(neighbour.distance_below)
        });
        Some(self.problem.aligned(buffer, least.min()?))
    }

    /// Whether nothing is known against placing all of the component at or above `last`.
    fn fits(&mut self, component: &mut Component, last: i64) -> bool {
        for &buffer in &component.waiting {
            let offset = self.offset[buffer];
            // A buffer that is passed over cannot stay where it is.
            let least = if offset < last {
                self.lifted(buffer, last)
            } else {
                Some(offset)
            };
            match least {
                Some(least) if least + self.size(buffer) <= self.capacity => {
                    self.least[buffer] = least;
                }
                _ => return false,
            }
        }
        self.keys.clear();
        for &buffer in &component.waiting {
            let least = u128::from(self.least[buffer].unsigned_abs());
            self.keys
                .push(least << 64 | (self.rank[buffer] as u128) << 32 | buffer as u128);
        }
        // Most of them are in order from the step before, which this sort is quick with.
        self.keys.sort();
        for (buffer, key) in component.waiting.iter_mut().zip(&self.keys) {
            *buffer = (*key as u32) as usize;
        }
        self.sections_fit(component)
    }

    /// Whether in each section of the component there is room for its buffers above the lowest.
    fn sections_fit(&mut self, component: &Component) -> bool {
        let Range { start, end } = component.sections;
        for section in start..=end {
            self.next_section[section] = section;
        }
        for &buffer in &component.waiting {
            let floor = self.least[buffer];
            let range = self.section_of[buffer].clone();
            let mut index = self.first_without_floor(range.start);
            while index < range.end {
                let section = &self.sections[index];
                if section.needed > 0 && floor + section.needed > self.capacity + section.slack {
                    return false;
                }
                self.next_section[index] = index + 1;
                index = self.first_without_floor(index + 1);
            }
        }
        true
    }

    /// The first section from this one on that has no floor yet.
    fn first_without_floor(&mut self, from: usize) -> usize {
        let mut first = from;
        while self.next_section[first] != first {
            first = self.next_section[first];
        }
        let mut section = from;
        while section != first {
            section = std::mem::replace(&mut self.next_section[section], first);
        }
        first
    }
}

/// The sections of each buffer's life.
fn sections_of_buffers(sections: &[Section], buffers: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<Option<Range<usize>>> = vec![None; buffers];
    for (index, section) in sections.iter().enumerate() {
        for &buffer in &section.alive {
            let range = ranges[buffer].get_or_insert(index..index);
            range.end = index + 1;
        }
    }
    ranges.into_iter().map(Option::unwrap_or_default).collect()
}

/// Neighbours with which the buffer can share bytes, and how many at most.
fn shared(problem: &Problem, buffer: usize) -> Vec<(usize, i64)> {
    let spacing = problem.spacing(buffer);
    let neighbours = problem.neighbours(buffer).iter();
    let shared = neighbours.map(|neighbour| {
        let above = spacing.saturating_sub(neighbour.distance_above);
        let other = problem.spacing(neighbour.buffer);
        let below = other.saturating_sub(neighbour.distance_below);
        (neighbour.buffer, signed(above.max(below)))
    });
    shared.filter(|(_, bytes)| *bytes > 0).collect()
}
