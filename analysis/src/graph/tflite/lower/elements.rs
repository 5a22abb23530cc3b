//! Element by element, softmax, reductions.

use super::{Lowered, Place, element_bytes, elements, four, resolve_axis};
use crate::graph::Kind;
use crate::operator::{
    Elementwise, ElementwiseBinary, Operator, Reduce, Reduction, Shape, Softmax,
};

/// One loop over the elements of an input.
pub(super) const UNARY: &[&str] = &[
    "ABS",
    "CAST",
    "CEIL",
    "COS",
    "DEQUANTIZE",
    "ELU",
    "EXP",
    "FLOOR",
    "HARD_SWISH",
    "LEAKY_RELU",
    "LOG",
    "LOGICAL_NOT",
    "LOGISTIC",
    "NEG",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "ROUND",
    "RSQRT",
    "SIN",
    "SQRT",
    "SQUARE",
    "TANH",
];

/// One loop over the elements of the output, or one for each axis where an input serves
/// several elements.
pub(super) const BINARY: &[&str] = &[
    "ADD",
    "DIV",
    "EQUAL",
    "FLOOR_DIV",
    "FLOOR_MOD",
    "GREATER",
    "GREATER_EQUAL",
    "LESS",
    "LESS_EQUAL",
    "LOGICAL_AND",
    "LOGICAL_OR",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "NOT_EQUAL",
    "PRELU",
    "SQUARED_DIFFERENCE",
    "SUB",
];

pub(super) fn unary(place: &Place) -> Option<Lowered> {
    let (source, target) = (place.input(0)?, place.only_output()?);
    let operator = Elementwise {
        elements: elements(&target.shape)?,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Elementwise(operator), vec![0]))
}

pub(super) fn binary(place: &Place) -> Option<Lowered> {
    let (first, second, target) = (place.input(0)?, place.input(1)?, place.only_output()?);
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

pub(super) fn softmax(place: &Place) -> Option<Lowered> {
    let (source, target) = (place.input(0)?, place.only_output()?);
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
pub(super) fn reduce(place: &Place) -> Option<Lowered> {
    let (source, target) = (place.input(0)?, place.only_output()?);
    let rank = source.shape.len();
    let mut axes = [false; 4];
    for axis in place.integers(1)? {
        axes[4usize.checked_sub(rank)? + resolve_axis(axis, rank)?] = true;
    }
    let operator = Reduce {
        input: four(&source.shape)?,
        axes,
        reduction: match place.kind {
            Kind::Mean => Reduction::Mean,
            _ => Reduction::Fold,
        },
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::Reduce(operator), vec![0]))
}
