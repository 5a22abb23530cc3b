//! What a replay costs.
//!
//! `cargo bench -p dmo-analysis --bench replay`. Aim: above 200 million accesses a second, and
//! above 50 million where each is wrong. Wrong answers fail.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may fail loudly")]

use divan::Bencher;
use divan::counter::ItemsCount;
use dmo_analysis::graph::TensorId;
use dmo_analysis::operator::{Conv2d, Operator, Window};
use dmo_analysis::replay::{BufferPlace, Needed, Replay, ReplayReport, ReplayStep, Resident};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, TraceSink,
};
use dmo_analysis::verify::Occupant;

fn main() {
    divan::main();
}

/// A convolution's accesses, of 1 byte each, and O_s in bytes. Its events are few enough to stay
/// in the cache, as they do when a recorder sends them in batches.
fn conv() -> (Operator, u32) {
    let operator = Operator::Conv2d(Conv2d {
        input: [1, 16, 16, 8],
        output: [1, 16, 16, 8],
        window: Window {
            kernel: [3; 2],
            stride: [1; 2],
            dilation: [1; 2],
            padding_before: [1; 2],
        },
        groups: 1,
        element_bytes: 1,
    });
    let bytes = operator.overlaps().unwrap()[0].bytes;
    (operator, bytes)
}

const INPUT: u32 = 16 * 16 * 8;
const OUTPUT: u32 = 16 * 16 * 8;

fn layer() -> Layer {
    let tensor = |name: &str, role, address, size_bytes| Tensor {
        name: name.into(),
        role,
        address: Address(address),
        size_bytes,
        element_type: ElementType::Int8,
    };
    Layer {
        span: Span::Layer,
        name: "conv".into(),
        operator: "conv".into(),
        tensors: vec![
            tensor("in", Role::Input, 0x2000_0000, INPUT),
            tensor("out", Role::Output, 0x2001_0000, OUTPUT),
        ],
    }
}

fn events(operator: &Operator) -> Vec<Event> {
    let mut events = Vec::new();
    operator
        .accesses(|kind, _, offset| {
            events.push(Event {
                time: events.len() as u64 + 1,
                pc: Address(match kind {
                    AccessKind::Load => 0x100,
                    AccessKind::Store => 0x200,
                }),
                offset,
                tensor: u16::from(kind == AccessKind::Store),
                size_bytes: 1,
                kind,
            });
        })
        .unwrap();
    events
}

fn replay(layer: &Layer, events: &[Event], input: u64) -> ReplayReport {
    let place = |tensor, offset| {
        Some(BufferPlace::whole(
            Occupant::Tensor(TensorId(tensor)),
            offset,
        ))
    };
    let step = ReplayStep {
        places: &[place(0, input), place(1, 0)],
        before: &[Resident::whole(TensorId(0), input, INPUT.into())],
        after: &[Needed::whole(TensorId(1), OUTPUT.into())],
    };
    let mut replay = Replay::new(layer, &step, 20).unwrap();
    replay.begin_layer(layer, 0);
    for batch in events.chunks(4096) {
        replay.events(batch);
    }
    replay.end_layer(events.len() as u64 + 1);
    replay.finish()
}

/// Apart, overlapped by O_s, and with the input where each of its bytes is soon overwritten.
#[divan::bench(args = ["apart", "overlapped", "wrong"], sample_count = 20, sample_size = 10)]
fn convolution(bencher: Bencher, layout: &str) {
    let (operator, overlap) = conv();
    let (layer, events) = (layer(), events(&operator));
    let input = match layout {
        "apart" => OUTPUT,
        "overlapped" => OUTPUT - overlap,
        _ => 0,
    };
    let report = replay(&layer, &events, u64::from(input));
    assert_eq!(report.is_clean(), layout != "wrong");
    let least = u64::from(OUTPUT - overlap);
    let needed = report.findings.first();
    let needed = needed.map(|finding| finding.needed_displacement);
    assert_eq!(needed, (layout == "wrong").then_some(Some(least)));
    bencher
        .counter(ItemsCount::new(events.len()))
        .bench(|| replay(&layer, divan::black_box(&events), u64::from(input)));
}
