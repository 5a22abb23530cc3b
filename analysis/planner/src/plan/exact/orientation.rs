//! Search over orientations: of each two buffers that are alive together, which is the lower
//! one.
//!
//! Offsets are ranges; whichever orientation of a pair is decided moves the bounds of its
//! buffers, these decide others, and so on (bounds consistency of disjunctive constraints,
//! as in scheduling). When the lowest offsets are themselves a valid plan the search is over;
//! otherwise it branches on a pair that they violate. Pairs that often fail come first, after
//! a restart at once, so that a contradiction is found where it is. Strong where few buffers
//! are alive at once and distances add up along a chain.

use super::Decision;
use crate::budget::Budget;
use crate::problem::{
    Buffer, MAX_PAIRS, Problem, ProblemError, check, grain, round_down, round_up, signed,
};
use std::collections::BTreeMap;

/// Buffers, and how far each two of them keep apart, whenever they are alive: all that this search
/// needs. A [`Problem`] has lifetimes besides, which the pairs at all steps of several orders
/// together do not have.
#[derive(Debug, Clone)]
pub struct PairDistances {
    buffers: Vec<Placeable>,
    pairs: Vec<Pair>,
}

/// What has to be known of a buffer to place it, in bytes.
#[derive(Debug, Clone, Copy)]
struct Placeable {
    size: i64,
    alignment: i64,
    fixed_offset: Option<i64>,
}

/// Two buffers that keep apart.
#[derive(Debug, Clone, Copy)]
struct Pair {
    buffers: [usize; 2],
    /// How far the second starts above the first, if it lies above; and the first above the
    /// second.
    distances: [i64; 2],
    /// How often it has failed.
    weight: f64,
}

impl PairDistances {
    /// Buffers of these sizes and alignments, and for pairs of their indices how far the second
    /// has to start above the first, if it lies above, all in bytes. A pair of which only one
    /// direction is given keeps apart by the whole size in the other one.
    ///
    /// # Errors
    /// When a size or an alignment is 0, they are too large together, there are too many pairs,
    /// or one names a buffer that there is not.
    pub fn new(
        buffers: &[(u64, u64)],
        distances: &BTreeMap<(usize, usize), u64>,
    ) -> Result<Self, ProblemError> {
        let anywhere = |&(size_bytes, alignment): &(u64, u64)| Buffer {
            name: String::new(),
            size_bytes,
            alive: 0..1,
            alignment,
            fixed_offset: None,
        };
        let buffers: Vec<Buffer> = buffers.iter().map(anywhere).collect();
        check(&buffers)?;
        if distances.len() > 2 * MAX_PAIRS {
            return Err(ProblemError::TooManyPairs);
        }
        let grain = grain(&buffers);
        let mut pairs = Vec::new();
        for &(lower, upper) in distances.keys() {
            if lower == upper || lower.max(upper) >= buffers.len() {
                return Err(ProblemError::NeverTogether { lower, upper });
            }
            let mirrored = distances.contains_key(&(upper, lower));
            if lower > upper && mirrored {
                continue;
            }
            let distance = |lower: usize, upper: usize| {
                let full = buffers[lower].size_bytes;
                let given = distances.get(&(lower, upper)).copied();
                signed(given.unwrap_or(full).min(full).next_multiple_of(grain))
            };
            pairs.push(Pair {
                buffers: [lower, upper],
                distances: [distance(lower, upper), distance(upper, lower)],
                weight: 1.0,
            });
        }
        Ok(Self {
            buffers: buffers.iter().map(Placeable::of).collect(),
            pairs,
        })
    }

    /// Of a problem those that are alive together.
    pub fn of(problem: &Problem) -> Self {
        let pairs = (0..problem.buffers().len()).flat_map(|buffer| {
            let neighbours = problem.neighbours(buffer).iter();
            let later = neighbours.filter(move |neighbour| neighbour.buffer > buffer);
            later.map(move |neighbour| Pair {
                buffers: [buffer, neighbour.buffer],
                distances: [neighbour.distance_above, neighbour.distance_below].map(signed),
                weight: 1.0,
            })
        });
        Self {
            buffers: problem.buffers().iter().map(Placeable::of).collect(),
            pairs: pairs.collect(),
        }
    }

