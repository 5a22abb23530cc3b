//! Operators of two elements and more. Contracts: `kernels-c/include/dmo_broadcast.h`,
//! `dmo_choice.h`, `dmo_elementwise.h`, `dmo_int16.h`.

use super::elementwise::{broadcast, broadcast_f32, extreme};
use super::moves::pointers;
use super::words;
use crate::call::{Argument, CallError, Frame, inexpressible};
use crate::kernels::elementwise::{Product, Sum};
use crate::kernels::quantisation::{Multiplier, offset, scale, scale_ratio};
use crate::kernels::{Arguments, Buffers, Contract, Job};
use dmo_analysis::graph::Kind::{
    self, Add, AddN, Div, Equal, FloorDiv, FloorMod, Greater, GreaterEqual, Less, LessEqual,
    LogicalAnd, LogicalOr, Maximum, Minimum, Mul, NotEqual, Prelu, SelectV2, SquaredDifference,
    Sub,
};
use dmo_analysis::graph::parameters::Activation;
use dmo_analysis::operator;
use dmo_analysis::trace::ElementType::{self, Bool, Float32, Int8, Int16, Int32, Int64};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::float32("dmo_prelu_f32", &Prelu, plain),
    Contract::int8("dmo_prelu_s8", &Prelu, prelu),
    Contract::int16("dmo_prelu_s16", &Prelu, prelu),
    Contract::float32("dmo_broadcast_div_f32", &Div, broadcast_f32),
    Contract::int8("dmo_broadcast_div_s8", &Div, quotient),
    Contract::float32("dmo_floor_div_f32", &FloorDiv, plain),
    Contract::float32("dmo_floor_mod_f32", &FloorMod, plain),
    Contract::float32("dmo_squared_difference_f32", &SquaredDifference, plain),
    Contract::int8(
        "dmo_squared_difference_s8",
        &SquaredDifference,
        |job, buffers, frame| squared_difference(job, buffers, frame, 7),
    ),
    Contract::int16(
        "dmo_squared_difference_s16",
        &SquaredDifference,
        |job, buffers, frame| squared_difference(job, buffers, frame, 0),
    ),
    Contract::int16("dmo_maximum_s16", &Maximum, extreme),
    Contract::int16("dmo_minimum_s16", &Minimum, extreme),
    Contract::new("dmo_maximum_s32", &Maximum, extreme).of(Int32, Int32),
    Contract::new("dmo_minimum_s32", &Minimum, extreme).of(Int32, Int32),
    Contract::new("dmo_maximum_s64", &Maximum, extreme).of(Int64, Int64),
    Contract::new("dmo_minimum_s64", &Minimum, extreme).of(Int64, Int64),
    Contract::new("dmo_broadcast_add_s32", &Add, |job, buffers, frame| {
        // TensorFlow Lite Micro leaves it out.
        if job.parameters.activation != Activation::None {
            let given = format!("{:?}", job.parameters.activation);
            return Err(inexpressible("the activation of integers", given, "none"));
        }
        integers(job, buffers, frame)
    })
    .of(Int32, Int32),
    Contract::new("dmo_broadcast_sub_s32", &Sub, integers).of(Int32, Int32),
    Contract::new("dmo_broadcast_mul_s32", &Mul, integers).of(Int32, Int32),
    Contract::new("dmo_broadcast_div_s32", &Div, integers).of(Int32, Int32),
    Contract::new("dmo_squared_difference_s32", &SquaredDifference, plain).of(Int32, Int32),
    Contract::int16("dmo_broadcast_add_s16", &Add, sum),
    Contract::int16("dmo_broadcast_sub_s16", &Sub, sum),
    Contract::int16("dmo_broadcast_mul_s16", &Mul, |job, buffers, frame| {
        broadcast(job, buffers, frame, Some(&Product::of(job)?.params()))
    }),
    relation("dmo_compare_f32", &Equal, Float32),
    relation("dmo_compare_s8", &Equal, Int8),
    relation("dmo_compare_s32", &Equal, Int32),
    relation("dmo_compare_s64", &Equal, Int64),
    relation("dmo_compare_bool", &Equal, Bool),
    relation("dmo_compare_f32", &NotEqual, Float32),
    relation("dmo_compare_s8", &NotEqual, Int8),
    relation("dmo_compare_s32", &NotEqual, Int32),
    relation("dmo_compare_s64", &NotEqual, Int64),
    relation("dmo_compare_bool", &NotEqual, Bool),
    relation("dmo_compare_f32", &Greater, Float32),
    relation("dmo_compare_s8", &Greater, Int8),
    relation("dmo_compare_s32", &Greater, Int32),
    relation("dmo_compare_s64", &Greater, Int64),
    relation("dmo_compare_f32", &GreaterEqual, Float32),
    relation("dmo_compare_s8", &GreaterEqual, Int8),
    relation("dmo_compare_s32", &GreaterEqual, Int32),
    relation("dmo_compare_s64", &GreaterEqual, Int64),
    relation("dmo_compare_f32", &Less, Float32),
    relation("dmo_compare_s8", &Less, Int8),
    relation("dmo_compare_s32", &Less, Int32),
    relation("dmo_compare_s64", &Less, Int64),
    relation("dmo_compare_f32", &LessEqual, Float32),
    relation("dmo_compare_s8", &LessEqual, Int8),
    relation("dmo_compare_s32", &LessEqual, Int32),
    relation("dmo_compare_s64", &LessEqual, Int64),
    Contract::new("dmo_logical_and", &LogicalAnd, plain).of(Bool, Bool),
    Contract::new("dmo_logical_or", &LogicalOr, plain).of(Bool, Bool),
    Contract::new("dmo_select", &SelectV2, select).of(Bool, Int8),
    Contract::new("dmo_select", &SelectV2, select).of(Bool, Int16),
    Contract::new("dmo_select", &SelectV2, select).of(Bool, Float32),
    Contract::float32("dmo_add_n_f32", &AddN, |job, buffers, frame| {
        add_n(job, buffers, frame, None)
    }),
    Contract::int8("dmo_add_n_s8", &AddN, |job, buffers, frame| {
        let (input, output) = (job.input(0)?, job.output()?);
        job.same_inputs(buffers.inputs.len())?;
        let fine = f64::from(1 << 20) * scale(output);
        let ratio = Multiplier::with_shift(RATIO, 2.0 * scale(input) / fine, -31..=0)?;
        let mut params = vec![-input.zero_point, output.zero_point];
        params.extend(ratio.words());
        add_n(job, buffers, frame, Some(&params))
    }),
];

