//! Shapes as data, zeros, and parts of tensors at indices that are data.

use super::{FileNode, Lowered, common_element_bytes, element_bytes, elements};
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{Apart, ApartBuffer, BroadcastArgs, Operator, ShapeOf, UpdateSlice, Zeros};

/// `shape.cc`: nothing is loaded.
pub(in crate::graph::tflite) fn shape_of(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let axes = u32::try_from(source.shape.len()).ok()?;
    if target.element_type != TensorType::Int32 || elements(&target.shape)? != axes {
        return None;
    }
    let extents = source.shape.clone();
    Some((Operator::ShapeOf(ShapeOf { extents }), Vec::new()))
}

/// `zeros_like.cc`: nothing is loaded.
pub(in crate::graph::tflite) fn zeros_like(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    if elements(&source.shape)? != elements(&target.shape)? {
        return None;
    }
    let zeros = Zeros {
        elements: elements(&target.shape)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Zeros(zeros), Vec::new()))
}

/// `broadcast_args.h`: from the last axis to the first.
pub(in crate::graph::tflite) fn broadcast_args(node: &FileNode) -> Option<Lowered> {
    let (first, second, target) = (node.input(0)?, node.input(1)?, node.only_output()?);
    let element_bytes = common_element_bytes(first, target)?;
    common_element_bytes(second, target)?;
    let (&[one], &[other]) = (first.shape.as_slice(), second.shape.as_slice()) else {
        return None;
    };
    if *target.shape != [one.max(other)] {
        return None;
    }
    let axes = [one, other];
    let args = BroadcastArgs {
        axes,
        element_bytes,
    };
    Some((Operator::BroadcastArgs(args), vec![0, 1]))
}

/// `dynamic_update_slice.cc`: copies of all of the tensor, then of the runs of the part.
pub(in crate::graph::tflite) fn update_slice(node: &FileNode) -> Option<Lowered> {
    let (source, update, target) = (node.input(0)?, node.input(1)?, node.only_output()?);
    let begins = node.input(2)?;
    let axes = u32::try_from(source.shape.len()).ok()?;
    let are_indices = [TensorType::Int32, TensorType::Int64].contains(&begins.element_type);
    if source.shape != target.shape || !are_indices || begins.shape != [axes] {
        return None;
    }
    let element_bytes = common_element_bytes(source, target)?;
    common_element_bytes(update, target)?;
    let update = UpdateSlice {
        input: source.shape.clone(),
        update: update.shape.clone(),
        element_bytes,
        begin_bytes: self::element_bytes(begins)?,
    };
    Some((Operator::UpdateSlice(update), vec![0, 1, 2]))
}

/// `decode.cc`: nothing is loaded but constants.
pub(in crate::graph::tflite) fn decode(node: &FileNode) -> Option<Lowered> {
    let are_constants = (0..node.inputs.len()).all(|index| node.constant(index).is_some());
    if !are_constants || node.inputs.len() != 2 * node.outputs.len() {
        return None;
    }
    let buffer = |tensor: &GraphTensor| {
        Some(ApartBuffer {
            elements: elements(&tensor.shape)?,
            element_bytes: element_bytes(tensor)?,
        })
    };
    let outputs = (0..node.outputs.len()).map(|index| buffer(node.output(index)?));
    let decode = Apart {
        inputs: Vec::new(),
        outputs: outputs.collect::<Option<_>>()?,
    };
    Some((Operator::Apart(decode), Vec::new()))
}
