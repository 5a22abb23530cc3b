//! From raw accesses to events of a layer's tensors.

use crate::machine::RawAccess;
use dmo_analysis::trace::{AccessKind, Address, Event, Layer, Role, Span, Tensor, Time, TraceSink};
use std::collections::BTreeSet;

/// What the emulating thread says, in program order.
#[derive(Debug)]
pub enum Message {
    /// A layer (or a gap) begins.
    Begin(Layer, Time),
    /// The next accesses.
    Accesses(Vec<RawAccess>),
    /// It ends.
    End(Time),
}

/// What makes a trace worthless.
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

/// What a recorder knows beside the trace.
#[derive(Debug)]
pub struct Recorded {
    /// The instructions that touched a tensor.
    pub instructions: BTreeSet<Address>,
    /// Loads that reached beyond a tensor.
    pub crossing_loads: Vec<CrossingLoads>,
}

/// Turns messages into a trace.
pub struct Recorder<'a> {
    sink: &'a mut dyn TraceSink,
    layer: Option<Layer>,
    /// Tensors of the layer by address: (first byte, one past the last, position).
    places: Vec<(u64, u64, u16)>,
    events: Vec<Event>,
    pcs: PcSet,
    crossing: Vec<CrossingLoads>,
}

impl<'a> Recorder<'a> {
    /// Records into `sink`.
    pub fn new(sink: &'a mut dyn TraceSink) -> Self {
        Self {
            sink,
            layer: None,
            places: Vec::new(),
            events: Vec::new(),
            pcs: PcSet::default(),
            crossing: Vec::new(),
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
                self.places = layer
                    .tensors
                    .iter()
                    .zip(0..)
                    .map(|(tensor, index)| (tensor.address.0.into(), tensor.end(), index))
                    .collect();
                self.places.sort_unstable();
                self.layer = Some(layer);
            }
            Message::Accesses(accesses) => {
                self.events.clear();
                for access in &accesses {
                    self.resolve(access)?;
                }
                self.sink.events(&self.events);
            }
            Message::End(time) => {
                self.layer = None;
                self.sink.end_layer(time);
            }
        }
        Ok(())
    }

    /// What there is to know beside the trace.
    pub fn finish(self) -> Recorded {
        Recorded {
            instructions: self.pcs.seen,
            crossing_loads: self.crossing,
        }
    }

    #[inline]
    fn resolve(&mut self, access: &RawAccess) -> Result<(), RecordError> {
        let start = u64::from(access.address);
        let end = start + u64::from(access.size_bytes);
        let first = self.places.partition_point(|place| place.1 <= start);
        for &(tensor_start, tensor_end, index) in &self.places[first..] {
            if tensor_start >= end {
                break;
            }
            let (from, to) = (start.max(tensor_start), end.min(tensor_end));
            if (from, to) != (start, end) {
                note_crossing(self.layer.as_ref(), &mut self.crossing, access, index)?;
            }
            self.pcs.insert(access.pc);
            self.events.push(Event {
                time: access.time,
                pc: Address(access.pc),
                offset: (from - tensor_start) as u32,
                tensor: index,
                size_bytes: (to - from) as u8,
                kind: access.kind,
            });
        }
        Ok(())
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

/// A set of instruction addresses, quick for the few that come again and again.
struct PcSet {
    recent: [u32; 256],
    seen: BTreeSet<Address>,
}

impl Default for PcSet {
    fn default() -> Self {
        Self {
            // Odd: no instruction's address.
            recent: [1; 256],
            seen: BTreeSet::new(),
        }
    }
}

impl PcSet {
    #[inline]
    fn insert(&mut self, pc: u32) {
        let slot = (pc as usize / 2) % self.recent.len();
        if self.recent[slot] != pc {
            self.recent[slot] = pc;
            self.seen.insert(Address(pc));
        }
    }
}