    /// Whether there is a plan within the capacity, in bytes, as far as this search alone sees with
    /// at most `nodes` decisions.
    pub fn decide(&self, capacity: u64, nodes: u64, budget: &mut Budget<'_>) -> Decision {
        Orientations::new(self.clone(), capacity).decide(nodes, budget)
    }
}

impl Placeable {
    fn of(buffer: &Buffer) -> Self {
        Self {
            size: signed(buffer.size_bytes),
            alignment: signed(buffer.alignment),
            fixed_offset: buffer.fixed_offset.map(signed),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orientation {
    Open,
    /// The first is the lower one.
    FirstLower,
    /// The second is the lower one.
    SecondLower,
}

enum Change {
    Low(usize, i64),
    High(usize, i64),
    Decided(usize),
}

/// One search for a plan within a capacity.
pub(super) struct Orientations {
    buffers: Vec<Placeable>,
    pairs: Vec<Pair>,
    pairs_of: Vec<Vec<usize>>,
    orientation: Vec<Orientation>,
    low: Vec<i64>,
    high: Vec<i64>,
    trail: Vec<Change>,
    queue: Vec<usize>,
    queued: Vec<bool>,
    nodes_left: u64,
}

impl Orientations {
    pub(super) fn new(distances: PairDistances, capacity: u64) -> Self {
        let PairDistances { buffers, pairs } = distances;
        let mut pairs_of = vec![Vec::new(); buffers.len()];
        for (index, pair) in pairs.iter().enumerate() {
            for buffer in pair.buffers {
                pairs_of[buffer].push(index);
            }
        }
        let low = |buffer: &Placeable| buffer.fixed_offset.unwrap_or(0);
        let high = |buffer: &Placeable| {
            let highest = round_down(signed(capacity) - buffer.size, buffer.alignment);
            let fixed = buffer.fixed_offset.unwrap_or(highest);
            highest.min(fixed)
        };
        Self {
            orientation: vec![Orientation::Open; pairs.len()],
            low: buffers.iter().map(low).collect(),
            high: buffers.iter().map(high).collect(),
            trail: Vec::new(),
            queue: (0..buffers.len()).collect(),
            queued: vec![true; buffers.len()],
            buffers,
            pairs,
            pairs_of,
            nodes_left: 0,
        }
    }

    /// Looks for a plan, with at most this many decisions; each call starts anew, but knows
    /// where the earlier ones failed.
    pub(super) fn decide(&mut self, nodes: u64, budget: &mut Budget<'_>) -> Decision {
        let mut range = self.low.iter().zip(&self.high);
        if range.any(|(low, high)| low > high) || !self.propagate(true) {
            return Decision::Impossible;
        }
        self.nodes_left = nodes;
        let start = self.trail.len();
        let decision = self.search(budget);
        self.undo(start);
        decision
    }

    /// Depth first, without recursion: each level is the trail's length and the pair whose
    /// other orientation is still to be tried.
    fn search(&mut self, budget: &mut Budget<'_>) -> Decision {
        let mut levels: Vec<(usize, Option<(usize, Orientation)>)> = Vec::new();
        loop {
            let Some(pair) = self.violated_pair() else {
                let offsets = self.low.iter().map(|offset| offset.unsigned_abs());
                return Decision::Possible(offsets.collect());
            };
            if self.nodes_left == 0 || budget.spend(self.pairs.len() as u64) {
                return Decision::Unknown;
            }
            self.nodes_left -= 1;
            let (first, second) = self.orientations_by_slack(pair);
            levels.push((self.trail.len(), Some((pair, second))));
            let mut holds = self.try_orientation(pair, first);
            while !holds {
                let Some((start, other)) = levels.pop() else {
                    return Decision::Impossible;
                };
                self.undo(start);
                if let Some((pair, orientation)) = other {
                    levels.push((start, None));
                    holds = self.try_orientation(pair, orientation);
                }
            }
        }
    }

    /// Of the pairs that the lowest offsets violate the one with the least room for its
    /// weight.
    fn violated_pair(&self) -> Option<usize> {
        let open = (0..self.pairs.len())
            .filter(|&pair| self.orientation[pair] == Orientation::Open && self.is_violated(pair));
        let room = |pair: usize| {
            let [first, second] = self.slacks(pair);
            (first.min(second) + 1) as f64 / self.pairs[pair].weight
        };
        open.map(|pair| (room(pair), pair))
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, pair)| pair)
    }

    fn is_violated(&self, pair: usize) -> bool {
        let Pair {
            buffers: [first, second],
            distances: [above, below],
            ..
        } = self.pairs[pair];
        let distance = self.low[second] - self.low[first];
        distance < above && -distance < below
    }

    /// How far the bounds leave room for either orientation; negative when impossible.
    fn slacks(&self, pair: usize) -> [i64; 2] {
        let Pair {
            buffers: [first, second],
            distances: [above, below],
            ..
        } = self.pairs[pair];
        [
            self.high[second] - self.low[first] - above,
            self.high[first] - self.low[second] - below,
        ]
    }

    fn orientations_by_slack(&self, pair: usize) -> (Orientation, Orientation) {
        let [first, second] = self.slacks(pair);
        if first >= second {
            (Orientation::FirstLower, Orientation::SecondLower)
        } else {
            (Orientation::SecondLower, Orientation::FirstLower)
        }
    }

    /// Decides the pair and all that follows from it; false at a contradiction.
    fn try_orientation(&mut self, pair: usize, orientation: Orientation) -> bool {
        let holds = self.decide_pair(pair, orientation);
        // Also after a contradiction: it empties the queue.
        self.propagate(holds)
    }

    /// False when the pair has no room for it.
    fn decide_pair(&mut self, pair: usize, orientation: Orientation) -> bool {
        self.orientation[pair] = orientation;
        self.trail.push(Change::Decided(pair));
        self.tighten(pair)
    }

    /// Moves the bounds of a decided pair's buffers.
    fn tighten(&mut self, pair: usize) -> bool {
        let Pair {
            buffers: [first, second],
            distances: [above, below],
            ..
        } = self.pairs[pair];
        let (lower, upper, distance) = match self.orientation[pair] {
            Orientation::Open => return true,
            Orientation::FirstLower => (first, second, above),
            Orientation::SecondLower => (second, first, below),
        };
        let least = self.low[lower] + distance;
        if least > self.low[upper] {
            self.trail.push(Change::Low(upper, self.low[upper]));
            self.low[upper] = round_up(least, self.buffers[upper].alignment);
            self.enqueue(upper);
        }
        let most = self.high[upper] - distance;
        if most < self.high[lower] {
            self.trail.push(Change::High(lower, self.high[lower]));
            self.high[lower] = round_down(most, self.buffers[lower].alignment);
            self.enqueue(lower);
        }
        let holds = self.low[upper] <= self.high[upper] && self.low[lower] <= self.high[lower];
        if !holds {
            self.pairs[pair].weight += 1.0;
        }
        holds
    }

    fn enqueue(&mut self, buffer: usize) {
        if !std::mem::replace(&mut self.queued[buffer], true) {
            self.queue.push(buffer);
        }
    }

    /// Carries changed bounds to all pairs that they decide; false at a contradiction, or
    /// when there was one already.
    fn propagate(&mut self, mut holds: bool) -> bool {
        while let Some(buffer) = self.queue.pop() {
            self.queued[buffer] = false;
            for index in 0..self.pairs_of[buffer].len() {
                if !holds {
                    break;
                }
                holds = self.look_at(self.pairs_of[buffer][index]);
            }
        }
        holds
    }

    fn look_at(&mut self, pair: usize) -> bool {
        if self.orientation[pair] != Orientation::Open {
            return self.tighten(pair);
        }
        match self.slacks(pair).map(|slack| slack >= 0) {
            [true, true] => true,
            [true, false] => self.decide_pair(pair, Orientation::FirstLower),
            [false, true] => self.decide_pair(pair, Orientation::SecondLower),
            [false, false] => {
                self.pairs[pair].weight += 1.0;
                false
            }
        }
    }

    fn undo(&mut self, length: usize) {
        while self.trail.len() > length {
            match self.trail.pop() {
                Some(Change::Low(buffer, low)) => self.low[buffer] = low,
                Some(Change::High(buffer, high)) => self.high[buffer] = high,
                Some(Change::Decided(pair)) => self.orientation[pair] = Orientation::Open,
                None => {}
            }
        }
    }
}
