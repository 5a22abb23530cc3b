//! Operators that move elements, with small shapes.

use crate::shapes::{element_bytes, extents, shape, small_shape};
use dmo_analysis::operator::{
    BatchDirection, BatchSpace, BroadcastArgs, Concat, DepthDirection, DepthSpace, Gather,
    Interpolation, MirrorPad, Operator, Pack, Pad, Reshape, ResizeBilinear, ResizeNearest, Split,
    StridedSlice, Transpose, Unpack, UpdateSlice,
};
use proptest::prelude::*;

pub fn concat() -> impl Strategy<Value = Concat> {
    let parts = prop::collection::vec(1_u32..=4, 1..=4);
    (small_shape(3), 0_usize..4, parts, element_bytes()).prop_map(
        |(shape, axis, parts, element_bytes)| Concat {
            inputs: parts
                .into_iter()
                .map(|part| {
                    let mut shape = shape;
                    shape[axis] = part;
                    shape
                })
                .collect(),
            axis: axis as u32,
            element_bytes,
        },
    )
}

pub fn split() -> impl Strategy<Value = Split> {
    concat().prop_map(|concat| {
        let axis = concat.axis as usize;
        let parts: Vec<u32> = concat.inputs.iter().map(|shape| shape[axis]).collect();
        let mut input = concat.inputs[0];
        input[axis] = parts.iter().sum();
        Split {
            input,
            axis: concat.axis,
            parts,
            element_bytes: concat.element_bytes,
        }
    })
}

pub fn pad() -> impl Strategy<Value = Pad> {
    let around = || [0_u32..=2, 0_u32..=2, 0_u32..=2, 0_u32..=2];
    (small_shape(3), around(), around(), element_bytes()).prop_map(
        |(input, before, after, element_bytes)| Pad {
            input,
            before,
            output: std::array::from_fn(|axis| before[axis] + input[axis] + after[axis]),
            element_bytes,
        },
    )
}

pub fn transpose() -> impl Strategy<Value = Transpose> {
    let permutation = Just([0, 1, 2, 3]).prop_shuffle();
    (small_shape(4), permutation, element_bytes()).prop_map(
        |(input, permutation, element_bytes)| Transpose {
            input,
            permutation,
            element_bytes,
        },
    )
}

pub fn slice() -> impl Strategy<Value = StridedSlice> {
    let axis = (1_u32..=7).prop_flat_map(|input| {
        (Just(input), 0..input, -4_i32..=4).prop_flat_map(|(input, begin, stride)| {
            let room = match stride {
                // One index serves any number of the output's.
                0 => 5,
                1.. => (input - 1 - begin) / stride.unsigned_abs(),
                _ => begin / stride.unsigned_abs(),
            };
            (Just(input), Just(begin), Just(stride), 1..=room + 1).prop_map(|mut axis| {
                // A single index may come with any stride.
                if axis.2 == 0 && axis.3 == 1 {
                    axis.2 = -99;
                }
                axis
            })
        })
    });
    (
        [axis.clone(), axis.clone(), axis.clone(), axis],
        element_bytes(),
    )
        .prop_map(|(axes, element_bytes)| StridedSlice {
            input: axes.map(|axis| axis.0),
            begin: axes.map(|axis| axis.1),
            stride: axes.map(|axis| axis.2),
            output: axes.map(|axis| axis.3),
            in_runs: false,
            element_bytes,
        })
}

pub fn resize_nearest() -> impl Strategy<Value = ResizeNearest> {
    let sizes = (extents(1..=7), extents(1..=11));
    (sizes, extents(1..=3), any::<[bool; 2]>(), element_bytes()).prop_map(
        |((input, output), [batches, depth], flags, element_bytes)| ResizeNearest {
            input: shape(batches, input, depth),
            output: shape(batches, output, depth),
            align_corners: flags[0],
            half_pixel_centers: flags[1],
            element_bytes,
        },
    )
}

pub fn pack() -> impl Strategy<Value = Pack> {
    ([1_u32..=4, 1_u32..=4, 1_u32..=4], element_bytes()).prop_map(
        |([parts, rounds, run], element_bytes)| Pack {
            parts,
            rounds,
            run,
            element_bytes,
        },
    )
}

pub fn unpack() -> impl Strategy<Value = Unpack> {
    pack().prop_map(|pack| Unpack {
        parts: pack.parts,
        rounds: pack.rounds,
        run: pack.run,
        element_bytes: pack.element_bytes,
    })
}

pub fn depth_space() -> impl Strategy<Value = DepthSpace> {
    (small_shape(3), 1_u32..=3, any::<bool>(), element_bytes()).prop_map(
        |(blocks, block, into_depth, element_bytes)| DepthSpace {
            blocks,
            block,
            direction: if into_depth {
                DepthDirection::SpaceToDepth
            } else {
                DepthDirection::DepthToSpace
            },
            element_bytes,
        },
    )
}

