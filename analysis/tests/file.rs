//! Saved traces: there and back, and everything that must be refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

use dmo_analysis::trace::file::{
    EVENTS_PER_BLOCK_LIMIT, FileDefect, MAGIC, ReadError, Rule, TraceReader, TraceWriter,
    WriteError,
};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Ending, Event, Exit, Layer, Location, Program, Role, Span,
    Tensor, Time, TraceSink,
};
use proptest::prelude::*;
use std::time::Instant;

/// A trace as a value, for comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Recorded {
    layers: Vec<RecordedLayer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedLayer {
    layer: Layer,
    begin: Time,
    events: Vec<Event>,
    end: Option<Time>,
}

impl TraceSink for Recorded {
    fn begin_layer(&mut self, layer: &Layer, begin: Time) {
        self.layers.push(RecordedLayer {
            layer: layer.clone(),
            begin,
            events: Vec::new(),
            end: None,
        });
    }
    fn events(&mut self, events: &[Event]) {
        self.layers.last_mut().unwrap().events.extend(events);
    }
    fn end_layer(&mut self, time: Time) {
        self.layers.last_mut().unwrap().end = Some(time);
    }
}

/// Drives a sink with the trace, events in pieces of `batch`.
fn replay(trace: &Recorded, sink: &mut impl TraceSink, batch: usize) {
    for layer in &trace.layers {
        sink.begin_layer(&layer.layer, layer.begin);
        for events in layer.events.chunks(batch) {
            sink.events(events);
        }
        if let Some(end) = layer.end {
            sink.end_layer(end);
        }
    }
}

fn program() -> Program {
    Program {
        name: "conv2d.elf".to_owned(),
        sha256: "00".repeat(32),
        cpu: "cortex-m4".to_owned(),
        recorder: "test".to_owned(),
    }
}

fn ending_of(trace: &Recorded) -> Ending {
    let last = trace.layers.last().and_then(|layer| layer.end);
    Ending {
        exit: Exit::Status(0),
        instructions: last.unwrap_or(0) + 5,
        data_dependent: trace
            .layers
            .iter()
            .filter(|layer| layer.layer.span == Span::Layer)
            .map(|_| None)
            .collect(),
        locations: [(
            Address(0x1000),
            Location {
                function: Some("conv".to_owned()),
                file: Some("conv.c".to_owned()),
                line: Some(12),
                disassembly: None,
            },
        )]
        .into(),
    }
}

fn write(trace: &Recorded, ending: &Ending) -> Result<Vec<u8>, WriteError> {
    let mut writer = TraceWriter::new(Vec::new(), &program())?;
    replay(trace, &mut writer, 1000);
    writer.finish(ending)
}

fn read(bytes: &[u8]) -> Result<(Recorded, Ending), ReadError> {
    let mut trace = Recorded::default();
    let ending = TraceReader::open(bytes)?.read_into(&mut trace)?;
    Ok((trace, ending))
}

fn tensor(name: &str, role: Role, address: u32, size_bytes: u32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        role,
        address: Address(address),
        size_bytes,
        element_type: ElementType::Int8,
    }
}

fn layer(name: &str, tensors: Vec<Tensor>) -> Layer {
    Layer {
        span: Span::Layer,
        name: name.to_owned(),
        operator: "conv2d".to_owned(),
        tensors,
    }
}

fn event(time: Time, tensor: u16, offset: u32, size_bytes: u8, kind: AccessKind) -> Event {
    Event {
        time,
        pc: Address(0x1000 + u32::from(tensor) * 2),
        offset,
        tensor,
        size_bytes,
        kind,
    }
}

/// Two layers and the gap between them, a few events each.
fn small() -> Recorded {
    use AccessKind::{Load, Store};
    let tensors = vec![
        tensor("in", Role::Input, 0x2000_0000, 8),
        tensor("out", Role::Output, 0x2000_0100, 16),
    ];
    let gap = Layer {
        span: Span::Gap,
        name: String::new(),
        operator: String::new(),
        tensors: tensors.clone(),
    };
    let recorded = |layer, begin, events: Vec<Event>, end| RecordedLayer {
        layer,
        begin,
        events,
        end: Some(end),
    };
    Recorded {
        layers: vec![
            recorded(
                layer("first", tensors.clone()),
                1,
                vec![
                    event(2, 0, 0, 8, Load),
                    event(4, 1, 0, 4, Store),
                    event(4, 1, 4, 4, Store),
                    event(200, 0, 7, 1, Load),
                    event(201, 1, 15, 1, Store),
                ],
                202,
            ),
            recorded(gap, 202, vec![event(300, 0, 0, 4, Store)], 301),
            recorded(
                layer("second", tensors),
                301,
                vec![event(302, 0, 0, 1, Load), event(303, 1, 0, 1, Store)],
                303,
            ),
        ],
    }
}

