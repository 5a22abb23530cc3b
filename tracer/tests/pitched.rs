//! Kernels on parts of larger tensors: they compute what slice, plain kernel and paste do, touch
//! nothing between, and access what `Operator::Pitched` says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, Operator, Pad, Pitch, Pitched,
    PitchedShape, Pool2d, Shape, Window,
};
use dmo_analysis::profile::Refusal;
use dmo_analysis::profile::overlap::is_safe;
use dmo_analysis::trace::{AccessKind, ElementType};
use dmo_trace::kernels::{Case, KernelLibrary, contracts};
use dmo_trace::measure::{choose, trace};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use support::LIMITS;
use support::models::library;
use support::placed::{Placed, bytes, measure};

/// What has a pitched kernel, as [`Case::kind`], and whether in float32, too.
const KINDS: [(&str, bool); 9] = [
    ("conv2d", true),
    ("depthwise_conv2d", true),
    ("max", true),
    ("average", true),
    ("add", true),
    ("mul", true),
    ("relu", true),
    ("pad", true),
    // Unsigned and 8-bit ones have no kernel for themselves.
    ("relu6", false),
];

/// Numbers that a case is made of.
#[derive(Debug, Clone)]
struct Numbers {
    kind: usize,
    float: bool,
    /// Height, width, channels.
    extents: [u32; 3],
    /// Filters, or output channels for each input channel.
    filters: u32,
    kernel: [u32; 2],
    stride: [u32; 2],
    padding: [u32; 2],
    /// More than a row and a pixel take, of each buffer.
    gaps: [[u32; 2]; 3],
    seed: u64,
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let gap = || [0_u32..=5, 0_u32..=5];
    (
        (0..KINDS.len(), any::<bool>()),
        [1_u32..=6, 1_u32..=6, 1_u32..=9],
        1_u32..=6,
        [1_u32..=3, 1_u32..=3],
        [1_u32..=2, 1_u32..=2],
        [0_u32..=2, 0_u32..=2],
        [gap(), gap(), gap()],
        any::<u64>(),
    )
        .prop_map(
            |((kind, float), extents, filters, kernel, stride, padding, gaps, seed)| Numbers {
                kind,
                float,
                extents,
                filters,
                kernel,
                stride,
                padding,
                gaps,
                seed,
            },
        )
}

impl Numbers {
    fn element_type(&self) -> ElementType {
        let (kind, both) = KINDS[self.kind];
        if kind == "relu6" || self.float && both {
            ElementType::Float32
        } else {
            ElementType::Int8
        }
    }

    /// The operator on tensors of their own; none where a window meets no input.
    fn plain(&self) -> Option<Case> {
        let element_bytes = self.element_type().size_bytes();
        let [height, width, depth] = self.extents;
        let input = [1, height, width, depth];
        // Padding below the taps, so that each window holds an element of the input.
        let padding_before = [0, 1].map(|axis| self.padding[axis].min(self.kernel[axis] - 1));
        let window = Window {
            kernel: self.kernel,
            stride: self.stride,
            dilation: [1, 1],
            padding_before,
        };
        let extent = |axis: usize| {
            let padded = input[axis + 1] + 2 * padding_before[axis];
            let rest = padded.checked_sub(self.kernel[axis])?;
            Some(rest / self.stride[axis] + 1)
        };
        let output = |depth: u32| Some([1, extent(0)?, extent(1)?, depth]);
        let kind = KINDS[self.kind].0;
        let operator = match kind {
            "conv2d" => Operator::Conv2d(Conv2d {
                input,
                output: output(self.filters)?,
                window,
                groups: 1,
                element_bytes,
            }),
            "depthwise_conv2d" => {
                let multiplier = 1 + self.filters % 2;
                Operator::DepthwiseConv2d(DepthwiseConv2d {
                    input,
                    output: output(depth * multiplier)?,
                    window,
                    multiplier,
                    element_bytes,
                })
            }
            "max" | "average" => Operator::Pool2d(Pool2d {
                input,
                output: output(depth)?,
                window,
                element_bytes,
            }),
            "add" | "mul" => Operator::ElementwiseBinary(ElementwiseBinary {
                inputs: [input; 2],
                output: input,
                input_element_bytes: [element_bytes; 2],
                output_element_bytes: element_bytes,
            }),
            "pad" => {
                let [above, left] = self.padding;
                let before = [0, above, left, self.filters % 3];
                let after = [0, self.filters % 2, 1, 0];
                Operator::Pad(Pad {
                    input,
                    before,
                    output: std::array::from_fn(|axis| before[axis] + input[axis] + after[axis]),
                    element_bytes,
                })
            }
            _ => Operator::Elementwise(Elementwise {
                elements: input.iter().product(),
                input_element_bytes: element_bytes,
                output_element_bytes: element_bytes,
            }),
        };
        Some(Case {
            operator,
            kind: Kind::of_kernels(kind).unwrap(),
            input_type: self.element_type(),
            output_type: self.element_type(),
        })
    }

