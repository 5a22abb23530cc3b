//! What the three kinds of convolution have in common, whatever the kernel. A fully connected layer
//! is one of 1x1, and computed as such where its filter has several scales.

use super::quantisation::{Multiplier, scale, symmetric};
use super::{Case, Job};
use crate::call::{CallError, Frame, inexpressible};
use dmo_analysis::graph::TensorType;
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::operator::{Operator, Shape, Window};
use dmo_analysis::trace::{Address, ElementType};
use std::ops::RangeInclusive;

/// Shapes of a convolution, and which of its operands is what.
pub(super) struct Convolution {
    pub input: Shape,
    pub output: Shape,
    pub filter: Shape,
    pub window: Window,
    /// Output channels per input channel of a depthwise convolution.
    pub multiplier: Option<u32>,
    pub input_operand: usize,
    pub bias_operand: usize,
    /// The filter's axis whose indices are the output's channels.
    pub channel_axis: usize,
}

/// All of them have the filter there.
pub(super) const FILTER: usize = 1;

impl Convolution {
    pub fn of(case: &Case) -> Option<Self> {
        let filter = |outer: u32, window: Window, depth: u32| {
            let [height, width] = window.kernel;
            [outer, height, width, depth]
        };
        let depthwise = |input: Shape, output: Shape, window, multiplier| Self {
            input,
            output,
            filter: filter(1, window, output[3]),
            window,
            multiplier: Some(multiplier),
            input_operand: 0,
            bias_operand: 2,
            channel_axis: 3,
        };
        match case.inner() {
            Operator::Conv2d(conv) => Some(Self {
                input: conv.input,
                output: conv.output,
                filter: filter(
                    conv.output[3],
                    conv.window,
                    conv.input[3] / conv.groups.max(1),
                ),
                window: conv.window,
                multiplier: None,
                input_operand: 0,
                bias_operand: 2,
                channel_axis: 0,
            }),
            Operator::DepthwiseConv2d(conv) => Some(depthwise(
                conv.input,
                conv.output,
                conv.window,
                conv.multiplier,
            )),
            // Of one pixel for each batch.
            Operator::FullyConnected(layer) => Some(Self {
                input: [layer.batches, 1, 1, layer.input_depth],
                output: [layer.batches, 1, 1, layer.output_depth],
                filter: filter(layer.output_depth, Window::default(), layer.input_depth),
                window: Window::default(),
                multiplier: None,
                input_operand: 0,
                bias_operand: 2,
                channel_axis: 0,
            }),
            Operator::DepthwiseInPlace(conv) => {
                Some(depthwise(conv.input, conv.output, conv.window, 1))
            }
            Operator::TransposeConv2d(conv) => Some(Self {
                input: conv.input,
                output: conv.output,
                filter: filter(conv.output[3], conv.window, conv.input[3]),
                window: conv.window,
                multiplier: None,
                input_operand: 2,
                bias_operand: 3,
                channel_axis: 0,
            }),
            _ => None,
        }
    }

    pub fn channels(&self) -> u32 {
        self.output[3]
    }

    /// Places filter and bias.
    pub fn weights(
        &self,
        job: &Job,
        filter_type: impl Into<TensorType>,
        bias_type: ElementType,
        frame: &mut Frame,
    ) -> Result<[Address; 2], CallError> {
        let elements = super::size(self.filter);
        Ok([
            job.place(FILTER, "filter", filter_type, elements, frame)?,
            job.place_bias(self.bias_operand, bias_type, self.channels().into(), frame)?,
        ])
    }

    /// Places a multiplier and a shift for each channel, and the structure that points at
    /// them.
    pub fn per_channel(
        &self,
        job: &Job,
        shifts: RangeInclusive<i32>,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        let ratios = self.ratios(job, shifts)?;
        let list = |of: fn(&Multiplier) -> i32| ratios.iter().map(of).collect::<Vec<_>>();
        let multipliers = frame.words("multipliers", &list(|ratio| ratio.multiplier))?;
        let shifts = frame.words("shifts", &list(|ratio| ratio.shift))?;
        frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])
    }

    /// What the sums of each channel are multiplied by.
    pub fn ratios(
        &self,
        job: &Job,
        shifts: RangeInclusive<i32>,
    ) -> Result<Vec<Multiplier>, CallError> {
        let (input, output) = (job.input(self.input_operand)?, job.output()?);
        let ratio = |filter: Affine| {
            let ratio = scale(input) * scale(symmetric("filter", filter)?) / scale(output);
            Multiplier::with_shift("ratio of scales", ratio, shifts.clone())
        };
        self.filter_scales(job)?.into_iter().map(ratio).collect()
    }

    /// How each channel of the filter is quantised.
    fn filter_scales(&self, job: &Job) -> Result<Vec<Affine>, CallError> {
        let channels = self.channels() as usize;
        let filter = job.constant(FILTER, "filter")?;
        match filter.quantisation[..] {
            [of_all] => Ok(vec![of_all; channels]),
            ref each if each.len() == channels && filter.channel_axis == self.channel_axis => {
                Ok(each.to_vec())
            }
            ref each => Err(inexpressible(
                "the filter's quantisation",
                format!("{} scales along axis {}", each.len(), filter.channel_axis),
                format!("1, or {channels} along axis {}", self.channel_axis),
            )),
        }
    }
}

/// Shifts that the kernels take; those of 16 bits requantise 64-bit sums.
pub(super) fn shifts(activations: ElementType) -> RangeInclusive<i32> {
    match activations {
        ElementType::Int16 => -31..=7,
        _ => -31..=30,
    }
}
