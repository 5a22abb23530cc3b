//! How often each buffer of a planning problem is accessed.

use super::Arena;
use crate::graph::{Graph, Node, OperatorId, TensorId};
use crate::operator::{Operator, Traffic};

/// Accesses to the buffers of an arena in one inference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaTraffic {
    /// Of each buffer of the problem: loads and stores of elements.
    pub accesses: Vec<u64>,
    /// The operators whose loops are not known: each element of their tensors counts once.
    pub assumed: Vec<OperatorId>,
}

impl Arena {
    /// Counts the loads and stores of TensorFlow Lite's reference kernels, one for each element.
    /// A reshape whose input and output are the same bytes copies nothing. What the application
    /// stores and reads does not count; of scratch buffers each word counts as stored and loaded
    /// once, and of operators that are not known each element once.
    pub fn traffic(&self, graph: &Graph) -> ArenaTraffic {
        let mut traffic = ArenaTraffic {
            accesses: vec![0; self.problem.buffers().len()],
            assumed: Vec::new(),
        };
        for (index, node) in graph.operators.iter().enumerate() {
            let known = known(graph, node);
            if known.is_none() {
                traffic.assumed.push(OperatorId(index));
            }
            let counted = known.unwrap_or_else(|| each_once(graph, node));
            if self.copies_nothing(node) {
                continue;
            }
            for (tensor, count) in counted {
                if let Some(buffer) = self.buffer_of[tensor.0] {
                    let accesses = &mut traffic.accesses[buffer];
                    *accesses = accesses.saturating_add(count);
                }
            }
        }
        for scratch in &self.scratch {
            let bytes = self.problem.buffers()[scratch.buffer].size_bytes;
            traffic.accesses[scratch.buffer] = 2 * bytes.div_ceil(WORD_BYTES);
        }
        traffic
    }

    /// Whether the operator is a reshape within one buffer.
    pub fn copies_nothing(&self, node: &Node) -> bool {
        let kernel = node.kernel.as_ref();
        kernel.is_some_and(|kernel| {
            let buffer = |tensors: &[TensorId]| self.buffer_of[tensors.first()?.0];
            let input = buffer(&kernel.inputs);
            matches!(kernel.operator, Operator::Reshape(_))
                && input.is_some()
                && input == buffer(&kernel.outputs)
        })
    }
}

/// What a Cortex-M accesses at once, in bytes.
const WORD_BYTES: u64 = 4;

/// Accesses of the tensors by the loops of the reference kernel; `None` if these are not known.
fn known(graph: &Graph, node: &Node) -> Option<Vec<(TensorId, u64)>> {
    let kernel = node.kernel.as_ref()?;
    if matches!(kernel.operator, Operator::Opaque(_)) {
        return None;
    }
    let Traffic { loads, stores } = kernel.operator.traffic().ok()?;
    let inputs = kernel.inputs.iter().copied().zip(loads);
    let mut counted: Vec<_> = inputs
        .chain(kernel.outputs.iter().copied().zip(stores))
        .collect();
    // What the loops do not know of, such as a second output.
    let all = graph.arena_inputs(node).into_iter();
    for tensor in all.chain(graph.arena_outputs(node)) {
        if !counted.iter().any(|(counted, _)| *counted == tensor) {
            counted.push((tensor, elements(graph, tensor)));
        }
    }
    Some(counted)
}

fn each_once(graph: &Graph, node: &Node) -> Vec<(TensorId, u64)> {
    let inputs = graph.arena_inputs(node).into_iter();
    let all = inputs.chain(graph.arena_outputs(node));
    all.map(|tensor| (tensor, elements(graph, tensor)))
        .collect()
}

fn elements(graph: &Graph, tensor: TensorId) -> u64 {
    let shape = graph.tensor(tensor).shape.iter();
    shape.fold(1, |product: u64, &extent| {
        product.saturating_mul(extent.into())
    })
}
