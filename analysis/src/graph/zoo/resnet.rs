//! ResNet 50 v2 (He et al. 2016, 'Identity Mappings'), as Keras defines it.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::{same, valid};
use crate::graph::Graph;

/// ResNet 50 v2 of a 224x224 image.
pub(super) fn resnet_50_v2(element: Element) -> Graph {
    let mut b = Builder::new("resnet_50_v2", element);
    let input = b.input(224, 224, 3);
    b.scope("conv1");
    let padded = b.pad(input, [3, 3], [3, 3]);
    let mut x = b.conv(padded, 64, valid(7).stride(2));
    let padded = b.pad(x, [1, 1], [1, 1]);
    x = b.max_pool(padded, valid(3).stride(2));
    // The last block of a stage has its stride.
    for (stage, (filters, blocks, stride)) in
        (2..).zip([(64, 3, 2), (128, 4, 2), (256, 6, 2), (512, 3, 1)])
    {
        for block in 1..=blocks {
            b.scope(format!("conv{stage}_block{block}"));
            let stride = if block == blocks { stride } else { 1 };
            x = bottleneck(&mut b, x, filters, stride, block == 1);
        }
    }
    b.scope("predictions");
    x = b.normalise(x);
    let features = b.mean(x);
    b.finish_classified(features, 1000)
}

/// The normalisation comes first, of a sum that the shortcut reads too, and stays an
/// operator of its own.
fn bottleneck(b: &mut Builder, x: Tensor, filters: u32, stride: u32, projected: bool) -> Tensor {
    let active = b.normalise(x);
    let shortcut = match (projected, stride) {
        (true, _) => b.conv(active, 4 * filters, same(1).stride(stride)),
        (false, 1) => x,
        (false, _) => b.max_pool(x, valid(1).stride(stride)),
    };
    let mut residual = b.conv(active, filters, same(1));
    residual = b.pad(residual, [1, 1], [1, 1]);
    residual = b.conv(residual, filters, valid(3).stride(stride));
    residual = b.conv(residual, 4 * filters, same(1));
    b.add(shortcut, residual)
}
