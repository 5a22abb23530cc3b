//! Element by element, softmax, reductions.

use super::{FileNode, Lowered, element_bytes, elements, four, resolve_axis};
use crate::graph::Kind;
use crate::operator::{
    Elementwise, ElementwiseBinary, Operator, Reduce, Reduction, Shape, Softmax,
};

pub(in crate::graph::tflite) fn unary(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let operator = Elementwise {
        elements: elements(&target.shape)?,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Elementwise(operator), vec![0]))
}

pub(in crate::graph::tflite) fn binary(node: &FileNode) -> Option<Lowered> {
    let (first, second, target) = (node.input(0)?, node.input(1)?, node.only_output()?);
    let shapes = [&first.shape, &second.shape, &target.shape];
    let shapes: Option<Vec<Shape>> = if shapes.windows(2).all(|pair| pair[0] == pair[1]) {
        let elements = elements(&target.shape)?;
        Some(vec![[1, 1, 1, elements]; 3])
    } else {
        shapes.into_iter().map(|shape| four(shape)).collect()
    };
    let &[one, other, output] = shapes?.as_slice() else {
        return None;
    };
    let operator = ElementwiseBinary {
        inputs: [one, other],
        output,
        input_element_bytes: [element_bytes(first)?, element_bytes(second)?],
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::ElementwiseBinary(operator), vec![0, 1]))
}

pub(in crate::graph::tflite) fn softmax(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let &depth = target.shape.last()?;
    if source.shape != target.shape {
        return None;
    }
    let operator = Softmax {
        rows: elements(&target.shape)?.checked_div(depth)?,
        depth,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Softmax(operator), vec![0]))
}

/// Taken for one that accumulates in its output, also where a version of the kernel sums
/// in a register: nothing may overlap.
pub(in crate::graph::tflite) fn reduce(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let rank = source.shape.len();
    let mut axes = [false; 4];
    for axis in node.integers(1)? {
        axes[4usize.checked_sub(rank)? + resolve_axis(axis, rank)?] = true;
    }
    let operator = Reduce {
        input: four(&source.shape)?,
        axes,
        reduction: match node.kind {
            Kind::Mean => Reduction::Mean,
            _ => Reduction::Fold,
        },
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Reduce(operator), vec![0]))
}
