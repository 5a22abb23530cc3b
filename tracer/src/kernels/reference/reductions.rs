//! Reductions. Contracts: `kernels-c/include/dmo_reduce.h`, `dmo_reduce_axes.h`,
//! `dmo_int16.h`.

use super::{all, in_and_out, is, output_shape, shapes, size};
use crate::call::{Argument, Frame};
use crate::kernels::{Arguments, Buffers, Case, Contract, ScratchSize};
use dmo_analysis::operator::{Operator, Reduction};
use dmo_analysis::trace::ElementType::{Float32, Int8, Int16};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_mean_s8",
        |case| spatial_mean(case) && all(case, Int8),
        |case, buffers, frame| quantised(case, buffers, frame, &[3, -5, 1 << 30, 1]),
    ),
    Contract::new(
        "dmo_mean_s16",
        |case| spatial_mean(case) && all(case, Int16),
        // Zero points are of 8 bits only.
        |case, buffers, frame| quantised(case, buffers, frame, &[0, 0, 1 << 30, 1]),
    ),
    Contract::new(
        "dmo_mean_f32",
        |case| reduces(case, Reduction::Mean) && is(case, "mean", Float32),
        plain,
    ),
    Contract::new(
        "dmo_sum_f32",
        |case| reduces(case, Reduction::Fold) && is(case, "sum", Float32),
        plain,
    ),
    Contract::new(
        "dmo_reduce_max_f32",
        |case| reduces(case, Reduction::Fold) && is(case, "reduce_max", Float32),
        plain,
    ),
    Contract::new(
        "dmo_reduce_min_f32",
        |case| reduces(case, Reduction::Fold) && is(case, "reduce_min", Float32),
        plain,
    ),
    Contract::new(
        "dmo_sum_s8",
        |case| reduces(case, Reduction::Scratch) && is(case, "sum", Int8),
        sum_s8,
    )
    .with_scratch(ScratchSize {
        function: "dmo_sum_s8_scratch_bytes",
        arguments: output_shape,
    }),
];

fn spatial_mean(case: &Case) -> bool {
    matches!(case.operator, Operator::SpatialMean(_))
}

fn reduces(case: &Case, reduction: Reduction) -> bool {
    matches!(&case.operator, Operator::Reduce(reduce) if reduce.reduction == reduction)
}

fn plain(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    Ok(in_and_out(case, buffers, frame)?.to_vec())
}

fn quantised(case: &Case, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into()];
    arguments.extend(in_and_out(case, buffers, frame)?);
    Ok(arguments)
}

fn sum_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let (input, output) = shapes(case).unwrap_or_default();
    // A sum of n deviates sqrt(n) times as much as an element.
    let terms = (size(input) / size(output).max(1)).max(1);
    let shift = -((terms as f64).log2() / 2.0).round() as i32;
    let mut arguments = quantised(case, buffers, frame, &[3, -5, 1 << 30, shift])?;
    arguments.push(Argument::from(buffers.scratch_address()));
    Ok(arguments)
}
