//! Pooling. Contracts: `kernels-c/include/dmo_pool.h`, `dmo_int16.h`, `dmo_uint8.h`.

use super::{activation_f32, in_and_out, tiles};
use crate::call::{Argument, Frame};
use crate::kernels::case::undilated_pool;
use crate::kernels::quantisation::POOL_TOLERANCE;
use crate::kernels::{Arguments, Buffers, Contract, Job};
use dmo_analysis::graph::Kind::{AveragePool2d, L2Pool2d, MaxPool2d};
use dmo_analysis::operator;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_max_pool_s8", &MaxPool2d, quantised).only(undilated_pool),
    Contract::int16("dmo_max_pool_s16", &MaxPool2d, quantised).only(undilated_pool),
    Contract::uint8("dmo_max_pool_u8", &MaxPool2d, quantised).only(undilated_pool),
    Contract::float32("dmo_max_pool_f32", &MaxPool2d, float).only(undilated_pool),
    Contract::int8("dmo_avg_pool_s8", &AveragePool2d, quantised).only(undilated_pool),
    Contract::int16("dmo_avg_pool_s16", &AveragePool2d, quantised).only(undilated_pool),
    Contract::uint8("dmo_avg_pool_u8", &AveragePool2d, quantised).only(undilated_pool),
    Contract::float32("dmo_avg_pool_f32", &AveragePool2d, float).only(undilated_pool),
    Contract::float32("dmo_l2_pool_f32", &L2Pool2d, float).only(undilated_pool),
];

pub(super) fn quantised(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    job.same_scales(1, POOL_TOLERANCE)?;
    pool(job, buffers, frame, job.activation()?)
}

pub(super) fn float(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    pool(job, buffers, frame, activation_f32(job))
}

fn pool(job: &Job, buffers: &Buffers, frame: &mut Frame, activation: [i32; 2]) -> Arguments {
    let pool: &operator::Pool2d = job.operator()?;
    let window = pool.window;
    let mut params = tiles([window.kernel, window.stride, window.padding_before]);
    params.extend(activation);
    let mut arguments: Vec<Argument> = vec![frame.words("parameters", &params)?.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}
