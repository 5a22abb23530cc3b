//! Random operators, each with options, types and shapes that TensorFlow Lite Micro takes.
//!
//! | file | kinds |
//! |---|---|
//! | `operators/windows.rs` | convolutions, pooling |
//! | `operators/products.rs` | products of matrices, sequences |
//! | `operators/elements.rs` | element by element, softmax, reductions |
//! | `operators/moves.rs` | what only moves elements |
//! | `operators/batches.rs` | blocks of pixels into the batch, and back |

mod batches;
mod elements;
mod moves;
mod products;
mod windows;

use crate::draft::{Draft, DraftTensor};
use dmo_analysis::graph::TensorType;

/// Adds an operator that takes what is known; `None` where it can take none of it.
pub type Grow = fn(&mut Draft) -> Option<()>;

/// Operators, and how likely each is.
pub type Choice = &'static [(u32, Grow)];

/// Those of networks that look at images, which can be split.
pub const VISION: Choice = &[
    (6, windows::conv),
    (5, windows::depthwise_conv),
    (2, windows::pool),
    (2, elements::unary),
    (2, elements::binary),
    (1, moves::pad),
    (1, moves::concatenation),
];

pub const ALL: Choice = &[
    (12, windows::conv),
    (10, windows::depthwise_conv),
    (5, windows::transpose_conv),
    (8, windows::pool),
    (8, products::fully_connected),
    (4, products::batch_matmul),
    (3, products::svdf),
    (3, products::lstm),
    (10, elements::unary),
    (6, elements::curve),
    (3, elements::leaky_relu),
    (6, elements::conversion),
    (18, elements::binary),
    (2, elements::add_n),
    (3, elements::select),
    (6, elements::reduction),
    (2, elements::arg_extreme),
    (2, elements::cumulative_sum),
    (6, moves::concatenation),
    (5, moves::split),
    (3, moves::pack),
    (3, moves::unpack),
    (7, moves::pad),
    (2, moves::mirror_pad),
    (9, moves::reshape),
    (6, moves::transpose),
    (5, moves::slice),
    (5, moves::strided_slice),
    (3, moves::gather),
    (5, moves::resize),
    (6, moves::rearrangement),
    (2, moves::broadcast_to),
    (4, batches::batch_space),
    (2, moves::reverse),
    (1, moves::shape_of),
];

/// Types that most kernels take.
const ANY: &[TensorType] = &[TensorType::Float32, TensorType::Int8, TensorType::Int16];

/// Tries to add one operator.
pub fn grow(draft: &mut Draft, choice: Choice) -> bool {
    let all = choice.iter().map(|(weight, _)| weight).sum();
    let mut chosen = draft.below(all);
    let operator = choice.iter().find(|(weight, _)| {
        let found = chosen < *weight;
        chosen = chosen.saturating_sub(*weight);
        found
    });
    draft.attempt(operator.unwrap().1)
}

fn element_is(tensor: &DraftTensor, types: &[TensorType]) -> bool {
    types.contains(&tensor.element)
}

/// An activation of the same type, mostly with a quantisation of its own.
fn quantized_like(draft: &mut Draft, other: usize, shape: &[u32]) -> Option<usize> {
    if draft.once_in(3) {
        return draft.like(other, shape);
    }
    let element = draft.element(other);
    let quantization = draft.any_quantization(element);
    draft.activation(shape, element, quantization)
}

/// The number of a fused activation: none, `RELU`, `RELU_N1_TO_1` or `RELU6`.
fn activation_code(draft: &mut Draft) -> u8 {
    draft.pick(&[0, 0, 0, 1, 2, 3])
}
