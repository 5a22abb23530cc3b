//! LSTMs. They saturate sums of two products where the reference kernel saturates the second product too
//! before. Until 7.0.0 each call begins with states of zeros; since June 2026 only where there is no
//! hidden state, and TensorFlow Lite Micro hands them none.

use crate::call::{Argument, CallError, Frame};
use crate::kernels::constants::bias_type;
use crate::kernels::lstm::{self, BIASES, GATES, LstmNumbers};
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize, State};
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Lstm, Operator};
use dmo_analysis::trace::ElementType;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int8(
        "arm_lstm_unidirectional_s8",
        &Kind::UnidirectionalSequenceLstm,
        |job, buffers, frame| layer(job, buffers, frame, lstm::HIDDEN_S8),
    )
    .inexact()
    .with_status()
    .with_states(&[lstm::HIDDEN_S8, lstm::CELL_S16])
    .with_scratch(STEP_BUFFERS)
    .since(6),
    Contract::int16(
        "arm_lstm_unidirectional_s16",
        &Kind::UnidirectionalSequenceLstm,
        |job, buffers, frame| layer(job, buffers, frame, lstm::HIDDEN_S16),
    )
    .inexact()
    .with_status()
    .with_states(&[lstm::HIDDEN_S16, lstm::CELL_S16])
    .with_scratch(STEP_BUFFERS)
    .since(6),
];

/// Two of gates, and one more, in which TensorFlow Lite Micro has the cell state: each of 16 bits for all
/// units of all batches.
const STEP_BUFFERS: ScratchSize = ScratchSize::untold(|case| match &case.operator {
    Operator::Lstm(lstm) => 3 * step_bytes(lstm),
    _ => 0,
});

fn step_bytes(lstm: &Lstm) -> u64 {
    let halfwords = u64::from(lstm.batches).saturating_mul(lstm.output_depth.into());
    halfwords.saturating_mul(2).next_multiple_of(4)
}

fn layer(job: &Job, buffers: &Buffers, frame: &mut Frame, hidden: State) -> Arguments {
    let lstm: &Lstm = job.operator()?;
    let params = params(job, lstm, frame, hidden)?;
    let gates = buffers.scratch_address().0;
    let second = gates + step_bytes(lstm) as u32;
    let [hidden_state, cell_state] = [buffers.states[0], buffers.states[1]];
    let context = [gates, second, cell_state.0, hidden_state.0].map(|address| address as i32);
    let arguments = [
        buffers.inputs[0],
        buffers.outputs[0],
        frame.words("parameters", &params)?,
        frame.words("context", &context)?,
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

/// `cmsis_nn_lstm_params`.
fn params(job: &Job, lstm: &Lstm, frame: &mut Frame, hidden: State) -> Result<Vec<i32>, CallError> {
    /// In the order of the structure, by their operands' order.
    const FORGET_INPUT_CELL_OUTPUT: [usize; GATES] = [1, 0, 2, 3];
    lstm::is_plain(job)?;
    let numbers = LstmNumbers::of(job, hidden)?;
    let extents = [
        u32::from(lstm.time_major),
        lstm.batches,
        lstm.times,
        lstm.input_depth,
        lstm.output_depth,
    ];
    let mut words: Vec<i32> = extents.map(|extent| extent as i32).to_vec();
    words.push(numbers.input_offset);
    words.extend(numbers.forget_cell.words());
    words.extend(numbers.input_cell.words());
    words.extend([numbers.cell_clip, numbers.cell_scale_power]);
    words.extend(numbers.output_cell.words());
    words.push(numbers.hidden_zero_point);
    for gate in FORGET_INPUT_CELL_OUTPUT {
        words.extend(gate_words(job, lstm, gate, &numbers, frame)?);
    }
    Ok(words)
}

/// `cmsis_nn_lstm_gate`.
fn gate_words(
    job: &Job,
    lstm: &Lstm,
    gate: usize,
    numbers: &LstmNumbers,
    frame: &mut Frame,
) -> Result<Vec<i32>, CallError> {
    const CELL_GATE: usize = 2;
    const SIGMOID: i32 = 0;
    const TANH: i32 = 1;
    let bias_type = bias_type(job.case.input_type);
    let units = u64::from(lstm.output_depth);
    let offsets = [numbers.input_offset, -numbers.hidden_zero_point];
    let mut words = Vec::new();
    for (index, (operand, what, elements)) in lstm::matrices(lstm).into_iter().enumerate() {
        let weights = job.checked_constant(operand + gate, what, ElementType::Int8, elements)?;
        let bias = match (index, job.parameters.constant(BIASES + gate)) {
            (0, Some(_)) => job.checked_constant(BIASES + gate, "bias", bias_type, units)?,
            _ => &[],
        };
        let sums = effective_bias(weights, bias, offsets[index], bias_type, units as usize);
        words.extend(numbers.gates[gate][index].words());
        words.push(
            job.place(operand + gate, what, ElementType::Int8, elements, frame)?
                .0 as i32,
        );
        words.push(frame.place("effective bias", sums)?.0 as i32);
    }
    let bias = job.place_bias(BIASES + gate, bias_type, units, frame)?;
    words.push(bias.0 as i32);
    words.push(if gate == CELL_GATE { TANH } else { SIGMOID });
    Ok(words)
}

/// For each row of weights, what the offset of its vector adds to its product, and the bias, if any.
fn effective_bias(
    weights: &[u8],
    bias: &[u8],
    offset: i32,
    bias_type: ElementType,
    rows: usize,
) -> Vec<u8> {
    let bytes = bias_type.size_bytes() as usize;
    let number = |row: usize| match bias.get(row * bytes..(row + 1) * bytes) {
        Some(wide) if bytes == 8 => wide.try_into().map_or(0, i64::from_le_bytes),
        Some(word) => word.try_into().map_or(0, i32::from_le_bytes).into(),
        None => 0,
    };
    let columns = weights.len() / rows.max(1);
    let sum = |row: &[u8]| {
        row.iter()
            .map(|&weight| i64::from(weight as i8))
            .sum::<i64>()
    };
    (0..rows)
        .flat_map(|row| {
            let total = number(row) + i64::from(offset) * sum(&weights[row * columns..][..columns]);
            total.to_le_bytes().into_iter().take(bytes)
        })
        .collect()
}
