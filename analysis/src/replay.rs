//! Is a layout of a model's tensors safe? The witness by replay: it takes what an operator did
//! to its buffers when all of them lay apart, and does it again where the plan has put them.
//!
//! Each byte of the arena has an owner: the tensor or scratch buffer that stored it last. A
//! load is right when its own tensor is the owner of each of its bytes, for a byte of a tensor
//! has one place only, and the last store to that place was then the last store to that byte.
//! No value has to be known.
//!
//! ```text
//!              before           out[0] stored       in[2] loaded
//! in at 1      . i i i i        o i i i i           o i i i i
//! out at 0     |                ^                         ^ in owns it: right
//! ```
//!
//! One operator is replayed at a time. It finds the tensors that are alive before it whole, and
//! has to leave those that are needed after it whole. [`alive`] says which these are, so that
//! what holds for each operator holds for the model, by induction over the steps.

mod alive;
mod buffer;
mod error;
mod finding;
mod memory;
mod report;

pub use alive::{Alive, alive};
pub use buffer::BufferId;
pub use error::ReplayError;
pub use finding::{Finding, FindingKind, Writer};
pub use report::{ReplayReport, ScratchUse};

use crate::graph::TensorId;
use crate::trace::{AccessKind, Address, Event, EventRun, Layer, Role, Time, TraceSink};
use crate::verify::Occupant;
use buffer::{Buffer, NO_OWNER, TensorBytes};
use finding::{Findings, RawFinding, RawWriter};
use memory::Memory;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Where the plan has a buffer of the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferPlace {
    /// What it is in the graph; of a view what it lies in.
    pub occupant: Occupant,
    /// First byte of that, in bytes from the arena's start.
    pub offset: u64,
    /// Which of its bytes the layer's buffer is; `None` for all of them.
    pub part: Option<ViewPart>,
}

impl BufferPlace {
    /// Of a buffer that is all of it.
    pub const fn whole(occupant: Occupant, offset: u64) -> Self {
        Self {
            occupant,
            offset,
            part: None,
        }
    }
}

/// Bytes of a tensor that a layer takes for a tensor of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewPart {
    /// Size of the whole tensor in bytes.
    pub whole_bytes: u64,
    /// Where in it the layer's buffer begins, in bytes.
    pub start: u64,
    /// The buffer's bytes that are its own, from its start; what lies between them belongs to
    /// other parts.
    pub own: Vec<Range<u64>>,
}

/// Bytes of a tensor whose content is needed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Needed {
    /// The tensor, which is no view.
    pub tensor: TensorId,
    /// The bytes, from its start.
    pub bytes: Range<u64>,
}

impl Needed {
    /// All of a tensor.
    pub const fn whole(tensor: TensorId, size_bytes: u64) -> Self {
        Self {
            tensor,
            bytes: 0..size_bytes,
        }
    }
}

/// A tensor that holds content in the arena.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Resident {
    /// The tensor.
    pub tensor: TensorId,
    /// First byte, in bytes from the arena's start.
    pub offset: u64,
    /// Length in bytes.
    pub size_bytes: u64,
    /// The bytes that hold content, from its start; nothing is known of the others.
    pub held: Range<u64>,
}

impl Resident {
    /// A tensor all of whose bytes hold content.
    pub const fn whole(tensor: TensorId, offset: u64, size_bytes: u64) -> Self {
        Self {
            tensor,
            offset,
            size_bytes,
            held: 0..size_bytes,
        }
    }
}

/// What a plan says of the step in which an operator runs.
#[derive(Debug, Clone, Copy)]
pub struct ReplayStep<'a> {
    /// One for each of the layer's tensors, in its order; `None` for what lies outside the
    /// arena, such as constants. Two of the layer's tensors may be the same tensor of the graph.
    pub places: &'a [Option<BufferPlace>],
    /// The tensors that hold content when the operator begins: its inputs, and what waits for
    /// later operators.
    pub before: &'a [Resident],
    /// What has to be there when it has ended.
    pub after: &'a [Needed],
}

/// No larger part of an arena is replayed: 14 bytes are kept for each of its bytes.
pub const MOST_ARENA_BYTES: u64 = 1 << 28;

