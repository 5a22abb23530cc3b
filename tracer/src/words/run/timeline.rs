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
use protobuf::{CodedOutputStream, Result};
use rangemap::RangeSet;

/// Tracks, by their uuid.
const PROGRAM: u64 = 1;
const LAYERS: u64 = 2;
const MEMORY: u64 = 3;
const STACK: u64 = 4;

/// Values of `TrackEvent.Type`.
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const COUNTER: i32 = 4;

/// `CounterDescriptor.Unit`: bytes.
const SIZE_BYTES: i32 = 3;

/// The timeline of a run as a file.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn perfetto(report: &RunReport<'_>) -> Result<Vec<u8>> {
    let mut trace = Trace::default();
    let process = format!("{} on {}", report.program.name, report.program.cpu);
    trace.track(PROGRAM, |track| {
        let process = message(|out| {
            out.write_int32(1, 1)?;
            out.write_string(6, &process)
        })?;
        track.write_bytes(3, &process)
    })?;
    trace.named(LAYERS, "layers, 1 ns an instruction", |_| Ok(()))?;
    trace.counter(MEMORY, memory_name(report))?;
    let stack = report.ram.as_ref().map(|ram| &ram.layer_stack_bytes);
    let has_stack = stack.is_some_and(|stack| stack.iter().any(Option::is_some));
    if has_stack {
        trace.counter(STACK, "stack")?;
    }
    for (index, layer) in report.profile.layers.iter().enumerate() {
        trace.slice(report, index, layer)?;
        trace.count(MEMORY, layer.begin, memory(report, index, layer))?;
        if let Some(bytes) = stack.and_then(|stack| stack.get(index).copied().flatten()) {
            trace.count(STACK, layer.begin, bytes)?;
        }
        trace.event(LAYERS, layer.end, SLICE_END, |_| Ok(()))?;
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

/// The bytes of a message.
fn message(fill: impl FnOnce(&mut CodedOutputStream<'_>) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut out = CodedOutputStream::vec(&mut bytes);
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    Ok(bytes)
}

/// A file that is being written.
#[derive(Default)]
struct Trace {
    bytes: Vec<u8>,
}

impl Trace {
    fn packet(
        &mut self,
        fill: impl FnOnce(&mut CodedOutputStream<'_>) -> Result<()>,
    ) -> Result<()> {
        let packet = message(|out| {
            // All are of one sequence.
            out.write_uint32(10, 1)?;
            fill(out)
        })?;
        self.bytes
            .extend(message(|out| out.write_bytes(1, &packet))?);
        Ok(())
    }

    fn track(
        &mut self,
        uuid: u64,
        fill: impl FnOnce(&mut CodedOutputStream<'_>) -> Result<()>,
    ) -> Result<()> {
        let track = message(|out| {
            out.write_uint64(1, uuid)?;
            fill(out)
        })?;
        self.packet(|out| out.write_bytes(60, &track))
    }

    /// A track of the program.
    fn named(
        &mut self,
        uuid: u64,
        name: &str,
        fill: impl FnOnce(&mut CodedOutputStream<'_>) -> Result<()>,
    ) -> Result<()> {
        self.track(uuid, |track| {
            track.write_string(2, name)?;
            track.write_uint64(5, PROGRAM)?;
            fill(track)
        })
    }

    /// A counter of bytes.
    fn counter(&mut self, uuid: u64, name: &str) -> Result<()> {
        let counter = message(|out| out.write_enum(3, SIZE_BYTES))?;
        self.named(uuid, name, |track| track.write_bytes(8, &counter))
    }

    fn event(
        &mut self,
        track: u64,
        time: Time,
        kind: i32,
        fill: impl FnOnce(&mut CodedOutputStream<'_>) -> Result<()>,
    ) -> Result<()> {
        let event = message(|out| {
            out.write_enum(9, kind)?;
            out.write_uint64(11, track)?;
            fill(out)
        })?;
        self.packet(|out| {
            out.write_uint64(8, time)?;
            out.write_bytes(11, &event)
        })
    }

    fn count(&mut self, track: u64, time: Time, value: u64) -> Result<()> {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.event(track, time, COUNTER, |event| event.write_int64(30, value))
    }

    /// The begin of a layer, with what is known of it.
    fn slice(&mut self, report: &RunReport<'_>, index: usize, layer: &LayerProfile) -> Result<()> {
        let mut numbers = vec![
            ("layer".to_owned(), index as u64 + 1),
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
        self.event(LAYERS, layer.begin, SLICE_BEGIN, |event| {
            event.write_string(22, &layer.operator)?;
            event.write_string(23, &layer.name)?;
            for (name, number) in &numbers {
                let note = message(|out| {
                    out.write_uint64(3, *number)?;
                    out.write_string(10, name)
                })?;
                event.write_bytes(4, &note)?;
            }
            Ok(())
        })
    }
}
