//! Scratch buffers that TensorFlow Lite Micro's glue to CMSIS-NN asks for, in the order of the
//! requests: what the library's `*_get_buffer_size` functions say on a core with the DSP extension
//! and without MVE (Cortex-M4, M7, M33), compiled by GCC or Clang.
//!
//! | kinds | bytes | file in `tensorflow/lite/micro/kernels/cmsis_nn` |
//! |---|---|---|
//! | `CONV_2D`, int8 | 4 for each input element of a window, their number rounded up to a multiple of 4; none of a window of 1x1 | `conv.cc` |
//! | the same, int16 | 4 for each input element of a window | the same |
//! | `DEPTHWISE_CONV_2D`, int8 | 2 for each element of a window; none of 3x3 with a padding of at most 1, of batches, dilation or more outputs than inputs | `depthwise_conv.cc` |
//! | the same, int4 filter | the same, of 3x3 too | the same |
//! | `FULLY_CONNECTED`, int8 | 8 for each output channel if it runs as a convolution of 1x1 with one scale | `fully_connected.cc` |
//! | `AVERAGE_POOL_2D`, int8, int16 | 4 for each channel | `pooling.cc` |
//! | `TRANSPOSE_CONV`, int8 | an im2col buffer and the reversed filter, or some rows of accumulators and an empty buffer | `transpose_conv.cc` |
//! | the same, int16 | 8 for each output element; with an int16 bias, 8 for each of its elements | the same |
//! | `UNIDIRECTIONAL_SEQUENCE_LSTM`, int8, int16 | three times the cell state of all batches | `unidirectional_sequence_lstm.cc` |
//!
//! All other kinds, and floating point, are those of the reference kernels, but that no filter is
//! unpacked. The requests are those of tflite-micro 90b983c with CMSIS-NN 4ab83cc. Arm Compiler 6
//! asks for 4 bytes for each input channel of a convolution of 1x1 besides.

use super::super::lower::{FileNode, windows};
use super::super::schema::{WindowFields, transpose_conv as transpose};
use super::CELL_STATE;
use crate::graph::TensorType;

/// Above this many input channels a transposed convolution runs as a convolution.
const REVERSED_CHANNELS: u64 = 16;

/// Four extents.
fn extents(shape: &[u32]) -> Option<[u64; 4]> {
    let shape: [u32; 4] = shape.try_into().ok()?;
    Some(shape.map(u64::from))
}

/// Two columns of 16-bit elements of a window, each rounded up to a multiple of 4 elements.
fn columns(height: u64, width: u64, channels: u64) -> Option<u64> {
    let elements = height.checked_mul(width)?.checked_mul(channels)?;
    elements.checked_next_multiple_of(4)?.checked_mul(4)
}

/// No request for a size of nothing.
fn at_least_one_byte(bytes: u64) -> Vec<u64> {
    if bytes > 0 { vec![bytes] } else { Vec::new() }
}

pub(in crate::graph::tflite) fn conv(node: &FileNode) -> Option<Vec<u64>> {
    let (input, output) = (node.input(0)?, node.output(0)?);
    let [_, height, width, depth] = extents(&node.input(1)?.shape)?;
    let channels = extents(&input.shape)?[3];
    match input.element_type {
        TensorType::Int8 => {}
        TensorType::Int16 => {
            let elements = height.checked_mul(width)?.checked_mul(channels)?;
            return Some(at_least_one_byte(elements.checked_mul(4)?));
        }
        _ => return Some(Vec::new()),
    }
    let kernel = [u32::try_from(height).ok()?, u32::try_from(width).ok()?];
    let shapes = [windows::shape(input)?, windows::shape(output)?];
    let window = windows::window(node, &WindowFields::CONV_2D, kernel, shapes)?;
    let is_pointwise = kernel == [1, 1]
        && window.padding_before == [0, 0]
        && window.dilation == [1, 1]
        && channels == depth;
    if is_pointwise {
        return Some(Vec::new());
    }
    Some(at_least_one_byte(columns(height, width, channels)?))
}

