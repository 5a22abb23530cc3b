//! O_s by formula against O_s from the accesses one by one.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, Elementwise, FullyConnected, Operator, Pool2d, Shape, ShapeError,
    Softmax, Window, tflite_padding_before,
};
use dmo_analysis::overlap::{Access, Sweep, overlap_bytes};
use dmo_analysis::trace::{AccessKind, Address};
use proptest::prelude::*;

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

fn extents(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = [u32; 2]> {
    [range.clone(), range]
}

/// Windows of all sorts, also such as no model has: outputs beyond the input, paddings
/// larger than the kernel.
fn window() -> impl Strategy<Value = Window> {
    let dilation = prop_oneof![3 => Just([1, 1]), 1 => extents(1..=4)];
    (extents(1..=4), extents(1..=4), dilation, extents(0..=5)).prop_map(
        |(kernel, stride, dilation, padding_before)| Window {
            kernel,
            stride,
            dilation,
            padding_before,
        },
    )
}

/// Batches, height and width of the input, height and width of the output.
fn pixels() -> impl Strategy<Value = (u32, [u32; 2], [u32; 2])> {
    (1_u32..=3, extents(1..=6), extents(1..=6))
}

fn element_bytes() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1, 2, 4, 8])
}

fn shape(batches: u32, [height, width]: [u32; 2], depth: u32) -> Shape {
    [batches, height, width, depth]
}

