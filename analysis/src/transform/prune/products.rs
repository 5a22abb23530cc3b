//! Layers with weights.

use super::channels::{Channel, Channels};
use super::known::Known;
use super::range::{Range, Sum};
use crate::graph::parameters::{Affine, Constant};
use crate::graph::{TensorId, TensorType};
use crate::operator::{Operator, Shape, Window};

/// Filter and bias, as a convolution or a fully connected layer has them.
#[derive(Debug)]
pub(super) struct Weights<'a> {
    pub filter: TensorId,
    pub bias: Option<TensorId>,
    pub bias_values: Vec<i64>,
    data: &'a [u8],
    zero_points: Vec<i32>,
    /// From the accumulator to the output, of each output channel.
    ratios: Vec<f64>,
    output: Affine,
    limits: Range,
}

/// A convolution in one group or a fully connected layer. Row `o` of its weights makes output
/// channel `o`; column `k` is for input channel `k % channels`.
#[derive(Debug)]
pub(super) struct Product<'a> {
    pub input: TensorId,
    pub output: TensorId,
    pub weights: Weights<'a>,
    /// The axis of the filter along which its input channels lie.
    pub input_axis: usize,
    pub columns: usize,
    pub channels: usize,
    pub input_zero_point: i32,
    /// A window may reach beyond the input, where nothing is added.
    pub is_padded: bool,
}

/// A convolution of each channel by itself, with as many outputs of each.
#[derive(Debug)]
pub(super) struct Depthwise<'a> {
    pub input: TensorId,
    pub output: TensorId,
    pub weights: Weights<'a>,
    pub multiplier: u32,
    input_zero_point: i32,
    is_padded: bool,
}

/// Operands of all three.
const INPUT: usize = 0;
pub(super) const FILTER: usize = 1;
pub(super) const BIAS: usize = 2;

impl<'a> Weights<'a> {
    /// `axis` is the one of the filter's output channels.
    fn of(known: Known<'a>, outputs: u32, axis: usize) -> Option<Self> {
        let parameters = known.parameters;
        let filter = parameters.constant(FILTER)?;
        if filter.element_type != TensorType::Int8 || filter.quantisation.is_empty() {
            return None;
        }
        if filter.quantisation.len() > 1 && filter.channel_axis != axis {
            return None;
        }
        let bias = parameters.tensors.get(BIAS).copied().flatten();
        let bias_values = match bias {
            None => vec![0; outputs as usize],
            Some(_) => biases(parameters.constant(BIAS)?, outputs)?,
        };
        let (input, output) = (parameters.operand(INPUT), parameters.output(0));
        let of_channel = |index: u32| {
            let quantisation = &filter.quantisation;
            let index = if quantisation.len() == 1 { 0 } else { index };
            quantisation.get(index as usize).copied()
        };
        let affine: Option<Vec<Affine>> = (0..outputs).map(of_channel).collect();
        let affine = affine?;
        let ratio = |affine: &Affine| {
            f64::from(input.scale) * f64::from(affine.scale) / f64::from(output.scale)
        };
        Some(Self {
            filter: known.input(FILTER)?,
            bias,
            bias_values,
            data: &filter.bytes,
            zero_points: affine.iter().map(|affine| affine.zero_point).collect(),
            ratios: affine.iter().map(ratio).collect(),
            output,
            limits: known.limits(),
        })
    }

    /// The weight at a place in the filter, as the output channel's accumulator takes it.
    fn weight(&self, place: usize, output: usize) -> i64 {
        let byte = self.data.get(place).copied().unwrap_or_default();
        i64::from(byte.cast_signed()) - i64::from(self.zero_points[output])
    }

    fn is_symmetric(&self) -> bool {
        self.zero_points.iter().all(|&zero_point| zero_point == 0)
    }

    fn result(&self, output: usize, sum: Sum) -> Range {
        let (ratio, zero_point) = (self.ratios[output], self.output.zero_point);
        sum.rescaled(ratio, 0.0, zero_point, self.limits)
    }
}

/// One number for each output channel.
fn biases(bias: &Constant, outputs: u32) -> Option<Vec<i64>> {
    let is_plain = bias.element_type == TensorType::Int32 && bias.shape == [outputs];
    let words = bias.bytes.as_chunks().0.iter();
    is_plain.then(|| {
        words
            .map(|&word| i64::from(i32::from_le_bytes(word)))
            .collect()
    })
}

impl<'a> Product<'a> {
    pub(super) fn convolution(known: Known<'a>) -> Option<Self> {
        let kernel = known.node.kernel.as_ref()?;
        let Operator::Conv2d(conv) = kernel.operator else {
            return None;
        };
        // In several groups, as many channels of each would have to go.
        if conv.groups != 1 {
            return None;
        }
        let [height, width] = conv.window.kernel.map(|extent| extent as usize);
        let channels = conv.input[3] as usize;
        let product = Self {
            input: known.input(INPUT)?,
            output: known.output()?,
            weights: Weights::of(known, conv.output[3], 0)?,
            input_axis: 3,
            columns: height * width * channels,
            channels,
            input_zero_point: known.parameters.operand(INPUT).zero_point,
            is_padded: reaches_beyond(&conv.window, conv.input, conv.output),
        };
        product
            .checked(known)
            .filter(|it| it.weights.is_symmetric())
    }

