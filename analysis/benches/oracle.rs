//! How many candidates of an architecture search the oracle answers.
//!
//! `cargo bench -p dmo-analysis --bench oracle`. Aim: 1,000 networks of the size of MobileNet v1 a
//! second on one core, each of them another one; `ask` and `ask_after_one_change` answer
//! [`CANDIDATES`] of them an iteration.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may fail loudly")]

use divan::Bencher;
use divan::counter::ItemsCount;
use dmo_analysis::graph::sketch::{Sketch, Step};
use dmo_analysis::graph::{Graph, Kind, TensorId, TensorType};
use dmo_analysis::operator::{Conv2d, DepthwiseConv2d, Operator, Pool2d, Window};
use dmo_analysis::oracle::Oracle;
use dmo_analysis::random::SplitMix64;

fn main() {
    divan::main();
}

const CANDIDATES: usize = 100;

/// A network under construction and its last tensor.
struct Chain {
    sketch: Sketch,
    last: TensorId,
    shape: [u32; 4],
}

impl Chain {
    fn new(resolution: u32) -> Self {
        let shape = [1, resolution, resolution, 3];
        let mut sketch = Sketch::new("candidate");
        let last = sketch.input("image", &shape, TensorType::Int8).unwrap();
        Self {
            sketch,
            last,
            shape,
        }
    }

    fn add(&mut self, kind: Kind, output: [u32; 4], operator: Operator) {
        let step = Step {
            kind,
            operator,
            inputs: &[self.last],
            output_type: TensorType::Int8,
        };
        self.last = self.sketch.add(step).unwrap()[0];
        self.shape = output;
    }

    fn conv(&mut self, channels: u32, kernel: u32, stride: u32) {
        let input = self.shape;
        let output = [
            1,
            input[1].div_ceil(stride),
            input[2].div_ceil(stride),
            channels,
        ];
        let operator = Operator::Conv2d(Conv2d {
            input,
            output,
            window: window(kernel, stride),
            groups: 1,
            element_bytes: 1,
        });
        self.add(Kind::Conv2d, output, operator);
    }

    fn depthwise(&mut self, stride: u32) {
        let input = self.shape;
        let output = [
            1,
            input[1].div_ceil(stride),
            input[2].div_ceil(stride),
            input[3],
        ];
        let operator = Operator::DepthwiseConv2d(DepthwiseConv2d {
            input,
            output,
            window: window(3, stride),
            multiplier: 1,
            element_bytes: 1,
        });
        self.add(Kind::DepthwiseConv2d, output, operator);
    }

    fn finish(mut self) -> Graph {
        let input = self.shape;
        let output = [1, 1, 1, input[3]];
        let operator = Operator::Pool2d(Pool2d {
            input,
            output,
            window: Window {
                kernel: [input[1], input[2]],
                ..Window::default()
            },
            element_bytes: 1,
        });
        self.add(Kind::AveragePool2d, output, operator);
        self.conv(10, 1, 1);
        self.sketch.finish(&[self.last]).unwrap()
    }
}

/// Padded as `same` where the map has an even size.
fn window(kernel: u32, stride: u32) -> Window {
    Window {
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding_before: [(kernel - 1) / 2 / stride; 2],
        ..Window::default()
    }
}

/// A MobileNet v1 of these widths: stem and 13 blocks.
fn mobilenet(resolution: u32, widths: &[u32; 14]) -> Graph {
    let mut chain = Chain::new(resolution);
    chain.conv(widths[0], 3, 2);
    for (block, &width) in widths.iter().enumerate().skip(1) {
        let stride = if [2, 4, 6, 12].contains(&block) { 2 } else { 1 };
        chain.depthwise(stride);
        chain.conv(width, 1, 1);
    }
    chain.finish()
}

fn below(random: &mut SplitMix64, most: usize) -> u32 {
    random.below(most) as u32
}

fn candidates() -> Vec<Graph> {
    let mut random = SplitMix64::new(1);
    let candidate = |_| {
        let mut widths = [0; 14];
        for (index, width) in widths.iter_mut().enumerate() {
            *width = 8 * (1 + below(&mut random, 2 + 2 * index));
        }
        mobilenet(96 + 32 * below(&mut random, 5), &widths)
    };
    (0..CANDIDATES).map(candidate).collect()
}

/// Each of which differs in one width from the one before.
fn changes() -> Vec<Graph> {
    let mut random = SplitMix64::new(2);
    let mut widths = [
        8, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256,
    ];
    let change = |_| {
        let changed = random.below(widths.len());
        widths[changed] = 8 * (1 + below(&mut random, 2 + 2 * changed));
        mobilenet(128, &widths)
    };
    (0..CANDIDATES).map(change).collect()
}

#[divan::bench]
fn ask(bencher: Bencher<'_, '_>) {
    let graphs = candidates();
    let bencher = bencher.counter(ItemsCount::new(graphs.len()));
    bencher.bench(|| {
        let mut oracle = Oracle::default();
        let needs = graphs.iter().map(|graph| oracle.ask(graph).unwrap());
        needs.map(|needs| needs.peak_bytes).sum::<u64>()
    });
}

#[divan::bench]
fn ask_after_one_change(bencher: Bencher<'_, '_>) {
    let graphs = changes();
    let bencher = bencher.counter(ItemsCount::new(graphs.len()));
    bencher.bench(|| {
        let mut oracle = Oracle::default();
        let needs = graphs.iter().map(|graph| oracle.ask(graph).unwrap());
        needs.map(|needs| needs.peak_bytes).sum::<u64>()
    });
}
