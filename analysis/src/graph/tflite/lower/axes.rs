//! Along one axis, stacks of tensors, and blocks of pixels.

use super::super::schema::{cumsum, depth_space, mirror_pad, pack, unpack};
use super::{
    FileNode, Lowered, PARTS, common_element_bytes, element_bytes, elements, exactly_four, four,
    resolve_axis,
};
use crate::graph::{Kind, TensorType};
use crate::operator::{
    ArgExtreme, BatchDirection, BatchSpace, CumulativeSum, DepthDirection, DepthSpace, MirrorPad,
    Operator, Pack, Shape, Unpack,
};

/// Positions before an axis, its extent, and those after it.
fn around(shape: &[u32], axis: usize) -> Option<[u32; 3]> {
    let before = elements(shape.get(..axis)?)?;
    Some([before, *shape.get(axis)?, elements(shape.get(axis + 1..)?)?])
}

/// `pack.cc`
pub(in crate::graph::tflite) fn pack(node: &FileNode) -> Option<Lowered> {
    let target = node.only_output()?;
    let axis = i64::from(node.options()?.number::<i32>(pack::AXIS, 0)?);
    let axis = resolve_axis(axis, target.shape.len())?;
    let [rounds, parts, run] = around(&target.shape, axis)?;
    let count = node.inputs.len();
    let mut part = target.shape.clone();
    part.remove(axis);
    let is_part = |index: usize| {
        let input = node.input(index);
        input.is_some_and(|it| it.shape == part && it.element_type == target.element_type)
    };
    if count > PARTS || count != parts as usize || !(0..count).all(is_part) {
        return None;
    }
    let pack = Pack {
        parts,
        rounds,
        run,
        element_bytes: element_bytes(target)?,
    };
    Some((Operator::Pack(pack), (0..count).collect()))
}

/// `unpack.cc`
pub(in crate::graph::tflite) fn unpack(node: &FileNode) -> Option<Lowered> {
    let source = node.input(0)?;
    let axis = i64::from(node.options()?.number::<i32>(unpack::AXIS, 0)?);
    let axis = resolve_axis(axis, source.shape.len())?;
    let [rounds, parts, run] = around(&source.shape, axis)?;
    let count = node.outputs.len();
    let mut part = source.shape.clone();
    part.remove(axis);
    let is_part = |index: usize| {
        let output = node.output(index);
        output.is_some_and(|it| it.shape == part && it.element_type == source.element_type)
    };
    if count > PARTS || count != parts as usize || !(0..count).all(is_part) {
        return None;
    }
    let unpack = Unpack {
        parts,
        rounds,
        run,
        element_bytes: element_bytes(source)?,
    };
    Some((Operator::Unpack(unpack), vec![0]))
}

/// `space_to_depth.h`, `depth_to_space.h`
pub(in crate::graph::tflite) fn depth_space(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let (input, output) = (exactly_four(&source.shape)?, exactly_four(&target.shape)?);
    let block = node.options()?.number::<i32>(depth_space::BLOCK_SIZE, 0)?;
    let block = u32::try_from(block).ok().filter(|&block| block > 0)?;
    let (direction, image, deeper) = match node.kind {
        Kind::SpaceToDepth => (DepthDirection::SpaceToDepth, input, output),
        _ => (DepthDirection::DepthToSpace, output, input),
    };
    let blocks = [deeper[0], deeper[1], deeper[2], image[3]];
    let pixels = [
        deeper[0],
        deeper[1].checked_mul(block)?,
        deeper[2].checked_mul(block)?,
    ];
    let depth = image[3].checked_mul(block.checked_mul(block)?)?;
    if image[..3] != pixels || deeper[3] != depth {
        return None;
    }
    let moved = DepthSpace {
        blocks,
        block,
        direction,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::DepthSpace(moved), vec![0]))
}

