//! Weights and quantisations where no model gives any: reproducible, and such that the
//! outputs use their whole range, so that a wrong input byte shows.

use super::case::shapes;
use super::constants::bias_type;
use super::convolution::Convolution;
use super::reference::{decode, detection};
use super::{Case, State, signal, size, svdf};
use crate::call::{CallError, fits_into_flash};
use dmo_analysis::graph::parameters::{Affine, Constant, Parameters};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Lstm, Operator, Svdf};
use dmo_analysis::random::xorshift_bytes;
use dmo_analysis::trace::ElementType;

/// Numbers for a kernel that keeps these states, and whose filter has weights of 4 bits or not.
pub(super) fn parameters(
    case: &Case,
    states: &[State],
    has_int4_filter: bool,
) -> Result<Parameters<'static>, CallError> {
    if let Some(conv) = Convolution::of(case) {
        return convolution(case, &conv, has_int4_filter);
    }
    if let Some(parameters) = signal::invented::parameters(case) {
        return parameters;
    }
    if let Some(parameters) = detection::invented(case).or_else(|| decode::invented(case)) {
        return parameters;
    }
    match case.inner() {
        Operator::BatchedMatmul(matmul) => Ok(activations(
            vec![
                affine(case.input_type, 1.0, -3),
                affine(case.input_type, 1.0, 4),
            ],
            affine(case.output_type, power(sum_bits(matmul.inner.into())), 5),
        )),
        Operator::Svdf(layer) => sequence_svdf(layer, states),
        Operator::Lstm(layer) => sequence_lstm(layer),
        Operator::Pad(_) => padding(case),
        _ => Ok(elementwise(case)),
    }
}

/// Weights have 8 or 4 bits where the activations are integers.
const WEIGHTS: Affine = Affine {
    scale: 1.0,
    zero_point: 0,
};

fn affine(element_type: ElementType, scale: f32, zero_point: i32) -> Affine {
    match element_type {
        ElementType::Float32 => Affine::PLAIN,
        // Symmetric, as the kernels want it.
        ElementType::Int16 => Affine {
            scale,
            zero_point: 0,
        },
        ElementType::Uint8 => Affine {
            scale,
            zero_point: zero_point + MIDDLE_OF_UNSIGNED,
        },
        _ => Affine { scale, zero_point },
    }
}

/// Unsigned numbers are the signed ones moved by that.
const MIDDLE_OF_UNSIGNED: i32 = 128;

fn power(exponent: i32) -> f32 {
    (exponent as f32).exp2()
}

/// By how many bits a sum of this many products of 8-bit numbers exceeds the range of 8 bits.
fn sum_bits(taps: u64) -> i32 {
    // Products of uniform 8-bit numbers deviate by about 2^12.4, their sum by sqrt(taps)
    // times that; 2^5.3 is wanted.
    (7.1 + 0.5 * (taps.max(1) as f64).log2()).round() as i32
}

fn activations(operands: Vec<Affine>, output: Affine) -> Parameters<'static> {
    Parameters {
        operands,
        outputs: vec![output],
        ..Parameters::default()
    }
}

/// Weights of a type that suits the activations.
fn weights(
    activations: ElementType,
    what: &str,
    shape: Vec<u32>,
) -> Result<Constant<'static>, CallError> {
    match activations {
        ElementType::Float32 => constant(what, ElementType::Float32, shape, weights_f32),
        ElementType::Uint8 => {
            let zero = affine(ElementType::Uint8, 1.0, 0);
            let mut weights = constant(what, ElementType::Uint8, shape, weights_u8)?;
            weights.quantisation = vec![zero];
            Ok(weights)
        }
        _ => constant(what, ElementType::Int8, shape, weights_s8),
    }
}

