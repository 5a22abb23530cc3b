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
    /// Steps before its life.
    Start,
    /// Breadth of the widest section of its life.
    Total,
}

/// Keys, the first one first.
pub(super) type Preorder = &'static [Key];

/// Each finds plans that the others miss.
pub(super) const PREORDERS: &[Preorder] = &[
    &[Key::Total, Key::Area, Key::Length],
    &[Key::Total, Key::Length, Key::Area],
    &[Key::Total, Key::Neighbours],
    &[Key::Total, Key::Start],
    &[Key::Sections, Key::Total, Key::Area],
];

/// One search for a plan within a capacity.
pub(super) struct Canonical<'a> {
    problem: &'a Problem,
    capacity: i64,
    /// Position of each buffer in the preorder.
    rank: Vec<usize>,
    sections: Vec<SectionState>,
    section_of: Vec<Range<usize>>,
    /// How many buffers without a place are alive in a section and in the next one.
    crossing: Vec<usize>,
    placed: Vec<bool>,
    /// Of a placed buffer its offset, of another one where it fits above those placed.
    offset: Vec<i64>,
    /// A neighbour placed below the buffer raises it at least so far.
    least_raise: Vec<i64>,
    /// Some two buffers may start at the same offset.
    has_zero_distance: bool,
    trail: Vec<Placed>,
    nodes_left: u64,
}

struct SectionState {
    alive: Vec<usize>,
    /// No buffer that has no place yet fits lower.
    floor: i64,
    /// What those without a place need at least above the floor.
    needed: i64,
    /// The topmost buffer is not rounded up to the grain: the most that this saves.
    slack: i64,
}

/// A placed buffer, and what placing it has changed.
struct Placed {
    buffer: usize,
    offsets: Vec<(usize, i64)>,
    floors: Vec<(usize, i64)>,
}

