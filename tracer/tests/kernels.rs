//! Every kernel that the tool brings along can be called, and is called by a regression grid;
//! kernels of different sets compute the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, ElementwiseBinary, FullyConnected, Operator, Pad, Pool2d,
    Reshape, Softmax, Svdf, Transpose, Window,
};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::{DEFAULT_RAM, Library};
use dmo_trace::kernels::images::IMAGES;
use dmo_trace::kernels::{Case, functions};
use dmo_trace::measure::{choose, outputs};
use std::collections::BTreeSet;
use std::path::Path;
use support::LIMITS;

/// They work in one buffer, so that there is nothing to overlap.
const IN_PLACE: [&str; 2] = ["arm_relu6_s8", "arm_relu_q7"];

/// Kernels of all images, by the prefixes of the two interfaces.
fn kernels() -> BTreeSet<String> {
    IMAGES
        .iter()
        .flat_map(|image| {
            let library = Library::new(image.elf, None, DEFAULT_RAM).expect(image.set);
            let names = library.image().symbols.functions();
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|name| name.starts_with("dmo_") || name.starts_with("arm_"))
        .collect()
}

#[test]
fn every_kernel_has_a_contract() {
    let called: BTreeSet<&str> = functions().chain(IN_PLACE).collect();
    let kernels = kernels();
    let kernels: BTreeSet<&str> = kernels.iter().map(String::as_str).collect();
    assert_eq!(kernels.difference(&called).collect::<Vec<_>>(), [&""; 0]);
    assert_eq!(called.difference(&kernels).collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn every_kernel_is_in_a_table() {
    let mut listed = BTreeSet::new();
    for table in ["reference", "dsp", "dsp-channels-outside"] {
        let path = format!("../traces/overlaps/{table}.csv");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(path).expect("table");
        for line in text.lines().skip(1) {
            listed.insert(line.split(',').nth(3).expect("kernel").to_owned());
        }
    }
    let kernels = kernels();
    let missing: Vec<&String> = kernels
        .difference(&listed)
        .filter(|name| !IN_PLACE.contains(&name.as_str()))
        .filter(|name| !name.ends_with("_get_buffer_size") && !name.ends_with("_scratch_bytes"))
        .collect();
    assert_eq!(missing, [""; 0]);
}

fn int8(kind: &'static str, operator: Operator) -> Case {
    Case {
        operator,
        kind,
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

/// One or a few cases for each function with the CMSIS-NN interface, and the reference kernel
/// that it is bit-exact with.
fn shared_cases() -> Vec<(&'static str, &'static str, Case)> {
    let window = Window {
        kernel: [3, 3],
        padding_before: [1, 1],
        ..Window::default()
    };
    let strided = Window {
        stride: [2, 2],
        ..window
    };
    let conv = |input: [u32; 4], output, window, groups| {
        int8(
            "conv2d",
            Operator::Conv2d(Conv2d {
                input,
                output,
                window,
                groups,
                element_bytes: 1,
            }),
        )
    };
    let depthwise = |depth: u32, multiplier: u32| {
        int8(
            "depthwise_conv2d",
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: [2, 5, 6, depth],
                output: [2, 5, 6, depth * multiplier],
                window,
                multiplier,
                element_bytes: 1,
            }),
        )
    };
    let point = Window::default();
    let row = Window {
        kernel: [1, 3],
        padding_before: [0, 1],
        ..point
    };
    let pool = |kind| {
        let pool = Pool2d {
            input: [2, 6, 7, 5],
            output: [2, 3, 4, 5],
            window: strided,
            element_bytes: 1,
        };
        int8(kind, Operator::Pool2d(pool))
    };
    let binary = |kind| {
        let shape = [1, 3, 4, 7];
        let binary = ElementwiseBinary {
            inputs: [shape, shape],
            output: shape,
            input_element_bytes: [1, 1],
            output_element_bytes: 1,
        };
        int8(kind, Operator::ElementwiseBinary(binary))
    };
    let concat = |axis: u32| {
        let mut second = [2, 3, 4, 5];
        second[axis as usize] += 2;
        let concat = Concat {
            inputs: vec![[2, 3, 4, 5], second, [2, 3, 4, 5]],
            axis,
            element_bytes: 1,
        };
        int8("concat", Operator::Concat(concat))
    };
    let svdf = |rank| {
        let svdf = Svdf {
            batches: 2,
            input_depth: 9,
            units: 6,
            rank,
            input_element_bytes: 1,
            output_element_bytes: 1,
        };
        int8("svdf", Operator::Svdf(svdf))
    };
    vec![
        (
            "arm_convolve_wrapper_s8",
            "dmo_conv2d_s8",
            conv([2, 6, 7, 5], [2, 3, 4, 6], strided, 1),
        ),
        (
            "arm_convolve_wrapper_s8",
            "dmo_conv2d_s8",
            conv([1, 6, 7, 8], [1, 6, 7, 6], window, 2),
        ),
        (
            "arm_convolve_s8",
            "dmo_conv2d_s8",
            conv([1, 6, 7, 5], [1, 6, 7, 3], window, 1),
        ),
        (
            "arm_convolve_1x1_s8_fast",
            "dmo_conv2d_s8",
            conv([1, 6, 7, 5], [1, 6, 7, 9], point, 1),
        ),
        (
            "arm_convolve_1x1_s8",
            "dmo_conv2d_s8",
            conv([2, 3, 7, 5], [2, 3, 7, 9], point, 1),
        ),
        (
            "arm_convolve_1_x_n_s8",
            "dmo_conv2d_s8",
            conv([2, 1, 9, 4], [2, 1, 9, 6], row, 1),
        ),
        (
            "arm_depthwise_conv_wrapper_s8",
            "dmo_depthwise_conv2d_s8",
            depthwise(4, 3),
        ),
        (
            "arm_depthwise_conv_s8",
            "dmo_depthwise_conv2d_s8",
            depthwise(5, 2),
        ),
        (
            "arm_depthwise_conv_s8_opt",
            "dmo_depthwise_conv2d_s8",
            depthwise(6, 1),
        ),
        (
            "arm_depthwise_conv_3x3_s8",
            "dmo_depthwise_conv2d_s8",
            depthwise(7, 1),
        ),
        (
            "arm_fully_connected_s8",
            "dmo_fully_connected_s8",
            int8(
                "fully_connected",
                Operator::FullyConnected(FullyConnected {
                    batches: 3,
                    input_depth: 21,
                    output_depth: 10,
                    element_bytes: 1,
                }),
            ),
        ),
        ("arm_max_pool_s8", "dmo_max_pool_s8", pool("max")),
        ("arm_avgpool_s8", "dmo_avg_pool_s8", pool("average")),
        (
            "arm_softmax_s8",
            "dmo_softmax_s8",
            int8(
                "softmax",
                Operator::Softmax(Softmax {
                    rows: 3,
                    depth: 11,
                    input_element_bytes: 1,
                    output_element_bytes: 1,
                }),
            ),
        ),
        ("arm_elementwise_add_s8", "dmo_add_s8", binary("add")),
        ("arm_elementwise_mul_s8", "dmo_mul_s8", binary("mul")),
        ("arm_concatenation_s8_x", "dmo_concat", concat(3)),
        ("arm_concatenation_s8_y", "dmo_concat_s8", concat(2)),
        ("arm_concatenation_s8_z", "dmo_concat", concat(1)),
        ("arm_concatenation_s8_w", "dmo_concat", concat(0)),
        (
            "arm_pad_s8",
            "dmo_pad_s8",
            int8(
                "pad",
                Operator::Pad(Pad {
                    input: [1, 3, 4, 2],
                    before: [0, 1, 2, 1],
                    output: [1, 6, 7, 5],
                    element_bytes: 1,
                }),
            ),
        ),
        (
            "arm_reshape_s8",
            "dmo_reshape_s8",
            int8(
                "reshape",
                Operator::Reshape(Reshape {
                    elements: 77,
                    element_bytes: 1,
                }),
            ),
        ),
        (
            "arm_transpose_s8",
            "dmo_transpose",
            int8(
                "transpose",
                Operator::Transpose(Transpose {
                    input: [2, 3, 4, 5],
                    permutation: [3, 0, 2, 1],
                    element_bytes: 1,
                }),
            ),
        ),
        ("arm_svdf_s8", "dmo_svdf_s8_state_s8", svdf(1)),
        ("arm_svdf_s8", "dmo_svdf_s8_state_s8", svdf(2)),
    ]
}

/// A contract with a wrong argument would compute something else.
#[test]
fn sets_compute_the_same() {
    let library = |set: &str| {
        let image = IMAGES.iter().find(|image| image.set == set).expect(set);
        Library::new(image.elf, None, DEFAULT_RAM).expect(set)
    };
    let reference = library("reference");
    let output_of = |library: &Library, function: &str, case: &Case| {
        let kernel = choose(library, case, Some(function)).expect(function);
        outputs(library, case, kernel, 0, LIMITS).expect(function)
    };
    let mut seen = BTreeSet::from(IN_PLACE.map(str::to_owned));
    for set in ["dsp", "dsp-channels-outside"] {
        let dsp = library(set);
        for (function, model, case) in shared_cases() {
            let expected = output_of(&reference, model, &case);
            let found = output_of(&dsp, function, &case);
            assert_eq!(found, expected, "{set}: {function}");
            // Where all values are equal or clamped, nothing has been compared.
            let values: BTreeSet<&u8> = found.iter().collect();
            assert!(values.len() > 5, "{function} gives {values:?}");
            seen.insert(function.to_owned());
        }
    }
    let kernels = kernels();
    let unseen: Vec<&String> = kernels
        .difference(&seen)
        .filter(|name| name.starts_with("arm_") && !name.ends_with("_get_buffer_size"))
        .collect();
    assert_eq!(unseen, [""; 0]);
}
