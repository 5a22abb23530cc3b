//! Convolutions: the wrappers, and what they choose from.

use super::{context, context_of, tile};
use crate::call::{Argument, CallError, Frame};
use crate::kernels::case::{is_ungrouped, words};
use crate::kernels::constants::bias_type;
use crate::kernels::convolution::{Convolution, shifts};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize, size};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Operator, Window};
use dmo_analysis::trace::Address;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("arm_convolve_wrapper_s8", &Kind::Conv2d, convolve)
        .with_status()
        .with_scratch(WRAPPER_SCRATCH)
        .since(6),
    Contract::int8("arm_convolve_wrapper_s8", &Kind::Conv2d, convolve)
        .only(is_ungrouped)
        .with_status()
        .with_scratch(WRAPPER_SCRATCH),
    Contract::int8("arm_convolve_s8", &Kind::Conv2d, |job, buffers, frame| {
        let mut arguments = convolve(job, buffers, frame)?;
        // Without the factors of a transposed convolution.
        let output_dims = arguments.len().saturating_sub(2);
        arguments.insert(output_dims, Argument::Word(0));
        Ok(arguments)
    })
    .with_status()
    .with_scratch(CONVOLVE_SCRATCH)
    .since(7),
    Contract::int8("arm_convolve_s8", &Kind::Conv2d, convolve)
        .with_status()
        .with_scratch(CONVOLVE_SCRATCH)
        .since(6)
        .until(6),
    Contract::int8("arm_convolve_s8", &Kind::Conv2d, convolve)
        .only(is_ungrouped)
        .with_status()
        .with_scratch(CONVOLVE_SCRATCH)
        .until(6),
    Contract::int8("arm_convolve_1x1_s8_fast", &Kind::Conv2d, convolve)
        .only(|case| {
            is_pointwise(case) && window(case).is_some_and(|window| window.stride == [1, 1])
        })
        .with_status()
        .with_scratch(ScratchSize::new(
            "arm_convolve_1x1_s8_fast_get_buffer_size",
            input_dims,
        )),
    Contract::int8("arm_convolve_1x1_s8", &Kind::Conv2d, convolve)
        .only(is_pointwise)
        .with_status(),
    Contract::int8("arm_convolve_1_x_n_s8", &Kind::Conv2d, convolve)
        .only(is_row)
        .with_status()
        .with_scratch(ScratchSize::new(
            "arm_convolve_1_x_n_s8_get_buffer_size",
            params_and_dims,
        ))
        .since(6),
    Contract::int8("arm_convolve_1_x_n_s8", &Kind::Conv2d, convolve)
        .only(is_row)
        .with_status()
        .with_scratch(ScratchSize::new(
            "arm_convolve_1_x_n_s8_get_buffer_size",
            input_and_filter,
        ))
        .until(5),
    Contract::int8(
        "arm_depthwise_conv_wrapper_s8",
        &Kind::DepthwiseConv2d,
        convolve,
    )
    .with_status()
    .with_scratch(ScratchSize::new(
        "arm_depthwise_conv_wrapper_s8_get_buffer_size",
        params_and_dims,
    )),
    Contract::int8("arm_depthwise_conv_s8", &Kind::DepthwiseConv2d, convolve).with_status(),
    Contract::int8(
        "arm_depthwise_conv_s8_opt",
        &Kind::DepthwiseConv2d,
        convolve,
    )
    .only(is_one_to_one)
    .with_status()
    .with_scratch(ScratchSize::new(
        "arm_depthwise_conv_s8_opt_get_buffer_size",
        input_and_filter,
    )),
    Contract::int8(
        "arm_depthwise_conv_3x3_s8",
        &Kind::DepthwiseConv2d,
        convolve,
    )
    .only(is_three_by_three)
    .with_status(),
    Contract::int8(
        "arm_transpose_conv_wrapper_s8",
        &Kind::TransposeConv,
        convolve,
    )
    .only(is_undilated)
    .with_status()
    .with_scratch(TRANSPOSE_SCRATCH)
    .since(7),
    Contract::int8("arm_transpose_conv_s8", &Kind::TransposeConv, convolve)
        .only(|case| is_undilated(case) && !is_reversible(case))
        .with_status()
        .with_scratch(TRANSPOSE_SCRATCH)
        .since(7),
    convolve_s16("arm_convolve_wrapper_s16", WRAPPER_SCRATCH_S16).since(6),
    convolve_s16_before_6("arm_convolve_wrapper_s16", WRAPPER_SCRATCH_S16),
    convolve_s16("arm_convolve_s16", CONVOLVE_SCRATCH_S16).since(6),
    convolve_s16_before_6("arm_convolve_s16", CONVOLVE_SCRATCH_S16),
    convolve_s16_before_6(
        "arm_convolve_fast_s16",
        ScratchSize::new("arm_convolve_fast_s16_get_buffer_size", input_and_filter),
    )
    .only(|case| is_ungrouped(case) && is_undilated(case) && has_few_products(case)),
    // The runtime calls it for all shapes, and not the wrapper.
    Contract::int16("arm_depthwise_conv_s16", &Kind::DepthwiseConv2d, convolve).with_status(),
    Contract::int16(
        "arm_depthwise_conv_wrapper_s16",
        &Kind::DepthwiseConv2d,
        convolve,
    )
    .with_status()
    .with_scratch(ScratchSize::new(
        "arm_depthwise_conv_wrapper_s16_get_buffer_size",
        params_and_dims,
    )),
    Contract::int16(
        "arm_depthwise_conv_fast_s16",
        &Kind::DepthwiseConv2d,
        convolve,
    )
    .only(|case| is_one_to_one(case) && is_undilated(case) && has_few_products(case))
    .with_status()
    .with_scratch(ScratchSize::new(
        "arm_depthwise_conv_fast_s16_get_buffer_size",
        input_and_filter,
    )),
];

