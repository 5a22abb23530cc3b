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
    Operator::Lstm(lstm) => step_bytes(lstm).saturating_mul(3),
    _ => 0,
});

fn step_bytes(lstm: &Lstm) -> u64 {
    let halfwords = u64::from(lstm.batches).saturating_mul(lstm.output_depth.into());
    let bytes = halfwords.saturating_mul(2);
    bytes.checked_next_multiple_of(4).unwrap_or(u64::MAX)
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
    let none = vec![0; units as usize];
    let biases = [job.biases(BIASES + gate, bias_type, units as usize)?, none];
    for (index, (operand, what, elements)) in lstm::matrices(lstm).into_iter().enumerate() {
        let weights = job.checked_constant(operand + gate, what, ElementType::Int8, elements)?;
        let sums = effective_biases(weights, &biases[index], offsets[index]);
        let bytes = bias_type.size_bytes() as usize;
        let sums = sums.flat_map(|sum| sum.to_le_bytes().into_iter().take(bytes));
        words.extend(numbers.gates[gate][index].words());
        words.push(
            job.place(operand + gate, what, ElementType::Int8, elements, frame)?
                .0 as i32,
        );
        words.push(frame.place("effective bias", sums.collect())?.0 as i32);
    }
    let bias = job.place_bias(BIASES + gate, bias_type, units, frame)?;
    words.push(bias.0 as i32);
    words.push(if gate == CELL_GATE { TANH } else { SIGMOID });
    Ok(words)
}

/// For each row of weights, what the offset of its vector adds to its product, and the row's bias: modulo
/// 2^64.
fn effective_biases(weights: &[u8], biases: &[i64], offset: i32) -> impl Iterator<Item = i64> {
    let columns = weights.len() / biases.len().max(1);
    biases.iter().enumerate().map(move |(row, bias)| {
        let row = &weights[row * columns..][..columns];
        let sum: i64 = row.iter().map(|&weight| i64::from(weight as i8)).sum();
        bias.wrapping_add(i64::from(offset) * sum)
    })
}

#[cfg(test)]
mod tests {
    use super::{effective_biases, step_bytes};
    use dmo_analysis::operator::Lstm;

    #[test]
    fn biases_hold_what_the_offset_adds() {
        let weights: [u8; 6] = [1, 2, 3, 255, 254, 128];
        let biases = |given: [i64; 2], offset| -> Vec<i64> {
            effective_biases(&weights, &given, offset).collect()
        };
        assert_eq!(biases([10, -20], 7), [10 + 7 * 6, -20 - 7 * 131]);
        assert_eq!(biases([i64::MAX, 0], 1), [i64::MIN + 5, -131]);
    }

    #[test]
    fn sizes_do_not_overflow() {
        let lstm = |batches, output_depth| Lstm {
            batches,
            times: 1,
            input_depth: 1,
            output_depth,
            time_major: false,
            input_element_bytes: 1,
            output_element_bytes: 1,
        };
        assert_eq!(step_bytes(&lstm(3, 5)), 32);
        assert_eq!(step_bytes(&lstm(u32::MAX, u32::MAX)), u64::MAX);
    }
}
