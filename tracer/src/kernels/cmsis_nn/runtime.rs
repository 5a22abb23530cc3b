//! The functions of CMSIS-NN that TensorFlow Lite Micro calls for each operator
//! (tflite-micro, `tensorflow/lite/micro/kernels/cmsis_nn/`), whether or not there is a contract
//! for them. Of all other operators it takes its reference kernel.

use crate::kernels::Case;
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Conv2d, Operator, Window};
use dmo_analysis::trace::ElementType;

/// The function that computes fully connected layers of several pixels.
pub const OF_PIXELS: &str = "arm_convolve_1x1_s8_fast";

/// All that compute such layers of 8 bits.
pub const FULLY_CONNECTED: [&str; 4] = [
    OF_PIXELS,
    "arm_fully_connected_s8",
    "arm_fully_connected_per_channel_s8",
    "arm_fully_connected_wrapper_s8",
];

/// What the names of the functions begin with.
const STEMS: &[(Kind, &str)] = &[
    (Kind::Add, "arm_elementwise_add_"),
    (Kind::AveragePool2d, "arm_avgpool_"),
    (Kind::BatchMatmul, "arm_batch_matmul_"),
    (Kind::Conv2d, "arm_convolve_"),
    (Kind::DepthwiseConv2d, "arm_depthwise_conv_"),
    (Kind::FullyConnected, "arm_fully_connected_"),
    (Kind::Matmul, "arm_batch_matmul_"),
    (Kind::MaxPool2d, "arm_max_pool_"),
    (Kind::Maximum, "arm_maximum_"),
    (Kind::Minimum, "arm_minimum_"),
    (Kind::Mul, "arm_elementwise_mul_"),
    (Kind::Pad, "arm_pad_"),
    (Kind::Padv2, "arm_pad_"),
    (Kind::Softmax, "arm_softmax_"),
    (Kind::Svdf, "arm_svdf_"),
    (Kind::Transpose, "arm_transpose_s"),
    (Kind::TransposeConv, "arm_transpose_conv_"),
    (Kind::UnidirectionalSequenceLstm, "arm_lstm_unidirectional_"),
];

/// Operators for which not all versions of the runtime call CMSIS-NN: older ones take their reference
/// kernel, whatever functions the library has.
const NEWER: [Kind; 9] = [
    Kind::BatchMatmul,
    Kind::Matmul,
    Kind::Maximum,
    Kind::Minimum,
    Kind::Pad,
    Kind::Padv2,
    Kind::Transpose,
    Kind::TransposeConv,
    Kind::UnidirectionalSequenceLstm,
];

/// Whether TensorFlow Lite Micro calls a function of this name for such operators. It joins and reshapes
/// tensors by kernels of its own, though CMSIS-NN has functions for that.
pub fn calls(kind: &Kind, function: &str) -> bool {
    STEMS
        .iter()
        .any(|(known, stem)| known == kind && function.starts_with(stem))
}

/// Whether older versions of the runtime take their reference kernel for such operators.
pub fn may_take_its_own(kind: &Kind) -> bool {
    NEWER.contains(kind)
}

/// The function among these that TensorFlow Lite Micro may call for the case: one for weights of 8 bits
/// before one for 4, and a wrapper before what it chooses from. Which it calls for given shapes is its own
/// to decide.
pub fn serving<'a>(case: &Case, functions: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let may_call = functions.filter(|function| may_call(case, function));
    may_call.min_by_key(|function| {
        let is_of_int4 = function.contains("_s4");
        let is_wrapper = function.contains("_wrapper_");
        (is_of_int4, !is_wrapper, function.len(), *function)
    })
}

fn may_call(case: &Case, function: &str) -> bool {
    let is_of_types = match [case.input_type, case.output_type] {
        [ElementType::Int8, ElementType::Int16] => function.contains("_s8_s16"),
        [ElementType::Int8, _] => {
            ["_s8", "_s4"].iter().any(|name| function.contains(name))
                && !function.contains("_s8_s16")
        }
        [ElementType::Int16, _] => function.contains("_s16"),
        [ElementType::Uint8, _] => function.contains("_u8"),
        _ => false,
    };
    is_of_types && calls(&case.kind, function) && !function.contains("_get_")
}

