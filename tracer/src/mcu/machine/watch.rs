//! The accesses that a machine reports.

use dmo_analysis::trace::{AccessKind, Time};
use std::ops::Range;

/// A load or store of a watched range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawAccess {
    /// When, in executed instructions.
    pub time: Time,
    /// Address of the instruction.
    pub pc: u32,
    /// First byte.
    pub address: u32,
    /// Length in bytes, 1 to 8.
    pub size_bytes: u8,
    /// Load or store.
    pub kind: AccessKind,
}

/// The accesses to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Addresses.
    pub range: Range<u64>,
    /// Report loads too, not only stores.
    pub loads: bool,
}

impl Watch {
    /// Whether it wants accesses of this kind.
    pub(super) fn wants(&self, kind: AccessKind) -> bool {
        self.loads || kind == AccessKind::Store
    }

    /// Whether it wants an access of this kind to these bytes.
    pub(super) fn wants_any_of(&self, kind: AccessKind, range: &Range<u64>) -> bool {
        self.wants(kind) && range.start < self.range.end && self.range.start < range.end
    }
}

/// Receives accesses in batches; false stops the program.
pub type Deliver = Box<dyn FnMut(Vec<RawAccess>) -> bool>;

/// How a machine observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Not at all: no hook but those that end the run. The clock stands still, the limits
    /// do not hold. For benches and for comparing with the others.
    None,
    /// Reports accesses to watched ranges.
    Watch,
    /// Watches, and compares every access with an independent decoding of its instruction.
    SelfCheck,
}

/// The longest access: a double register.
pub(super) const MAX_ACCESS_BYTES: u64 = 8;

/// What is watched of a stretch of memory that something has moved for the instruction at `pc`: as
/// accesses, in pieces.
pub(super) fn moved(
    watches: &[Watch],
    (time, pc): (Time, u32),
    kind: AccessKind,
    moved: &Range<u64>,
) -> Vec<RawAccess> {
    let watched = watches
        .iter()
        .filter(|watch| watch.wants(kind))
        .map(|watch| moved.start.max(watch.range.start)..moved.end.min(watch.range.end));
    let pieces = watched.flat_map(|range| {
        let starts = range.clone().step_by(MAX_ACCESS_BYTES as usize);
        starts.map(move |start| (start, (range.end - start).min(MAX_ACCESS_BYTES)))
    });
    pieces
        .map(|(start, length)| RawAccess {
            time,
            pc,
            address: start as u32,
            size_bytes: length as u8,
            kind,
        })
        .collect()
}