/// Buffers without a place that no other one is alive together with.
struct Component {
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
            rank: rank(problem, preorder, &sections),
            sections: Vec::new(),
            section_of,
            crossing,
            placed: vec![false; count],
            offset: vec![0; count],
            least_raise: (0..count)
                .map(|buffer| distances(buffer).min().unwrap_or(0))
                .collect(),
            has_zero_distance: (0..count).any(|buffer| distances(buffer).any(|bytes| bytes == 0)),
            trail: Vec::new(),
            nodes_left: 0,
        };
        search.sections = sections
            .into_iter()
            .map(|section| search.section_state(section))
            .collect();
        search
    }

    /// Looks for a plan, at most this many placements long.
    pub(super) fn decide(&mut self, nodes: u64, budget: &mut Budget<'_>) -> Decision {
        self.nodes_left = nodes;
        let components = self.components((0..self.placed.len()).collect());
        match self.search_all(components, 0, 0, budget) {
            Outcome::AllPlaced => {
                let offsets = self.offset.iter().map(|offset| offset.unsigned_abs());
                Decision::Possible(offsets.collect())
            }
            Outcome::NoPlan => Decision::Impossible,
            Outcome::Unknown => Decision::Unknown,
        }
    }

    /// Splits the buffers into components that are not alive together.
    fn components(&self, mut waiting: Vec<usize>) -> Vec<Component> {
        waiting.sort_unstable_by_key(|&buffer| self.section_of[buffer].start);
        let mut components: Vec<Component> = Vec::new();
        for buffer in waiting {
            let range = self.section_of[buffer].clone();
            match components.last_mut() {
                Some(component) if range.start < component.sections.end => {
                    component.sections.end = component.sections.end.max(range.end);
                    component.waiting.push(buffer);
                }
                _ => components.push(Component {
                    waiting: vec![buffer],
                    sections: range,
                }),
            }
        }
        components
    }

    /// Each component is a problem of its own; what is placed stays placed unless one has no
    /// plan.
    fn search_all(
        &mut self,
        components: Vec<Component>,
        last: i64,
        last_rank: usize,
        budget: &mut Budget<'_>,
    ) -> Outcome {
        if !components
            .iter()
            .all(|component| self.fits(component, last))
        {
            return Outcome::NoPlan;
        }
        let start = self.trail.len();
        for component in components {
            let outcome = self.search(&component, last, last_rank, budget);
            if !matches!(outcome, Outcome::AllPlaced) {
                self.take_back(start);
                return outcome;
            }
        }
        Outcome::AllPlaced
    }

    /// Places one more buffer at or above `last`, and then the others.
    fn search(
        &mut self,
        component: &Component,
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
        for buffer in self.candidates(component, last, last_rank) {
            let (offset, rank) = (self.offset[buffer], self.rank[buffer]);
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
            self.components(waiting)
        } else {
            vec![Component {
                waiting,
                sections: component.sections.clone(),
            }]
        }
    }

    fn section_state(&self, section: Section) -> SectionState {
        let spacing = |&buffer: &usize| signed(self.problem.spacing(buffer));
        let slack = |&buffer: &usize| {
            let size = self.problem.buffers()[buffer].size_bytes;
            signed(self.problem.spacing(buffer) - size)
        };
        let total: i64 = section.alive.iter().map(spacing).sum();
        let shared: i64 = section
            .alive
            .iter()
            .flat_map(|&buffer| self.shared(buffer))
            .filter(|&(_, other, _)| section.alive.binary_search(&other).is_ok())
            .map(|(_, _, bytes)| bytes)
            .sum();
        SectionState {
            floor: 0,
            // Each pair was counted from both sides.
            needed: total - shared / 2,
            slack: section.alive.iter().map(slack).max().unwrap_or(0),
            alive: section.alive,
        }
    }

    /// Neighbours with which the buffer can share bytes, and how many at most.
    fn shared(&self, buffer: usize) -> impl Iterator<Item = (usize, usize, i64)> {
        let spacing = self.problem.spacing(buffer);
        self.problem
            .neighbours(buffer)
            .iter()
            .filter_map(move |neighbour| {
                let above = spacing.saturating_sub(neighbour.distance_above);
                let other = self.problem.spacing(neighbour.buffer);
                let below = other.saturating_sub(neighbour.distance_below);
                let bytes = signed(above.max(below));
                (bytes > 0).then_some((buffer, neighbour.buffer, bytes))
            })
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
        let mut candidates: Vec<usize> = component.waiting.iter().copied().filter(next).collect();
        candidates.sort_unstable_by_key(|&buffer| (self.offset[buffer], self.rank[buffer]));
        candidates
    }

    /// False when another buffer ends above the capacity now.
    fn place(&mut self, buffer: usize) -> bool {
        let mut fits = true;
        let mut undo = Placed {
            buffer,
            offsets: Vec::new(),
            floors: Vec::new(),
        };
        self.placed[buffer] = true;
        self.count(buffer, -1);
        let mut affected = self.section_of[buffer].clone();
        for neighbour in self.problem.neighbours(buffer) {
            let other = neighbour.buffer;
            let least = self.offset[buffer] + signed(neighbour.distance_above);
            if self.placed[other] || self.offset[other] >= least {
                continue;
            }
            let least = self.problem.aligned(other, least);
            undo.offsets.push((other, self.offset[other]));
            self.offset[other] = least;
            fits &= least + self.size(other) <= self.capacity;
            let range = &self.section_of[other];
            affected = affected.start.min(range.start)..affected.end.max(range.end);
        }
        for index in affected {
            let alive = self.sections[index].alive.iter();
            let waiting = alive.filter(|&&buffer| !self.placed[buffer]);
            let floor = waiting.map(|&buffer| self.offset[buffer]).min();
            let section = &mut self.sections[index];
            if let Some(floor) = floor.filter(|&floor| floor > section.floor) {
                undo.floors.push((index, section.floor));
                section.floor = floor;
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
            for &(section, floor) in undo.floors.iter().rev() {
                self.sections[section].floor = floor;
            }
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
        let shared: Vec<_> = self.shared(buffer).collect();
        for (_, other, bytes) in shared {
            if !self.placed[other] {
                let (one, two) = (&self.section_of[buffer], &self.section_of[other]);
                for index in one.start.max(two.start)..one.end.min(two.end) {
                    self.sections[index].needed -= sign * bytes;
                }
            }
        }
    }

    /// Whether nothing is known against placing all of the component at or above `last`.
    fn fits(&self, component: &Component, last: i64) -> bool {
        let buffer_fits = |&buffer: &usize| {
            let offset = match self.offset[buffer] {
                offset if offset >= last => offset,
                // It cannot stay there: something still has to come below it.
                _ => self
                    .problem
                    .aligned(buffer, last + self.least_raise[buffer]),
            };
            offset + self.size(buffer) <= self.capacity
        };
        let section_fits = |section: &SectionState| {
            section.needed <= 0
                || section.floor.max(last) + section.needed <= self.capacity + section.slack
        };
        let sections = &self.sections[component.sections.clone()];
        sections.iter().all(section_fits) && component.waiting.iter().all(buffer_fits)
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

fn rank(problem: &Problem, preorder: Preorder, sections: &[Section]) -> Vec<usize> {
    let buffers = problem.buffers();
    let mut total = vec![0; buffers.len()];
    let mut section_count = vec![0; buffers.len()];
    for section in sections {
        let breadth = problem.breadth(section);
        for &buffer in &section.alive {
            total[buffer] = breadth.max(total[buffer]);
            section_count[buffer] += 1;
        }
    }
    let value = |index: usize, key: Key| {
        let alive = &buffers[index].alive;
        let length = u64::from(alive.end - alive.start);
        match key {
            Key::Area => u128::from(length) * u128::from(buffers[index].size_bytes),
            Key::Length => u128::from(length),
            Key::Neighbours => problem.neighbours(index).len() as u128,
            Key::Sections => section_count[index],
            Key::Start => u128::from(alive.start),
            Key::Total => u128::from(total[index]),
        }
    };
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_cached_key(|&index| {
        let values = preorder.iter().map(|&key| value(index, key));
        (Reverse(values.collect::<Vec<u128>>()), index)
    });
    let mut rank = vec![0; buffers.len()];
    for (position, buffer) in order.into_iter().enumerate() {
        rank[buffer] = position;
    }
    rank
}
