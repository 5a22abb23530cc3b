//! From raw accesses to events of a layer's tensors.

use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Batch, MAX_ACCESS_BYTES, RawAccess};
use dmo_analysis::trace::{AccessKind, Address, Event, Layer, Role, Span, Tensor, Time, TraceSink};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A message of the emulation to the recorder, in program order.
#[derive(Debug)]
pub enum Message {
    /// A layer (or a gap) begins.
    Begin(Layer, Time),
    /// The next accesses.
    Accesses(Batch),
    /// The layer that ends next has taken so many cycles.
    Cycles(Cycles),
    /// The layer (or the gap) ends.
    End(Time),
}

/// An access that makes the trace useless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecordError {
    #[error(
        "layer '{layer}': {size_bytes}-byte store at {address} crosses the end of tensor '{tensor}' [{start:#010x}, {end:#010x}) (instruction at {pc})"
    )]
    StoreCrosses {
        layer: String,
        size_bytes: u8,
        address: Address,
        tensor: String,
        start: u64,
        end: u64,
        pc: Address,
    },
    #[error(
        "layer '{layer}': the program's layers name more than {limit} separate stretches of memory"
    )]
    TooManyAreas { layer: String, limit: usize },
}

/// Loads that reach beyond a tensor. Only the part inside is in the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossingLoads {
    /// The layer.
    pub layer: String,
    /// The tensor.
    pub tensor: String,
    /// How many.
    pub count: u64,
    /// The first one's instruction.
    pub pc: Address,
}

/// What the recorder noticed that the trace does not contain.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The instructions that touched a tensor.
    pub instructions: BTreeSet<Address>,
    /// Loads that reached beyond a tensor.
    pub crossing_loads: Vec<CrossingLoads>,
    /// Estimated cycles of each layer; empty if they are not known.
    pub cycles: Vec<Cycles>,
}

/// The emulation panicked.
#[derive(Debug)]
pub struct Panicked;

/// Takes the messages of an emulation; false once a message made the trace useless.
pub type Listener<'a> = &'a dyn Fn(Message) -> bool;

/// Records into `sink` what `emulate` sends. `progress` receives the time now and then.
///
/// # Errors
/// Those of `emulate`, when that panics, and when a message makes the trace useless.
pub fn recording<T, E: From<RecordError> + From<Panicked>>(
    emulate: impl FnOnce(Listener) -> Result<T, E>,
    sink: &mut dyn TraceSink,
    progress: &mut dyn FnMut(Time),
) -> Result<(T, Recorded), E> {
    let recorder = RefCell::new((Recorder::new(sink, progress), Ok(())));
    // A failed recorder no longer listens: the emulation then ends at once.
    let take = |message| {
        let (recorder, outcome) = &mut *recorder.borrow_mut();
        if outcome.is_ok() {
            *outcome = recorder.take(message);
        }
        outcome.is_ok()
    };
    let emulated = catch_unwind(AssertUnwindSafe(|| emulate(&take))).map_err(|_| E::from(Panicked));
    let (recorder, outcome) = recorder.into_inner();
    outcome?;
    Ok((emulated??, recorder.finish()))
}

/// Turns messages into a trace.
struct Recorder<'a> {
    sink: &'a mut dyn TraceSink,
    progress: &'a mut dyn FnMut(Time),
    layer: Option<Layer>,
    /// Memory of the layer's tensors: disjoint, by address.
    places: Vec<OwnedRange>,
    recent: Box<[Recent; RECENT]>,
    /// Room for the events of a chunk.
    events: Box<[Event]>,
    /// The instructions that touched a tensor.
    pcs: BTreeSet<Address>,
    crossing: Vec<CrossingLoads>,
    cycles: Vec<Cycles>,
}

impl<'a> Recorder<'a> {
    fn new(sink: &'a mut dyn TraceSink, progress: &'a mut dyn FnMut(Time)) -> Self {
        Self {
            sink,
            progress,
            layer: None,
            places: Vec::new(),
            recent: Box::new([Recent::NOWHERE; RECENT]),
            events: vec![NO_EVENT; CHUNK * MAX_ACCESS_BYTES as usize].into(),
            pcs: BTreeSet::new(),
            crossing: Vec::new(),
            cycles: Vec::new(),
        }
    }

    /// Takes the next message.
    ///
    /// # Errors
    /// When a store crosses the end of a tensor: its bytes cannot be told apart.
    fn take(&mut self, message: Message) -> Result<(), RecordError> {
        match message {
            Message::Begin(layer, time) => {
                (self.progress)(time);
                self.sink.begin_layer(&layer, time);
                self.places = places(&layer.tensors);
                self.recent.fill(Recent::NOWHERE);
                self.layer = Some(layer);
            }
            Message::Accesses(accesses) => {
                if let Some(access) = accesses.last() {
                    (self.progress)(access.time);
                }
                self.accesses(&accesses)?;
            }
            Message::Cycles(cycles) => self.cycles.push(cycles),
            Message::End(time) => {
                (self.progress)(time);
                self.layer = None;
                self.sink.end_layer(time);
            }
        }
        Ok(())
    }

