//! What only moves elements.

use super::super::schema::{concatenation, resize_bilinear, resize_nearest_neighbor};
use super::{
    FileNode, Lowered, PARTS, common_element_bytes, elements, exactly_four, four, from_the_front,
    resolve_axis,
};
use crate::graph::TensorType;
use crate::operator::{
    Concat, Interpolation, Opaque, Operator, Pad, Reshape, ResizeBilinear, ResizeNearest, Shape,
    Split, Transpose,
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

/// The kernel copies by `memcpy` wherever the output is (`squeeze.cc`): nothing may overlap.
pub(in crate::graph::tflite) fn squeeze(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let bytes = elements(&target.shape)?.checked_mul(common_element_bytes(source, target)?)?;
    let copy = Opaque {
        inputs: vec![bytes],
        outputs: vec![bytes],
    };
    Some((Operator::Opaque(copy), vec![0]))
}

/// Of any number of axes that are four where those that stay beside each other are taken as one.
pub(in crate::graph::tflite) fn transpose(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let rank = source.shape.len();
    let given = node.integers(1)?;
    if given.len() != rank {
        return None;
    }
    let axes = given.iter().map(|&axis| resolve_axis(axis, rank));
    let axes = axes.collect::<Option<Vec<usize>>>()?;
    let permuted: Vec<u32> = axes.iter().map(|&axis| source.shape[axis]).collect();
    let each_once = (0..rank).all(|axis| axes.contains(&axis));
    if !each_once || permuted != target.shape {
        return None;
    }
    let (shape, axes) = if rank > 4 {
        joined(&source.shape, &axes)?
    } else {
        (source.shape.clone(), axes)
    };
    let rank = shape.len();
    let mut permutation = [0, 1, 2, 3];
    for (index, &axis) in axes.iter().enumerate() {
        permutation[4 - rank + index] = from_the_front(axis, rank)?;
    }
    let transpose = Transpose {
        input: four(&shape)?,
        permutation,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::Transpose(transpose), vec![0]))
}

/// Shape and permutation without axes of one element, and with those as one that follow each other
/// before and after: the elements move alike, one after the other. `None` if more than four are
/// left.
fn joined(shape: &[u32], axes: &[usize]) -> Option<(Vec<u32>, Vec<usize>)> {
    let moved = axes.iter().copied().filter(|&axis| shape[axis] != 1);
    let moved: Vec<usize> = moved.collect();
    // Which axes of the output continue the one before them.
    let follows = |axis: usize, before: usize| {
        before < axis && shape[before + 1..axis].iter().all(|&extent| extent == 1)
    };
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for &axis in &moved {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|&before| follows(axis, before)) => run.push(axis),
            _ => runs.push(vec![axis]),
        }
    }
    if runs.len() > 4 {
        return None;
    }
    let mut sorted = runs.clone();
    sorted.sort();
    let extents = sorted.iter().map(|run| {
        let extents = run.iter().map(|&axis| shape[axis]);
        extents.fold(1u32, u32::saturating_mul)
    });
    let extents = extents.collect();
    let position = |run: &Vec<usize>| sorted.iter().position(|other| other == run);
    let axes = runs.iter().map(position).collect::<Option<_>>()?;
    Some((extents, axes))
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

/// Nothing may overlap: the kernel copies each pixel by `memcpy` (`resize_nearest_neighbor.h`).
pub(in crate::graph::tflite) fn resize_nearest(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let options = node.options()?;
    let (input, output) = (exactly_four(&source.shape)?, exactly_four(&target.shape)?);
    let size = node.integers(1)?;
    if size != [output[1], output[2]].map(i64::from) {
        return None;
    }
    let resize = ResizeNearest {
        input,
        output,
        align_corners: options.flag(resize_nearest_neighbor::ALIGN_CORNERS)?,
        half_pixel_centers: options.flag(resize_nearest_neighbor::HALF_PIXEL_CENTERS)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::ResizeNearest(resize), vec![0]))
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::random::xorshift_bytes;

    /// Positions in the input of the output's elements, in their order.
    fn moved(shape: &[u32], axes: &[usize]) -> Vec<u32> {
        let stride = |axis: usize| shape[axis + 1..].iter().product::<u32>();
        axes.iter().fold(vec![0], |positions, &axis| {
            let along = |from: u32| (0..shape[axis]).map(move |index| from + index * stride(axis));
            positions.into_iter().flat_map(along).collect()
        })
    }

    #[test]
    fn joined_axes_move_the_same() {
        let (mut same, mut refused) = (0, 0);
        for bytes in xorshift_bytes(7, 12 * 2000).chunks_exact(12) {
            let rank = 5 + usize::from(bytes[0] % 2);
            let shape: Vec<u32> = bytes[1..=rank]
                .iter()
                .map(|it| 1 + u32::from(it % 3))
                .collect();
            let mut axes: Vec<usize> = (0..rank).collect();
            for (last, byte) in (1..rank).rev().zip(&bytes[7..]) {
                // Often beside each other.
                if byte % 3 == 0 {
                    axes.swap(last, usize::from(byte / 3) % (last + 1));
                }
            }
            match joined(&shape, &axes) {
                Some((extents, joined)) => {
                    assert_eq!(
                        moved(&extents, &joined),
                        moved(&shape, &axes),
                        "{shape:?} {axes:?}"
                    );
                    same += 1;
                }
                None => refused += 1,
            }
        }
        assert!(same > 1000 && refused > 10, "{same} {refused}");
    }
}
