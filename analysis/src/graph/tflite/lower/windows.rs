//! Convolutions and pooling.

use super::super::schema::{
    Field, PADDING_SAME, PADDING_VALID, conv_2d, depthwise_conv_2d, pool_2d, transpose_conv,
};
use super::{FileNode, Lowered, ShapeOptions, common_element_bytes, exactly_four};
use crate::graph::TensorType;
use crate::operator::{
    Accumulation, Conv2d, DepthwiseConv2d, Operator, Pool2d, Shape, TransposeConv2d, Window,
    tflite_padding_before,
};

pub(in crate::graph::tflite) fn conv(node: &FileNode) -> Option<Lowered> {
    let ConvolutionShapes {
        input,
        output,
        filter,
        element_bytes,
    } = shapes(node)?;
    let [outputs, height, width, depth] = filter;
    if outputs != output[3] || !input[3].is_multiple_of(depth) {
        return None;
    }
    let options = node.options()?;
    let window = window(
        &options,
        conv_2d::PADDING,
        Window {
            kernel: [height, width],
            stride: options.extents([conv_2d::STRIDE_H, conv_2d::STRIDE_W], 0)?,
            dilation: options.extents([conv_2d::DILATION_H, conv_2d::DILATION_W], 1)?,
            padding_before: [0, 0],
        },
        input,
        output,
    )?;
    let conv = Conv2d {
        input,
        output,
        window,
        groups: input[3] / depth,
        element_bytes,
    };
    Some((Operator::Conv2d(conv), vec![0]))
}

pub(in crate::graph::tflite) fn depthwise_conv(node: &FileNode) -> Option<Lowered> {
    let ConvolutionShapes {
        input,
        output,
        filter,
        element_bytes,
    } = shapes(node)?;
    let [one, height, width, outputs] = filter;
    let multiplier = outputs.checked_div(input[3])?;
    if one != 1 || outputs != output[3] || !outputs.is_multiple_of(input[3]) {
        return None;
    }
    let options = node.options()?;
    let window = window(
        &options,
        depthwise_conv_2d::PADDING,
        Window {
            kernel: [height, width],
            stride: options.extents(
                [depthwise_conv_2d::STRIDE_H, depthwise_conv_2d::STRIDE_W],
                0,
            )?,
            dilation: options.extents(
                [depthwise_conv_2d::DILATION_H, depthwise_conv_2d::DILATION_W],
                1,
            )?,
            padding_before: [0, 0],
        },
        input,
        output,
    )?;
    let conv = DepthwiseConv2d {
        input,
        output,
        window,
        multiplier,
        element_bytes,
    };
    Some((Operator::DepthwiseConv2d(conv), vec![0]))
}

pub(in crate::graph::tflite) fn pool(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let input = exactly_four(&source.shape)?;
    let output = exactly_four(&target.shape)?;
    let options = node.options()?;
    let window = window(
        &options,
        pool_2d::PADDING,
        Window {
            kernel: options.extents([pool_2d::FILTER_H, pool_2d::FILTER_W], 0)?,
            stride: options.extents([pool_2d::STRIDE_H, pool_2d::STRIDE_W], 0)?,
            ..Window::default()
        },
        input,
        output,
    )?;
    let pool = Pool2d {
        input,
        output,
        window,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Pool2d(pool), vec![0]))
}

/// The shape of the output, the filter and the input come in this order.
pub(in crate::graph::tflite) fn transpose_conv(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(2)?, node.only_output()?);
    let filter = node.weights(1, source)?;
    let input = exactly_four(&source.shape)?;
    let output = exactly_four(&target.shape)?;
    let [outputs, height, width, depth] = exactly_four(&filter.shape)?;
    if outputs != output[3] || depth != input[3] || !node.constant_or_absent(3) {
        return None;
    }
    let options = node.options()?;
    // It is the gradient of a convolution from its output to its input.
    let window = window(
        &options,
        transpose_conv::PADDING,
        Window {
            kernel: [height, width],
            stride: options.extents([transpose_conv::STRIDE_H, transpose_conv::STRIDE_W], 0)?,
            ..Window::default()
        },
        output,
        input,
    )?;
    let conv = TransposeConv2d {
        input,
        output,
        window,
        accumulation: match source.element_type {
            TensorType::Int8 | TensorType::Int16 => Accumulation::Scratch,
            TensorType::Float32 => Accumulation::Output,
            _ => return None,
        },
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::TransposeConv2d(conv), vec![2]))
}

/// What convolutions have in common.
struct ConvolutionShapes {
    input: Shape,
    output: Shape,
    filter: Shape,
    element_bytes: u32,
}

/// Input, constant filter, constant bias or none.
fn shapes(node: &FileNode) -> Option<ConvolutionShapes> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    if !node.constant_or_absent(2) {
        return None;
    }
    Some(ConvolutionShapes {
        input: exactly_four(&source.shape)?,
        output: exactly_four(&target.shape)?,
        filter: exactly_four(&node.weights(1, source)?.shape)
            .filter(|filter| filter.iter().all(|&extent| extent > 0))?,
        element_bytes: common_element_bytes(source, target)?,
    })
}

/// The window with its padding, if the output has the extents that these make.
fn window(
    options: &ShapeOptions,
    padding: Field,
    window: Window,
    input: Shape,
    output: Shape,
) -> Option<Window> {
    let padding = options.number(padding, PADDING_SAME)?;
    let mut padding_before = [0; 2];
    for axis in [0, 1] {
        let (from, to) = (input[axis + 1], output[axis + 1]);
        let (kernel, stride) = (window.kernel[axis], window.stride[axis]);
        let dilation = window.dilation[axis];
        let reach = u64::from(kernel.checked_sub(1)?) * u64::from(dilation);
        let places = match padding {
            PADDING_SAME => u64::from(from),
            PADDING_VALID => u64::from(from).checked_sub(reach)?,
            _ => return None,
        };
        if places.div_ceil(u64::from(stride)) != u64::from(to) {
            return None;
        }
        padding_before[axis] = tflite_padding_before(from, to, kernel, stride, dilation);
    }
    Some(Window {
        padding_before,
        ..window
    })
}
