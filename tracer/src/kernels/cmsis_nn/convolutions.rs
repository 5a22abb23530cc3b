//! Convolutions: the two wrappers, and what they choose from.

use super::{context, int8, tile};
use crate::call::{Argument, CallError, Frame};
use crate::kernels::reference::{size, words};
use crate::kernels::weights::{requantize, weights_s8};
use crate::kernels::{Arguments, Buffers, Case, Contract, ScratchSize};
use dmo_analysis::operator::{Operator, Shape, Window};
use dmo_analysis::trace::Address;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new("arm_convolve_wrapper_s8", is_convolution, convolve)
        .with_status()
        .with_scratch(ScratchSize {
            function: "arm_convolve_wrapper_s8_get_buffer_size",
            arguments: params_and_dims,
        }),
    Contract::new("arm_convolve_s8", is_convolution, |case, buffers, frame| {
        let mut arguments = convolve(case, buffers, frame)?;
        // Without the factors of a transposed convolution.
        let output_dims = arguments.len().saturating_sub(2);
        arguments.insert(output_dims, Argument::Word(0));
        Ok(arguments)
    })
    .with_status()
    .with_scratch(ScratchSize {
        function: "arm_convolve_s8_get_buffer_size",
        arguments: input_and_filter,
    }),
    Contract::new(
        "arm_convolve_1x1_s8_fast",
        |case| is_pointwise(case) && window(case).is_some_and(|window| window.stride == [1, 1]),
        convolve,
    )
    .with_status()
    .with_scratch(ScratchSize {
        function: "arm_convolve_1x1_s8_fast_get_buffer_size",
        arguments: |case, frame| {
            let mut arguments = input_and_filter(case, frame)?;
            arguments.truncate(1);
            Ok(arguments)
        },
    }),
    Contract::new("arm_convolve_1x1_s8", is_pointwise, convolve).with_status(),
    Contract::new("arm_convolve_1_x_n_s8", is_row, convolve)
        .with_status()
        .with_scratch(ScratchSize {
            function: "arm_convolve_1_x_n_s8_get_buffer_size",
            arguments: params_and_dims,
        }),
    Contract::new("arm_depthwise_conv_wrapper_s8", is_depthwise, convolve)
        .with_status()
        .with_scratch(ScratchSize {
            function: "arm_depthwise_conv_wrapper_s8_get_buffer_size",
            arguments: params_and_dims,
        }),
    Contract::new("arm_depthwise_conv_s8", is_depthwise, convolve).with_status(),
    Contract::new("arm_depthwise_conv_s8_opt", is_one_to_one, convolve)
        .with_status()
        .with_scratch(ScratchSize {
            function: "arm_depthwise_conv_s8_opt_get_buffer_size",
            arguments: input_and_filter,
        }),
    Contract::new("arm_depthwise_conv_3x3_s8", is_three_by_three, convolve).with_status(),
];

fn is_convolution(case: &Case) -> bool {
    int8(case) && matches!(case.operator, Operator::Conv2d(_))
}

fn is_depthwise(case: &Case) -> bool {
    int8(case) && matches!(case.operator, Operator::DepthwiseConv2d(_))
}

/// 1x1, not padded, not grouped.
fn is_pointwise(case: &Case) -> bool {
    let Operator::Conv2d(conv) = &case.operator else {
        return false;
    };
    let window = conv.window;
    is_convolution(case)
        && conv.groups == 1
        && window.kernel == [1, 1]
        && window.padding_before == [0, 0]
}

/// Along one row, not dilated, not grouped.
fn is_row(case: &Case) -> bool {
    let Operator::Conv2d(conv) = &case.operator else {
        return false;
    };
    let window = conv.window;
    is_convolution(case)
        && conv.groups == 1
        && [conv.input[1], conv.output[1], window.kernel[0]] == [1; 3]
        && window.dilation == [1, 1]
        && window.padding_before[0] == 0
}

fn is_one_to_one(case: &Case) -> bool {
    is_depthwise(case)
        && matches!(&case.operator, Operator::DepthwiseConv2d(conv) if conv.multiplier == 1)
}

fn is_three_by_three(case: &Case) -> bool {
    is_one_to_one(case)
        && window(case).is_some_and(|window| {
            window.kernel == [3, 3] && window.dilation == [1, 1] && window.padding_before[1] <= 1
        })
}

fn window(case: &Case) -> Option<Window> {
    Convolution::of(case).map(|conv| conv.window)
}

struct Convolution {
    input: Shape,
    output: Shape,
    filter: Shape,
    window: Window,
    /// Output channels per input channel of a depthwise convolution.
    multiplier: Option<u32>,
}

impl Convolution {
    fn of(case: &Case) -> Option<Self> {
        match &case.operator {
            Operator::Conv2d(conv) => Some(Self {
                input: conv.input,
                output: conv.output,
                filter: filter(conv.output[3], conv.window, conv.input[3] / conv.groups),
                window: conv.window,
                multiplier: None,
            }),
            Operator::DepthwiseConv2d(conv) => Some(Self {
                input: conv.input,
                output: conv.output,
                filter: filter(1, conv.window, conv.output[3]),
                window: conv.window,
                multiplier: Some(conv.multiplier),
            }),
            _ => None,
        }
    }

    fn params(&self, frame: &mut Frame) -> Result<Address, CallError> {
        let mut params = vec![3, -5];
        params.extend(self.multiplier.map(|multiplier| multiplier as i32));
        params.extend(tile(self.window.stride));
        params.extend(tile(self.window.padding_before));
        params.extend(tile(self.window.dilation));
        params.extend([-128, 127]);
        frame.words("parameters", &params)
    }

    /// Dims of input, filter and output.
    fn dims(&self, frame: &mut Frame) -> Result<[Address; 3], CallError> {
        Ok([
            frame.words("input dims", &words(self.input))?,
            frame.words("filter dims", &words(self.filter))?,
            frame.words("output dims", &words(self.output))?,
        ])
    }
}

fn filter(outer: u32, window: Window, depth: u32) -> Shape {
    let [height, width] = window.kernel;
    [outer, height, width, depth]
}

fn params_and_dims(case: &Case, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let params = conv.params(frame)?;
    let [input, filter, output] = conv.dims(frame)?;
    Ok([params, input, filter, output].map(Argument::from).to_vec())
}

fn input_and_filter(case: &Case, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let [input, filter, _] = conv.dims(frame)?;
    Ok([input, filter].map(Argument::from).to_vec())
}

fn convolve(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let channels = conv.output[3];
    let taps = size(conv.filter) / u64::from(channels);
    let (multiplier, shift) = requantize(taps);
    let multipliers = frame.words("multipliers", &vec![multiplier; channels as usize])?;
    let shifts = frame.words("shifts", &vec![shift; channels as usize])?;
    let quant = frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])?;
    let filter = weights_s8(frame, "filter", size(conv.filter))?;
    let bias = frame.place("bias", vec![0; 4 * channels as usize])?;
    let bias_dims = frame.words("bias dims", &[1, 1, 1, channels as i32])?;
    let [input_dims, filter_dims, output_dims] = conv.dims(frame)?;
    let arguments = [
        context(buffers, frame)?,
        conv.params(frame)?,
        quant,
        input_dims,
        buffers.inputs[0],
        filter_dims,
        filter,
        bias_dims,
        bias,
        output_dims,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}
