//! Layers with a memory. Contracts: `kernels-c/include/dmo_svdf.h`, `dmo_lstm.h`.

use super::activation_f32;
use crate::call::{Argument, CallError, Frame, inexpressible};
use crate::kernels::constants::bias_type;
use crate::kernels::convolution::shifts;
use crate::kernels::quantisation::{Multiplier, product_ratio, scale, symmetric};
use crate::kernels::svdf::{STATE_F32, STATE_S8, STATE_S16, SvdfNumbers, SvdfShape, SvdfWeights};
use crate::kernels::tables::{halfwords, sigmoid};
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize, State, StatePlace};
use dmo_analysis::graph::Kind::{Svdf, UnidirectionalSequenceLstm};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::operator::{self, Lstm, Operator};
use dmo_analysis::random::xorshift_bytes;
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
        |job, buffers, frame| lstm(job, buffers, frame, HIDDEN_STATE),
    )
    .with_states(&[HIDDEN_STATE, CELL_STATE])
    .with_scratch(LSTM_SCRATCH),
    Contract::int16(
        "dmo_unidirectional_sequence_lstm_s16",
        &UnidirectionalSequenceLstm,
        |job, buffers, frame| lstm(job, buffers, frame, HIDDEN_STATE_S16),
    )
    .with_states(&[HIDDEN_STATE_S16, CELL_STATE])
    .with_scratch(LSTM_SCRATCH),
    Contract::float32(
        "dmo_unidirectional_sequence_lstm_f32",
        &UnidirectionalSequenceLstm,
        lstm_f32,
    )
    .with_states(&[HIDDEN_STATE_F32, CELL_STATE_F32])
    .with_scratch(ScratchSize::new("dmo_lstm_f32_scratch_bytes", lstm_extents)),
];

/// Its gates have 16 bits whatever its activations have.
const LSTM_SCRATCH: ScratchSize = ScratchSize::new("dmo_lstm_s8_scratch_bytes", lstm_extents);

