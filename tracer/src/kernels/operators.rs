//! The reference kernels beside convolution, pooling and their like: element by element,
//! moving, reducing, resizing. Contracts: `kernels-c/include/`.

use super::reference::{Arguments, all, size, words};
use super::weights::{requantize, weights_f32, weights_s8};
use super::{Buffers, Case, Contract};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Operator, Reduction, Shape};
use dmo_analysis::trace::{Address, ElementType};

/// All of them.
pub const CONTRACTS: &[Contract] = &[
    Contract {
        function: "dmo_quantize_f32_s8",
        serves: |case| case.kind == "quantize" && case.output_type == ElementType::Int8,
        prepare: affine,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_quantize_f32_s16",
        serves: |case| case.kind == "quantize" && case.output_type == ElementType::Int16,
        prepare: affine,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_dequantize_s8_f32",
        serves: |case| case.kind == "dequantize" && case.input_type == ElementType::Int8,
        prepare: affine,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_dequantize_s16_f32",
        serves: |case| case.kind == "dequantize" && case.input_type == ElementType::Int16,
        prepare: affine,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_relu6_f32",
        serves: |case| case.kind == "relu6" && all(case, ElementType::Float32),
        prepare: |case, buffers, _| {
            Ok(vec![
                Argument::Word(elements(case)),
                buffers.inputs[0].into(),
                buffers.outputs[0].into(),
            ])
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_broadcast_add_s8",
        serves: |case| case.kind == "add" && all(case, ElementType::Int8),
        prepare: |case, buffers, frame| {
            // Each input counts a half: (x * 2^20 / 2 + y * 2^20 / 2) / 2^20.
            let half = [1 << 30, 0];
            let params = [&[3, -4, 5][..], &half, &half, &[1 << 30, -19], &[-128, 127]].concat();
            binary(case, buffers, frame, Some(params))
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_broadcast_mul_s8",
        serves: |case| case.kind == "mul" && all(case, ElementType::Int8),
        prepare: |case, buffers, frame| {
            let params = vec![3, -4, 5, 1 << 30, -6, -128, 127];
            binary(case, buffers, frame, Some(params))
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_broadcast_add_f32",
        serves: |case| case.kind == "add" && all(case, ElementType::Float32),
        prepare: binary_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_broadcast_mul_f32",
        serves: |case| case.kind == "mul" && all(case, ElementType::Float32),
        prepare: binary_f32,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_transposed_conv2d_s8",
        serves: |case| transposed(case) && all(case, ElementType::Int8),
        prepare: |case, buffers, frame| transposed_convolution(case, buffers, frame, 4),
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_transposed_conv2d_s16",
        serves: |case| transposed(case) && all(case, ElementType::Int16),
        prepare: |case, buffers, frame| transposed_convolution(case, buffers, frame, 8),
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_transposed_conv2d_f32",
        serves: |case| transposed(case) && all(case, ElementType::Float32),
        prepare: |case, buffers, frame| transposed_convolution(case, buffers, frame, 0),
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_batched_matmul_s8",
        serves: |case| case.kind == "batched_matmul" && all(case, ElementType::Int8),
        prepare: batched_matmul,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_batched_matmul_f32",
        serves: |case| case.kind == "batched_matmul" && all(case, ElementType::Float32),
        prepare: batched_matmul,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_matmul_s8",
        serves: |case| case.kind == "matmul" && case.output_type == ElementType::Int32,
        prepare: matmul,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_matmul_f32",
        serves: |case| case.kind == "matmul" && all(case, ElementType::Float32),
        prepare: matmul,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_concat",
        serves: |case| case.kind == "concat",
        prepare: concat,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_split",
        serves: |case| case.kind == "split",
        prepare: split,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_pad",
        serves: |case| case.kind == "pad",
        prepare: pad,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_reshape",
        serves: |case| case.kind == "reshape",
        prepare: |case, buffers, _| {
            let Operator::Reshape(reshape) = &case.operator else {
                return Ok(Vec::new());
            };
            Ok(vec![
                Argument::Word(reshape.element_bytes),
                Argument::Word(reshape.elements),
                buffers.inputs[0].into(),
                buffers.outputs[0].into(),
            ])
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_transpose",
        serves: |case| case.kind == "transpose",
        prepare: |case, buffers, frame| {
            let Operator::Transpose(transpose) = &case.operator else {
                return Ok(Vec::new());
            };
            let axes = words(transpose.permutation).to_vec();
            moved(case, buffers, frame, &axes)
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_strided_slice",
        serves: |case| case.kind == "strided_slice",
        prepare: |case, buffers, frame| {
            let Operator::StridedSlice(slice) = &case.operator else {
                return Ok(Vec::new());
            };
            let params = [words(slice.begin), slice.stride].concat();
            moved(case, buffers, frame, &params)
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_mean_s8",
        serves: |case| case.kind == "mean" && all(case, ElementType::Int8),
        prepare: mean,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_mean_s16",
        serves: |case| case.kind == "mean" && all(case, ElementType::Int16),
        prepare: mean,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_mean_f32",
        serves: |case| reduction(case) == Some(Reduction::Mean) && all(case, ElementType::Float32),
        prepare: reduce,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_sum_f32",
        serves: |case| reduction(case) == Some(Reduction::Fold) && all(case, ElementType::Float32),
        prepare: reduce,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_resize_nearest",
        serves: |case| case.kind == "resize_nearest",
        prepare: |case, buffers, frame| {
            let Operator::ResizeNearest(resize) = &case.operator else {
                return Ok(Vec::new());
            };
            let modes = [resize.align_corners, resize.half_pixel_centers].map(i32::from);
            moved(case, buffers, frame, &modes)
        },
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_resize_bilinear_s8",
        serves: |case| case.kind == "resize_bilinear" && all(case, ElementType::Int8),
        prepare: resize_bilinear,
        scratch: None,
        returns_status: false,
    },
    Contract {
        function: "dmo_resize_bilinear_f32",
        serves: |case| case.kind == "resize_bilinear" && all(case, ElementType::Float32),
        prepare: resize_bilinear,
        scratch: None,
        returns_status: false,
    },
];

fn elements(case: &Case) -> u32 {
    match &case.operator {
        Operator::Elementwise(layer) => layer.elements,
        _ => 0,
    }
}

fn transposed(case: &Case) -> bool {
    matches!(case.operator, Operator::TransposeConv2d(_))
}

fn reduction(case: &Case) -> Option<Reduction> {
    match &case.operator {
        Operator::Reduce(reduce) => Some(reduce.reduction),
        _ => None,
    }
}

fn bits(value: f32) -> i32 {
    value.to_bits() as i32
}

/// Shapes of the first input and the first output.
fn shapes(case: &Case) -> Option<(Shape, Shape)> {
    let buffers = case.operator.buffers().ok()?;
    Some((
        buffers.inputs.first()?.shape,
        buffers.outputs.first()?.shape,
    ))
}

/// Shapes and buffers of one input and one output, in the order that most kernels share.
fn in_and_out(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Result<[Argument; 4], CallError> {
    let (input, output) = shapes(case).unwrap_or_default();
    let input = frame.words("input shape", &words(input))?;
    let output = frame.words("output shape", &words(output))?;
    Ok([
        input.into(),
        buffers.inputs[0].into(),
        output.into(),
        buffers.outputs[0].into(),
    ])
}

fn affine(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let params = frame.words("parameters", &[bits(0.0625), 3])?;
    Ok(vec![
        params.into(),
        Argument::Word(elements(case)),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

fn binary(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    params: Option<Vec<i32>>,
) -> Arguments {
    let Operator::ElementwiseBinary(binary) = &case.operator else {
        return Ok(Vec::new());
    };
    let mut arguments: Vec<Argument> = Vec::new();
    if let Some(params) = params {
        arguments.push(frame.words("parameters", &params)?.into());
    }
    for (shape, &input) in binary.inputs.iter().zip(&buffers.inputs) {
        let shape = frame.words("input shape", &words(*shape))?;
        arguments.extend([Argument::from(shape), input.into()]);
    }
    let shape = frame.words("output shape", &words(binary.output))?;
    arguments.extend([Argument::from(shape), buffers.outputs[0].into()]);
    Ok(arguments)
}

fn binary_f32(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    binary(case, buffers, frame, Some(vec![bits(-1e30), bits(1e30)]))
}

/// `sum_bytes`: size of a scratch element, 0 for the kernel that has none.
fn transposed_convolution(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
    sum_bytes: u64,
) -> Arguments {
    let Operator::TransposeConv2d(conv) = &case.operator else {
        return Ok(Vec::new());
    };
    let float = sum_bytes == 0;
    let channels = conv.output[3] as usize;
    let [height, width] = conv.window.kernel;
    let filter_shape = [conv.output[3], height, width, conv.input[3]];
    let mut params: Vec<i32> = [
        conv.window.stride,
        conv.window.dilation,
        conv.window.padding_before,
    ]
    .concat()
    .into_iter()
    .map(|extent| extent as i32)
    .collect();
    params.extend(match sum_bytes {
        0 => vec![bits(-1e30), bits(1e30)],
        4 => vec![3, -5, -128, 127],
        _ => vec![0, 0, -32768, 32767],
    });
    let mut arguments: Vec<Argument> = vec![frame.words("parameters", &params)?.into()];
    if !float {
        let taps = u64::from(height * width * conv.input[3]);
        let (multiplier, shift) = requantize(taps);
        let multipliers = frame.words("multipliers", &vec![multiplier; channels])?;
        let shifts = frame.words("shifts", &vec![shift; channels])?;
        let quant = frame.words("quantisation", &[multipliers.0 as i32, shifts.0 as i32])?;
        arguments.push(quant.into());
    }
    let weights = match float {
        true => weights_f32(size(filter_shape)),
        false => weights_s8(size(filter_shape)),
    };
    let input_shape = frame.words("input shape", &words(conv.input))?;
    let shape = frame.words("filter shape", &words(filter_shape))?;
    let filter = frame.place("filter", weights)?;
    let bias = frame.place("bias", vec![0; channels * sum_bytes.max(4) as usize])?;
    let output_shape = frame.words("output shape", &words(conv.output))?;
    arguments.extend(
        [
            input_shape,
            buffers.inputs[0],
            shape,
            filter,
            bias,
            output_shape,
            buffers.outputs[0],
        ]
        .map(Argument::from),
    );
    if !float {
        let [_, height, width, depth] = conv.output.map(u64::from);
        let scratch = frame.reserve("scratch", sum_bytes * height * width * depth)?;
        arguments.push(scratch.into());
    }
    Ok(arguments)
}

fn batched_matmul(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::BatchedMatmul(matmul) = &case.operator else {
        return Ok(Vec::new());
    };
    let mut arguments: Vec<Argument> = Vec::new();
    if case.input_type == ElementType::Int8 {
        let (multiplier, shift) = requantize(matmul.inner.into());
        let params = [3, -4, 5, multiplier, shift, -128, 127];
        arguments.push(frame.words("parameters", &params)?.into());
    }
    let extents = [matmul.batches, matmul.rows, matmul.inner, matmul.columns];
    let extents = frame.words("size", &words(extents))?;
    arguments.push(extents.into());
    arguments.extend(operands(buffers));
    Ok(arguments)
}

fn matmul(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Matmul(matmul) = &case.operator else {
        return Ok(Vec::new());
    };
    let extents = [matmul.rows, matmul.inner, matmul.columns].map(|extent| extent as i32);
    let mut arguments: Vec<Argument> = vec![frame.words("size", &extents)?.into()];
    arguments.extend(operands(buffers));
    Ok(arguments)
}

/// Two inputs and the output.
fn operands(buffers: &Buffers) -> [Argument; 3] {
    [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]].map(Argument::from)
}

/// Shapes, one behind the other, and pointers to the buffers.
fn lists(
    frame: &mut Frame,
    shapes: impl Iterator<Item = Shape>,
    buffers: &[Address],
) -> Result<[Argument; 2], CallError> {
    let shapes: Vec<i32> = shapes.flat_map(words).collect();
    let shapes = frame.words("shapes", &shapes)?;
    let pointers: Vec<i32> = buffers.iter().map(|at| at.0 as i32).collect();
    let pointers = frame.words("pointers", &pointers)?;
    Ok([shapes.into(), pointers.into()])
}

fn concat(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Concat(concat) = &case.operator else {
        return Ok(Vec::new());
    };
    let inputs = concat.inputs.iter().copied();
    let [shapes, pointers] = lists(frame, inputs, &buffers.inputs)?;
    Ok(vec![
        Argument::Word(concat.axis),
        Argument::Word(concat.element_bytes),
        Argument::Word(concat.inputs.len() as u32),
        shapes,
        pointers,
        buffers.outputs[0].into(),
    ])
}

fn split(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Split(split) = &case.operator else {
        return Ok(Vec::new());
    };
    let outputs = split.parts.iter().map(|&part| {
        let mut shape = split.input;
        shape[split.axis as usize] = part;
        shape
    });
    let [shapes, pointers] = lists(frame, outputs, &buffers.outputs)?;
    Ok(vec![
        Argument::Word(split.axis),
        Argument::Word(split.element_bytes),
        Argument::Word(split.parts.len() as u32),
        shapes,
        buffers.inputs[0].into(),
        pointers,
    ])
}

fn pad(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::Pad(pad) = &case.operator else {
        return Ok(Vec::new());
    };
    let before = frame.words("padding", &words(pad.before))?;
    let value = frame.place("value", vec![0x55; pad.element_bytes as usize])?;
    let mut arguments = vec![
        before.into(),
        value.into(),
        Argument::Word(pad.element_bytes),
    ];
    arguments.extend(in_and_out(case, buffers, frame)?);
    Ok(arguments)
}

/// Kernels that move elements of whatever type.
fn moved(case: &Case, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![params.into(), Argument::Word(case.input_type.size_bytes())];
    arguments.extend(in_and_out(case, buffers, frame)?);
    Ok(arguments)
}

fn mean(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    // Zero points are of 8 bits only.
    let [from, to] = match case.input_type {
        ElementType::Int8 => [3, -5],
        _ => [0, 0],
    };
    let params = frame.words("parameters", &[from, to, 1 << 30, 1])?;
    let mut arguments = vec![params.into()];
    arguments.extend(in_and_out(case, buffers, frame)?);
    Ok(arguments)
}

fn reduce(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    Ok(in_and_out(case, buffers, frame)?.to_vec())
}

fn resize_bilinear(case: &Case, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Operator::ResizeBilinear(resize) = &case.operator else {
        return Ok(Vec::new());
    };
    let modes = [resize.align_corners, resize.half_pixel_centers].map(i32::from);
    let params = frame.words("parameters", &modes)?;
    let mut arguments = vec![params.into()];
    arguments.extend(in_and_out(case, buffers, frame)?);
    Ok(arguments)
}
