//! Convolutions. Contracts: `kernels-c/include/dmo_conv.h`, `dmo_int4.h`, `dmo_int16.h`, `dmo_uint8.h`,
//! `dmo_transposed_conv.h`, `dmo_depthwise_in_place.h`,
//! `dmo_dsp_depthwise_in_place.h`.

use super::{activation_f32, first_shapes, geometry, input_shape, output_shape, words};
use crate::call::{Argument, Frame};
use crate::kernels::constants::bias_type;
use crate::kernels::convolution::{Convolution, FILTER, shifts};
use crate::kernels::quantisation::{offset, product_ratio};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind::{Conv2d, DepthwiseConv2d, TransposeConv};
use dmo_analysis::graph::TensorType;
use dmo_analysis::trace::{Address, ElementType};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_conv2d_s8", &Conv2d, quantised),
    Contract::int16("dmo_conv2d_s16", &Conv2d, quantised),
    Contract::uint8("dmo_conv2d_u8", &Conv2d, per_tensor),
    Contract::float32("dmo_conv2d_f32", &Conv2d, float),
    Contract::int4("dmo_conv2d_s4", &Conv2d, quantised_s4),
    Contract::int8("dmo_depthwise_conv2d_s8", &DepthwiseConv2d, quantised),
    Contract::int16("dmo_depthwise_conv2d_s16", &DepthwiseConv2d, quantised),
    Contract::uint8("dmo_depthwise_conv2d_u8", &DepthwiseConv2d, per_tensor),
    Contract::float32("dmo_depthwise_conv2d_f32", &DepthwiseConv2d, float),
    Contract::int4("dmo_depthwise_conv2d_s4", &DepthwiseConv2d, quantised_s4),
    Contract::int8(
        "dmo_dsp_depthwise_conv2d_in_place_s8",
        &DepthwiseConv2d,
        with_scratch,
    )
    .in_place()
    .with_scratch(ONE_CHANNEL),
    Contract::int8(
        "dmo_depthwise_conv2d_in_place_s8",
        &DepthwiseConv2d,
        with_scratch,
    )
    .in_place()
    .with_scratch(ONE_CHANNEL),
    Contract::int8("dmo_transposed_conv2d_s8", &TransposeConv, with_scratch)
        .only(undilated)
        .with_scratch(ScratchSize::new(
            "dmo_transposed_conv2d_s8_scratch_bytes",
            output_shape,
        )),
    Contract::int16("dmo_transposed_conv2d_s16", &TransposeConv, with_scratch)
        .only(undilated)
        .with_scratch(ScratchSize::new(
            "dmo_transposed_conv2d_s16_scratch_bytes",
            output_shape,
        )),
    Contract::float32("dmo_transposed_conv2d_f32", &TransposeConv, float).only(undilated),
];

const ONE_CHANNEL: ScratchSize = ScratchSize::new(
    "dmo_depthwise_conv2d_in_place_s8_scratch_bytes",
    input_shape,
);

fn undilated(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| conv.window.dilation == [1, 1])
}

/// Pointers in the order that all the kernels share.
fn arguments(
    job: &Job,
    conv: &Convolution,
    buffers: &Buffers,
    frame: &mut Frame,
    head: &[Address],
    [filter, bias]: [Address; 2],
) -> Arguments {
    let [input, output] = first_shapes(job.case).unwrap_or_default();
    let mut arguments: Vec<Argument> = head.iter().map(|&at| at.into()).collect();
    arguments.extend(input.arguments("input", buffers.inputs[0], frame)?);
    let filter_shape = frame.words("filter shape", &words(conv.filter))?;
    arguments.extend([filter_shape, filter, bias].map(Argument::from));
    arguments.extend(output.arguments("output", buffers.outputs[0], frame)?);
    Ok(arguments)
}

pub(super) fn quantised(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_of(job, TensorType::Int8, buffers, frame)
}

fn quantised_s4(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_of(job, TensorType::Int4, buffers, frame)
}

/// Of weights of this type.
fn quantised_of(
    job: &Job,
    filter_type: TensorType,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Arguments {
    let conv = job.convolution()?;
    let activations = job.case.input_type;
    let quant = conv.per_channel(job, shifts(activations), frame)?;
    let input = job.input(conv.input_operand)?;
    let mut params = geometry(conv.window);
    params.extend([-input.zero_point, job.output()?.zero_point]);
    params.extend(job.activation()?);
    let params = frame.words("parameters", &params)?;
    let weights = conv.weights(job, filter_type, bias_type(activations), frame)?;
    arguments(job, &conv, buffers, frame, &[params, quant], weights)
}

/// One ratio for all channels, and a zero point of the filter.
fn per_tensor(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let (input, output) = (job.input(conv.input_operand)?, job.output()?);
    let filter = job.per_tensor(FILTER, "filter")?;
    let ratio = product_ratio(input, filter, output)?;
    let mut params = geometry(conv.window);
    let filter_offset = offset("filter", filter, ElementType::Uint8)?;
    params.extend([-input.zero_point, filter_offset, output.zero_point]);
    params.extend(job.activation()?);
    let head = [
        frame.words("parameters", &params)?,
        frame.words("quantisation", &ratio.words())?,
    ];
    let weights = conv.weights(job, ElementType::Uint8, ElementType::Int32, frame)?;
    arguments(job, &conv, buffers, frame, &head, weights)
}

/// The filter's shape, of which the size of the scratch memory follows.
pub(super) fn filter_shape(job: &Job, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    Ok(vec![
        frame.words("filter shape", &words(conv.filter))?.into(),
    ])
}

/// The sums of a transposed convolution are kept in scratch memory, and the channel that a
/// convolution in place stores over.
pub(super) fn with_scratch(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let mut arguments = quantised(job, buffers, frame)?;
    arguments.push(Argument::from(buffers.scratch_address()));
    Ok(arguments)
}

pub(super) fn float(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let mut params = geometry(conv.window);
    params.extend(activation_f32(job));
    let params = frame.words("parameters", &params)?;
    let weights = conv.weights(job, ElementType::Float32, ElementType::Float32, frame)?;
    arguments(job, &conv, buffers, frame, &[params], weights)
}
