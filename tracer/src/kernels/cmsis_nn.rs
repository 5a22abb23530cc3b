//! Kernels with the public CMSIS-NN interface for int8, version 7: our own of
//! `kernels-c/dsp/`, or a user's library of that interface.
//! Contracts: `kernels-c/include/cmsis_nn/`.

use super::reference::{Arguments, all, size, words};
use super::weights::{requantize, weights_s8};
use super::{Buffers, Case, Contract, ScratchSize};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Operator, Shape, Window};
use dmo_analysis::trace::{Address, ElementType};

/// All of them.
pub const CONTRACTS: &[Contract] = &[
    Contract {
        function: "arm_convolve_wrapper_s8",
        serves: |case| int8(case) && matches!(&case.operator, Operator::Conv2d(_)),
        prepare: convolve,
        scratch: Some(ScratchSize {
            function: "arm_convolve_wrapper_s8_get_buffer_size",
            arguments: convolution_scratch,
        }),
        returns_status: true,
    },
    Contract {
        function: "arm_depthwise_conv_wrapper_s8",
        serves: |case| int8(case) && matches!(&case.operator, Operator::DepthwiseConv2d(_)),
        prepare: convolve,
        scratch: Some(ScratchSize {
            function: "arm_depthwise_conv_wrapper_s8_get_buffer_size",
            arguments: convolution_scratch,
        }),
        returns_status: true,
    },
    Contract {
        function: "arm_fully_connected_s8",
        serves: |case| int8(case) && matches!(&case.operator, Operator::FullyConnected(_)),
        prepare: fully_connected,
        scratch: Some(ScratchSize {
            function: "arm_fully_connected_s8_get_buffer_size",
            arguments: |case, frame| {
                let dims = frame.words("filter dims", &fully_connected_dims(case)[1])?;
                Ok(vec![dims.into()])
            },
        }),
        returns_status: true,
    },
    Contract {
        function: "arm_max_pool_s8",
        serves: |case| int8(case) && case.kind == "max" && is_undilated(case),
        prepare: pool,
        scratch: None,
        returns_status: true,
    },
    Contract {
        function: "arm_avgpool_s8",
        serves: |case| int8(case) && case.kind == "average" && is_undilated(case),
        prepare: pool,
        scratch: Some(ScratchSize {
            function: "arm_avgpool_s8_get_buffer_size",
            arguments: |case, _| {
                let Operator::Pool2d(pool) = &case.operator else {
                    return Ok(Vec::new());
                };
                Ok(vec![
                    Argument::Word(pool.output[2]),
                    Argument::Word(pool.input[3]),
                ])
            },
        }),
        returns_status: true,
    },
    Contract {
        function: "arm_softmax_s8",
        serves: |case| int8(case) && matches!(&case.operator, Operator::Softmax(_)),
        prepare: |case, buffers, _| {
            let Operator::Softmax(softmax) = &case.operator else {
                return Ok(Vec::new());
            };
            Ok(vec![
                buffers.inputs[0].into(),
                Argument::Word(softmax.rows),
                Argument::Word(softmax.depth),
                Argument::Word(1 << 30),
                Argument::Word(23),
                Argument::Word(-248_i32 as u32),
                buffers.outputs[0].into(),
            ])
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "arm_elementwise_add_s8",
        serves: |case| int8(case) && case.kind == "add" && same_shapes(case),
        prepare: |case, buffers, _| {
            let count = output_elements(case);
            let numbers = [3, 1 << 30, 0, -4, 1 << 30, 0, 20];
            let rest = [5, 1 << 30, -19, -128, 127, count];
            let mut arguments = vec![buffers.inputs[0].into(), buffers.inputs[1].into()];
            arguments.extend(numbers.map(|number| Argument::Word(number as u32)));
            arguments.push(buffers.outputs[0].into());
            arguments.extend(rest.map(|number: i32| Argument::Word(number as u32)));
            Ok(arguments)
        },
        scratch: None,
        returns_status: true,
    },
    Contract {
        function: "arm_elementwise_mul_s8",
        serves: |case| int8(case) && case.kind == "mul" && same_shapes(case),
        prepare: |case, buffers, _| {
            let count = output_elements(case);
            let rest = [5, 1 << 30, -6, -128, 127, count];
            let mut arguments: Vec<Argument> = vec![
                buffers.inputs[0].into(),
                buffers.inputs[1].into(),
                Argument::Word(3),
                Argument::Word(-4_i32 as u32),
                buffers.outputs[0].into(),
            ];
            arguments.extend(rest.map(|number: i32| Argument::Word(number as u32)));
            Ok(arguments)
        },
        scratch: None,
        returns_status: true,
    },
];

fn int8(case: &Case) -> bool {
    all(case, ElementType::Int8)
}

fn is_undilated(case: &Case) -> bool {
    matches!(&case.operator, Operator::Pool2d(pool) if pool.window.dilation == [1, 1])
}

fn same_shapes(case: &Case) -> bool {
    matches!(&case.operator, Operator::ElementwiseBinary(binary)
        if binary.inputs.iter().all(|&shape| shape == binary.output))
}

fn output_elements(case: &Case) -> i32 {
    match &case.operator {
        Operator::ElementwiseBinary(binary) => size(binary.output) as i32,
        _ => 0,
    }
}

/// Width first, as the interface has it.
fn tile([height, width]: [u32; 2]) -> [i32; 2] {
    [width as i32, height as i32]
}

fn filter(outer: u32, window: Window, depth: u32) -> Shape {
    let [height, width] = window.kernel;
    [outer, height, width, depth]
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

fn convolution_scratch(case: &Case, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let params = conv.params(frame)?;
    let [input, filter, output] = conv.dims(frame)?;
    Ok([params, input, filter, output].map(Argument::from).to_vec())
}

/// The context structure: scratch memory and its size.
fn context(buffers: &Buffers, frame: &mut Frame) -> Result<Address, CallError> {
    let (address, size_bytes) = buffers.scratch.unwrap_or_default();
    frame.words("context", &[address.0 as i32, size_bytes as i32])
}

fn convolve(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Some(conv) = Convolution::of(case) else {
        return Ok(Vec::new());
    };
    let channels = conv.output[3];
    let taps = size(conv.filter) as u64 / u64::from(channels);
    let (multiplier, shift) = requantize(taps);
    let multipliers = frame.words("multipliers", &vec![multiplier; channels as usize])?;
    let shifts = frame.words("shifts", &vec![shift; channels as usize])?;
    let quant = frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])?;
    let filter = frame.place("filter", weights_s8(size(conv.filter)))?;
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

/// Dims of input, filter and output.
fn fully_connected_dims(case: &Case) -> [[i32; 4]; 3] {
    let Operator::FullyConnected(layer) = &case.operator else {
        return [[0; 4]; 3];
    };
    let [batches, inputs, outputs] =
        [layer.batches, layer.input_depth, layer.output_depth].map(|extent| extent as i32);
    [
        [batches, 1, 1, inputs],
        [inputs, 1, 1, outputs],
        [batches, 1, 1, outputs],
    ]
}

fn fully_connected(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let [input, filter, output] = fully_connected_dims(case);
    let (inputs, outputs) = (filter[0] as usize, filter[3] as usize);
    let (multiplier, shift) = requantize(inputs as u64);
    let arguments = [
        context(buffers, frame)?,
        frame.words("parameters", &[3, 0, -5, -128, 127])?,
        frame.words("quantisation", &[multiplier, shift])?,
        frame.words("input dims", &input)?,
        buffers.inputs[0],
        frame.words("filter dims", &filter)?,
        frame.place("filter", weights_s8(inputs * outputs))?,
        frame.words("bias dims", &[1, 1, 1, filter[3]])?,
        frame.place("bias", vec![0; 4 * outputs])?,
        frame.words("output dims", &output)?,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

fn pool(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Pool2d(pool) = &case.operator else {
        return Ok(Vec::new());
    };
    let mut params = tile(pool.window.stride).to_vec();
    params.extend(tile(pool.window.padding_before));
    params.extend([-128, 127]);
    let [height, width] = pool.window.kernel;
    let arguments = [
        context(buffers, frame)?,
        frame.words("parameters", &params)?,
        frame.words("input dims", &words(pool.input))?,
        buffers.inputs[0],
        frame.words("filter dims", &words([1, height, width, 1]))?,
        frame.words("output dims", &words(pool.output))?,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}
