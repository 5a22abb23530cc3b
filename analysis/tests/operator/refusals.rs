//! Shapes that make no sense.

use super::first_pair::FirstPair;
use dmo_analysis::operator::{
    Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, FullyConnected, Opaque,
    Operator, Pad, Pool2d, ResizeNearest, ShapeError, Softmax, Split, StridedSlice, Svdf,
    Transpose, Window,
};

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
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
            "the input [1, 65536, 16384, 4] with 1-byte elements does not fit in 32-bit addresses",
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
        what: "output's depth".into(),
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

fn assert_refused(operator: &Operator, message: &str) {
    let error = operator.overlaps().unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(operator.traced_overlaps().unwrap_err(), error);
    assert_eq!(operator.published().unwrap_err(), error);
    assert_eq!(operator.buffers().unwrap_err(), error);
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn the_dimension_and_what_was_expected_are_named() {
    let binary = |second| {
        Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [[1, 4, 5, 6], second],
            output: [1, 4, 5, 6],
            input_element_bytes: [1; 2],
            output_element_bytes: 1,
        })
    };
    assert_refused(
        &binary([1, 4, 3, 6]),
        "the second input's width is 3, expected 1 or 5 (that of the output)",
    );
    let concat = |inputs, axis| {
        Operator::Concat(Concat {
            inputs,
            axis,
            element_bytes: 1,
        })
    };
    assert_refused(
        &concat(vec![[1, 2, 3, 4], [1, 2, 3, 4], [1, 9, 3, 4]], 3),
        "the input 2's height is 9, expected 2 (that of input 0)",
    );
    assert_refused(&concat(vec![[1; 4]], 4), "the axis is 4, expected 0 to 3");
    assert_refused(
        &concat(vec![[u32::MAX, 1, 1, 1], [1; 4]], 0),
        "the output [4294967295, 1, 1, 1] with 1-byte elements does not fit in 32-bit addresses",
    );
    assert_refused(
        &concat(Vec::new(), 0),
        "the number of inputs is 0 or has an extent of 0, expected at least 1",
    );
    let split = |parts| {
        Operator::Split(Split {
            input: [1, 2, 3, 4],
            axis: 3,
            parts,
            element_bytes: 1,
        })
    };
    assert_refused(
        &split(vec![1, 2]),
        "the sum of the output's depths is 3, expected 4 (that of the input)",
    );
    assert_refused(
        &split(Vec::new()),
        "the number of outputs is 0 or has an extent of 0, expected at least 1",
    );
    assert_refused(
        &Operator::Pad(Pad {
            input: [1, 4, 4, 1],
            before: [0, 1, 2, 0],
            output: [1, 6, 5, 1],
            element_bytes: 1,
        }),
        "the output's width is 5, expected at least 6 (padding before and input)",
    );
    assert_refused(
        &Operator::Transpose(Transpose {
            input: [1, 2, 3, 4],
            permutation: [0, 1, 1, 3],
            element_bytes: 1,
        }),
        "the permutation is [0, 1, 1, 3], expected each of 0 to 3 once",
    );
    let slice = |begin, stride| {
        Operator::StridedSlice(StridedSlice {
            input: [1, 1, 8, 1],
            begin: [0, 0, begin, 0],
            stride: [1, 1, stride, 1],
            output: [1, 1, 3, 1],
            in_runs: false,
            element_bytes: 1,
        })
    };
    assert_refused(
        &slice(3, -2),
        "the last index of the slice's width is at -1, expected 0 to 7 (inside the input)",
    );
    assert_refused(
        &slice(8, -1),
        "the first index of the slice's width is at 8, expected 0 to 7 (inside the input)",
    );
    let resize = |output| {
        Operator::ResizeNearest(ResizeNearest {
            input: [1, 2, 2, 3],
            output,
            align_corners: false,
            half_pixel_centers: false,
            element_bytes: 1,
        })
    };
    assert_refused(
        &resize([1, 4, 4, 2]),
        "the output's depth is 2, expected 3 (that of the input)",
    );
    assert_refused(
        &resize([1, 4, 70_000, 3]),
        "the output's width is 70000, limit 65536",
    );
    let nothing = Operator::Opaque(Opaque {
        inputs: vec![1],
        outputs: Vec::new(),
    });
    assert_eq!(nothing.overlaps(), Ok(Vec::new()));
    for error in [nothing.safe_overlap(), nothing.traced_overlap()] {
        assert_eq!(
            error.unwrap_err().to_string(),
            "there is no output 0, expected less than 0"
        );
    }
    let svdf = Svdf {
        batches: 1,
        input_depth: 1,
        units: 1,
        rank: 0,
        input_element_bytes: 1,
        output_element_bytes: 1,
    };
    assert_refused(
        &Operator::Svdf(svdf),
        "the rank is 0 or has an extent of 0, expected at least 1",
    );
    let same = binary([1; 4]);
    assert_eq!(
        same.overlap(2, 0).unwrap_err().to_string(),
        "there is no input 2, expected less than 2"
    );
    assert_eq!(
        same.displacement_of(0, 1).unwrap_err().to_string(),
        "there is no output 1, expected less than 1"
    );
}
