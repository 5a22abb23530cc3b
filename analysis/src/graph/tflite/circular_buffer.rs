//! `CIRCULAR_BUFFER`, a custom operator of TensorFlow Lite Micro: the last rows of a stream, in a
//! variable that it moves up and stores the newest rows at the end of
//! (`tensorflow/lite/micro/kernels/circular_buffer.cc`).
//!
//! The runtime's kernel takes one row of a tensor whose second axis is time. Here several are known
//! too, and any axis that has none of more than one element before it: the bytes are the same.

use super::lower::{FileNode, Lowered};
use crate::graph::{Storage, TensorType};
use crate::operator::{Opaque, Operator};

/// Its options as a `FlexBuffer`, the map `{"cycles_max": 1}`: what follows it runs every time.
pub(super) const EVERY_TIME: &[u8] = b"cycles_max\0\x01\x0c\x01\x01\x01\x01\x04\x02\x24\x01";

/// One that others follow only now and then is not known, nor one whose buffer may share memory.
pub(super) fn lowered(node: &FileNode) -> Option<Lowered> {
    let (rows, buffer) = (node.input(0)?, node.output(0)?);
    let is_plain = node.inputs.len() == 1 && node.outputs.len() == 1;
    let persists = buffer.storage == Storage::Variable;
    let is_int8 = [rows, buffer].map(|it| it.element_type) == [TensorType::Int8; 2];
    if !(is_plain && persists && is_int8 && node.custom_options == Some(EVERY_TIME)) {
        return None;
    }
    let axis = (0..rows.shape.len()).find(|&axis| {
        rows.shape.get(axis + 1..) == buffer.shape.get(axis + 1..)
            && rows.shape[..axis].iter().all(|&extent| extent == 1)
            && buffer.shape[..axis] == rows.shape[..axis]
    })?;
    if rows.shape[axis] > buffer.shape[axis] {
        return None;
    }
    let bytes = |size: u64| u32::try_from(size).ok();
    let moved = Opaque {
        inputs: vec![bytes(rows.size_bytes)?],
        outputs: vec![bytes(buffer.size_bytes)?],
    };
    Some((Operator::Opaque(moved), vec![0]))
}
