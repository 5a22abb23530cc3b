//! DeepLab v3 (Chen et al. 2017) on MobileNet v2, as the public deeplabv3_257_mv_gpu.tflite
//! has it.

use super::builder::Builder;
use super::element::Element;
use super::mobilenet::v2_bottlenecks;
use super::taps::same;
use crate::graph::Graph;

/// Segmentation of a 257x257 image into 21 classes. The backbone has half of
/// MobileNet v2's channels, not rounded to multiples of 8, and its last convolution is
/// that of 160 channels.
pub(super) fn v3_257(element: Element) -> Graph {
    let mut b = Builder::new("deeplab_v3_257", element);
    let input = b.input(257, 257, 3);
    let features = v2_bottlenecks(&mut b, input, |channels| channels / 2, Some(8));
    let [_, height, width, _] = features.shape;

    b.scope("aspp");
    let image = b.average_to_pixel(features);
    let image = b.conv(image, 256, same(1));
    let image = b.resize_bilinear(image, height, width);
    let local = b.conv(features, 256, same(1));
    let both = b.concat(&[image, local]);
    let projected = b.conv(both, 256, same(1));

    b.scope("logits");
    let logits = b.conv(projected, 21, same(1));
    // The graph resizes to the size that the logits have, and then to the image's.
    let logits = b.resize_bilinear(logits, height, width);
    let segments = b.resize_bilinear(logits, 257, 257);
    b.finish(&[segments])
}
