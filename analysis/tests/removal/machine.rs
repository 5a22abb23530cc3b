//! A machine that computes with names of values: what an operator stores is named after what it
//! is and what it has loaded for it.

use dmo_analysis::graph::{Graph, Node, TensorId};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::AccessKind;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What stands for 0: pads store it, and nothing is added by it.
const ZERO: u64 = 0;

/// A byte: the value, and which byte of it.
type Byte = (u64, u64);

fn named(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish().max(1)
}

/// The values of the graph's outputs, each tensor on its own.
pub fn outputs_apart(graph: &Graph) -> Vec<Vec<Byte>> {
    let mut offset = 0;
    let mut own = graph.tensors.iter().enumerate().map(|(index, tensor)| {
        let is_view = graph.views.contains_key(&TensorId(index));
        let at = offset;
        offset += if is_view { 0 } else { tensor.size_bytes + 1 };
        (!is_view).then_some(at)
    });
    let offsets = own.by_ref().collect();
    outputs_in_arena(graph, &graph.with_views(offsets))
}

/// The values of the graph's outputs, in an arena.
pub fn outputs_in_arena(graph: &Graph, offsets: &[Option<u64>]) -> Vec<Vec<Byte>> {
    let mut memory = HashMap::new();
    for (index, id) in graph.inputs.iter().enumerate() {
        for byte in 0..graph.tensor(*id).size_bytes {
            memory.insert(
                offsets[id.0].unwrap() + byte,
                (named(("input", index, byte)), 0),
            );
        }
    }
    for node in &graph.operators {
        run(node, offsets, &mut memory);
    }
    let output = |id: &TensorId| {
        let start = offsets[id.0].unwrap();
        let bytes = start..start + graph.tensor(*id).size_bytes;
        bytes
            .map(|at| memory.get(&at).copied().unwrap_or((1, 1)))
            .collect()
    };
    graph.outputs.iter().map(output).collect()
}

fn run(node: &Node, offsets: &[Option<u64>], memory: &mut HashMap<u64, Byte>) {
    let kernel = node.kernel.as_ref().unwrap();
    let buffers = kernel.operator.buffers().unwrap();
    let inner = match &kernel.operator {
        Operator::Pitched(pitched) => &*pitched.operator,
        operator => operator,
    };
    let moves = matches!(
        inner,
        Operator::Reshape(_)
            | Operator::Concat(_)
            | Operator::Split(_)
            | Operator::StridedSlice(_)
            | Operator::Pad(_)
    );
    let mut loaded: Vec<Vec<Byte>> = Vec::new();
    let mut count = 0;
    kernel
        .operator
        .accesses(|kind, index, position| {
            let (id, buffer) = match kind {
                AccessKind::Load => (kernel.inputs[index], buffers.inputs[index]),
                AccessKind::Store => (kernel.outputs[index], buffers.outputs[index]),
            };
            let bytes = u64::from(buffer.element_bytes);
            let start = offsets[id.0].unwrap() + u64::from(position) * bytes;
            let element = start..start + bytes;
            if kind == AccessKind::Load {
                loaded.push(
                    element
                        .map(|at| memory.get(&at).copied().unwrap_or((2, at)))
                        .collect(),
                );
                return;
            }
            count += 1;
            let values = std::mem::take(&mut loaded);
            let stored: Vec<Byte> = match (moves, values.last()) {
                (true, Some(last)) => last.clone(),
                (true, None) => (0..bytes).map(|byte| (ZERO, byte)).collect(),
                (false, _) => {
                    let zero = |bytes: &&Vec<Byte>| bytes.iter().any(|byte| byte.0 != ZERO);
                    let counted: Vec<_> = values.iter().filter(zero).collect();
                    let value = named((kernel.outputs[0].0, count, counted));
                    (0..bytes).map(|byte| (value, byte)).collect()
                }
            };
            for (at, byte) in (start..).zip(stored) {
                memory.insert(at, byte);
            }
        })
        .unwrap();
}
