//! Pooling. Contracts: `kernels-c/include/dmo_pool.h`, `dmo_int16.h`, `dmo_uint8.h`.

use super::{activation_f32, in_and_out, is, tiles};
use crate::call::{Argument, Frame};
use crate::kernels::quantisation::POOL_TOLERANCE;
use crate::kernels::{Arguments, Buffers, Case, Contract, Job};
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::ElementType;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_max_pool_s8",
        |case| undilated(case, Kind::MaxPool2d, ElementType::Int8),
        quantised,
    ),
    Contract::new(
        "dmo_max_pool_s16",
        |case| undilated(case, Kind::MaxPool2d, ElementType::Int16),
        quantised,
    ),
    Contract::new(
        "dmo_max_pool_u8",
        |case| undilated(case, Kind::MaxPool2d, ElementType::Uint8),
        quantised,
    ),
    Contract::new(
        "dmo_max_pool_f32",
        |case| undilated(case, Kind::MaxPool2d, ElementType::Float32),
        |job, buffers, frame| pool(job, buffers, frame, activation_f32(job)),
    ),
    Contract::new(
        "dmo_avg_pool_s8",
        |case| undilated(case, Kind::AveragePool2d, ElementType::Int8),
        quantised,
    ),
    Contract::new(
        "dmo_avg_pool_s16",
        |case| undilated(case, Kind::AveragePool2d, ElementType::Int16),
        quantised,
    ),
    Contract::new(
        "dmo_avg_pool_u8",
        |case| undilated(case, Kind::AveragePool2d, ElementType::Uint8),
        quantised,
    ),
    Contract::new(
        "dmo_avg_pool_f32",
        |case| undilated(case, Kind::AveragePool2d, ElementType::Float32),
        |job, buffers, frame| pool(job, buffers, frame, activation_f32(job)),
    ),
];

pub(super) fn undilated(case: &Case, kind: Kind, element_type: ElementType) -> bool {
    is(case, kind, element_type)
        && matches!(case.inner(), Operator::Pool2d(pool) if pool.window.dilation == [1, 1])
}

pub(super) fn quantised(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    job.same_scales(1, POOL_TOLERANCE)?;
    pool(job, buffers, frame, job.activation()?)
}

pub(super) fn pool(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    activation: [i32; 2],
) -> Arguments {
    let Operator::Pool2d(pool) = job.case.inner() else {
        return Ok(Vec::new());
    };
    let window = pool.window;
    let mut params = tiles([window.kernel, window.stride, window.padding_before]);
    params.extend(activation);
    let mut arguments: Vec<Argument> = vec![frame.words("parameters", &params)?.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}
