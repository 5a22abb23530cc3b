//! Models that take the newest rows of their window, on machine code: they compute bit for bit what
//! the model computes on each whole window.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[path = "../../analysis/tests/prune/builder.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod builder;
#[path = "../../analysis/tests/prune/cases.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod cases;
#[path = "../../analysis/tests/stream/random.rs"]
mod random;
#[path = "../../analysis/tests/tflite/tree.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod tree;

use builder::{Border, Net, USUAL};
use cases::layer;
use dmo_analysis::graph::tflite::{parameters, read};
use dmo_analysis::graph::{Kind, Storage};
use dmo_analysis::transform::stream::{StreamError, stream};
use dmo_trace::study::kernel_request::{KernelRequest, ModelKernels};
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use dmo_trace::study::windows::{Windows, compare_windows};
use dmo_trace::study::{KERNEL_LIMITS, Session};

fn kernels() -> ModelKernels {
    KernelRequest::default().load().unwrap()
}

/// A model made to take so many rows, and what it computes of windows.
fn streamed(file: Vec<u8>, rows: u32, kernels: &ModelKernels) -> (Source, Windows) {
    let mut source = Source::of_bytes("network", file).unwrap();
    source.stream(rows).unwrap();
    let windows = compare_windows(&source, kernels, 4, KERNEL_LIMITS).unwrap();
    (source, windows)
}

/// Random networks and numbers of rows. How many could be streamed, and how many rows were kept.
fn check_random(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let kernels = kernels();
    let (mut checked, mut kept) = (0, 0);
    for seed in seeds {
        let file = random::network(seed);
        let rows = 1 + (seed % 5) as u32;
        match stream(&file, rows) {
            Err(StreamError::Nothing { .. }) => continue,
            other => drop(other.unwrap_or_else(|error| panic!("network {seed}: {error}"))),
        }
        let (source, windows) = streamed(file, rows, &kernels);
        assert!(
            windows.are_equal(),
            "network {seed}, {rows} rows: {windows:?}"
        );
        kept += source.streaming.unwrap().report.buffers.len();
        checked += 1;
    }
    (checked, kept)
}

#[test]
fn random_networks_compute_the_same() {
    let (checked, kept) = check_random(0..400);
    assert!(
        checked > 250 && kept > 400,
        "{checked} networks, {kept} buffers"
    );
}

#[test]
#[ignore = "long: twenty times as many"]
fn more_random_networks_compute_the_same() {
    let (checked, kept) = check_random(400..8400);
    assert!(
        checked > 5000 && kept > 8000,
        "{checked} networks, {kept} buffers"
    );
}

/// Three layers over 12 rows, and a dense one.
fn three_layers() -> Vec<u8> {
    let mut net = Net::default();
    let input = net.input(&[1, 12, 1, 3]);
    let wide = |seed, outputs: usize, channels: usize| {
        let mut layer = layer(seed, outputs, 3 * channels).window(3, Border::Valid);
        layer.columns = Some(1);
        layer
    };
    let one = net.conv(input, 4, &wide(1, 4, 3));
    let two = net.depthwise(one, &wide(2, 4, 1));
    let three = net.quantize(two, USUAL);
    let flat = net.reshape(three, &[1, 32]);
    let last = net.fully_connected(flat, 3, 32, &layer(4, 3, 32));
    net.finish(last)
}

#[test]
fn rows_are_kept_where_windows_reach_back() {
    let (source, windows) = streamed(three_layers(), 2, &kernels());
    assert!(windows.are_equal(), "{windows:?}");
    let report = source.streaming.as_ref().unwrap().report.clone();
    let rows: Vec<u32> = report.buffers.iter().map(|buffer| buffer.rows).collect();
    assert_eq!(rows, [4, 4, 8], "{report:?}");
    assert_eq!((report.warm_up, report.window_rows), (5, 12));
    // 10 rows of 4 outputs of 9 products, 8 rows of 4 of 3, and the dense layer.
    assert_eq!(report.macs_before, 360 + 96 + 96);
    assert_eq!(report.macs_after, 72 + 24 + 96);
    let graph = source.graph();
    let nodes = graph.operators.iter();
    let buffers = nodes.filter(|node| node.kind == Kind::CircularBuffer);
    let outputs: Vec<Storage> = buffers
        .map(|node| graph.tensor(node.outputs[0]).storage)
        .collect();
    assert_eq!(outputs, [Storage::Variable; 3]);
}