/// The convolution as which TensorFlow Lite Micro computes a fully connected layer of 8 bits, by
/// [`OF_PIXELS`], where its output has more than two axes and its input's depth is a multiple of 4
/// (`fully_connected.cc`): the loops are others.
pub fn as_convolution(case: &Case, output_axes: usize) -> Option<Case> {
    let Operator::FullyConnected(layer) = case.operator else {
        return None;
    };
    let is_int8 = [case.input_type, case.output_type] == [ElementType::Int8; 2];
    if !is_int8 || output_axes <= 2 || !layer.input_depth.is_multiple_of(4) {
        return None;
    }
    let conv = Conv2d {
        input: [layer.batches, 1, 1, layer.input_depth],
        output: [layer.batches, 1, 1, layer.output_depth],
        window: Window::default(),
        groups: 1,
        element_bytes: layer.element_bytes,
    };
    Some(Case {
        operator: Operator::Conv2d(conv),
        kind: Kind::Conv2d,
        ..case.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmo_analysis::operator::FullyConnected;

    #[test]
    fn the_wrapper_serves_and_no_size_does() {
        let functions = [
            "arm_fully_connected_s16_get_buffer_size_dsp",
            "arm_fully_connected_s4",
            "arm_fully_connected_s16",
            "arm_fully_connected_per_channel_s8",
            "arm_fully_connected_wrapper_s8",
            "arm_softmax_s8_s16",
            "arm_convolve_wrapper_s4",
            "arm_convolve_s8",
        ];
        let serves = |case: &Case| serving(case, functions.into_iter());
        let dense = |element| serves(&layer(8, element));
        assert_eq!(dense(ElementType::Int8), Some(functions[4]));
        assert_eq!(dense(ElementType::Int16), Some(functions[2]));
        assert_eq!(dense(ElementType::Float32), None);
        let conv = Case {
            kind: Kind::Conv2d,
            ..layer(8, ElementType::Int8)
        };
        assert_eq!(serves(&conv), Some(functions[7]));
        let softmax = |output_type| Case {
            kind: Kind::Softmax,
            output_type,
            ..layer(8, ElementType::Int8)
        };
        assert_eq!(serves(&softmax(ElementType::Int16)), Some(functions[5]));
        assert_eq!(serves(&softmax(ElementType::Int8)), None);
    }

    fn layer(input_depth: u32, element: ElementType) -> Case {
        Case {
            operator: Operator::FullyConnected(FullyConnected {
                batches: 16,
                input_depth,
                output_depth: 3,
                element_bytes: element.size_bytes(),
            }),
            kind: Kind::FullyConnected,
            input_type: element,
            output_type: element,
        }
    }

    /// Their reference is the runtime's `concatenation.cc` and `reshape.cc`, which call no function of
    /// CMSIS-NN.
    #[test]
    fn functions_that_the_runtime_does_not_call() {
        let contracts = crate::kernels::cmsis_nn::contracts();
        let not_called = contracts.filter(|it| !calls(it.kind, it.function));
        let mut functions: Vec<&str> = not_called.map(|it| it.function).collect();
        functions.sort_unstable();
        functions.dedup();
        let joining = ["w", "x", "y", "z"].map(|axis| format!("arm_concatenation_s8_{axis}"));
        let expected = joining.iter().map(String::as_str).chain(["arm_reshape_s8"]);
        assert_eq!(functions, expected.collect::<Vec<_>>());
    }

    /// Its reference is the condition in the runtime's `fully_connected.cc`.
    #[test]
    fn fully_connected_layers_that_are_convolutions() {
        let is_conv = |depth, element, axes| {
            let case = as_convolution(&layer(depth, element), axes);
            case.is_some_and(|case| case.kind == Kind::Conv2d)
        };
        for axes in 1..=5 {
            for depth in 1..=9 {
                let expected = axes > 2 && depth % 4 == 0;
                assert_eq!(is_conv(depth, ElementType::Int8, axes), expected);
                assert!(!is_conv(depth, ElementType::Int16, axes));
                assert!(!is_conv(depth, ElementType::Float32, axes));
            }
        }
    }
}
