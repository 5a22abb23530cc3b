//! NASNet-A Mobile (Zoph et al. 2018), as Keras defines it.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::{same, valid};
use crate::graph::Graph;

/// NASNet Mobile of a 224x224 image: 4 cells of each width, 1056 filters at the end.
pub(super) fn mobile(element: Element) -> Graph {
    let mut b = Builder::new("nasnet_mobile", element);
    let input = b.input(224, 224, 3);
    b.scope("stem");
    let stem = b.conv(input, 32, valid(3).stride(2));
    b.fuse_relu(stem);
    let filters = 1056 / 24;
    // The output of the last cell and that of the one before.
    let (mut x, mut previous) = (stem, None);
    for (index, divisor) in [(1, 4), (2, 2)] {
        b.scope(format!("stem_{index}"));
        (x, previous) = (reduction(&mut b, x, previous, filters / divisor), Some(x));
    }
    for (stage, factor) in [1, 2, 4].into_iter().enumerate() {
        if stage > 0 {
            b.scope(format!("reduce_{stage}"));
            (x, previous) = (reduction(&mut b, x, previous, filters * factor), Some(x));
        }
        for cell in 0..4 {
            b.scope(format!("normal_{}", stage * 4 + cell));
            (x, previous) = (normal(&mut b, x, previous, filters * factor), Some(x));
        }
    }
    b.scope("predictions");
    let active = b.relu(x);
    let features = b.mean(active);
    b.finish_classified(features, 1000)
}

fn normal(b: &mut Builder, x: Tensor, previous: Option<Tensor>, filters: u32) -> Tensor {
    let p = adjust(b, previous, x, filters);
    let h = relu_conv(b, x, filters);

    let (active_h, active_p) = (b.relu(h), b.relu(p));
    let left = separable(b, active_h, filters, 5, 1);
    let right = separable(b, active_p, filters, 3, 1);
    let block1 = b.add(left, right);

    let left = separable(b, active_p, filters, 5, 1);
    let right = separable(b, active_p, filters, 3, 1);
    let block2 = b.add(left, right);

    let left = b.average_pool(h, same(3));
    let block3 = b.add(left, p);

    let both = b.average_pool(p, same(3));
    let block4 = b.add(both, both);

    let left = separable(b, active_h, filters, 3, 1);
    let block5 = b.add(left, h);

    b.concat(&[p, block1, block2, block3, block4, block5])
}

fn reduction(b: &mut Builder, x: Tensor, previous: Option<Tensor>, filters: u32) -> Tensor {
    let p = adjust(b, previous, x, filters);
    let h = relu_conv(b, x, filters);

    let (active_h, active_p) = (b.relu(h), b.relu(p));
    let left = separable(b, active_h, filters, 5, 2);
    let right = separable(b, active_p, filters, 7, 2);
    let block1 = b.add(left, right);

    let pooled = b.max_pool(h, same(3).stride(2));
    let right = separable(b, active_p, filters, 7, 2);
    let block2 = b.add(pooled, right);

    let left = b.average_pool(h, same(3).stride(2));
    let right = separable(b, active_p, filters, 5, 2);
    let block3 = b.add(left, right);

    let left = b.average_pool(block1, same(3));
    let block4 = b.add(block2, left);

    let active = b.relu(block1);
    let left = separable(b, active, filters, 3, 1);
    let block5 = b.add(left, pooled);

    b.concat(&[block2, block3, block4, block5])
}

fn relu_conv(b: &mut Builder, x: Tensor, filters: u32) -> Tensor {
    let active = b.relu(x);
    b.conv(active, filters, same(1))
}

/// Two separable convolutions; the input is through its ReLU.
fn separable(b: &mut Builder, active: Tensor, filters: u32, kernel: u32, stride: u32) -> Tensor {
    let first = b.separable(active, filters, same(kernel).stride(stride));
    b.separable(first, filters, same(kernel))
}

/// The output of the cell before the last, brought to the size of the last one's and to
/// this many channels. The first cell has one input only.
fn adjust(b: &mut Builder, previous: Option<Tensor>, x: Tensor, filters: u32) -> Tensor {
    let Some(previous) = previous else {
        return x;
    };
    if previous.shape[2] != x.shape[2] {
        let active = b.relu(previous);
        let even = b.average_pool(active, valid(1).stride(2));
        let even = b.conv(even, filters / 2, same(1));
        let padded = b.pad(active, [0, 0], [1, 1]);
        let cropped = b.crop_first(padded);
        let odd = b.average_pool(cropped, valid(1).stride(2));
        let odd = b.conv(odd, filters / 2, same(1));
        let both = b.concat(&[even, odd]);
        return b.normalise(both);
    }
    if previous.channels() != filters {
        return relu_conv(b, previous, filters);
    }
    previous
}