    fn pitched(&self, plain: &Case) -> Pitched {
        let [height, width, depth] = self.extents;
        let shape = match plain.operator {
            Operator::Elementwise(_) => Some([1, height, width, depth]),
            _ => None,
        };
        let buffers = plain.operator.buffers().unwrap();
        let mut gaps = self.gaps.iter();
        let mut pitch = |given: Shape| {
            let [_, _, width, depth] = shape.unwrap_or(given);
            let &[row, pixel] = gaps.next()?;
            let pixel = depth + pixel;
            Some(Pitch {
                row: (width - 1) * pixel + depth + row,
                pixel,
            })
        };
        Pitched {
            operator: Box::new(plain.operator.clone()),
            shape,
            inputs: buffers.inputs.iter().map(|it| pitch(it.shape)).collect(),
            outputs: buffers.outputs.iter().map(|it| pitch(it.shape)).collect(),
        }
    }
}

/// Content that is no NaN in float32.
fn content(seed: u64, size_bytes: usize, element_type: ElementType) -> Vec<u8> {
    match element_type {
        ElementType::Float32 => bytes(seed, size_bytes / 4)
            .into_iter()
            .flat_map(|byte| (f32::from(byte as i8) / 8.0).to_le_bytes())
            .collect(),
        _ => bytes(seed, size_bytes),
    }
}

/// Where the bytes of each pixel lie: in a tensor of its own, and in the view.
fn pixels(view: &PitchedShape, element_bytes: u32) -> Vec<(usize, usize, usize)> {
    let [_, height, width, depth] = view.shape;
    let mut all = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let dense = (y * width + x) * depth;
            let spread = y * view.pitch.row + x * view.pitch.pixel;
            let bytes = [dense, spread, depth].map(|elements| (elements * element_bytes) as usize);
            all.push((bytes[0], bytes[1], bytes[2]));
        }
    }
    all
}

fn libraries() -> &'static [(&'static str, KernelLibrary)] {
    static LIBRARIES: OnceLock<Vec<(&str, KernelLibrary)>> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        ["reference", "dsp", "dsp-channels-outside"]
            .map(|set| (set, library(set)))
            .into()
    })
}

