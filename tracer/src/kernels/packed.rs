//! Kernels for the DSP extension whose weights are laid out for them. Contracts:
//! `kernels-c/include/dmo_dsp_packed.h`.

mod weights;

use super::case::{is_ungrouped, words};
use super::convolution::{Convolution, shifts};
use super::fully_connected::FullyConnectedNumbers;
use super::reference::geometry;
use super::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use crate::call::{Argument, CallError, Frame, inexpressible};
use dmo_analysis::graph::Kind::{Conv2d, DepthwiseConv2d, FullyConnected};
use dmo_analysis::operator::{self, Operator, Shape};
use dmo_analysis::trace::Address;
use std::ops::RangeInclusive;
use weights::Layer;

/// All of them.
pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_dsp_packed_conv2d_s8", &Conv2d, conv2d)
        .only(|case| is_ungrouped(case) && is_undilated(case))
        .with_scratch(SCRATCH),
    // Of one input channel, which all filters read.
    Contract::int8("dmo_dsp_packed_conv2d_s8", &DepthwiseConv2d, conv2d)
        .only(|case| has_one_channel(case) && is_undilated(case))
        .with_scratch(SCRATCH),
    Contract::int8(
        "dmo_dsp_packed_depthwise_conv2d_3x3_s8",
        &DepthwiseConv2d,
        depthwise_conv2d,
    )
    .only(is_three_by_three),
    Contract::int8(
        "dmo_dsp_packed_fully_connected_s8",
        &FullyConnected,
        fully_connected,
    )
    .only(has_groups),
];

const SCRATCH: ScratchSize =
    ScratchSize::new("dmo_dsp_packed_conv2d_s8_scratch_bytes", |job, frame| {
        let filter = conv2d_filter(&job.convolution()?);
        Ok(vec![frame.words("filter shape", &words(filter))?.into()])
    });

fn is_undilated(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| conv.window.dilation == [1, 1])
}

fn has_one_channel(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| conv.input[3] == 1 && conv.channels() > 1)
}

/// Windows of which at most one row and one column lies outside the input on each side.
fn is_three_by_three(case: &Case) -> bool {
    const CHANNELS: RangeInclusive<u32> = 4..=384;
    let Some(conv) = Convolution::of(case) else {
        return false;
    };
    let window = conv.window;
    let reaches = |axis: usize| {
        let before = window.padding_before[axis];
        let last = (conv.output[axis + 1].max(1) - 1) * window.stride[axis] + 3;
        before <= 1 && last <= conv.input[axis + 1] + before + 1
    };
    conv.multiplier == Some(1)
        && window.kernel == [3, 3]
        && window.dilation == [1, 1]
        && CHANNELS.contains(&conv.channels())
        && reaches(0)
        && reaches(1)
}

/// Groups of four inputs, and outputs that are worth a block of eight.
fn has_groups(case: &Case) -> bool {
    matches!(case.inner(), Operator::FullyConnected(layer)
        if layer.input_depth.is_multiple_of(4) && layer.output_depth > 4)
}

/// The filters as a convolution has them that is not depthwise.
fn conv2d_filter(conv: &Convolution) -> Shape {
    match conv.multiplier {
        None => conv.filter,
        Some(_) => [conv.channels(), conv.filter[1], conv.filter[2], 1],
    }
}

fn params(conv: &Convolution, job: &Job, frame: &mut Frame) -> Result<Address, CallError> {
    let mut params = geometry(conv.window);
    params.extend([
        -job.input(conv.input_operand)?.zero_point,
        job.output()?.zero_point,
    ]);
    params.extend(job.activation()?);
    frame.words("parameters", &params)
}

fn convolve(
    job: &Job,
    conv: &Convolution,
    [filter, packed]: [Address; 2],
    buffers: &Buffers,
    frame: &mut Frame,
) -> Arguments {
    Ok([
        params(conv, job, frame)?,
        frame.words("input shape", &words(conv.input))?,
        buffers.inputs[0],
        filter,
        packed,
        frame.words("output shape", &words(conv.output))?,
        buffers.outputs[0],
    ]
    .map(Argument::from)
    .to_vec())
}

fn conv2d(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let filter = conv2d_filter(&conv);
    let ratios = conv.ratios(job, shifts(job.case.input_type))?;
    let packed = Layer::of(job, &conv, &ratios)?.pairs([filter[1], filter[2] * filter[3]])?;
    let filter = frame.words("filter shape", &words(filter))?;
    let packed = frame.words("packed", &packed)?;
    let mut arguments = convolve(job, &conv, [filter, packed], buffers, frame)?;
    arguments.push(buffers.scratch_address().into());
    Ok(arguments)
}

fn depthwise_conv2d(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let ratios = conv.ratios(job, shifts(job.case.input_type))?;
    let packed = Layer::of(job, &conv, &ratios)?.blocks_of_channels();
    let filter = frame.words("filter shape", &words(conv.filter))?;
    let packed = frame.words("packed", &packed)?;
    convolve(job, &conv, [filter, packed], buffers, frame)
}

fn fully_connected(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let layer: &operator::FullyConnected = job.operator()?;
    let numbers = FullyConnectedNumbers::of(job)?;
    if numbers.filter_offset() != 0 {
        let zero_point = -numbers.filter_offset();
        return Err(inexpressible(
            "the zero point of the filter",
            zero_point,
            "0",
        ));
    }
    let conv = job.convolution()?;
    let ratios = vec![numbers.ratio; layer.output_depth as usize];
    let packed = Layer::of(job, &conv, &ratios)?.blocks_of_outputs(numbers.ratio)?;
    let mut params = vec![job.output()?.zero_point];
    params.extend(job.activation()?);
    params.extend(numbers.ratio.words());
    let params = frame.words("parameters", &params)?;
    let packed = frame.words("packed", &packed)?;
    let mut arguments = vec![Argument::from(params)];
    let extents = [layer.batches, layer.input_depth, layer.output_depth];
    arguments.extend(extents.map(Argument::Word));
    arguments.extend([buffers.inputs[0], packed, buffers.outputs[0]].map(Argument::from));
    Ok(arguments)
}
