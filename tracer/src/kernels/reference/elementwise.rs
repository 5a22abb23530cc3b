//! Operators that go element by element, and softmax. Contracts:
//! `kernels-c/include/dmo_unary.h`, `dmo_elementwise.h`, `dmo_broadcast.h`, `dmo_softmax.h`,
//! `dmo_int16.h`.

use super::{activation_f32, all, bits, is, words};
use crate::call::{Argument, Frame};
use crate::kernels::weights::{halfwords, ratio};
use crate::kernels::{Arguments, Buffers, Case, Contract};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::ElementType::{self, Float32, Int8, Int16};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new("dmo_relu_s8", |case| is(case, "relu", Int8), {
        // Scale 1 to 2: multiplier 2^30 is a half.
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, HALF, 1, -128, 127])
    }),
    Contract::new("dmo_relu_s16", |case| is(case, "relu", Int16), {
        |case, buffers, frame| unary(case, buffers, frame, &[0, 0, HALF, 1, -32768, 32767])
    }),
    Contract::new("dmo_relu_f32", |case| is(case, "relu", Float32), curve_f32),
    Contract::new(
        "dmo_relu6_f32",
        |case| is(case, "relu6", Float32),
        curve_f32,
    ),
    Contract::new("dmo_logistic_s8", |case| is(case, "logistic", Int8), curve),
    Contract::new(
        "dmo_logistic_f32",
        |case| is(case, "logistic", Float32),
        curve_f32,
    ),
    Contract::new("dmo_tanh_s8", |case| is(case, "tanh", Int8), curve),
    Contract::new("dmo_tanh_f32", |case| is(case, "tanh", Float32), curve_f32),
    Contract::new("dmo_hard_swish_s8", |case| is(case, "hard_swish", Int8), {
        // Input and output scale 1/16: 2^-7 and 2^4 / 3.
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, 1 << 14, -6, 21845, 3])
    }),
    Contract::new(
        "dmo_hard_swish_f32",
        |case| is(case, "hard_swish", Float32),
        curve_f32,
    ),
    Contract::new(
        "dmo_quantize_f32_s8",
        |case| converts(case, "quantize", Float32, Int8),
        affine,
    ),
    Contract::new(
        "dmo_quantize_f32_s16",
        |case| converts(case, "quantize", Float32, Int16),
        affine,
    ),
    Contract::new(
        "dmo_dequantize_s8_f32",
        |case| converts(case, "dequantize", Int8, Float32),
        affine,
    ),
    Contract::new(
        "dmo_dequantize_s16_f32",
        |case| converts(case, "dequantize", Int16, Float32),
        affine,
    ),
    Contract::new(
        "dmo_requantize_s8_s8",
        |case| converts(case, "requantize", Int8, Int8),
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, HALF, 1]),
    ),
    Contract::new(
        "dmo_requantize_s16_s8",
        |case| converts(case, "requantize", Int16, Int8),
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, HALF, -7]),
    ),
    Contract::new(
        "dmo_requantize_s8_s16",
        |case| converts(case, "requantize", Int8, Int16),
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, HALF, 9]),
    ),
    Contract::new(
        "dmo_requantize_s16_s16",
        |case| converts(case, "requantize", Int16, Int16),
        |case, buffers, frame| unary(case, buffers, frame, &[3, -5, HALF, 1]),
    ),
    Contract::new("dmo_broadcast_add_s8", |case| is(case, "add", Int8), {
        |case, buffers, frame| broadcast(case, buffers, frame, Some(&SUM_S8))
    }),
    Contract::new("dmo_broadcast_sub_s8", |case| is(case, "sub", Int8), {
        |case, buffers, frame| broadcast(case, buffers, frame, Some(&SUM_S8))
    }),
    Contract::new("dmo_broadcast_mul_s8", |case| is(case, "mul", Int8), {
        |case, buffers, frame| broadcast(case, buffers, frame, Some(&PRODUCT_S8))
    }),
    Contract::new(
        "dmo_broadcast_add_f32",
        |case| is(case, "add", Float32),
        broadcast_f32,
    ),
    Contract::new(
        "dmo_broadcast_sub_f32",
        |case| is(case, "sub", Float32),
        broadcast_f32,
    ),
    Contract::new(
        "dmo_broadcast_mul_f32",
        |case| is(case, "mul", Float32),
        broadcast_f32,
    ),
    Contract::new("dmo_maximum_s8", |case| is(case, "maximum", Int8), extreme),
    Contract::new(
        "dmo_maximum_f32",
        |case| is(case, "maximum", Float32),
        extreme,
    ),
    Contract::new("dmo_minimum_s8", |case| is(case, "minimum", Int8), extreme),
    Contract::new(
        "dmo_minimum_f32",
        |case| is(case, "minimum", Float32),
        extreme,
    ),
    Contract::new("dmo_add_s8", |case| pairs(case, "add", Int8), {
        |case, buffers, frame| flat(case, buffers, frame, &SUM_S8)
    }),
    Contract::new("dmo_add_s16", |case| pairs(case, "add", Int16), {
        |case, buffers, frame| flat(case, buffers, frame, &SUM_S16)
    }),
    Contract::new(
        "dmo_add_f32",
        |case| pairs(case, "add", Float32),
        |case, buffers, _| flat_f32(case, buffers),
    ),
    Contract::new("dmo_mul_s8", |case| pairs(case, "mul", Int8), {
        |case, buffers, frame| flat(case, buffers, frame, &PRODUCT_S8)
    }),
    Contract::new("dmo_mul_s16", |case| pairs(case, "mul", Int16), {
        |case, buffers, frame| flat(case, buffers, frame, &PRODUCT_S16)
    }),
    Contract::new(
        "dmo_mul_f32",
        |case| pairs(case, "mul", Float32),
        |case, buffers, _| flat_f32(case, buffers),
    ),
    Contract::new("dmo_softmax_s8", |case| is(case, "softmax", Int8), {
        |case, buffers, frame| {
            // Input scale 1/16 and beta 1: 2^26 / 16 = 2^22, as a half times 2^23.
            let params = frame.words("parameters", &[HALF, 23, -248])?;
            softmax(case, buffers, params.into())
        }
    }),
    Contract::new(
        "dmo_softmax_s16",
        |case| is(case, "softmax", Int16),
        softmax_s16,
    ),
    Contract::new("dmo_softmax_f32", |case| is(case, "softmax", Float32), {
        |case, buffers, _| softmax(case, buffers, Argument::Float(1.0))
    }),
];

