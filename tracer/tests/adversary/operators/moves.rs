//! What only moves elements.

use super::windows::four;
use super::{ANY, element_is};
use crate::draft::{Draft, DraftTensor};
use crate::tree::Part;
use TensorType::{Bool, Float32, Int8, Int16, Int32};
use dmo_analysis::graph::{Kind, TensorType};

fn signed(values: &[u32]) -> Vec<i32> {
    values.iter().map(|&value| value as i32).collect()
}

/// An axis, sometimes counted from the end, and its place from the front.
fn axis(draft: &mut Draft, rank: usize) -> (usize, i32) {
    let axis = draft.random.below(rank);
    let given = axis as i32;
    (
        axis,
        if draft.once_in(3) {
            given - rank as i32
        } else {
            given
        },
    )
}

pub(super) fn concatenation(draft: &mut Draft) -> Option<()> {
    let first = draft.source(|tensor| (1..=4).contains(&tensor.rank()))?;
    let DraftTensor {
        mut shape,
        element,
        quantization,
        ..
    } = draft.tensor(first).clone();
    let (axis, given) = axis(draft, shape.len());
    let fits = |tensor: &DraftTensor| {
        let others = |shape: &[u32]| {
            let mut others = shape.to_vec();
            others.remove(axis);
            others
        };
        tensor.rank() == shape.len()
            && tensor.element == element
            && tensor.quantization == quantization
            && others(&tensor.shape) == others(&shape)
    };
    let mut inputs = vec![first as i32];
    for _ in 0..draft.between(1, 3) {
        inputs.push(draft.source(fits)? as i32);
    }
    let extents = inputs
        .iter()
        .map(|&id| draft.tensors[id as usize].shape[axis]);
    shape[axis] = extents.sum();
    let output = draft.like(first, &shape)?;
    let options = (10, vec![(0, Part::Word(given as u32)), (1, Part::Byte(0))]);
    draft.add(Kind::Concatenation, &inputs, &[output], Some(options));
    Some(())
}

pub(super) fn split(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let shape = draft.shape(input);
    let (axis, given) = axis(draft, shape.len());
    let extent = shape[axis];
    let mut outputs = Vec::new();
    let mut part = |draft: &mut Draft, extent: u32| {
        let mut shape = shape.clone();
        shape[axis] = extent;
        outputs.push(draft.like(input, &shape)?);
        Some(())
    };
    if draft.once_in(2) {
        let counts: Vec<u32> = (2..=4)
            .filter(|&count| extent.is_multiple_of(count))
            .collect();
        if counts.is_empty() {
            return None;
        }
        let count = draft.pick(&counts);
        for _ in 0..count {
            part(draft, extent / count)?;
        }
        let axis = draft.integers(&[], &[given]);
        let options = (35, vec![(0, Part::Word(count))]);
        draft.add(
            Kind::Split,
            &[axis as i32, input as i32],
            &outputs,
            Some(options),
        );
    } else {
        let first = draft.between(1, extent);
        let sizes = if first == extent {
            vec![extent]
        } else {
            vec![first, extent - first]
        };
        for &size in &sizes {
            part(draft, size)?;
        }
        let options = (79, vec![(0, Part::Word(sizes.len() as u32))]);
        let sizes = draft.vector(&signed(&sizes));
        let axis = draft.integers(&[], &[given]);
        let inputs = [input, sizes, axis].map(|id| id as i32);
        draft.add(Kind::SplitV, &inputs, &outputs, Some(options));
    }
    Some(())
}

