//! Kernels on parts of larger tensors. Contracts: `kernels-c/include/dmo_pitched.h`,
//! `dmo_dsp_pitched.h`.

use super::convolutions::{filter_shape, float, quantised, with_scratch};
use super::elementwise::relu_params;
use super::moves::pad_any;
use super::pools;
use super::{BufferShape, words};
use crate::call::{Argument, Frame};
use crate::kernels::case::{is_ungrouped, undilated_pool};
use crate::kernels::elementwise::{Product, Sum};
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind::{
    Add, AveragePool2d, Conv2d, DepthwiseConv2d, MaxPool2d, Mul, Pad, Relu, Relu6,
};
use dmo_analysis::operator::Operator;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_dsp_conv2d_pitched_s8", &Conv2d, with_scratch)
        .only(is_ungrouped)
        .with_scratch(ScratchSize::new(
            "dmo_dsp_conv2d_pitched_s8_scratch_bytes",
            filter_shape,
        ))
        .pitched(),
    Contract::int8(
        "dmo_dsp_depthwise_conv2d_pitched_s8",
        &DepthwiseConv2d,
        quantised,
    )
    .pitched(),
    Contract::int8("dmo_conv2d_pitched_s8", &Conv2d, quantised).pitched(),
    Contract::float32("dmo_conv2d_pitched_f32", &Conv2d, float).pitched(),
    Contract::int8(
        "dmo_depthwise_conv2d_pitched_s8",
        &DepthwiseConv2d,
        quantised,
    )
    .pitched(),
    Contract::float32("dmo_depthwise_conv2d_pitched_f32", &DepthwiseConv2d, float).pitched(),
    Contract::int8("dmo_max_pool_pitched_s8", &MaxPool2d, pools::quantised)
        .only(undilated_pool)
        .pitched(),
    Contract::float32("dmo_max_pool_pitched_f32", &MaxPool2d, pools::float)
        .only(undilated_pool)
        .pitched(),
    Contract::int8("dmo_avg_pool_pitched_s8", &AveragePool2d, pools::quantised)
        .only(undilated_pool)
        .pitched(),
    Contract::float32("dmo_avg_pool_pitched_f32", &AveragePool2d, pools::float)
        .only(undilated_pool)
        .pitched(),
    Contract::int8("dmo_add_pitched_s8", &Add, |job, buffers, frame| {
        quantised_elements(job, buffers, frame, &Sum::of(job)?.params())
    })
    .pitched(),
    Contract::float32("dmo_add_pitched_f32", &Add, clamped).pitched(),
    Contract::int8("dmo_mul_pitched_s8", &Mul, |job, buffers, frame| {
        quantised_elements(job, buffers, frame, &Product::of(job)?.params())
    })
    .pitched(),
    Contract::float32("dmo_mul_pitched_f32", &Mul, clamped).pitched(),
    Contract::int8("dmo_relu_pitched_s8", &Relu, |job, buffers, frame| {
        quantised_elements(job, buffers, frame, &relu_params(job)?)
    })
    .pitched(),
    Contract::float32("dmo_relu_pitched_f32", &Relu, unclamped).pitched(),
    Contract::float32("dmo_relu6_pitched_f32", &Relu6, unclamped).pitched(),
    Contract::new("dmo_pad_pitched", &Pad, pad_any).pitched(),
];

fn clamped(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let range = job.activation_f32().map(Argument::Float);
    elements(job, buffers, frame, &range)
}

fn unclamped(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    elements(job, buffers, frame, &[])
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
