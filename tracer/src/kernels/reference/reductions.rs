//! Reductions. Contracts: `kernels-c/include/dmo_reduce.h`, `dmo_reduce_axes.h`,
//! `dmo_int16.h`.

use super::{in_and_out, output_shape};
use crate::call::{Argument, Frame};
use crate::kernels::quantisation::{Multiplier, scale_ratio};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind::{Mean, ReduceMax, ReduceMin, Sum};
use dmo_analysis::operator::{self, Operator, Reduction};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_mean_s8", &Mean, mean).only(spatial_mean),
    Contract::int16("dmo_mean_s16", &Mean, mean).only(spatial_mean),
    Contract::float32("dmo_mean_f32", &Mean, in_and_out)
        .only(|case| reduces(case, Reduction::Mean)),
    Contract::float32("dmo_sum_f32", &Sum, in_and_out).only(folds),
    Contract::float32("dmo_reduce_max_f32", &ReduceMax, in_and_out).only(folds),
    Contract::float32("dmo_reduce_min_f32", &ReduceMin, in_and_out).only(folds),
    Contract::int8("dmo_sum_s8", &Sum, sum_s8)
        .only(|case| reduces(case, Reduction::Scratch))
        .with_scratch(ScratchSize::new("dmo_sum_s8_scratch_bytes", output_shape)),
];

fn spatial_mean(case: &Case) -> bool {
    matches!(case.operator, Operator::SpatialMean(_))
}

fn folds(case: &Case) -> bool {
    reduces(case, Reduction::Fold)
}

fn reduces(case: &Case, reduction: Reduction) -> bool {
    matches!(&case.operator, Operator::Reduce(reduce) if reduce.reduction == reduction)
}

/// The kernels are given zero points, not offsets.
fn quantised(job: &Job, buffers: &Buffers, frame: &mut Frame, ratio: Multiplier) -> Arguments {
    let mut params = vec![job.input(0)?.zero_point, job.output()?.zero_point];
    params.extend(ratio.words());
    let mut arguments = vec![frame.words("parameters", &params)?.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}

fn mean(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let mean: &operator::SpatialMean = job.operator()?;
    let [_, height, width, _] = mean.input;
    let ratio = scale_ratio(job.input(0)?, job.output()?)?;
    let ratio = ratio.divided(height.saturating_mul(width));
    quantised(job, buffers, frame, ratio)
}

fn sum_s8(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let ratio = scale_ratio(job.input(0)?, job.output()?)?;
    let mut arguments = quantised(job, buffers, frame, ratio)?;
    arguments.push(Argument::from(buffers.scratch_address()));
    Ok(arguments)
}