pub(super) fn pack(draft: &mut Draft) -> Option<()> {
    let first = draft.source(|tensor| {
        tensor.rank() <= 3 && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let DraftTensor {
        mut shape,
        element,
        quantization,
        ..
    } = draft.tensor(first).clone();
    let fits = |tensor: &DraftTensor| {
        tensor.shape == shape && tensor.element == element && tensor.quantization == quantization
    };
    let mut inputs = vec![first as i32];
    for _ in 0..draft.between(1, 2) {
        inputs.push(draft.source(fits)? as i32);
    }
    let axis = draft.random.below(shape.len() + 1);
    shape.insert(axis, inputs.len() as u32);
    let output = draft.like(first, &shape)?;
    let options = (
        59,
        vec![
            (0, Part::Word(inputs.len() as u32)),
            (1, Part::Word(axis as u32)),
        ],
    );
    draft.add(Kind::Pack, &inputs, &[output], Some(options));
    Some(())
}

pub(super) fn unpack(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (2..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let mut shape = draft.shape(input);
    let (axis, given) = axis(draft, shape.len());
    let count = shape.remove(axis);
    if count > 6 {
        return None;
    }
    let outputs: Option<Vec<usize>> = (0..count).map(|_| draft.like(input, &shape)).collect();
    let options = (
        64,
        vec![(0, Part::Word(count)), (1, Part::Word(given as u32))],
    );
    draft.add(Kind::Unpack, &[input as i32], &outputs?, Some(options));
    Some(())
}

pub(super) fn pad(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let shape = draft.shape(input);
    let mut paddings = Vec::new();
    let mut padded = Vec::new();
    for extent in shape {
        let [before, after] = [draft.below(3), draft.below(3)];
        paddings.extend([before as i32, after as i32]);
        padded.push(before + extent + after);
    }
    let output = draft.like(input, &padded)?;
    let paddings = draft.integers(&[padded.len() as u32, 2], &paddings);
    let mut inputs = vec![input as i32, paddings as i32];
    if draft.once_in(2) {
        draft.add(Kind::Pad, &inputs, &[output], Some((22, Vec::new())));
    } else {
        let DraftTensor {
            element,
            quantization,
            ..
        } = draft.tensor(input).clone();
        let value = match element {
            Float32 => draft.floats(&[], 2.0),
            Int32 => draft.integers(&[], &[7]),
            _ => draft.random_data(&[], element, quantization),
        };
        inputs.push(value as i32);
        draft.add(Kind::Padv2, &inputs, &[output], Some((43, Vec::new())));
    }
    Some(())
}

pub(super) fn mirror_pad(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8])
    })?;
    let is_symmetric = draft.once_in(2);
    let mut paddings = Vec::new();
    let mut padded = Vec::new();
    for extent in draft.shape(input) {
        let most = (extent - u32::from(!is_symmetric)).min(2);
        let [before, after] = [draft.between(0, most), draft.between(0, most)];
        paddings.extend([before as i32, after as i32]);
        padded.push(before + extent + after);
    }
    let output = draft.like(input, &padded)?;
    let paddings = draft.integers(&[padded.len() as u32, 2], &paddings);
    let options = (77, vec![(0, Part::Byte(u8::from(is_symmetric)))]);
    draft.add(
        Kind::MirrorPad,
        &[input as i32, paddings as i32],
        &[output],
        Some(options),
    );
    Some(())
}

/// The same bytes in another shape.
pub(super) fn reshape(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.element != Bool || tensor.rank() > 0)?;
    let shape = draft.shape(input);
    match draft.below(4) {
        0 => {
            let place = draft.random.below(shape.len() + 1);
            let mut wider = shape.clone();
            wider.insert(place, 1);
            if wider.len() > 5 || !element_is(draft.tensor(input), ANY) {
                return None;
            }
            let output = draft.like(input, &wider)?;
            let place = draft.vector(&[place as i32]);
            let options = Some((52, Vec::new()));
            draft.add(
                Kind::ExpandDims,
                &[input as i32, place as i32],
                &[output],
                options,
            );
        }
        1 => {
            let places: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] == 1).collect();
            if places.is_empty() {
                return None;
            }
            let place = draft.pick(&places);
            let mut narrower = shape.clone();
            narrower.remove(place);
            let output = draft.like(input, &narrower)?;
            let options = Some((30, vec![(0, Part::Words(vec![place as i32]))]));
            draft.add(Kind::Squeeze, &[input as i32], &[output], options);
        }
        _ => {
            let mut rest: u32 = shape.iter().product();
            let mut reshaped = Vec::new();
            for _ in 0..draft.below(4) {
                let factors: Vec<u32> = (1..=rest)
                    .filter(|&factor| rest.is_multiple_of(factor))
                    .collect();
                let factor = draft.pick(&factors);
                reshaped.push(factor);
                rest /= factor;
            }
            reshaped.push(rest);
            let output = draft.like(input, &reshaped)?;
            let extents = draft.vector(&signed(&reshaped));
            let options = Some((17, vec![(0, Part::Words(signed(&reshaped)))]));
            draft.add(
                Kind::Reshape,
                &[input as i32, extents as i32],
                &[output],
                options,
            );
        }
    }
    Some(())
}