    pub(super) fn fully_connected(known: Known<'a>) -> Option<Self> {
        let kernel = known.node.kernel.as_ref()?;
        let Operator::FullyConnected(layer) = &kernel.operator else {
            return None;
        };
        let input = known.input(INPUT)?;
        let channels = known.channels(input)?;
        // The layer takes its input as rows, whatever its shape.
        if channels == 0 || !layer.input_depth.is_multiple_of(channels) {
            return None;
        }
        let product = Self {
            input,
            output: known.output()?,
            weights: Weights::of(known, layer.output_depth, 0)?,
            input_axis: 1,
            columns: layer.input_depth as usize,
            channels: channels as usize,
            input_zero_point: known.parameters.operand(INPUT).zero_point,
            is_padded: false,
        };
        product.checked(known)
    }

    fn checked(self, known: Known) -> Option<Self> {
        known.int8(self.input)?;
        let whole = self.columns.checked_mul(self.rows())?;
        (self.channels > 0 && self.weights.data.len() == whole).then_some(self)
    }

    pub(super) fn rows(&self) -> usize {
        self.weights.ratios.len()
    }

    pub(super) fn weight(&self, row: usize, column: usize) -> i64 {
        self.weights.weight(row * self.columns + column, row)
    }

    /// What each output channel can be.
    pub(super) fn ranges(&self, channels: &Channels) -> Vec<Range> {
        let inputs: Vec<Range> = channels
            .of_tensor(self.input)
            .map(|channel| channels.range(channel))
            .collect();
        let row = |row: usize| {
            let start = self.weights.bias_values[row];
            let terms = (0..self.columns).map(|column| {
                let input = inputs.get(column % self.channels);
                let input = input.copied().unwrap_or(Range::ANY);
                term(
                    self.weight(row, column),
                    input,
                    self.input_zero_point,
                    self.is_padded,
                )
            });
            self.weights.result(row, total(start, terms))
        };
        (0..self.rows()).map(row).collect()
    }
}

impl<'a> Depthwise<'a> {
    pub(super) fn of(known: Known<'a>) -> Option<Self> {
        let kernel = known.node.kernel.as_ref()?;
        let Operator::DepthwiseConv2d(conv) = kernel.operator else {
            return None;
        };
        let input = known.input(INPUT)?;
        known.int8(input)?;
        let weights = Weights::of(known, conv.output[3], 3)?;
        let [height, width] = conv.window.kernel.map(|extent| extent as usize);
        let whole = height * width * conv.output[3] as usize;
        let is_plain = conv.multiplier > 0 && weights.data.len() == whole;
        (is_plain && weights.is_symmetric()).then_some(Self {
            input,
            output: known.output()?,
            weights,
            multiplier: conv.multiplier,
            input_zero_point: known.parameters.operand(INPUT).zero_point,
            is_padded: reaches_beyond(&conv.window, conv.input, conv.output),
        })
    }

    /// The channels that are made of one another.
    pub(super) fn links(&self) -> impl Iterator<Item = [Channel; 2]> {
        let outputs = self.weights.ratios.len() as u32;
        (0..outputs).map(|output| {
            let input = Channel {
                tensor: self.input,
                index: output / self.multiplier,
            };
            let output = Channel {
                tensor: self.output,
                index: output,
            };
            [input, output]
        })
    }

    /// What each output channel can be.
    pub(super) fn ranges(&self, channels: &Channels) -> Vec<Range> {
        let outputs = self.weights.ratios.len();
        let range = |[input, output]: [Channel; 2]| {
            let (input, output) = (channels.range(input), output.index as usize);
            let places = (output..self.weights.data.len()).step_by(outputs);
            let terms = places.map(|place| {
                let weight = self.weights.weight(place, output);
                term(weight, input, self.input_zero_point, self.is_padded)
            });
            let sum = total(self.weights.bias_values[output], terms);
            self.weights.result(output, sum)
        };
        self.links().map(range).collect()
    }
}

/// What a tap adds; nothing where it may lie beyond the input.
fn term(weight: i64, input: Range, zero_point: i32, is_padded: bool) -> [i64; 2] {
    let [one, other] = [input.least, input.greatest]
        .map(|value| weight * (i64::from(value) - i64::from(zero_point)));
    let (least, greatest) = (one.min(other), one.max(other));
    if is_padded {
        [least.min(0), greatest.max(0)]
    } else {
        [least, greatest]
    }
}

fn total(start: i64, terms: impl Iterator<Item = [i64; 2]>) -> Sum {
    let sum = terms.fold([start; 2], |[least, greatest], [low, high]| {
        [least + low, greatest + high]
    });
    Sum {
        least: sum[0],
        greatest: sum[1],
    }
}

/// Whether a tap of some window lies beside the input.
fn reaches_beyond(window: &Window, input: Shape, output: Shape) -> bool {
    [0, 1].into_iter().any(|axis| {
        let [kernel, stride, dilation, before] = [
            window.kernel,
            window.stride,
            window.dilation,
            window.padding_before,
        ]
        .map(|extents| u64::from(extents[axis]));
        let last = u64::from(output[axis + 1].saturating_sub(1)) * stride
            + kernel.saturating_sub(1) * dilation;
        before > 0 || last >= u64::from(input[axis + 1])
    })
}
