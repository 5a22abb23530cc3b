//! What there is to count in a graph.

use crate::graph::{Graph, Node, OperatorId, Storage, TensorId};
use crate::operator::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts and sizes of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Figures {
    /// Tensors in the arena.
    pub activations: usize,
    /// Operators.
    pub operators: usize,
    /// Weights and biases, without shapes, axes and paddings. Where batch normalisation
    /// is folded into a convolution its parameters are the bias.
    pub parameters: u64,
    /// Multiply-accumulates of convolutions and fully connected layers.
    pub multiply_accumulates: u64,
    /// All activations together, in bytes.
    pub naive_bytes: u64,
    /// The largest sum of live activations at one operator, in bytes, in the graph's
    /// order: what no plan without overlap is below.
    pub lower_bound_bytes: u64,
}

impl Figures {
    /// Those of a graph.
    pub fn of(graph: &Graph) -> Self {
        Self {
            activations: graph
                .tensors
                .iter()
                .filter(|tensor| tensor.storage == Storage::Arena)
                .count(),
            operators: graph.operators.len(),
            parameters: parameters(graph),
            multiply_accumulates: graph
                .operators
                .iter()
                .map(|node| multiply_accumulates(graph, node))
                .sum(),
            naive_bytes: graph.naive_bytes(),
            lower_bound_bytes: live_bytes(graph, &graph.file_order())
                .into_iter()
                .max()
                .unwrap_or(0),
        }
    }
}

fn parameters(graph: &Graph) -> u64 {
    let mut counted = vec![false; graph.tensors.len()];
    let mut total = 0;
    for node in &graph.operators {
        if !node.kind.has_weights() {
            continue;
        }
        for &id in &node.inputs {
            let tensor = graph.tensor(id);
            if tensor.storage == Storage::Constant && !counted[id.0] {
                counted[id.0] = true;
                total += elements(&tensor.shape);
            }
        }
    }
    total
}

fn multiply_accumulates(graph: &Graph, node: &Node) -> u64 {
    let Some(kernel) = &node.kernel else {
        return 0;
    };
    let outputs: u64 = kernel
        .outputs
        .iter()
        .map(|&id| elements(&graph.tensor(id).shape))
        .sum();
    let each = match kernel.operator {
        Operator::Conv2d(conv) => {
            let inputs = conv.input[3] / conv.groups.max(1);
            taps(conv.window.kernel) * u64::from(inputs)
        }
        Operator::DepthwiseConv2d(depthwise) => taps(depthwise.window.kernel),
        Operator::DepthwiseInPlace(depthwise) => taps(depthwise.window.kernel),
        Operator::FullyConnected(layer) => u64::from(layer.input_depth),
        _ => 0,
    };
    outputs * each
}

fn taps([height, width]: [u32; 2]) -> u64 {
    u64::from(height) * u64::from(width)
}

fn elements(shape: &[u32]) -> u64 {
    shape.iter().map(|&extent| u64::from(extent)).product()
}

/// For each operator of the order, all that lies in the arena while it runs, in bytes:
/// activations from the operator that stores them, graph inputs from the start, up to the
/// last operator that loads them, graph outputs to the end.
pub fn live_bytes(graph: &Graph, order: &[OperatorId]) -> Vec<u64> {
    let end = order.len();
    // First and last place in the order; none for what no operator of it touches.
    let mut intervals: Vec<Option<[usize; 2]>> = vec![None; graph.tensors.len()];
    let mut touch = |id: TensorId, place: usize| {
        let [first, last] = intervals[id.0].unwrap_or([place; 2]);
        intervals[id.0] = Some([first.min(place), last.max(place)]);
    };
    for &id in &graph.inputs {
        touch(id, 0);
    }
    for (place, operator) in order.iter().enumerate() {
        let node = &graph.operators[operator.0];
        for &id in node.inputs.iter().chain(&node.outputs) {
            touch(id, place);
        }
    }
    for &id in &graph.outputs {
        touch(id, end.saturating_sub(1));
    }
    let mut live = vec![0; end];
    for (index, interval) in intervals.into_iter().enumerate() {
        let id = TensorId(index);
        let (Some([first, last]), true) = (interval, graph.in_arena(id)) else {
            continue;
        };
        for bytes in live.iter_mut().take(last + 1).skip(first) {
            *bytes += graph.tensor(id).size_bytes;
        }
    }
    live
}