/// Of which the size of the scratch memory follows.
fn lstm_extents(job: &Job, frame: &mut Frame) -> Arguments {
    let lstm: &operator::Lstm = job.operator()?;
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

const HIDDEN_STATE: State = State {
    name: "hidden state",
    element_type: ElementType::Int8,
    place: StatePlace::Operand(18),
    elements: lstm_states,
    invented: |elements| xorshift_bytes(4, elements),
};

const HIDDEN_STATE_S16: State = State {
    element_type: ElementType::Int16,
    invented: |elements| {
        let states = xorshift_bytes(4, elements).into_iter();
        halfwords(states.map(|byte| 256 * i32::from(byte as i8)))
    },
    ..HIDDEN_STATE
};

const CELL_STATE: State = State {
    name: "cell state",
    element_type: ElementType::Int16,
    place: StatePlace::Operand(19),
    elements: lstm_states,
    invented: |elements| {
        let cells = xorshift_bytes(5, elements).into_iter();
        halfwords(cells.map(|byte| 16 * i32::from(byte as i8)))
    },
};

const HIDDEN_STATE_F32: State = State {
    element_type: ElementType::Float32,
    invented: |elements| invented_floats(4, elements),
    ..HIDDEN_STATE
};

const CELL_STATE_F32: State = State {
    element_type: ElementType::Float32,
    invented: |elements| invented_floats(5, elements),
    ..CELL_STATE
};

/// In [-1, 1].
fn invented_floats(seed: u64, elements: usize) -> Vec<u8> {
    let bytes = xorshift_bytes(seed, elements).into_iter();
    bytes
        .flat_map(|byte| (f32::from(byte as i8) / 128.0).to_le_bytes())
        .collect()
}

fn lstm_states(job: &Job) -> Result<u64, CallError> {
    match &job.case.operator {
        Operator::Lstm(lstm) => Ok(u64::from(lstm.batches) * u64::from(lstm.output_depth)),
        other => Err(inexpressible("the operator", format!("{other:?}"), "LSTM")),
    }
}

const INPUT_WEIGHTS: usize = 1;
const RECURRENT_WEIGHTS: usize = 5;
const BIASES: usize = 12;
const GATES: usize = 4;

/// Operands that the kernel does not know.
const UNKNOWN: [(usize, &str); 9] = [
    (9, "peephole weights"),
    (10, "peephole weights"),
    (11, "peephole weights"),
    (16, "projection weights"),
    (17, "projection bias"),
    (20, "layer normalisation"),
    (21, "layer normalisation"),
    (22, "layer normalisation"),
    (23, "layer normalisation"),
];

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
    /// Gates compute in Q3.12, and give Q0.15.
    const GATE_INPUT: Affine = Affine {
        scale: 1.0 / 4096.0,
        zero_point: 0,
    };
    const GATE_OUTPUT: f64 = 1.0 / 32768.0;
    let input = job.input(0)?;
    let hidden = job.state(hidden)?;
    let cell = job.state(CELL_STATE)?;
    job.output_is(hidden.scale, hidden.zero_point)?;
    let mut numbers = vec![-input.zero_point, hidden.zero_point];
    for gate in 0..GATES {
        for (activations, weights) in [(input, INPUT_WEIGHTS), (hidden, RECURRENT_WEIGHTS)] {
            let weights = job.per_tensor(weights + gate, "weights")?;
            let weights = symmetric("weights", weights)?;
            let ratio = product_ratio(activations, weights, GATE_INPUT)?;
            let ratio = ratio.within("ratio of scales", shifts(job.case.input_type))?;
            numbers.extend(ratio.words());
        }
    }
    let what = "ratio of scales";
    let gates = GATE_OUTPUT * GATE_OUTPUT;
    let forget = GATE_OUTPUT * scale(cell) / scale(cell);
    numbers.extend(Multiplier::new(what, forget)?.words());
    numbers.extend(Multiplier::new(what, gates / scale(cell))?.words());
    let output = Multiplier::with_shift(what, gates / scale(hidden), -31..=0)?;
    numbers.extend(output.words());
    let clip = f64::from(job.parameters.cell_clip) / scale(cell);
    numbers.extend([power_of_two(cell)?, clip.clamp(-32768.0, 32767.0) as i32]);
    Ok(numbers)
}

/// The power of two that the cell state's scale is, as nearly as TensorFlow Lite wants it.
fn power_of_two(cell: Affine) -> Result<i32, CallError> {
    let exponent = cell.scale.log2();
    let power = exponent.round();
    if (exponent - power).abs() < 1e-3 && (-15.0..=0.0).contains(&power) {
        return Ok(power as i32);
    }
    Err(inexpressible(
        "the scale of the cell state",
        cell.scale,
        "powers of two from 2^-15 to 1",
    ))
}

/// Pointers to the weights and the bias of each gate.
fn lstm_weights(job: &Job, lstm: &Lstm, frame: &mut Frame) -> Result<Address, CallError> {
    for (operand, what) in UNKNOWN {
        if job.parameters.constant(operand).is_some() {
            return Err(inexpressible(what, "given", "none"));
        }
    }
    let [inputs, units] = [lstm.input_depth, lstm.output_depth].map(u64::from);
    let mut pointers = Vec::new();
    let weight_type = match job.case.input_type {
        ElementType::Float32 => ElementType::Float32,
        _ => ElementType::Int8,
    };
    for gate in 0..GATES {
        let mut weights = |operand, what, inputs| {
            job.place(operand + gate, what, weight_type, units * inputs, frame)
        };
        let gate_weights = [
            weights(INPUT_WEIGHTS, "input weights", inputs)?,
            weights(RECURRENT_WEIGHTS, "recurrent weights", units)?,
            job.place_bias(BIASES + gate, bias_type(job.case.input_type), units, frame)?,
        ];
        pointers.extend(gate_weights.map(|at| at.0 as i32));
    }
    frame.words("weights", &pointers)
}

fn lstm(job: &Job, buffers: &Buffers, frame: &mut Frame, hidden: State) -> Arguments {
    let lstm: &operator::Lstm = job.operator()?;
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
    let lstm: &operator::Lstm = job.operator()?;
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
