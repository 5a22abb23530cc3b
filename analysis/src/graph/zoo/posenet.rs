//! PoseNet (Papandreou et al. 2018) on MobileNet v1, as the public
//! multi_person_mobilenet_v1_075_float.tflite has it.

use super::builder::Builder;
use super::element::Element;
use super::mobilenet::{V1, v1_blocks};
use super::taps::same;
use crate::graph::Graph;

/// Poses in an image of 353 rows of 257 pixels. The backbone is MobileNet v1 0.75 of which
/// the last two blocks neither halve the map nor double the channels, so that its output
/// stride is 16 without dilation.
pub(super) fn mobilenet_075_353x257(element: Element) -> Graph {
    let mut b = Builder::new("posenet_353x257", element);
    let input = b.input(353, 257, 3);
    b.scope("conv0");
    let stem = b.conv(input, 24, same(3).stride(2));
    let mut blocks = V1;
    blocks[11..].fill([1, 512]);
    let features = v1_blocks(&mut b, stem, 75, &blocks);

    let mut head = |name: &str, channels| {
        b.scope(name);
        b.conv(features, channels, same(1))
    };
    let heatmaps = head("heatmaps", 17);
    let short_offsets = head("short_offsets", 34);
    let forward = head("displacement_forward", 32);
    let backward = head("displacement_backward", 32);
    let segments = head("segments", 1);
    b.scope("mid_offsets");
    let mid_offsets = b.concat(&[forward, backward]);
    b.finish(&[heatmaps, short_offsets, mid_offsets, segments])
}
