//! The reference kernels of `kernels-c/reference/`. Contracts: `kernels-c/include/`.

use super::weights::{requantize, weights_f32, weights_s8};
use super::{Buffers, Case, Contract};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Operator, Shape, Window};
use dmo_analysis::trace::{Address, ElementType};

/// All of them.
pub const CONTRACTS: &[Contract] = &[
    Contract {
        function: "dmo_conv2d_s8",
        serves: |case| conv2d(case) && all(case, ElementType::Int8),
        prepare: convolution_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_conv2d_s16",
        serves: |case| conv2d(case) && all(case, ElementType::Int16),
        prepare: convolution_s16,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_conv2d_f32",
        serves: |case| conv2d(case) && all(case, ElementType::Float32),
        prepare: convolution_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_depthwise_conv2d_s8",
        serves: |case| depthwise(case) && all(case, ElementType::Int8),
        prepare: convolution_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_depthwise_conv2d_s16",
        serves: |case| depthwise(case) && all(case, ElementType::Int16),
        prepare: convolution_s16,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_depthwise_conv2d_f32",
        serves: |case| depthwise(case) && all(case, ElementType::Float32),
        prepare: convolution_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_max_pool_s8",
        serves: |case| case.kind == "max" && all(case, ElementType::Int8),
        prepare: pool_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_max_pool_s16",
        serves: |case| case.kind == "max" && all(case, ElementType::Int16),
        prepare: pool_s16,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_max_pool_f32",
        serves: |case| case.kind == "max" && all(case, ElementType::Float32),
        prepare: pool_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_avg_pool_s8",
        serves: |case| case.kind == "average" && all(case, ElementType::Int8),
        prepare: pool_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_avg_pool_s16",
        serves: |case| case.kind == "average" && all(case, ElementType::Int16),
        prepare: pool_s16,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_avg_pool_f32",
        serves: |case| case.kind == "average" && all(case, ElementType::Float32),
        prepare: pool_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_fully_connected_s8",
        serves: |case| fully_connected(case) && all(case, ElementType::Int8),
        prepare: fully_connected_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_fully_connected_s16",
        serves: |case| fully_connected(case) && all(case, ElementType::Int16),
        prepare: fully_connected_s16,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_fully_connected_f32",
        serves: |case| fully_connected(case) && all(case, ElementType::Float32),
        prepare: fully_connected_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_relu_s8",
        serves: |case| case.kind == "relu" && all(case, ElementType::Int8),
        prepare: relu_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_relu_f32",
        serves: |case| case.kind == "relu" && all(case, ElementType::Float32),
        prepare: relu_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_softmax_s8",
        serves: |case| softmax(case) && all(case, ElementType::Int8),
        prepare: softmax_s8,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_softmax_f32",
        serves: |case| softmax(case) && all(case, ElementType::Float32),
        prepare: softmax_f32,
        scratch: None,
        returns_status: false,
    },
];

pub(super) type Arguments = Result<Vec<Argument>, CallError>;

pub(super) fn all(case: &Case, element_type: ElementType) -> bool {
    case.input_type == element_type && case.output_type == element_type
}

fn conv2d(case: &Case) -> bool {
    matches!(case.operator, Operator::Conv2d(_))
}

fn depthwise(case: &Case) -> bool {
    matches!(case.operator, Operator::DepthwiseConv2d(_))
}

fn fully_connected(case: &Case) -> bool {
    matches!(case.operator, Operator::FullyConnected(_))
}

fn softmax(case: &Case) -> bool {
    matches!(case.operator, Operator::Softmax(_))
}

const ACTIVATION_S8: [i32; 2] = [-128, 127];
const ACTIVATION_S16: [i32; 2] = [-32768, 32767];
const ACTIVATION_F32: [f32; 2] = [-1e30, 1e30];

pub(super) fn words(shape: Shape) -> [i32; 4] {
    shape.map(|extent| extent as i32)
}

pub(super) fn size(shape: Shape) -> usize {
    shape.iter().map(|&extent| extent as usize).product()
}

