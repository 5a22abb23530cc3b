//! What only moves elements.

use super::super::schema::{concatenation, resize_bilinear, strided_slice};
use super::{
    FileNode, Lowered, PARTS, common_element_bytes, elements, exactly_four, four, from_the_front,
    resolve_axis,
};
use crate::graph::TensorType;
use crate::operator::{
    Concat, Interpolation, Operator, Pad, Reshape, ResizeBilinear, Shape, Split, StridedSlice,
    Transpose,
};

pub(in crate::graph::tflite) fn concatenation(node: &FileNode) -> Option<Lowered> {
    let target = node.only_output()?;
    let rank = target.shape.len();
    let options = node.options()?;
    let axis = resolve_axis(i64::from(options.number(concatenation::AXIS, 0)?), rank)?;
    if node.inputs.len() > PARTS {
        return None;
    }
    let shape = |index| {
        let input = node.input(index)?;
        let same = input.shape.len() == rank && input.element_type == target.element_type;
        four(&input.shape).filter(|_| same)
    };
    let inputs: Option<Vec<Shape>> = (0..node.inputs.len()).map(shape).collect();
    let (inputs, axis) = (inputs?, from_the_front(axis, rank)?);
    let output = four(&target.shape)?;
    let agrees = (0..4).all(|at| {
        let mut extents = inputs.iter().map(|input| u64::from(input[at]));
        let wanted = u64::from(output[at]);
        if at == axis as usize {
            extents.sum::<u64>() == wanted
        } else {
            extents.all(|extent| extent == wanted)
        }
    });
    if !agrees {
        return None;
    }
    let concat = Concat {
        inputs,
        axis,
        element_bytes: common_element_bytes(target, target)?,
    };
    Some((Operator::Concat(concat), (0..node.inputs.len()).collect()))
}

/// Which inputs are the tensor and the axis differs.
pub(in crate::graph::tflite) fn split(
    node: &FileNode,
    input: usize,
    axis: usize,
) -> Option<Lowered> {
    let source = node.input(input)?;
    let rank = source.shape.len();
    let &[axis] = node.integers(axis)?.as_slice() else {
        return None;
    };
    let axis = resolve_axis(axis, rank)?;
    if node.outputs.len() > PARTS {
        return None;
    }
    let part = |index| {
        let output = node.output(index)?;
        let same = output.shape.len() == rank && output.element_type == source.element_type;
        output.shape.get(axis).copied().filter(|_| same)
    };
    let parts: Option<Vec<u32>> = (0..node.outputs.len()).map(part).collect();
    let split = Split {
        input: four(&source.shape)?,
        axis: from_the_front(axis, rank)?,
        parts: parts?,
        element_bytes: common_element_bytes(source, source)?,
    };
    Some((Operator::Split(split), vec![input]))
}

pub(in crate::graph::tflite) fn pad(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let (input, output) = (four(&source.shape)?, four(&target.shape)?);
    let rank = source.shape.len();
    let paddings = node.integers(1)?;
    if paddings.len() != 2 * rank || target.shape.len() != rank || !node.constant_or_absent(2) {
        return None;
    }
    let mut before = [0; 4];
    for (index, padding) in paddings.chunks_exact(2).enumerate() {
        let axis = 4 - rank + index;
        before[axis] = u32::try_from(padding[0]).ok()?;
        let after = u32::try_from(padding[1]).ok()?;
        let extent = u64::from(before[axis]) + u64::from(input[axis]) + u64::from(after);
        if extent != u64::from(output[axis]) {
            return None;
        }
    }
    let pad = Pad {
        input,
        before,
        output,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Pad(pad), vec![0]))
}

/// The kernel leaves the copy out where output and input are the same (`reshape.cc`).
pub(in crate::graph::tflite) fn reshape(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let reshape = Reshape {
        elements: elements(&target.shape)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Reshape(reshape), vec![0]))
}

pub(in crate::graph::tflite) fn transpose(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let input = four(&source.shape)?;
    let rank = source.shape.len();
    let given = node.integers(1)?;
    if given.len() != rank {
        return None;
    }
    let mut permutation = [0, 1, 2, 3];
    for (index, &axis) in given.iter().enumerate() {
        permutation[4 - rank + index] = from_the_front(resolve_axis(axis, rank)?, rank)?;
    }
    if permutation.map(|axis| input[axis as usize]) != four(&target.shape)? {
        return None;
    }
    let transpose = Transpose {
        input,
        permutation,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Transpose(transpose), vec![0]))
}

