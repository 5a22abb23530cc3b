//! Products of matrices, and sequences.

use super::super::schema::{batch_matmul, fully_connected, svdf, unidirectional_sequence_lstm};
use super::{FileNode, Lowered, common_element_bytes, element_bytes, elements};
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{
    BatchedMatmul, FullyConnected, Lstm, MatrixOperand, Operator, OuterBatches, Svdf,
};

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
    let matrix = |tensor: &GraphTensor, transposed: bool| {
        let (own_batches, &[height, width]) = tensor.shape.split_last_chunk()?;
        let extents = if transposed {
            [width, height]
        } else {
            [height, width]
        };
        Some((own_batches.to_vec(), extents))
    };
    let transposed = [
        options.flag(batch_matmul::ADJ_X)?,
        options.flag(batch_matmul::ADJ_Y)?,
    ];
    let (left_batches, [rows, inner]) = matrix(left, transposed[0])?;
    let (right_batches, [right_inner, columns]) = matrix(right, transposed[1])?;
    let same_extents = [inner, rows, columns] == [right_inner, target_rows, target_columns];
    if !same_extents || left.element_type != right.element_type {
        return None;
    }
    let [outermost, outer, own] = batch_axes(batches, [&left_batches, &right_batches])?;
    let operand = |side: usize| MatrixOperand {
        transposed: transposed[side],
        shared: own.shared[side],
    };
    let product = BatchedMatmul {
        batches: own.extent,
        rows,
        inner,
        columns,
        left: operand(0),
        right: operand(1),
        outer: [outermost, outer],
        input_element_bytes: element_bytes(left)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::BatchedMatmul(product), vec![0, 1]))
}

/// The batches of a product, those beside each other that are served alike as one; `None` if they
/// are not the operands' broadcast, or more than a kernel knows.
fn batch_axes(batches: &[u32], operands: [&[u32]; 2]) -> Option<[OuterBatches; 3]> {
    const MOST_AXES: usize = 3;
    if batches.len() > MOST_AXES || operands.iter().any(|own| own.len() > batches.len()) {
        return None;
    }
    let mut axes: Vec<OuterBatches> = Vec::new();
    for (index, &extent) in batches.iter().enumerate() {
        // Missing axes are those in front.
        let own = operands.map(|own| {
            let missing = batches.len() - own.len();
            let at = index.checked_sub(missing);
            at.and_then(|at| own.get(at).copied()).unwrap_or(1)
        });
        // Somebody's batches are those of the output.
        let is_broadcast = own.iter().all(|&it| it == extent || it == 1) && own.contains(&extent);
        if !is_broadcast {
            return None;
        }
        if extent == 1 {
            continue;
        }
        let shared = own.map(|it| it == 1);
        match axes.last_mut() {
            Some(last) if last.shared == shared => last.extent = last.extent.checked_mul(extent)?,
            _ => axes.push(OuterBatches { extent, shared }),
        }
    }
    let mut all = [OuterBatches::default(); MOST_AXES];
    all[MOST_AXES - axes.len()..].copy_from_slice(&axes);
    Some(all)
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
    // Its weights are of its type, or of 8 bits.
    let is_float = source.element_type == TensorType::Float32;
    let is_plain =
        |weights: &GraphTensor| (weights.element_type == TensorType::Float32) == is_float;
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