    /// Everything noticed that the trace does not contain.
    fn finish(self) -> Recorded {
        Recorded {
            instructions: self.pcs,
            crossing_loads: self.crossing,
            cycles: self.cycles,
        }
    }

    fn accesses(&mut self, accesses: &Batch) -> Result<(), RecordError> {
        let mut from = 0;
        while from < accesses.len() {
            let to = accesses.len().min(from + CHUNK);
            // Not in its field meanwhile: the list's length is in a register then.
            let mut events = std::mem::take(&mut self.events);
            let mut count = 0;
            for index in from..to {
                let access = accesses.at(index);
                let recent = &self.recent[slot(access.pc)];
                if !recent.holds(&access) {
                    count += self.resolve(accesses, index, &mut events[count..])?;
                } else if recent.is_of_tensor {
                    events[count] = recent.event(&access);
                    count += 1;
                }
            }
            self.sink.events(&events[..count]);
            self.events = events;
            from = to;
        }
        Ok(())
    }

    /// Finds the tensors of an access, by its place in the list, so that the usual way, which knows
    /// them, does not have to lay it into memory. Gives how many events it is.
    #[cold]
    #[inline(never)]
    fn resolve(
        &mut self,
        accesses: &Batch,
        index: usize,
        events: &mut [Event],
    ) -> Result<usize, RecordError> {
        let mut count = 0;
        let access = accesses.at(index);
        let start = u64::from(access.address);
        let end = start + u64::from(access.size_bytes);
        let first = self.places.partition_point(|place| place.end <= start);
        let (before, after) = self.places.split_at(first);
        let next = after.first().map_or(u64::MAX, |place| place.start);
        if end <= next {
            let from = before.last().map_or(0, |place| place.end);
            self.recent[slot(access.pc)] = Recent::of(&access, from..next, None);
        }
        for place in after {
            if place.start >= end {
                break;
            }
            let owner = match access.kind {
                AccessKind::Load => &place.loaded,
                AccessKind::Store => &place.stored,
            };
            let (from, to) = (start.max(place.start), end.min(place.end));
            if start < owner.start || owner.end < end {
                note_crossing(
                    self.layer.as_ref(),
                    &mut self.crossing,
                    &access,
                    owner.index,
                )?;
            }
            self.pcs.insert(Address(access.pc));
            self.recent[slot(access.pc)] = Recent::of(&access, place.start..place.end, Some(owner));
            events[count] = Event {
                time: access.time,
                pc: Address(access.pc),
                offset: (from - owner.start) as u32,
                tensor: owner.index,
                size_bytes: (to - from) as u8,
                kind: access.kind,
            };
            count += 1;
        }
        Ok(count)
    }
}

/// A range of memory whose bytes all belong to the same tensors of a layer.
#[derive(Debug, Clone, Copy)]
struct OwnedRange {
    start: u64,
    end: u64,
    /// Whose bytes a load takes.
    loaded: Owner,
    /// Whose bytes a store gives.
    stored: Owner,
}

/// A tensor of the layer.
#[derive(Debug, Clone, Copy)]
struct Owner {
    index: u16,
    start: u64,
    end: u64,
}

