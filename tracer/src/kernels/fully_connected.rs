//! What the fully connected kernels have in common.

use super::Job;
use super::quantisation::{Multiplier, offset, product_ratio};
use crate::call::{CallError, Frame};
use dmo_analysis::graph::TensorType;
use dmo_analysis::operator::FullyConnected;
use dmo_analysis::trace::{Address, ElementType};

const FILTER: usize = 1;
const BIAS: usize = 2;

/// The numbers of a quantised layer.
pub(super) struct FullyConnectedNumbers {
    offsets: [i32; 3],
    activation: [i32; 2],
    /// Input scale * filter scale / output scale.
    pub ratio: Multiplier,
}

impl FullyConnectedNumbers {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let (input, output) = (job.input(0)?, job.output()?);
        let filter = job.per_tensor(FILTER, "filter")?;
        let filter_offset = offset("filter", filter, filter_type(job.case.input_type))?;
        Ok(Self {
            offsets: [-input.zero_point, filter_offset, output.zero_point],
            activation: job.activation()?,
            ratio: product_ratio(input, filter, output)?,
        })
    }

    /// What is added to each weight.
    pub fn filter_offset(&self) -> i32 {
        self.offsets[1]
    }

    /// Offsets of input, filter and output, and the activation's range.
    pub fn params(&self) -> Vec<i32> {
        [&self.offsets[..], &self.activation].concat()
    }
}

/// Type of the filters of the kernels whose activations have this one.
pub(super) const fn filter_type(activations: ElementType) -> ElementType {
    match activations {
        ElementType::Float32 | ElementType::Uint8 => activations,
        _ => ElementType::Int8,
    }
}

/// Places filter and bias, which have these types.
pub(super) fn weights(
    job: &Job,
    layer: &FullyConnected,
    filter: impl Into<TensorType>,
    bias: ElementType,
    frame: &mut Frame,
) -> Result<[Address; 2], CallError> {
    let outputs = u64::from(layer.output_depth);
    let weights = outputs * u64::from(layer.input_depth);
    Ok([
        job.place(FILTER, "filter", filter, weights, frame)?,
        job.place_bias(BIAS, bias, outputs, frame)?,
    ])
}
