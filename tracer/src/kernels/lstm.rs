//! What the kernels of LSTMs have in common.

use super::convolution::shifts;
use super::quantisation::{Multiplier, product_ratio, scale, symmetric};
use super::tables::halfwords;
use super::{Job, State, StatePlace};
use crate::call::{CallError, inexpressible};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::operator::{Lstm, Operator};
use dmo_analysis::random::xorshift_bytes;
use dmo_analysis::trace::ElementType;

/// First of the four operands with the weights of the input, by gate: input, forget, cell, output.
pub(super) const INPUT_WEIGHTS: usize = 1;
/// First of those with the weights of the hidden state.
pub(super) const RECURRENT_WEIGHTS: usize = 5;
/// First of those with biases.
pub(super) const BIASES: usize = 12;
pub(super) const GATES: usize = 4;

/// Operands that no kernel knows.
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

/// A hidden state of 8 bits.
pub(super) const HIDDEN_S8: State = State {
    name: "hidden state",
    element_type: ElementType::Int8,
    place: StatePlace::Operand(18),
    elements: state_elements,
    invented: |elements| xorshift_bytes(4, elements),
};

/// A hidden state of 16 bits.
pub(super) const HIDDEN_S16: State = State {
    element_type: ElementType::Int16,
    invented: |elements| {
        let states = xorshift_bytes(4, elements).into_iter();
        halfwords(states.map(|byte| 256 * i32::from(byte as i8)))
    },
    ..HIDDEN_S8
};

/// A hidden state of floats.
pub(super) const HIDDEN_F32: State = State {
    element_type: ElementType::Float32,
    invented: |elements| invented_floats(4, elements),
    ..HIDDEN_S8
};

/// A cell state of 16 bits.
pub(super) const CELL_S16: State = State {
    name: "cell state",
    element_type: ElementType::Int16,
    place: StatePlace::Operand(19),
    elements: state_elements,
    invented: |elements| {
        let cells = xorshift_bytes(5, elements).into_iter();
        halfwords(cells.map(|byte| 16 * i32::from(byte as i8)))
    },
};

/// A cell state of floats.
pub(super) const CELL_F32: State = State {
    element_type: ElementType::Float32,
    invented: |elements| invented_floats(5, elements),
    ..CELL_S16
};

/// In [-1, 1].
fn invented_floats(seed: u64, elements: usize) -> Vec<u8> {
    let bytes = xorshift_bytes(seed, elements).into_iter();
    bytes
        .flat_map(|byte| (f32::from(byte as i8) / 128.0).to_le_bytes())
        .collect()
}

fn state_elements(job: &Job) -> Result<u64, CallError> {
    match &job.case.operator {
        Operator::Lstm(lstm) => Ok(u64::from(lstm.batches) * u64::from(lstm.output_depth)),
        other => Err(inexpressible("the operator", format!("{other:?}"), "LSTM")),
    }
}

/// Refuses a layer with operands that no kernel knows.
pub(super) fn is_plain(job: &Job) -> Result<(), CallError> {
    let mut given =
        (UNKNOWN.iter()).filter(|(operand, _)| job.parameters.constant(*operand).is_some());
    match given.next() {
        Some(&(_, what)) => Err(inexpressible(what, "given", "none")),
        None => Ok(()),
    }
}

/// Rows and columns of a gate's two matrices: of the input and of the hidden state.
pub(super) fn matrices(lstm: &Lstm) -> [(usize, &'static str, u64); 2] {
    let [inputs, units] = [lstm.input_depth, lstm.output_depth].map(u64::from);
    [
        (INPUT_WEIGHTS, "input weights", units * inputs),
        (RECURRENT_WEIGHTS, "recurrent weights", units * units),
    ]
}

/// The numbers of a quantised layer.
pub(super) struct LstmNumbers {
    pub input_offset: i32,
    pub hidden_zero_point: i32,
    /// By gate: ratios of the products with the input and with the hidden state.
    pub gates: [[Multiplier; 2]; GATES],
    /// Of the forget gate times the cell state.
    pub forget_cell: Multiplier,
    /// Of the input gate times the cell gate.
    pub input_cell: Multiplier,
    /// Of the output gate times the activated cell state.
    pub output_cell: Multiplier,
    /// The power of two that the cell state's scale is.
    pub cell_scale_power: i32,
    /// 0 for none.
    pub cell_clip: i32,
}

impl LstmNumbers {
    /// `hidden` is the type of the hidden state.
    pub fn of(job: &Job, hidden: State) -> Result<Self, CallError> {
        /// Gates compute in Q3.12, and give Q0.15.
        const GATE_INPUT: Affine = Affine {
            scale: 1.0 / 4096.0,
            zero_point: 0,
        };
        const GATE_OUTPUT: f64 = 1.0 / 32768.0;
        let input = job.input(0)?;
        let hidden = job.state(hidden)?;
        let cell = job.state(CELL_S16)?;
        job.output_is(hidden.scale, hidden.zero_point)?;
        let what = "ratio of scales";
        let ratio = |activations, operand| {
            let weights = symmetric("weights", job.per_tensor(operand, "weights")?)?;
            product_ratio(activations, weights, GATE_INPUT)?
                .within(what, shifts(job.case.input_type))
        };
        let mut gates = [[Multiplier {
            multiplier: 0,
            shift: 0,
        }; 2]; GATES];
        for (gate, ratios) in gates.iter_mut().enumerate() {
            *ratios = [
                ratio(input, INPUT_WEIGHTS + gate)?,
                ratio(hidden, RECURRENT_WEIGHTS + gate)?,
            ];
        }
        let product = GATE_OUTPUT * GATE_OUTPUT;
        let forget = GATE_OUTPUT * scale(cell) / scale(cell);
        let clip = f64::from(job.parameters.cell_clip) / scale(cell);
        Ok(Self {
            input_offset: -input.zero_point,
            hidden_zero_point: hidden.zero_point,
            gates,
            forget_cell: Multiplier::new(what, forget)?,
            input_cell: Multiplier::new(what, product / scale(cell))?,
            output_cell: Multiplier::with_shift(what, product / scale(hidden), -31..=0)?,
            cell_scale_power: power_of_two(cell)?,
            cell_clip: clip.clamp(-32768.0, 32767.0) as i32,
        })
    }
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
