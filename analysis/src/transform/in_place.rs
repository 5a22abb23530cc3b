//! Depthwise convolutions that work in place: a kernel that copies one channel's plane aside
//! and stores over it, channel by channel (TinyEngine, in-place depthwise convolution).

use crate::graph::{Graph, OperatorId, TensorType};
use crate::operator::{DepthwiseInPlace, Operator};

/// The same convolution by that kernel, and the plane that it keeps aside, in bytes; `None` if
/// the kernel cannot compute it, or its output could not take its input's place.
pub fn in_place(operator: &Operator) -> Option<(Operator, u64)> {
    let Operator::DepthwiseConv2d(known) = operator else {
        return None;
    };
    let fits = known.input == known.output && known.multiplier == 1 && known.element_bytes == 1;
    let in_place = DepthwiseInPlace {
        input: known.input,
        output: known.output,
        window: known.window,
        element_bytes: known.element_bytes,
    };
    fits.then(|| {
        (
            Operator::DepthwiseInPlace(in_place),
            in_place.scratch_bytes(),
        )
    })
}

/// The depthwise convolutions for which a plane is less than the distance that the reference
/// kernel keeps between its buffers: `H * W` against `(padding_h * W + padding_w + 1) * C - 1` or
/// so.
pub fn smaller(graph: &Graph) -> Vec<OperatorId> {
    let wins = |index: &usize| {
        let node = &graph.operators[*index];
        let Some(kernel) = node.kernel.as_ref().filter(|_| is_int8(graph, *index)) else {
            return false;
        };
        let displaced = kernel.operator.displacement_of(0, 0).ok().flatten();
        match (in_place(&kernel.operator), displaced) {
            (Some((_, plane)), Some(displacement)) => plane < u64::from(displacement),
            _ => false,
        }
    };
    let operators = (0..graph.operators.len()).filter(wins);
    operators.map(OperatorId).collect()
}

/// Whether all activations and weights of an operator are signed 8 bits, as the kernel wants them.
pub(super) fn is_int8(graph: &Graph, index: usize) -> bool {
    let node = &graph.operators[index];
    let activations = graph
        .arena_inputs(node)
        .into_iter()
        .chain(graph.arena_outputs(node));
    activations
        .map(|id| graph.tensor(id).element_type)
        .all(|element_type| element_type == TensorType::Int8)
        && !graph.has_packed_weights(node)
}
