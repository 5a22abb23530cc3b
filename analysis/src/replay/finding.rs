//! What a replay finds, merged into few.

use super::buffer::{BufferId, NO_OWNER};
use super::memory::Memory;
use crate::profile::overlap::Access;
use crate::trace::{Address, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// What is wrong with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
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
#[derive(Debug)]
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
    /// The first one, with the bytes of all.
    raw: RawFinding,
    count: u64,
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

    pub(super) fn add(&mut self, raw: RawFinding) {
        let key = raw.key();
        let again = self.kept.get(self.last).is_some_and(|kept| kept.key == key);
        let found = if again {
            Some(self.last)
        } else {
            self.kept.iter().position(|kept| kept.key == key)
        };
        if let Some(index) = found {
            let kept = &mut self.kept[index];
            let bytes = &mut kept.raw.bytes;
            *bytes = bytes.start.min(raw.bytes.start)..bytes.end.max(raw.bytes.end);
            kept.count += raw.length();
            self.last = index;
        } else if self.kept.len() < self.most {
            self.last = self.kept.len();
            let count = raw.length();
            self.kept.push(Kept { key, raw, count });
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
        let RawFinding {
            kind,
            victim,
            owner,
            bytes,
            access,
            writer,
        } = self.raw;
        let buffer = memory.buffer(owner);
        let arena_bytes = buffer.filter(|_| owner != NO_OWNER).map(|buffer| {
            let start = memory.offset(buffer.start);
            start + bytes.start..start + bytes.end
        });
        let by = writer.and_then(|writer| memory.buffer(writer.owner));
        let starts = buffer.zip(by);
        let needed = |writer: RawWriter| match kind {
            FindingKind::SharedAtBegin => by.map(|by| by.size as u64),
            _ => memory.needed_displacement(owner, writer.owner),
        };
        Finding {
            kind,
            subject: victim,
            element: buffer
                .and_then(|buffer| buffer.element_bytes)
                .map(|size| bytes.start / u64::from(size)),
            bytes,
            arena_bytes,
            count: self.count,
            access,
            writer: writer.zip(by).map(|(writer, by)| Writer {
                subject: by.subject,
                byte: writer.at.saturating_sub(by.start) as u64,
                pc: writer.store.map(|(pc, _)| pc),
                time: writer.store.map(|(_, time)| time),
            }),
            displacement: starts.map(|(victim, by)| victim.start as i64 - by.start as i64),
            needed_displacement: writer.and_then(needed),
        }
    }
}
