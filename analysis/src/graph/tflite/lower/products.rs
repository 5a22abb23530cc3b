//! Products of matrices, and sequences.

use super::super::schema::{batch_matmul, fully_connected, svdf, unidirectional_sequence_lstm};
use super::{FileNode, Lowered, common_element_bytes, element_bytes, elements};
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{BatchedMatmul, FullyConnected, Lstm, MatrixOperand, Operator, Svdf};

pub(in crate::graph::tflite) fn fully_connected(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let filter = node.weights(1, source)?;
    let &[output_depth, input_depth] = filter.shape.as_slice() else {
        return None;
    };
    let options = node.options()?;
    let plain = options.number::<i8>(fully_connected::WEIGHTS_FORMAT, 0)? == 0;
    if !plain || !node.constant_or_absent(2) || target.shape.last() != Some(&output_depth) {
        return None;
    }
    let layer = FullyConnected {
        batches: elements(&source.shape)?.checked_div(input_depth)?,
        input_depth,
        output_depth,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::FullyConnected(layer), vec![0]))
}

/// The kernel takes the right operand's columns, and the rows of a transposed left operand, from
/// transposed copies, made before the first store: less than the formula's loads as it goes.
pub(in crate::graph::tflite) fn batch_matmul(node: &FileNode) -> Option<Lowered> {
    let (left, right, target) = (node.input(0)?, node.input(1)?, node.only_output()?);
    let options = node.options()?;
    let (batches, &[target_rows, target_columns]) = target.shape.split_last_chunk()?;
    let operand = |tensor: &GraphTensor, transposed: bool| {
        let (own_batches, &[height, width]) = tensor.shape.split_last_chunk()?;
        let shared = own_batches != batches;
        let fits = !shared || own_batches.iter().all(|&extent| extent == 1);
        let extents = if transposed {
            [width, height]
        } else {
            [height, width]
        };
        fits.then_some((MatrixOperand { transposed, shared }, extents))
    };
    let (left_operand, [rows, inner]) = operand(left, options.flag(batch_matmul::ADJ_X)?)?;
    let (right_operand, [right_inner, columns]) =
        operand(right, options.flag(batch_matmul::ADJ_Y)?)?;
    let same_extents = [inner, rows, columns] == [right_inner, target_rows, target_columns];
    // Somebody's batches are those of the output.
    let has_batches = !(left_operand.shared && right_operand.shared);
    if !same_extents || !has_batches || left.element_type != right.element_type {
        return None;
    }
    let product = BatchedMatmul {
        batches: elements(batches)?,
        rows,
        inner,
        columns,
        left: left_operand,
        right: right_operand,
        input_element_bytes: element_bytes(left)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::BatchedMatmul(product), vec![0, 1]))
}

pub(in crate::graph::tflite) fn svdf(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let filter = node.weights(1, source)?;
    let constants = node.constant(2).is_some() && node.constant_or_absent(3);
    let rank = node.options()?.number::<i32>(svdf::RANK, 0)?;
    let rank = u32::try_from(rank).ok()?;
    let &[batches, input_depth] = source.shape.as_slice() else {
        return None;
    };
    let &[output_batches, units] = target.shape.as_slice() else {
        return None;
    };
    let filters = [units.checked_mul(rank)?, input_depth];
    if !constants || output_batches != batches || filter.shape != filters {
        return None;
    }
    let layer = Svdf {
        batches,
        input_depth,
        units,
        rank,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Svdf(layer), vec![0]))
}

/// Inputs of an LSTM: the weights of its four gates from input and state, and their
/// biases.
const WEIGHTS: [std::ops::RangeInclusive<usize>; 2] = [1..=8, 12..=15];
/// Peephole weights, projection, normalisation: other loops.
const EXTENSIONS: [std::ops::RangeInclusive<usize>; 3] = [9..=11, 16..=17, 20..=23];

/// The state is stored first and then copied to the output of the same time.
pub(in crate::graph::tflite) fn lstm(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let weights = WEIGHTS.into_iter().flatten();
    let plain = weights
        .into_iter()
        .all(|index| node.constant(index).is_some_and(is_plain))
        && EXTENSIONS
            .into_iter()
            .flatten()
            .all(|index| node.absent(index));
    let types = [TensorType::Int8, TensorType::Int16, TensorType::Float32];
    if !plain || !types.contains(&source.element_type) {
        return None;
    }
    let options = node.options()?;
    let time_major = options.flag(unidirectional_sequence_lstm::TIME_MAJOR)?;
    let &[outer, inner, input_depth] = source.shape.as_slice() else {
        return None;
    };
    let &[output_outer, output_inner, output_depth] = target.shape.as_slice() else {
        return None;
    };
    if [outer, inner] != [output_outer, output_inner] {
        return None;
    }
    let (times, batches) = if time_major {
        (outer, inner)
    } else {
        (inner, outer)
    };
    let layer = Lstm {
        batches,
        times,
        input_depth,
        output_depth,
        time_major,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Lstm(layer), vec![0]))
}
    // Its weights are of its type, or of 8 bits.
    let is_float = source.element_type == TensorType::Float32;
    let is_plain =
        |weights: &GraphTensor| (weights.element_type == TensorType::Float32) == is_float;
