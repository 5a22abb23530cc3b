//! Constants are unpacked just before they are read.
//!
//! An application may give TensorFlow Lite Micro other memory for what `TFLM_DECODE` unpacks
//! (`MicroInterpreter::SetDecompressionMemory`). Each of these operators takes it from its beginning,
//! so that what it unpacks is there until the next one runs.

use crate::graph::{Graph, Kind, OperatorId};

/// The order in which each of these operators comes directly before the first that reads what it
/// unpacks; those of one reader stay in their order.
pub(super) fn just_in_time(graph: &Graph, order: Vec<OperatorId>) -> Vec<OperatorId> {
    let is_decode = |operator: &OperatorId| graph.operators[operator.0].kind == Kind::Decode;
    if !order.iter().any(is_decode) {
        return order;
    }
    let (mut waiting, others): (Vec<OperatorId>, Vec<OperatorId>) =
        order.into_iter().partition(is_decode);
    let mut settled = Vec::with_capacity(waiting.len() + others.len());
    for operator in others {
        let inputs = &graph.operators[operator.0].inputs;
        let reads = |decode: &OperatorId| {
            let outputs = &graph.operators[decode.0].outputs;
            outputs.iter().any(|output| inputs.contains(output))
        };
        let (read, unread): (Vec<OperatorId>, Vec<OperatorId>) =
            waiting.into_iter().partition(reads);
        settled.extend(read);
        settled.push(operator);
        waiting = unread;
    }
    settled.extend(waiting);
    settled
}
