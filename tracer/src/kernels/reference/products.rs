//! Fully connected layers and matrix products. Contracts: `kernels-c/include/dmo_matmul.h`,
//! `dmo_batched_matmul.h`, `dmo_int16.h`.

use super::{INT8, INT16, Quantisation, activation_f32, all, is, words};
use crate::call::{Argument, Frame};
use crate::kernels::weights::{requantize, weights_f32, weights_s8};
use crate::kernels::{Arguments, Buffers, Case, Contract};
use dmo_analysis::operator::{FullyConnected, Operator};
use dmo_analysis::trace::ElementType;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_fully_connected_s8",
        |case| fully_connected(case) && all(case, ElementType::Int8),
        |case, buffers, frame| quantised_fully_connected(case, buffers, frame, &INT8),
    ),
    Contract::new(
        "dmo_fully_connected_s16",
        |case| fully_connected(case) && all(case, ElementType::Int16),
        |case, buffers, frame| quantised_fully_connected(case, buffers, frame, &INT16),
    ),
    Contract::new(
        "dmo_fully_connected_f32",
        |case| fully_connected(case) && all(case, ElementType::Float32),
        fully_connected_f32,
    ),
    Contract::new(
        "dmo_batched_matmul_s8",
        |case| is(case, "batched_matmul", ElementType::Int8),
        |case, buffers, frame| {
            let Operator::BatchedMatmul(matmul) = &case.operator else {
                return Ok(Vec::new());
            };
            let (multiplier, shift) = requantize(matmul.inner.into());
            let params = [3, -4, 5, multiplier, shift, -128, 127];
            let params = frame.words("parameters", &params)?;
            let mut arguments = vec![params.into()];
            arguments.extend(batched_matmul(case, buffers, frame)?);
            Ok(arguments)
        },
    ),
    Contract::new(
        "dmo_batched_matmul_f32",
        |case| is(case, "batched_matmul", ElementType::Float32),
        batched_matmul,
    ),
    Contract::new(
        "dmo_matmul_s8",
        |case| {
            case.kind == "matmul"
                && case.input_type == ElementType::Int8
                && case.output_type == ElementType::Int32
        },
        matmul,
    ),
    Contract::new(
        "dmo_matmul_f32",
        |case| is(case, "matmul", ElementType::Float32),
        matmul,
    ),
];

fn fully_connected(case: &Case) -> bool {
    matches!(case.operator, Operator::FullyConnected(_))
}

fn weights(layer: &FullyConnected) -> u64 {
    u64::from(layer.input_depth) * u64::from(layer.output_depth)
}

fn quantised_fully_connected(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    quantisation: &Quantisation,
) -> Arguments {
    let Operator::FullyConnected(layer) = &case.operator else {
        return Ok(Vec::new());
    };
    let [low, high] = quantisation.activation;
    let offsets = (quantisation.input_offset, quantisation.output_offset);
    let params = frame.words("parameters", &[offsets.0, 0, offsets.1, low, high])?;
    let (multiplier, shift) = requantize(layer.input_depth.into());
    let quant = frame.words("quantisation", &[multiplier, shift])?;
    let filter = weights_s8(frame, "filter", weights(layer))?;
    let bias = vec![0; quantisation.bias_bytes * layer.output_depth as usize];
    let bias = frame.place("bias", bias)?;
    Ok(vec![
        params.into(),
        quant.into(),
        Argument::Word(layer.batches),
        Argument::Word(layer.input_depth),
        Argument::Word(layer.output_depth),
        buffers.inputs[0].into(),
        filter.into(),
        bias.into(),
        buffers.outputs[0].into(),
    ])
}

fn fully_connected_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::FullyConnected(layer) = &case.operator else {
        return Ok(Vec::new());
    };
    let params = frame.words("parameters", &activation_f32())?;
    let filter = weights_f32(frame, "filter", weights(layer))?;
    let bias = frame.place("bias", vec![0; 4 * layer.output_depth as usize])?;
    Ok(vec![
        params.into(),
        Argument::Word(layer.batches),
        Argument::Word(layer.input_depth),
        Argument::Word(layer.output_depth),
        buffers.inputs[0].into(),
        filter.into(),
        bias.into(),
        buffers.outputs[0].into(),
    ])
}

fn batched_matmul(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::BatchedMatmul(matmul) = &case.operator else {
        return Ok(Vec::new());
    };
    let extents = [matmul.batches, matmul.rows, matmul.inner, matmul.columns];
    product(buffers, frame, &words(extents))
}

fn matmul(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Matmul(matmul) = &case.operator else {
        return Ok(Vec::new());
    };
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
