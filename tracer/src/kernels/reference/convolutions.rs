//! Convolutions. Contracts: `kernels-c/include/dmo_conv.h`, `dmo_int16.h`,
//! `dmo_transposed_conv.h`.

use super::{INT8, INT16, Quantisation, activation_f32, all, geometry, output_shape, size, words};
use crate::call::{Argument, Frame};
use crate::kernels::weights::{requantize, weights_f32, weights_s8};
use crate::kernels::{Arguments, Buffers, Case, Contract, ScratchSize};
use dmo_analysis::operator::{Operator, Shape, Window};
use dmo_analysis::trace::{Address, ElementType};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new(
        "dmo_conv2d_s8",
        |case| conv2d(case) && all(case, ElementType::Int8),
        |case, buffers, frame| quantised(case, buffers, frame, &INT8),
    ),
    Contract::new(
        "dmo_conv2d_s16",
        |case| conv2d(case) && all(case, ElementType::Int16),
        |case, buffers, frame| quantised(case, buffers, frame, &INT16),
    ),
    Contract::new(
        "dmo_conv2d_f32",
        |case| conv2d(case) && all(case, ElementType::Float32),
        float,
    ),
    Contract::new(
        "dmo_depthwise_conv2d_s8",
        |case| depthwise(case) && all(case, ElementType::Int8),
        |case, buffers, frame| quantised(case, buffers, frame, &INT8),
    ),
    Contract::new(
        "dmo_depthwise_conv2d_s16",
        |case| depthwise(case) && all(case, ElementType::Int16),
        |case, buffers, frame| quantised(case, buffers, frame, &INT16),
    ),
    Contract::new(
        "dmo_depthwise_conv2d_f32",
        |case| depthwise(case) && all(case, ElementType::Float32),
        float,
    ),
    Contract::new(
        "dmo_transposed_conv2d_s8",
        |case| transposed(case) && all(case, ElementType::Int8),
        |case, buffers, frame| with_scratch(case, buffers, frame, &INT8),
    )
    .with_scratch(ScratchSize {
        function: "dmo_transposed_conv2d_s8_scratch_bytes",
        arguments: output_shape,
    }),
    Contract::new(
        "dmo_transposed_conv2d_s16",
        |case| transposed(case) && all(case, ElementType::Int16),
        |case, buffers, frame| with_scratch(case, buffers, frame, &INT16),
    )
    .with_scratch(ScratchSize {
        function: "dmo_transposed_conv2d_s16_scratch_bytes",
        arguments: output_shape,
    }),
    Contract::new(
        "dmo_transposed_conv2d_f32",
        |case| transposed(case) && all(case, ElementType::Float32),
        float,
    ),
];

fn conv2d(case: &Case) -> bool {
    matches!(case.operator, Operator::Conv2d(_))
}

fn depthwise(case: &Case) -> bool {
    matches!(case.operator, Operator::DepthwiseConv2d(_))
}

fn transposed(case: &Case) -> bool {
    matches!(&case.operator, Operator::TransposeConv2d(conv) if conv.window.dilation == [1, 1])
}

/// What the three kinds of convolution have in common.
struct Convolution {
    input: Shape,
    output: Shape,
    filter: Shape,
    window: Window,
}

impl Convolution {
    fn of(case: &Case) -> Option<Self> {
        let (input, output, window, outer, depth) = match &case.operator {
            Operator::Conv2d(conv) => {
                let depth = conv.input[3] / conv.groups;
                (conv.input, conv.output, conv.window, conv.output[3], depth)
            }
            Operator::DepthwiseConv2d(conv) => {
                (conv.input, conv.output, conv.window, 1, conv.output[3])
            }
            Operator::TransposeConv2d(conv) => {
                let [outer, depth] = [conv.output[3], conv.input[3]];
                (conv.input, conv.output, conv.window, outer, depth)
            }
            _ => return None,
        };
        let [height, width] = window.kernel;
        Some(Self {
            input,
            output,
            filter: [outer, height, width, depth],
            window,
        })
    }

    fn channels(&self) -> usize {
        self.output[3] as usize
    }

    /// Pointers in the order that all the kernels share.
    fn arguments(
        &self,
        buffers: &Buffers,
        frame: &mut Frame,
        head: &[Address],
        filter: Address,
        bias_bytes: usize,
    ) -> Arguments {
        let input_shape = frame.words("input shape", &words(self.input))?;
        let filter_shape = frame.words("filter shape", &words(self.filter))?;
        let output_shape = frame.words("output shape", &words(self.output))?;
        let bias = frame.place("bias", vec![0; bias_bytes * self.channels()])?;
        let tail = [
            input_shape,
            buffers.inputs[0],
            filter_shape,
            filter,
            bias,
            output_shape,
            buffers.outputs[0],
        ];
        Ok(head.iter().chain(&tail).map(|&at| at.into()).collect())
    }
}

fn quantised(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    quantisation: &Quantisation,
) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let taps = size(conv.filter) / conv.channels() as u64;
    let (multiplier, shift) = requantize(taps);
    let multipliers = frame.words("multipliers", &vec![multiplier; conv.channels()])?;
    let shifts = frame.words("shifts", &vec![shift; conv.channels()])?;
    let quant = frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])?;
    let mut params = geometry(conv.window);
    params.extend([quantisation.input_offset, quantisation.output_offset]);
    params.extend(quantisation.activation);
    let params = frame.words("parameters", &params)?;
    let filter = weights_s8(frame, "filter", size(conv.filter))?;
    conv.arguments(
        buffers,
        frame,
        &[params, quant],
        filter,
        quantisation.bias_bytes,
    )
}

/// The sums of a transposed convolution are kept in scratch memory.
fn with_scratch(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    quantisation: &Quantisation,
) -> Arguments {
    let mut arguments = quantised(case, buffers, frame, quantisation)?;
    arguments.push(Argument::from(buffers.scratch_address()));
    Ok(arguments)
}

fn float(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let mut params = geometry(conv.window);
    params.extend(activation_f32());
    let params = frame.words("parameters", &params)?;
    let filter = weights_f32(frame, "filter", size(conv.filter))?;
    conv.arguments(buffers, frame, &[params], filter, 4)
}
