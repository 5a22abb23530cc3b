//! What the kernels of SVDF have in common.

use super::quantisation::{Multiplier, symmetric};
use super::{Case, Job, State, StatePlace};
use crate::call::{CallError, Frame, inexpressible};
use dmo_analysis::operator::{Operator, Svdf};
use dmo_analysis::random::xorshift_bytes;
use dmo_analysis::trace::{Address, ElementType};

const FEATURE_WEIGHTS: usize = 1;
const TIME_WEIGHTS: usize = 2;
const BIAS: usize = 3;
const STATE: usize = 4;

/// A state of 8 bits.
pub(super) const STATE_S8: State = state(ElementType::Int8);

/// A state of 16 bits.
pub(super) const STATE_S16: State = state(ElementType::Int16);

/// A state of floats.
pub(super) const STATE_F32: State = state(ElementType::Float32);

const fn state(element_type: ElementType) -> State {
    State {
        name: "state",
        element_type,
        place: StatePlace::Operand(STATE),
        elements: |job| {
            let shape = SvdfShape::of(job)?;
            Ok(shape.steps().saturating_mul(shape.batches.into()))
        },
        invented: match element_type {
            ElementType::Int16 => |elements| xorshift_bytes(3, 2 * elements),
            // Around 0, in steps of 1/32.
            ElementType::Float32 => |elements| {
                let steps = xorshift_bytes(3, elements).into_iter();
                let real = |step: u8| f32::from(step as i8) / 32.0;
                steps.flat_map(|step| real(step).to_le_bytes()).collect()
            },
            _ => |elements| xorshift_bytes(3, elements),
        },
    }
}

/// The layer, if it is one.
pub(super) fn layer(case: &Case) -> Option<&Svdf> {
    match &case.operator {
        Operator::Svdf(svdf) => Some(svdf),
        _ => None,
    }
}

/// Extents of all buffers and weights.
#[derive(Clone, Copy)]
pub(super) struct SvdfShape {
    pub batches: u32,
    pub inputs: u32,
    pub units: u32,
    pub rank: u32,
    pub filters: u32,
    /// Steps that each filter remembers: what the time weights have.
    pub memory: u32,
}

impl SvdfShape {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let operator = &job.case.operator;
        let svdf = layer(job.case)
            .ok_or_else(|| inexpressible("the operator", format!("{operator:?}"), "SVDF"))?;
        let shape = &job.constant(TIME_WEIGHTS, "time weights")?.shape;
        let filters = filters(svdf);
        let memory = match shape[..] {
            [outer, memory] if outer == filters && memory > 0 => memory,
            _ => {
                let what = "the shape of the time weights";
                let limit = format!("[{filters}, memory]");
                return Err(inexpressible(what, format!("{shape:?}"), limit));
            }
        };
        Ok(Self {
            batches: svdf.batches,
            inputs: svdf.input_depth,
            units: svdf.units,
            rank: svdf.rank,
            filters,
            memory,
        })
    }

    /// Elements of the time weights, and of the state of one batch.
    pub fn steps(&self) -> u64 {
        u64::from(self.filters) * u64::from(self.memory)
    }
}

pub(super) fn filters(svdf: &Svdf) -> u32 {
    svdf.units.saturating_mul(svdf.rank)
}

/// Weights, placed in flash.
pub(super) struct SvdfWeights {
    pub features: Address,
    pub times: Address,
    pub bias: Address,
}

impl SvdfWeights {
    /// The time weights have the state's type.
    pub fn place(
        job: &Job,
        shape: SvdfShape,
        state: State,
        frame: &mut Frame,
    ) -> Result<Self, CallError> {
        let features = u64::from(shape.filters).saturating_mul(shape.inputs.into());
        let is_float = state.element_type == ElementType::Float32;
        let [feature_type, bias_type] = if is_float {
            [ElementType::Float32; 2]
        } else {
            [ElementType::Int8, ElementType::Int32]
        };
        let mut weights = |operand, what, element_type, elements| {
            if !is_float {
                symmetric(what, job.per_tensor(operand, what)?)?;
            }
            job.place(operand, what, element_type, elements, frame)
        };
        Ok(Self {
            features: weights(FEATURE_WEIGHTS, "feature weights", feature_type, features)?,
            times: weights(
                TIME_WEIGHTS,
                "time weights",
                state.element_type,
                shape.steps(),
            )?,
            bias: job.place_bias(BIAS, bias_type, shape.units.into(), frame)?,
        })
    }
}

/// Offsets and ratios.
pub(super) struct SvdfNumbers {
    pub input_offset: i32,
    pub state_zero_point: i32,
    pub output_offset: i32,
    /// Of the features, from the input's scale to the state's.
    pub feature: Multiplier,
    /// Of the sums over time, from the state's scale to the output's.
    pub time: Multiplier,
}

impl SvdfNumbers {
    pub fn of(job: &Job, state: State) -> Result<Self, CallError> {
        let (input, output) = (job.input(0)?, job.output()?);
        let features = job.per_tensor(FEATURE_WEIGHTS, "feature weights")?;
        let times = job.per_tensor(TIME_WEIGHTS, "time weights")?;
        let remembered = job.state(state)?;
        whole_range(job)?;
        // In single precision, as there.
        let feature = input.scale * features.scale / remembered.scale;
        let time = remembered.scale * times.scale / output.scale;
        Ok(Self {
            input_offset: -input.zero_point,
            state_zero_point: remembered.zero_point,
            output_offset: output.zero_point,
            feature: Multiplier::new("ratio of the features' scales", feature.into())?,
            time: Multiplier::new("ratio of the sums' scales", time.into())?,
        })
    }
}

/// The kernels know no activation: it must let all numbers of the output's type pass.
fn whole_range(job: &Job) -> Result<(), CallError> {
    let range = job.activation()?;
    let whole = super::quantisation::limits(job.case.output_type)?;
    if range == whole {
        return Ok(());
    }
    let limit = format!("{whole:?}");
    Err(inexpressible(
        "the activation's range",
        format!("{range:?}"),
        limit,
    ))
}