/// Slice, plain kernel and paste, against the pitched kernel, in one memory.
fn check_computation(numbers: &Numbers, set: usize) -> Option<&'static str> {
    let plain = numbers.plain()?;
    let (set, library) = &libraries()[set];
    let pitched = numbers.pitched(&plain);
    let case = Case {
        operator: Operator::Pitched(pitched.clone()),
        ..plain.clone()
    };
    // The sets with the DSP extension have kernels of 8 bits.
    let function = choose(library, &case, None).ok()?.function;
    let element_bytes = plain.input_type.size_bytes();
    let views = [
        pitched.input_views().unwrap(),
        pitched.output_views().unwrap(),
    ]
    .concat();
    let extents = case.operator.buffers().unwrap();
    let buffers = extents.inputs.iter().chain(&extents.outputs);
    // One after the other, each after something else.
    let mut offsets = Vec::new();
    let mut length = 4 * (numbers.seed % 5) as u32;
    for buffer in buffers {
        offsets.push(length);
        length += buffer.size_bytes().next_multiple_of(4) + 8;
    }
    let before = content(numbers.seed, length as usize, plain.input_type);
    let (inputs, output) = offsets.split_at(offsets.len() - 1);

    let mut dense = Vec::new();
    let mut dense_offsets = Vec::new();
    for (view, &offset) in views.iter().zip(&offsets) {
        dense_offsets.push(dense.len() as u32);
        for (_, spread, size) in pixels(view, element_bytes) {
            let at = offset as usize + spread;
            dense.extend_from_slice(&before[at..at + size]);
        }
        dense.resize(dense.len().next_multiple_of(4), 0);
    }
    let dense_output = dense_offsets.pop().unwrap();
    let computed = Placed::new(&libraries()[0].1, &plain).run(dense, &dense_offsets, dense_output);
    let mut expected = before.clone();
    for (from, spread, size) in pixels(views.last().unwrap(), element_bytes) {
        let (from, to) = (dense_output as usize + from, output[0] as usize + spread);
        expected[to..to + size].copy_from_slice(&computed[from..from + size]);
    }
    let found = Placed::new(library, &case).run(before, inputs, output[0]);
    assert_eq!(found, expected, "{set}: {function}");
    Some(function)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slice_compute_paste(numbers in numbers(), set in 0_usize..3) {
        check_computation(&numbers, set);
    }

    /// Every byte that is loaded or stored, and all displacements, of the reference kernels.
    #[test]
    fn traces_are_those_of_the_operator(numbers in numbers()) {
        let Some(plain) = numbers.plain() else { return Ok(()) };
        let case = Case { operator: Operator::Pitched(numbers.pitched(&plain)), ..plain };
        let library = &libraries()[0].1;
        let kernel = choose(library, &case, None).unwrap();
        let layer = trace(library, &case, kernel, LIMITS).unwrap();
        let buffers = case.operator.buffers().unwrap();
        let size = case.input_type.size_bytes();
        let [mut loads, mut stores] = [
            (&buffers.inputs, 0_u32), (&buffers.outputs, u32::MAX),
        ].map(|(buffers, never)| buffers.iter().map(|buffer| {
            vec![never; buffer.size_bytes() as usize]
        }).collect::<Vec<_>>());
        let mut time = 0;
        case.operator.accesses(|kind, index, element| {
            time += 1;
            for byte in element * size..(element + 1) * size {
                match kind {
                    AccessKind::Load => loads[index][byte as usize] = time,
                    AccessKind::Store => {
                        let first = &mut stores[index][byte as usize];
                        *first = time.min(*first);
                    }
                }
            }
        }).unwrap();
        let count = |bytes: &[u32], never: u32| bytes.iter().filter(|&&it| it == never).count() as u64;
        let displacements = case.operator.traced_displacements().unwrap();
        for (index, pair) in layer.pairs.iter().enumerate() {
            let (input, output) = (&layer.tensors[pair.input], &layer.tensors[pair.output]);
            prop_assert_eq!(input.never_loaded_bytes, count(&loads[index], 0));
            prop_assert_eq!(output.never_stored_bytes, count(&stores[0], u32::MAX));
            prop_assert_eq!(input.stores, 0);
            let Some(displacement) = displacements[index] else { continue };
            prop_assert_eq!(pair.displacement_bytes, displacement);
            let [below, above] = [input, output].map(|it| i64::from(it.tensor.size_bytes));
            for displacement in -below..=above {
                let safe = pair.safe_displacements.ranges.iter().any(|range| {
                    range.from.is_none_or(|from| from <= displacement)
                        && range.to.is_none_or(|to| displacement < to)
                });
                let expected = is_safe(&loads[index], &stores[0], displacement);
                prop_assert_eq!(safe, expected, "at {}", displacement);
            }
        }
    }
}

/// The cases above reach every kernel that is meant for parts of tensors, and with an output
/// that has gaps none is granted any overlap.
#[test]
fn every_pitched_kernel_is_run() {
    let mut seen = BTreeSet::new();
    for set in 0..libraries().len() {
        for (kind, (name, _)) in KINDS.into_iter().enumerate() {
            for (float, depth) in [(false, 8), (false, 3), (true, 4)] {
                let numbers = Numbers {
                    kind,
                    float,
                    extents: [5, 6, depth],
                    filters: 5,
                    kernel: [3, 3],
                    stride: [1, 1],
                    padding: [1, 1],
                    gaps: [[3, 2], [1, 4], [2, 1]],
                    seed: 11,
                };
                seen.extend(check_computation(&numbers, set));
                let wide = Numbers {
                    kernel: [1, 1],
                    padding: [0, 0],
                    filters: 40,
                    ..numbers.clone()
                };
                seen.extend(check_computation(&wide, set));
                let grouped = set == 1 && !float && name == "conv2d";
                if grouped {
                    refused(&numbers, &libraries()[set].1);
                }
            }
        }
    }
    let all: BTreeSet<&str> = contracts()
        .map(|contract| contract.function)
        .filter(|name| name.contains("pitched"))
        .collect();
    // Those of the sets with the DSP extension are preferred there, and the reference ones
    // in the other set.
    assert_eq!(seen, all);
    assert_eq!(all.len(), 18);
}

/// Bytes between the elements of an output are left as they were.
fn refused(numbers: &Numbers, library: &KernelLibrary) {
    let plain = numbers.plain().unwrap();
    let case = Case {
        operator: Operator::Pitched(numbers.pitched(&plain)),
        ..plain
    };
    let measured = measure(library, &case, 2, LIMITS).unwrap();
    let pair = &measured.layer.pairs[0];
    assert!(pair.refusals.contains(&Refusal::LeavesOldOutput));
    assert_eq!((pair.safe_overlap_bytes, pair.in_place), (0, false));
}
