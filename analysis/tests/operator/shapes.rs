//! Operators of all sorts with small shapes, for the property tests.

use crate::move_shapes;
use dmo_analysis::operator::{
    Accumulation, ArgExtreme, BatchedMatmul, Conv2d, CumulativeSum, DepthwiseConv2d,
    DepthwiseInPlace, Elementwise, ElementwiseBinary, ElementwiseInput, ElementwiseMany,
    FullyConnected, Lstm, Matmul, MatrixOperand, Opaque, Operator, OuterBatches, Pool2d, Reduce,
    Reduction, Shape, Softmax, SpatialMean, Staged, Svdf, TransposeConv2d, Window,
};
use proptest::prelude::*;

pub fn extents(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = [u32; 2]> {
    [range.clone(), range]
}

/// Windows of all sorts, also such as no model has: outputs beyond the input, paddings
/// larger than the kernel.
fn window() -> impl Strategy<Value = Window> {
    let dilation = prop_oneof![3 => Just([1, 1]), 1 => extents(1..=4)];
    (extents(1..=4), extents(1..=4), dilation, extents(0..=5)).prop_map(
        |(kernel, stride, dilation, padding_before)| Window {
            kernel,
            stride,
            dilation,
            padding_before,
        },
    )
}

/// Batches, height and width of the input, height and width of the output.
fn pixels() -> impl Strategy<Value = (u32, [u32; 2], [u32; 2])> {
    (1_u32..=3, extents(1..=6), extents(1..=6))
}

pub fn element_bytes() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1, 2, 4, 8])
}

pub fn shape(batches: u32, [height, width]: [u32; 2], depth: u32) -> Shape {
    [batches, height, width, depth]
}

pub fn small_shape(most: u32) -> impl Strategy<Value = Shape> {
    [1..=most, 1..=most, 1..=most, 1..=most]
}

fn convolutions() -> impl Strategy<Value = Operator> {
    let conv = (
        pixels(),
        window(),
        extents(1..=3),
        1_u32..=3,
        element_bytes(),
    )
        .prop_map(
            |((batches, input, output), window, [inputs, outputs], groups, element_bytes)| {
                Operator::Conv2d(Conv2d {
                    input: shape(batches, input, groups * inputs),
                    output: shape(batches, output, groups * outputs),
                    window,
                    groups,
                    element_bytes,
                })
            },
        );
    let depthwise = (pixels(), window(), 1_u32..=4, 1_u32..=3, element_bytes()).prop_map(
        |((batches, input, output), window, depth, multiplier, element_bytes)| {
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: shape(batches, input, depth),
                output: shape(batches, output, depth * multiplier),
                window,
                multiplier,
                element_bytes,
            })
        },
    );
    let in_place = (pixels(), window(), 1_u32..=4, element_bytes()).prop_map(
        |((batches, input, output), window, depth, element_bytes)| {
            Operator::DepthwiseInPlace(DepthwiseInPlace {
                input: shape(batches, input, depth),
                output: shape(batches, output, depth),
                window,
                element_bytes,
            })
        },
    );
    let transposed = (
        pixels(),
        window(),
        extents(1..=3),
        any::<bool>(),
        element_bytes(),
    )
        .prop_map(
            |((batches, input, output), window, [inputs, outputs], scratch, element_bytes)| {
                Operator::TransposeConv2d(TransposeConv2d {
                    input: shape(batches, input, inputs),
                    output: shape(batches, output, outputs),
                    window,
                    accumulation: if scratch {
                        Accumulation::Scratch
                    } else {
                        Accumulation::Output
                    },
                    element_bytes,
                })
            },
        );
    let pool = (pixels(), window(), 1_u32..=4, element_bytes()).prop_map(
        |((batches, input, output), window, depth, element_bytes)| {
            Operator::Pool2d(Pool2d {
                input: shape(batches, input, depth),
                output: shape(batches, output, depth),
                window,
                element_bytes,
            })
        },
    );
    prop_oneof![8 => conv, 6 => depthwise, 2 => in_place, 1 => transposed, 4 => pool]
}

