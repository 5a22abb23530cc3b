//! What O_s costs: by formula, and from the accesses one by one.
//!
//! `cargo bench -p dmo-analysis --bench operator`. Aims: below a microsecond per layer by
//! formula, and above 100 million accesses per second without. Wrong answers fail.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may fail loudly")]

use divan::Bencher;
use divan::counter::ItemsCount;
use dmo_analysis::operator::{
    BatchedMatmul, Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary, Interpolation,
    MatrixOperand, Operator, Pad, Pool2d, ResizeBilinear, ResizeNearest, Transpose, Window,
};

fn main() {
    divan::main();
}

/// Name, layer, and O_s of each pair in bytes.
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn layers() -> Vec<(&'static str, Operator, Vec<u32>)> {
    let window = |kernel, stride, dilation, padding| Window {
        kernel: [kernel; 2],
        stride: [stride; 2],
        dilation: [dilation; 2],
        padding_before: [padding; 2],
    };
    let conv = |input, output, window, element_bytes| {
        Operator::Conv2d(Conv2d {
            input,
            output,
            window,
            groups: 1,
            element_bytes,
        })
    };
    vec![
        (
            "conv2d",
            conv([1, 32, 32, 16], [1, 32, 32, 32], window(3, 1, 1, 1), 1),
            vec![15_841],
        ),
        (
            "conv2d_dilated",
            conv([1, 65, 65, 16], [1, 65, 65, 16], window(3, 1, 12, 12), 1),
            vec![54_913],
        ),
        (
            "depthwise",
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: [1, 112, 112, 96],
                output: [1, 56, 56, 96],
                window: window(3, 2, 1, 0),
                multiplier: 1,
                element_bytes: 4,
            }),
            vec![1_204_224],
        ),
        (
            "max_pool",
            Operator::Pool2d(Pool2d {
                input: [1, 64, 64, 32],
                output: [1, 32, 32, 32],
                window: window(2, 2, 1, 0),
                element_bytes: 1,
            }),
            vec![32_768],
        ),
        (
            "quantize",
            Operator::Elementwise(Elementwise {
                elements: 1 << 20,
                input_element_bytes: 4,
                output_element_bytes: 1,
            }),
            vec![1 << 20],
        ),
        (
            "add",
            Operator::ElementwiseBinary(ElementwiseBinary {
                inputs: [[1, 56, 56, 64], [1, 1, 1, 64]],
                output: [1, 56, 56, 64],
                input_element_bytes: [1; 2],
                output_element_bytes: 1,
            }),
            vec![200_704, 64],
        ),
        (
            "batched_matmul",
            Operator::BatchedMatmul(BatchedMatmul {
                batches: 4,
                rows: 64,
                inner: 64,
                columns: 64,
                left: MatrixOperand::default(),
                right: MatrixOperand::default(),
                outer: Default::default(),
                input_element_bytes: 1,
                output_element_bytes: 1,
            }),
            vec![16_321, 12_352],
        ),
        (
            "concat",
            Operator::Concat(Concat {
                inputs: vec![[1, 64, 64, 16]; 4],
                axis: 3,
                element_bytes: 1,
            }),
            vec![65_536; 4],
        ),
        (
            "pad",
            Operator::Pad(Pad {
                input: [1, 112, 112, 16],
                before: [0, 1, 1, 0],
                output: [1, 114, 114, 16],
                element_bytes: 1,
            }),
            vec![200_704],
        ),
        (
            "transpose",
            Operator::Transpose(Transpose {
                input: [1, 56, 56, 64],
                permutation: [0, 3, 1, 2],
                element_bytes: 1,
            }),
            vec![3199],
        ),
        (
            "resize_nearest",
            Operator::ResizeNearest(ResizeNearest {
                input: [1, 28, 28, 32],
                output: [1, 56, 56, 32],
                align_corners: false,
                half_pixel_centers: true,
                element_bytes: 1,
            }),
            vec![25_088],
        ),
        (
            "resize_bilinear",
            Operator::ResizeBilinear(ResizeBilinear {
                input: [1, 28, 28, 32],
                output: [1, 112, 112, 32],
                align_corners: false,
                half_pixel_centers: true,
                interpolation: Interpolation::Float,
                element_bytes: 4,
            }),
            vec![100_352],
        ),
    ]
}

fn layer(name: &str) -> (Operator, Vec<u32>) {
    let mut layers = layers().into_iter();
    let (_, operator, expected) = layers.find(|layer| layer.0 == name).unwrap();
    (operator, expected)
}

const NAMES: [&str; 12] = [
    "conv2d",
    "conv2d_dilated",
    "depthwise",
    "max_pool",
    "quantize",
    "add",
    "batched_matmul",
    "concat",
    "pad",
    "transpose",
    "resize_nearest",
    "resize_bilinear",
];

#[divan::bench(args = NAMES)]
fn closed(bencher: Bencher, name: &str) {
    let (operator, expected) = layer(name);
    let bytes: Vec<u32> = operator
        .overlaps()
        .unwrap()
        .iter()
        .map(|pair| pair.bytes)
        .collect();
    assert_eq!(bytes, expected, "{name}");
    bencher.bench(|| divan::black_box(&operator).overlaps());
}

#[divan::bench(args = NAMES, sample_count = 10, sample_size = 1)]
fn algorithmic(bencher: Bencher, name: &str) {
    let (operator, expected) = layer(name);
    let (mut accesses, overlaps) = (0_u64, operator.traced_overlaps().unwrap());
    operator.accesses(|_, _, _| accesses += 1).unwrap();
    let bytes: Vec<u32> = overlaps.iter().map(|pair| pair.bytes).collect();
    assert_eq!(bytes, expected, "{name}");
    bencher
        .counter(ItemsCount::new(accesses))
        .bench(|| divan::black_box(&operator).traced_overlaps());
}
