//! Operators that go element by element, and softmax. Contracts:
//! `kernels-c/include/dmo_unary.h`, `dmo_elementwise.h`, `dmo_broadcast.h`, `dmo_softmax.h`,
//! `dmo_int16.h`, `dmo_uint8.h`.

use super::{activation_f32, bits, words};
use crate::call::{Argument, CallError, Frame, inexpressible};
use crate::kernels::case::same_shapes;
use crate::kernels::elementwise::{Product, SoftmaxInt16, Sum, softmax_numbers};
use crate::kernels::quantisation::{Multiplier, activation_range, radius, scale, scale_ratio};
use crate::kernels::tables::sigmoid as sigmoid_table;
use crate::kernels::{Arguments, Buffers, Case, Contract, Job};
use dmo_analysis::graph::Kind::{
    Add, Dequantize, HardSwish, LeakyRelu, Logistic, Maximum, Minimum, Mul, Quantize, Relu, Relu6,
    Requantize, Softmax, Sub, Tanh,
};
use dmo_analysis::graph::parameters::{Activation, Affine};
use dmo_analysis::operator::{self, Operator};
use dmo_analysis::trace::ElementType::{self, Float32, Int8, Int16, Int32, Uint8};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_relu_s8", &Relu, relu),
    Contract::int16("dmo_relu_s16", &Relu, relu),
    Contract::float32("dmo_relu_f32", &Relu, curve_f32),
    Contract::float32("dmo_relu6_f32", &Relu6, curve_f32),
    Contract::int8("dmo_relu_s8", &Relu6, relu6),
    Contract::int8("dmo_logistic_s8", &Logistic, |job, buffers, frame| {
        job.output_is(1.0 / 256.0, -128)?;
        sigmoid(job, buffers, frame)
    }),
    Contract::float32("dmo_logistic_f32", &Logistic, curve_f32),
    Contract::int16("dmo_logistic_s16", &Logistic, |job, buffers, frame| {
        sigmoid_s16(job, buffers, frame, 0)
    }),
    Contract::int8("dmo_tanh_s8", &Tanh, |job, buffers, frame| {
        job.output_is(1.0 / 128.0, 0)?;
        sigmoid(job, buffers, frame)
    }),
    Contract::float32("dmo_tanh_f32", &Tanh, curve_f32),
    Contract::int16("dmo_tanh_s16", &Tanh, |job, buffers, frame| {
        sigmoid_s16(job, buffers, frame, 1)
    }),
    Contract::int8("dmo_hard_swish_s8", &HardSwish, hard_swish),
    Contract::float32("dmo_hard_swish_f32", &HardSwish, curve_f32),
    Contract::int16("dmo_hard_swish_s16", &HardSwish, hard_swish_s16),
    Contract::int8("dmo_leaky_relu_s8", &LeakyRelu, leaky_relu),
    Contract::int16("dmo_leaky_relu_s16", &LeakyRelu, leaky_relu),
    Contract::float32("dmo_leaky_relu_f32", &LeakyRelu, |job, buffers, frame| {
        let mut arguments = vec![Argument::Float(job.parameters.alpha)];
        arguments.extend(curve_f32(job, buffers, frame)?);
        Ok(arguments)
    }),
    Contract::new("dmo_quantize_f32_s8", &Quantize, quantize).of(Float32, Int8),
    Contract::new("dmo_quantize_f32_s16", &Quantize, quantize).of(Float32, Int16),
    Contract::new("dmo_dequantize_s8_f32", &Dequantize, dequantize).of(Int8, Float32),
    Contract::new("dmo_dequantize_s16_f32", &Dequantize, dequantize).of(Int16, Float32),
    Contract::new("dmo_dequantize_u8_f32", &Dequantize, dequantize).of(Uint8, Float32),
    Contract::new("dmo_requantize_s8_s8", &Requantize, requantize).of(Int8, Int8),
    Contract::new("dmo_requantize_u8_s8", &Requantize, requantize).of(Uint8, Int8),
    Contract::new("dmo_requantize_s8_u8", &Requantize, requantize).of(Int8, Uint8),
    Contract::new("dmo_requantize_s16_s8", &Requantize, requantize).of(Int16, Int8),
    Contract::new("dmo_requantize_s8_s16", &Requantize, requantize).of(Int8, Int16),
    Contract::new("dmo_requantize_s16_s16", &Requantize, requantize).of(Int16, Int16),
    Contract::new("dmo_requantize_s16_s32", &Requantize, requantize).of(Int16, Int32),
    Contract::new("dmo_requantize_s8_s32", &Requantize, requantize).of(Int8, Int32),
    Contract::new("dmo_requantize_s32_s8", &Requantize, requantize).of(Int32, Int8),
    Contract::new("dmo_requantize_s32_s16", &Requantize, requantize).of(Int32, Int16),
    Contract::int8("dmo_broadcast_add_s8", &Add, |job, buffers, frame| {
        broadcast(job, buffers, frame, Some(&Sum::of(job)?.params()))
    }),
    Contract::int8("dmo_broadcast_sub_s8", &Sub, |job, buffers, frame| {
        broadcast(job, buffers, frame, Some(&Sum::of(job)?.params()))
    }),
    Contract::int8("dmo_broadcast_mul_s8", &Mul, |job, buffers, frame| {
        broadcast(job, buffers, frame, Some(&Product::of(job)?.params()))
    }),
    Contract::float32("dmo_broadcast_add_f32", &Add, broadcast_f32),
    Contract::float32("dmo_broadcast_sub_f32", &Sub, broadcast_f32),
    Contract::float32("dmo_broadcast_mul_f32", &Mul, broadcast_f32),
    Contract::int8("dmo_maximum_s8", &Maximum, extreme),
    Contract::float32("dmo_maximum_f32", &Maximum, extreme),
    Contract::int8("dmo_minimum_s8", &Minimum, extreme),
    Contract::float32("dmo_minimum_f32", &Minimum, extreme),
    Contract::int8("dmo_add_s8", &Add, sum).only(same_shapes),
    Contract::int16("dmo_add_s16", &Add, sum).only(same_shapes),
    Contract::uint8("dmo_add_u8", &Add, sum).only(same_shapes),
    Contract::float32("dmo_add_f32", &Add, flat_f32).only(same_shapes),
    Contract::int8("dmo_mul_s8", &Mul, |job, buffers, frame| {
        flat(job, buffers, frame, &Product::of(job)?.params())
    })
    .only(same_shapes),
    Contract::int16("dmo_mul_s16", &Mul, |job, buffers, frame| {
        flat(job, buffers, frame, &Product::of(job)?.params())
    })
    .only(same_shapes),
    Contract::float32("dmo_mul_f32", &Mul, flat_f32).only(same_shapes),
    Contract::int8("dmo_softmax_s8", &Softmax, |job, buffers, frame| {
        fixed_point_softmax(job, buffers, frame, (1.0 / 256.0, -128))
    }),
    Contract::uint8("dmo_softmax_u8", &Softmax, |job, buffers, frame| {
        fixed_point_softmax(job, buffers, frame, (1.0 / 256.0, 0))
    }),
    Contract::new("dmo_softmax_s8_s16", &Softmax, |job, buffers, frame| {
        fixed_point_softmax(job, buffers, frame, (1.0 / 65536.0, -32768))
    })
    .of(Int8, Int16),
    Contract::int16("dmo_softmax_s16", &Softmax, softmax_s16),
    Contract::float32("dmo_softmax_f32", &Softmax, |job, buffers, _| {
        softmax(job, buffers, Argument::Float(job.parameters.beta))
    }),
];