const fn convolve_s16(function: &'static str, scratch: ScratchSize) -> Contract {
    Contract::int16(function, &Kind::Conv2d, convolve_with_typed_bias)
        .only_of_vendors(is_ungrouped)
        .with_status()
        .with_scratch(scratch)
}

/// With the bias as it is.
const fn convolve_s16_before_6(function: &'static str, scratch: ScratchSize) -> Contract {
    Contract::int16(function, &Kind::Conv2d, convolve)
        .only(is_ungrouped)
        .with_status()
        .with_scratch(scratch)
        .until(5)
}

const WRAPPER_SCRATCH_S16: ScratchSize =
    ScratchSize::new("arm_convolve_wrapper_s16_get_buffer_size", params_and_dims);

const CONVOLVE_SCRATCH_S16: ScratchSize =
    ScratchSize::new("arm_convolve_s16_get_buffer_size", input_and_filter);

const TRANSPOSE_SCRATCH: ScratchSize =
    ScratchSize::new("arm_transpose_conv_s8_get_buffer_size", params_and_dims).then(
        "arm_transpose_conv_s8_get_reverse_conv_buffer_size",
        |job, frame| {
            let mut arguments = params_and_dims(job, frame)?;
            // Without the output.
            arguments.pop();
            Ok(arguments)
        },
    );

pub(super) const WRAPPER_SCRATCH: ScratchSize =
    ScratchSize::new("arm_convolve_wrapper_s8_get_buffer_size", params_and_dims);

const CONVOLVE_SCRATCH: ScratchSize =
    ScratchSize::new("arm_convolve_s8_get_buffer_size", input_and_filter);

/// 1x1, not padded, not grouped.
pub(super) fn is_pointwise(case: &Case) -> bool {
    is_ungrouped(case)
        && window(case)
            .is_some_and(|window| window.kernel == [1, 1] && window.padding_before == [0, 0])
}

/// Along one row, not dilated, not grouped.
pub(super) fn is_row(case: &Case) -> bool {
    let Operator::Conv2d(conv) = &case.operator else {
        return false;
    };
    let window = conv.window;
    conv.groups == 1
        && [conv.input[1], conv.output[1], window.kernel[0]] == [1; 3]
        && window.dilation == [1, 1]
        && window.padding_before[0] == 0
}

pub(super) fn is_one_to_one(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| conv.multiplier == Some(1))
}

fn is_three_by_three(case: &Case) -> bool {
    is_one_to_one(case)
        && window(case).is_some_and(|window| {
            window.kernel == [3, 3] && window.dilation == [1, 1] && window.padding_before[1] <= 1
        })
}

fn is_transposed(case: &Case) -> bool {
    matches!(case.inner(), Operator::TransposeConv2d(_))
}

pub(super) fn is_undilated(case: &Case) -> bool {
    window(case).is_some_and(|window| window.dilation == [1, 1])
}

