//! Fully connected layers and matrix products. Contracts: `kernels-c/include/dmo_matmul.h`,
//! `dmo_batched_matmul.h`, `dmo_int4.h`, `dmo_int16.h`, `dmo_uint8.h`.

use super::convolutions::quantised;
use super::{activation_f32, words};
use crate::call::{Argument, Frame};
use crate::kernels::constants::bias_type;
use crate::kernels::convolution::shifts;
use crate::kernels::fully_connected::{FullyConnectedNumbers, filter_type, weights};
use crate::kernels::quantisation::product_ratio;
use crate::kernels::{Arguments, Buffers, Contract, Job, Prepare, SeveralArguments};
use dmo_analysis::graph::Kind::{BatchMatmul, FullyConnected, Matmul};
use dmo_analysis::graph::TensorType;
use dmo_analysis::operator;
use dmo_analysis::trace::{Address, ElementType};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_fully_connected_s8", &FullyConnected, dense),
    Contract::int16("dmo_fully_connected_s16", &FullyConnected, dense),
    Contract::uint8("dmo_fully_connected_u8", &FullyConnected, dense),
    Contract::float32("dmo_fully_connected_f32", &FullyConnected, dense_f32),
    Contract::int4(
        "dmo_fully_connected_s4",
        &FullyConnected,
        |job, buffers, frame| dense_of(job, TensorType::Int4, buffers, frame),
    ),
    // With a scale for each output: a convolution of one pixel for each batch, whose loops are the
    // same.
    Contract::int8("dmo_conv2d_s8", &FullyConnected, quantised),
    Contract::int16("dmo_conv2d_s16", &FullyConnected, quantised),
    Contract {
        prepare: Prepare::Several(quantised_matmul),
        ..Contract::int8("dmo_batched_matmul_s8", &BatchMatmul, unprepared)
    },
    Contract {
        prepare: Prepare::Several(quantised_matmul),
        ..Contract::int16("dmo_batched_matmul_s16", &BatchMatmul, unprepared)
    },
    Contract {
        prepare: Prepare::Several(|job, buffers, frame| batched_matmul(job, buffers, frame, None)),
        ..Contract::float32("dmo_batched_matmul_f32", &BatchMatmul, unprepared)
    },
    Contract::new("dmo_matmul_s8", &Matmul, matmul).of(ElementType::Int8, ElementType::Int32),
    Contract::float32("dmo_matmul_f32", &Matmul, matmul),
];

fn dense(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    dense_of(job, filter_type(job.case.input_type).into(), buffers, frame)
}

/// Of weights of this type.
fn dense_of(job: &Job, filter_type: TensorType, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let activations = job.case.input_type;
    let numbers = FullyConnectedNumbers::of(job)?;
    let ratio = numbers
        .ratio
        .within("ratio of scales", shifts(activations))?;
    let head = [
        frame.words("parameters", &numbers.params())?,
        frame.words("quantisation", &ratio.words())?,
    ];
    let types = (filter_type, bias_type(activations));
    layer(job, buffers, frame, &head.map(Argument::from), types)
}

fn dense_f32(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let params = frame.words("parameters", &activation_f32(job))?;
    let types = (TensorType::Float32, ElementType::Float32);
    layer(job, buffers, frame, &[params.into()], types)
}

/// What follows the parameters, for weights and bias of these types.
fn layer(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    head: &[Argument],
    (filter_type, bias_type): (TensorType, ElementType),
) -> Arguments {
    let layer: &operator::FullyConnected = job.operator()?;
    let [filter, bias] = weights(job, layer, filter_type, bias_type, frame)?;
    let extents = [layer.batches, layer.input_depth, layer.output_depth];
    let pointers = [buffers.inputs[0], filter, bias, buffers.outputs[0]];
    let mut arguments = head.to_vec();
    arguments.extend(extents.map(Argument::Word));
    arguments.extend(pointers.map(Argument::from));
    Ok(arguments)
}

fn quantised_matmul(job: &Job, buffers: &Buffers, frame: &mut Frame) -> SeveralArguments {
    let (a, b, output) = (job.input(0)?, job.input(1)?, job.output()?);
    let ratio =
        product_ratio(a, b, output)?.within("ratio of scales", shifts(job.case.input_type))?;
    let mut params = vec![-a.zero_point, -b.zero_point, output.zero_point];
    params.extend(ratio.words());
    params.extend(job.activation()?);
    let params = frame.words("parameters", &params)?;
    batched_matmul(job, buffers, frame, Some(params.into()))
}

/// One call for each of the outer batches.
fn batched_matmul(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    params: Option<Argument>,
) -> SeveralArguments {
    let matmul: &operator::BatchedMatmul = job.operator()?;
    let extents = [matmul.batches, matmul.rows, matmul.inner, matmul.columns];
    let strides = matmul.strides().concat();
    let strides = strides.iter().map(|&elements| elements as i32);
    let size: Vec<i32> = words(extents).into_iter().chain(strides).collect();
    let size = frame.words("size", &size)?;
    let outer = matmul.outer_strides();
    let [first, second] = matmul.outer.map(|axis| u64::from(axis.extent));
    let mut calls = Vec::new();
    for (o, p) in (0..first).flat_map(|o| (0..second).map(move |p| (o, p))) {
        let offsets = [0, 1, 2].map(|at| o * outer[0][at] + p * outer[1][at]);
        let operand = |side: usize, frame: &mut Frame| {
            let offset = offsets[side] * u64::from(matmul.input_element_bytes);
            let constant = job.parameters.constant(side).filter(|_| offset > 0);
            // A part of a constant is one of its own.
            match constant.and_then(|it| it.bytes.get(offset as usize..)) {
                Some(part) => frame.place("matrices", part.to_vec()),
                None => Ok(Address(buffers.inputs[side].0 + offset as u32)),
            }
        };
        let stored = offsets[2] * u64::from(matmul.output_element_bytes);
        let pointers = [
            operand(0, frame)?,
            operand(1, frame)?,
            Address(buffers.outputs[0].0 + stored as u32),
        ];
        let mut arguments: Vec<Argument> = params.into_iter().collect();
        arguments.push(size.into());
        arguments.extend(pointers.map(Argument::from));
        calls.push(arguments);
    }
    Ok(calls)
}

/// Of a contract that prepares several calls.
fn unprepared(_: &Job, _: &Buffers, _: &mut Frame) -> Arguments {
    Ok(Vec::new())
}

fn matmul(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let matmul: &operator::Matmul = job.operator()?;
    let extents = [matmul.rows, matmul.inner, matmul.columns].map(|extent| extent as i32);
    product(buffers, frame, &extents)
}

fn product(buffers: &Buffers, frame: &mut Frame, extents: &[i32]) -> Arguments {
    let size = frame.words("size", extents)?;
    let arguments = [
        size,
        buffers.inputs[0],
        buffers.inputs[1],
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}
