//! Functions of one element. Contracts: `kernels-c/include/dmo_unary.h`.

use super::elementwise::{change_of_scale, curve_f32, unary};
use crate::call::{Argument, Frame, inexpressible};
use crate::kernels::quantisation::{Multiplier, limits};
use crate::kernels::{Arguments, Buffers, Contract, Job};
use dmo_analysis::graph::Kind::{
    Abs, Cast, Ceil, Cos, Elu, Exp, Floor, Log, LogicalNot, Neg, Round, Rsqrt, Sin, Sqrt, Square,
};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::trace::ElementType::{self, Bool, Float32, Int8, Int16, Int32, Uint32};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::float32("dmo_abs_f32", &Abs, curve_f32),
    Contract::float32("dmo_neg_f32", &Neg, curve_f32),
    Contract::float32("dmo_square_f32", &Square, curve_f32),
    Contract::float32("dmo_sqrt_f32", &Sqrt, curve_f32),
    Contract::float32("dmo_rsqrt_f32", &Rsqrt, curve_f32),
    Contract::float32("dmo_exp_f32", &Exp, curve_f32),
    Contract::float32("dmo_log_f32", &Log, curve_f32),
    Contract::float32("dmo_sin_f32", &Sin, curve_f32),
    Contract::float32("dmo_cos_f32", &Cos, curve_f32),
    Contract::float32("dmo_floor_f32", &Floor, curve_f32),
    Contract::float32("dmo_ceil_f32", &Ceil, curve_f32),
    Contract::float32("dmo_round_f32", &Round, curve_f32),
    Contract::float32("dmo_elu_f32", &Elu, curve_f32),
    Contract::int8("dmo_abs_s8", &Abs, abs),
    Contract::int16("dmo_abs_s16", &Abs, abs),
    Contract::int8("dmo_rsqrt_s8", &Rsqrt, rsqrt),
    Contract::int8("dmo_lookup_s8", &Elu, |job, buffers, frame| {
        lookup(
            job,
            buffers,
            frame,
            |x| if x < 0.0 { x.exp() - 1.0 } else { x },
        )
    }),
    // The same bits.
    cast(Uint32, Int32),
    cast(Int32, Uint32),
    cast(Bool, Int8),
    cast(Bool, Int16),
    cast(Bool, Int32),
    cast(Bool, Float32),
    cast(Int8, Int8),
    cast(Int8, Int16),
    cast(Int8, Int32),
    cast(Int8, Float32),
    cast(Int16, Int8),
    cast(Int16, Int16),
    cast(Int16, Int32),
    cast(Int16, Float32),
    cast(Int32, Int8),
    cast(Int32, Int16),
    cast(Int32, Int32),
    cast(Int32, Float32),
    cast(Float32, Int8),
    cast(Float32, Int16),
    cast(Float32, Int32),
    cast(Float32, Float32),
    Contract::new("dmo_logical_not", &LogicalNot, curve_f32).of(Bool, Bool),
];

const fn cast(from: ElementType, to: ElementType) -> Contract {
    Contract::new("dmo_cast", &Cast, |job, buffers, frame| {
        let types = [job.case.input_type, job.case.output_type];
        let mut arguments = types.map(|it| Argument::Word(type_number(it))).to_vec();
        arguments.extend(curve_f32(job, buffers, frame)?);
        Ok(arguments)
    })
    .of(from, to)
}

/// As `dmo_element_type` numbers them.
fn type_number(element_type: ElementType) -> u32 {
    match element_type {
        Bool => 0,
        Int8 => 1,
        Int16 => 2,
        Int32 | Uint32 => 3,
        _ => 4,
    }
}

fn abs(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    if job.case.input_type == Int16 && [input, output] == [Affine::PLAIN; 2] {
        let what = "the quantisation of 16-bit numbers";
        return Err(inexpressible(what, "missing", "a scale other than 1"));
    }
    let params = change_of_scale(input, output, job.case.input_type)?;
    unary(job, buffers, frame, &params)
}

fn rsqrt(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    let ratio = 1.0 / (f64::from(input.scale).sqrt() * f64::from(output.scale));
    let ratio = Multiplier::with_shift("ratio of scales", ratio, -11..=30)?;
    let [multiplier, shift] = ratio.words();
    let params = [-input.zero_point, output.zero_point, multiplier, shift];
    unary(job, buffers, frame, &params)
}

/// By a table of 256 results, in single precision.
fn lookup(job: &Job, buffers: &Buffers, frame: &mut Frame, function: fn(f32) -> f32) -> Arguments {
    let (input, output) = (job.input(0)?, job.output()?);
    let [least, greatest] = limits(job.case.output_type)?;
    let inverse_scale = 1.0 / output.scale;
    let entry = |unsigned: u8| {
        let number = i32::from(unsigned as i8) - input.zero_point;
        let steps = (function(input.scale * number as f32) * inverse_scale).round();
        let quantised = (steps + output.zero_point as f32) as i32;
        quantised.clamp(least, greatest) as u8
    };
    let table = frame.place("table", (0..=u8::MAX).map(entry).collect())?;
    let mut arguments = vec![table.into()];
    arguments.extend(curve_f32(job, buffers, frame)?);
    Ok(arguments)
}