/// `space_to_batch_nd.h`, `batch_to_space_nd.h`
pub(in crate::graph::tflite) fn batch_space(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let (input, output) = (with_width(&source.shape)?, with_width(&target.shape)?);
    let (block, around) = (node.integers(1)?, node.integers(2)?);
    let axes = source.shape.len().checked_sub(2)?;
    if source.shape.len() != target.shape.len() || block.len() != axes || around.len() != 2 * axes {
        return None;
    }
    let (direction, image, spread) = match node.kind {
        Kind::SpaceToBatchNd => (BatchDirection::SpaceToBatch, input, output),
        _ => (BatchDirection::BatchToSpace, output, input),
    };
    let mut moved = BatchSpace {
        image,
        extents: [spread[1], spread[2]],
        block: [1, 1],
        before: [0, 0],
        direction,
        element_bytes: common_element_bytes(source, target)?,
    };
    for axis in 0..axes {
        moved.block[axis] = u32::try_from(block[axis]).ok().filter(|&it| it > 0)?;
        moved.before[axis] = u32::try_from(around[2 * axis]).ok()?;
        let after = u32::try_from(around[2 * axis + 1]).ok()?;
        let taken = u64::from(moved.before[axis]) + u64::from(image[axis + 1]) + u64::from(after);
        let room = u64::from(moved.extents[axis]) * u64::from(moved.block[axis]);
        if taken != room {
            return None;
        }
    }
    Some((Operator::BatchSpace(moved), vec![0]))
}

/// Three axes are those of a picture that is one pixel wide.
fn with_width(shape: &[u32]) -> Option<Shape> {
    match *shape {
        [batches, height, depth] => Some([batches, height, 1, depth]),
        _ => exactly_four(shape),
    }
}

/// `MirrorPadMode`
const REFLECT: i8 = 0;
const SYMMETRIC: i8 = 1;

/// `mirror_pad.cc`
pub(in crate::graph::tflite) fn mirror_pad(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let rank = source.shape.len();
    let paddings = node.integers(1)?;
    let reflect = match node.options()?.number::<i8>(mirror_pad::MODE, REFLECT)? {
        REFLECT => true,
        SYMMETRIC => false,
        _ => return None,
    };
    if paddings.len() != 2 * rank || target.shape.len() != rank {
        return None;
    }
    // Axes that are missing have nothing to be mirrored.
    let (mut before, mut after) = ([0; 4], [0; 4]);
    for (index, padding) in paddings.chunks_exact(2).enumerate() {
        let axis = 4usize.checked_sub(rank)? + index;
        before[axis] = u32::try_from(padding[0]).ok()?;
        after[axis] = u32::try_from(padding[1]).ok()?;
        let padding = before[axis].checked_add(after[axis])?;
        if source.shape[index].checked_add(padding)? != target.shape[index] {
            return None;
        }
    }
    let pad = MirrorPad {
        input: four(&source.shape)?,
        before,
        after,
        reflect,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::MirrorPad(pad), vec![0]))
}

/// `cumsum.h`
pub(in crate::graph::tflite) fn cumulative_sum(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let &[axis] = node.integers(1)?.as_slice() else {
        return None;
    };
    let axis = resolve_axis(axis, source.shape.len())?;
    let [before, extent, after] = around(&source.shape, axis)?;
    let options = node.options()?;
    if source.shape != target.shape {
        return None;
    }
    let sum = CumulativeSum {
        before,
        extent,
        after,
        exclusive: options.flag(cumsum::EXCLUSIVE)?,
        reverse: options.flag(cumsum::REVERSE)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::CumulativeSum(sum), vec![0]))
}

/// `arg_min_max.h`
pub(in crate::graph::tflite) fn arg_extreme(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let &[axis] = node.integers(1)?.as_slice() else {
        return None;
    };
    let axis = resolve_axis(axis, source.shape.len())?;
    let [before, extent, after] = around(&source.shape, axis)?;
    if ![TensorType::Int32, TensorType::Int64].contains(&target.element_type) {
        return None;
    }
    let extreme = ArgExtreme {
        before,
        extent,
        after,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
    };
    Some((Operator::ArgExtreme(extreme), vec![0]))
}
