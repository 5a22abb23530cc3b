//! The functions of CMSIS-NN that TensorFlow Lite Micro calls for each operator
//! (tflite-micro, `tensorflow/lite/micro/kernels/cmsis_nn/`), whether or not there is a contract
//! for them. Of all other operators it takes its reference kernel.

use crate::kernels::Case;
use dmo_analysis::graph::Kind;
use dmo_analysis::trace::ElementType;

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

/// Whether TensorFlow Lite Micro may call the function of this name for the case. Which it calls
/// for given shapes is its own to decide.
pub fn may_call(case: &Case, function: &str) -> bool {
    let types: &[&str] = match case.input_type {
        ElementType::Int8 => &["_s8", "_s4"],
        ElementType::Int16 => &["_s16"],
        ElementType::Uint8 => &["_u8"],
        _ => &[],
    };
    let of_kind = |(kind, stem): &(Kind, &str)| *kind == case.kind && function.starts_with(stem);
    STEMS.iter().any(of_kind)
        && types.iter().any(|name| function.contains(name))
        && !function.ends_with("_size")
}
