//! Cases that kernels with different interfaces compute alike.

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{
    Accumulation, Concat, Conv2d, DepthwiseConv2d, ElementwiseBinary, FullyConnected, Lstm,
    Operator, Pad, Pool2d, Reshape, Softmax, Svdf, Transpose, TransposeConv2d, Window,
};
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::Case;

#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
fn int8(kind: &'static str, operator: Operator) -> Case {
    Case {
        operator,
        kind: Kind::of_kernels(kind).unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

/// One or a few cases for each function with the CMSIS-NN interface, and the reference kernel
/// that it is bit-exact with.
#[allow(clippy::too_many_lines, reason = "a list of cases")]
pub fn shared_cases() -> Vec<(&'static str, &'static str, Case)> {
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
    let lstm = |activations: ElementType, time_major| {
        let lstm = Lstm {
            batches: 2,
            times: 3,
            input_depth: 9,
            output_depth: 6,
            time_major,
            input_element_bytes: activations.size_bytes(),
            output_element_bytes: activations.size_bytes(),
        };
        let case = int8("lstm", Operator::Lstm(lstm));
        Case {
            input_type: activations,
            output_type: activations,
            ..case
        }
    };
    let transposed = |stride: u32| {
        let conv = TransposeConv2d {
            input: [2, 4, 3, 5],
            output: [2, 4 * stride, 3 * stride, 6],
            window: Window {
                stride: [stride, stride],
                padding_before: [0, 1],
                ..window
            },
            accumulation: Accumulation::Scratch,
            element_bytes: 1,
        };
        int8("transpose_conv2d", Operator::TransposeConv2d(conv))
    };
    vec![
        (
            "arm_transpose_conv_wrapper_s8",
            "dmo_transposed_conv2d_s8",
            transposed(2),
        ),
        (
            "arm_transpose_conv_s8",
            "dmo_transposed_conv2d_s8",
            transposed(3),
        ),
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
            dense(21),
        ),
        (
            "arm_fully_connected_per_channel_s8",
            "dmo_conv2d_s8",
            dense(21),
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
        (
            "arm_lstm_unidirectional_s8",
            "dmo_unidirectional_sequence_lstm_s8",
            lstm(ElementType::Int8, false),
        ),
        (
            "arm_lstm_unidirectional_s8",
            "dmo_unidirectional_sequence_lstm_s8",
            lstm(ElementType::Int8, true),
        ),
        (
            "arm_lstm_unidirectional_s16",
            "dmo_unidirectional_sequence_lstm_s16",
            lstm(ElementType::Int16, false),
        ),
    ]
}

/// The same for each kernel with packed weights.
pub fn packed_cases() -> Vec<(&'static str, &'static str, Case)> {
    let window = Window {
        kernel: [3, 3],
        stride: [2, 1],
        padding_before: [1, 1],
        ..Window::default()
    };
    let conv = Conv2d {
        input: [2, 6, 7, 5],
        output: [2, 3, 7, 7],
        window,
        groups: 1,
        element_bytes: 1,
    };
    let depthwise = |depth: u32, multiplier: u32| {
        let conv = DepthwiseConv2d {
            input: [2, 6, 7, depth],
            output: [2, 3, 7, depth * multiplier],
            window,
            multiplier,
            element_bytes: 1,
        };
        int8("depthwise_conv2d", Operator::DepthwiseConv2d(conv))
    };
    let conv = int8("conv2d", Operator::Conv2d(conv));
    vec![
        ("dmo_dsp_packed_conv2d_s8", "dmo_conv2d_s8", conv),
        (
            "dmo_dsp_packed_conv2d_s8",
            "dmo_depthwise_conv2d_s8",
            depthwise(1, 6),
        ),
        (
            "dmo_dsp_packed_depthwise_conv2d_3x3_s8",
            "dmo_depthwise_conv2d_s8",
            depthwise(7, 1),
        ),
        (
            "dmo_dsp_packed_fully_connected_s8",
            "dmo_fully_connected_s8",
            dense(24),
        ),
    ]
}

fn dense(input_depth: u32) -> Case {
    let layer = FullyConnected {
        batches: 3,
        input_depth,
        output_depth: 10,
        element_bytes: 1,
    };
    int8("fully_connected", Operator::FullyConnected(layer))
}
