//! Layers with a memory. Contracts: `kernels-c/include/dmo_svdf.h`, `dmo_lstm.h`.

use super::activation_f32;
use crate::call::{Argument, CallError, Frame};
use crate::kernels::constants::bias_type;
use crate::kernels::lstm::{self, BIASES, GATES, LstmNumbers};
use crate::kernels::quantisation::Multiplier;
use crate::kernels::svdf::{STATE_F32, STATE_S8, STATE_S16, SvdfNumbers, SvdfShape, SvdfWeights};
use crate::kernels::tables::sigmoid;
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize, State};
use dmo_analysis::graph::Kind::{Svdf, UnidirectionalSequenceLstm};
use dmo_analysis::operator::Lstm;
use dmo_analysis::trace::{Address, ElementType};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8("dmo_svdf_s8_state_s16", &Svdf, |job, buffers, frame| {
        svdf(job, buffers, frame, STATE_S16)
    })
    .with_states(&[STATE_S16])
    .with_scratch(SVDF_SCRATCH),
    Contract::int8("dmo_svdf_s8_state_s8", &Svdf, |job, buffers, frame| {
        svdf(job, buffers, frame, STATE_S8)
    })
    .with_states(&[STATE_S8])
    .with_scratch(SVDF_SCRATCH),
    Contract::float32("dmo_svdf_f32", &Svdf, |job, buffers, frame| {
        let params = frame.words("parameters", &activation_f32(job))?;
        svdf_layer(job, buffers, frame, params, STATE_F32)
    })
    .with_states(&[STATE_F32])
    .with_scratch(ScratchSize::new("dmo_svdf_f32_scratch_bytes", svdf_extents)),
    Contract::int8(
        "dmo_unidirectional_sequence_lstm_s8",
        &UnidirectionalSequenceLstm,
        |job, buffers, frame| lstm_integers(job, buffers, frame, lstm::HIDDEN_S8),
    )
    .with_states(&[lstm::HIDDEN_S8, lstm::CELL_S16])
    .with_scratch(LSTM_SCRATCH),
    Contract::int16(
        "dmo_unidirectional_sequence_lstm_s16",
        &UnidirectionalSequenceLstm,
        |job, buffers, frame| lstm_integers(job, buffers, frame, lstm::HIDDEN_S16),
    )
    .with_states(&[lstm::HIDDEN_S16, lstm::CELL_S16])
    .with_scratch(LSTM_SCRATCH),
    Contract::float32(
        "dmo_unidirectional_sequence_lstm_f32",
        &UnidirectionalSequenceLstm,
        lstm_f32,
    )
    .with_states(&[lstm::HIDDEN_F32, lstm::CELL_F32])
    .with_scratch(ScratchSize::new("dmo_lstm_f32_scratch_bytes", lstm_extents)),
];

/// Its gates have 16 bits whatever its activations have.
const LSTM_SCRATCH: ScratchSize = ScratchSize::new("dmo_lstm_s8_scratch_bytes", lstm_extents);

/// Of which the size of the scratch memory follows.
fn lstm_extents(job: &Job, frame: &mut Frame) -> Arguments {
    let lstm: &Lstm = job.operator()?;
    Ok(vec![lstm_size(lstm, frame)?.into()])
}

const SVDF_SCRATCH: ScratchSize = ScratchSize::new("dmo_svdf_s8_scratch_bytes", svdf_extents);

/// Of which the size of the scratch memory follows.
fn svdf_extents(job: &Job, frame: &mut Frame) -> Arguments {
    Ok(vec![svdf_size(SvdfShape::of(job)?, frame)?.into()])
}

fn svdf_size(shape: SvdfShape, frame: &mut Frame) -> Result<Address, CallError> {
    let SvdfShape {
        batches,
        inputs,
        filters,
        rank,
        memory,
        ..
    } = shape;
    let size = [batches, inputs, filters, rank, memory];
    frame.words("size", &size.map(|extent| extent as i32))
}