/// The memory of a layer's tensors. Where several share it, as in a model's offline plan, a load
/// counts as one of the input: where it is none, an overlap looks less safe than it is, never
/// safer. A store counts as one of the output.
fn places(tensors: &[Tensor]) -> Vec<OwnedRange> {
    let owners = tensors.iter().zip(0..).map(|(tensor, index)| Owner {
        index,
        start: tensor.address.0.into(),
        end: tensor.end(),
    });
    let mut owners: Vec<Owner> = owners.collect();
    owners.sort_unstable_by_key(|owner| (owner.start, owner.end, owner.index));
    let alone = |owner: &Owner| OwnedRange {
        start: owner.start,
        end: owner.end,
        loaded: *owner,
        stored: *owner,
    };
    if owners.windows(2).all(|pair| pair[0].end <= pair[1].start) {
        return owners.iter().map(alone).collect();
    }
    let role = |owner: &Owner| tensors[usize::from(owner.index)].role;
    let mut bounds: Vec<u64> = owners.iter().flat_map(|one| [one.start, one.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let shared = bounds.windows(2).filter_map(|bounds| {
        let covers = |owner: &&Owner| owner.start <= bounds[0] && bounds[1] <= owner.end;
        let covering = || owners.iter().filter(covers);
        Some(OwnedRange {
            start: bounds[0],
            end: bounds[1],
            loaded: *covering().min_by_key(|owner| load_rank(role(owner)))?,
            stored: *covering().min_by_key(|owner| store_rank(role(owner)))?,
        })
    });
    shared.collect()
}

fn load_rank(role: Role) -> u8 {
    match role {
        Role::Input => 0,
        Role::State => 1,
        Role::Constant => 2,
        Role::Scratch => 3,
        Role::Output => 4,
        Role::Unlisted => 5,
    }
}

fn store_rank(role: Role) -> u8 {
    match role {
        Role::Output => 0,
        Role::Scratch => 1,
        Role::State => 2,
        Role::Input => 3,
        Role::Constant => 4,
        Role::Unlisted => 5,
    }
}

#[cold]
fn note_crossing(
    layer: Option<&Layer>,
    crossing: &mut Vec<CrossingLoads>,
    access: &RawAccess,
    index: u16,
) -> Result<(), RecordError> {
    let Some(layer) = layer else {
        return Ok(());
    };
    let tensor: &Tensor = &layer.tensors[index as usize];
    if tensor.role == Role::Unlisted {
        return Ok(());
    }
    let pc = Address(access.pc);
    if access.kind == AccessKind::Store && layer.span == Span::Layer {
        return Err(RecordError::StoreCrosses {
            layer: layer.name.clone(),
            size_bytes: access.size_bytes,
            address: Address(access.address),
            tensor: tensor.name.clone(),
            start: tensor.address.0.into(),
            end: tensor.end(),
            pc,
        });
    }
    let known = crossing
        .iter_mut()
        .find(|known| known.layer == layer.name && known.tensor == tensor.name);
    match known {
        Some(known) => known.count += 1,
        None if access.kind == AccessKind::Load => crossing.push(CrossingLoads {
            layer: layer.name.clone(),
            tensor: tensor.name.clone(),
            count: 1,
            pc,
        }),
        None => {}
    }
    Ok(())
}

/// Accesses that go to the sink at once: few enough for their events to stay in the nearest cache
/// while one consumer after the other looks at them.
const CHUNK: usize = 512;

/// Fills a place where no event is yet.
const NO_EVENT: Event = Event {
    time: 0,
    pc: Address(0),
    offset: 0,
    tensor: 0,
    size_bytes: 0,
    kind: AccessKind::Load,
};

/// Instructions that are told apart, by the bits of their addresses.
const RECENT: usize = 256;

#[inline]
fn slot(pc: u32) -> usize {
    pc as usize / 2 % RECENT
}

/// The range that an instruction accessed last: most access the same one again and again.
#[derive(Debug, Clone, Copy)]
struct Recent {
    /// Which accesses: [`key`].
    key: u64,
    /// Where the range starts, and how far beyond that an access may begin.
    start: u32,
    most: u32,
    /// Where the tensor starts whose bytes they are, if there is one.
    owner: u32,
    is_of_tensor: bool,
    /// An access of it at another time and place.
    example: Event,
}

/// Instruction, kind and length of an access.
#[inline]
fn key(access: &RawAccess) -> u64 {
    let form = access.size_bytes << 1 | u8::from(access.kind == AccessKind::Store);
    u64::from(access.pc) << 8 | u64::from(form)
}

impl Recent {
    /// No access is in it: none has 0 bytes.
    const NOWHERE: Self = Self {
        key: 0,
        start: 0,
        most: 0,
        owner: 0,
        is_of_tensor: false,
        example: NO_EVENT,
    };

    /// A range within the address space, perhaps without its last byte.
    fn of(access: &RawAccess, range: Range<u64>, owner: Option<&Owner>) -> Self {
        let size_bytes = range.end.min(1 << 32).saturating_sub(range.start);
        let Some(most) = size_bytes.checked_sub(access.size_bytes.into()) else {
            return Self::NOWHERE;
        };
        Self {
            key: key(access),
            start: range.start as u32,
            most: u32::try_from(most).unwrap_or(u32::MAX),
            owner: owner.map_or(0, |owner| owner.start as u32),
            is_of_tensor: owner.is_some(),
            example: Event {
                time: access.time,
                pc: Address(access.pc),
                offset: 0,
                tensor: owner.map_or(0, |owner| owner.index),
                size_bytes: access.size_bytes,
                kind: access.kind,
            },
        }
    }

    /// Whether it is an access like it to the same range.
    #[inline]
    fn holds(&self, access: &RawAccess) -> bool {
        access.address.wrapping_sub(self.start) <= self.most && self.key == key(access)
    }

    /// The event of an access that it holds, to a tensor.
    #[inline]
    fn event(&self, access: &RawAccess) -> Event {
        Event {
            time: access.time,
            offset: access.address.wrapping_sub(self.owner),
            ..self.example
        }
    }
}