/// Replays one operator on a plan.
///
/// An event costs a few nanoseconds, and the memory is 14 bytes for each byte of the arena,
/// whatever the length of the trace.
#[derive(Debug)]
pub struct Replay {
    tensors: Vec<LayerTensor>,
    /// The bytes of a buffer that each of the layer's tensors is.
    tensor_bytes: Vec<TensorBytes>,
    /// Of each of the layer's tensors, one past the highest byte that was loaded or stored. Apart
    /// from the tensors, which are read at each event and never written.
    touched_ends: Vec<u32>,
    memory: Memory,
    findings: Findings,
    progress: Progress,
    /// Sizes of the layer's tensors: the layer that begins has to be this one.
    sizes: Vec<u32>,
    begin: Time,
    loads: u64,
    stores: u64,
    foreign_events: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    Running,
    Ended,
    /// In something that is not the layer.
    Elsewhere,
}

/// A tensor of the layer.
#[derive(Debug, Clone, Copy)]
struct LayerTensor {
    /// Its buffer's number; [`NO_OWNER`] outside the arena.
    owner: u16,
    /// Where in its buffer it begins.
    start: u32,
    role: Role,
    /// Its content is there from the start and nothing shares its place: loads need no check.
    alone: bool,
}

impl LayerTensor {
    /// The same access from the buffer's start.
    #[inline]
    fn in_buffer(self, event: &Event) -> Event {
        Event {
            offset: event.offset + self.start,
            ..*event
        }
    }
}

impl Replay {
    /// The arena as it is when the layer begins. At most `most_findings` are kept.
    ///
    /// # Errors
    /// When the step is not one of this layer's, contradicts itself, or reaches too far.
    pub fn new(
        layer: &Layer,
        step: &ReplayStep<'_>,
        most_findings: usize,
    ) -> Result<Self, ReplayError> {
        let (given, expected) = (step.places.len(), layer.tensors.len());
        if given != expected {
            return Err(ReplayError::Places { given, expected });
        }
        let (planned, tensor_bytes) = buffer::planned(layer, step)?;
        let memory = Memory::new(&planned)?;
        let pairs = layer.tensors.iter().zip(&tensor_bytes);
        let tensors = pairs.map(|(tensor, bytes)| LayerTensor {
            owner: bytes.owner,
            start: bytes.start,
            role: tensor.role,
            alone: bytes.owner != NO_OWNER && memory.is_alone(bytes.owner),
        });
        let mut replay = Self {
            tensors: tensors.collect(),
            tensor_bytes,
            touched_ends: vec![0; expected],
            memory,
            findings: Findings::new(most_findings),
            progress: Progress::Waiting,
            sizes: sizes(layer),
            begin: 0,
            loads: 0,
            stores: 0,
            foreign_events: 0,
        };
        replay.lay();
        Ok(replay)
    }

    /// The runtime leaves out the copy of `input` to `output`, two of the layer's tensors by
    /// position, because both are the same memory: its bytes are the output's from now on.
    /// Where the plan has them in different places, or they differ in size, nothing passes,
    /// and the output counts as not stored. To be said between the layer's begin and its end.
    pub fn pass_content(&mut self, input: usize, output: usize) {
        let place = |tensor: usize| {
            let tensor = self.tensors.get(tensor)?;
            let buffer = self.memory.buffer(tensor.owner)?;
            Some((buffer.start, buffer.size))
        };
        let is_part = |tensor: usize| {
            self.tensor_bytes
                .get(tensor)
                .is_none_or(|bytes| bytes.is_part)
        };
        if is_part(input) || is_part(output) {
            return;
        }
        let (Some(from), Some(to)) = (place(input), place(output)) else {
            return;
        };
        let (Ok(input), Ok(output)) = (u16::try_from(input), u16::try_from(output)) else {
            return;
        };
        if from != to {
            return;
        }
        let mut event = Event {
            time: self.begin,
            pc: Address(0),
            offset: 0,
            tensor: input,
            size_bytes: 1,
            kind: AccessKind::Load,
        };
        for offset in 0..from.1 {
            event.offset = offset as u32;
            (event.tensor, event.kind) = (input, AccessKind::Load);
            self.loads(&[event]);
            (event.tensor, event.kind) = (output, AccessKind::Store);
            self.store(&event);
        }
    }

