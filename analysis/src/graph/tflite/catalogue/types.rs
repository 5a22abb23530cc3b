//! The types with which reference kernels compute element-wise operators: those of TensorFlow Lite Micro
//! (`tensorflow/lite/micro/kernels/`) for which there are kernels here.

use crate::graph::{Kind, TensorType};

/// Whether the reference kernels may compute it on a first input of this type. Of other kinds it
/// depends on more.
pub(in crate::graph::tflite) fn takes(kind: &Kind, input: TensorType) -> bool {
    use TensorType::{Bool, Float32, Int8, Int16, Int32, Int64, Uint8};
    match kind {
        Kind::Ceil
        | Kind::Cos
        | Kind::Exp
        | Kind::Floor
        | Kind::FloorDiv
        | Kind::FloorMod
        | Kind::Log
        | Kind::Neg
        | Kind::Round
        | Kind::Sin
        | Kind::Sqrt
        | Kind::Square => input == Float32,
        Kind::LogicalAnd | Kind::LogicalNot | Kind::LogicalOr => input == Bool,
        Kind::Elu | Kind::Relu6 | Kind::Rsqrt => matches!(input, Float32 | Int8),
        Kind::Abs
        | Kind::HardSwish
        | Kind::LeakyRelu
        | Kind::Logistic
        | Kind::Prelu
        | Kind::Relu
        | Kind::Tanh => matches!(input, Float32 | Int8 | Int16),
        Kind::Add => matches!(input, Float32 | Int8 | Uint8 | Int16 | Int32),
        Kind::Div => matches!(input, Float32 | Int8 | Int32),
        Kind::Mul | Kind::Sub | Kind::SquaredDifference => {
            matches!(input, Float32 | Int8 | Int16 | Int32)
        }
        Kind::Maximum | Kind::Minimum => matches!(input, Float32 | Int8 | Int16 | Int32 | Int64),
        Kind::Greater | Kind::GreaterEqual | Kind::Less | Kind::LessEqual => {
            matches!(input, Float32 | Int8 | Int32 | Int64)
        }
        Kind::Equal | Kind::NotEqual => matches!(input, Float32 | Int8 | Int32 | Int64 | Bool),
        _ => true,
    }
}
