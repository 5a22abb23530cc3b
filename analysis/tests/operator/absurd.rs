//! Operators out of any numbers.

use super::first_pair::FirstPair;
use dmo_analysis::operator::{
    Accumulation, Apart, ApartBuffer, ArgExtreme, BatchDirection, BatchSpace, BatchedMatmul,
    BroadcastArgs, Concat, Conv2d, CumulativeSum, DepthDirection, DepthSpace, DepthwiseConv2d,
    Elementwise, ElementwiseBinary, ElementwiseInput, ElementwiseMany, FullyConnected, Gather,
    Interpolation, Lstm, Matmul, MatrixOperand, MirrorPad, Opaque, Operator, OuterBatches, Pack,
    Pad, Pool2d, Reduce, Reduction, Reshape, ResizeBilinear, ResizeNearest, Shape, ShapeOf,
    Softmax, SpatialMean, Split, Staged, StridedSlice, Svdf, Transpose, TransposeConv2d, Unpack,
    UpdateSlice, Window, Zeros,
};
use proptest::prelude::*;

fn matrix([transposed, shared]: [bool; 2]) -> MatrixOperand {
    MatrixOperand { transposed, shared }
}

/// Every operator, out of any numbers.
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn from_numbers(kind: u32, shapes: [Shape; 3], bytes: u32, flags: [bool; 4]) -> Operator {
    let [input, output, other] = shapes;
    let [batches, a, b, c] = input;
    let [input_element_bytes, output_element_bytes] = [1, bytes];
    let element_bytes = bytes;
    let apart = |elements| ApartBuffer {
        elements,
        element_bytes,
    };
    let window = Window {
        kernel: [other[0] % 70_000, other[1] % 70_000],
        stride: [other[2] % 70_000, other[3] % 70_000],
        dilation: [output[3] % 70_000, 1],
        padding_before: [input[3] % 70_000, 0],
    };
    match kind {
        0 => Operator::Conv2d(Conv2d {
            input,
            output,
            window,
            groups: other[0] % 3,
            element_bytes,
        }),
        1 => Operator::DepthwiseConv2d(DepthwiseConv2d {
            input,
            output,
            window,
            multiplier: other[0],
            element_bytes,
        }),
        2 => Operator::TransposeConv2d(TransposeConv2d {
            input,
            output,
            window,
            accumulation: if flags[0] {
                Accumulation::Scratch
            } else {
                Accumulation::Output
            },
            element_bytes,
        }),
        3 => Operator::Pool2d(Pool2d {
            input,
            output,
            window,
            element_bytes,
        }),
        4 => Operator::FullyConnected(FullyConnected {
            batches,
            input_depth: a,
            output_depth: b,
            element_bytes,
        }),
        5 => Operator::BatchedMatmul(BatchedMatmul {
            batches,
            rows: a,
            inner: b,
            columns: c,
            left: matrix([flags[0], flags[1]]),
            right: matrix([flags[2], flags[3]]),
            outer: [(flags[0], output[0]), (flags[3], output[1])].map(|(shared, extent)| {
                OuterBatches {
                    extent,
                    shared: [shared, flags[1]],
                }
            }),
            input_element_bytes,
            output_element_bytes,
        }),
        6 => Operator::Matmul(Matmul {
            rows: a,
            inner: b,
            columns: c,
            input_element_bytes,
            output_element_bytes,
        }),
        7 => Operator::Elementwise(Elementwise {
            elements: a,
            input_element_bytes,
            output_element_bytes,
        }),
        8 => Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [input, other],
            output,
            input_element_bytes: [1, bytes],
            output_element_bytes,
        }),
        9 => Operator::Softmax(Softmax {
            rows: a,
            depth: b,
            input_element_bytes,
            output_element_bytes,
        }),
        10 => Operator::Concat(Concat {
            inputs: shapes.to_vec(),
            axis: a % 6,
            element_bytes,
        }),
        11 => Operator::Split(Split {
            input,
            axis: a % 6,
            parts: output.to_vec(),
            element_bytes,
        }),
        12 => Operator::Pad(Pad {
            input,
            before: other,
            output,
            element_bytes,
        }),
        13 => Operator::Reshape(Reshape {
            elements: a,
            element_bytes,
        }),
        14 => Operator::Transpose(Transpose {
            input,
            permutation: other,
            element_bytes,
        }),
        15 => Operator::StridedSlice(StridedSlice {
            input,
            begin: other,
            stride: output.map(u32::cast_signed),
            output: other,
            in_runs: false,
            element_bytes,
        }),
        16 => Operator::ResizeNearest(ResizeNearest {
            input,
            output,
            align_corners: flags[0],
            half_pixel_centers: flags[1],
            element_bytes,
        }),
        17 => Operator::ResizeBilinear(ResizeBilinear {
            input,
            output,
            align_corners: flags[0],
            half_pixel_centers: flags[1],
            interpolation: if flags[2] {
                Interpolation::Float
            } else {
                Interpolation::FixedPoint
            },
            element_bytes,
        }),
        18 => Operator::SpatialMean(SpatialMean {
            input,
            input_element_bytes,
            output_element_bytes,
        }),
        19 => Operator::Reduce(Reduce {
            input,
            axes: flags,
            reduction: Reduction::Mean,
            input_element_bytes,
            output_element_bytes,
        }),
        20 => Operator::Svdf(Svdf {
            batches,
            input_depth: a,
            units: b,
            rank: c,
            input_element_bytes,
            output_element_bytes,
        }),
        21 => Operator::Lstm(Lstm {
            batches,
            times: a,
            input_depth: b,
            output_depth: c,
            time_major: flags[0],
            input_element_bytes,
            output_element_bytes,
        }),
        22 => Operator::ArgExtreme(ArgExtreme {
            before: batches,
            extent: a,
            after: b,
            input_element_bytes,
            output_element_bytes,
        }),
        23 => Operator::CumulativeSum(CumulativeSum {
            before: batches,
            extent: a,
            after: b,
            exclusive: flags[0],
            reverse: flags[1],
            element_bytes,
        }),
        24 => Operator::DepthSpace(DepthSpace {
            blocks: input,
            block: other[0],
            direction: if flags[0] {
                DepthDirection::SpaceToDepth
            } else {
                DepthDirection::DepthToSpace
            },
            element_bytes,
        }),
        25 => Operator::ElementwiseMany(ElementwiseMany {
            inputs: [input, other]
                .map(|shape| ElementwiseInput {
                    shape,
                    element_bytes,
                })
                .to_vec(),
            output,
            output_element_bytes,
        }),
        26 => Operator::MirrorPad(MirrorPad {
            input,
            before: other,
            after: output,
            reflect: flags[0],
            element_bytes,
        }),
        27 => Operator::Pack(Pack {
            parts: batches,
            rounds: a,
            run: b,
            element_bytes,
        }),
        28 => Operator::Unpack(Unpack {
            parts: batches,
            rounds: a,
            run: b,
            element_bytes,
        }),
        29 => Operator::Staged(Staged {
            rounds: batches,
            input_run: a,
            output_run: b,
            input_element_bytes,
            output_element_bytes,
            first_bytes: c,
        }),
        30 => Operator::BatchSpace(BatchSpace {
            image: input,
            extents: [output[1], output[2]],
            block: [other[0], other[1]],
            before: [other[2], other[3]],
            direction: if flags[0] {
                BatchDirection::SpaceToBatch
            } else {
                BatchDirection::BatchToSpace
            },
            element_bytes,
        }),
        31 => Operator::Gather(Gather {
            batches,
            outer: a,
            extents: other[..other[3] as usize % 5].to_vec(),
            run: b,
            count: c,
            element_bytes,
        }),
        32 => Operator::UpdateSlice(UpdateSlice {
            input: input.to_vec(),
            update: other[..other[3] as usize % 5].to_vec(),
            element_bytes,
            begin_bytes: output_element_bytes,
        }),
        33 => Operator::BroadcastArgs(BroadcastArgs {
            axes: [a, b],
            element_bytes,
        }),
        34 => Operator::ShapeOf(ShapeOf {
            extents: other[..other[3] as usize % 5].to_vec(),
        }),
        35 => Operator::Zeros(Zeros {
            elements: a,
            element_bytes,
        }),
        36 => Operator::Apart(Apart {
            inputs: input.map(apart).to_vec(),
            outputs: output.map(apart).to_vec(),
        }),
        _ => Operator::Opaque(Opaque {
            inputs: input.to_vec(),
            outputs: output.to_vec(),
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the numbers, an answer or an error, within the buffers.
    #[test]
    fn absurd_shapes_do_not_panic(
        kind in 0_u32..38,
        shapes: [Shape; 3],
        shifts: [[u8; 4]; 3],
        alike: [bool; 4],
        bytes in prop::sample::select(vec![0, 1, 2, 3, 4, 8, u32::MAX]),
        flags: [bool; 4],
    ) {
        let mut shapes: [Shape; 3] = std::array::from_fn(|shape| {
            std::array::from_fn(|axis| shapes[shape][axis] >> (shifts[shape][axis] % 32))
        });
        for axis in (0..4).filter(|&axis| alike[axis]) {
            shapes[1][axis] = shapes[0][axis];
            shapes[2][axis] = shapes[0][axis] / 2;
        }
        let operator = from_numbers(kind, shapes, bytes, flags);
        if let Ok(overlaps) = operator.overlaps() {
            let buffers = operator.buffers().unwrap();
            prop_assert_eq!(overlaps.len(), buffers.inputs.len() * buffers.outputs.len());
            for pair in overlaps {
                prop_assert!(pair.bytes <= buffers.inputs[pair.input].size_bytes());
                prop_assert!(pair.bytes <= buffers.outputs[pair.output].size_bytes());
                prop_assert!(pair.published_bytes.is_none_or(f64::is_finite));
            }
            if !buffers.inputs.is_empty() {
                let first = operator.overlap(0, 0).unwrap();
                prop_assert_eq!(operator.safe_overlap(), Ok(first.bytes));
            }
        }
    }
}