fn bits([low, high]: [f32; 2]) -> [i32; 2] {
    [low.to_bits() as i32, high.to_bits() as i32]
}

/// What the two kinds of convolution have in common.
struct Convolution {
    input: Shape,
    output: Shape,
    filter: Shape,
    window: Window,
}

fn convolution(case: &Case) -> Option<Convolution> {
    let (input, output, window, filter_outer, filter_depth) = match &case.operator {
        Operator::Conv2d(conv) => (
            conv.input,
            conv.output,
            conv.window,
            conv.output[3],
            conv.input[3] / conv.groups,
        ),
        Operator::DepthwiseConv2d(conv) => {
            (conv.input, conv.output, conv.window, 1, conv.output[3])
        }
        _ => return None,
    };
    Some(Convolution {
        input,
        output,
        filter: [
            filter_outer,
            window.kernel[0],
            window.kernel[1],
            filter_depth,
        ],
        window,
    })
}

impl Convolution {
    fn geometry(&self) -> Vec<i32> {
        [
            self.window.stride,
            self.window.dilation,
            self.window.padding_before,
        ]
        .concat()
        .into_iter()
        .map(|extent| extent as i32)
        .collect()
    }

    /// Pointers in the order that all four kernels share.
    fn arguments(
        &self,
        buffers: &Buffers,
        frame: &mut Frame,
        head: &[Address],
        filter: Vec<u8>,
        bias: Vec<u8>,
    ) -> Arguments {
        let input_shape = frame.words("input shape", &words(self.input))?;
        let filter_shape = frame.words("filter shape", &words(self.filter))?;
        let output_shape = frame.words("output shape", &words(self.output))?;
        let filter = frame.place("filter", filter)?;
        let bias = frame.place("bias", bias)?;
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

fn convolution_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_convolution(case, buffers, frame, &INT8)
}

fn convolution_s16(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_convolution(case, buffers, frame, &INT16)
}

/// What differs between activations of 8 and of 16 bits; weights have 8 bits.
struct Quantisation {
    input_offset: i32,
    output_offset: i32,
    activation: [i32; 2],
    bias_bytes: usize,
}

const INT8: Quantisation = Quantisation {
    input_offset: 3,
    output_offset: -5,
    activation: ACTIVATION_S8,
    bias_bytes: 4,
};

const INT16: Quantisation = Quantisation {
    input_offset: 0,
    output_offset: 0,
    activation: ACTIVATION_S16,
    bias_bytes: 8,
};

fn quantised_convolution(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    quantisation: &Quantisation,
) -> Arguments {
    let Some(conv) = convolution(case) else {
        return Ok(Vec::new());
    };
    let channels = conv.output[3] as usize;
    let taps = size(conv.filter) as u64 / u64::from(conv.output[3]);
    let (multiplier, shift) = requantize(taps);
    let multipliers = frame.words("multipliers", &vec![multiplier; channels])?;
    let shifts = frame.words("shifts", &vec![shift; channels])?;
    let quant = frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])?;
    let mut params = conv.geometry();
    params.extend([quantisation.input_offset, quantisation.output_offset]);
    params.extend(quantisation.activation);
    let params = frame.words("parameters", &params)?;
    let bias = vec![0; quantisation.bias_bytes * channels];
    let filter = weights_s8(size(conv.filter));
    conv.arguments(buffers, frame, &[params, quant], filter, bias)
}

fn convolution_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Some(conv) = convolution(case) else {
        return Ok(Vec::new());
    };
    let mut params = conv.geometry();
    params.extend(bits(ACTIVATION_F32));
    let params = frame.words("parameters", &params)?;
    let bias = vec![0; 4 * conv.output[3] as usize];
    let filter = weights_f32(size(conv.filter));
    conv.arguments(buffers, frame, &[params], filter, bias)
}