fn constant(
    what: &str,
    element_type: impl Into<TensorType>,
    shape: Vec<u32>,
    make: fn(usize) -> Vec<u8>,
) -> Result<Constant<'static>, CallError> {
    let element_type = element_type.into();
    let extents = shape.iter().map(|&extent| u64::from(extent));
    let elements = extents.fold(1, u64::saturating_mul);
    let bits = element_type.bits().unwrap_or(u64::MAX);
    let size_bytes = elements.saturating_mul(bits).div_ceil(8);
    fits_into_flash(what, size_bytes)?;
    Ok(Constant {
        bytes: make(elements as usize).into(),
        element_type,
        shape,
        quantisation: vec![WEIGHTS],
        channel_axis: 0,
    })
}

/// 8-bit weights in [-127, 127], none of them 0: a weight of 0 would hide its input.
fn weights_s8(count: usize) -> Vec<u8> {
    let nonzero = |byte: u8| match byte as i8 {
        0 | i8::MIN => 1,
        _ => byte,
    };
    xorshift_bytes(1, count).into_iter().map(nonzero).collect()
}

/// 4-bit weights, two in a byte, none of them 0. Nor is what no kernel may use: the second half of the
/// last byte of an odd number.
fn weights_s4(count: usize) -> Vec<u8> {
    let nonzero = |half: u8| half.max(1);
    let bytes = xorshift_bytes(1, count.div_ceil(2)).into_iter();
    bytes
        .map(|byte| nonzero(byte & 0xf) | nonzero(byte >> 4) << 4)
        .collect()
}

/// The same numbers, moved by [`MIDDLE_OF_UNSIGNED`].
fn weights_u8(count: usize) -> Vec<u8> {
    let moved = |byte| byte ^ 0x80;
    weights_s8(count).into_iter().map(moved).collect()
}

/// The same numbers in 16 bits.
fn weights_s16(count: usize) -> Vec<u8> {
    let values = weights_s8(count).into_iter();
    values
        .flat_map(|byte| i16::from(byte as i8).to_le_bytes())
        .collect()
}

/// Single-precision weights in [-1, 1].
fn weights_f32(count: usize) -> Vec<u8> {
    xorshift_bytes(2, count)
        .into_iter()
        .flat_map(|byte| ((f32::from(byte as i8) + 0.5) / 128.0).to_le_bytes())
        .collect()
}

/// A bias of zeros.
fn bias(activations: ElementType, channels: u32) -> Result<Constant<'static>, CallError> {
    let element_type = bias_type(activations);
    let zeros = match element_type.size_bytes() {
        8 => |count| vec![0; 8 * count],
        _ => |count| vec![0; 4 * count],
    };
    constant("bias", element_type, vec![channels], zeros)
}

/// How many bits fewer the weights of [`weights_s4`] have than those of [`weights_s8`].
const INT4_BITS: i32 = 4;

fn convolution(
    case: &Case,
    conv: &Convolution,
    has_int4_filter: bool,
) -> Result<Parameters<'static>, CallError> {
    let channels = conv.channels();
    let taps = size(conv.filter) / u64::from(channels.max(1));
    let mut operands = vec![Affine::PLAIN; conv.bias_operand];
    operands[conv.input_operand] = affine(case.input_type, 1.0, -3);
    let mut constants = vec![None; conv.bias_operand];
    let (shape, sum_bits) = (conv.filter.to_vec(), sum_bits(taps));
    let (filter, sum_bits) = if has_int4_filter {
        let filter = constant("filter", TensorType::Int4, shape, weights_s4)?;
        (filter, sum_bits - INT4_BITS)
    } else {
        (weights(case.input_type, "filter", shape)?, sum_bits)
    };
    constants[super::convolution::FILTER] = Some(filter);
    constants.push(Some(bias(case.input_type, channels)?));
    Ok(Parameters {
        constants,
        ..activations(operands, affine(case.output_type, power(sum_bits), -5))
    })
}

/// Steps that an SVDF remembers. O_s does not depend on it, for the state lies apart.
const SVDF_MEMORY: u32 = 8;