const HALF: i32 = 1 << 30;

// Each input counts a half: (x * 2^20 / 2 + y * 2^20 / 2) / 2^20, and so with 2^15.
const SUM_S8: [i32; 11] = [3, -4, 5, HALF, 0, HALF, 0, HALF, -19, -128, 127];
const SUM_S16: [i32; 11] = [0, 0, 0, HALF, 0, HALF, 0, HALF, -14, -32768, 32767];
const PRODUCT_S8: [i32; 7] = [3, -4, 5, HALF, -6, -128, 127];
const PRODUCT_S16: [i32; 7] = [0, 0, 0, HALF, -14, -32768, 32767];

fn converts(case: &Case, kind: &str, from: ElementType, to: ElementType) -> bool {
    case.kind == kind && (case.input_type, case.output_type) == (from, to)
}

/// Both inputs have as many elements as the output.
fn pairs(case: &Case, kind: &str, element_type: ElementType) -> bool {
    case.kind == kind
        && all(case, element_type)
        && matches!(&case.operator, Operator::ElementwiseBinary(binary)
            if binary.inputs.iter().all(|&shape| shape == binary.output))
}

fn elements(case: &Case) -> u32 {
    match &case.operator {
        Operator::Elementwise(layer) => layer.elements,
        Operator::ElementwiseBinary(binary) => binary.output.iter().product(),
        _ => 0,
    }
}

fn curve_f32(case: &Case, buffers: &Buffers, _: &mut Frame) -> Arguments {
    Ok(vec![
        Argument::Word(elements(case)),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn unary(case: &Case, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into()];
    arguments.extend(curve_f32(case, buffers, frame)?);
    Ok(arguments)
}

/// Logistic function and hyperbolic tangent.
fn curve(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    // Input scale 1/16: 2^27 / 16 = 2^23, as a half times 2^24; beyond 120 it is 15 / 16 of
    // the largest number of Q4.27.
    unary(case, buffers, frame, &[3, 120, HALF, 24])
}

fn affine(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    unary(case, buffers, frame, &[bits(0.0625), 3])
}

fn broadcast(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    params: Option<&[i32]>,
) -> Arguments {
    let Operator::ElementwiseBinary(binary) = &case.operator else {
        return Ok(Vec::new());
    };
    let mut arguments: Vec<Argument> = Vec::new();
    if let Some(params) = params {
        arguments.push(frame.words("parameters", params)?.into());
    }
    for (shape, &input) in binary.inputs.iter().zip(&buffers.inputs) {
        let shape = frame.words("input shape", &words(*shape))?;
        arguments.extend([Argument::from(shape), input.into()]);
    }
    let shape = frame.words("output shape", &words(binary.output))?;
    arguments.extend([Argument::from(shape), buffers.outputs[0].into()]);
    Ok(arguments)
}

fn broadcast_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(case, buffers, frame, Some(&activation_f32()))
}

fn extreme(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(case, buffers, frame, None)
}

fn flat(case: &Case, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into(), Argument::Word(elements(case))];
    arguments.extend(operands(buffers));
    Ok(arguments)
}

fn flat_f32(case: &Case, buffers: &Buffers) -> Arguments {
    let [low, high] = [-1e30, 1e30].map(Argument::Float);
    let mut arguments = vec![low, high, Argument::Word(elements(case))];
    arguments.extend(operands(buffers));
    Ok(arguments)
}

/// Two inputs and the output.
fn operands(buffers: &Buffers) -> [Argument; 3] {
    [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]].map(Argument::from)
}

fn softmax(case: &Case, buffers: &Buffers, params: Argument) -> Arguments {
    let Operator::Softmax(softmax) = &case.operator else {
        return Ok(Vec::new());
    };
    Ok(vec![
        params,
        Argument::Word(softmax.rows),
        Argument::Word(softmax.depth),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn softmax_s16(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    // Input scale 1/4096, so that the whole range of the table is used.
    let params = frame.words("parameters", &ratio(65535.0 / 10.0 / 4096.0))?;
    let table = |sample: fn(f64) -> f64| {
        let samples = (0..=512).map(|index| sample(f64::from(index) / 512.0));
        halfwords(samples.map(|value| (value * 32768.0).round().min(32767.0) as i32))
    };
    let exponential = frame.place("exponentials", table(|x| (10.0 * x - 10.0).exp()))?;
    let reciprocal = frame.place("reciprocals", table(|x| 1.0 / (1.0 + x)))?;
    let mut arguments = softmax(case, buffers, params.into())?;
    let output = arguments.len() - 1;
    arguments.splice(output..output, [exponential.into(), reciprocal.into()]);
    Ok(arguments)
}
