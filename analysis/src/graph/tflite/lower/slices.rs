//! Slices, and what takes parts of a tensor as a slice does.

use super::super::schema::strided_slice;
use super::{
    FileNode, Lowered, common_element_bytes, elements, four, from_the_front, resolve_axis,
};
use crate::operator::{Operator, Shape, StridedSlice};

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
        in_runs: false,
        element_bytes: common_element_bytes(source, target)?,
    };
    Some((Operator::StridedSlice(slice), vec![0]))
}

/// With a stride of 1 on the last axis the kernel copies runs (`strided_slice.h`). An axis that
/// shrinks has one index, and is not one of the output's.
pub(in crate::graph::tflite) fn strided_slice(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let input = four(&source.shape)?;
    let rank = source.shape.len();
    let options = node.options()?;
    let mask = |field| options.number::<i32>(field, 0);
    let plain = mask(strided_slice::ELLIPSIS_MASK)? == 0
        && mask(strided_slice::NEW_AXIS_MASK)? == 0
        && !options.flag(strided_slice::OFFSET)?;
    let (begins, ends) = (node.integers(1)?, node.integers(2)?);
    let strides = node.integers(3)?;
    if !plain || [begins.len(), ends.len(), strides.len()] != [rank; 3] {
        return None;
    }
    let masks = [
        mask(strided_slice::BEGIN_MASK)?,
        mask(strided_slice::END_MASK)?,
    ];
    let shrinks = mask(strided_slice::SHRINK_AXIS_MASK)?;
    let mut slice = StridedSlice {
        input,
        begin: [0; 4],
        stride: [1; 4],
        output: [1; 4],
        in_runs: strides.last() == Some(&1),
        element_bytes: common_element_bytes(source, target)?,
    };
    let mut kept = Vec::new();
    for index in 0..rank {
        let axis = 4 - rank + index;
        let masked = masks.map(|mask| mask >> index & 1 == 1);
        let extent = i64::from(input[axis]);
        let (begin, count) = if shrinks >> index & 1 == 1 {
            let forwards = Some(begins[index]).filter(|_| strides[index] > 0)?;
            (one_index(extent, forwards, masked[0])?, 1)
        } else {
            let range = indices(extent, begins[index], ends[index], strides[index], masked)?;
            kept.push(u32::try_from(range.1).ok()?);
            range
        };
        slice.begin[axis] = u32::try_from(begin).ok()?;
        slice.stride[axis] = i32::try_from(strides[index]).ok()?;
        slice.output[axis] = u32::try_from(count).ok()?;
    }
    (kept == target.shape).then_some((Operator::StridedSlice(slice), vec![0]))
}

/// The index of an axis that shrinks, which must be one.
fn one_index(extent: i64, begin: i64, masked: bool) -> Option<i64> {
    let index = match begin {
        _ if masked => 0,
        ..0 => begin.checked_add(extent)?,
        _ => begin,
    };
    (0..extent).contains(&index).then_some(index)
}

/// The whole of a tensor, copied in runs.
pub(super) fn whole(input: Shape, element_bytes: u32) -> StridedSlice {
    StridedSlice {
        input,
        begin: [0; 4],
        stride: [1; 4],
        output: input,
        in_runs: true,
        element_bytes,
    }
}

/// One element serves an axis; the kernel copies runs of the output as well as of the input
/// (`broadcast_to.h`).
pub(in crate::graph::tflite) fn broadcast_to(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let missing = target.shape.len().checked_sub(source.shape.len())?;
    let served = |axis: usize| match axis.checked_sub(missing) {
        None => Some(1),
        Some(axis) => source.shape.get(axis).copied(),
    };
    // Axes beside each other that are served alike are one.
    let mut axes: Vec<[u32; 2]> = Vec::new();
    for (axis, &to) in target.shape.iter().enumerate() {
        let from = served(axis).filter(|&from| from == to || from == 1)?;
        match axes.last_mut() {
            _ if to == 1 => {}
            Some(last) if (last[0] == 1) == (from == 1) => {
                last[0] = last[0].checked_mul(from)?;
                last[1] = last[1].checked_mul(to)?;
            }
            _ => axes.push([from, to]),
        }
    }
    let extents = |side: usize| axes.iter().map(|axis| axis[side]).collect::<Vec<u32>>();
    let (input, output) = (four(&extents(0))?, four(&extents(1))?);
    let mut slice = whole(input, common_element_bytes(source, target)?);
    slice.output = output;
    for axis in 0..4 {
        slice.stride[axis] = i32::from(input[axis] == output[axis]);
    }
    Some((Operator::StridedSlice(slice), vec![0]))
}

/// One element serves all; the kernel loads it again and again (`fill.h`).
pub(in crate::graph::tflite) fn fill(node: &FileNode) -> Option<Lowered> {
    let (value, target) = (node.input(1)?, node.only_output()?);
    if elements(&value.shape)? != 1 {
        return None;
    }
    let mut slice = whole([1; 4], common_element_bytes(value, target)?);
    slice.output[3] = elements(&target.shape)?;
    slice.stride[3] = 0;
    Some((Operator::StridedSlice(slice), vec![1]))
}

/// Backwards on some axes; the kernel copies runs (`reverse.cc`).
pub(in crate::graph::tflite) fn reverse(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let rank = source.shape.len();
    if source.shape != target.shape {
        return None;
    }
    let mut slice = whole(four(&source.shape)?, common_element_bytes(source, target)?);
    for axis in node.integers(1)? {
        let axis = from_the_front(resolve_axis(axis, rank)?, rank)? as usize;
        slice.begin[axis] = slice.input[axis].checked_sub(1)?;
        slice.stride[axis] = -1;
    }
    Some((Operator::StridedSlice(slice), vec![0]))
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
