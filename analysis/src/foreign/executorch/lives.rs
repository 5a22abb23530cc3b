//! When each value of a method is in use, and which values are one.

use super::flow::{Flow, Loop};
use super::program::{Method, Tensor};
use super::sets::Sets;
use super::uses::{Jump, Uses, steps};
use crate::foreign::ForeignError;
use std::ops::Range;

/// The values of a method: which are bound together, and when each is in use.
pub(super) struct Lives {
    /// For each value the first of those that are bound to one place with it.
    root: Vec<usize>,
    /// The steps at which a value, or one that it is one with, is in use.
    alive: Vec<Range<u32>>,
    /// Values that keep their content from one inference to the next, or may.
    kept: Vec<bool>,
}

/// The first and the last step at which values are used that are one.
struct Used {
    sets: Sets,
    /// Of the first value of each set.
    steps: Vec<Option<(u32, u32)>>,
}

impl Lives {
    pub fn of(method: &Method, tensors: &[Option<Tensor>]) -> Result<Self, ForeignError> {
        let (steps, jumps) = steps(method)?;
        let loops = loops(&jumps);
        let passed_over = passed_over(steps.len(), &jumps, &loops);
        let Flow {
            mut bound,
            mut kept,
        } = Flow::of(&steps, tensors, &loops, &passed_over)?;
        let values = tensors.len();
        let root: Vec<usize> = (0..values).map(|value| bound.first(value)).collect();
        let mut used = Used::by(&steps, values);
        for (value, &root) in root.iter().enumerate() {
            used.join(value, root);
        }
        for [one, other] in steps.iter().filter_map(|step| step.passed_on) {
            used.join(one, other);
        }
        let stored_anew = stored_anew(&steps, values);
        let alone = used.alone();
        used.lengthen(&loops, |value| stored_anew[value] && alone[value]);
        let last = steps.len() as u32 - 1;
        let is_state = |tensor: &Option<Tensor>| tensor.as_ref().is_some_and(|it| it.is_state);
        for (value, tensor) in tensors.iter().enumerate() {
            kept[value] |= is_state(tensor) || used.of(value).is_none();
            if kept[value] {
                used.touch(value, (0, last));
            }
        }
        let alive = (0..values).map(|value| used.of(value).map_or(0..last + 1, |(a, b)| a..b + 1));
        Ok(Self {
            alive: alive.collect(),
            root,
            kept,
        })
    }

    /// The first of the values that are bound together with this one.
    pub fn root(&self, value: usize) -> usize {
        self.root[value]
    }

    /// The steps at which a value is in use; all where it is never used.
    pub fn life(&self, value: usize) -> Range<u32> {
        self.alive[value].clone()
    }

    /// Whether a value may keep its content from one inference to the next.
    pub fn is_kept(&self, value: usize) -> bool {
        self.kept[value]
    }
}

impl Used {
    fn by(steps: &[Uses], values: usize) -> Self {
        let mut used = Self {
            sets: Sets::new(values),
            steps: vec![None; values],
        };
        for (at, step) in steps.iter().enumerate() {
            let at = at as u32;
            for &value in step.reads.iter().chain(&step.stores) {
                used.touch(value, (at, at));
            }
        }
        used
    }

    fn of(&mut self, value: usize) -> Option<(u32, u32)> {
        self.steps[self.sets.first(value)]
    }

    fn touch(&mut self, value: usize, (from, to): (u32, u32)) {
        let first = self.sets.first(value);
        let (begin, end) = self.steps[first].unwrap_or((from, to));
        self.steps[first] = Some((begin.min(from), end.max(to)));
    }

    fn join(&mut self, one: usize, other: usize) {
        let both = [self.of(one), self.of(other)];
        if self.sets.join(one, other) {
            for steps in both.into_iter().flatten() {
                self.touch(one, steps);
            }
        }
    }

    /// For each value whether it is one with no other.
    fn alone(&mut self) -> Vec<bool> {
        let mut alone = vec![true; self.steps.len()];
        for value in 0..alone.len() {
            let first = self.sets.first(value);
            if first != value {
                (alone[first], alone[value]) = (false, false);
            }
        }
        alone
    }

    /// What is used in a loop is in use as long as it runs, but for what only a straight one uses and
    /// stores anew each time.
    fn lengthen(&mut self, loops: &[Loop], stored_anew: impl Fn(usize) -> bool) {
        let around = |step: u32| {
            let index = loops.partition_point(|one| one.to < step);
            loops.get(index).filter(|one| one.from <= step)
        };
        for (value, used) in self.steps.iter_mut().enumerate() {
            let Some((first, last)) = used else {
                continue;
            };
            let (at_first, at_last) = (around(*first), around(*last));
            let anew = at_first.is_some_and(|one| one.straight && *last <= one.to);
            if !(anew && stored_anew(value)) {
                *first = at_first.map_or(*first, |one| one.from);
                *last = at_last.map_or(*last, |one| one.to);
            }
        }
    }
}

/// For each value whether it is stored before it is read.
fn stored_anew(steps: &[Uses], values: usize) -> Vec<bool> {
    let mut is_read_first = vec![None; values];
    for step in steps {
        for &value in &step.reads {
            is_read_first[value].get_or_insert(true);
        }
        for &value in &step.stores {
            is_read_first[value].get_or_insert(false);
        }
    }
    is_read_first.iter().map(|it| *it == Some(false)).collect()
}

/// For each step whether some path does not run it, or runs others between it and the next.
fn passed_over(steps: usize, jumps: &[Jump], loops: &[Loop]) -> Vec<bool> {
    let mut passed_over = vec![false; steps];
    let forward = jumps.iter().filter(|(at, to)| at < to);
    let forward = forward.map(|&(at, to)| at + 1..to);
    let loops = loops.iter().filter(|one| !one.straight);
    for region in forward.chain(loops.map(|one| one.from..one.to + 1)) {
        passed_over[region.start as usize..region.end as usize].fill(true);
    }
    passed_over
}

/// The loops of jumps, each from a step to a step, in order. Loops that have a step in common count
/// as one.
fn loops(jumps: &[(u32, u32)]) -> Vec<Loop> {
    let back = jumps.iter().filter(|(at, to)| to <= at);
    let mut back: Vec<(u32, u32)> = back.map(|&(at, to)| (to, at)).collect();
    back.sort_unstable();
    let mut loops: Vec<Loop> = Vec::new();
    for (from, to) in back {
        match loops.last_mut() {
            Some(before) if before.to >= from => {
                before.to = before.to.max(to);
                before.straight = false;
            }
            _ => loops.push(Loop {
                from,
                to,
                straight: true,
            }),
        }
    }
    for &(at, to) in jumps {
        for step in [at, to] {
            let index = loops.partition_point(|one| one.to < step);
            if let Some(one) = loops.get_mut(index).filter(|one| one.from <= step) {
                let own = (at, to) == (one.to, one.from);
                one.straight &= own || step == one.from && to == step;
            }
        }
    }
    loops
}
