//! The published formulas, and the numbers of `docs/errata.md`.

use super::first_pair::FirstPair;
use crate::{conv, depthwise, tflite_window};
use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, Elementwise, Matmul, Operator, Pool2d, Shape, Window,
};
use dmo_analysis::trace::AccessKind;
use proptest::prelude::*;

/// A layer, what (11) gives, and what is exact.
fn assert_published(operator: &Operator, published: f64, exact: u32, is_unsafe: bool) {
    let pair = operator.overlap(0, 0).unwrap();
    assert_eq!(pair.published_bytes, Some(published), "{operator:?}");
    assert_eq!(operator.published(), Ok(Some(published)));
    assert_eq!(pair.bytes, exact, "{operator:?}");
    assert_eq!(pair.published_is_unsafe, is_unsafe, "{operator:?}");
    assert_eq!(operator.published_is_unsafe(), Ok(is_unsafe));
    if operator.buffer_bytes().unwrap().0 < 2_000_000 {
        assert_eq!(operator.traced_overlap(), Ok(exact));
    }
}

fn pool(input: Shape, output: Shape, kernel: [u32; 2], stride: [u32; 2]) -> Operator {
    Operator::Pool2d(Pool2d {
        input,
        output,
        window: tflite_window(input, output, kernel, stride, [1, 1]),
        element_bytes: 1,
    })
}

fn conv_strided(input: Shape, output: Shape, stride: [u32; 2]) -> Operator {
    Operator::Conv2d(Conv2d {
        input,
        output,
        window: tflite_window(input, output, [1, 1], stride, [1, 1]),
        groups: 1,
        element_bytes: 1,
    })
}

/// Tables I and II.
#[test]
fn tables() {
    // MobileNet v2: the operator of Table I, in the row of MobileNet v1.
    let second_depthwise = depthwise([1, 112, 112, 96], [1, 56, 56, 96], 2, 4);
    assert_published(&second_depthwise, 1_193_376.0, 1_204_224, false);
    // Inception ResNet v2.
    let inception = conv([1, 147, 147, 32], [1, 147, 147, 64], 3, 1, 4);
    assert_published(&inception, 2_746_884.0, 2_746_884, false);
    // MobileNet v1: the convolution that decides its peak.
    let largest = conv([1, 112, 112, 32], [1, 112, 112, 64], 1, 1, 4);
    assert_published(&largest, 1_605_508.0, 1_605_508, false);
    assert_eq!(largest.buffer_bytes(), Ok((1_605_632, 3_211_264)));
    // The row '1605632 / 1598400': savings of the whole model. 'Exact' is what the
    // peaks of Table III differ by; 'estimate' is less by what the formula loses on the
    // depthwise convolution that follows.
    assert_eq!((4704 - 3136) * 1024, 1_605_632);
    let follower = depthwise([1, 112, 112, 64], [1, 56, 56, 64], 2, 4);
    assert_published(&follower, 795_584.0, 802_816, false);
    assert_eq!(1_605_632 - (802_816 - 795_584), 1_598_400);
    // The error column is relative to the original peaks: 5880 and 4704 KB.
    let percent = |loss: f64, whole: f64| (loss / whole * 10_000.0).round() / 100.0;
    assert_eq!(percent(10_848.0, 5880.0 * 1024.0), 0.18);
    assert_eq!(percent(7232.0, 4704.0 * 1024.0), 0.15);
    // Not to O_s, and not to the optimised peak.
    assert_eq!(percent(10_848.0, 1_204_224.0), 0.9);
    assert_eq!(percent(10_848.0, 4704.0 * 1024.0), 0.23);
}

/// (5), (6): no clamp at 0.
#[test]
fn padding_below_zero() {
    let shortcut = conv([1, 32, 32, 16], [1, 16, 16, 32], 1, 2, 1);
    assert_published(&shortcut, 8184.5, 8161, true);
    // VALID, 8 = 3 + 2*2 + 1: one row and one column are left over.
    let left_over = conv([1, 8, 8, 8], [1, 3, 3, 16], 3, 2, 1);
    assert_published(&left_over, 135.375, 129, true);
}

