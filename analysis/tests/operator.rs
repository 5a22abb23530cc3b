//! O_s by formula, by accesses, by execution, as published; and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "operator/absurd.rs"]
mod absurd;
#[path = "operator/first_pair.rs"]
mod first_pair;
#[path = "operator/formulas.rs"]
mod formulas;
#[path = "operator/move_shapes.rs"]
mod move_shapes;
#[path = "operator/moves.rs"]
mod moves;
#[path = "operator/pitched.rs"]
mod pitched;
#[path = "operator/published.rs"]
mod published;
#[path = "operator/refusals.rs"]
mod refusals;
#[path = "operator/shadow.rs"]
mod shadow;
#[path = "operator/shapes.rs"]
mod shapes;

use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, Operator, Shape, Window, tflite_padding_before,
};
use first_pair::FirstPair;

/// A window with the padding that TensorFlow Lite gives it.
fn tflite_window(
    input: Shape,
    output: Shape,
    kernel: [u32; 2],
    stride: [u32; 2],
    dilation: [u32; 2],
) -> Window {
    let padding = |axis: usize| {
        tflite_padding_before(
            input[axis + 1],
            output[axis + 1],
            kernel[axis],
            stride[axis],
            dilation[axis],
        )
    };
    Window {
        kernel,
        stride,
        dilation,
        padding_before: [padding(0), padding(1)],
    }
}

fn conv(input: Shape, output: Shape, kernel: u32, stride: u32, element_bytes: u32) -> Operator {
    Operator::Conv2d(Conv2d {
        input,
        output,
        window: tflite_window(input, output, [kernel; 2], [stride; 2], [1; 2]),
        groups: 1,
        element_bytes,
    })
}

fn depthwise(input: Shape, output: Shape, stride: u32, element_bytes: u32) -> Operator {
    Operator::DepthwiseConv2d(DepthwiseConv2d {
        input,
        output,
        window: tflite_window(input, output, [3, 3], [stride; 2], [1; 2]),
        multiplier: output[3] / input[3],
        element_bytes,
    })
}

/// Published and separately established values.
#[test]
fn known_layers() {
    for (name, operator, expected) in [
        (
            "MobileNet v2: depthwise 3x3, stride 2, float32",
            depthwise([1, 112, 112, 96], [1, 56, 56, 96], 2, 4),
            1_204_224,
        ),
        (
            "Inception ResNet v2: conv 3x3 SAME, float32",
            conv([1, 147, 147, 32], [1, 147, 147, 64], 3, 1, 4),
            2_746_884,
        ),
        (
            "MobileNet v1: conv 1x1, float32",
            conv([1, 112, 112, 32], [1, 112, 112, 64], 1, 1, 4),
            1_605_508,
        ),
        (
            "ResNet of MLPerf Tiny: 1x1 shortcut, stride 2, int8",
            conv([1, 32, 32, 16], [1, 16, 16, 32], 1, 2, 1),
            8161,
        ),
        (
            "the worked example of docs/formulas.md",
            conv([1, 1, 4, 2], [1, 1, 4, 3], 1, 1, 1),
            7,
        ),
    ] {
        assert_eq!(operator.safe_overlap(), Ok(expected), "{name}");
    }
    // The smaller two, step by step as well.
    let shortcut = conv([1, 32, 32, 16], [1, 16, 16, 32], 1, 2, 1);
    assert_eq!(shortcut.traced_overlap(), Ok(8161));
    let depthwise = depthwise([1, 112, 112, 96], [1, 56, 56, 96], 2, 4);
    assert_eq!(depthwise.traced_overlap(), Ok(1_204_224));
}

#[test]
fn padding_of_tflite() {
    assert_eq!(tflite_padding_before(112, 56, 3, 2, 1), 0);
    assert_eq!(tflite_padding_before(147, 147, 3, 1, 1), 1);
    assert_eq!(tflite_padding_before(32, 16, 1, 2, 1), 0);
    assert_eq!(tflite_padding_before(10, 10, 3, 1, 2), 2);
    assert_eq!(
        tflite_padding_before(1, u32::MAX, u32::MAX, u32::MAX, 1),
        u32::MAX
    );
}
