//! A fingerprint of what a layer accessed, to compare runs on different inputs.

use crate::trace::{AccessKind, Event, Layer, Time, TraceSink};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hash of a sequence of accesses: which bytes of which tensor, by load or store, in which
/// order. Times and instructions do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(u64);

/// Accesses whose hashes do not wait for each other.
const LANES: usize = 4;

/// Takes in the accesses of a [`Pattern`], one after the other.
#[derive(Debug)]
pub struct PatternHasher {
    /// Each of every fourth access.
    lanes: [u64; LANES],
    accesses: u64,
}

impl Default for PatternHasher {
    fn default() -> Self {
        Self {
            lanes: [0xcbf2_9ce4_8422_2325; LANES],
            accesses: 0,
        }
    }
}

impl PatternHasher {
    /// Adds the next accesses.
    #[inline]
    pub fn extend(&mut self, events: &[Event]) {
        let next = self.accesses as usize % LANES;
        let (first, later) = events.split_at(events.len().min((LANES - next) % LANES));
        for (lane, event) in self.lanes[next..].iter_mut().zip(first) {
            add(lane, event);
        }
        // In registers meanwhile.
        let mut lanes = self.lanes;
        let mut rows = later.chunks_exact(LANES);
        for row in &mut rows {
            for (lane, event) in lanes.iter_mut().zip(row) {
                add(lane, event);
            }
        }
        for (lane, event) in lanes.iter_mut().zip(rows.remainder()) {
            add(lane, event);
        }
        self.lanes = lanes;
        self.accesses += events.len() as u64;
    }

    /// The pattern of all of them.
    pub fn pattern(&self) -> Pattern {
        let all = self.lanes.iter().copied();
        Pattern(all.fold(self.accesses, |hash, lane| mixed(hash ^ lane)))
    }
}

#[inline]
fn add(lane: &mut u64, event: &Event) {
    let access = u64::from(event.offset)
        | u64::from(event.tensor) << 32
        | u64::from(event.size_bytes) << 48
        | u64::from(event.kind == AccessKind::Store) << 56;
    *lane = mixed(*lane ^ access);
}

#[inline]
fn mixed(hash: u64) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Keeps of a trace only the pattern of each layer (and gap).
#[derive(Debug, Default)]
pub struct PatternRecorder {
    /// The patterns, in program order; that of a layer which does not end is of no access.
    pub patterns: Vec<Pattern>,
    current: PatternHasher,
}

impl TraceSink for PatternRecorder {
    fn begin_layer(&mut self, _layer: &Layer, _time: Time) {
        self.current = PatternHasher::default();
        self.patterns.push(self.current.pattern());
    }

    fn events(&mut self, events: &[Event]) {
        self.current.extend(events);
    }

    fn end_layer(&mut self, _time: Time) {
        if let Some(pattern) = self.patterns.last_mut() {
            *pattern = self.current.pattern();
        }
    }
}