/// (11): no batches, not kept within the buffers.
#[test]
fn batches_and_bounds() {
    // 3x3, stride 2, SAME, 7x7 to 4x4: the rows of a batch end within a stride.
    let one = conv([1, 7, 7, 8], [1, 4, 4, 32], 3, 2, 1);
    assert_published(&one, 321.0, 321, false);
    let two = conv([2, 7, 7, 8], [2, 4, 4, 32], 3, 2, 1);
    assert_published(&two, 769.0, 713, true);
    let negative = conv([1, 1, 1, 1], [1, 1, 1, 16], 3, 1, 1);
    assert_published(&negative, -16.0, 1, false);
}

/// (3), (8): strides exchanged.
#[test]
fn wide_strides() {
    let wide = conv_strided([1, 4, 10, 8], [1, 4, 4, 16], [1, 3]);
    assert_published(&wide, 250.4, 241, true);
}

/// (15): the form of a convolution, which loads all channels for each output.
#[test]
fn pooling() {
    let pool = pool([1, 8, 8, 16], [1, 4, 4, 16], [2, 2], [2, 2]);
    assert_published(&pool, 216.25, 256, false);
    // With b as in (8), and a = 2*8/4 = 4.
    let b = (4.0 * 2.0 - 2.0 * 8.0 - 2.0 + 1.0) * 16.0;
    assert_eq!(256.0 + b / 4.0, 220.0);
}

/// (2), (3): the last step of output row 0, and what it loads.
#[test]
fn end_of_a_row() {
    let steps_and_loads = |operator: &Operator, column_elements: u32| {
        let (mut loads, mut found) = (Vec::new(), None);
        operator
            .accesses(|kind, _, element| match kind {
                AccessKind::Load => loads.push(element),
                AccessKind::Store => {
                    if element + 1 == column_elements {
                        found = Some((element, loads.clone()));
                    }
                    loads.clear();
                }
            })
            .unwrap();
        found.unwrap()
    };
    let depthwise = |input, output, stride, multiplier| {
        Operator::DepthwiseConv2d(DepthwiseConv2d {
            input,
            output,
            window: Window {
                stride,
                ..Window::default()
            },
            multiplier,
            element_bytes: 1,
        })
    };
    // O_w = 4, O_d = 6 = 2 * K_c.
    let multiplied = depthwise([1, 2, 4, 2], [1, 2, 4, 6], [1, 1], 3);
    assert_eq!(steps_and_loads(&multiplied, 4 * 6).0, 23);
    let printed = 4 * 6 * 3 - 1;
    assert_eq!(printed, 71);
    // S_h = 2, S_w = 1, with N = 1 for the first row.
    let strided = depthwise([1, 6, 4, 1], [1, 3, 4, 1], [2, 1], 1);
    assert_eq!(steps_and_loads(&strided, 4), (3, vec![3]));
    let (stride_h, stride_w, input_width) = (2, 1, 4);
    let printed = stride_w * input_width + (4 - 1) * stride_h;
    assert_eq!(printed, 10);
}

/// Algorithm 2 without the element size.
#[test]
fn element_size() {
    let largest = conv([1, 112, 112, 32], [1, 112, 112, 64], 1, 1, 4);
    let (input_bytes, output_bytes) = largest.buffer_bytes().unwrap();
    let displacement = largest.displacement().unwrap().unwrap();
    assert_eq!(displacement / 4, 401_439);
    assert_eq!(output_bytes - displacement / 4, 2_809_825);
    assert!(output_bytes - displacement / 4 > input_bytes);
}

/// Algorithm 2 to the letter, with its reverse pass done as meant: in elements, for the
/// first input.
fn literal_overlap(operator: &Operator) -> i64 {
    let (mut steps, mut least_load, mut highest_store) = (Vec::new(), i64::MAX, 0);
    operator
        .accesses(|kind, buffer, element| match (kind, buffer) {
            (AccessKind::Load, 0) => least_load = least_load.min(element.into()),
            (AccessKind::Load, _) => {}
            (AccessKind::Store, _) => {
                highest_store = highest_store.max(element.into());
                steps.push((std::mem::replace(&mut least_load, i64::MAX), highest_store));
            }
        })
        .unwrap();
    let (mut least_load, mut least_difference) = (i64::MAX, 0);
    for (load, store) in steps.into_iter().rev() {
        least_load = least_load.min(load);
        if least_load < i64::MAX {
            least_difference = least_difference.min(least_load - store);
        }
    }
    operator.buffers().unwrap().outputs[0]
        .shape
        .map(i64::from)
        .iter()
        .product::<i64>()
        + least_difference
}

