//! Persistent buffers that operators ask for when they are prepared
//! (`AllocatePersistentBuffer`), in bytes; `None` where they are not known. The files are those of
//! `tensorflow/lite/micro/kernels`, of CMSIS-NN those of its folder `cmsis_nn`.

use super::structures::{EVAL_TENSOR, integers};
use crate::graph::GraphTensor;
use crate::graph::TensorType::{self, Int8, Int16};
use crate::graph::tflite::RuntimeKernels;
use crate::graph::tflite::lower::FileNode;

/// Elements of a table of 16-bit functions (`LUTSize`, `kernels/internal/common.h`).
const TABLE_ELEMENTS: u64 = 513;

fn is_integer(tensor: &GraphTensor) -> bool {
    matches!(tensor.element_type, Int8 | Int16)
}

/// Whether convolutions and fully connected layers take tensors of these types: the runtime refuses
/// unsigned ones and those that mix integers with floating point.
fn takes_types(node: &FileNode) -> Option<()> {
    let types = (node.input(0)?.element_type, node.input(1)?.element_type);
    let taken = [
        (TensorType::Float32, TensorType::Float32),
        (Int16, Int8),
        (Int8, Int8),
        (Int8, TensorType::Int4),
    ];
    taken.contains(&types).then_some(())
}

/// Multiplier and shift for each channel.
fn per_channel(channels: u64) -> Vec<u64> {
    vec![4 * channels; 2]
}

/// `conv_common.cc`, `conv.cc`
pub(super) fn conv(node: &FileNode, kernels: RuntimeKernels) -> Option<Vec<u64>> {
    convolution(node, kernels, 0)
}

/// `depthwise_conv_common.cc`, `depthwise_conv.cc`
pub(super) fn depthwise_conv(node: &FileNode, kernels: RuntimeKernels) -> Option<Vec<u64>> {
    convolution(node, kernels, 3)
}

/// The reference kernels keep them for floating point too.
fn convolution(node: &FileNode, kernels: RuntimeKernels, axis: usize) -> Option<Vec<u64>> {
    takes_types(node)?;
    let channels = *node.input(1)?.shape.get(axis)?;
    let kept = kernels == RuntimeKernels::Reference || is_integer(node.input(0)?);
    Some(if kept {
        per_channel(channels.into())
    } else {
        Vec::new()
    })
}

/// `transpose_conv.cc` of both
pub(super) fn transpose_conv(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    Some(per_channel((*node.input(1)?.shape.first()?).into()))
}

/// `fully_connected_common.cc`
pub(super) fn fully_connected(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    takes_types(node)?;
    let scales = (node.scales)((*node.inputs.get(1)?)?);
    let is_float = node.input(0)?.element_type == TensorType::Float32;
    Some(if scales > 1 && !is_float {
        per_channel(scales as u64)
    } else {
        Vec::new()
    })
}

/// The output's shape, which the kernel writes (`CreateWritableTensorDimsWithCopy`)
pub(super) fn output_shape(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    Some(vec![shape_bytes(node.output(0)?)])
}

fn shape_bytes(tensor: &GraphTensor) -> u64 {
    integers(tensor.shape.len() as u64).size_bytes
}

/// `embedding_lookup.cc`: the output's shape and its data
pub(super) fn embedding_lookup(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    Some(vec![shape_bytes(node.output(0)?), 8])
}

/// `batch_matmul.cc` of both: operands that are transposed, the output's shape, and quantisation
pub(super) fn batch_matmul(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let (left, right) = (node.input(0)?, node.input(1)?);
    let [transposes_left, keeps_right] = node.adjoints()?;
    let mut sizes = Vec::new();
    for (operand, is_copied) in [(left, transposes_left), (right, !keeps_right)] {
        if is_copied {
            let shape = shape_bytes(operand);
            sizes.extend([EVAL_TENSOR.size_bytes, shape, operand.size_bytes]);
        }
    }
    sizes.push(shape_bytes(node.output(0)?));
    sizes.extend(is_integer(left).then_some(28));
    Some(sizes)
}

/// `softmax_common.cc`: two tables
pub(super) fn softmax(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let tables = match node.input(0)?.element_type {
        Int16 => 2,
        _ => 0,
    };
    Some(vec![2 * TABLE_ELEMENTS; tables])
}

/// Its data, if it is of 8 bits
fn int8_data(node: &FileNode, size_bytes: u64) -> Option<Vec<u64>> {
    let is_int8 = node.output(0)?.element_type == Int8;
    Some(is_int8.then_some(size_bytes).into_iter().collect())
}

/// `add_n.cc`
pub(super) fn add_n(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    int8_data(node, 40)
}

/// `cumsum.cc`
pub(super) fn cumsum(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    int8_data(node, 36)
}

/// `log_softmax.cc`
pub(super) fn log_softmax(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    int8_data(node, 28)
}

/// Index of the hidden state among the inputs of an LSTM.
const HIDDEN_STATE: usize = 18;

/// `unidirectional_sequence_lstm.cc`: CMSIS-NN keeps sums of the weights, of four gates for input
/// and hidden state each
pub(super) fn lstm(node: &FileNode, kernels: RuntimeKernels) -> Option<Vec<u64>> {
    let units = u64::from(*node.input(HIDDEN_STATE)?.shape.last()?);
    let sum_bytes = match (kernels, node.input(0)?.element_type) {
        (RuntimeKernels::CmsisNn, Int8) => 4,
        (RuntimeKernels::CmsisNn, Int16) => 8,
        _ => return Some(Vec::new()),
    };
    Some(vec![units * sum_bytes; 8])
}

/// `decode.cc`, `decode_state_*.h`: pointers, and what unpacks each output
pub(super) fn decode(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let mut sizes = vec![4 * node.outputs.len() as u64];
    for (index, &output) in node.outputs.iter().enumerate() {
        let ancillary = (*node.inputs.get(2 * index + 1)?)?;
        match (node.data)(ancillary)?.first()? {
            0 => sizes.push(36),
            1 => sizes.push(28),
            2 => {
                sizes.push(40);
                // Zero points; none if all are 0, which is not looked at here.
                let channels = (node.scales)(output) as u64;
                let is_int8 = node.output(index)?.element_type == Int8;
                sizes.extend((is_int8 && channels > 1).then_some(channels));
            }
            _ => return None,
        }
    }
    Some(sizes)
}
