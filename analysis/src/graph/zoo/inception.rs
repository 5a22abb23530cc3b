//! Inception v3 (Szegedy et al. 2016) and v4 (Szegedy et al. 2017), as TensorFlow's slim
//! library defines them.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::{same, valid};
use crate::graph::Graph;

/// Inception v3 of a 299x299 image.
pub(super) fn v3(element: Element) -> Graph {
    let mut b = Builder::new("inception_v3", element);
    let mut x = early_stem(&mut b);
    for (letter, pooled) in ('b'..='d').zip([32, 64, 64]) {
        b.scope(format!("mixed_5{letter}"));
        x = five_three_pool(&mut b, x, 64, pooled);
    }
    b.scope("mixed_6a");
    x = v3_mixed_6a(&mut b, x);
    for (letter, depth) in ('b'..='e').zip([128, 160, 160, 192]) {
        b.scope(format!("mixed_6{letter}"));
        x = v3_mixed_6(&mut b, x, depth);
    }
    b.scope("mixed_7a");
    x = v3_mixed_7a(&mut b, x);
    for letter in ['b', 'c'] {
        b.scope(format!("mixed_7{letter}"));
        x = v3_mixed_7(&mut b, x);
    }
    b.scope("logits");
    let pixel = b.average_to_pixel(x);
    let logits = b.conv(pixel, 1001, same(1));
    let logits = b.flatten(logits);
    let probabilities = b.softmax(logits);
    b.finish(&[probabilities])
}

/// The stem of v3, which Inception-ResNet v2 has too: 35x35x192.
pub(super) fn early_stem(b: &mut Builder) -> Tensor {
    let input = b.input(299, 299, 3);
    b.scope("stem");
    let mut x = b.conv(input, 32, valid(3).stride(2));
    x = b.conv(x, 32, valid(3));
    x = b.conv(x, 64, same(3));
    x = b.max_pool(x, valid(3).stride(2));
    x = b.conv(x, 80, valid(1));
    x = b.conv(x, 192, valid(3));
    b.max_pool(x, valid(3).stride(2))
}

/// `plain` filters of 1x1, 64 of 5x5, 96 of two 3x3, `pooled` after an average pool: the
/// first blocks of v3, and of Inception-ResNet v2.
pub(super) fn five_three_pool(b: &mut Builder, x: Tensor, plain: u32, pooled: u32) -> Tensor {
    let branch0 = b.conv(x, plain, same(1));
    let mut branch1 = b.conv(x, 48, same(1));
    branch1 = b.conv(branch1, 64, same(5));
    let mut branch2 = b.conv(x, 64, same(1));
    branch2 = b.conv(branch2, 96, same(3));
    branch2 = b.conv(branch2, 96, same(3));
    let branch3 = average_and_conv(b, x, pooled);
    b.concat(&[branch0, branch1, branch2, branch3])
}

fn average_and_conv(b: &mut Builder, x: Tensor, filters: u32) -> Tensor {
    let average = b.average_pool(x, same(3));
    b.conv(average, filters, same(1))
}

fn v3_mixed_6a(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 384, valid(3).stride(2));
    let mut branch1 = b.conv(x, 64, same(1));
    branch1 = b.conv(branch1, 96, same(3));
    branch1 = b.conv(branch1, 96, valid(3).stride(2));
    let branch2 = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, branch2])
}

fn v3_mixed_6(b: &mut Builder, x: Tensor, depth: u32) -> Tensor {
    let branch0 = b.conv(x, 192, same(1));
    let mut branch1 = b.conv(x, depth, same(1));
    branch1 = b.conv(branch1, depth, same([1, 7]));
    branch1 = b.conv(branch1, 192, same([7, 1]));
    let mut branch2 = b.conv(x, depth, same(1));
    branch2 = b.conv(branch2, depth, same([7, 1]));
    branch2 = b.conv(branch2, depth, same([1, 7]));
    branch2 = b.conv(branch2, depth, same([7, 1]));
    branch2 = b.conv(branch2, 192, same([1, 7]));
    let branch3 = average_and_conv(b, x, 192);
    b.concat(&[branch0, branch1, branch2, branch3])
}

fn v3_mixed_7a(b: &mut Builder, x: Tensor) -> Tensor {
    let mut branch0 = b.conv(x, 192, same(1));
    branch0 = b.conv(branch0, 320, valid(3).stride(2));
    let mut branch1 = b.conv(x, 192, same(1));
    branch1 = b.conv(branch1, 192, same([1, 7]));
    branch1 = b.conv(branch1, 192, same([7, 1]));
    branch1 = b.conv(branch1, 192, valid(3).stride(2));
    let branch2 = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, branch2])
}

fn v3_mixed_7(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 320, same(1));
    let branch1 = b.conv(x, 384, same(1));
    let branch1 = row_and_column(b, branch1, 384, [[1, 3], [3, 1]]);
    let mut branch2 = b.conv(x, 448, same(1));
    branch2 = b.conv(branch2, 384, same(3));
    let branch2 = row_and_column(b, branch2, 384, [[1, 3], [3, 1]]);
    let branch3 = average_and_conv(b, x, 192);
    b.concat(&[branch0, branch1, branch2, branch3])
}

