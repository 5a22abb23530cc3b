//! What a replay finds, merged into few.

use super::buffer::{BufferId, NO_OWNER};
use super::memory::Memory;
use crate::profile::overlap::Access;
use crate::trace::{Address, Time};
use serde::Serialize;
use std::ops::Range;

/// What is wrong with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Two tensors hold content in the same bytes before the operator begins. The subject is
    /// taken to be overwritten by the writer.
    SharedAtBegin,
    /// A load that finds what another tensor has stored.
    Clobber,
    /// A load of a byte that nobody has stored yet: of an output or a scratch buffer.
    UninitialisedRead,
    /// Needed later, and overwritten when the operator has ended.
    Destroyed,
    /// A byte of an output that the operator never stored.
    NotStored,
    /// A store to memory outside every buffer.
    StrayStore,
    /// A load of memory outside every buffer.
    StrayLoad,
    /// A store to an input, which only an operator that works in place may do.
    StoreToInput,
    /// A store to weights or tables.
    StoreToConstant,
}

/// Who has overwritten a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Writer {
    /// Whose byte was stored there.
    pub subject: BufferId,
    /// Which byte of it.
    pub byte: u64,
    /// The instruction; `None` if it was there before the operator began.
    pub pc: Option<Address>,
    /// When, in executed instructions; `None` if it was there before the operator began.
    pub time: Option<Time>,
}

/// Bytes that are wrong in the same way: same buffers, same instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How the bytes are wrong.
    pub kind: FindingKind,
    /// Whose bytes they are.
    pub subject: BufferId,
    /// From the lowest to the highest of these bytes, half-open, counted from the subject's
    /// start. Bytes between may be right.
    pub bytes: Range<u64>,
    /// The same bytes in the arena; `None` outside it.
    pub arena_bytes: Option<Range<u64>>,
    /// The element of the lowest byte, where the layer knows the size of elements.
    pub element: Option<u64>,
    /// How often a byte was found so: a byte that is loaded twice counts twice.
    pub count: u64,
    /// The first load or store that shows it.
    pub access: Option<Access>,
    /// Who stored the first of these bytes that was found.
    pub writer: Option<Writer>,
    /// How far the subject starts above the writer's buffer, in bytes.
    pub displacement: Option<i64>,
    /// How far it has to start above it at least, for all of the operator's accesses to be
    /// safe: this displacement and each larger one is.
    pub needed_displacement: Option<u64>,
}

/// A writer before its buffer is looked up: whose byte is in the place of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawWriter {
    pub(super) owner: u16,
    /// The instruction and when; `None` if it was there before the operator began.
    pub(super) store: Option<(Address, Time)>,
    /// Where in the memory.
    pub(super) at: usize,
}

/// Something wrong, before buffers are looked up and equal findings are merged.
pub(super) struct RawFinding {
    pub(super) kind: FindingKind,
    pub(super) victim: BufferId,
    pub(super) owner: u16,
    pub(super) bytes: Range<u64>,
    pub(super) access: Option<Access>,
    pub(super) writer: Option<RawWriter>,
}

impl RawFinding {
    fn length(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// What findings that become one have in common. What is found when all has ended names
    /// the first of many stores.
    fn key(&self) -> Key {
        let merged = self.access.is_some();
        Key {
            kind: self.kind,
            victim: (self.owner, self.victim.layer_tensor),
            reader: self.access.map(|access| access.pc),
            writer: self.writer.map(|writer| writer.owner),
            stored_by: self
                .writer
                .filter(|_| merged)
                .and_then(|writer| writer.store)
                .map(|(pc, _)| pc),
            // Ranges that were found at the end are whole already.
            from: (!merged).then_some(self.bytes.start),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    kind: FindingKind,
    victim: (u16, Option<usize>),
    reader: Option<Address>,
    writer: Option<u16>,
    stored_by: Option<Address>,
    from: Option<u64>,
}

#[derive(Debug)]
struct Kept {
    key: Key,
    victim: BufferId,
    bytes: Range<u64>,
    count: u64,
    access: Option<Access>,
    writer: Option<RawWriter>,
}

/// The first `most` findings, and how many bytes are wrong besides.
#[derive(Debug)]
pub(super) struct Findings {
    kept: Vec<Kept>,
    most: usize,
    /// Where the last one went: the next one is often of its kind.
    last: usize,
    further_bytes: u64,
}

impl Findings {
    pub(super) fn new(most: usize) -> Self {
        Self {
            kept: Vec::new(),
            most,
            last: 0,
            further_bytes: 0,
        }
    }

    pub(super) fn further_bytes(&self) -> u64 {
        self.further_bytes
    }

    pub(super) fn add(&mut self, raw: &RawFinding) {
        let key = raw.key();
        let again = self.kept.get(self.last).is_some_and(|kept| kept.key == key);
        let found = if again {
            Some(self.last)
        } else {
            self.kept.iter().position(|kept| kept.key == key)
        };
        if let Some(index) = found {
            let kept = &mut self.kept[index];
            kept.bytes.start = kept.bytes.start.min(raw.bytes.start);
            kept.bytes.end = kept.bytes.end.max(raw.bytes.end);
            kept.count += raw.length();
            self.last = index;
        } else if self.kept.len() < self.most {
            self.last = self.kept.len();
            self.kept.push(Kept {
                key,
                victim: raw.victim,
                bytes: raw.bytes.clone(),
                count: raw.length(),
                access: raw.access,
                writer: raw.writer,
            });
        } else {
            self.further_bytes += raw.length();
        }
    }

    /// The findings, with what the memory knows of them at the end.
    pub(super) fn resolved(self, memory: &Memory) -> Vec<Finding> {
        self.kept
            .into_iter()
            .map(|kept| kept.resolved(memory))
            .collect()
    }
}

impl Kept {
    fn resolved(self, memory: &Memory) -> Finding {
        let owner = self.key.victim.0;
        let buffer = memory.buffer(owner);
        let arena_bytes = buffer.filter(|_| owner != NO_OWNER).map(|buffer| {
            let start = memory.offset(buffer.start);
            start + self.bytes.start..start + self.bytes.end
        });
        let writer = self.writer.and_then(|raw_writer| {
            let by = memory.buffer(raw_writer.owner)?;
            Some(Writer {
                subject: by.subject,
                byte: raw_writer.at.saturating_sub(by.start) as u64,
                pc: raw_writer.store.map(|(pc, _)| pc),
                time: raw_writer.store.map(|(_, time)| time),
            })
        });
        let starts = self
            .key
            .writer
            .and_then(|writer| Some((buffer?.start, memory.buffer(writer)?.start)));
        let needed = |writer| match self.key.kind {
            FindingKind::SharedAtBegin => memory.buffer(writer).map(|buffer| buffer.size as u64),
            _ => memory.needed_displacement(owner, writer),
        };
        Finding {
            kind: self.key.kind,
            subject: self.victim,
            element: buffer
                .and_then(|buffer| buffer.element_bytes)
                .map(|size| self.bytes.start / u64::from(size)),
            bytes: self.bytes,
            arena_bytes,
            count: self.count,
            access: self.access,
            writer,
            displacement: starts.map(|(victim, writer)| victim as i64 - writer as i64),
            needed_displacement: self.key.writer.and_then(needed),
        }
    }
}