fn pool(case: &Case, buffers: &Buffers, frame: &mut Frame, activation: [i32; 2]) -> Arguments {
    let Operator::Pool2d(pool) = &case.operator else {
        return Ok(Vec::new());
    };
    let mut params: Vec<i32> = [
        pool.window.kernel,
        pool.window.stride,
        pool.window.padding_before,
    ]
    .concat()
    .into_iter()
    .map(|extent| extent as i32)
    .collect();
    params.extend(activation);
    let params = frame.words("parameters", &params)?;
    let input_shape = frame.words("input shape", &words(pool.input))?;
    let output_shape = frame.words("output shape", &words(pool.output))?;
    let arguments = [
        params,
        input_shape,
        buffers.inputs[0],
        output_shape,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

fn pool_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    pool(case, buffers, frame, ACTIVATION_S8)
}

fn pool_s16(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    pool(case, buffers, frame, ACTIVATION_S16)
}

fn pool_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    pool(case, buffers, frame, bits(ACTIVATION_F32))
}

fn fully_connected_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_fully_connected(case, buffers, frame, &INT8)
}

fn fully_connected_s16(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    quantised_fully_connected(case, buffers, frame, &INT16)
}

fn quantised_fully_connected(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    quantisation: &Quantisation,
) -> Arguments {
    let Operator::FullyConnected(layer) = &case.operator else {
        return Ok(Vec::new());
    };
    let [low, high] = quantisation.activation;
    let offsets = (quantisation.input_offset, quantisation.output_offset);
    let params = frame.words("parameters", &[offsets.0, 0, offsets.1, low, high])?;
    let (multiplier, shift) = requantize(layer.input_depth.into());
    let quant = frame.words("quantisation", &[multiplier, shift])?;
    let filter = weights_s8(layer.input_depth as usize * layer.output_depth as usize);
    let filter = frame.place("filter", filter)?;
    let bias = vec![0; quantisation.bias_bytes * layer.output_depth as usize];
    let bias = frame.place("bias", bias)?;
    Ok(vec![
        params.into(),
        quant.into(),
        Argument::Word(layer.batches),
        Argument::Word(layer.input_depth),
        Argument::Word(layer.output_depth),
        buffers.inputs[0].into(),
        filter.into(),
        bias.into(),
        buffers.outputs[0].into(),
    ])
}

fn fully_connected_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::FullyConnected(layer) = &case.operator else {
        return Ok(Vec::new());
    };
    let params = frame.words("parameters", &bits(ACTIVATION_F32))?;
    let filter = weights_f32(layer.input_depth as usize * layer.output_depth as usize);
    let filter = frame.place("filter", filter)?;
    let bias = frame.place("bias", vec![0; 4 * layer.output_depth as usize])?;
    Ok(vec![
        params.into(),
        Argument::Word(layer.batches),
        Argument::Word(layer.input_depth),
        Argument::Word(layer.output_depth),
        buffers.inputs[0].into(),
        filter.into(),
        bias.into(),
        buffers.outputs[0].into(),
    ])
}

fn elements(case: &Case) -> u32 {
    match &case.operator {
        Operator::Elementwise(layer) => layer.elements,
        _ => 0,
    }
}

fn relu_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let [low, high] = ACTIVATION_S8;
    // Scale 1 to 2: multiplier 2^30 is a half.
    let params = frame.words("parameters", &[3, -5, 1 << 30, 1, low, high])?;
    Ok(vec![
        params.into(),
        Argument::Word(elements(case)),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn relu_f32(case: &Case, buffers: &Buffers, _frame: &mut Frame) -> Arguments {
    Ok(vec![
        Argument::Word(elements(case)),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn softmax_s8(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Softmax(softmax) = &case.operator else {
        return Ok(Vec::new());
    };
    // Input scale 1/16 and beta 1: 2^26 / 16 = 2^22, as a half times 2^23.
    let params = frame.words("parameters", &[1 << 30, 23, -248])?;
    Ok(vec![
        params.into(),
        Argument::Word(softmax.rows),
        Argument::Word(softmax.depth),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn softmax_f32(case: &Case, buffers: &Buffers, _frame: &mut Frame) -> Arguments {
    let Operator::Softmax(softmax) = &case.operator else {
        return Ok(Vec::new());
    };
    Ok(vec![
        Argument::Float(1.0),
        Argument::Word(softmax.rows),
        Argument::Word(softmax.depth),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}