const RATIO: &str = "ratio of scales";

const fn relation(
    function: &'static str,
    kind: &'static Kind,
    element_type: ElementType,
) -> Contract {
    Contract::new(function, kind, compare).of(element_type, Bool)
}

/// Of whose numbers nothing is to be said.
fn plain(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(job, buffers, frame, None)
}

fn sum(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    broadcast(job, buffers, frame, Some(&Sum::of(job)?.params()))
}

/// Integers that are no numbers on a scale.
fn integers(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (low, high) = job.parameters.activation.limits();
    // A limit that is infinite is the least or the greatest integer.
    broadcast(job, buffers, frame, Some(&[low as i32, high as i32]))
}

/// The ratio of scales is of single precision. Below the least shift TensorFlow Lite Micro shifts by
/// more bits than a word has.
fn quotient(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (a, b, output) = (job.input(0)?, job.input(1)?, job.output()?);
    let ratio = f64::from(a.scale / (b.scale * output.scale));
    let ratio = Multiplier::with_shift(RATIO, ratio, 6..=23)?;
    let mut params = vec![-a.zero_point, -b.zero_point, output.zero_point];
    params.extend(ratio.words());
    params.extend(job.activation()?);
    broadcast(job, buffers, frame, Some(&params))
}

/// The slopes have 8 bits.
fn prelu(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    let slope = job.parameters.operand(1);
    let bits = 8 * job.case.input_type.size_bytes() as i32;
    let positive = scale_ratio(input, output)?.within(RATIO, -31..=30 - bits)?;
    let negative = scale(input) * scale(slope) / scale(output);
    let negative = Multiplier::with_shift("ratio of scales by slopes", negative, -31..=6)?;
    let mut params = vec![
        -input.zero_point,
        offset("slopes", slope, Int8)?,
        output.zero_point,
    ];
    params.extend([positive.words(), negative.words()].concat());
    broadcast(job, buffers, frame, Some(&params))
}

/// Both inputs have this many more bits in their common scale.
fn squared_difference(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    more_bits: i32,
) -> Arguments {
    let (a, b, output) = (job.input(0)?, job.input(1)?, job.output()?);
    let common = 2.0 * f64::from(a.scale.max(b.scale));
    let fine = f64::from(f32::powi(2.0, 2 * more_bits) * output.scale);
    let mut params = vec![-a.zero_point, -b.zero_point, output.zero_point];
    for ratio in [scale(a) / common, scale(b) / common, common * common / fine] {
        params.extend(Multiplier::with_shift(RATIO, ratio, -31..=0)?.words());
    }
    params.extend(job.activation()?);
    broadcast(job, buffers, frame, Some(&params))
}

/// A relation is a word of its own, or, in 8 bits, the first of the parameters.
fn compare(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let relation = match job.case.kind {
        Equal => 0,
        NotEqual => 1,
        Greater => 2,
        GreaterEqual => 3,
        Less => 4,
        _ => 5,
    };
    if job.case.input_type != Int8 {
        let mut arguments = vec![Argument::Word(relation)];
        arguments.extend(broadcast(job, buffers, frame, None)?);
        return Ok(arguments);
    }
    let (a, b) = (job.input(0)?, job.input(1)?);
    let mut params = vec![relation as i32, -a.zero_point, -b.zero_point];
    for input in [a, b] {
        let what = "scale of an input";
        params.extend(Multiplier::with_shift(what, scale(input), -31..=0)?.words());
    }
    broadcast(job, buffers, frame, Some(&params))
}

fn many<'a>(job: &'a Job) -> Result<&'a operator::ElementwiseMany, CallError> {
    job.operator()
}

fn select(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let choice = many(job)?;
    let mut arguments = vec![Argument::Word(choice.output_element_bytes)];
    for (input, &buffer) in choice.inputs.iter().zip(&buffers.inputs) {
        let shape = frame.words("input shape", &words(input.shape))?;
        arguments.extend([Argument::from(shape), buffer.into()]);
    }
    let shape = frame.words("output shape", &words(choice.output))?;
    arguments.extend([Argument::from(shape), buffers.outputs[0].into()]);
    Ok(arguments)
}

fn add_n(job: &Job, buffers: &Buffers, frame: &mut Frame, params: Option<&[i32]>) -> Arguments {
    let sum = many(job)?;
    let mut arguments = Vec::new();
    if let Some(params) = params {
        arguments.push(frame.words("parameters", params)?.into());
    }
    let count = sum.output.iter().product();
    arguments.extend([sum.inputs.len() as u32, count].map(Argument::Word));
    arguments.push(pointers(frame, &buffers.inputs)?);
    arguments.push(buffers.outputs[0].into());
    Ok(arguments)
}
