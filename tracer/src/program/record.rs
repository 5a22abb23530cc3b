//! From raw accesses to events of a layer's tensors.

use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Batch, RawAccess};
use dmo_analysis::trace::{AccessKind, Address, Event, Layer, Role, Span, Tensor, Time, TraceSink};
use std::collections::BTreeSet;

/// A message of the emulating thread to the recording one, in program order.
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
#[derive(Debug)]
pub struct Recorded {
    /// The instructions that touched a tensor.
    pub instructions: BTreeSet<Address>,
    /// Loads that reached beyond a tensor.
    pub crossing_loads: Vec<CrossingLoads>,
    /// Estimated cycles of each layer; empty if they are not known.
    pub cycles: Vec<Cycles>,
}

/// Turns messages into a trace.
pub struct Recorder<'a> {
    sink: &'a mut dyn TraceSink,
    layer: Option<Layer>,
    /// Memory of the layer's tensors: disjoint, by address.
    places: Vec<OwnedRange>,
    /// The position among them of what each instruction accessed last: it is there more often
    /// than not.
    likely: [u32; LIKELY],
    events: Vec<Event>,
    pcs: PcSet,
    crossing: Vec<CrossingLoads>,
    cycles: Vec<Cycles>,
}

impl<'a> Recorder<'a> {
    /// Records into `sink`.
    pub fn new(sink: &'a mut dyn TraceSink) -> Self {
        Self {
            sink,
            layer: None,
            places: Vec::new(),
            likely: [0; LIKELY],
            events: Vec::new(),
            pcs: PcSet::default(),
            crossing: Vec::new(),
            cycles: Vec::new(),
        }
    }

    /// Takes the next message.
    ///
    /// # Errors
    /// When a store crosses the end of a tensor: its bytes cannot be told apart.
    pub fn take(&mut self, message: Message) -> Result<(), RecordError> {
        match message {
            Message::Begin(layer, time) => {
                self.sink.begin_layer(&layer, time);
                self.places = places(&layer.tensors);
                self.layer = Some(layer);
            }
            Message::Accesses(accesses) => {
                self.events.clear();
                self.events.reserve(accesses.len());
                for access in accesses.iter() {
                    self.resolve(&access)?;
                }
                self.sink.events(&self.events);
            }
            Message::Cycles(cycles) => self.cycles.push(cycles),
            Message::End(time) => {
                self.layer = None;
                self.sink.end_layer(time);
            }
        }
        Ok(())
    }

    /// Everything noticed that the trace does not contain.
    pub fn finish(self) -> Recorded {
        Recorded {
            instructions: self.pcs.seen,
            crossing_loads: self.crossing,
            cycles: self.cycles,
        }
    }

    #[inline]
    fn resolve(&mut self, access: &RawAccess) -> Result<(), RecordError> {
        let start = u64::from(access.address);
        let end = start + u64::from(access.size_bytes);
        let likely = &mut self.likely[slot(access.pc)];
        if let Some(place) = self.places.get(*likely as usize)
            && place.start <= start
            && end <= place.end
        {
            let owner = match access.kind {
                AccessKind::Load => &place.loaded,
                AccessKind::Store => &place.stored,
            };
            self.pcs.insert(access.pc);
            self.events
                .push(owner.event(access, start, access.size_bytes));
            return Ok(());
        }
        let first = self.places.partition_point(|place| place.end <= start);
        *likely = first as u32;
        for place in self.places.get(first..).unwrap_or_default() {
            if place.start >= end {
                break;
            }
            let owner = match access.kind {
                AccessKind::Load => &place.loaded,
                AccessKind::Store => &place.stored,
            };
            let (from, to) = (start.max(place.start), end.min(place.end));
            if start < owner.start || owner.end < end {
                note_crossing(self.layer.as_ref(), &mut self.crossing, access, owner.index)?;
            }
            self.pcs.insert(access.pc);
            self.events
                .push(owner.event(access, from, (to - from) as u8));
        }
        Ok(())
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

impl Owner {
    /// The part of an access that is in the tensor, from an address on.
    #[inline]
    fn event(&self, access: &RawAccess, from: u64, size_bytes: u8) -> Event {
        Event {
            time: access.time,
            pc: Address(access.pc),
            offset: (from - self.start) as u32,
            tensor: self.index,
            size_bytes,
            kind: access.kind,
        }
    }
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

/// Instructions that are told apart, by the bits of their addresses.
const LIKELY: usize = 256;

#[inline]
fn slot(pc: u32) -> usize {
    pc as usize / 2 % LIKELY
}

/// A set of instruction addresses, quick for the few that come again and again.
struct PcSet {
    recent: [u32; LIKELY],
    seen: BTreeSet<Address>,
}

impl Default for PcSet {
    fn default() -> Self {
        Self {
            // Odd: no instruction's address.
            recent: [1; LIKELY],
            seen: BTreeSet::new(),
        }
    }
}

impl PcSet {
    #[inline]
    fn insert(&mut self, pc: u32) {
        let slot = slot(pc);
        if self.recent[slot] != pc {
            self.recent[slot] = pc;
            self.seen.insert(Address(pc));
        }
    }
}
