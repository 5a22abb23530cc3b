//! A fingerprint of what a layer accessed, to compare runs on different inputs.

use crate::trace::{AccessKind, Event, Layer, Time, TraceSink};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hash of a sequence of accesses: which bytes of which tensor, by load or store, in which
/// order. Times and instructions do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(u64);

impl Default for Pattern {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Pattern {
    /// Adds the next access.
    #[inline]
    pub fn extend(&mut self, event: &Event) {
        let access = u64::from(event.offset)
            | u64::from(event.tensor) << 32
            | u64::from(event.size_bytes) << 48
            | u64::from(event.kind == AccessKind::Store) << 56;
        self.0 = (self.0 ^ access)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
}

/// Keeps of a trace only the pattern of each layer (and gap).
#[derive(Debug, Default)]
pub struct PatternRecorder {
    /// The patterns, in program order.
    pub patterns: Vec<Pattern>,
}

impl TraceSink for PatternRecorder {
    fn begin_layer(&mut self, _layer: &Layer, _time: Time) {
        self.patterns.push(Pattern::default());
    }

    fn events(&mut self, events: &[Event]) {
        if let Some(pattern) = self.patterns.last_mut() {
            for event in events {
                pattern.extend(event);
            }
        }
    }

    fn end_layer(&mut self, _time: Time) {}
}