fn products() -> impl Strategy<Value = Operator> {
    let fully_connected = (1_u32..=5, extents(1..=9), element_bytes()).prop_map(
        |(batches, [input_depth, output_depth], element_bytes)| {
            Operator::FullyConnected(FullyConnected {
                batches,
                input_depth,
                output_depth,
                element_bytes,
            })
        },
    );
    let size = || {
        (
            [1_u32..=4, 1_u32..=4, 1_u32..=4],
            [(); 2].map(|()| element_bytes()),
        )
    };
    let matrix =
        || any::<[bool; 2]>().prop_map(|[transposed, shared]| MatrixOperand { transposed, shared });
    let outer = || {
        // Mostly one.
        let extent = prop_oneof![2 => Just(1_u32), 1 => 2_u32..=3];
        (extent, any::<[bool; 2]>()).prop_map(|(extent, shared)| OuterBatches { extent, shared })
    };
    let batched = (1_u32..=3, size(), [matrix(), matrix()], [outer(), outer()]).prop_map(
        |(
            batches,
            (extents, [input_element_bytes, output_element_bytes]),
            [left, right],
            outer,
        )| {
            let [rows, inner, columns] = extents;
            Operator::BatchedMatmul(BatchedMatmul {
                batches,
                rows,
                inner,
                columns,
                left,
                right,
                outer,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let matmul = size().prop_map(
        |([rows, inner, columns], [input_element_bytes, output_element_bytes])| {
            Operator::Matmul(Matmul {
                rows,
                inner,
                columns,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    prop_oneof![3 => fully_connected, 3 => batched, 1 => matmul]
}

fn elementwise() -> impl Strategy<Value = Operator> {
    let unary = (1_u32..=40, element_bytes(), element_bytes()).prop_map(
        |(elements, input_element_bytes, output_element_bytes)| {
            Operator::Elementwise(Elementwise {
                elements,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let binary = (
        small_shape(4),
        any::<[[bool; 4]; 2]>(),
        [element_bytes(), element_bytes()],
        element_bytes(),
    )
        .prop_map(
            |(output, broadcast, input_element_bytes, output_element_bytes)| {
                let input = |axes: [bool; 4]| {
                    std::array::from_fn(|axis| if axes[axis] { 1 } else { output[axis] })
                };
                Operator::ElementwiseBinary(ElementwiseBinary {
                    inputs: broadcast.map(input),
                    output,
                    input_element_bytes,
                    output_element_bytes,
                })
            },
        );
    let softmax = (extents(1..=9), element_bytes(), element_bytes()).prop_map(
        |([rows, depth], input_element_bytes, output_element_bytes)| {
            Operator::Softmax(Softmax {
                rows,
                depth,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let input = (any::<[bool; 4]>(), element_bytes());
    let many = (
        small_shape(3),
        prop::collection::vec(input, 1..=4),
        element_bytes(),
    )
        .prop_map(|(output, inputs, output_element_bytes)| {
            let input = |(one, element_bytes): ([bool; 4], u32)| ElementwiseInput {
                shape: std::array::from_fn(|axis| if one[axis] { 1 } else { output[axis] }),
                element_bytes,
            };
            Operator::ElementwiseMany(ElementwiseMany {
                inputs: inputs.into_iter().map(input).collect(),
                output,
                output_element_bytes,
            })
        });
    prop_oneof![1 => unary, 4 => binary, 1 => softmax, 3 => many]
}

fn along_an_axis() -> impl Strategy<Value = Operator> {
    let axes = || [1_u32..=4, 1_u32..=4, 1_u32..=4];
    let cumulative = (axes(), any::<[bool; 2]>(), element_bytes()).prop_map(
        |([before, extent, after], [exclusive, reverse], element_bytes)| {
            Operator::CumulativeSum(CumulativeSum {
                before,
                extent,
                after,
                exclusive,
                reverse,
                element_bytes,
            })
        },
    );
    let bytes = || [element_bytes(), element_bytes()];
    let extreme = (axes(), bytes()).prop_map(
        |([before, extent, after], [input_element_bytes, output_element_bytes])| {
            Operator::ArgExtreme(ArgExtreme {
                before,
                extent,
                after,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let staged = (axes(), bytes(), prop::sample::select(vec![0, 1, 4])).prop_map(
        |(
            [rounds, input_run, output_run],
            [input_element_bytes, output_element_bytes],
            first_bytes,
        )| {
            Operator::Staged(Staged {
                rounds,
                input_run,
                output_run,
                input_element_bytes,
                output_element_bytes,
                first_bytes,
            })
        },
    );
    prop_oneof![cumulative, extreme, staged]
}

fn reductions_and_sequences() -> impl Strategy<Value = Operator> {
    let mean = (small_shape(4), element_bytes(), element_bytes()).prop_map(
        |(input, input_element_bytes, output_element_bytes)| {
            Operator::SpatialMean(SpatialMean {
                input,
                input_element_bytes,
                output_element_bytes,
            })
        },
    );
    let reduce = (
        small_shape(4),
        any::<[bool; 4]>(),
        prop::sample::select(vec![Reduction::Fold, Reduction::Mean, Reduction::Scratch]),
        element_bytes(),
        element_bytes(),
    )
        .prop_map(
            |(input, axes, reduction, input_element_bytes, output_element_bytes)| {
                Operator::Reduce(Reduce {
                    input,
                    axes,
                    reduction,
                    input_element_bytes,
                    output_element_bytes,
                })
            },
        );
    let svdf = (
        extents(1..=5),
        extents(1..=4),
        element_bytes(),
        element_bytes(),
    )
        .prop_map(
            |([units, input_depth], [batches, rank], input_element_bytes, output_element_bytes)| {
                Operator::Svdf(Svdf {
                    batches,
                    input_depth,
                    units,
                    rank,
                    input_element_bytes,
                    output_element_bytes,
                })
            },
        );
    let lstm = (
        extents(1..=5),
        extents(1..=4),
        any::<bool>(),
        element_bytes(),
        element_bytes(),
    )
        .prop_map(
            |(
                [input_depth, output_depth],
                [batches, times],
                time_major,
                input_element_bytes,
                output_element_bytes,
            )| {
                Operator::Lstm(Lstm {
                    batches,
                    times,
                    input_depth,
                    output_depth,
                    time_major,
                    input_element_bytes,
                    output_element_bytes,
                })
            },
        );
    let sizes = || prop::collection::vec(1_u32..=9, 1..=3);
    let opaque = (sizes(), sizes())
        .prop_map(|(inputs, outputs)| Operator::Opaque(Opaque { inputs, outputs }));
    prop_oneof![2 => mean, 1 => reduce, 1 => svdf, 2 => lstm, 1 => opaque]
}

/// Any operator with a small shape.
pub fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![
        5 => convolutions(),
        1 => products(),
        2 => elementwise(),
        4 => move_shapes::moves(),
        1 => reductions_and_sequences(),
        1 => along_an_axis(),
    ]
}
