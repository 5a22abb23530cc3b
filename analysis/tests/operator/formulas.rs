//! The closed forms against the accesses one by one.

use super::first_pair::FirstPair;
use crate::shapes::operator;
use dmo_analysis::operator::{
    BatchedMatmul, Concat, Conv2d, ElementwiseBinary, FullyConnected, Interpolation, Lstm,
    MatrixOperand, Method, Operator, OuterBatches, Pad, ResizeBilinear, ResizeNearest, Shape,
    SpatialMean, StridedSlice, Traffic, Transpose, Window,
};
use dmo_analysis::profile::overlap::{Access, Sweep, overlap_bytes};
use dmo_analysis::trace::{AccessKind, Address};
use proptest::prelude::*;

/// All pairs, by formula and by accesses.
fn assert_formula_equals_accesses(operator: &Operator) {
    let traced = operator.traced_overlaps().unwrap();
    let displacements = operator.traced_displacements().unwrap();
    assert_eq!(traced.len(), displacements.len());
    for (traced, displacement) in traced.into_iter().zip(displacements) {
        let (input, output) = (traced.input, traced.output);
        assert_eq!(traced.method, Method::Algorithmic);
        assert_eq!(
            operator.displacement_of(input, output),
            Ok(displacement),
            "{operator:?}, input {input}, output {output}"
        );
        let closed = operator.overlap(input, output).unwrap();
        assert_eq!(closed.bytes, traced.bytes, "{operator:?}");
        match operator {
            Operator::Opaque(_) => {
                assert_eq!((closed.method, closed.bytes), (Method::Unknown, 0));
            }
            _ => assert_eq!(closed.method, Method::Closed),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formula_equals_accesses(operator in operator()) {
        assert_formula_equals_accesses(&operator);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is counted by formula is what the loops do.
    #[test]
    fn traffic_is_the_number_of_accesses(operator in operator()) {
        let buffers = operator.buffers().unwrap();
        let mut loads = vec![0_u64; buffers.inputs.len()];
        let mut stores = vec![0_u64; buffers.outputs.len()];
        operator.accesses(|kind, index, _| match kind {
            AccessKind::Load => loads[index] += 1,
            AccessKind::Store => stores[index] += 1,
        }).unwrap();
        prop_assert_eq!(operator.traffic(), Ok(Traffic { loads, stores }));
    }

    /// The accesses through the sweep that traces go through, and within their buffers.
    #[test]
    fn formula_equals_sweep(operator in operator()) {
        let buffers = operator.buffers().unwrap();
        for pair in operator.overlaps().unwrap() {
            let (mut sweep, mut time, mut loads) = (Sweep::default(), 0, 0);
            operator.accesses(|kind, index, element| {
                let (buffer, watched) = match kind {
                    AccessKind::Load => (buffers.inputs[index], index == pair.input),
                    AccessKind::Store => (buffers.outputs[index], index == pair.output),
                };
                let size_bytes = buffer.element_bytes;
                let offset = element * size_bytes;
                assert!(offset + size_bytes <= buffer.size_bytes());
                time += 1;
                let access = Access { pc: Address(0), time, offset, size_bytes };
                match kind {
                    AccessKind::Load if watched => {
                        loads += 1;
                        sweep.load(access);
                    }
                    AccessKind::Store if watched => sweep.store(access),
                    _ => {}
                }
            }).unwrap();
            let swept = overlap_bytes(
                sweep.displacement(),
                buffers.inputs[pair.input].size_bytes(),
                buffers.outputs[pair.output].size_bytes(),
            );
            prop_assert_eq!(pair.bytes, if loads == 0 { 0 } else { swept });
        }
    }
}

/// Numbers below the bases, least significant first.
fn counted<const N: usize>(bases: [u32; N]) -> impl Iterator<Item = [u32; N]> {
    (0..bases.iter().product()).map(move |mut number| {
        bases.map(|base| {
            let digit = number % base;
            number /= base;
            digit
        })
    })
}

/// Every window on one axis with all small extents: what the formula for one axis
/// turns on.
#[test]
fn all_small_windows_on_one_axis() {
    let mut shapes = 0;
    for [input, output, kernel, stride, dilation, padding, depths] in counted([5, 5, 4, 4, 3, 5, 4])
    {
        let (inputs, outputs) = [(1, 1), (2, 1), (1, 2), (3, 2)][depths as usize];
        assert_formula_equals_accesses(&Operator::Conv2d(Conv2d {
            input: [1, input + 1, 1, inputs],
            output: [1, output + 1, 1, outputs],
            window: Window {
                kernel: [kernel + 1, 1],
                stride: [stride + 1, 1],
                dilation: [dilation + 1, 1],
                padding_before: [padding, 0],
            },
            groups: 1,
            element_bytes: 1,
        }));
        shapes += 1;
    }
    assert_eq!(shapes, 24_000);
}

/// Every shape of three extents of 1 and 2 and a fourth up to 3.
fn small_shapes() -> impl Iterator<Item = Shape> {
    counted([2, 2, 2, 3]).map(|shape| shape.map(|extent| extent + 1))
}

#[test]
fn all_small_moves() {
    for input in small_shapes() {
        for permutation in counted([4; 4]) {
            if (0..4).all(|axis| permutation.contains(&axis)) {
                assert_formula_equals_accesses(&Operator::Transpose(Transpose {
                    input,
                    permutation,
                    element_bytes: 1,
                }));
            }
        }
        for before in counted([2; 4]) {
            for after in counted([2; 4]) {
                assert_formula_equals_accesses(&Operator::Pad(Pad {
                    input,
                    before,
                    output: std::array::from_fn(|k| before[k] + input[k] + after[k]),
                    element_bytes: 1,
                }));
            }
        }
        for axis in 0..4_u32 {
            for [first, second] in counted([3, 3]) {
                let part = |extent| {
                    let mut shape = input;
                    shape[axis as usize] = extent + 1;
                    shape
                };
                assert_formula_equals_accesses(&Operator::Concat(Concat {
                    inputs: vec![part(first), part(second), part(0)],
                    axis,
                    element_bytes: 1,
                }));
            }
        }
        for broadcast in counted([2; 4]) {
            let operand = std::array::from_fn(|k| if broadcast[k] == 0 { 1 } else { input[k] });
            for output_element_bytes in [1, 2] {
                assert_formula_equals_accesses(&Operator::ElementwiseBinary(ElementwiseBinary {
                    inputs: [operand, input],
                    output: input,
                    input_element_bytes: [1, 2],
                    output_element_bytes,
                }));
            }
        }
    }
}

#[test]
fn all_small_slices() {
    // Two axes at a time: begin, stride and extent of each.
    for [begin1, stride1, extent1, begin2, stride2, extent2] in counted([4, 7, 4, 4, 7, 4]) {
        let stride = [stride1 as i32 - 3, stride2 as i32 - 3];
        let operator = Operator::StridedSlice(StridedSlice {
            input: [1, 4, 1, 4],
            begin: [0, begin1, 0, begin2],
            stride: [1, stride[0], 1, stride[1]],
            output: [1, extent1 + 1, 1, extent2 + 1],
            in_runs: false,
            element_bytes: 1,
        });
        // Those that leave the input are refused.
        if operator.buffers().is_ok() {
            assert_formula_equals_accesses(&operator);
        }
    }
}

#[test]
fn all_small_resizes() {
    for [input, output, other, flags] in counted([12, 12, 3, 4]) {
        let (input, output) = ([1, input + 1, other + 1, 1], [1, output + 1, 2, 1]);
        let (align_corners, half_pixel_centers) = (flags % 2 == 1, flags / 2 == 1);
        assert_formula_equals_accesses(&Operator::ResizeNearest(ResizeNearest {
            input,
            output,
            align_corners,
            half_pixel_centers,
            element_bytes: 1,
        }));
        for interpolation in [Interpolation::Float, Interpolation::FixedPoint] {
            assert_formula_equals_accesses(&Operator::ResizeBilinear(ResizeBilinear {
                input,
                output,
                align_corners,
                half_pixel_centers,
                interpolation,
                element_bytes: 1,
            }));
        }
    }
}

#[test]
fn all_small_products_and_sequences() {
    for [batches, rows, inner, columns, wide] in counted([3, 4, 4, 4, 2]) {
        let [batches, rows, inner, columns] = [batches, rows, inner, columns].map(|n| n + 1);
        let output_element_bytes = 1 + 3 * wide;
        for [a, b, c, d] in counted([2; 4]) {
            let [left, right] = [[a, b], [c, d]].map(|[transposed, shared]| MatrixOperand {
                transposed: transposed == 1,
                shared: shared == 1,
            });
            assert_formula_equals_accesses(&Operator::BatchedMatmul(BatchedMatmul {
                batches,
                rows,
                inner,
                columns,
                left,
                right,
                outer: [OuterBatches::default(); 2],
                input_element_bytes: 1,
                output_element_bytes,
            }));
        }
        assert_formula_equals_accesses(&Operator::FullyConnected(FullyConnected {
            batches,
            input_depth: inner,
            output_depth: columns,
            element_bytes: 2,
        }));
        assert_formula_equals_accesses(&Operator::SpatialMean(SpatialMean {
            input: [batches, rows, inner, columns],
            input_element_bytes: 1,
            output_element_bytes,
        }));
        for time_major in [false, true] {
            assert_formula_equals_accesses(&Operator::Lstm(Lstm {
                batches,
                times: rows,
                input_depth: inner,
                output_depth: columns,
                time_major,
                input_element_bytes: 1,
                output_element_bytes,
            }));
        }
    }
}

#[test]
fn no_valid_tap_is_no_overlap() {
    // Two taps four apart around a map of one element: both miss it.
    let operator = Operator::Pool2d(dmo_analysis::operator::Pool2d {
        input: [1, 1, 1, 1],
        output: [1, 1, 1, 1],
        window: Window {
            kernel: [2, 1],
            dilation: [4, 1],
            padding_before: [2, 0],
            ..Window::default()
        },
        element_bytes: 1,
    });
    assert_eq!(operator.displacement(), Ok(None));
    assert_eq!(operator.safe_overlap(), Ok(0));
    assert_eq!(operator.traced_overlap(), Ok(0));
}