pub(super) fn transpose(draft: &mut Draft) -> Option<()> {
    let input =
        draft.source(|tensor| (2..=5).contains(&tensor.rank()) && element_is(tensor, ANY))?;
    let shape = draft.shape(input);
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    for index in (1..axes.len()).rev() {
        let other = draft.random.below(index + 1);
        axes.swap(index, other);
    }
    let output: Vec<u32> = axes.iter().map(|&axis| shape[axis]).collect();
    let output = draft.like(input, &output)?;
    let axes: Vec<i32> = axes.iter().map(|&axis| axis as i32).collect();
    let axes = draft.vector(&axes);
    draft.add(
        Kind::Transpose,
        &[input as i32, axes as i32],
        &[output],
        Some((26, Vec::new())),
    );
    Some(())
}

pub(super) fn slice(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=5).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32, Bool])
    })?;
    let (mut begins, mut sizes, mut output) = (Vec::new(), Vec::new(), Vec::new());
    for extent in draft.shape(input) {
        let begin = draft.below(extent.min(3));
        let size = if draft.once_in(2) {
            extent - begin
        } else {
            draft.between(1, extent - begin)
        };
        let is_rest = size == extent - begin && draft.once_in(3);
        begins.push(begin as i32);
        sizes.push(if is_rest { -1 } else { size as i32 });
        output.push(size);
    }
    let output = draft.like(input, &output)?;
    let begins = draft.vector(&begins);
    let sizes = draft.vector(&sizes);
    let inputs = [input, begins, sizes].map(|id| id as i32);
    draft.add(Kind::Slice, &inputs, &[output], Some((48, Vec::new())));
    Some(())
}

pub(super) fn strided_slice(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let shape = draft.shape(input);
    let (mut begins, mut ends, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let (mut begin_mask, mut end_mask, mut shrink_mask) = (0u32, 0u32, 0u32);
    let mut output = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let shrinks = draft.once_in(8);
        let stride: i32 = if shrinks {
            1
        } else {
            draft.pick(&[1, 1, 2, 3, -1, -2])
        };
        let mut first = draft.below(extent) as i32;
        let mut count = 1;
        if shrinks {
            shrink_mask |= 1 << axis;
        } else {
            if draft.once_in(3) {
                begin_mask |= 1 << axis;
                first = if stride > 0 { 0 } else { extent as i32 - 1 };
            }
            let reach = if stride > 0 {
                extent as i32 - first
            } else {
                first + 1
            };
            let most = (reach - 1) / stride.abs() + 1;
            count = most;
            if draft.once_in(2) || stride < 0 {
                end_mask |= 1 << axis;
            } else {
                count = draft.between(1, most as u32) as i32;
            }
        }
        begins.push(first);
        ends.push(if shrinks {
            first + 1
        } else {
            (first + count * stride).min(extent as i32)
        });
        strides.push(stride);
        output.extend((!shrinks).then_some(count as u32));
    }
    let output = draft.like(input, &output)?;
    let [begins, ends, strides] = [begins, ends, strides].map(|values| draft.vector(&values));
    let options = vec![
        (0, Part::Word(begin_mask)),
        (1, Part::Word(end_mask)),
        (4, Part::Word(shrink_mask)),
    ];
    let inputs = [input, begins, ends, strides].map(|id| id as i32);
    draft.add(Kind::StridedSlice, &inputs, &[output], Some((32, options)));
    Some(())
}

pub(super) fn gather(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8])
    })?;
    let mut shape = draft.shape(input);
    if draft.once_in(4) {
        let extent = shape[0];
        let count = draft.between(1, 5);
        let rows: Vec<i32> = (0..count).map(|_| draft.below(extent) as i32).collect();
        shape[0] = count;
        let output = draft.like(input, &shape)?;
        let rows = draft.integers(&[count, 1], &rows);
        let options = Some((83, Vec::new()));
        draft.add(
            Kind::GatherNd,
            &[input as i32, rows as i32],
            &[output],
            options,
        );
        return Some(());
    }
    let (axis, given) = axis(draft, shape.len());
    let extent = shape[axis];
    let count = draft.between(1, 5);
    let places: Vec<i32> = (0..count).map(|_| draft.below(extent) as i32).collect();
    shape[axis] = count;
    let output = draft.like(input, &shape)?;
    let places = draft.vector(&places);
    let options = Some((23, vec![(0, Part::Word(given as u32))]));
    draft.add(
        Kind::Gather,
        &[input as i32, places as i32],
        &[output],
        options,
    );
    Some(())
}