fn elements(case: &Case) -> u32 {
    match &case.operator {
        Operator::Elementwise(layer) => layer.elements,
        Operator::ElementwiseBinary(binary) => binary.output.iter().product(),
        _ => 0,
    }
}

pub(super) fn curve_f32(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    Ok(vec![
        Argument::Word(elements(job.case)),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

pub(super) fn unary(job: &Job, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into()];
    arguments.extend(curve_f32(job, buffers, frame)?);
    Ok(arguments)
}

/// Offsets of input and output, and the ratio of their scales, which keeps every input in
/// 32 bits.
pub(super) fn change_of_scale(
    input: Affine,
    output: Affine,
    input_type: ElementType,
) -> Result<Vec<i32>, CallError> {
    let bits = 8 * input_type.size_bytes() as i32;
    let ratio = scale_ratio(input, output)?.within("ratio of scales", -31..=30 - bits)?;
    let mut params = vec![-input.zero_point, output.zero_point];
    params.extend(ratio.words());
    Ok(params)
}

fn relu(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    unary(job, buffers, frame, &relu_params(job)?)
}

pub(super) fn relu_params(job: &Job) -> Result<Vec<i32>, CallError> {
    let (input, output) = (job.input(0)?, job.output()?);
    let mut params = change_of_scale(input, output, job.case.input_type)?;
    let range = activation_range(Activation::Relu, output, job.case.output_type)?;
    params.extend(range);
    Ok(params)
}

/// TensorFlow Lite Micro keeps the input's numbers, whatever scale the output has.
fn relu6(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let input = job.input(0)?;
    let mut params = change_of_scale(input, input, job.case.input_type)?;
    params.extend(activation_range(
        Activation::Relu6,
        input,
        job.case.input_type,
    )?);
    unary(job, buffers, frame, &params)
}

fn requantize(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.any_input(0)?, job.any_output()?);
    let params = change_of_scale(input, output, job.case.input_type)?;
    unary(job, buffers, frame, &params)
}

/// Logistic function and hyperbolic tangent: the input is brought to Q4.27.
fn sigmoid(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    const INTEGER_BITS: u32 = 4;
    let input = job.input(0)?;
    let what = "scale of the input";
    let ratio = scale(input) * f64::from(31 - INTEGER_BITS).exp2();
    let ratio = Multiplier::with_shift(what, ratio, 0..=30)?;
    let radius = radius(INTEGER_BITS, ratio.shift);
    if radius < 1 {
        return Err(inexpressible(what, input.scale, "scales below 8"));
    }
    let [multiplier, shift] = ratio.words();
    let params = [-input.zero_point, radius, multiplier, shift];
    unary(job, buffers, frame, &params)
}

/// Scales from 2^-12 up to 2^`powers` times that are taken as powers of two where they are nearly
/// so.
fn sigmoid_s16(job: &Job, buffers: &Buffers, frame: &mut Frame, powers: i32) -> Arguments {
    const LIMIT: f64 = 32767.0;
    job.output_is(1.0 / 32768.0, 0)?;
    let input = job.input(0)?;
    let logarithm = input.scale.ln() * (1.0 / 2.0_f32.ln());
    let power = logarithm.round();
    let left = power as i32 + 12;
    let params = if (logarithm - power).abs() < 1e-3 && (0..=powers).contains(&left) {
        [3 << left, 0]
    } else {
        let (mut multiplier, mut shift) = (scale(input) * 4096.0 * 3.0, 0);
        while multiplier <= LIMIT / 2.0 && shift <= 30 {
            (multiplier, shift) = (multiplier * 2.0, shift + 1);
        }
        if multiplier > LIMIT || shift > 30 {
            let limit = "scales from 2^-29 to 2.6";
            return Err(inexpressible("the scale of the input", input.scale, limit));
        }
        [multiplier as i32, shift]
    };
    let params = frame.words("parameters", &params)?;
    let table = frame.place("sigmoid table", sigmoid_table())?;
    let mut arguments = vec![params.into(), table.into()];
    arguments.extend(curve_f32(job, buffers, frame)?);
    Ok(arguments)
}

fn hard_swish(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    // Both ratios are rounded to single precision.
    let fine = input.scale / 128.0;
    let ratio = f64::from(fine / output.scale);
    // The runtime divides 16 bits by this power of two, and by a larger one takes what is not defined.
    let ratio = Multiplier::with_shift("ratio of scales", ratio, -15..=0)?;
    let slope = f64::from(fine / (3.0 / 32768.0));
    let slope = Multiplier::with_shift("slope", slope, -15..=15)?;
    let mut params = vec![-input.zero_point, output.zero_point];
    params.extend(ratio.words_of_15_bits());
    params.extend(slope.words_of_15_bits());
    unary(job, buffers, frame, &params)
}

fn hard_swish_s16(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    let slope = scale(input) / 6.0 * 32768.0;
    let slope = Multiplier::with_shift("slope", slope, -31..=15)?;
    let ratio = scale(input) / scale(output) / 32768.0;
    let ratio = Multiplier::with_shift("ratio of scales", ratio, -31..=0)?;
    let params = [slope.words(), ratio.words()].concat();
    unary(job, buffers, frame, &params)
}

fn leaky_relu(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    let alpha = f64::from(job.parameters.alpha);
    let mut params = change_of_scale(input, output, job.case.input_type)?;
    let ratio = scale(input) * alpha.abs() / scale(output);
    let shifts = -31..=30 - 8 * job.case.input_type.size_bytes() as i32;
    params.extend(Multiplier::with_shift("ratio of scales times alpha", ratio, shifts)?.words());
    params.push(if alpha < 0.0 { -1 } else { 1 });
    unary(job, buffers, frame, &params)
}

fn quantize(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    affine(job, buffers, frame, job.any_output()?)
}

fn dequantize(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    affine(job, buffers, frame, job.any_input(0)?)
}

/// Between floats and quantised numbers.
fn affine(job: &Job, buffers: &Buffers, frame: &mut Frame, quantised: Affine) -> Arguments {
    let params = [bits(quantised.scale), quantised.zero_point];
    unary(job, buffers, frame, &params)
}

pub(super) fn broadcast(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    params: Option<&[i32]>,
) -> Arguments {
    let binary: &operator::ElementwiseBinary = job.operator()?;
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

pub(super) fn broadcast_f32(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(job, buffers, frame, Some(&activation_f32(job)))
}

/// Of integers as they are, however these are quantised (`maximum_minimum.cc`).
pub(super) fn extreme(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(job, buffers, frame, None)
}

fn sum(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    flat(job, buffers, frame, &Sum::of(job)?.params())
}

fn flat(job: &Job, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into(), Argument::Word(elements(job.case))];
    arguments.extend(operands(buffers));
    Ok(arguments)
}

fn flat_f32(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let [low, high] = job.activation_f32().map(Argument::Float);
    let mut arguments = vec![low, high, Argument::Word(elements(job.case))];
    arguments.extend(operands(buffers));
    Ok(arguments)
}

/// Two inputs and the output.
fn operands(buffers: &Buffers) -> [Argument; 3] {
    [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]].map(Argument::from)
}

fn softmax(job: &Job, buffers: &Buffers, params: Argument) -> Arguments {
    let softmax: &operator::Softmax = job.operator()?;
    Ok(vec![
        params,
        Argument::Word(softmax.rows),
        Argument::Word(softmax.depth),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

/// The kernel gives its output in this scale, with this zero point.
fn fixed_point_softmax(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    (scale, zero_point): (f32, i32),
) -> Arguments {
    job.output_is(scale, zero_point)?;
    let params = frame.words("parameters", &softmax_numbers(job, job.parameters.beta)?)?;
    softmax(job, buffers, params.into())
}

fn softmax_s16(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let numbers = SoftmaxInt16::place(job, frame)?;
    let params = frame.words("parameters", &numbers.ratio.words())?;
    let mut arguments = softmax(job, buffers, params.into())?;
    let output = arguments.len() - 1;
    let tables = [numbers.exponentials, numbers.reciprocals];
    arguments.splice(output..output, tables.map(Argument::from));
    Ok(arguments)
}