/// So few products for each element that their sum fits in 32 bits, which the fast functions rely on.
fn has_few_products(case: &Case) -> bool {
    const LIMIT: u64 = 512;
    Convolution::of(case).is_some_and(|conv| {
        let [_, height, width, depth] = conv.filter;
        let depth = if conv.multiplier.is_some() { 1 } else { depth };
        size([1, height, width, depth]) < LIMIT
    })
}

/// Whether the vendor may compute it as a convolution with the filter reversed. The size functions
/// then tell of that, whatever function is called.
fn is_reversible(case: &Case) -> bool {
    window(case).is_some_and(|window| window.stride.into_iter().all(|stride| stride <= 2))
}

pub(super) fn window(case: &Case) -> Option<Window> {
    Convolution::of(case).map(|conv| conv.window)
}

fn params(conv: &Convolution, job: &Job, frame: &mut Frame) -> Result<Address, CallError> {
    let input = job.input(conv.input_operand)?;
    let mut params = vec![-input.zero_point, job.output()?.zero_point];
    params.extend(conv.multiplier.map(|multiplier| multiplier as i32));
    params.extend(tile(conv.window.stride));
    params.extend(tile(conv.window.padding_before));
    if is_transposed(job.case) {
        // Of rows and columns that the kernels do not look at.
        params.extend([0, 0]);
    }
    params.extend(tile(conv.window.dilation));
    params.extend(job.activation()?);
    frame.words("parameters", &params)
}

/// Dims of input, filter and output.
fn dims(conv: &Convolution, frame: &mut Frame) -> Result<[Address; 3], CallError> {
    Ok([
        frame.words("input dims", &words(conv.input))?,
        frame.words("filter dims", &words(conv.filter))?,
        frame.words("output dims", &words(conv.output))?,
    ])
}

pub(super) fn params_and_dims(job: &Job, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let params = params(&conv, job, frame)?;
    let [input, filter, output] = dims(&conv, frame)?;
    Ok([params, input, filter, output].map(Argument::from).to_vec())
}

pub(super) fn input_dims(job: &Job, frame: &mut Frame) -> Arguments {
    let mut arguments = input_and_filter(job, frame)?;
    arguments.truncate(1);
    Ok(arguments)
}

pub(super) fn input_and_filter(job: &Job, frame: &mut Frame) -> Arguments {
    let conv = job.convolution()?;
    let [input, filter, _] = dims(&conv, frame)?;
    Ok([input, filter].map(Argument::from).to_vec())
}

fn convolve(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    convolve_of(job, TensorType::Int8, buffers, frame, |bias, _| Ok(bias))
}

/// With the bias as a structure of its address and of whether its elements have 32 bits, which they
/// have not.
fn convolve_with_typed_bias(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    convolve_of(job, TensorType::Int8, buffers, frame, |bias, frame| {
        frame.words("typed bias", &[bias.0 as i32, 0])
    })
}

/// Of weights of this type.
pub(super) fn convolve_of(
    job: &Job,
    filter_type: TensorType,
    buffers: &Buffers,
    frame: &mut Frame,
    passed_bias: fn(Address, &mut Frame) -> Result<Address, CallError>,
) -> Arguments {
    let conv = job.convolution()?;
    let activations = job.case.input_type;
    let quant = conv.per_channel(job, shifts(activations), frame)?;
    let [filter, bias] = conv.weights(job, filter_type, bias_type(activations), frame)?;
    let bias = passed_bias(bias, frame)?;
    let bias_dims = frame.words("bias dims", &[1, 1, 1, conv.channels() as i32])?;
    let [input_dims, filter_dims, output_dims] = dims(&conv, frame)?;
    let mut arguments = vec![context(buffers, frame)?];
    if is_transposed(job.case) {
        arguments.push(reversed_filter(&conv, buffers, frame)?);
    }
    arguments.extend([
        params(&conv, job, frame)?,
        quant,
        input_dims,
        buffers.inputs[0],
        filter_dims,
        filter,
        bias_dims,
        bias,
        output_dims,
        buffers.outputs[0],
    ]);
    Ok(arguments.into_iter().map(Argument::from).collect())
}

/// The context of the memory for the reversed filter: the end of the scratch memory, if the library
/// asks for it at all.
fn reversed_filter(
    conv: &Convolution,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Result<Address, CallError> {
    let (address, size_bytes) = buffers.scratch.unwrap_or_default();
    let filter_bytes = u32::try_from(size(conv.filter)).unwrap_or(u32::MAX);
    let bytes = filter_bytes.min(size_bytes);
    context_of(address.0 + (size_bytes - bytes), frame)
}