pub(super) fn resize(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, ANY))?;
    let [batches, height, width, depth] = four(draft, input);
    let height = draft.between(1, 2 * height);
    let width = draft.between(1, 2 * width);
    let output = draft.like(input, &[batches, height, width, depth])?;
    let size = draft.vector(&signed(&[height, width]));
    let [corners, centers] = draft.pick(&[[0, 0], [1, 0], [0, 1]]).map(Part::Byte);
    let inputs = [input as i32, size as i32];
    if draft.element(input) == Int16 || draft.once_in(2) {
        let options = (74, vec![(0, corners), (1, centers)]);
        draft.add(
            Kind::ResizeNearestNeighbor,
            &inputs,
            &[output],
            Some(options),
        );
    } else {
        let options = (15, vec![(2, corners), (3, centers)]);
        draft.add(Kind::ResizeBilinear, &inputs, &[output], Some(options));
    }
    Some(())
}

/// Between space and depth, or space and batches.
pub(super) fn rearrangement(draft: &mut Draft) -> Option<()> {
    let input =
        draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, &[Float32, Int8]))?;
    let [batches, height, width, depth] = four(draft, input);
    let block = draft.between(2, 3);
    let by = |extent: u32, block: u32| extent.is_multiple_of(block).then(|| extent / block);
    match draft.below(4) {
        0 => {
            let shape = [
                batches,
                by(height, block)?,
                by(width, block)?,
                depth * block * block,
            ];
            let output = draft.like(input, &shape)?;
            let options = Some((19, vec![(0, Part::Word(block))]));
            draft.add(Kind::SpaceToDepth, &[input as i32], &[output], options);
        }
        1 => {
            let shape = [
                batches,
                height * block,
                width * block,
                by(depth, block * block)?,
            ];
            let output = draft.like(input, &shape)?;
            let options = Some((94, vec![(0, Part::Word(block))]));
            draft.add(Kind::DepthToSpace, &[input as i32], &[output], options);
        }
        2 => {
            let after = [height, width].map(|extent| extent.next_multiple_of(block) - extent);
            // What TensorFlow Lite Micro pads with is what its memory holds.
            if after != [0, 0] {
                return None;
            }
            let shape = [
                batches * block * block,
                (height + after[0]) / block,
                (width + after[1]) / block,
                depth,
            ];
            let output = draft.like(input, &shape)?;
            let blocks = draft.vector(&signed(&[block, block]));
            let paddings = draft.integers(&[2, 2], &signed(&[0, after[0], 0, after[1]]));
            let inputs = [input, blocks, paddings].map(|id| id as i32);
            draft.add(
                Kind::SpaceToBatchNd,
                &inputs,
                &[output],
                Some((25, Vec::new())),
            );
        }
        _ => {
            let crop = draft.below(2);
            let shape = [
                by(batches, block * block)?,
                height * block - crop,
                width * block,
                depth,
            ];
            let output = draft.like(input, &shape)?;
            let blocks = draft.vector(&signed(&[block, block]));
            let crops = draft.integers(&[2, 2], &signed(&[0, crop, 0, 0]));
            let inputs = [input, blocks, crops].map(|id| id as i32);
            draft.add(
                Kind::BatchToSpaceNd,
                &inputs,
                &[output],
                Some((24, Vec::new())),
            );
        }
    }
    Some(())
}

pub(super) fn broadcast_to(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank())
            && tensor.shape.contains(&1)
            && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let shape: Vec<u32> = draft.shape(input);
    let wider = shape.iter();
    let wider: Vec<u32> = wider
        .map(|&extent| {
            if extent == 1 {
                draft.between(1, 4)
            } else {
                extent
            }
        })
        .collect();
    let output = draft.like(input, &wider)?;
    let extents = draft.vector(&signed(&wider));
    let inputs = [input as i32, extents as i32];
    draft.add(
        Kind::BroadcastTo,
        &inputs,
        &[output],
        Some((104, Vec::new())),
    );
    Some(())
}

pub(super) fn reverse(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8, Int16, Int32])
    })?;
    let shape = draft.shape(input);
    let axis = draft.random.below(shape.len()) as i32;
    let output = draft.like(input, &shape)?;
    let axis = draft.vector(&[axis]);
    draft.add(
        Kind::ReverseV2,
        &[input as i32, axis as i32],
        &[output],
        Some((81, Vec::new())),
    );
    Some(())
}

pub(super) fn shape_of(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() >= 1)?;
    let rank = draft.tensor(input).rank() as u32;
    let output = draft.activation(&[rank], Int32, None)?;
    let options = (55, vec![(0, Part::Byte(Int32.code().unwrap()))]);
    draft.add(Kind::Shape, &[input as i32], &[output], Some(options));
    Some(())
}