pub fn mirror_pad() -> impl Strategy<Value = MirrorPad> {
    let axis = (1_u32..=4, any::<[u32; 2]>());
    let axes = [axis.clone(), axis.clone(), axis.clone(), axis];
    (axes, any::<bool>(), element_bytes()).prop_map(|(axes, reflect, element_bytes)| {
        let padding = |(extent, any): (u32, [u32; 2]), side: usize| {
            any[side] % (extent - u32::from(reflect) + 1)
        };
        MirrorPad {
            input: axes.map(|axis| axis.0),
            before: axes.map(|axis| padding(axis, 0)),
            after: axes.map(|axis| padding(axis, 1)),
            reflect,
            element_bytes,
        }
    })
}

pub fn batch_space() -> impl Strategy<Value = BatchSpace> {
    // Padding before and after; what is after fills the last block.
    let axis = (1_u32..=6, 1_u32..=4, 0_u32..=5, 0_u32..=2);
    let outer = (1_u32..=3, 1_u32..=3, any::<bool>());
    ([axis.clone(), axis], outer, element_bytes()).prop_map(
        |(axes, (batches, depth, into_batch), element_bytes)| BatchSpace {
            image: [batches, axes[0].0, axes[1].0, depth],
            extents: axes
                .map(|(extent, block, before, blocks)| (before + extent).div_ceil(block) + blocks),
            block: axes.map(|axis| axis.1),
            before: axes.map(|axis| axis.2),
            direction: if into_batch {
                BatchDirection::SpaceToBatch
            } else {
                BatchDirection::BatchToSpace
            },
            element_bytes,
        },
    )
}

pub fn gather() -> impl Strategy<Value = Gather> {
    let extents = prop::collection::vec(1_u32..=3, 1..=3);
    let sizes = [1_u32..=3, 1_u32..=3, 1_u32..=4, 1_u32..=5];
    (extents, sizes, element_bytes()).prop_map(
        |(extents, [batches, outer, run, count], element_bytes)| Gather {
            batches,
            outer,
            extents,
            run,
            count,
            element_bytes,
        },
    )
}

pub fn update_slice() -> impl Strategy<Value = UpdateSlice> {
    let axes = prop::collection::vec((1_u32..=3, 1_u32..=3), 1..=6);
    (axes, element_bytes(), prop::sample::select(vec![4, 8])).prop_map(
        |(axes, element_bytes, begin_bytes)| UpdateSlice {
            input: axes.iter().map(|axis| axis.0.max(axis.1)).collect(),
            update: axes.iter().map(|axis| axis.1).collect(),
            element_bytes,
            begin_bytes,
        },
    )
}

fn broadcast_args() -> impl Strategy<Value = BroadcastArgs> {
    ([1_u32..=6, 1_u32..=6], prop::sample::select(vec![4, 8])).prop_map(|(axes, element_bytes)| {
        BroadcastArgs {
            axes,
            element_bytes,
        }
    })
}

/// Any of them.
pub fn moves() -> impl Strategy<Value = Operator> {
    let bilinear = (resize_nearest(), any::<bool>()).prop_map(|(nearest, float)| {
        Operator::ResizeBilinear(ResizeBilinear {
            input: nearest.input,
            output: nearest.output,
            align_corners: nearest.align_corners,
            half_pixel_centers: nearest.half_pixel_centers,
            interpolation: if float {
                Interpolation::Float
            } else {
                Interpolation::FixedPoint
            },
            element_bytes: nearest.element_bytes,
        })
    });
    let reshape = (1_u32..=40, element_bytes()).prop_map(|(elements, element_bytes)| {
        Operator::Reshape(Reshape {
            elements,
            element_bytes,
        })
    });
    prop_oneof![
        4 => concat().prop_map(Operator::Concat),
        3 => split().prop_map(Operator::Split),
        4 => pad().prop_map(Operator::Pad),
        1 => reshape,
        4 => transpose().prop_map(Operator::Transpose),
        4 => slice().prop_map(Operator::StridedSlice),
        4 => resize_nearest().prop_map(Operator::ResizeNearest),
        4 => bilinear,
        3 => pack().prop_map(Operator::Pack),
        3 => unpack().prop_map(Operator::Unpack),
        4 => depth_space().prop_map(Operator::DepthSpace),
        6 => batch_space().prop_map(Operator::BatchSpace),
        3 => gather().prop_map(Operator::Gather),
        2 => update_slice().prop_map(Operator::UpdateSlice),
        2 => broadcast_args().prop_map(Operator::BroadcastArgs),
        4 => mirror_pad().prop_map(Operator::MirrorPad),
    ]
}
