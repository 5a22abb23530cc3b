//! Where what is read was stored. The program's own plan says it: what lies at a place is what was
//! stored there last.
//!
//! A value that nothing stores is a view of what lies at its place, and has to stay there. Of a value
//! that an operator may store or read, as most of a delegate's arguments, it is assumed that it is
//! read.

use super::program::Tensor;
use super::sets::Sets;
use super::uses::Uses;
use crate::foreign::ForeignError;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A region of steps that is run again and again.
pub(super) struct Loop {
    pub from: u32,
    pub to: u32,
    /// Each time all of its steps are run, in order.
    pub straight: bool,
}

/// What the steps of a method say of its values.
pub(super) struct Flow {
    /// Values that lie at one place, to which they are bound together.
    pub bound: Sets,
    /// Values with content of an earlier inference, or of none.
    pub kept: Vec<bool>,
}

/// How sure it is that a value has been stored in an inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stored {
    No,
    /// Perhaps.
    OnSomePath,
    OnAllPaths,
}

/// In place of a value: the content of before all inferences.
const OLD: usize = usize::MAX;

/// Following a method takes no more than so many looks at what lies somewhere.
const MOST_WORK: usize = 1 << 28;

/// A loop is followed at most so often until nothing new comes of it.
const MOST_ROUNDS: usize = 16;

/// The memories while the program runs.
struct Memories {
    /// Of each value the stretches that it lies over: between two bounds of values no other begins.
    stretches: Vec<Range<usize>>,
    /// For each stretch the values that may have been stored there last.
    owners: Vec<Vec<usize>>,
    stored: Vec<Stored>,
    flow: Flow,
    /// Something was learned that had not been known.
    news: bool,
    /// What is left of the work.
    work: usize,
}

impl Flow {
    /// Runs two inferences. `passed_over`: for each step whether some path does not run it.
    pub fn of(
        steps: &[Uses],
        tensors: &[Option<Tensor>],
        loops: &[Loop],
        passed_over: &[bool],
    ) -> Result<Self, ForeignError> {
        let mut memories = Memories::new(tensors);
        for _ in 0..2 {
            memories.stored.fill(Stored::No);
            let mut next = 0;
            for one in loops {
                let (from, to) = (one.from as usize, one.to as usize);
                memories.run(&steps[next..from], &passed_over[next..from]);
                memories.settle(&steps[from..=to], &passed_over[from..=to]);
                next = to + 1;
            }
            memories.run(&steps[next..], &passed_over[next..]);
        }
        if memories.work == 0 {
            return Err(ForeignError::TooManyPlaces);
        }
        Ok(memories.flow)
    }
}

impl Memories {
    fn new(tensors: &[Option<Tensor>]) -> Self {
        let mut bounds: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for tensor in tensors.iter().flatten() {
            let bounds = bounds.entry(tensor.memory).or_default();
            bounds.extend([tensor.offset, tensor.end()]);
        }
        let mut count = 0;
        let mut first = BTreeMap::new();
        for (&memory, bounds) in &mut bounds {
            bounds.sort_unstable();
            bounds.dedup();
            first.insert(memory, count);
            count += bounds.len();
        }
        let stretches = |tensor: &Tensor| {
            let (bounds, first) = (&bounds[&tensor.memory], first[&tensor.memory]);
            let at = |byte| first + bounds.partition_point(|&bound| bound < byte);
            at(tensor.offset)..at(tensor.end())
        };
        let stretches = tensors.iter().map(|it| it.as_ref().map_or(0..0, stretches));
        Self {
            stretches: stretches.collect(),
            owners: vec![vec![OLD]; count],
            stored: vec![Stored::No; tensors.len()],
            flow: Flow {
                bound: Sets::new(tensors.len()),
                kept: vec![false; tensors.len()],
            },
            news: false,
            work: MOST_WORK,
        }
    }

    /// Spends some of the work, if there is any left.
    fn spend(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_sub(work);
        self.work > 0
    }

    /// Runs steps, one after the other.
    fn run(&mut self, steps: &[Uses], passed_over: &[bool]) {
        for (step, &passed_over) in steps.iter().zip(passed_over) {
            for &value in &step.reads {
                self.read(value);
            }
            for &value in &step.stores {
                self.store(value, !passed_over);
            }
        }
    }

    /// Runs a loop until another round tells nothing new.
    fn settle(&mut self, steps: &[Uses], passed_over: &[bool]) {
        let values = steps.iter();
        let values: BTreeSet<usize> = values
            .flat_map(|step| step.reads.iter().chain(&step.stores).copied())
            .collect();
        let places = values.iter();
        let places: Vec<Range<usize>> =
            places.map(|&value| self.stretches[value].clone()).collect();
        for _ in 0..MOST_ROUNDS {
            if !self.spend(places.iter().map(Range::len).sum()) {
                return;
            }
            let owners = |memories: &Self| {
                let owners = places.iter().map(|place| &memories.owners[place.clone()]);
                owners.map(<[_]>::to_vec).collect::<Vec<_>>()
            };
            let before = owners(self);
            self.news = false;
            self.run(steps, passed_over);
            if !self.news && owners(self) == before {
                return;
            }
        }
        // Nothing is certain.
        for value in values {
            self.flow.kept[value] = true;
        }
    }

    fn read(&mut self, value: usize) {
        // What was stored over a value of its own is another's: no reason to take both for one.
        if self.stored[value] == Stored::OnAllPaths {
            return;
        }
        for stretch in self.stretches[value].clone() {
            if !self.spend(self.owners[stretch].len()) {
                return;
            }
            let owners = &mut self.owners[stretch];
            for &owner in owners.iter() {
                self.news |= if owner == OLD {
                    !std::mem::replace(&mut self.flow.kept[value], true)
                } else {
                    self.flow.bound.join(owner, value)
                };
            }
            // Whoever reads the same old content is at the same place.
            if owners.contains(&OLD) && !owners.contains(&value) {
                owners.push(value);
            }
        }
    }

    fn store(&mut self, value: usize, on_all_paths: bool) {
        for stretch in self.stretches[value].clone() {
            if !self.spend(self.owners[stretch].len()) {
                return;
            }
            let owners = &mut self.owners[stretch];
            if on_all_paths {
                owners.clear();
            }
            if !owners.contains(&value) {
                owners.push(value);
            }
        }
        let stored = if on_all_paths {
            Stored::OnAllPaths
        } else {
            Stored::OnSomePath
        };
        self.stored[value] = self.stored[value].max(stored);
    }
}