/// The shape that a constant names is that of the new rows.
#[test]
fn a_shape_that_is_named_becomes_that_of_the_rows() {
    let mut net = Net::default();
    let input = net.input(&[1, 12, 1, 4]);
    let mut wide = layer(1, 4, 12).window(3, Border::Valid);
    wide.columns = Some(1);
    let one = net.conv(input, 4, &wide);
    let same = net.quantize(one, USUAL);
    let last = net.reshape(same, &[1, 1, 10, 4]);
    let (source, windows) = streamed(net.finish(last), 2, &kernels());
    assert!(windows.are_equal(), "{windows:?}");
    let file = source.file.as_deref().unwrap();
    let all = parameters(file, 0).unwrap();
    let named = all.last().unwrap().as_ref().unwrap().constant(1).unwrap();
    let words = named.bytes.chunks_exact(4);
    let named: Vec<i32> = words
        .map(|word| i32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(named, [1, 1, 2, 4]);
}

/// What is added to each row is another number: the rows are not the same work one after the other.
#[test]
fn a_constant_that_differs_from_row_to_row_needs_the_window() {
    let mut net = Net::default();
    let input = net.input(&[1, 12, 1, 3]);
    let mut wide = layer(1, 4, 9).window(3, Border::Valid);
    wide.columns = Some(1);
    let one = net.conv(input, 4, &wide);
    let added: Vec<i8> = (0..40).map(|value| 3 * value - 60).collect();
    let added = net.constant(&[1, 10, 1, 4], USUAL, &added);
    let sum = net.add(one, added, 0);
    let (source, windows) = streamed(net.finish(sum), 1, &kernels());
    assert!(windows.are_equal(), "{windows:?}");
    let report = source.streaming.unwrap().report;
    let whole: Vec<(&str, &str)> = report
        .whole
        .iter()
        .map(|it| (it.kind.name(), it.reason))
        .collect();
    let reason = "an input that stays differs from row to row";
    assert_eq!(whole, [("ADD", reason)]);
    let rows: Vec<u32> = report.buffers.iter().map(|buffer| buffer.rows).collect();
    assert_eq!(rows, [3, 10]);
}

/// Operands are aligned by their last axes: the rows of the one are the columns of the other.
#[test]
fn rows_on_another_axis_need_the_window() {
    let mut net = Net::default();
    let input = net.input(&[1, 6, 6, 2]);
    let mut wide = layer(1, 2, 12);
    wide.columns = Some(6);
    let one = net.conv(input, 2, &wide);
    let other = net.reshape(one, &[1, 6, 2]);
    let same = net.quantize(input, USUAL);
    let sum = net.add(same, other, 0);
    let (source, windows) = streamed(net.finish(sum), 1, &kernels());
    assert!(windows.are_equal(), "{windows:?}");
    let report = source.streaming.unwrap().report;
    let whole = report.whole.iter();
    let whole: Vec<(&str, &str)> = whole.map(|it| (it.kind.name(), it.reason)).collect();
    assert_eq!(whole, [("ADD", "its inputs have time on different axes")]);
}

/// As converters write a convolution over time.
#[test]
fn a_new_axis_leaves_the_rows() {
    let mut net = Net::default();
    let input = net.input(&[1, 12, 3]);
    let same = net.quantize(input, USUAL);
    let four = net.expand_dims(same, 2);
    let mut wide = layer(1, 4, 9).window(3, Border::Valid);
    wide.columns = Some(1);
    let one = net.conv(four, 4, &wide);
    let (source, windows) = streamed(net.finish(one), 1, &kernels());
    assert!(windows.are_equal(), "{windows:?}");
    let report = source.streaming.unwrap().report;
    assert!(report.whole.is_empty());
    assert_eq!(report.buffers.len(), 1);
}

/// The runtime knows the shape of the output, and does not load the one that is computed.
#[test]
fn a_reshape_to_a_computed_shape_is_executed() {
    let mut net = Net::default();
    let input = net.input(&[1, 6, 6, 2]);
    let wide = net.conv(input, 2, &layer(1, 2, 18).window(3, Border::Same));
    let flat = net.reshape(input, &[1, 72]);
    let other = net.quantize(flat, USUAL);
    let output = net.reshape_like(wide, other);
    let mut source = Source::of_bytes("network", net.finish(output)).unwrap();
    let planned = plan(&mut source, &PlanRequest::default(), &Session::default()).unwrap();
    let to_check = PlanToCheck::of_planned(&planned, &source).unwrap();
    let (session, kernels) = (Session::default(), kernels());
    let request = VerifyRequest::default();
    let verified = verify(&source, Some(to_check), &kernels, request, &session).unwrap();
    assert!(verified.is_safe());
    let found = verified.verification.unwrap();
    assert_eq!(found.layers.len(), source.graph().operators.len());
}

#[test]
fn a_streamed_model_is_planned_and_verified() {
    let (mut source, _) = streamed(three_layers(), 1, &kernels());
    let planned = plan(&mut source, &PlanRequest::default(), &Session::default()).unwrap();
    let to_check = PlanToCheck::of_planned(&planned, &source).unwrap();
    let request = VerifyRequest::default();
    let session = Session::default();
    let kernels = kernels();
    let verified = verify(&source, Some(to_check), &kernels, request, &session).unwrap();
    assert!(verified.is_safe());
}

/// The model with its last weights changed is another one, and that is seen.
#[test]
fn other_results_than_those_of_the_model_are_seen() {
    let kernels = kernels();
    let (mut source, windows) = streamed(three_layers(), 1, &kernels);
    assert!(windows.are_equal());
    let mut file = source.file.take().unwrap();
    let place = {
        let all = parameters(&file, 0).unwrap();
        let last = all.last().unwrap().as_ref().unwrap();
        last.constant(1).unwrap().bytes.as_ptr().addr() - file.as_ptr().addr()
    };
    file[place] ^= 0x40;
    source.file = Some(file);
    let windows = compare_windows(&source, &kernels, 4, KERNEL_LIMITS).unwrap();
    assert!(!windows.are_equal(), "{windows:?}");
}

#[test]
fn what_cannot_be_streamed_is_refused_with_the_reason() {
    let padded = {
        let mut net = Net::default();
        let input = net.input(&[1, 12, 1, 3]);
        let mut layer = layer(1, 4, 9).window(3, Border::Same);
        layer.columns = Some(1);
        let last = net.conv(input, 4, &layer);
        net.finish(last)
    };
    let float = {
        let mut net = Net::default();
        net.is_float = true;
        let input = net.input(&[1, 12, 1, 3]);
        let same = net.relu(input);
        let last = net.pool(same, 1, Border::Valid, false);
        let last = net.reshape(last, &[1, 36]);
        net.finish(last)
    };
    let two = {
        let mut net = Net::default();
        let [one, other] = [0, 1].map(|_| net.input(&[1, 12, 1, 3]));
        let last = net.add(one, other, 0);
        net.finish(last)
    };
    let streamed_before = stream(&three_layers(), 1).unwrap().file;
    let cases = [
        (
            padded,
            1,
            "operator 0 CONV_2D needs the whole window: it pads in time",
        ),
        (three_layers(), 12, "at most 11"),
        (three_layers(), 0, "--rows 0"),
        (float, 1, "CIRCULAR_BUFFER takes INT8"),
        (two, 1, "2 inputs, expected 1"),
        (
            streamed_before,
            1,
            "keeps something from one inference to the next",
        ),
    ];
    for (file, rows, expected) in &cases {
        let error = stream(file, *rows).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(cases.len(), 6);
}

/// Only a buffer that is followed every time, and whose bytes stay, is known.
#[test]
fn other_circular_buffers_are_not_known() {
    let file = stream(&three_layers(), 1).unwrap().file;
    let known = |file: &[u8]| {
        let graph = read(file).unwrap().graphs.remove(0);
        let nodes = graph.operators.iter();
        let buffers = nodes.filter(|node| node.kind == Kind::CircularBuffer);
        buffers.filter(|node| node.kernel.is_some()).count()
    };
    assert_eq!(known(&file), 3);
    let options = b"cycles_max\0\x01\x0c\x01\x01\x01\x01\x04\x02\x24\x01";
    let places: Vec<usize> = (0..file.len() - options.len())
        .filter(|&at| file[at..].starts_with(options))
        .collect();
    assert_eq!(places.len(), 3);
    let mut other = file;
    // Every second time.
    other[places[1] + 16] = 2;
    assert_eq!(known(&other), 2);
}
