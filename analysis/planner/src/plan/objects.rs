//! Planners that give each buffer one of several shared objects (Pisarchyk and Lee,
//! section 4). The objects lie side by side in the arena.

use super::offsets::Tie;
use super::{Plan, offsets};
use crate::problem::{Problem, common_multiple};
use std::cmp::Reverse;

/// Shared objects and who uses them.
pub(super) struct Objects<'a> {
    problem: &'a Problem,
    /// Size of each object in bytes: that of its largest buffer.
    sizes: Vec<u64>,
    /// The object of each buffer.
    object_of: Vec<Option<usize>>,
}

impl<'a> Objects<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        Self {
            problem,
            sizes: Vec::new(),
            object_of: vec![None; problem.buffers().len()],
        }
    }

    fn size_of(&self, buffer: usize) -> u64 {
        self.problem.buffers()[buffer].size_bytes
    }

    /// Objects that no buffer uses while this one is alive, in order of creation.
    pub(super) fn suitable(&self, buffer: usize) -> Vec<usize> {
        let mut free = vec![true; self.sizes.len()];
        for neighbour in self.problem.neighbours(buffer) {
            if let Some(object) = self.object_of[neighbour.buffer] {
                free[object] = false;
            }
        }
        (0..free.len()).filter(|&object| free[object]).collect()
    }

    /// Gives the buffer this object, which grows if need be, or else a new one.
    pub(super) fn assign(&mut self, buffer: usize, object: Option<usize>) {
        let size = self.size_of(buffer);
        let object = object.unwrap_or_else(|| {
            self.sizes.push(size);
            self.sizes.len() - 1
        });
        self.sizes[object] = self.sizes[object].max(size);
        self.object_of[buffer] = Some(object);
    }

    /// The object of a buffer that has one.
    pub(super) fn object_of(&self, buffer: usize) -> Option<usize> {
        self.object_of[buffer]
    }

    pub(super) fn size(&self, object: usize) -> u64 {
        self.sizes[object]
    }

    /// Steps between the buffer and the nearest other use of the object.
    fn idle_steps(&self, buffer: usize, object: usize) -> u32 {
        let alive = &self.problem.buffers()[buffer].alive;
        let users = self.object_of.iter().enumerate();
        users
            .filter(|(_, used)| **used == Some(object))
            .map(|(user, _)| {
                let other = &self.problem.buffers()[user].alive;
                if other.end <= alive.start {
                    alive.start - other.end
                } else {
                    other.start.saturating_sub(alive.end)
                }
            })
            .min()
            .unwrap_or(u32::MAX)
    }

    /// The objects side by side, each where all of its buffers are aligned.
    pub(super) fn finish(self) -> Plan {
        let mut alignments = vec![1; self.sizes.len()];
        for (buffer, &object) in self.problem.buffers().iter().zip(&self.object_of) {
            if let Some(object) = object {
                let common = common_multiple(alignments[object], buffer.alignment);
                alignments[object] = common.unwrap_or(buffer.alignment);
            }
        }
        let mut starts = Vec::with_capacity(self.sizes.len());
        let mut end = 0_u64;
        for (size, alignment) in self.sizes.iter().zip(alignments) {
            starts.push(end.next_multiple_of(alignment));
            end = end.next_multiple_of(alignment) + size;
        }
        let start = |object: &Option<usize>| object.map_or(0, |object| starts[object]);
        Plan {
            offsets: self.object_of.iter().map(start).collect(),
        }
    }
}

/// An object for each buffer.
pub(super) fn naive(problem: &Problem) -> Plan {
    let mut objects = Objects::new(problem);
    for buffer in 0..problem.buffers().len() {
        objects.assign(buffer, None);
    }
    objects.finish()
}

/// Largest first, of equal ones the first that is executed; into the smallest suitable
/// object (section 4.3, Algorithm 2).
pub fn by_size_smallest(problem: &Problem) -> Plan {
    by_size(problem, Tie::First, |objects, suitable| {
        suitable.min_by_key(|&object| (objects.size(object), object))
    })
}

/// The same into the largest suitable object. The published figures are reached so, and
/// not by the smallest.
pub fn by_size_largest(problem: &Problem, tie: Tie) -> Plan {
    by_size(problem, tie, largest)
}

fn largest(objects: &Objects<'_>, suitable: std::vec::IntoIter<usize>) -> Option<usize> {
    suitable.max_by_key(|&object| (objects.size(object), Reverse(object)))
}

