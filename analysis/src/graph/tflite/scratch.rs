//! Scratch buffers of TensorFlow Lite Micro's reference kernels: what their `Prepare`
//! asks of `RequestScratchBufferInArena`, in the order of the requests.
//!
//! | kinds | bytes | file in `tensorflow/lite/micro/kernels` |
//! |---|---|---|
//! | `CONV_2D`, `DEPTHWISE_CONV_2D`, `FULLY_CONNECTED` with an int4 filter | its elements | `conv_common.cc`, `depthwise_conv_common.cc`, `fully_connected.cc` |
//! | `TRANSPOSE_CONV`, int8 | 4 for each output element | `transpose_conv.cc` |
//! | the same, int16 | 8 for each output element; with an int16 bias, 8 for each of its elements | the same |
//! | `SVDF`, int8 | 4 for each batch and filter; 4 for each batch and unit | `svdf_common.cc` |
//! | the same, float32 | 4 for each batch and filter | the same |
//! | `UNIDIRECTIONAL_SEQUENCE_LSTM` | four times the cell state of all batches | `unidirectional_sequence_lstm.cc` |
//! | `MEAN`, `SUM`, int8, uint8, int16 | 4 for each output element; then as the next | `reduce_common.cc` |
//! | `MEAN`, `SUM`, `REDUCE_MAX`, `REDUCE_MIN`, `REDUCE_ALL` | 4 for each axis of the input; 4 for each axis that is reduced | `reduce_common.cc` |
//! | `MIRROR_PAD` | 4 for each axis of the input, twice | `mirror_pad.cc` |
//! | `ADD_N`, int8, float32 | a pointer, 4 on a microcontroller, for each input | `add_n.cc` |
//! | `TFLite_Detection_PostProcess` | eleven, by the numbers of boxes, classes and detections | `detection_postprocess.cc` |
//! | `SignalRfft` | an element for each of the transform's | `signal/micro/kernels/rfft.cc` |
//!
//! These are the requests of revision 90b983c. `MEAN` and `SUM` ask for the buffers of axes since
//! 0efdd51 (January 2026): where an older runtime does not, the plan gives it more than it asks for.
//!
//! What the glue to CMSIS-NN asks for instead is in `scratch/cmsis_nn.rs`.
//!
//! `BATCH_MATMUL` keeps transposed operands in persistent memory, not in scratch
//! (`batch_matmul.cc`). Other kinds, custom operators of others among them, count as having
//! none.

pub(super) mod cmsis_nn;

use super::lower::{FileNode, signal};
use crate::graph::TensorType;

fn elements(shape: &[u32]) -> Option<u64> {
    let extents = shape.iter().copied().map(u64::from);
    extents.reduce(u64::saturating_mul).or(Some(1))
}

pub(super) fn unpacked_filter(node: &FileNode) -> Option<Vec<u64>> {
    let filter = node.input(1)?;
    let packed = filter.element_type == TensorType::Int4;
    packed.then_some(vec![elements(&filter.shape)?])
}

pub(super) fn transpose_conv(node: &FileNode) -> Option<Vec<u64>> {
    let outputs = elements(&node.output(0)?.shape)?;
    match node.input(2)?.element_type {
        TensorType::Int8 => Some(vec![outputs.saturating_mul(4)]),
        TensorType::Int16 => {
            let mut sizes = vec![outputs.saturating_mul(8)];
            if let Some(bias) = node
                .input(3)
                .filter(|bias| bias.element_type == TensorType::Int16)
            {
                sizes.push(elements(&bias.shape)?.saturating_mul(8));
            }
            Some(sizes)
        }
        _ => None,
    }
}

pub(super) fn svdf(node: &FileNode) -> Option<Vec<u64>> {
    let input = node.input(0)?;
    let batches = u64::from(*input.shape.first()?);
    let filters = u64::from(*node.input(1)?.shape.first()?);
    let units = u64::from(*node.output(0)?.shape.last()?);
    let size = |columns: u64| batches.saturating_mul(columns).saturating_mul(4);
    match input.element_type {
        TensorType::Int8 => Some(vec![size(filters), size(units)]),
        _ => Some(vec![size(filters)]),
    }
}

/// Index of the cell state among the inputs.
const CELL_STATE: usize = 19;

pub(super) fn lstm(node: &FileNode) -> Option<Vec<u64>> {
    Some(vec![node.input(CELL_STATE)?.size_bytes; 4])
}

pub(super) fn sum(node: &FileNode) -> Option<Vec<u64>> {
    let quantized = [TensorType::Int8, TensorType::Uint8, TensorType::Int16]
        .contains(&node.input(0)?.element_type);
    let outputs = elements(&node.output(0)?.shape)?;
    let mut sizes = Vec::new();
    sizes.extend(quantized.then_some(outputs.saturating_mul(4)));
    sizes.extend(axes(node)?);
    Some(sizes)
}

pub(super) fn mirror_pad(node: &FileNode) -> Option<Vec<u64>> {
    Some(vec![4 * node.input(0)?.shape.len() as u64; 2])
}

pub(super) fn add_n(node: &FileNode) -> Option<Vec<u64>> {
    Some(vec![4 * node.inputs.len() as u64])
}

pub(super) fn rfft(node: &FileNode) -> Option<Vec<u64>> {
    let bits = node.input(0)?.element_type.bits()?;
    Some(vec![
        signal::count(node, "fft_length")?.saturating_mul(bits / 8),
    ])
}

pub(super) fn detection_postprocess(node: &FileNode) -> Option<Vec<u64>> {
    let boxes = u64::from(*node.input(0)?.shape.get(1)?);
    let &[_, rows, classes_of_row] = node.input(1)?.shape.as_slice() else {
        return None;
    };
    let scores = u64::from(rows).saturating_mul(classes_of_row.into());
    let detections = signal::count(node, "max_detections")?;
    let classes = signal::count(node, "num_classes")?;
    let words = |counts: [u64; 2]| counts.into_iter().fold(4, u64::saturating_mul);
    let word_each = words([boxes, 1]);
    let detected = words([detections, boxes]);
    Some(vec![
        boxes,
        words([4, boxes]),
        words([scores, 1]),
        word_each,
        word_each,
        detected,
        detected,
        word_each,
        detected,
        words([classes.max(detections), boxes]),
        words([boxes.min(detections), boxes]),
    ])
}

/// Of a reduction.
pub(super) fn axes(node: &FileNode) -> Option<Vec<u64>> {
    let rank = node.input(0)?.shape.len() as u64;
    let reduced = elements(&node.input(1)?.shape)?;
    Some(vec![4 * rank, reduced.saturating_mul(4)])
}