pub(in crate::graph::tflite) fn slice(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let (input, output) = (four(&source.shape)?, four(&target.shape)?);
    let rank = source.shape.len();
    let begins = node.integers(1)?;
    let sizes = node.integers(2)?;
    if [begins.len(), sizes.len(), target.shape.len()] != [rank; 3] {
        return None;
    }
    let mut begin = [0; 4];
    for index in 0..rank {
        let axis = 4 - rank + index;
        begin[axis] = u32::try_from(begins[index]).ok()?;
        let rest = i64::from(input[axis]) - begins[index];
        // -1 stands for the rest in the file, and the kernel takes it as such.
        let size = if sizes[index] == -1 {
            rest
        } else {
            sizes[index]
        };
        if size != i64::from(output[axis]) {
            return None;
        }
    }
    let slice = StridedSlice {
        input,
        begin,
        stride: [1; 4],
        output,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::StridedSlice(slice), vec![0]))
}

/// Only with a stride on the last axis: otherwise the kernel copies runs.
pub(in crate::graph::tflite) fn strided_slice(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let input = four(&source.shape)?;
    let rank = source.shape.len();
    let options = node.options()?;
    let mask = |field| options.number::<i32>(field, 0);
    let plain = mask(strided_slice::ELLIPSIS_MASK)? == 0
        && mask(strided_slice::NEW_AXIS_MASK)? == 0
        && mask(strided_slice::SHRINK_AXIS_MASK)? == 0
        && !options.flag(strided_slice::OFFSET)?;
    let (begins, ends) = (node.integers(1)?, node.integers(2)?);
    let strides = node.integers(3)?;
    let lengths = [begins.len(), ends.len(), strides.len(), target.shape.len()];
    if !plain || lengths != [rank; 4] || strides.last().is_none_or(|&stride| stride == 1) {
        return None;
    }
    let masks = [
        mask(strided_slice::BEGIN_MASK)?,
        mask(strided_slice::END_MASK)?,
    ];
    let mut slice = StridedSlice {
        input,
        begin: [0; 4],
        stride: [1; 4],
        output: [1; 4],
        element_bytes: common_element_bytes(source, target)?,
    };
    for index in 0..rank {
        let axis = 4 - rank + index;
        let masked = masks.map(|mask| mask >> index & 1 == 1);
        let extent = i64::from(input[axis]);
        let stride = strides[index];
        let (begin, count) = indices(extent, begins[index], ends[index], stride, masked)?;
        slice.begin[axis] = u32::try_from(begin).ok()?;
        slice.stride[axis] = i32::try_from(stride).ok()?;
        slice.output[axis] = u32::try_from(count).ok()?;
    }
    (slice.output == four(&target.shape)?).then_some((Operator::StridedSlice(slice), vec![0]))
}

/// First index and number of indices on an axis; a masked end is that of the axis.
fn indices(
    extent: i64,
    begin: i64,
    end: i64,
    stride: i64,
    masked: [bool; 2],
) -> Option<(i64, i64)> {
    let (first, last) = match stride {
        0 => return None,
        1.. => (0, extent),
        _ => (-1, extent - 1),
    };
    let inside = |index: i64| {
        let index = if index < 0 {
            index.saturating_add(extent)
        } else {
            index
        };
        index.clamp(first, last)
    };
    let (open_begin, open_end) = if stride > 0 {
        (first, last)
    } else {
        (last, first)
    };
    let begin = if masked[0] { open_begin } else { inside(begin) };
    let end = if masked[1] { open_end } else { inside(end) };
    let (distance, step) = if stride > 0 {
        (end - begin, stride)
    } else {
        (begin - end, stride.checked_neg()?)
    };
    (distance > 0).then(|| (begin, (distance - 1) / step + 1))
}

pub(in crate::graph::tflite) fn resize_bilinear(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let options = node.options()?;
    let (input, output) = (exactly_four(&source.shape)?, exactly_four(&target.shape)?);
    // The kernel makes an output of the size that it is given.
    let size = node.integers(1)?;
    let wanted = [output[1], output[2]].map(i64::from);
    if size != wanted || [input[0], input[3]] != [output[0], output[3]] {
        return None;
    }
    let resize = ResizeBilinear {
        input,
        output,
        align_corners: options.flag(resize_bilinear::ALIGN_CORNERS)?,
        half_pixel_centers: options.flag(resize_bilinear::HALF_PIXEL_CENTERS)?,
        interpolation: match source.element_type {
            TensorType::Float32 => Interpolation::Float,
            TensorType::Int8 | TensorType::Int16 => Interpolation::FixedPoint,
            _ => return None,
        },
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::ResizeBilinear(resize), vec![0]))
}