    /// What was found, once the layer has ended.
    pub fn finish(mut self) -> ReplayReport {
        self.memory.end();
        self.check_stored();
        self.check_needed();
        let sizes = self.sizes.iter().zip(&self.touched_ends);
        let scratch = self.tensors.iter().zip(sizes).enumerate();
        let scratch = scratch.filter(|(_, (tensor, _))| tensor.role == Role::Scratch);
        let scratch =
            scratch.map(
                |(layer_tensor, (_, (&size_bytes, &touched_bytes)))| ScratchUse {
                    layer_tensor,
                    size_bytes,
                    touched_bytes,
                },
            );
        ReplayReport {
            scratch: scratch.collect(),
            further_bytes: self.findings.further_bytes(),
            findings: self.findings.resolved(&self.memory),
            loads: self.loads,
            stores: self.stores,
            foreign_events: self.foreign_events,
            complete: self.progress == Progress::Ended,
        }
    }

    /// Lays what holds content into the arena. Two that share bytes cannot both be whole.
    fn lay(&mut self) {
        let (memory, findings) = (&self.memory, &mut self.findings);
        memory.each_shared_at_begin(|one, other, bytes| {
            let start = memory.start(one);
            findings.add(RawFinding {
                kind: FindingKind::SharedAtBegin,
                victim: BufferId::of(memory.buffer(one)),
                owner: one,
                bytes: (bytes.start - start) as u64..(bytes.end - start) as u64,
                access: None,
                writer: Some(RawWriter {
                    owner: other,
                    store: None,
                    at: bytes.start,
                }),
            });
        });
        self.memory.lay();
    }

    /// Loads of one tensor, one after the other.
    fn loads(&mut self, events: &[Event]) {
        let Some(first) = events.first() else {
            return;
        };
        let count = events.len() as u64;
        let Some(&tensor) = self.tensors.get(usize::from(first.tensor)) else {
            self.foreign_events += count;
            return;
        };
        self.loads += count;
        let end = events.iter().fold(0, |end, event| event.end().max(end));
        let touched_end = &mut self.touched_ends[usize::from(first.tensor)];
        *touched_end = end.max(*touched_end);
        if tensor.alone {
            return;
        }
        for event in events {
            self.check_load(tensor, event);
        }
    }

    #[inline]
    fn check_load(&mut self, tensor: LayerTensor, event: &Event) {
        if tensor.owner == NO_OWNER {
            if tensor.role == Role::Unlisted {
                self.outside(FindingKind::StrayLoad, event);
            }
            return;
        }
        let event = tensor.in_buffer(event);
        if !self.memory.load(tensor.owner, &event) {
            self.wrong_load(tensor.owner, &event);
        }
    }

    #[inline]
    fn store(&mut self, event: &Event) {
        let Some(&tensor) = self.tensors.get(usize::from(event.tensor)) else {
            self.foreign_events += 1;
            return;
        };
        self.stores += 1;
        let touched_end = &mut self.touched_ends[usize::from(event.tensor)];
        *touched_end = event.end().max(*touched_end);
        match tensor.role {
            Role::Output | Role::Scratch | Role::State => {}
            Role::Input => self.outside(FindingKind::StoreToInput, event),
            Role::Constant => self.outside(FindingKind::StoreToConstant, event),
            Role::Unlisted => self.outside(FindingKind::StrayStore, event),
        }
        if tensor.owner != NO_OWNER && !self.memory.store(tensor.owner, &tensor.in_buffer(event)) {
            self.foreign_events += 1;
        }
    }

    /// An access that is wrong wherever the tensor lies.
    #[cold]
    fn outside(&mut self, kind: FindingKind, event: &Event) {
        let owner = self.tensors[usize::from(event.tensor)].owner;
        let occupant = self
            .memory
            .buffer(owner)
            .and_then(|buffer| buffer.subject.occupant);
        self.findings.add(RawFinding {
            kind,
            victim: BufferId {
                occupant,
                layer_tensor: Some(usize::from(event.tensor)),
            },
            owner,
            bytes: u64::from(event.offset)..u64::from(event.end()),
            access: Some(event.into()),
            writer: None,
        });
    }