fn small_file() -> Vec<u8> {
    write(&small(), &ending_of(&small())).unwrap()
}

#[test]
fn small_trace_survives() {
    let (trace, ending) = read(&small_file()).unwrap();
    assert_eq!(trace, small());
    assert_eq!(ending, ending_of(&small()));
    let file = small_file();
    assert_eq!(TraceReader::open(&file[..]).unwrap().program(), &program());
}

#[test]
fn empty_trace_survives() {
    let empty = Recorded::default();
    let file = write(&empty, &ending_of(&empty)).unwrap();
    assert_eq!(read(&file).unwrap(), (empty.clone(), ending_of(&empty)));
}

/// One random layer: its tensors, and raw numbers that become valid events.
type RawLayer = (
    bool,
    Vec<(u32, u32)>,
    Vec<(u16, u32, u32, u8, bool, u64)>,
    u64,
);

fn random_trace() -> impl Strategy<Value = Recorded> {
    let step = prop_oneof![8 => 0_u64..4, 1 => 0_u64..100_000, 1 => 0..1_u64 << 40];
    let event = (
        any::<u16>(),
        0_u32..50,
        any::<u32>(),
        1_u8..=8,
        any::<bool>(),
        step,
    );
    let tensors = prop::collection::vec((0_u32..64, 1_u32..5000), 1..6);
    let layer = (
        any::<bool>(),
        tensors,
        prop::collection::vec(event, 0..200),
        0_u64..50,
    );
    prop::collection::vec(layer, 0..4).prop_map(build)
}

fn build(raw: Vec<RawLayer>) -> Recorded {
    let mut trace = Recorded::default();
    let mut time = 0;
    for (is_gap, tensors, events, pause) in raw {
        let mut address = 0x2000_0000;
        let mut placed = Vec::new();
        for (index, (padding, size_bytes)) in tensors.into_iter().enumerate() {
            address += padding;
            placed.push(tensor(
                &format!("t{index}"),
                Role::Input,
                address,
                size_bytes,
            ));
            address += size_bytes;
        }
        time += pause;
        let begin = time;
        let mut valid = Vec::new();
        for (tensor, pc, offset, size_bytes, is_store, step) in events {
            let tensor = tensor % placed.len() as u16;
            let tensor_bytes = placed[usize::from(tensor)].size_bytes;
            let size_bytes = u32::from(size_bytes).min(tensor_bytes);
            time = (time + step).max(begin + 1);
            valid.push(Event {
                time,
                pc: Address(pc.wrapping_mul(0x0765_4321)),
                offset: offset % (tensor_bytes - size_bytes + 1),
                tensor,
                size_bytes: size_bytes as u8,
                kind: if is_store {
                    AccessKind::Store
                } else {
                    AccessKind::Load
                },
            });
        }
        time += pause;
        let mut layer = layer("layer", placed);
        if is_gap {
            layer.span = Span::Gap;
        }
        trace.layers.push(RecordedLayer {
            layer,
            begin,
            events: valid,
            end: Some(time),
        });
    }
    trace
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_traces_survive(trace in random_trace()) {
        let ending = ending_of(&trace);
        let file = write(&trace, &ending).unwrap();
        prop_assert_eq!(read(&file).unwrap(), (trace, ending));
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200), head in 0_usize..60) {
        let mut file = small_file();
        file.truncate(head);
        file.extend(noise);
        prop_assert!(read(&file).is_err());
    }
}

