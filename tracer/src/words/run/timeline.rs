//! A run as a timeline for Perfetto (<https://ui.perfetto.dev>): layers as slices, the arena in use
//! and the stack as counters.
//!
//! The file is a `Trace` of `TracePacket`s. The messages and the numbers of their fields are those of
//! Perfetto's `trace_packet.proto`, `track_descriptor.proto`, `counter_descriptor.proto`,
//! `track_event.proto` and `debug_annotation.proto`. Perfetto counts nanoseconds; here each stands for
//! an executed instruction.

use super::RunReport;
use dmo_analysis::profile::LayerProfile;
use dmo_analysis::trace::{Role, Time};
use quick_protobuf::{Result, Writer};
use rangemap::RangeSet;

/// Tracks, by their uuid.
const PROGRAM: u64 = 1;
const LAYERS: u64 = 2;
const MEMORY: u64 = 3;
const STACK: u64 = 4;

/// Values of `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER: u64 = 4;

/// `CounterDescriptor.Unit`: bytes.
const SIZE_BYTES: u64 = 3;

/// The timeline of a run as a file.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn perfetto(report: &RunReport<'_>) -> Result<Vec<u8>> {
    let mut trace = Message::default();
    let process = format!("{} on {}", report.program.name, report.program.cpu);
    let mut descriptor = Message::default();
    descriptor.number(1, 1)?;
    descriptor.text(6, &process)?;
    let mut program = track(PROGRAM)?;
    program.message(3, &descriptor)?;
    describe(&mut trace, &program)?;
    describe(&mut trace, &named(LAYERS, "layers, 1 ns an instruction")?)?;
    describe(&mut trace, &counter(MEMORY, memory_name(report))?)?;
    let stack = report.ram.as_ref().map(|ram| &ram.layer_stack_bytes);
    let has_stack = stack.is_some_and(|stack| stack.iter().any(Option::is_some));
    if has_stack {
        describe(&mut trace, &counter(STACK, "stack")?)?;
    }
    for (index, layer) in report.profile.layers.iter().enumerate() {
        event(&mut trace, layer.begin, &slice(report, index, layer)?)?;
        let used = memory(report, index, layer);
        event(&mut trace, layer.begin, &count(MEMORY, used)?)?;
        if let Some(bytes) = stack.and_then(|stack| stack.get(index).copied().flatten()) {
            event(&mut trace, layer.begin, &count(STACK, bytes)?)?;
        }
        event(&mut trace, layer.end, &track_event(LAYERS, SLICE_END)?)?;
    }
    Ok(trace.bytes)
}

/// What the counter of memory counts: of a model in its arena what is in use, otherwise the buffers
/// that the layer names.
fn memory_name(report: &RunReport<'_>) -> &'static str {
    match report.arena {
        Some(_) => "arena in use",
        None => "buffers of the layer",
    }
}

fn memory(report: &RunReport<'_>, index: usize, layer: &LayerProfile) -> u64 {
    let in_use = report.arena.map(|(_, arena)| &arena.in_use_bytes);
    match in_use.filter(|bytes| !bytes.is_empty()) {
        Some(bytes) => bytes[index % bytes.len()],
        None => buffer_bytes(layer),
    }
}

/// The bytes of a layer's buffers, those that two of them share once.
fn buffer_bytes(layer: &LayerProfile) -> u64 {
    let of_arena = |role| {
        matches!(
            role,
            Role::Input | Role::Output | Role::Scratch | Role::State
        )
    };
    let tensors = layer.tensors.iter().map(|it| &it.tensor);
    let ranges = tensors
        .filter(|tensor| of_arena(tensor.role))
        .map(|tensor| {
            let start = u64::from(tensor.address.0);
            start..start + u64::from(tensor.size_bytes)
        });
    let bytes = ranges.filter(|range| !range.is_empty());
    let bytes: RangeSet<u64> = bytes.collect();
    bytes.iter().map(|range| range.end - range.start).sum()
}

/// Adds a track; all packets are of one sequence.
fn describe(trace: &mut Message, track: &Message) -> Result<()> {
    let mut packet = Message::default();
    packet.number(10, 1)?;
    packet.message(60, track)?;
    trace.message(1, &packet)
}

/// Adds an event of a track at the given time.
fn event(trace: &mut Message, time: Time, event: &Message) -> Result<()> {
    let mut packet = Message::default();
    packet.number(10, 1)?;
    packet.number(8, time)?;
    packet.message(11, event)?;
    trace.message(1, &packet)
}

fn track(uuid: u64) -> Result<Message> {
    let mut track = Message::default();
    track.number(1, uuid)?;
    Ok(track)
}

/// A track of the program.
fn named(uuid: u64, name: &str) -> Result<Message> {
    let mut track = track(uuid)?;
    track.text(2, name)?;
    track.number(5, PROGRAM)?;
    Ok(track)
}

/// A counter of bytes.
fn counter(uuid: u64, name: &str) -> Result<Message> {
    let mut counter = Message::default();
    counter.number(3, SIZE_BYTES)?;
    let mut track = named(uuid, name)?;
    track.message(8, &counter)?;
    Ok(track)
}

fn track_event(track: u64, kind: u64) -> Result<Message> {
    let mut event = Message::default();
    event.number(9, kind)?;
    event.number(11, track)?;
    Ok(event)
}

fn count(track: u64, value: u64) -> Result<Message> {
    let mut event = track_event(track, COUNTER)?;
    // The field is signed.
    event.number(30, value.min(i64::MAX as u64))?;
    Ok(event)
}

/// The begin of a layer, with what is known of it.
fn slice(report: &RunReport<'_>, index: usize, layer: &LayerProfile) -> Result<Message> {
    let mut numbers = vec![
        ("layer".to_owned(), index as u64),
        ("instructions".to_owned(), layer.instructions()),
        ("loads".to_owned(), layer.loads()),
        ("stores".to_owned(), layer.stores()),
    ];
    let cycles = report.cycles.and_then(|cycles| cycles.layers.get(index));
    numbers.extend(cycles.map(|cycles| ("cycles".to_owned(), cycles.total)));
    numbers.extend(layer.pairs.iter().map(|pair| {
        let name = |index: usize| &layer.tensors[index].tensor.name;
        let pair_name = format!("O_s {} -> {}", name(pair.input), name(pair.output));
        (pair_name, pair.safe_overlap_bytes.into())
    }));
    let mut event = track_event(LAYERS, SLICE_BEGIN)?;
    event.text(22, &layer.operator)?;
    event.text(23, &layer.name)?;
    for (name, number) in &numbers {
        let mut note = Message::default();
        note.number(3, *number)?;
        note.text(10, name)?;
        event.message(4, &note)?;
    }
    Ok(event)
}

/// A message of protocol buffers, field after field.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
}

/// How a field is encoded, in the lowest bits of its tag.
const VARINT: u32 = 0;
const LENGTH_DELIMITED: u32 = 2;

impl Message {
    fn number(&mut self, field: u32, value: u64) -> Result<()> {
        let mut out = Writer::new(&mut self.bytes);
        out.write_with_tag(field << 3 | VARINT, |out| out.write_uint64(value))
    }

    fn text(&mut self, field: u32, text: &str) -> Result<()> {
        self.write(field, text.as_bytes())
    }

    fn message(&mut self, field: u32, message: &Message) -> Result<()> {
        self.write(field, &message.bytes)
    }

    fn write(&mut self, field: u32, bytes: &[u8]) -> Result<()> {
        let mut out = Writer::new(&mut self.bytes);
        out.write_with_tag(field << 3 | LENGTH_DELIMITED, |out| out.write_bytes(bytes))
    }
}
