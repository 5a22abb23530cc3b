//! Convolutions and pooling.

use super::super::schema::{PADDING_SAME, PADDING_VALID, WindowFields, depthwise_conv_2d, pool_2d};
use super::{FileNode, Lowered, common_element_bytes, exactly_four};
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{
    Accumulation, Conv2d, DepthwiseConv2d, Operator, Padding, Pool2d, Shape, TransposeConv2d,
    Window,
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
    let fields = &WindowFields::CONV_2D;
    let window = window(node, fields, [height, width], [input, output])?;
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
    // The kernel computes with the option, whatever the shapes say.
    let given: i32 = node.options()?.number(depthwise_conv_2d::MULTIPLIER, 0)?;
    if u32::try_from(given) != Ok(multiplier) {
        return None;
    }
    let fields = &WindowFields::DEPTHWISE_CONV_2D;
    let window = window(node, fields, [height, width], [input, output])?;
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
    let filter = [pool_2d::FILTER_H, pool_2d::FILTER_W];
    let kernel = node.options()?.extents(filter, 0)?;
    let window = window(node, &WindowFields::POOL_2D, kernel, [input, output])?;
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
    // It is the gradient of a convolution from its output to its input.
    let fields = &WindowFields::TRANSPOSE_CONV;
    let window = window(node, fields, [height, width], [output, input])?;
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

/// A tensor's shape if it has four axes.
pub(in crate::graph::tflite) fn shape(tensor: &GraphTensor) -> Option<Shape> {
    exactly_four(&tensor.shape)
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
pub(in crate::graph::tflite) fn window(
    node: &FileNode,
    fields: &WindowFields,
    kernel: [u32; 2],
    [input, output]: [Shape; 2],
) -> Option<Window> {
    let options = node.options()?;
    let padding = match options.number(fields.padding, PADDING_SAME)? {
        PADDING_SAME => Padding::Same,
        PADDING_VALID => Padding::Valid,
        _ => return None,
    };
    let dilation = fields.dilation.map(|fields| options.extents(fields, 1));
    let window = Window {
        kernel,
        stride: options.extents(fields.stride, 0)?,
        dilation: dilation.unwrap_or(Some([1, 1]))?,
        ..Window::default()
    };
    let window = window.with_tflite_padding(input, output);
    window.is_padded(padding, input, output).then_some(window)
}
