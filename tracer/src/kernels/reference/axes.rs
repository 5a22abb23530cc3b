//! Operators along an axis, and rows that are normalised. Contract:
//! `kernels-c/include/dmo_along_axis.h`.

use crate::call::{Argument, CallError, Frame, inexpressible};
use crate::kernels::elementwise::softmax_numbers;
use crate::kernels::quantisation::{Multiplier, scale};
use crate::kernels::{Arguments, Buffers, Contract, Job};
use dmo_analysis::graph::Kind::{ArgMax, ArgMin, Cumsum, L2Normalization, LogSoftmax};
use dmo_analysis::operator::{self, ArgExtreme};
use dmo_analysis::trace::ElementType::{Float32, Int8, Int32};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new("dmo_arg_extreme_s8", &ArgMax, arg_extreme).of(Int8, Int32),
    Contract::new("dmo_arg_extreme_s8", &ArgMin, arg_extreme).of(Int8, Int32),
    Contract::new("dmo_arg_extreme_f32", &ArgMax, arg_extreme).of(Float32, Int32),
    Contract::new("dmo_arg_extreme_f32", &ArgMin, arg_extreme).of(Float32, Int32),
    Contract::float32("dmo_cumulative_sum_f32", &Cumsum, |job, buffers, frame| {
        Ok([&[cumulative_sum(job, frame)?], &in_and_out(buffers)[..]].concat())
    }),
    Contract::int8("dmo_cumulative_sum_s8", &Cumsum, |job, buffers, frame| {
        let (input, output) = (job.input(0)?, job.output()?);
        let ratio = 2.0 * scale(input) / (f64::from(1 << 20) * scale(output));
        let ratio = Multiplier::with_shift("ratio of scales", ratio, -31..=0)?;
        let [multiplier, shift] = ratio.words();
        let quant = [-input.zero_point, output.zero_point, multiplier, shift];
        let params = cumulative_sum(job, frame)?;
        let quant = frame.words("quantisation", &quant)?;
        Ok([&[params, quant.into()], &in_and_out(buffers)[..]].concat())
    }),
    Contract::int8(
        "dmo_l2_normalisation_s8",
        &L2Normalization,
        |job, buffers, _| {
            job.output_is(1.0 / 128.0, 0)?;
            let offset = Argument::Word((-job.input(0)?.zero_point) as u32);
            rows(job, buffers, Some(offset))
        },
    ),
    Contract::float32(
        "dmo_l2_normalisation_f32",
        &L2Normalization,
        |job, buffers, _| rows(job, buffers, None),
    ),
    Contract::int8("dmo_log_softmax_s8", &LogSoftmax, log_softmax_s8),
    Contract::float32("dmo_log_softmax_f32", &LogSoftmax, |job, buffers, _| {
        rows(job, buffers, None)
    }),
];

fn in_and_out(buffers: &Buffers) -> [Argument; 2] {
    [buffers.inputs[0], buffers.outputs[0]].map(Argument::from)
}

fn arg_extreme(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let extreme: &ArgExtreme = job.operator()?;
    let size = [extreme.before, extreme.extent, extreme.after].map(|extent| extent as i32);
    let size = frame.words("size", &size)?;
    let greatest = Argument::Word(u32::from(job.case.kind == ArgMax));
    Ok([&[size.into(), greatest], &in_and_out(buffers)[..]].concat())
}

fn cumulative_sum(job: &Job, frame: &mut Frame) -> Result<Argument, CallError> {
    let sum: &operator::CumulativeSum = job.operator()?;
    let size = [sum.before, sum.extent, sum.after].map(|extent| extent as i32);
    let modes = [sum.exclusive, sum.reverse].map(i32::from);
    Ok(frame
        .words("parameters", &[&size[..], &modes].concat())?
        .into())
}

/// Number of rows and of their elements, and the buffers.
fn rows(job: &Job, buffers: &Buffers, first: Option<Argument>) -> Arguments {
    let rows: &operator::Softmax = job.operator()?;
    let mut arguments: Vec<Argument> = first.into_iter().collect();
    arguments.extend([rows.rows, rows.depth].map(Argument::Word));
    arguments.extend(in_and_out(buffers));
    Ok(arguments)
}

/// The numbers of a softmax, and the way back to steps of the input.
fn log_softmax_s8(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    job.output_is(1.0 / 16.0, 127)?;
    let [multiplier, shift, least] = softmax_numbers(job, 1.0)?;
    if shift < 1 {
        let given = job.input(0)?.scale;
        return Err(inexpressible(
            "the scale of the input",
            given,
            "numbers from 2^-26",
        ));
    }
    let inverse = f64::from(31 - shift).exp2() / f64::from(multiplier);
    let inverse = Multiplier::with_shift("the inverse of the scale", inverse, -31..=0)?;
    let params = [&[multiplier, shift, least], &inverse.words()[..]].concat();
    let params = frame.words("parameters", &params)?;
    rows(job, buffers, Some(params.into()))
}
