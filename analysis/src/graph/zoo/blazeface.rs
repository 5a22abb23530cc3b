//! BlazeFace (Bazarevsky et al. 2019), the public model for the front camera,
//! face_detection_front.tflite: single blocks only, unlike the paper's table.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::same;
use crate::graph::Graph;

/// Anchors on a pixel of the 16x16 and the 8x8 map.
const ANCHORS: [u32; 2] = [2, 6];
/// A box and six key points.
const COORDINATES: u32 = 16;

/// Faces in a 128x128 image.
pub(super) fn front(element: Element) -> Graph {
    let mut b = Builder::new("blazeface", element);
    let input = b.input(128, 128, 3);
    b.scope("stem");
    let stem = b.conv(input, 24, same(5).stride(2));
    let fine = blocks(&mut b, stem, 1, &[24, 28]);
    let fine = blocks(&mut b, fine, 2, &[32, 36, 42]);
    let fine = blocks(&mut b, fine, 2, &[48, 56, 64, 72, 80, 88]);
    let coarse = blocks(&mut b, fine, 2, &[96, 96, 96, 96, 96]);
    let maps = [fine, coarse];

    b.scope("regressors");
    let boxes = predictions(&mut b, maps, COORDINATES);
    b.scope("classificators");
    let scores = predictions(&mut b, maps, 1);
    b.finish(&[boxes, scores])
}

/// BlazeBlocks with this many output channels; the stride is the first one's.
fn blocks(b: &mut Builder, mut x: Tensor, first_stride: u32, widths: &[u32]) -> Tensor {
    for (index, &channels) in widths.iter().enumerate() {
        let stride = if index == 0 { first_stride } else { 1 };
        b.scope(format!(
            "block_{}x{}_{index}",
            x.shape[1] / stride,
            channels
        ));
        let mut shortcut = x;
        if stride > 1 {
            shortcut = b.max_pool(x, same(2).stride(stride));
        }
        if channels > x.channels() {
            shortcut = b.pad_channels(shortcut, channels);
        }
        let residual = b.separable(x, channels, same(3).stride(stride));
        x = b.add(residual, shortcut);
    }
    x
}

fn predictions(b: &mut Builder, maps: [Tensor; 2], depth: u32) -> Tensor {
    let convolved: [Tensor; 2] =
        std::array::from_fn(|level| b.conv(maps[level], ANCHORS[level] * depth, same(1)));
    b.stack_rows(&convolved, depth)
}
