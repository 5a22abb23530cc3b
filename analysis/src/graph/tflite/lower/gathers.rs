//! What takes elements at indices.

use super::super::schema::gather;
use super::slices::whole;
use super::{
    FileNode, Lowered, common_element_bytes, element_bytes, elements, four, from_the_front,
    resolve_axis,
};
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{Gather, Operator, StridedSlice};

/// `gather.cc`: at constant indices that are equally far apart as a slice takes them, else at any.
/// The kernel copies runs.
pub(in crate::graph::tflite) fn gather(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let indices = node.input(1)?;
    let options = node.options()?;
    let axis = i64::from(options.number::<i32>(gather::AXIS, 0)?);
    let axis = resolve_axis(axis, source.shape.len())?;
    let batch_axes = i64::from(options.number::<i32>(gather::BATCH_DIMS, 0)?);
    let batch_axes = match batch_axes {
        0 => 0,
        // The number of all axes means nothing else.
        all if all == indices.shape.len() as i64 => indices.shape.len(),
        some => resolve_axis(some, indices.shape.len())?,
    };
    let kept = source.shape.get(..batch_axes)?;
    let mut taken = source.shape.clone();
    let own = indices.shape.get(batch_axes..)?;
    taken.splice(axis..=axis, own.iter().copied());
    if batch_axes > axis || indices.shape[..batch_axes] != *kept || taken != target.shape {
        return None;
    }
    if let Some(slice) = slice_of(node, axis).filter(|_| batch_axes == 0) {
        return Some((Operator::StridedSlice(slice), vec![0]));
    }
    let gather = Gather {
        batches: elements(kept)?,
        outer: elements(&source.shape[batch_axes..axis])?,
        extents: vec![source.shape[axis]],
        run: elements(&source.shape[axis + 1..])?,
        count: elements(own)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    at_indices(gather, indices, [0, 1])
}

/// The loops, and the inputs that are the elements and the indices.
fn at_indices(gather: Gather, indices: &GraphTensor, inputs: [usize; 2]) -> Option<Lowered> {
    let has_words = indices.element_type == TensorType::Int32;
    has_words.then(|| (Operator::Gather(gather), inputs.to_vec()))
}

/// Elements at constant indices that are equally far apart are those of a slice.
fn slice_of(node: &FileNode, axis: usize) -> Option<StridedSlice> {
    let source = node.input(0)?;
    let indices = node.integers(1)?;
    let (&first, stride) = (indices.first()?, stride_of(&indices)?);
    let outside = |index: &i64| !(0..i64::from(source.shape[axis])).contains(index);
    if indices.iter().any(outside) {
        return None;
    }
    let at = from_the_front(axis, source.shape.len())? as usize;
    let mut slice = whole(four(&source.shape)?, element_bytes(source)?);
    slice.begin[at] = u32::try_from(first).ok()?;
    slice.stride[at] = i32::try_from(stride).ok()?;
    slice.output[at] = u32::try_from(indices.len()).ok()?;
    Some(slice)
}

/// From one index to the next; `None` if that differs, or is nothing.
fn stride_of(indices: &[i64]) -> Option<i64> {
    let mut steps = indices.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
    let first = steps.next().unwrap_or(Some(1))?;
    (first != 0 && steps.all(|step| step == Some(first))).then_some(first)
}

/// `gather_nd.cc`: the last axis of the indices is a tuple of them.
pub(in crate::graph::tflite) fn gather_nd(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let indices = node.input(1)?;
    let (&depth, tuples) = indices.shape.split_last()?;
    let depth = usize::try_from(depth).ok()?;
    let rest = source.shape.get(depth..)?;
    let found = tuples.iter().chain(rest);
    if !found.eq(target.shape.iter()) {
        return None;
    }
    let gather = Gather {
        batches: 1,
        outer: 1,
        extents: source.shape[..depth].to_vec(),
        run: elements(rest)?,
        count: elements(tuples)?,
        element_bytes: common_element_bytes(source, target)?,
    };
    at_indices(gather, indices, [0, 1])
}

/// `embedding_lookup.cc`: the indices come first. One that dequantises is not this.
pub(in crate::graph::tflite) fn embedding_lookup(node: &FileNode) -> Option<Lowered> {
    let (indices, source) = (node.input(0)?, node.input(1)?);
    let target = node.only_output()?;
    let (&rows, rest) = source.shape.split_first()?;
    let &[count] = indices.shape.as_slice() else {
        return None;
    };
    if rest.is_empty() || target.shape.split_first() != Some((&count, rest)) {
        return None;
    }
    let gather = Gather {
        batches: 1,
        outer: 1,
        extents: vec![rows],
        run: elements(rest)?,
        count,
        element_bytes: common_element_bytes(source, target)?,
    };
    at_indices(gather, indices, [1, 0])
}