fn sequence_svdf(layer: &Svdf, states: &[State]) -> Result<Parameters<'static>, CallError> {
    let wide = states
        .first()
        .is_some_and(|state| state.element_type == ElementType::Int16);
    let is_float = layer.input_element_bytes == 4;
    let feature_type = if is_float {
        ElementType::Float32
    } else {
        ElementType::Int8
    };
    // A state of 16 bits has 8 more for fractions; weights have 8 bits, so that sums fit.
    let (fraction_bits, time_type, times): (_, _, fn(usize) -> Vec<u8>) = if is_float {
        (0, ElementType::Float32, weights_f32)
    } else if wide {
        (8, ElementType::Int16, weights_s16)
    } else {
        (0, ElementType::Int8, weights_s8)
    };
    let feature_bits = sum_bits(layer.input_depth.into());
    let time_bits = sum_bits(u64::from(layer.rank) * u64::from(SVDF_MEMORY));
    let filters = svdf::filters(layer);
    let features = vec![filters, layer.input_depth];
    let state = Affine {
        scale: power(feature_bits - fraction_bits),
        zero_point: 0,
    };
    Ok(Parameters {
        constants: vec![
            None,
            Some(weights(feature_type, "feature weights", features)?),
            Some(constant(
                "time weights",
                time_type,
                vec![filters, SVDF_MEMORY],
                times,
            )?),
            Some(bias(feature_type, layer.units)?),
        ],
        ..activations(
            vec![
                affine(ElementType::Int8, 1.0, -3),
                WEIGHTS,
                WEIGHTS,
                WEIGHTS,
                state,
            ],
            affine(ElementType::Int8, power(feature_bits + time_bits), -5),
        )
    })
}

fn sequence_lstm(layer: &Lstm) -> Result<Parameters<'static>, CallError> {
    const OPERANDS: usize = 20;
    let (activations_type, finer_bits) = match layer.input_element_bytes {
        4 => (ElementType::Float32, 0),
        2 => (ElementType::Int16, 8),
        _ => (ElementType::Int8, 0),
    };
    let is_float = activations_type == ElementType::Float32;
    let hidden = affine(activations_type, power(-7 - finer_bits), 1);
    let fine = Affine {
        scale: power(-8),
        zero_point: 0,
    };
    let mut operands = vec![Affine::PLAIN; OPERANDS];
    operands[0] = affine(activations_type, power(-6 - finer_bits), -3);
    operands[18] = hidden;
    operands[19] = affine(ElementType::Int16, power(-11), 0);
    let mut constants = vec![None; OPERANDS];
    for gate in 0..4 {
        for (operand, what, depth) in [
            (1, "input weights", layer.input_depth),
            (5, "recurrent weights", layer.output_depth),
        ] {
            let mut weights = weights(activations_type, what, vec![layer.output_depth, depth])?;
            if !is_float {
                weights.quantisation = vec![fine];
                operands[operand + gate] = fine;
            }
            constants[operand + gate] = Some(weights);
        }
    }
    Ok(Parameters {
        constants,
        ..activations(operands, hidden)
    })
}

/// A value that no input is likely to have.
fn padding(case: &Case) -> Result<Parameters<'static>, CallError> {
    let value = match case.output_type.size_bytes() {
        1 => |_| vec![0x55],
        2 => |_| vec![0x55; 2],
        4 => |_| vec![0x55; 4],
        _ => |_| vec![0x55; 8],
    };
    Ok(Parameters {
        constants: vec![
            None,
            None,
            Some(constant("value", case.output_type, Vec::new(), value)?),
        ],
        ..Parameters::default()
    })
}