pub(in crate::graph::tflite) fn depthwise_conv(node: &FileNode) -> Option<Vec<u64>> {
    let (input, output) = (node.input(0)?, node.output(0)?);
    let filter = node.input(1)?;
    if input.element_type != TensorType::Int8 {
        return Some(Vec::new());
    }
    let [_, height, width, _] = extents(&filter.shape)?;
    let kernel = [u32::try_from(height).ok()?, u32::try_from(width).ok()?];
    let shapes = [windows::shape(input)?, windows::shape(output)?];
    let fields = &WindowFields::DEPTHWISE_CONV_2D;
    let window = windows::window(node, fields, kernel, shapes)?;
    let [batches, .., channels] = extents(&input.shape)?;
    let is_plain =
        channels == extents(&output.shape)?[3] && batches == 1 && window.dilation == [1, 1];
    let is_3x3 = filter.element_type == TensorType::Int8
        && kernel == [3, 3]
        && window.padding_before.iter().all(|&before| before <= 1);
    if !is_plain || is_3x3 {
        return Some(Vec::new());
    }
    let elements = height.checked_mul(width)?.checked_mul(channels)?;
    Some(at_least_one_byte(elements.checked_mul(2)?))
}

pub(in crate::graph::tflite) fn fully_connected(node: &FileNode) -> Option<Vec<u64>> {
    let (input, filter, output) = (node.input(0)?, node.input(1)?, node.output(0)?);
    let is_int8 = [input, filter]
        .iter()
        .all(|tensor| tensor.element_type == TensorType::Int8);
    let depth = *filter.shape.last()?;
    let is_pointwise_conv = is_int8 && output.shape.len() > 2 && depth.is_multiple_of(4);
    let is_per_channel = (node.scales)((*node.inputs.get(1)?)?) > 1;
    if !is_pointwise_conv || is_per_channel {
        return Some(Vec::new());
    }
    Some(vec![u64::from(*output.shape.last()?) * 8])
}

pub(in crate::graph::tflite) fn average_pool(node: &FileNode) -> Option<Vec<u64>> {
    let input = node.input(0)?;
    match input.element_type {
        TensorType::Int8 | TensorType::Int16 => Some(vec![extents(&input.shape)?[3] * 4]),
        _ => Some(Vec::new()),
    }
}

pub(in crate::graph::tflite) fn transpose_conv(node: &FileNode) -> Option<Vec<u64>> {
    let (input, output) = (node.input(2)?, node.output(0)?);
    let [outputs, height, width, _] = extents(&node.input(1)?.shape)?;
    match input.element_type {
        TensorType::Int8 => {}
        TensorType::Int16 => return super::transpose_conv(node),
        _ => return Some(Vec::new()),
    }
    let stride = |field| {
        let stride = node.options?.number::<i32>(field, 0).ok()?;
        u64::try_from(stride).ok()
    };
    let (stride_height, stride_width) =
        (stride(transpose::STRIDE_H)?, stride(transpose::STRIDE_W)?);
    let [_, _, input_width, channels] = extents(&input.shape)?;
    if stride_height <= 2 && stride_width <= 2 && channels > REVERSED_CHANNELS {
        let filter = height.checked_mul(width)?.checked_mul(channels)?;
        return Some(vec![
            columns(height, width, channels)?,
            filter.checked_mul(outputs)?,
        ]);
    }
    // The library compares the filter's width with the vertical stride.
    let row = input_width.saturating_sub(1).checked_mul(stride_width)?;
    let row = row.checked_add(width.max(stride_height))?;
    let rows = height.max(stride_height);
    let accumulators = row
        .checked_mul(extents(&output.shape)?[3])?
        .checked_mul(rows)?;
    Some(vec![accumulators.checked_mul(4)?, 0])
}

pub(in crate::graph::tflite) fn lstm(node: &FileNode) -> Option<Vec<u64>> {
    let cells = node.input(CELL_STATE)?;
    let is_integer = cells.element_type == TensorType::Int16
        && [TensorType::Int8, TensorType::Int16].contains(&node.input(0)?.element_type);
    Some(vec![cells.size_bytes; if is_integer { 3 } else { 4 }])
}
