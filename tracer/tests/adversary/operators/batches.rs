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
    // What TensorFlow Lite Micro pads with, it does not say.
    let may_pad = draft.element(input) == Float32;
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
            let before = if may_pad { draft.below(3) } else { 0 };
            let padded = (extent + before).next_multiple_of(block[axis]);
            let after = padded - extent - before;
            if after > 0 && !may_pad {
                return None;
            }
            around[2 * axis] = before as i32;
            around[2 * axis + 1] = after as i32;
            moved[axis + 1] = padded / block[axis];
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