fn operator() -> impl Strategy<Value = Operator> {
    let conv = (
        pixels(),
        window(),
        1_u32..=3,
        1_u32..=3,
        1_u32..=3,
        element_bytes(),
    )
        .prop_map(
            |((batches, input, output), window, groups, inputs, outputs, element_bytes)| {
                Operator::Conv2d(Conv2d {
                    input: shape(batches, input, groups * inputs),
                    output: shape(batches, output, groups * outputs),
                    window,
                    groups,
                    element_bytes,
                })
            },
        );
    let depthwise = (pixels(), window(), 1_u32..=4, 1_u32..=3, element_bytes()).prop_map(
        |((batches, input, output), window, depth, multiplier, element_bytes)| {
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: shape(batches, input, depth),
                output: shape(batches, output, depth * multiplier),
                window,
                multiplier,
                element_bytes,
            })
        },
    );
    let pool = (pixels(), window(), 1_u32..=4, element_bytes()).prop_map(
        |((batches, input, output), window, depth, element_bytes)| {
            Operator::Pool2d(Pool2d {
                input: shape(batches, input, depth),
                output: shape(batches, output, depth),
                window,
                element_bytes,
            })
        },
    );
    let fully_connected = (1_u32..=5, 1_u32..=9, 1_u32..=9, element_bytes()).prop_map(
        |(batches, input_depth, output_depth, element_bytes)| {
            Operator::FullyConnected(FullyConnected {
                batches,
                input_depth,
                output_depth,
                element_bytes,
            })
        },
    );
    let elementwise = (1_u32..=40, element_bytes(), element_bytes()).prop_map(
        |(elements, input_element_bytes, output_element_bytes)| {
            Operator::Elementwise(Elementwise {
                elements,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let softmax = (1_u32..=6, 1_u32..=9, element_bytes(), element_bytes()).prop_map(
        |(rows, depth, input_element_bytes, output_element_bytes)| {
            Operator::Softmax(Softmax {
                rows,
                depth,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    prop_oneof![
        8 => conv,
        6 => depthwise,
        4 => pool,
        1 => fully_connected,
        1 => elementwise,
        1 => softmax,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formula_equals_accesses(operator in operator()) {
        prop_assert_eq!(operator.displacement(), operator.traced_displacement());
        prop_assert_eq!(operator.safe_overlap(), operator.traced_overlap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The accesses through the sweep that traces go through.
    #[test]
    fn formula_equals_sweep(operator in operator()) {
        let (input_bytes, output_bytes) = operator.buffer_bytes().unwrap();
        let (mut sweep, mut time, mut loads) = (Sweep::default(), 0, 0);
        operator.accesses(|kind, offset, size_bytes| {
            time += 1;
            let access = Access { pc: Address(0), time, offset, size_bytes };
            match kind {
                AccessKind::Load => {
                    loads += 1;
                    assert!(offset + size_bytes <= input_bytes);
                    sweep.load(access);
                }
                AccessKind::Store => {
                    assert!(offset + size_bytes <= output_bytes);
                    sweep.store(access);
                }
            }
        }).unwrap();
        let swept = overlap_bytes(sweep.displacement(), input_bytes, output_bytes);
        prop_assert_eq!(operator.safe_overlap().unwrap(), if loads == 0 { 0 } else { swept });
    }
}

/// Every window on one axis with all small extents: what the formula for one axis
/// turns on.
#[test]
fn all_small_windows_on_one_axis() {
    let mut shapes = 0;
    for (input, output) in (1..=5).flat_map(|input| (1..=5).map(move |output| (input, output))) {
        for (kernel, stride) in
            (1..=4).flat_map(|kernel| (1..=4).map(move |stride| (kernel, stride)))
        {
            for (dilation, padding) in
                (1..=3).flat_map(|dilation| (0..=4).map(move |padding| (dilation, padding)))
            {
                for (inputs, outputs) in [(1, 1), (2, 1), (1, 2), (3, 2)] {
                    let operator = Operator::Conv2d(Conv2d {
                        input: [1, input, 1, inputs],
                        output: [1, output, 1, outputs],
                        window: Window {
                            kernel: [kernel, 1],
                            stride: [stride, 1],
                            dilation: [dilation, 1],
                            padding_before: [padding, 0],
                        },
                        groups: 1,
                        element_bytes: 1,
                    });
                    assert_eq!(
                        operator.displacement(),
                        operator.traced_displacement(),
                        "{operator:?}"
                    );
                    shapes += 1;
                }
            }
        }
    }
    assert_eq!(shapes, 24_000);
}

#[test]
fn no_valid_tap_is_no_overlap() {
    // Two taps four apart around a map of one element: both miss it.
    let operator = Operator::Pool2d(Pool2d {
        input: [1, 1, 1, 1],
        output: [1, 1, 1, 1],
        window: Window {
            kernel: [2, 1],
            dilation: [4, 1],
            padding_before: [2, 0],
            ..Window::default()
        },
        element_bytes: 1,
    });
    assert_eq!(operator.displacement(), Ok(None));
    assert_eq!(operator.safe_overlap(), Ok(0));
    assert_eq!(operator.traced_overlap(), Ok(0));
}

#[test]
fn nonsense_is_refused() {
    let good = Conv2d {
        input: [1, 4, 4, 4],
        output: [1, 4, 4, 8],
        window: Window::default(),
        groups: 2,
        element_bytes: 1,
    };
    let window = |window| Conv2d { window, ..good };
    let huge = [1, 1 << 16, 1 << 14, 4];
    let cases = [
        (
            Conv2d {
                input: [1, 0, 4, 4],
                ..good
            },
            "the input is 0 or has an extent of 0, expected at least 1",
        ),
        (
            Conv2d { groups: 0, ..good },
            "the number of groups is 0 or has an extent of 0, expected at least 1",
        ),
        (
            Conv2d { groups: 3, ..good },
            "the input's depth is 4, which 3 groups do not divide",
        ),
        (
            Conv2d {
                output: [1, 4, 4, 5],
                ..good
            },
            "the output's depth is 5, which 2 groups do not divide",
        ),
        (
            Conv2d {
                output: [2, 4, 4, 8],
                ..good
            },
            "the output's batch is 2, expected 1 (that of the input)",
        ),
        (
            Conv2d {
                element_bytes: 3,
                ..good
            },
            "elements of the input have 3 bytes, expected 1, 2, 4 or 8",
        ),
        (
            Conv2d {
                input: huge,
                ..good
            },
            "the input [1, 65536, 16384, 4] with 1 bytes per element does not fit in 32-bit addresses",
        ),
        (
            window(Window {
                kernel: [0, 1],
                ..Window::default()
            }),
            "the kernel is 0 or has an extent of 0, expected at least 1",
        ),
        (
            window(Window {
                stride: [1, 0],
                ..Window::default()
            }),
            "the stride is 0 or has an extent of 0, expected at least 1",
        ),
        (
            window(Window {
                dilation: [0, 1],
                ..Window::default()
            }),
            "the dilation is 0 or has an extent of 0, expected at least 1",
        ),
        (
            window(Window {
                padding_before: [70_000, 0],
                ..Window::default()
            }),
            "the padding is 70000, limit 65536",
        ),
    ];
    for (shape, message) in cases {
        let operator = Operator::Conv2d(shape);
        let error = operator.safe_overlap().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(operator.traced_overlap().unwrap_err(), error);
        assert_eq!(operator.accesses(|_, _, _| ()).unwrap_err(), error);
    }
    assert!(Operator::Conv2d(good).safe_overlap().is_ok());

    let depthwise = DepthwiseConv2d {
        input: [1, 4, 4, 2],
        output: [1, 4, 4, 5],
        window: Window::default(),
        multiplier: 2,
        element_bytes: 1,
    };
    let mismatch = ShapeError::Mismatch {
        what: "output's depth",
        given: 5,
        expected: 4,
        reason: "depth of the input times the multiplier",
    };
    assert_eq!(
        Operator::DepthwiseConv2d(depthwise).safe_overlap(),
        Err(mismatch)
    );
    let none = DepthwiseConv2d {
        multiplier: 0,
        ..depthwise
    };
    assert!(matches!(
        Operator::DepthwiseConv2d(none).safe_overlap(),
        Err(ShapeError::Zero { .. })
    ));
    let pool = Pool2d {
        input: [1, 4, 4, 2],
        output: [1, 2, 2, 1],
        window: Window::default(),
        element_bytes: 1,
    };
    assert!(matches!(
        Operator::Pool2d(pool).safe_overlap(),
        Err(ShapeError::Mismatch { .. })
    ));
    let empty = Elementwise {
        elements: 0,
        input_element_bytes: 1,
        output_element_bytes: 1,
    };
    assert!(matches!(
        Operator::Elementwise(empty).safe_overlap(),
        Err(ShapeError::Zero { .. })
    ));
    let empty = FullyConnected {
        batches: 0,
        input_depth: 1,
        output_depth: 1,
        element_bytes: 1,
    };
    assert!(matches!(
        Operator::FullyConnected(empty).safe_overlap(),
        Err(ShapeError::Zero { .. })
    ));
    let empty = Softmax {
        rows: 1,
        depth: 0,
        input_element_bytes: 1,
        output_element_bytes: 1,
    };
    assert!(matches!(
        Operator::Softmax(empty).safe_overlap(),
        Err(ShapeError::Zero { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the numbers, an answer or an error, within the buffers.
    #[test]
    fn absurd_shapes_do_not_panic(
        input: Shape,
        output: Shape,
        numbers: [u32; 8],
        groups: u32,
        shift in 0_u32..32,
        element_bytes in element_bytes(),
    ) {
        let scale = |extent: u32| extent >> shift;
        let [k0, k1, s0, s1, d0, d1, p0, p1] = numbers.map(|number| number >> 15);
        let operator = Operator::Conv2d(Conv2d {
            input: [1, scale(input[1]), scale(input[2]), scale(input[3])],
            output: [1, scale(output[1]), scale(output[2]), scale(output[3])],
            window: Window { kernel: [k0, k1], stride: [s0, s1], dilation: [d0 % 2 + 1, d1 % 2 + 1], padding_before: [p0, p1] },
            groups: groups % 3,
            element_bytes,
        });
        if let Ok(overlap) = operator.safe_overlap() {
            let (input_bytes, output_bytes) = operator.buffer_bytes().unwrap();
            prop_assert!(overlap <= input_bytes.min(output_bytes));
        }
    }
}
