//! That the accesses of operators that move elements move the right ones, by other
//! index arithmetic than theirs; and what is said of `memcpy`.

use super::first_pair::FirstPair;
use crate::move_shapes::{
    batch_space, concat, depth_space, mirror_pad, pack, pad, resize_nearest, slice, split,
    transpose, unpack,
};
use dmo_analysis::operator::{BatchDirection, DepthDirection, Operator, Shape};
use dmo_analysis::trace::AccessKind;
use proptest::prelude::*;

/// Where the element of each output element comes from: input and position.
type Sources = Vec<Option<(usize, u32)>>;

/// What each output receives: its elements are stored after the load of their value.
fn moved(operator: &Operator) -> Vec<Sources> {
    let buffers = operator.buffers().unwrap();
    let mut outputs: Vec<Sources> = buffers
        .outputs
        .iter()
        .map(|output| vec![None; output.shape.iter().product::<u32>() as usize])
        .collect();
    let mut loaded = None;
    operator
        .accesses(|kind, buffer, element| match kind {
            AccessKind::Load => loaded = Some((buffer, element)),
            AccessKind::Store => outputs[buffer][element as usize] = loaded.take(),
        })
        .unwrap();
    outputs
}

/// All indices of a shape in order, counted upwards by hand.
fn indices(shape: Shape) -> Vec<Shape> {
    let mut all = Vec::new();
    let mut index = [0; 4];
    loop {
        all.push(index);
        let Some(axis) = (0..4).rev().find(|&axis| index[axis] + 1 < shape[axis]) else {
            return all;
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The position of an index: how many come before it.
fn find(shape: Shape, index: Shape) -> u32 {
    index
        .into_iter()
        .zip(shape)
        .fold(0, |position, (index, extent)| position * extent + index)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn transpose_moves_axes(transpose in transpose()) {
        let output = transpose.permutation.map(|axis| transpose.input[axis as usize]);
        let expected: Sources = indices(output).into_iter().map(|index| {
            let mut source = [0; 4];
            for axis in 0..4 {
                source[transpose.permutation[axis] as usize] = index[axis];
            }
            Some((0, find(transpose.input, source)))
        }).collect();
        prop_assert_eq!(moved(&Operator::Transpose(transpose)), vec![expected]);
    }

    #[test]
    fn pad_surrounds(pad in pad()) {
        let expected: Sources = indices(pad.output).into_iter().map(|index| {
            let source: Option<Vec<u32>> = (0..4).map(|axis| {
                index[axis].checked_sub(pad.before[axis]).filter(|&at| at < pad.input[axis])
            }).collect();
            Some((0, find(pad.input, source?.try_into().unwrap())))
        }).collect();
        prop_assert_eq!(moved(&Operator::Pad(pad)), vec![expected]);
    }

    #[test]
    fn slice_steps(slice in slice()) {
        let expected: Sources = indices(slice.output).into_iter().map(|index| {
            let source = std::array::from_fn(|axis| {
                let along = i64::from(index[axis]) * i64::from(slice.stride[axis]);
                u32::try_from(i64::from(slice.begin[axis]) + along).unwrap()
            });
            Some((0, find(slice.input, source)))
        }).collect();
        prop_assert_eq!(moved(&Operator::StridedSlice(slice)), vec![expected]);
    }

    #[test]
    fn concat_and_split_are_reverse(concat in concat(), split in split()) {
        let axis = concat.axis as usize;
        let mut output = concat.inputs[0];
        output[axis] = concat.inputs.iter().map(|shape| shape[axis]).sum();
        let expected: Sources = indices(output).into_iter().map(|mut index| {
            let mut input = 0;
            while index[axis] >= concat.inputs[input][axis] {
                index[axis] -= concat.inputs[input][axis];
                input += 1;
            }
            Some((input, find(concat.inputs[input], index)))
        }).collect();
        prop_assert_eq!(moved(&Operator::Concat(concat)), vec![expected]);

        let axis = split.axis as usize;
        let mut before = 0;
        let mut expected = Vec::new();
        for &part in &split.parts {
            let mut output = split.input;
            output[axis] = part;
            expected.push(indices(output).into_iter().map(|mut index| {
                index[axis] += before;
                Some((0, find(split.input, index)))
            }).collect::<Sources>());
            before += part;
        }
        prop_assert_eq!(moved(&Operator::Split(split)), expected);
    }

    #[test]
    fn mirrors_fold_back(pad in mirror_pad()) {
        let output = std::array::from_fn(|axis| pad.before[axis] + pad.input[axis] + pad.after[axis]);
        let expected: Sources = indices(output).into_iter().map(|index| {
            let source = std::array::from_fn(|axis| {
                // Walk along the input and back, as often as it takes.
                let period = if pad.reflect {
                    (2 * pad.input[axis] - 2).max(1)
                } else {
                    2 * pad.input[axis]
                };
                let far = (index[axis] + 16 * period - pad.before[axis]) % period;
                let back = if pad.reflect { period - far } else { period - 1 - far };
                if far < pad.input[axis] { far } else { back }
            });
            Some((0, find(pad.input, source)))
        }).collect();
        prop_assert_eq!(moved(&Operator::MirrorPad(pad)), vec![expected]);
    }

    /// Both are transpositions of five axes, and reverse to one another.
    #[test]
    fn blocks_move_into_depth(mut moved_blocks in depth_space()) {
        let [batches, height, width, depth] = moved_blocks.blocks;
        let block = moved_blocks.block;
        let image = [batches, height * block, width * block, depth];
        let mut into_depth = Vec::new();
        for b in 0..batches {
            for y in 0..height {
                for x in 0..width {
                    for dy in 0..block {
                        for dx in 0..block {
                            for c in 0..depth {
                                let index = [b, y * block + dy, x * block + dx, c];
                                into_depth.push(Some((0, find(image, index))));
                            }
                        }
                    }
                }
            }
        }
        let mut back = vec![None; into_depth.len()];
        for (position, source) in (0..).zip(&into_depth) {
            back[source.unwrap().1 as usize] = Some((0, position));
        }
        moved_blocks.direction = DepthDirection::SpaceToDepth;
        prop_assert_eq!(moved(&Operator::DepthSpace(moved_blocks)), vec![into_depth]);
        moved_blocks.direction = DepthDirection::DepthToSpace;
        prop_assert_eq!(moved(&Operator::DepthSpace(moved_blocks)), vec![back]);
    }

    /// Every pixel of the image goes to the batch of its place in the block, and comes back.
    #[test]
    fn blocks_move_into_batches(mut spread in batch_space()) {
        let [batches, _, _, depth] = spread.image;
        let [block_height, block_width] = spread.block;
        let [height, width] = spread.extents;
        let shape = [batches * block_height * block_width, height, width, depth];
        let mut into_batch = vec![None; indices(shape).len()];
        let mut back = Sources::new();
        for index @ [b, y, x, c] in indices(spread.image) {
            let [down, right] = [y + spread.before[0], x + spread.before[1]];
            let place = down % block_height * block_width + right % block_width;
            let to = [place * batches + b, down / block_height, right / block_width, c];
            into_batch[find(shape, to) as usize] = Some((0, find(spread.image, index)));
            back.push(Some((0, find(shape, to))));
        }
        spread.direction = BatchDirection::SpaceToBatch;
        prop_assert_eq!(moved(&Operator::BatchSpace(spread)), vec![into_batch]);
        spread.direction = BatchDirection::BatchToSpace;
        prop_assert_eq!(moved(&Operator::BatchSpace(spread)), vec![back]);
    }

    #[test]
    fn pack_and_unpack_are_reverse(pack in pack(), unpack in unpack()) {
        let shape = [1, pack.rounds, pack.parts, pack.run];
        let expected: Sources = indices(shape).into_iter().map(|[_, round, part, element]| {
            Some((part as usize, round * pack.run + element))
        }).collect();
        prop_assert_eq!(moved(&Operator::Pack(pack)), vec![expected]);

        let shape = [1, unpack.rounds, unpack.parts, unpack.run];
        let expected: Vec<Sources> = (0..unpack.parts).map(|part| {
            indices([1, 1, unpack.rounds, unpack.run]).into_iter().map(|[_, _, round, element]| {
                Some((0, find(shape, [0, round, part, element])))
            }).collect()
        }).collect();
        prop_assert_eq!(moved(&Operator::Unpack(unpack)), expected);
    }

    /// Sizes whose ratio a float holds exactly, so that integers give the same.
    #[test]
    fn resize_takes_the_nearest(resize in resize_nearest(), powers in [0_u32..4, 0_u32..4]) {
        let mut resize = resize;
        (resize.align_corners, resize.half_pixel_centers) = (false, false);
        resize.output[1] = 1 << powers[0];
        resize.output[2] = 1 << powers[1];
        let expected: Sources = indices(resize.output).into_iter().map(|index| {
            let source = std::array::from_fn(|axis| index[axis] * resize.input[axis] / resize.output[axis]);
            Some((0, find(resize.input, source)))
        }).collect();
        prop_assert_eq!(moved(&Operator::ResizeNearest(resize)), vec![expected]);
    }

    /// A `memcpy` that loads groups of elements before it stores them, in ascending
    /// order, needs no more displacement than one that goes element by element.
    #[test]
    fn copies_in_groups_need_no_more(concat in concat(), split in split(), group in 1_usize..=5) {
        for operator in [Operator::Concat(concat), Operator::Split(split)] {
            let buffers = operator.buffers().unwrap();
            let mut accesses = Vec::new();
            operator.accesses(|kind, buffer, element| accesses.push((kind, buffer, element))).unwrap();
            // Pairs of a load and a store; a run ends where the buffers change or the
            // positions jump.
            let pairs: Vec<_> = accesses.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            let runs = pairs.chunk_by(|(load, store), (next_load, next_store)| {
                (load.1, load.2 + 1, store.1, store.2 + 1)
                    == (next_load.1, next_load.2, next_store.1, next_store.2)
            });
            let mut ends = vec![0; buffers.outputs.len()];
            for chunk in runs.flat_map(|run| run.chunks(group)) {
                for ((_, input, loaded), _) in chunk {
                    for (output, end) in ends.iter().enumerate() {
                        let bytes = buffers.inputs[*input].element_bytes;
                        let needed = u32::saturating_sub(*end, loaded * bytes);
                        let granted = operator.displacement_of(*input, output).unwrap().unwrap();
                        prop_assert!(needed <= granted);
                    }
                }
                for (_, (_, output, stored)) in chunk {
                    let bytes = buffers.outputs[*output].element_bytes;
                    ends[*output] = ends[*output].max((stored + 1) * bytes);
                }
            }
        }
    }
}

/// A last group that comes back over bytes that were stored already, as some do for
/// runs that are no multiple of a group, breaks the promise.
#[test]
fn copies_that_come_back_need_more() {
    // Five elements in groups of four: 0 to 3, then 1 to 4 again.
    let (mut end, mut needed) = (0_u32, 0);
    for first in [0, 1] {
        needed = needed.max(end.saturating_sub(first));
        end = first + 4;
    }
    assert_eq!(needed, 3);
    let reshape = Operator::Reshape(dmo_analysis::operator::Reshape {
        elements: 5,
        element_bytes: 1,
    });
    assert_eq!(reshape.displacement(), Ok(Some(0)));
}