/// More events than a block holds, in pieces that do not divide it.
#[test]
fn many_blocks_survive() {
    let bytes = 1000;
    let count = 2 * EVENTS_PER_BLOCK_LIMIT as u64 + 17;
    let events = (0..count)
        .map(|i| event(i / 2 + 6, 0, (i * 7 % bytes) as u32, 1, AccessKind::Load))
        .collect();
    let trace = Recorded {
        layers: vec![RecordedLayer {
            layer: layer("long", vec![tensor("in", Role::Input, 0, bytes as u32)]),
            begin: 5,
            events,
            end: Some(count),
        }],
    };
    let file = write(&trace, &ending_of(&trace)).unwrap();
    assert_eq!(read(&file).unwrap().0, trace);
}

#[test]
fn every_prefix_is_refused_where_it_ends() {
    let file = small_file();
    for length in 0..file.len() {
        let error = read(&file[..length]).unwrap_err();
        assert_eq!(error.offset, length as u64, "{error}");
        assert!(
            matches!(error.problem, FileDefect::Truncated { .. }),
            "{error}"
        );
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let file = small_file();
    for bit in 0..file.len() * 8 {
        let mut altered = file.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        let error = read(&altered).unwrap_err();
        assert!(error.offset <= file.len() as u64, "{error}");
        assert!(!matches!(error.problem, FileDefect::Io(_)), "{error}");
    }
}

/// The start of each chunk, and the end of the file.
fn chunk_starts(file: &[u8]) -> Vec<usize> {
    let mut starts = vec![12];
    while let Some(&start) = starts.last()
        && start < file.len()
    {
        let stored = u32::from_le_bytes(file[start + 1..start + 5].try_into().unwrap());
        starts.push(start + 9 + stored as usize + 4);
    }
    starts
}

#[test]
fn chunks_cannot_be_removed_doubled_or_swapped() {
    let file = small_file();
    let starts = chunk_starts(&file);
    let chunks: Vec<&[u8]> = starts
        .windows(2)
        .map(|range| &file[range[0]..range[1]])
        .collect();
    assert_eq!(chunks.len(), 11);
    let rebuilt = |chunks: &[&[u8]]| [&file[..12], &chunks.concat()].concat();
    assert_eq!(rebuilt(&chunks), file);
    for index in 0..chunks.len() {
        let mut removed = chunks.clone();
        removed.remove(index);
        assert!(read(&rebuilt(&removed)).is_err());
        let mut doubled = chunks.clone();
        doubled.insert(index, chunks[index]);
        assert!(read(&rebuilt(&doubled)).is_err());
        for other in 0..index {
            let mut swapped = chunks.clone();
            swapped.swap(index, other);
            assert!(read(&rebuilt(&swapped)).is_err());
        }
    }
    let mut longer = file.clone();
    longer.push(0);
    let error = read(&longer).unwrap_err();
    assert_eq!(error.offset, file.len() as u64);
    assert!(matches!(error.problem, FileDefect::TrailingBytes));
}

#[test]
fn head_is_explained() {
    let mut file = small_file();
    file[8] = 2;
    assert_eq!(
        read(&file).unwrap_err().to_string(),
        "at byte 8: version 2 of the trace format, expected version 1; if the file is \
         not damaged, another version of this program wrote it"
    );
    assert_eq!(
        read(b"\x7fELF\x01\x01\x01\x00\x00")
            .unwrap_err()
            .to_string(),
        "at byte 0: expected the magic number of a saved trace; this is another kind of file"
    );
}

/// Files with right checks and wrong content.
struct Forger {
    file: Vec<u8>,
    check: crc32fast::Hasher,
}

const PROGRAM: u8 = 1;
const BEGIN: u8 = 2;
const EVENTS: u8 = 3;
const END: u8 = 4;
const ENDING: u8 = 5;

impl Forger {
    fn empty() -> Self {
        let mut forger = Self {
            file: Vec::new(),
            check: crc32fast::Hasher::new(),
        };
        forger.put(&MAGIC);
        forger.put(&1_u32.to_le_bytes());
        forger
    }

    fn new() -> Self {
        Self::empty().chunk(PROGRAM, &serde_json::to_vec(&program()).unwrap())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.file.extend(bytes);
        self.check.update(bytes);
    }

    fn chunk(self, kind: u8, raw: &[u8]) -> Self {
        let stored = zstd::bulk::compress(raw, 1).unwrap();
        self.raw_chunk(kind, stored.len() as u32, raw.len() as u32, &stored)
    }

    fn raw_chunk(mut self, kind: u8, stored_bytes: u32, raw_bytes: u32, stored: &[u8]) -> Self {
        self.put(&[kind]);
        self.put(&stored_bytes.to_le_bytes());
        self.put(&raw_bytes.to_le_bytes());
        self.put(stored);
        let check = self.check.clone().finalize();
        self.file.extend(check.to_le_bytes());
        self
    }

    fn begin(self, layer: &Layer, time: Time) -> Self {
        let layer = serde_json::to_value(layer).unwrap();
        let begin = serde_json::json!({ "time": time, "layer": layer });
        self.chunk(BEGIN, begin.to_string().as_bytes())
    }

    /// Begins a layer with one tensor of 16 bytes at time 10.
    fn begun() -> Self {
        Self::new().begin(&one_tensor(), 10)
    }

    fn end(self, time: Time) -> Self {
        self.chunk(
            END,
            serde_json::json!({ "time": time }).to_string().as_bytes(),
        )
    }

    fn ending(self, layers: usize, instructions: Time) -> Self {
        let ending = Ending {
            data_dependent: vec![None; layers],
            instructions,
            ..ending_of(&Recorded::default())
        };
        self.chunk(ENDING, &serde_json::to_vec(&ending).unwrap())
    }

    /// Reads, and gives the message with what the sink got.
    fn refused(self) -> (String, Recorded) {
        let mut trace = Recorded::default();
        let result =
            TraceReader::open(&self.file[..]).and_then(|reader| reader.read_into(&mut trace));
        (result.unwrap_err().to_string(), trace)
    }

    #[track_caller]
    fn refused_with(self, message: &str) {
        let (given, trace) = self.refused();
        let (_, given) = given.split_once(": ").unwrap();
        assert_eq!(given, message);
        check_promises(&trace);
    }
}

fn one_tensor() -> Layer {
    layer("one", vec![tensor("t", Role::Input, 0x2000_0000, 16)])
}

/// A site as the file has it.
fn site(tensor: u16, size_bytes: u8, kind: u8) -> [u8; 8] {
    let [low, high] = tensor.to_le_bytes();
    [0, 0x10, 0, 0, low, high, size_bytes, kind]
}

fn block(count: u32, sites: &[[u8; 8]], columns: [&[u8]; 3]) -> Vec<u8> {
    let mut block = Vec::new();
    let [site_column, time_column, _] = columns;
    for value in [
        count,
        sites.len() as u32,
        site_column.len() as u32,
        time_column.len() as u32,
    ] {
        block.extend(value.to_le_bytes());
    }
    block.extend(sites.concat());
    block.extend(columns.concat());
    block
}

#[test]
fn forger_can_be_right() {
    let events = block(2, &[site(0, 8, 0)], [&[0, 0], &[1, 0], &[0, 16]]);
    let file = Forger::begun()
        .chunk(EVENTS, &events)
        .end(11)
        .ending(1, 11)
        .file;
    let (trace, _) = read(&file).unwrap();
    assert_eq!(trace.layers[0].events.len(), 2);
    assert_eq!(trace.layers[0].events[1].offset, 8);
}

#[test]
fn forged_structure_is_refused() {
    Forger::empty()
        .refused_with("the file ends, expected the kind of a chunk; was its writer stopped?");
    Forger::empty()
        .end(1)
        .refused_with("layer end chunk, expected a program chunk");
    let program = serde_json::to_vec(&program()).unwrap();
    Forger::new()
        .chunk(PROGRAM, &program)
        .refused_with("program chunk, expected the begin of a layer or the ending");
    Forger::begun()
        .begin(&one_tensor(), 11)
        .refused_with("layer begin chunk, expected events or the end of layer 'one'");
    let events = block(1, &[site(0, 1, 0)], [&[0], &[1], &[0]]);
    Forger::new()
        .chunk(EVENTS, &events)
        .refused_with("events chunk, expected the begin of a layer or the ending");
    Forger::new()
        .end(1)
        .refused_with("layer end chunk, expected the begin of a layer or the ending");
    Forger::begun()
        .ending(1, 100)
        .refused_with("ending chunk, expected events or the end of layer 'one'");
    Forger::new()
        .chunk(6, b"")
        .refused_with("chunk of kind 6, expected 1 to 5; the file is damaged");
    Forger::begun().end(10).ending(2, 100).refused_with(
        "the ending: 2 entries on data dependence, expected one for each of 1 layers",
    );
    Forger::begun()
        .end(10)
        .ending(1, 9)
        .refused_with("the ending: 9 executed instructions, but the trace goes on to time 10");
    let (message, _) = Forger::new().chunk(BEGIN, b"{\"time\": 1}").refused();
    assert!(
        message.contains("layer begin chunk does not say what it should: missing field `layer`"),
        "{message}"
    );
}

#[test]
fn forged_times_are_refused() {
    let second = |time| Forger::begun().end(20).begin(&one_tensor(), time);
    second(19).refused_with(
        "layer 2 'one': time 19 comes before 20, the earliest that the trace still allows",
    );
    Forger::begun().end(9).refused_with(
        "layer 1 'one', its end: time 9 comes before 10, the earliest that the trace still allows",
    );
    let event = |delta: &[u8]| {
        Forger::begun().chunk(EVENTS, &block(1, &[site(0, 1, 0)], [&[0], delta, &[0]]))
    };
    event(&[0]).refused_with(
        "layer 1 'one', event 1: time 10 comes before 11, the earliest that the trace still allows",
    );
    event(&[5]).end(14).refused_with(
        "layer 1 'one', its end: time 14 comes before 15, the earliest that the trace still allows",
    );
    let longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    event(&longest).refused_with("layer 1 'one', event 1: the time passes the range of 64 bits");
}

#[test]
fn forged_tensors_are_refused() {
    let begin = |tensors| Forger::new().begin(&layer("l", tensors), 1);
    let input = |name: &str, address, size_bytes| tensor(name, Role::Input, address, size_bytes);
    begin(vec![input("a", 0, 0)]).refused_with("layer 1 'l': tensor 'a' has no bytes");
    begin(vec![input("a", 0xffff_fff0, 17)]).refused_with(
        "layer 1 'l': tensor 'a', 17 bytes at 0xfffffff0, ends beyond the 32-bit addresses",
    );
    begin(vec![input("a", 8, 8), input("b", 0, 9)])
        .refused_with("layer 1 'l': tensors 'b' and 'a' share the byte at 0x00000008");
    begin(vec![input("a", 8, 8), input("a", 0, 8)])
        .refused_with("layer 1 'l': two tensors are called 'a'");
    begin(vec![input("a", 0, 64 << 20), input("b", 0x8000_0000, 1)]).refused_with(
        "layer 1 'l': with tensor 'b' the tensors touch more than 67108864 bytes of memory",
    );
    begin(vec![input("a", 0, u32::MAX)]).refused_with(
        "layer 1 'l': with tensor 'a' the tensors touch more than 67108864 bytes of memory",
    );
    let many = (0..32_769)
        .map(|i| input(&i.to_string(), i * 2, 1))
        .collect();
    begin(many).refused_with("layer 1 'l': 32769 tensors, limit 32768");
    let crowd = (0..66)
        .map(|i| match i % 2 {
            0 => input(&i.to_string(), i * 2, 1),
            _ => Tensor {
                role: Role::Output,
                ..input(&i.to_string(), i * 2, 1)
            },
        })
        .collect();
    begin(crowd).refused_with("layer 1 'l': 1089 pairs of an input and an output, limit 1024");

    let edge = vec![input("a", 0xffff_fff0, 16)];
    assert!(read(&begin(edge).end(1).ending(1, 1).file).is_ok());
    let mut gap = layer("g", (0..513).map(|i| input("same", i * 2, 1)).collect());
    gap.span = Span::Gap;
    assert!(read(&Forger::new().begin(&gap, 1).end(1).ending(0, 1).file).is_ok());
}

#[test]
fn forged_events_are_refused() {
    let forge = |block: Vec<u8>| Forger::begun().chunk(EVENTS, &block);
    let one = |site, offset: &[u8]| forge(block(1, &[site], [&[0], &[1], offset]));
    one(site(1, 1, 0), &[0]).refused_with("layer 1 'one', event 1: tensor 1 of 1");
    one(site(0, 0, 0), &[0])
        .refused_with("layer 1 'one', event 1: an access of 0 bytes, expected 1 to 8");
    one(site(0, 9, 0), &[0])
        .refused_with("layer 1 'one', event 1: an access of 9 bytes, expected 1 to 8");
    one(site(0, 1, 2), &[0]).refused_with("events chunk: a site neither loads nor stores");
    // Steps of 9 and -1.
    one(site(0, 8, 1), &[18]).refused_with(
        "layer 1 'one', event 1: store of 8 bytes at offset 9 crosses the end of tensor 't' (16 bytes)",
    );
    one(site(0, 1, 0), &[1]).refused_with(
        "layer 1 'one', event 1: load of 1 bytes at offset 4294967295 crosses the end of tensor 't' (16 bytes)",
    );
    one(site(0, 1, 0), &[0xff, 0xff, 0xff, 0xff, 0x1f])
        .refused_with("events chunk: a step of more than 32 bits");
    one(site(0, 1, 0), &[0xff; 11]).refused_with(
        "events chunk: a column ends, or its number is too long, before its last event",
    );
    one(site(0, 1, 0), &[0, 0])
        .refused_with("events chunk: its columns go on after its last event");
    one(site(0, 1, 0), &[]).refused_with(
        "events chunk: a column ends, or its number is too long, before its last event",
    );
    forge(block(1, &[site(0, 1, 0)], [&[1], &[1], &[0]]))
        .refused_with("events chunk: an event of a site that is not declared");
    let misfit = "events chunk: the lengths of its columns do not fit its own length";
    forge(vec![0; 15]).refused_with(misfit);
    forge([1_u32, u32::MAX, 0, 0].map(u32::to_le_bytes).concat()).refused_with(misfit);
    forge(
        [1_u32, 0, u32::MAX, u32::MAX]
            .map(u32::to_le_bytes)
            .concat(),
    )
    .refused_with(misfit);
    let number = "events chunk: the number of its events is not within 1 to 65536";
    forge(block(0, &[], [&[], &[], &[]])).refused_with(number);
    forge(block(65_537, &[], [&[], &[], &[]])).refused_with(number);
    let tiny = layer("tiny", vec![tensor("t", Role::Input, 0, 2)]);
    Forger::new()
        .begin(&tiny, 1)
        .chunk(EVENTS, &block(1, &[site(0, 4, 0)], [&[0], &[1], &[0]]))
        .refused_with(
            "layer 1 'tiny', event 1: load of 4 bytes at offset 0 crosses the end of tensor 't' (2 bytes)",
        );
}

/// Nothing is allocated for lengths that the file does not have, or may not have.
#[test]
fn forged_lengths_are_refused() {
    let chunk = |kind, stored_bytes, raw_bytes, stored: &[u8]| {
        Forger::begun().raw_chunk(kind, stored_bytes, raw_bytes, stored)
    };
    chunk(EVENTS, 4, u32::MAX, b"abcd")
        .refused_with("events chunk of 4294967295 bytes, limit 1703952");
    let (message, _) = chunk(BEGIN, u32::MAX, 4, b"abcd").refused();
    assert!(
        message.contains("layer begin chunk of 4294967295 bytes, limit"),
        "{message}"
    );
    chunk(BEGIN, 16 << 20, 4, b"abcd").refused_with(
        "the file ends, expected the rest of a chunk's text; was its writer stopped?",
    );
    let mismatch = |raw_bytes| {
        format!("events chunk does not decompress to the {raw_bytes} bytes that it promises")
    };
    chunk(EVENTS, 4, 4, b"abcd").refused_with(&mismatch(4));
    // 100 MB of zeros in a few KB, behind an honest and a modest promise.
    let bomb = zstd::bulk::compress(&vec![0; 100 << 20], 1).unwrap();
    let length = bomb.len() as u32;
    chunk(EVENTS, length, 1_000_000, &bomb).refused_with(&mismatch(1_000_000));
    chunk(EVENTS, length, 100 << 20, &bomb)
        .refused_with("events chunk of 104857600 bytes, limit 1703952");
    let short = zstd::bulk::compress(&[0; 10], 1).unwrap();
    chunk(EVENTS, short.len() as u32, 11, &short).refused_with(&mismatch(11));
}

#[test]
fn too_many_sites_are_refused() {
    let sites = vec![site(0, 1, 0); 1 << 16];
    let declared = block(1, &sites, [&[0], &[1], &[0]]);
    let mut forger = Forger::begun();
    for _ in 0..17 {
        forger = forger.chunk(EVENTS, &declared);
    }
    forger.refused_with(
        "layer 1 'one', event 17: more than 1048576 different accessing instructions in one layer",
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Altered content behind right checks: an error, or events that keep all promises.
    #[test]
    fn forged_noise_breaks_no_promise(
        alterations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        alter_layer in any::<bool>(),
    ) {
        let mut begin = serde_json::json!({ "time": 10, "layer": one_tensor() }).to_string().into_bytes();
        let mut events = block(
            4,
            &[site(0, 8, 0), site(0, 4, 1)],
            [&[0, 1, 1, 0], &[1, 0, 0x80, 1, 9], &[4, 0, 8, 3]],
        );
        for (index, value) in alterations {
            let bytes = if alter_layer { &mut begin } else { &mut events };
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        let file = Forger::new().chunk(BEGIN, &begin).chunk(EVENTS, &events).end(1 << 40).ending(1, 1 << 40).file;
        let mut trace = Recorded::default();
        let _refused_or_not = TraceReader::open(&file[..]).and_then(|reader| reader.read_into(&mut trace));
        check_promises(&trace);
    }
}

/// What consumers rely on.
fn check_promises(trace: &Recorded) {
    for layer in &trace.layers {
        for tensor in &layer.layer.tensors {
            assert!(tensor.size_bytes > 0 && tensor.end() <= 1 << 32);
        }
        let mut time = layer.begin + 1;
        for event in &layer.events {
            let tensor = &layer.layer.tensors[usize::from(event.tensor)];
            assert!((1..=8).contains(&event.size_bytes));
            let end = u64::from(event.offset) + u64::from(event.size_bytes);
            assert!(end <= u64::from(tensor.size_bytes));
            assert!(event.time >= time);
            time = event.time;
        }
        if let (Some(end), Some(last)) = (layer.end, layer.events.last()) {
            assert!(end >= last.time);
        }
    }
}

/// The writer refuses what the reader would refuse, and keeps the first error.
#[test]
fn writer_refuses_what_is_no_trace() {
    use AccessKind::Load;
    let attempt = |drive: &dyn Fn(&mut TraceWriter<Vec<u8>>)| {
        let mut writer = TraceWriter::new(Vec::new(), &program()).unwrap();
        drive(&mut writer);
        writer.events(&[event(1, 9, 9, 9, Load)]);
        assert!(writer.error().is_some());
        match writer.finish(&ending_of(&Recorded::default())).unwrap_err() {
            WriteError::Violation(violation) => violation.rule,
            other => panic!("{other}"),
        }
    };
    let begun = |event: Event| {
        attempt(&move |writer| {
            writer.begin_layer(&one_tensor(), 10);
            writer.events(&[event]);
            writer.end_layer(20);
        })
    };
    assert_eq!(attempt(&|_| ()), Rule::OutsideLayer);
    assert_eq!(attempt(&|writer| writer.end_layer(1)), Rule::OutsideLayer);
    let nested = |writer: &mut TraceWriter<Vec<u8>>| {
        writer.begin_layer(&one_tensor(), 10);
        writer.begin_layer(&one_tensor(), 11);
    };
    assert!(matches!(attempt(&nested), Rule::NestedLayer { .. }));
    assert!(matches!(
        begun(event(10, 0, 0, 1, Load)),
        Rule::TimeGoesBack {
            given: 10,
            earliest: 11
        }
    ));
    assert!(matches!(
        begun(event(11, 1, 0, 1, Load)),
        Rule::NoSuchTensor { .. }
    ));
    assert!(matches!(
        begun(event(11, 0, 0, 0, Load)),
        Rule::AccessSize { .. }
    ));
    assert!(matches!(
        begun(event(11, 0, 15, 2, Load)),
        Rule::BeyondTensor { .. }
    ));
    assert!(matches!(
        begun(event(21, 0, 0, 1, Load)),
        Rule::TimeGoesBack {
            given: 20,
            earliest: 21
        }
    ));
    let backwards = |writer: &mut TraceWriter<Vec<u8>>| {
        writer.begin_layer(&one_tensor(), 10);
        writer.events(&[event(12, 0, 0, 1, Load), event(11, 0, 0, 1, Load)]);
    };
    assert!(matches!(
        attempt(&backwards),
        Rule::TimeGoesBack {
            given: 11,
            earliest: 12
        }
    ));

    let mut writer = TraceWriter::new(Vec::new(), &program()).unwrap();
    writer.begin_layer(&one_tensor(), 10);
    let error = writer.finish(&ending_of(&Recorded::default())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not a valid trace: the ending: layer 'one' has not ended"
    );
}

/// A disk that is full after some bytes.
struct FullDisk(usize);

impl std::io::Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(std::io::Error::other("disk full"));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disk_is_reported_at_the_end() {
    let length = small_file().len();
    for room in 0..length {
        let result = TraceWriter::new(FullDisk(room), &program()).and_then(|mut writer| {
            replay(&small(), &mut writer, 3);
            writer.finish(&ending_of(&small()))
        });
        let Err(error) = result else {
            panic!("{room} bytes were enough");
        };
        assert_eq!(error.to_string(), "cannot write the trace: disk full");
    }
}

/// A convolution 3x3, 8 to 16 channels, as a compiler makes it: byte loads of input and
/// filter in the inner loop, one store for each output.
fn conv_like_trace() -> Recorded {
    let (side, inputs, outputs) = (20_u32, 8_u32, 16_u32);
    let tensors = vec![
        tensor("in", Role::Input, 0x2000_0000, side * side * inputs),
        tensor("out", Role::Output, 0x2001_0000, side * side * outputs),
        tensor("filter", Role::Constant, 0x0800_0000, outputs * 9 * inputs),
        tensor("bias", Role::Constant, 0x0801_0000, outputs * 4),
    ];
    let mut events = Vec::new();
    let mut time = 100;
    let mut push = |wait: Time, pc, tensor, offset, size_bytes, kind| {
        time += wait;
        events.push(Event {
            time,
            pc: Address(pc),
            offset,
            tensor,
            size_bytes,
            kind,
        });
    };
    for (oy, ox) in (0..side).flat_map(|oy| (0..side).map(move |ox| (oy, ox))) {
        for oc in 0..outputs {
            for (fy, fx) in (0..3).flat_map(|fy| (0..3).map(move |fx| (fy, fx))) {
                let (Some(iy), Some(ix)) = ((oy + fy).checked_sub(1), (ox + fx).checked_sub(1))
                else {
                    continue;
                };
                if iy >= side || ix >= side {
                    continue;
                }
                for ic in 0..inputs {
                    let pixel = (iy * side + ix) * inputs;
                    push(
                        if ic == 0 { 19 } else { 3 },
                        0x1000,
                        0,
                        pixel + ic,
                        1,
                        AccessKind::Load,
                    );
                    push(
                        1,
                        0x1004,
                        2,
                        ((oc * 3 + fy) * 3 + fx) * inputs + ic,
                        1,
                        AccessKind::Load,
                    );
                }
            }
            push(7, 0x1020, 3, oc * 4, 4, AccessKind::Load);
            push(
                22,
                0x1040,
                1,
                (oy * side + ox) * outputs + oc,
                1,
                AccessKind::Store,
            );
        }
    }
    Recorded {
        layers: vec![RecordedLayer {
            layer: layer("conv", tensors),
            begin: 90,
            events,
            end: Some(time + 10),
        }],
    }
}

/// Counts, so that the timing below is the reader's own.
#[derive(Default)]
struct Count(u64);

impl TraceSink for Count {
    fn begin_layer(&mut self, _: &Layer, _: Time) {}
    fn events(&mut self, events: &[Event]) {
        self.0 += events.len() as u64;
    }
    fn end_layer(&mut self, _: Time) {}
}

#[test]
fn convolution_takes_less_than_half_a_byte_an_event() {
    let trace = conv_like_trace();
    let events = trace.layers[0].events.len();
    let start = Instant::now();
    let file = write(&trace, &ending_of(&trace)).unwrap();
    let encoded = start.elapsed();
    let start = Instant::now();
    let mut count = Count::default();
    TraceReader::open(&file[..])
        .unwrap()
        .read_into(&mut count)
        .unwrap();
    let decoded = start.elapsed();
    assert_eq!(count.0, events as u64);
    let bytes_per_event = file.len() as f64 / events as f64;
    println!(
        "{events} events, {bytes_per_event:.3} bytes, encode {:.1} ns, decode {:.1} ns an event",
        encoded.as_nanos() as f64 / events as f64,
        decoded.as_nanos() as f64 / events as f64,
    );
    assert!(bytes_per_event < 0.5, "{bytes_per_event}");
}