fn row_and_column(b: &mut Builder, x: Tensor, filters: u32, kernels: [[u32; 2]; 2]) -> Tensor {
    let halves = kernels.map(|kernel| b.conv(x, filters, same(kernel)));
    b.concat(&halves)
}

/// Inception v4 of a 299x299 image.
pub(super) fn v4(element: Element) -> Graph {
    let mut b = Builder::new("inception_v4", element);
    let mut x = v4_stem(&mut b);
    for letter in 'b'..='e' {
        b.scope(format!("mixed_5{letter}"));
        x = v4_inception_a(&mut b, x);
    }
    b.scope("mixed_6a");
    x = v4_reduction_a(&mut b, x);
    for letter in 'b'..='h' {
        b.scope(format!("mixed_6{letter}"));
        x = v4_inception_b(&mut b, x);
    }
    b.scope("mixed_7a");
    x = v4_reduction_b(&mut b, x);
    for letter in 'b'..='d' {
        b.scope(format!("mixed_7{letter}"));
        x = v4_inception_c(&mut b, x);
    }
    b.scope("logits");
    let pixel = b.average_to_pixel(x);
    let features = b.flatten(pixel);
    b.finish_classified(features, 1001)
}

fn v4_stem(b: &mut Builder) -> Tensor {
    let input = b.input(299, 299, 3);
    b.scope("stem");
    let mut x = b.conv(input, 32, valid(3).stride(2));
    x = b.conv(x, 32, valid(3));
    x = b.conv(x, 64, same(3));

    b.scope("mixed_3a");
    let pooled = b.max_pool(x, valid(3).stride(2));
    let convolved = b.conv(x, 96, valid(3).stride(2));
    x = b.concat(&[pooled, convolved]);

    b.scope("mixed_4a");
    let mut branch0 = b.conv(x, 64, same(1));
    branch0 = b.conv(branch0, 96, valid(3));
    let mut branch1 = b.conv(x, 64, same(1));
    branch1 = b.conv(branch1, 64, same([1, 7]));
    branch1 = b.conv(branch1, 64, same([7, 1]));
    branch1 = b.conv(branch1, 96, valid(3));
    x = b.concat(&[branch0, branch1]);

    b.scope("mixed_5a");
    let convolved = b.conv(x, 192, valid(3).stride(2));
    let pooled = b.max_pool(x, valid(3).stride(2));
    b.concat(&[convolved, pooled])
}

fn v4_inception_a(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 96, same(1));
    let mut branch1 = b.conv(x, 64, same(1));
    branch1 = b.conv(branch1, 96, same(3));
    let mut branch2 = b.conv(x, 64, same(1));
    branch2 = b.conv(branch2, 96, same(3));
    branch2 = b.conv(branch2, 96, same(3));
    let branch3 = average_and_conv(b, x, 96);
    b.concat(&[branch0, branch1, branch2, branch3])
}

fn v4_reduction_a(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 384, valid(3).stride(2));
    let mut branch1 = b.conv(x, 192, same(1));
    branch1 = b.conv(branch1, 224, same(3));
    branch1 = b.conv(branch1, 256, valid(3).stride(2));
    let branch2 = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, branch2])
}

fn v4_inception_b(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 384, same(1));
    let mut branch1 = b.conv(x, 192, same(1));
    branch1 = b.conv(branch1, 224, same([1, 7]));
    branch1 = b.conv(branch1, 256, same([7, 1]));
    let mut branch2 = b.conv(x, 192, same(1));
    branch2 = b.conv(branch2, 192, same([7, 1]));
    branch2 = b.conv(branch2, 224, same([1, 7]));
    branch2 = b.conv(branch2, 224, same([7, 1]));
    branch2 = b.conv(branch2, 256, same([1, 7]));
    let branch3 = average_and_conv(b, x, 128);
    b.concat(&[branch0, branch1, branch2, branch3])
}

fn v4_reduction_b(b: &mut Builder, x: Tensor) -> Tensor {
    let mut branch0 = b.conv(x, 192, same(1));
    branch0 = b.conv(branch0, 192, valid(3).stride(2));
    let mut branch1 = b.conv(x, 256, same(1));
    branch1 = b.conv(branch1, 256, same([1, 7]));
    branch1 = b.conv(branch1, 320, same([7, 1]));
    branch1 = b.conv(branch1, 320, valid(3).stride(2));
    let branch2 = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, branch2])
}

fn v4_inception_c(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 256, same(1));
    let branch1 = b.conv(x, 384, same(1));
    let branch1 = row_and_column(b, branch1, 256, [[1, 3], [3, 1]]);
    let mut branch2 = b.conv(x, 384, same(1));
    branch2 = b.conv(branch2, 448, same([3, 1]));
    branch2 = b.conv(branch2, 512, same([1, 3]));
    let branch2 = row_and_column(b, branch2, 256, [[1, 3], [3, 1]]);
    let branch3 = average_and_conv(b, x, 256);
    b.concat(&[branch0, branch1, branch2, branch3])
}
