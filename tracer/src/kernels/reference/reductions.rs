//! Reductions. Contracts: `kernels-c/include/dmo_reduce.h`, `dmo_reduce_axes.h`,
//! `dmo_int16.h`.

use super::{in_and_out, output_shape};
use crate::call::{Argument, Frame};
use crate::kernels::quantisation::{Multiplier, scale_ratio};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind::{Mean, ReduceAll, ReduceMax, ReduceMin, Sum};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::operator::{self, Operator, Reduction};
use dmo_analysis::trace::ElementType::{Bool, Int16};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_mean_s8", &Mean, mean).only(spatial_mean),
    Contract::int16("dmo_mean_s16", &Mean, mean).only(spatial_mean),
    Contract::float32("dmo_mean_f32", &Mean, in_and_out)
        .only(|case| reduces(case, Reduction::Mean)),
    Contract::float32("dmo_sum_f32", &Sum, in_and_out).only(folds),
    Contract::float32("dmo_reduce_max_f32", &ReduceMax, in_and_out).only(folds),
    Contract::float32("dmo_reduce_min_f32", &ReduceMin, in_and_out).only(folds),
    Contract::int8("dmo_sum_s8", &Sum, sum)
        .only(|case| reduces(case, Reduction::Scratch))
        .with_scratch(ScratchSize::new("dmo_sum_s8_scratch_bytes", output_shape)),
    Contract::new("dmo_sum_s16", &Sum, sum)
        .of(Int16, Int16)
        .only(|case| reduces(case, Reduction::Scratch))
        .with_scratch(ScratchSize::new("dmo_sum_s16_scratch_bytes", output_shape)),
    Contract::new("dmo_reduce_all", &ReduceAll, in_and_out)
        .of(Bool, Bool)
        .only(folds),
    Contract::int8("dmo_reduce_max_s8", &ReduceMax, extreme).only(folds),
    Contract::int8("dmo_reduce_min_s8", &ReduceMin, extreme).only(folds),
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

fn extreme(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    job.same_scales(1, 0.0)?;
    in_and_out(job, buffers, frame)
}

/// The kernels are given zero points, not offsets.
fn quantised(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    [input, output]: [Affine; 2],
    ratio: Multiplier,
) -> Arguments {
    let mut params = vec![input.zero_point, output.zero_point];
    params.extend(ratio.words());
    let mut arguments = vec![frame.words("parameters", &params)?.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}

fn mean(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let mean: &operator::SpatialMean = job.operator()?;
    let [_, height, width, _] = mean.input;
    let affines = [job.input(0)?, job.output()?];
    let ratio = scale_ratio(affines[0], affines[1])?;
    let ratio = ratio.divided(height.saturating_mul(width));
    quantised(job, buffers, frame, affines, ratio)
}

fn sum(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let affines = [job.any_input(0)?, job.any_output()?];
    let ratio = scale_ratio(affines[0], affines[1])?;
    let mut arguments = quantised(job, buffers, frame, affines, ratio)?;
    arguments.push(Argument::from(buffers.scratch_address()));
    Ok(arguments)
}
