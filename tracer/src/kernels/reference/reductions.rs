//! Reductions. Contracts: `kernels-c/include/dmo_reduce.h`, `dmo_reduce_axes.h`,
//! `dmo_int16.h`.

use super::{all, in_and_out, is, output_shape};
use crate::call::{Argument, Frame};
use crate::kernels::quantisation::{Multiplier, scale_ratio};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Operator, Reduction};
use dmo_analysis::trace::ElementType::{Float32, Int8, Int16};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_mean_s8",
        |case| spatial_mean(case) && all(case, Int8),
        mean,
    ),
    Contract::new(
        "dmo_mean_s16",
        |case| spatial_mean(case) && all(case, Int16),
        mean,
    ),
    Contract::new(
        "dmo_mean_f32",
        |case| reduces(case, Reduction::Mean) && is(case, Kind::Mean, Float32),
        plain,
    ),
    Contract::new(
        "dmo_sum_f32",
        |case| reduces(case, Reduction::Fold) && is(case, Kind::Sum, Float32),
        plain,
    ),
    Contract::new(
        "dmo_reduce_max_f32",
        |case| reduces(case, Reduction::Fold) && is(case, Kind::ReduceMax, Float32),
        plain,
    ),
    Contract::new(
        "dmo_reduce_min_f32",
        |case| reduces(case, Reduction::Fold) && is(case, Kind::ReduceMin, Float32),
        plain,
    ),
    Contract::new(
        "dmo_sum_s8",
        |case| reduces(case, Reduction::Scratch) && is(case, Kind::Sum, Int8),
        sum_s8,
    )
    .with_scratch(ScratchSize::new("dmo_sum_s8_scratch_bytes", output_shape)),
];

fn spatial_mean(case: &Case) -> bool {
    matches!(case.operator, Operator::SpatialMean(_))
}

fn reduces(case: &Case, reduction: Reduction) -> bool {
    matches!(&case.operator, Operator::Reduce(reduce) if reduce.reduction == reduction)
}

fn plain(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    Ok(in_and_out(job, buffers, frame)?.to_vec())
}

/// The kernels are told zero points, not offsets.
fn quantised(job: &Job, buffers: &Buffers, frame: &mut Frame, ratio: Multiplier) -> Arguments {
    let mut params = vec![job.input(0)?.zero_point, job.output()?.zero_point];
    params.extend(ratio.words());
    let mut arguments = vec![frame.words("parameters", &params)?.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}

fn mean(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::SpatialMean(mean) = &job.case.operator else {
        return Ok(Vec::new());
    };
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