fn by_size(
    problem: &Problem,
    tie: Tie,
    choose: impl Fn(&Objects<'_>, std::vec::IntoIter<usize>) -> Option<usize>,
) -> Plan {
    let mut objects = Objects::new(problem);
    for buffer in offsets::order_by_size(problem, tie) {
        let object = choose(&objects, objects.suitable(buffer).into_iter());
        objects.assign(buffer, object);
    }
    objects.finish()
}

/// Operators of the largest breadth first, and of each its largest buffers; into the
/// smallest suitable object that is large enough, else into the largest, which grows
/// (section 4.2, Algorithm 1), with these ties of operators and of buffers.
pub fn by_breadth(problem: &Problem, operators: Tie, buffers: Tie) -> Plan {
    let mut objects = Objects::new(problem);
    for buffer in offsets::order_by_breadth(problem, operators, buffers) {
        let size = objects.size_of(buffer);
        let suitable = objects.suitable(buffer);
        let large = suitable.iter().copied();
        let object = large
            .filter(|&object| objects.size(object) >= size)
            .min_by_key(|&object| (objects.size(object), object))
            .or_else(|| largest(&objects, suitable.into_iter()));
        objects.assign(buffer, object);
    }
    objects.finish()
}

/// By Size in stages of positional maxima; within a stage always the buffer and the object
/// that leave the object idle for the fewest steps (section 4.4).
pub(super) fn by_size_improved(problem: &Problem) -> Plan {
    in_stages(problem, |stage| stage)
}

/// The same with fewer stages: sizes between two maxima share one with the lower of them.
pub fn by_size_improved_fewer_stages(problem: &Problem) -> Plan {
    in_stages(problem, |stage| stage.div_ceil(2))
}

fn in_stages(problem: &Problem, joined: impl Fn(usize) -> usize) -> Plan {
    let buffers = problem.buffers();
    let maxima = positional_maxima(problem);
    let mut objects = Objects::new(problem);
    let mut stages: Vec<Vec<usize>> = vec![Vec::new(); 2 * maxima.len() + 1];
    for (index, buffer) in buffers.iter().enumerate() {
        stages[joined(stage(&maxima, buffer.size_bytes))].push(index);
    }
    for mut stage in stages {
        stage.sort_by_key(|&buffer| {
            let alive = &buffers[buffer].alive;
            (Reverse(buffers[buffer].size_bytes), alive.start, buffer)
        });
        while !stage.is_empty() {
            let (position, object) = closest(&objects, &stage);
            let buffer = stage.remove(position);
            objects.assign(buffer, object);
        }
    }
    objects.finish()
}

/// The largest first, second, third ... size of all operators, sizes of each in descending
/// order (section 3).
fn positional_maxima(problem: &Problem) -> Vec<u64> {
    let mut maxima: Vec<u64> = Vec::new();
    for section in problem.sections() {
        let mut sizes: Vec<u64> = section
            .alive
            .iter()
            .map(|&buffer| problem.buffers()[buffer].size_bytes)
            .collect();
        sizes.sort_unstable_by_key(|&size| Reverse(size));
        for (position, size) in sizes.into_iter().enumerate() {
            match maxima.get_mut(position) {
                Some(maximum) => *maximum = size.max(*maximum),
                None => maxima.push(size),
            }
        }
    }
    maxima.dedup();
    maxima
}

/// Sizes equal to the first maximum, between the first two, equal to the second, ...
fn stage(maxima: &[u64], size: u64) -> usize {
    let larger = maxima.iter().filter(|&&maximum| maximum > size).count();
    match maxima.get(larger) {
        Some(&maximum) if maximum == size => 2 * larger,
        _ => 2 * larger - usize::from(larger > 0),
    }
}

/// Of a stage's buffers the one with the object that stays idle for the fewest steps; when
/// none has a suitable object, the first one, without.
fn closest(objects: &Objects<'_>, stage: &[usize]) -> (usize, Option<usize>) {
    let candidates = stage.iter().enumerate().flat_map(|(position, &buffer)| {
        let suitable = objects.suitable(buffer).into_iter();
        suitable.map(move |object| (objects.idle_steps(buffer, object), position, object))
    });
    candidates
        .min()
        .map_or((0, None), |(_, position, object)| (position, Some(object)))
}
