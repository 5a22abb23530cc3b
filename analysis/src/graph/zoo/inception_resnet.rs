//! Inception-ResNet v2 (Szegedy et al. 2017), as Keras defines it.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::inception::{early_stem, five_three_pool};
use super::taps::{same, valid};
use crate::graph::Graph;

/// Inception-ResNet v2 of a 299x299 image.
pub(super) fn v2(element: Element) -> Graph {
    let mut b = Builder::new("inception_resnet_v2", element);
    let mut x = early_stem(&mut b);
    b.scope("mixed_5b");
    x = five_three_pool(&mut b, x, 96, 64);
    for index in 1..=10 {
        b.scope(format!("block35_{index}"));
        x = block35(&mut b, x);
    }
    b.scope("mixed_6a");
    x = mixed_6a(&mut b, x);
    for index in 1..=20 {
        b.scope(format!("block17_{index}"));
        x = block17(&mut b, x);
    }
    b.scope("mixed_7a");
    x = mixed_7a(&mut b, x);
    for index in 1..=10 {
        b.scope(format!("block8_{index}"));
        x = block8(&mut b, x);
    }
    b.scope("conv_7b");
    x = b.conv(x, 1536, same(1));
    b.scope("predictions");
    let features = b.mean(x);
    b.finish_classified(features, 1000)
}

fn block35(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 32, same(1));
    let mut branch1 = b.conv(x, 32, same(1));
    branch1 = b.conv(branch1, 32, same(3));
    let mut branch2 = b.conv(x, 32, same(1));
    branch2 = b.conv(branch2, 48, same(3));
    branch2 = b.conv(branch2, 64, same(3));
    residual(b, x, &[branch0, branch1, branch2])
}

fn block17(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 192, same(1));
    let mut branch1 = b.conv(x, 128, same(1));
    branch1 = b.conv(branch1, 160, same([1, 7]));
    branch1 = b.conv(branch1, 192, same([7, 1]));
    residual(b, x, &[branch0, branch1])
}

fn block8(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 192, same(1));
    let mut branch1 = b.conv(x, 192, same(1));
    branch1 = b.conv(branch1, 224, same([1, 3]));
    branch1 = b.conv(branch1, 256, same([3, 1]));
    residual(b, x, &[branch0, branch1])
}

/// The scale of the residual is folded into the 1x1 convolution.
fn residual(b: &mut Builder, x: Tensor, branches: &[Tensor]) -> Tensor {
    let mixed = b.concat(branches);
    let residual = b.conv(mixed, x.channels(), same(1));
    b.add(x, residual)
}

fn mixed_6a(b: &mut Builder, x: Tensor) -> Tensor {
    let branch0 = b.conv(x, 384, valid(3).stride(2));
    let mut branch1 = b.conv(x, 256, same(1));
    branch1 = b.conv(branch1, 256, same(3));
    branch1 = b.conv(branch1, 384, valid(3).stride(2));
    let pooled = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, pooled])
}

fn mixed_7a(b: &mut Builder, x: Tensor) -> Tensor {
    let mut branch0 = b.conv(x, 256, same(1));
    branch0 = b.conv(branch0, 384, valid(3).stride(2));
    let mut branch1 = b.conv(x, 256, same(1));
    branch1 = b.conv(branch1, 288, valid(3).stride(2));
    let mut branch2 = b.conv(x, 256, same(1));
    branch2 = b.conv(branch2, 288, same(3));
    branch2 = b.conv(branch2, 320, valid(3).stride(2));
    let pooled = b.max_pool(x, valid(3).stride(2));
    b.concat(&[branch0, branch1, branch2, pooled])
}
