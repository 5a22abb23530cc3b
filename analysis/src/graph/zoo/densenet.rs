//! DenseNet 121 (Huang et al. 2017), as Keras defines it.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::{same, valid};
use crate::graph::Graph;

const GROWTH: u32 = 32;

/// DenseNet 121 of a 224x224 image.
pub(super) fn densenet_121(element: Element) -> Graph {
    let mut b = Builder::new("densenet_121", element);
    let input = b.input(224, 224, 3);
    b.scope("conv1");
    let padded = b.pad(input, [3, 3], [3, 3]);
    let mut x = b.conv(padded, 64, valid(7).stride(2));
    let padded = b.pad(x, [1, 1], [1, 1]);
    x = b.max_pool(padded, valid(3).stride(2));
    for (index, layers) in (2..).zip([6, 12, 24, 16]) {
        for layer in 1..=layers {
            b.scope(format!("conv{index}_{layer}"));
            x = dense_layer(&mut b, x);
        }
        if index < 5 {
            b.scope(format!("pool{index}"));
            x = transition(&mut b, x);
        }
    }
    b.scope("predictions");
    x = b.normalise(x);
    let features = b.mean(x);
    b.finish_classified(features, 1000)
}

/// `GROWTH` channels more. The normalisation of the concatenation stays an operator of
/// its own; that after the 1x1 convolution is folded.
fn dense_layer(b: &mut Builder, x: Tensor) -> Tensor {
    let mut grown = b.normalise(x);
    grown = b.conv(grown, 4 * GROWTH, same(1));
    grown = b.conv(grown, GROWTH, same(3));
    b.concat(&[x, grown])
}

/// Half the channels, half the height and width.
fn transition(b: &mut Builder, x: Tensor) -> Tensor {
    let normalised = b.normalise(x);
    let halved = b.conv(normalised, x.channels() / 2, same(1));
    b.average_pool(halved, valid(2).stride(2))
}