#[test]
fn a_step_that_stores_nothing_new() {
    let product = Operator::Matmul(Matmul {
        rows: 2,
        inner: 2,
        columns: 2,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    assert_eq!(literal_overlap(&product), 1);
    assert_eq!(product.traced_overlap(), Ok(0));
    // Where each step stores a new element, it is right.
    for right in [
        conv([1, 4, 4, 2], [1, 4, 4, 3], 3, 1, 1),
        depthwise([1, 4, 4, 2], [1, 2, 2, 4], 2, 1),
        Operator::Elementwise(Elementwise {
            elements: 4,
            input_element_bytes: 1,
            output_element_bytes: 1,
        }),
    ] {
        assert_eq!(
            literal_overlap(&right),
            i64::from(right.traced_overlap().unwrap())
        );
    }
}

/// III-F: a kernel of the same operator that walks its channels outside.
#[test]
fn other_loops() {
    let (pixels, inputs, outputs) = (64 * 64_u32, 8, 16);
    let reference = conv([1, 64, 64, inputs], [1, 64, 64, outputs], 1, 1, 1);
    assert_eq!(reference.safe_overlap(), Ok(32_761));
    let (mut end, mut displacement) = (0, 0);
    for oc in 0..outputs {
        for pixel in 0..pixels {
            displacement = displacement.max(u32::saturating_sub(end, pixel * inputs));
            end = end.max(pixel * outputs + oc + 1);
        }
    }
    assert_eq!(pixels * outputs - displacement, 1);
}

/// II-A: splitting the second and third operator of MobileNet v1 0.25 128 in four.
#[test]
fn splitting() {
    let (width, depth, quarter) = (64, 16, 32 / 4);
    let rows = (quarter - 1) * 2 + 3;
    assert_eq!(rows, 17);
    // Each of the first three quarters ends with the row that the next begins with.
    assert_eq!(3 * width * depth, 3072);
    assert_eq!(32 + 16 + rows * width * depth / 1024, 65);
}

/// With one batch, paddings that (5) and (6) get right and no horizontal stride beyond
/// the vertical, the printed formula is a lower bound.
fn printed_assumptions() -> impl Strategy<Value = Operator> {
    // Input, output, kernel, stride.
    let axis = (1_u32..=12, 1_u32..=4, 1_u32..=4, any::<bool>()).prop_filter_map(
        "the taps reach the input's end",
        |(input, kernel, stride, same)| {
            let output = if same {
                input.div_ceil(stride)
            } else {
                input.checked_sub(kernel)? / stride + 1
            };
            let reach = (output - 1) * stride + kernel;
            (reach >= input).then_some([input, output, kernel, stride])
        },
    );
    let kind = (0_u32..3, 1_u32..=4, 1_u32..=4);
    (axis.clone(), axis, kind)
        .prop_filter("strides", |(h, w, _)| w[3] <= h[3])
        .prop_map(|(h, w, (kind, depth, outputs))| {
            let input = [1, h[0], w[0], depth];
            let output = |depth| [1, h[1], w[1], depth];
            let window = |output| tflite_window(input, output, [h[2], w[2]], [h[3], w[3]], [1, 1]);
            let element_bytes = 1;
            match kind {
                0 => Operator::Pool2d(Pool2d {
                    input,
                    output: output(depth),
                    window: window(output(depth)),
                    element_bytes,
                }),
                1 => Operator::DepthwiseConv2d(DepthwiseConv2d {
                    input,
                    output: output(depth * outputs),
                    window: window(output(depth)),
                    multiplier: outputs,
                    element_bytes,
                }),
                _ => Operator::Conv2d(Conv2d {
                    input,
                    output: output(outputs),
                    window: window(output(outputs)),
                    groups: 1,
                    element_bytes,
                }),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lower_bound_where_its_assumptions_hold(operator in printed_assumptions()) {
        prop_assert!(!operator.published_is_unsafe().unwrap(), "{:?}", operator.overlap(0, 0));
    }
}
