//! Concatenation, padding, reshaping, transposing.

use crate::call::{Argument, Frame};
use crate::kernels::case::words;
use crate::kernels::moves::padding_word;
use crate::kernels::{Buffers, Case, Contract, Job, Prepare, SeveralArguments};
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{self, Concat, Operator, Shape};

pub(super) const CONTRACTS: &[Contract] = &[
    concatenation("arm_concatenation_s8_x").only(|case| joins(case, 3)),
    concatenation("arm_concatenation_s8_y").only(|case| joins(case, 2)),
    concatenation("arm_concatenation_s8_z").only(|case| joins(case, 1)),
    concatenation("arm_concatenation_s8_w").only(|case| joins(case, 0)),
    Contract::int8("arm_pad_s8", &Kind::Pad, |job, buffers, frame| {
        let pad: &operator::Pad = job.operator()?;
        let after: Shape = [0, 1, 2, 3]
            .map(|axis| pad.output[axis].saturating_sub(pad.input[axis] + pad.before[axis]));
        Ok(vec![
            buffers.inputs[0].into(),
            buffers.outputs[0].into(),
            Argument::Word(padding_word(job)?),
            frame.words("input dims", &words(pad.input))?.into(),
            frame.words("padding before", &words(pad.before))?.into(),
            frame.words("padding after", &words(after))?.into(),
        ])
    })
    .with_status()
    .since(7),
    Contract::int8("arm_reshape_s8", &Kind::Reshape, |job, buffers, _| {
        let reshape: &operator::Reshape = job.operator()?;
        Ok(vec![
            buffers.inputs[0].into(),
            buffers.outputs[0].into(),
            Argument::Word(reshape.elements),
        ])
    }),
    Contract::int8(
        "arm_transpose_s8",
        &Kind::Transpose,
        |job, buffers, frame| {
            let transpose: &operator::Transpose = job.operator()?;
            let output = transpose
                .permutation
                .map(|axis| transpose.input[axis as usize]);
            let axes = frame.words("permutation", &words(transpose.permutation))?;
            let params = frame.words("parameters", &[4, axes.0 as i32])?;
            Ok(vec![
                buffers.inputs[0].into(),
                buffers.outputs[0].into(),
                frame.words("input dims", &words(transpose.input))?.into(),
                frame.words("output dims", &words(output))?.into(),
                params.into(),
            ])
        },
    )
    .with_status()
    .since(7),
];

const fn concatenation(function: &'static str) -> Contract {
    Contract {
        prepare: Prepare::Several(concat),
        ..Contract::int8(function, &Kind::Concatenation, |_, _, _| Ok(Vec::new()))
    }
}

/// A concatenation along this axis whose extents fit in the 16 bits that the functions take.
fn joins(case: &Case, axis: u32) -> bool {
    let fits = |shape: &Shape| shape.iter().all(|&extent| extent <= u16::MAX.into());
    matches!(&case.operator, Operator::Concat(concat)
        if concat.axis == axis && concat.inputs.iter().all(fits) && joined(concat) <= u16::MAX.into())
}

/// Extent of the output along the axis.
fn joined(concat: &Concat) -> u64 {
    let extent = |shape: &Shape| u64::from(shape[concat.axis as usize]);
    concat.inputs.iter().map(extent).sum()
}

/// One call an input.
fn concat(job: &Job, buffers: &Buffers, _: &mut Frame) -> SeveralArguments {
    let concat: &operator::Concat = job.operator()?;
    job.same_scales(concat.inputs.len(), 0.0)?;
    let axis = concat.axis as usize;
    let mut offset = 0;
    let mut calls = Vec::new();
    for (shape, &input) in concat.inputs.iter().zip(&buffers.inputs) {
        let mut arguments = vec![input.into()];
        // The axis that varies fastest comes first.
        arguments.extend(shape.iter().rev().map(|&extent| Argument::Word(extent)));
        arguments.push(buffers.outputs[0].into());
        if axis != 0 {
            arguments.push(Argument::Word(joined(concat) as u32));
        }
        arguments.push(Argument::Word(offset));
        offset += shape[axis];
        calls.push(arguments);
    }
    Ok(calls)
}
