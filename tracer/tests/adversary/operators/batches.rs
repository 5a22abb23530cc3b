//! Blocks of pixels into the batch, and back.

use super::element_is;
use crate::draft::Draft;
use TensorType::{Float32, Int8};
use dmo_analysis::graph::{Kind, TensorType};

pub(super) fn batch_space(draft: &mut Draft) -> Option<()> {
    let input =
        draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, &[Float32, Int8]))?;
    let shape = draft.shape(input);
    let block = [draft.between(1, 3), draft.between(1, 3)];
    let pixels = block[0] * block[1];
    let goes_back = shape[0].is_multiple_of(pixels) && draft.once_in(2);
    let mut moved = shape.clone();
    let mut around = [0; 4];
    for axis in 0..2 {
        let extent = shape[axis + 1];
        if goes_back {
            let most = (extent * block[axis] - 1).min(2);
            let crop = draft.below(most + 1);
            around[2 * axis] = crop as i32;
            moved[axis + 1] = extent * block[axis] - crop;
        } else {
            // What TensorFlow Lite Micro pads with is what its memory holds.
            if !extent.is_multiple_of(block[axis]) {
                return None;
            }
            moved[axis + 1] = extent / block[axis];
        }
    }
    let kind = if goes_back {
        moved[0] /= pixels;
        Kind::BatchToSpaceNd
    } else {
        moved[0] *= pixels;
        Kind::SpaceToBatchNd
    };
    let output = draft.like(input, &moved)?;
    let block = draft.vector(&block.map(|extent| extent as i32));
    let around = draft.integers(&[2, 2], &around);
    let inputs = [input as i32, block as i32, around as i32];
    draft.add(kind, &inputs, &[output], None);
    Some(())
}
