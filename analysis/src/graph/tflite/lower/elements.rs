//! Element by element, softmax, reductions.

use super::{FileNode, Lowered, PARTS, common_element_bytes, element_bytes, elements, four};
use super::{GraphTensor, resolve_axis};
use crate::graph::{Kind, TensorType};
use crate::operator::{
    Elementwise, ElementwiseBinary, ElementwiseInput, ElementwiseMany, Operator, Reduce, Reduction,
    Shape, Softmax,
};

pub(in crate::graph::tflite) fn unary(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let count = elements(&target.shape)?;
    if elements(&source.shape)? != count {
        return None;
    }
    let operator = Elementwise {
        elements: count,
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

/// The sum of any number of tensors of one shape and type (`add_n.h`).
pub(in crate::graph::tflite) fn add_n(node: &FileNode) -> Option<Lowered> {
    let target = node.only_output()?;
    let output = [1, 1, 1, elements(&target.shape)?];
    let takes = [TensorType::Float32, TensorType::Int8].contains(&target.element_type);
    if node.inputs.len() > PARTS || !takes {
        return None;
    }
    let input = |index: usize| {
        let input = node.input(index)?;
        let element_bytes = common_element_bytes(input, target)?;
        let shape = output;
        (input.shape == target.shape).then_some(ElementwiseInput {
            shape,
            element_bytes,
        })
    };
    let indices: Vec<usize> = (0..node.inputs.len()).collect();
    let sum = ElementwiseMany {
        inputs: indices.iter().copied().map(input).collect::<Option<_>>()?,
        output,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::ElementwiseMany(sum), indices))
}

/// One of two elements, by a third. Where one element of the condition serves several of the
/// output, the kernel copies runs by `memcpy` (`select.h`), so that the condition must have them
/// all.
pub(in crate::graph::tflite) fn select(node: &FileNode) -> Option<Lowered> {
    let (condition, target) = (node.input(0)?, node.only_output()?);
    if condition.shape != target.shape || condition.element_type != TensorType::Bool {
        return None;
    }
    let choices = [node.input(1)?, node.input(2)?];
    let plain = choices.iter().all(|choice| choice.shape == target.shape);
    let shape = |tensor: &GraphTensor| {
        if plain {
            Some([1, 1, 1, elements(&tensor.shape)?])
        } else {
            four(&tensor.shape)
        }
    };
    let mut inputs = vec![ElementwiseInput {
        shape: shape(condition)?,
        element_bytes: element_bytes(condition)?,
    }];
    for choice in choices {
        inputs.push(ElementwiseInput {
            shape: shape(choice)?,
            element_bytes: common_element_bytes(choice, target)?,
        });
    }
    let select = ElementwiseMany {
        inputs,
        output: shape(target)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::ElementwiseMany(select), vec![0, 1, 2]))
}

/// Row by row: for the maximum and the sum, or the sum of the squares; then each element is loaded
/// again and stored. `LOG_SOFTMAX` and `L2_NORMALIZATION` do so as `SOFTMAX` does
/// (`log_softmax.h`, `l2normalization.h`).
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
