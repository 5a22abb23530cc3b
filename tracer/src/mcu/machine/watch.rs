//! The accesses that a machine reports.

use dmo_analysis::trace::{AccessKind, Time};
pub use dmo_engine::memory::Condition;
use dmo_engine::memory::{Event, EventList, Moment};
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
    /// Whether the condition of its instruction lets it be made, where the machine records
    /// [every outcome](super::Machine::record_every_outcome).
    pub condition: Condition,
}

impl From<Event> for RawAccess {
    #[inline]
    fn from(event: Event) -> Self {
        Self {
            time: event.time(),
            pc: event.pc(),
            address: event.address(),
            size_bytes: event.size_bytes(),
            kind: kind(event.kind()),
            condition: event.condition(),
        }
    }
}

/// The same in the words of the trace.
#[inline]
pub(super) fn kind(kind: dmo_engine::fault::AccessKind) -> AccessKind {
    match kind {
        dmo_engine::fault::AccessKind::Load => AccessKind::Load,
        dmo_engine::fault::AccessKind::Store => AccessKind::Store,
    }
}

/// Accesses in the order in which they were made, as close together as they can be: a trace has
/// many millions of them, which go from one thread to another.
#[derive(Debug, Clone, Default)]
pub struct Batch(EventList);

impl Batch {
    /// How many accesses there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The accesses.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = RawAccess> {
        self.0.as_slice().iter().map(|&event| event.into())
    }

    /// The access at this position, which is less than [`len`](Self::len).
    #[inline]
    pub fn at(&self, index: usize) -> RawAccess {
        self.0.as_slice()[index].into()
    }

    /// The last access.
    pub fn last(&self) -> Option<RawAccess> {
        self.0.as_slice().last().map(|&event| event.into())
    }

    /// Keeps the accesses of which this holds.
    pub fn retain(&mut self, mut keeps: impl FnMut(&RawAccess) -> bool) {
        self.0.retain(|&event| keeps(&event.into()));
    }

    pub(super) fn push(&mut self, access: RawAccess) {
        let RawAccess { time, pc, .. } = access;
        let kind = match access.kind {
            AccessKind::Load => dmo_engine::fault::AccessKind::Load,
            AccessKind::Store => dmo_engine::fault::AccessKind::Store,
        };
        let moment = Moment { time, pc };
        let size_bytes = access.size_bytes.into();
        self.0
            .push(Event::new(kind, moment, access.address, size_bytes));
    }

    /// What `dmo-engine` has recorded.
    pub(super) fn events_mut(&mut self) -> &mut EventList {
        &mut self.0
    }
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
pub type Deliver<'a> = Box<dyn FnMut(Batch) -> bool + 'a>;

/// What is delivered of the recorded accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// Those to watched ranges.
    Ranges,
    /// Perhaps others to the same pages, too.
    Pages,
}

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
pub const MAX_ACCESS_BYTES: u64 = 8;

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
            condition: Condition::Unconditional,
        })
        .collect()
}