/// Kernels that have no weights.
fn elementwise(case: &Case) -> Parameters<'static> {
    let (from, to) = (case.input_type, case.output_type);
    let one = |input: (f32, i32), output: (f32, i32)| {
        let input = affine(from, input.0, input.1);
        activations(vec![input], affine(to, output.0, output.1))
    };
    let two = |output_scale| {
        let inputs = vec![affine(from, 1.0, -3), affine(from, 1.0, 4)];
        activations(inputs, affine(to, output_scale, 5))
    };
    match &case.kind {
        // Hardly anything is below 0 and cut off.
        Kind::Relu => one((1.0, -126), (1.0, -128)),
        Kind::Relu6 => one((power(-4), -100), (power(-4), -100)),
        Kind::Logistic if from == ElementType::Int16 => one((power(-12), 0), (power(-15), 0)),
        Kind::Tanh if from == ElementType::Int16 => one((power(-12), 0), (power(-15), 0)),
        Kind::Logistic => one((power(-4), -3), (power(-8), -128)),
        Kind::Tanh => one((power(-4), -3), (power(-7), 0)),
        Kind::HardSwish if from == ElementType::Int16 => one((power(-12), 0), (power(-12), 0)),
        Kind::HardSwish => one((power(-4), -3), (power(-4), -5)),
        Kind::Abs => one((0.5, -3), (0.5, -128)),
        Kind::Rsqrt => one((power(-4), -128), (power(-5), -100)),
        Kind::Elu => one((power(-4), 20), (power(-4), -50)),
        Kind::LeakyRelu => Parameters {
            alpha: 0.25,
            ..one((1.0, -3), (1.0, -5))
        },
        Kind::Softmax => {
            let (input, output) = match (from, to) {
                // The whole range of the table.
                (ElementType::Int16, _) => (power(-12), affine(to, power(-15), 0)),
                (_, ElementType::Int16) => {
                    let (scale, zero_point) = (power(-16), i16::MIN.into());
                    (power(-4), Affine { scale, zero_point })
                }
                _ => (power(-4), affine(to, power(-8), -128)),
            };
            Parameters {
                beta: 1.0,
                ..activations(vec![affine(from, input, 0)], output)
            }
        }
        Kind::Quantize | Kind::Dequantize => {
            let scales = Affine {
                scale: power(-4),
                zero_point: 3,
            };
            activations(vec![scales], scales)
        }
        Kind::Requantize => requantized(from, to),
        Kind::Add | Kind::Sub => two(2.0),
        Kind::Div => activations(
            vec![affine(from, 1.0, -3), affine(from, 0.125, 4)],
            affine(to, 0.0625, 5),
        ),
        Kind::SquaredDifference => two(match from {
            ElementType::Int16 => power(15),
            _ => power(7),
        }),
        Kind::Prelu => {
            let slopes = Affine {
                scale: power(-7),
                zero_point: 4,
            };
            activations(vec![affine(from, 1.0, -3), slopes], affine(to, 1.0, -5))
        }
        Kind::Equal
        | Kind::NotEqual
        | Kind::Greater
        | Kind::GreaterEqual
        | Kind::Less
        | Kind::LessEqual => activations(
            vec![affine(from, power(-4), -3), affine(from, power(-4), 4)],
            Affine::PLAIN,
        ),
        Kind::AddN => activations(vec![affine(from, 1.0, -3); 64], affine(to, 2.0, 5)),
        Kind::Cumsum => one((1.0, -3), (2.0, 5)),
        Kind::L2Normalization => one((power(-4), -3), (power(-7), 0)),
        Kind::LogSoftmax => one((power(-4), -3), (power(-4), 127)),
        Kind::Mul => two(match from {
            ElementType::Int16 => power(15),
            _ => power(7),
        }),
        Kind::Mean => one((1.0, 3), (1.0, -5)),
        // A sum of n deviates sqrt(n) times as much as an element.
        Kind::Sum => {
            let (input, output) = shapes(case).unwrap_or_default();
            let terms = (size(input) / size(output).max(1)).max(1);
            let bits = ((terms as f64).log2() / 2.0).round() as i32;
            one((1.0, 3), (power(bits + 1), -5))
        }
        _ => Parameters::default(),
    }
}

/// The whole range of one type to that of the other, or as much of it as 30 bits hold.
fn requantized(from: ElementType, to: ElementType) -> Parameters<'static> {
    const FINEST: i32 = -13;
    let bits = |element_type: ElementType| 8 * element_type.size_bytes() as i32;
    let middle = |element_type: ElementType| match element_type {
        ElementType::Uint8 => MIDDLE_OF_UNSIGNED,
        _ => 0,
    };
    let input = Affine {
        scale: 1.0,
        zero_point: middle(from) - 3,
    };
    let output = Affine {
        scale: power((bits(from) - bits(to)).max(FINEST)),
        zero_point: middle(to) - 5,
    };
    activations(vec![input], output)
}
