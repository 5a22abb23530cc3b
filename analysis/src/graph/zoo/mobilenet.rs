//! MobileNet v1 (Howard et al. 2017, table 1) and v2 (Sandler et al. 2018, table 2), as
//! TensorFlow Lite's hosted models have them.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::same;
use crate::graph::Graph;

/// Stride and output channels, at full width, of the separable convolutions of v1.
pub(super) const V1: [[u32; 2]; 13] = [
    [1, 64],
    [2, 128],
    [1, 128],
    [2, 256],
    [1, 256],
    [2, 512],
    [1, 512],
    [1, 512],
    [1, 512],
    [1, 512],
    [1, 512],
    [2, 1024],
    [1, 1024],
];

/// Expansion, output channels at full width, repetitions and the first stride of v2's
/// bottlenecks.
const V2: [[u32; 4]; 7] = [
    [1, 16, 1, 1],
    [6, 24, 2, 2],
    [6, 32, 3, 2],
    [6, 64, 4, 2],
    [6, 96, 3, 1],
    [6, 160, 3, 2],
    [6, 320, 1, 1],
];

/// MobileNet v1: width in percent, resolution in pixels.
pub(super) fn v1(name: &str, width: u32, resolution: u32, element: Element) -> Graph {
    let mut b = Builder::new(name, element);
    let input = b.input(resolution, resolution, 3);
    b.scope("conv0");
    let stem = b.conv(input, 32 * width / 100, same(3).stride(2));
    let features = v1_blocks(&mut b, stem, width, &V1);
    classify(b, features, 1001)
}

/// The person detection example of TensorFlow Lite Micro: MobileNet v1 0.25 on a grey
/// image, its first layer a depthwise convolution, without a bottleneck to 1001 classes.
pub(super) fn person_detection(element: Element) -> Graph {
    let mut b = Builder::new("person_detection", element);
    let input = b.input(96, 96, 1);
    b.scope("conv0");
    let stem = b.depthwise_multiplied(input, 8, same(3).stride(2));
    let features = v1_blocks(&mut b, stem, 25, &V1);
    classify(b, features, 2)
}

/// Separable convolutions with these strides and output channels at full width.
pub(super) fn v1_blocks(b: &mut Builder, stem: Tensor, width: u32, blocks: &[[u32; 2]]) -> Tensor {
    let mut x = stem;
    for (index, &[stride, channels]) in (1..).zip(blocks) {
        b.scope(format!("conv{index}"));
        x = b.separable(x, channels * width / 100, same(3).stride(stride));
    }
    x
}

/// MobileNet v2: width in percent, resolution in pixels. Wider networks have a wider
/// last convolution, narrower ones keep it.
pub(super) fn v2(name: &str, width: u32, resolution: u32, element: Element) -> Graph {
    let mut b = Builder::new(name, element);
    let input = b.input(resolution, resolution, 3);
    let features = v2_bottlenecks(&mut b, input, |channels| round(channels, width), None);
    b.scope("last");
    let last = b.conv(features, round(1280, width.max(100)), same(1));
    classify(b, last, 1001)
}

/// The stem and the bottlenecks of v2, with channels scaled by `scaled`. Once the map is
/// this many times smaller than the image as given, strides become dilations.
pub(super) fn v2_bottlenecks(
    b: &mut Builder,
    input: Tensor,
    scaled: impl Fn(u32) -> u32,
    output_stride: Option<u32>,
) -> Tensor {
    b.scope("stem");
    let mut x = b.conv(input, scaled(32), same(3).stride(2));
    let (mut reached, mut dilation, mut index) = (2, 1, 0);
    for [expansion, channels, repetitions, first_stride] in V2 {
        for repetition in 0..repetitions {
            b.scope(format!("bottleneck{index}"));
            index += 1;
            let stride = if repetition == 0 { first_stride } else { 1 };
            let dilated = stride > 1 && Some(reached) == output_stride;
            let moved = if dilated { 1 } else { stride };
            let taps = same(3).stride(moved).dilation(dilation);
            let expanded = match expansion {
                1 => x,
                _ => b.conv(x, expansion * x.channels(), same(1)),
            };
            let projected = b.separable(expanded, scaled(channels), taps);
            if dilated {
                dilation *= stride;
            } else {
                reached *= stride;
            }
            x = match repetition {
                0 => projected,
                _ => b.add(projected, x),
            };
        }
    }
    x
}

/// Global average, a 1x1 convolution for the classes, softmax.
fn classify(mut b: Builder, features: Tensor, classes: u32) -> Graph {
    b.scope("logits");
    let pixel = b.average_to_pixel(features);
    let logits = b.conv(pixel, classes, same(1));
    let logits = b.flatten(logits);
    let probabilities = b.softmax(logits);
    b.finish(&[probabilities])
}

/// Channels at a width in percent: the nearest multiple of 8, at least 8, and one more
/// where that would take away over a tenth (`_make_divisible` of the public code).
fn round(channels: u32, width: u32) -> u32 {
    let hundredths = channels * width;
    let nearest = ((hundredths + 400) / 800 * 8).max(8);
    if nearest * 1000 < 9 * hundredths {
        nearest + 8
    } else {
        nearest
    }
}
