//! What a traced call of a kernel costs, against the same call under bare Unicorn in the
//! same run: a machine of its own, the loads and stores of the buffers, and their analysis.
//!
//! `cargo bench -p dmo-trace --bench kernel [WORD]`, on a computer that does nothing else. Fails when the bound is not kept or an O_s is
//! wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail loudly"
)]

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Conv2d, DepthwiseConv2d, Operator, Window};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::{Caller, DEFAULT_RAM};
use dmo_trace::kernels::{Buffers, Case, Contract, KernelLibrary, images};
use dmo_trace::mcu::machine::{EngineKind, Limits, Observation};
use dmo_trace::measure::{choose, scratch_memory, trace};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    max_instructions: u64::MAX,
    timeout: Duration::from_secs(600),
};

const ROUNDS: usize = 25;

/// Bound of the project: so many times the bare call, and so much for the machine.
const TIMES_AT_MOST: f64 = 2.0;
const MORE_AT_MOST: Duration = Duration::from_millis(5);

fn main() {
    let mut kept = true;
    for set in ["reference", "dsp"] {
        let image = images::find(set, None).expect(set);
        let library = || KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(set);
        let (unicorn, library) = (library().with_engine(EngineKind::Unicorn), library());
        for (name, case) in cases() {
            if !wanted(set, name) {
                continue;
            }
            kept &= bench([&unicorn, &library], set, name, &case);
        }
    }
    assert!(kept, "the bound is not kept");
}

/// Whether its line has the words of the command line.
fn wanted(set: &str, name: &str) -> bool {
    let line = format!("{set} {name}");
    let mut words = std::env::args().skip(1);
    words.all(|word| word.starts_with("--") || line.contains(&word))
}

fn cases() -> Vec<(&'static str, Case)> {
    let window = |stride| Window {
        kernel: [3, 3],
        stride: [stride, stride],
        padding_before: [1, 1],
        ..Window::default()
    };
    let conv = |extent: u32, depth, filters| {
        Operator::Conv2d(Conv2d {
            input: [1, extent, extent, depth],
            output: [1, extent, extent, filters],
            window: window(1),
            groups: 1,
            element_bytes: 1,
        })
    };
    let depthwise = |extent: u32, depth, stride| {
        Operator::DepthwiseConv2d(DepthwiseConv2d {
            input: [1, extent, extent, depth],
            output: [1, extent.div_ceil(stride), extent.div_ceil(stride), depth],
            window: window(stride),
            multiplier: 1,
            element_bytes: 1,
        })
    };
    let int8 = |kind, operator| Case {
        operator,
        kind: Kind::of_kernels(kind).unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    };
    vec![
        ("conv 3x3, 8x8x8 -> 8", int8("conv2d", conv(8, 8, 8))),
        ("conv 3x3, 32x32x16 -> 16", int8("conv2d", conv(32, 16, 16))),
        ("conv 3x3, 48x48x3 -> 8", int8("conv2d", conv(48, 3, 8))),
        (
            "depthwise 3x3, 16x16x16",
            int8("depthwise_conv2d", depthwise(16, 16, 1)),
        ),
        (
            "depthwise 3x3, 48x48x32",
            int8("depthwise_conv2d", depthwise(48, 32, 1)),
        ),
        (
            "depthwise 3x3 of stride 2, 48x48x32",
            int8("depthwise_conv2d", depthwise(48, 32, 2)),
        ),
    ]
}

fn bench([unicorn, library]: [&KernelLibrary; 2], set: &str, name: &str, case: &Case) -> bool {
    let kernel = choose(library, case, None).unwrap();
    let exact = case.operator.overlap(0, 0).unwrap().bytes;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let bare = bare(unicorn, case, kernel);
        let start = Instant::now();
        let layer = trace(library, case, kernel, LIMITS).unwrap();
        rounds.push((bare, start.elapsed()));
        let overlap = layer.pairs[0].safe_overlap_bytes;
        let right = match set {
            "reference" => overlap == exact,
            // The patches are copied before their outputs are stored.
            _ => overlap >= exact,
        };
        assert!(right, "{set} {name}: O_s = {overlap}, by formula {exact}");
    }
    // The least of each: what else the machine does only ever adds, and more to the two
    // threads of a traced call.
    let bare = least(rounds.iter().map(|(bare, _)| *bare));
    let traced = least(rounds.iter().map(|(_, traced)| *traced));
    let ratio = traced.saturating_sub(MORE_AT_MOST).as_secs_f64() / bare.as_secs_f64();
    println!(
        "{set:9} {name:36} bare {:7.1} ms, traced {:7.1} ms: {ratio:4.1} times + {} ms (at most {TIMES_AT_MOST})",
        bare.as_secs_f64() * 1e3,
        traced.as_secs_f64() * 1e3,
        MORE_AT_MOST.as_millis(),
    );
    ratio <= TIMES_AT_MOST
}

/// The call alone, with everything in place.
fn bare(library: &KernelLibrary, case: &Case, kernel: &'static Contract) -> Duration {
    let mut caller = Caller::new(library, Observation::None, LIMITS).unwrap();
    let mut frame = library.frame();
    let sizes = case.operator.buffers().unwrap();
    let [input, output] = [&sizes.inputs[0], &sizes.outputs[0]].map(|buffer| {
        frame
            .reserve(buffer.name, buffer.size_bytes().into())
            .unwrap()
    });
    let parameters = kernel.invented(case).unwrap();
    let scratch = scratch_memory(library, case, kernel, &parameters, LIMITS).unwrap();
    let scratch = Some(scratch.total_bytes).filter(|&size_bytes| size_bytes > 0);
    let buffers = Buffers {
        inputs: vec![input],
        outputs: vec![output],
        scratch: scratch.map(|size_bytes| {
            let address = frame.reserve("scratch", size_bytes.into()).unwrap();
            (address, size_bytes)
        }),
        states: Vec::new(),
    };
    let calls = kernel
        .prepare(case, &parameters, &buffers, &mut frame)
        .unwrap();
    caller.fill(&frame).unwrap();
    let start = Instant::now();
    for arguments in &calls {
        caller.call_on(kernel.function, &frame, arguments).unwrap();
    }
    start.elapsed()
}

fn least(times: impl Iterator<Item = Duration>) -> Duration {
    times.min().unwrap()
}
