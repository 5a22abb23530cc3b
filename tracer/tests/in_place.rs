//! The depthwise convolution that goes through its channels one by one: it computes what the
//! reference kernel computes, apart and over its own input; its displacements are those that
//! execution finds; and a plan relies on it only where it is proved.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::Kind;
use dmo_analysis::graph::overlaps::{self, Sharing};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::operator::{
    DepthwiseConv2d, DepthwiseInPlace, Operator, Shape, Window, tflite_padding_before,
};
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::trace::ElementType;
use dmo_planner::budget::Budget;
use dmo_trace::kernels::{Case, KernelLibrary};
use dmo_trace::model::overlaps::{KernelOverlaps, Store, measured, of_tensors};
use dmo_trace::model::verify::{Runs, Subject, verify};
use dmo_trace::model::{Deployment, Placement};
use support::LIMITS;
use support::models::library;
use support::placed::{Placed, bytes, measure};

/// Keeps nothing.
struct Forgetful;

impl Store for Forgetful {
    fn load(&self, _: &str) -> Option<KernelOverlaps> {
        None
    }
    fn save(&self, _: &str, _: &KernelOverlaps) {}
}

fn int8(operator: Operator) -> Case {
    Case {
        operator,
        kind: Kind::of_kernels("depthwise_conv2d").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn in_place(input: Shape, output: Shape, window: Window) -> DepthwiseInPlace {
    DepthwiseInPlace {
        input,
        output,
        window,
        element_bytes: 1,
    }
}

fn reference(conv: DepthwiseInPlace) -> Case {
    int8(Operator::DepthwiseConv2d(DepthwiseConv2d {
        input: conv.input,
        output: conv.output,
        window: conv.window,
        multiplier: 1,
        element_bytes: conv.element_bytes,
    }))
}

fn sizes(conv: &DepthwiseInPlace) -> [usize; 2] {
    [conv.input, conv.output].map(|shape| shape.iter().product::<u32>() as usize)
}

/// Kernels 1x1 to 3x3 over small maps, strides 1 and 2, every padding up to 2 before.
fn small() -> Vec<DepthwiseInPlace> {
    let mut all = Vec::new();
    let pairs = |most: u32| (0..=most).flat_map(move |a| (0..=most).map(move |b| [a, b]));
    for (batches, channels) in [(1, 1), (1, 3), (2, 2)] {
        for [height, width] in pairs(1).map(|[a, b]| [2 + 2 * a, 1 + 3 * b]) {
            for kernel in pairs(1).map(|pair| pair.map(|tap| 1 + 2 * tap)) {
                for stride in pairs(1).map(|pair| pair.map(|step| 1 + step)) {
                    for padding in [[0, 0], [1, 1], [2, 0], [0, 2]] {
                        let extent = |axis: usize, input: u32| {
                            let padded = input + 2 * padding[axis];
                            (padded >= kernel[axis])
                                .then(|| (padded - kernel[axis]) / stride[axis] + 1)
                        };
                        let (Some(oh), Some(ow)) = (extent(0, height), extent(1, width)) else {
                            continue;
                        };
                        let window = Window {
                            kernel,
                            stride,
                            padding_before: padding,
                            ..Window::default()
                        };
                        all.push(in_place(
                            [batches, height, width, channels],
                            [batches, oh, ow, channels],
                            window,
                        ));
                    }
                }
            }
        }
    }
    all
}

/// What the reference kernel computes, apart and in place, by every image.
#[test]
fn computes_the_same_apart_and_in_place() {
    let plain = library("reference");
    let others = ["reference", "dsp", "dsp-channels-outside"].map(library);
    let (mut cases, mut same) = (0, 0);
    for (seed, conv) in (0..).zip(small()) {
        let [input_bytes, output_bytes] = sizes(&conv);
        let content = bytes(seed, input_bytes);
        let apart = |length: usize| {
            let mut memory = content.clone();
            memory.resize(length, 0xa5);
            memory
        };
        let behind = input_bytes as u32;
        let case = reference(conv);
        let memory = apart(input_bytes + output_bytes);
        let expected = Placed::new(&plain, &case).run(memory.clone(), &[0], behind);
        let expected = &expected[input_bytes..];
        // All images where it is cheap, one of them elsewhere.
        let some = others.iter().cycle().skip(seed as usize % 3).take(1);
        for library in some {
            let case = int8(Operator::DepthwiseInPlace(conv));
            let mut kernel = Placed::new(library, &case);
            assert_eq!(u64::from(kernel.scratch_bytes()), conv.scratch_bytes());
            let found = kernel.run(memory.clone(), &[0], behind);
            assert_eq!(&found[input_bytes..], expected, "{conv:?}");
            assert_eq!(&found[..input_bytes], content, "{conv:?}");
            cases += 1;
            if conv.is_in_place() {
                let found = kernel.run(apart(input_bytes.max(output_bytes)), &[0], 0);
                assert_eq!(&found[..output_bytes], expected, "{conv:?}");
                same += 1;
            }
        }
    }
    assert!(cases > 500 && same > 400, "{cases}, {same}");
}

/// Each displacement that the trace calls safe gives the same bytes; of the others all but a
/// few give others: what is overwritten may hold the same value.
#[test]
fn displacements_are_those_of_execution() {
    let library = library("reference");
    let window = |stride: u32| Window {
        kernel: [3, 3],
        stride: [stride; 2],
        padding_before: [1, 1],
        ..Window::default()
    };
    let (mut refuted, mut unseen) = (0, 0);
    for (conv, expected_in_place) in [
        (in_place([1, 4, 5, 3], [1, 4, 5, 3], window(1)), true),
        (in_place([1, 4, 5, 3], [1, 2, 3, 3], window(2)), true),
        (in_place([2, 4, 5, 2], [2, 2, 3, 2], window(2)), true),
        // More output than input: the first image's output lies on the second's input.
        (in_place([2, 2, 2, 2], [2, 4, 4, 2], window(1)), false),
        (in_place([1, 2, 2, 2], [1, 4, 4, 2], window(1)), true),
    ] {
        let case = int8(Operator::DepthwiseInPlace(conv));
        let [input_bytes, output_bytes] = sizes(&conv);
        let measured = measure(&library, &case, 3, LIMITS).expect("measured");
        let pair = &measured.layer.pairs[0];
        assert_eq!(pair.in_place, expected_in_place, "{conv:?}");
        let proved = measured.proofs[0].equal_in_place;
        assert_eq!(proved, expected_in_place.then_some(true), "{conv:?}");
        let by_formula = case.operator.overlap(0, 0).map(|pair| pair.bytes);
        assert_eq!(by_formula, Ok(pair.safe_overlap_bytes));
        let mut kernel = Placed::new(&library, &case);
        let content = bytes(7, input_bytes);
        let mut run = |displacement: usize| {
            let length = output_bytes.max(displacement + input_bytes);
            let mut memory = vec![0xa5; length];
            memory[displacement..displacement + input_bytes].copy_from_slice(&content);
            let mut found = kernel.run(memory, &[displacement as u32], 0);
            found.truncate(output_bytes);
            found
        };
        let expected = run(output_bytes);
        for displacement in 0..output_bytes {
            let within = |range: &dmo_analysis::profile::overlap::DisplacementRange| {
                let at = displacement as i64;
                range.from.is_none_or(|from| from <= at) && range.to.is_none_or(|to| at < to)
            };
            let safe = pair.safe_displacements.ranges.iter().any(within);
            let same = run(displacement) == expected;
            assert!(same || !safe, "{conv:?} at {displacement}");
            if same {
                unseen += usize::from(!safe);
            } else {
                refuted += 1;
            }
        }
    }
    assert!(refuted > 50 && unseen * 10 < refuted, "{refuted}, {unseen}");
}

/// MobileNet with each depthwise convolution of stride 1 computed in place: traced, planned
/// with input and output as one buffer, and verified.
#[test]
fn a_whole_network_in_place() {
    let mut graph = zoo::find("mobilenet_v1_0.25_128")
        .unwrap()
        .build(Element::Int8);
    let mut replaced = Vec::new();
    for (index, node) in graph.operators.iter_mut().enumerate() {
        let kernel = node.kernel.as_mut().unwrap();
        if let Operator::DepthwiseConv2d(conv) = kernel.operator {
            let conv = in_place(conv.input, conv.output, conv.window);
            kernel.operator = Operator::DepthwiseInPlace(conv);
            replaced.push((index, conv));
        }
    }
    assert_eq!(replaced.len(), 13);
    let library = library("reference");
    let deployment = Deployment::invented(&graph, &library, LIMITS).unwrap();
    let kernels = measured(&deployment, 2, LIMITS, &Forgetful, &|_| ()).unwrap();
    let traced = of_tensors(&deployment, &kernels);
    let analytic = overlaps::analytic(&deployment.graph);
    for (index, conv) in &replaced {
        let [scratch] = deployment.graph.operators[*index].scratch_bytes[..] else {
            panic!("no scratch memory");
        };
        assert_eq!(scratch, conv.scratch_bytes());
        assert_eq!(traced[*index], analytic[*index]);
        let same = conv.input == conv.output;
        assert_eq!(traced[*index][0].sharing == Sharing::Alias, same);
    }
    let plan = planned(&deployment, &traced);
    let plain = {
        let deployment = Deployment::invented(
            &zoo::find("mobilenet_v1_0.25_128")
                .unwrap()
                .build(Element::Int8),
            &library,
            LIMITS,
        );
        let deployment = deployment.unwrap();
        planned(&deployment, &overlaps::none(&deployment.graph)).arena_bytes
    };
    assert!(plan.arena_bytes < plain, "{} of {plain}", plan.arena_bytes);
    let mut scratch = vec![None; deployment.steps.len()];
    for buffer in &plan.arena.scratch {
        scratch[buffer.operator.0] = Some(plan.plan.offsets[buffer.buffer]);
    }
    let mut placement = Placement {
        tensors: plan.arena.tensor_offsets(&plan.plan),
        scratch,
        arena_bytes: plan.arena_bytes,
    };
    let is_safe = |placement: &Placement| {
        let subject = Subject {
            order: &plan.order,
            placement,
            keep_inputs: false,
        };
        let found = verify(&deployment, &subject, Runs::on(1, LIMITS), &|_, _| ()).unwrap();
        (found.is_safe(), found.clashes.is_empty())
    };
    assert_eq!(is_safe(&placement), (true, true));
    // Its scratch memory must lie apart: on the input it destroys channels.
    let (first, _) = replaced[0];
    placement.scratch[first] = placement.tensors[deployment.steps[first].inputs[0].0];
    assert_eq!(is_safe(&placement), (false, false));
}

fn planned(deployment: &Deployment, overlaps: &overlaps::Overlaps) -> ModelPlan {
    let task = Task {
        graph: &deployment.graph,
        overlaps,
        layout: Layout {
            alignment: 4,
            ..Layout::default()
        },
        reorder: true,
        fixed: &[],
    };
    optimise(task, &mut Budget::of_seconds(10.0), &mut |_| ()).unwrap()
}

/// The padding that TensorFlow Lite gives a layer of a model, as in the tables of the document.
#[test]
fn same_padding_is_in_place() {
    let library: KernelLibrary = library("dsp");
    for (extent, stride) in [(7, 1), (8, 1), (8, 2), (9, 2)] {
        let output = u32::div_ceil(extent, stride);
        let padding = tflite_padding_before(extent, output, 3, stride, 1);
        let window = Window {
            kernel: [3, 3],
            stride: [stride; 2],
            padding_before: [padding; 2],
            ..Window::default()
        };
        let conv = in_place([1, extent, extent, 8], [1, output, output, 8], window);
        let case = int8(Operator::DepthwiseInPlace(conv));
        let measured = measure(&library, &case, 3, LIMITS).expect("measured");
        assert_eq!(measured.proofs[0].equal_in_place, Some(true));
        assert_eq!(measured.layer.data_dependent, Some(false));
    }
}
