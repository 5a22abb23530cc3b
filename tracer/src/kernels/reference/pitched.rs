//! Kernels on parts of larger tensors. Contracts: `kernels-c/include/dmo_pitched.h`,
//! `dmo_dsp_pitched.h`.

use super::convolutions::{filter_shape, float, quantised, with_scratch};
use super::elementwise::relu_params;
use super::moves::pad_any;
use super::pools::{self, pool, undilated};
use super::{BufferShape, activation_f32, all, is, words};
use crate::call::{Argument, Frame};
use crate::kernels::elementwise::{Product, Sum};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::ElementType::{self, Float32, Int8};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_dsp_conv2d_pitched_s8",
        |case| {
            all(case, Int8) && matches!(case.inner(), Operator::Conv2d(conv) if conv.groups == 1)
        },
        with_scratch,
    )
    .with_scratch(ScratchSize::new(
        "dmo_dsp_conv2d_pitched_s8_scratch_bytes",
        filter_shape,
    ))
    .pitched(),
    Contract::new(
        "dmo_dsp_depthwise_conv2d_pitched_s8",
        |case| depthwise(case, Int8),
        quantised,
    )
    .pitched(),
    Contract::new(
        "dmo_conv2d_pitched_s8",
        |case| conv2d(case, Int8),
        quantised,
    )
    .pitched(),
    Contract::new(
        "dmo_conv2d_pitched_f32",
        |case| conv2d(case, Float32),
        float,
    )
    .pitched(),
    Contract::new(
        "dmo_depthwise_conv2d_pitched_s8",
        |case| depthwise(case, Int8),
        quantised,
    )
    .pitched(),
    Contract::new(
        "dmo_depthwise_conv2d_pitched_f32",
        |case| depthwise(case, Float32),
        float,
    )
    .pitched(),
    Contract::new(
        "dmo_max_pool_pitched_s8",
        |case| undilated(case, Kind::MaxPool2d, Int8),
        pools::quantised,
    )
    .pitched(),
    Contract::new(
        "dmo_max_pool_pitched_f32",
        |case| undilated(case, Kind::MaxPool2d, Float32),
        |job, buffers, frame| pool(job, buffers, frame, activation_f32(job)),
    )
    .pitched(),
    Contract::new(
        "dmo_avg_pool_pitched_s8",
        |case| undilated(case, Kind::AveragePool2d, Int8),
        pools::quantised,
    )
    .pitched(),
    Contract::new(
        "dmo_avg_pool_pitched_f32",
        |case| undilated(case, Kind::AveragePool2d, Float32),
        |job, buffers, frame| pool(job, buffers, frame, activation_f32(job)),
    )
    .pitched(),
    Contract::new(
        "dmo_add_pitched_s8",
        |case| is(case, Kind::Add, Int8),
        |job, buffers, frame| quantised_elements(job, buffers, frame, &Sum::of(job)?.params()),
    )
    .pitched(),
    Contract::new(
        "dmo_add_pitched_f32",
        |case| is(case, Kind::Add, Float32),
        |job, buffers, frame| elements(job, buffers, frame, &clamp(job)),
    )
    .pitched(),
    Contract::new(
        "dmo_mul_pitched_s8",
        |case| is(case, Kind::Mul, Int8),
        |job, buffers, frame| quantised_elements(job, buffers, frame, &Product::of(job)?.params()),
    )
    .pitched(),
    Contract::new(
        "dmo_mul_pitched_f32",
        |case| is(case, Kind::Mul, Float32),
        |job, buffers, frame| elements(job, buffers, frame, &clamp(job)),
    )
    .pitched(),
    Contract::new(
        "dmo_relu_pitched_s8",
        |case| is(case, Kind::Relu, Int8),
        |job, buffers, frame| quantised_elements(job, buffers, frame, &relu_params(job)?),
    )
    .pitched(),
    Contract::new(
        "dmo_relu_pitched_f32",
        |case| is(case, Kind::Relu, Float32),
        |job, buffers, frame| elements(job, buffers, frame, &[]),
    )
    .pitched(),
    Contract::new(
        "dmo_relu6_pitched_f32",
        |case| is(case, Kind::Relu6, Float32),
        |job, buffers, frame| elements(job, buffers, frame, &[]),
    )
    .pitched(),
    Contract::new("dmo_pad_pitched", |case| case.kind == Kind::Pad, pad_any).pitched(),
];

fn conv2d(case: &Case, element_type: ElementType) -> bool {
    all(case, element_type) && matches!(case.inner(), Operator::Conv2d(_))
}

fn depthwise(case: &Case, element_type: ElementType) -> bool {
    all(case, element_type) && matches!(case.inner(), Operator::DepthwiseConv2d(_))
}

fn clamp(job: &Job) -> [Argument; 2] {
    job.activation_f32().map(Argument::Float)
}

fn quantised_elements(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    params: &[i32],
) -> Arguments {
    let params = frame.words("parameters", params)?;
    elements(job, buffers, frame, &[params.into()])
}

/// The shape that all have, then pitch and buffer of each input and the output.
fn elements(job: &Job, buffers: &Buffers, frame: &mut Frame, head: &[Argument]) -> Arguments {
    let Operator::Pitched(pitched) = &job.case.operator else {
        return Ok(Vec::new());
    };
    let inputs = pitched.input_views().unwrap_or_default();
    let outputs = pitched.output_views().unwrap_or_default();
    let mut arguments = head.to_vec();
    let shape = outputs.first().map(|view| view.shape).unwrap_or_default();
    arguments.push(frame.words("shape", &words(shape))?.into());
    for (what, views, addresses) in [
        ("input", inputs, &buffers.inputs),
        ("output", outputs, &buffers.outputs),
    ] {
        for (view, &address) in views.into_iter().zip(addresses) {
            arguments.extend(BufferShape::from(view).pitch(what, frame)?);
            arguments.push(address.into());
        }
    }
    Ok(arguments)
}