fn svdf(job: &Job, buffers: &Buffers, frame: &mut Frame, state: State) -> Arguments {
    let numbers = SvdfNumbers::of(job, state)?;
    let mut params = vec![
        numbers.input_offset,
        numbers.state_zero_point,
        numbers.output_offset,
    ];
    params.extend(numbers.feature.words());
    params.extend(numbers.time.words());
    let params = frame.words("parameters", &params)?;
    svdf_layer(job, buffers, frame, params, state)
}

/// What follows the parameters.
fn svdf_layer(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    params: Address,
    state: State,
) -> Arguments {
    let shape = SvdfShape::of(job)?;
    let size = svdf_size(shape, frame)?;
    let weights = SvdfWeights::place(job, shape, state, frame)?;
    let arguments = [
        params,
        size,
        buffers.inputs[0],
        weights.features,
        weights.times,
        weights.bias,
        buffers.states[0],
        buffers.outputs[0],
        buffers.scratch_address(),
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

fn lstm_size(lstm: &Lstm, frame: &mut Frame) -> Result<Address, CallError> {
    let size = [
        lstm.batches,
        lstm.times,
        lstm.input_depth,
        lstm.output_depth,
        u32::from(lstm.time_major),
    ];
    frame.words("size", &size.map(|extent| extent as i32))
}

/// Offsets, ratios and clip, as the kernel's structure has them.
fn lstm_numbers(job: &Job, hidden: State) -> Result<Vec<i32>, CallError> {
    let numbers = LstmNumbers::of(job, hidden)?;
    let mut words = vec![numbers.input_offset, numbers.hidden_zero_point];
    let cell = [numbers.forget_cell, numbers.input_cell, numbers.output_cell];
    let ratios = numbers.gates.into_iter().flatten().chain(cell);
    words.extend(ratios.flat_map(Multiplier::words));
    words.extend([numbers.cell_scale_power, numbers.cell_clip]);
    Ok(words)
}

/// Pointers to the weights and the bias of each gate.
fn lstm_weights(job: &Job, lstm: &Lstm, frame: &mut Frame) -> Result<Address, CallError> {
    lstm::is_plain(job)?;
    let units = u64::from(lstm.output_depth);
    let weight_type = match job.case.input_type {
        ElementType::Float32 => ElementType::Float32,
        _ => ElementType::Int8,
    };
    let mut pointers = Vec::new();
    for gate in 0..GATES {
        for (operand, what, elements) in lstm::matrices(lstm) {
            let weights = job.place(operand + gate, what, weight_type, elements, frame)?;
            pointers.push(weights.0 as i32);
        }
        let bias = job.place_bias(BIASES + gate, bias_type(job.case.input_type), units, frame)?;
        pointers.push(bias.0 as i32);
    }
    frame.words("weights", &pointers)
}

fn lstm_integers(job: &Job, buffers: &Buffers, frame: &mut Frame, hidden: State) -> Arguments {
    let lstm: &Lstm = job.operator()?;
    let arguments = [
        frame.words("parameters", &lstm_numbers(job, hidden)?)?,
        lstm_size(lstm, frame)?,
        buffers.inputs[0],
        lstm_weights(job, lstm, frame)?,
        frame.place("sigmoid table", sigmoid())?,
        buffers.states[0],
        buffers.states[1],
        buffers.outputs[0],
        buffers.scratch_address(),
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

fn lstm_f32(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let lstm: &Lstm = job.operator()?;
    let clip = job.parameters.cell_clip.to_bits() as i32;
    let arguments = [
        frame.words("parameters", &[clip])?,
        lstm_size(lstm, frame)?,
        buffers.inputs[0],
        lstm_weights(job, lstm, frame)?,
        buffers.states[0],
        buffers.states[1],
        buffers.outputs[0],
        buffers.scratch_address(),
    ];
    Ok(arguments.map(Argument::from).to_vec())
}