    /// Some bytes of a load are not those of its tensor.
    #[cold]
    fn wrong_load(&mut self, owner: u16, event: &Event) {
        let Some(buffer) = self.memory.buffer(owner) else {
            return;
        };
        let start = buffer.start;
        let victim = BufferId {
            layer_tensor: Some(usize::from(event.tensor)),
            ..buffer.subject
        };
        for byte in event.offset..event.end() {
            let at = start + byte as usize;
            let found = self.memory.owner_at(at);
            if found == Some(owner) {
                continue;
            }
            // What never was there has not been lost.
            let lost = self.memory.was_whole(owner, byte as usize);
            let writer = found.filter(|&found| lost && found != NO_OWNER);
            self.findings.add(RawFinding {
                kind: if lost {
                    FindingKind::Clobber
                } else {
                    FindingKind::UninitialisedRead
                },
                victim,
                owner,
                bytes: u64::from(byte)..u64::from(byte) + 1,
                access: Some(event.into()),
                writer: writer.map(|writer| self.raw_writer(writer, at)),
            });
        }
    }

    fn raw_writer(&self, owner: u16, at: usize) -> RawWriter {
        RawWriter {
            owner,
            store: self.memory.stored_at(at),
            at,
        }
    }

    /// Outputs are stored as a whole, needed or not, and so is what is needed.
    fn check_stored(&mut self) {
        let tensors = self.tensors.iter().zip(&self.tensor_bytes);
        let outputs = tensors.filter(|(tensor, _)| tensor.role == Role::Output);
        let mut expected: Vec<(u16, Range<usize>)> = outputs
            .flat_map(|(tensor, bytes)| bytes.own.iter().map(|run| (tensor.owner, run.clone())))
            .collect();
        // Of what is stored in parts only the layer's own parts are known one by one.
        let in_parts = |owner: u16| {
            self.tensor_bytes
                .iter()
                .any(|bytes| bytes.owner == owner && bytes.is_part)
        };
        let needed = self.memory.needed().into_iter();
        expected.extend(needed.filter(|(owner, _)| !in_parts(*owner)));
        expected.sort_unstable_by_key(|(owner, bytes)| (*owner, bytes.start, bytes.end));
        expected.dedup();
        for (owner, expected) in expected {
            for bytes in self.memory.never_stored(owner, expected) {
                self.findings.add(RawFinding {
                    kind: FindingKind::NotStored,
                    victim: BufferId::of(self.memory.buffer(owner)),
                    owner,
                    bytes,
                    access: None,
                    writer: None,
                });
            }
        }
    }

    /// What is needed later is whole.
    fn check_needed(&mut self) {
        for (owner, needed) in self.memory.needed() {
            let start = self.memory.start(owner);
            for (bytes, writer) in self.memory.lost(owner, needed) {
                let at = start + bytes.start as usize;
                self.findings.add(RawFinding {
                    kind: FindingKind::Destroyed,
                    victim: BufferId::of(self.memory.buffer(owner)),
                    owner,
                    bytes,
                    access: None,
                    writer: Some(self.raw_writer(writer, at)),
                });
            }
        }
    }
}

impl TraceSink for Replay {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        let expected = self.progress == Progress::Waiting && sizes(layer) == self.sizes;
        self.progress = match (expected, self.progress) {
            (true, _) => Progress::Running,
            // What ended stays so: its report counts the events of others.
            (false, Progress::Ended) => Progress::Ended,
            (false, _) => Progress::Elsewhere,
        };
        self.begin = time;
    }

    fn events(&mut self, events: &[Event]) {
        if self.progress != Progress::Running {
            self.foreign_events += events.len() as u64;
            return;
        }
        for run in EventRun::of(events) {
            match run {
                EventRun::Store(event) => self.store(event),
                EventRun::Loads(loads) => self.loads(loads),
            }
        }
    }

    fn end_layer(&mut self, _time: Time) {
        self.progress = match self.progress {
            Progress::Running | Progress::Ended => Progress::Ended,
            Progress::Waiting | Progress::Elsewhere => Progress::Waiting,
        };
    }
}

fn sizes(layer: &Layer) -> Vec<u32> {
    let sizes = layer.tensors.iter().map(|tensor| tensor.size_bytes);
    sizes.collect()
}

impl BufferId {
    fn of(buffer: Option<&Buffer>) -> Self {
        buffer.map_or(
            Self {
                occupant: None,
                layer_tensor: None,
            },
            |buffer| buffer.subject,
        )
    }
}
