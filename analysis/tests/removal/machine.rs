//! A machine that computes with names of values: what an operator stores is named after what it
//! is and what it has loaded for it.

use dmo_analysis::graph::{Graph, Node, TensorId};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::AccessKind;
use dmo_analysis::transform::Transformed;
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

/// A graph, and which operator of the one that it was made of each of its own is.
pub struct Machine<'a> {
    graph: &'a Graph,
    origins: Vec<usize>,
    /// Whether the number of an operator's store tells in its value; not where tiles store.
    counts: bool,
}

impl<'a> Machine<'a> {
    pub fn original(graph: &'a Graph, counts: bool) -> Self {
        let origins = (0..graph.operators.len()).collect();
        Self {
            graph,
            origins,
            counts,
        }
    }

    pub fn transformed(transformed: &'a Transformed, counts: bool) -> Self {
        let origins = transformed.origins.iter();
        Self {
            graph: &transformed.graph,
            origins: origins.map(|origin| origin.operator.0).collect(),
            counts,
        }
    }

    /// The values of the graph's outputs, and of its inputs when all is done, each tensor on its
    /// own.
    pub fn ends_apart(&self) -> Vec<Vec<Byte>> {
        let mut offset = 0;
        let tensors = self.graph.tensors.iter().enumerate();
        let own = tensors.map(|(index, tensor)| {
            let is_view = self.graph.views.contains_key(&TensorId(index));
            let at = offset;
            offset += if is_view { 0 } else { tensor.size_bytes + 1 };
            (!is_view).then_some(at)
        });
        let offsets = own.collect();
        self.ends_in_arena(&self.graph.with_views(offsets), true)
    }

    /// The values of the graph's outputs, in an arena, and of its inputs where they are kept.
    pub fn ends_in_arena(&self, offsets: &[Option<u64>], keep_inputs: bool) -> Vec<Vec<Byte>> {
        let graph = self.graph;
        let mut memory = HashMap::new();
        for (index, id) in graph.inputs.iter().enumerate() {
            for byte in 0..graph.tensor(*id).size_bytes {
                let value = (named(("input", index, byte)), 0);
                memory.insert(offsets[id.0].unwrap() + byte, value);
            }
        }
        for (node, &origin) in graph.operators.iter().zip(&self.origins) {
            self.run(node, origin, offsets, &mut memory);
        }
        let end = |id: &TensorId| {
            let start = offsets[id.0].unwrap();
            let bytes = start..start + graph.tensor(*id).size_bytes;
            bytes
                .map(|at| memory.get(&at).copied().unwrap_or((1, 1)))
                .collect()
        };
        let kept = graph.inputs.iter().filter(|_| keep_inputs);
        graph.outputs.iter().chain(kept).map(end).collect()
    }

    fn run(
        &self,
        node: &Node,
        origin: usize,
        offsets: &[Option<u64>],
        memory: &mut HashMap<u64, Byte>,
    ) {
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
                count += u32::from(self.counts);
                let values = std::mem::take(&mut loaded);
                let stored: Vec<Byte> = match (moves, values.last()) {
                    (true, Some(last)) => last.clone(),
                    (true, None) => (0..bytes).map(|byte| (ZERO, byte)).collect(),
                    (false, _) => {
                        let zero = |bytes: &&Vec<Byte>| bytes.iter().any(|byte| byte.0 != ZERO);
                        let counted: Vec<_> = values.iter().filter(zero).collect();
                        let value = named((origin, count, counted));
                        (0..bytes).map(|byte| (value, byte)).collect()
                    }
                };
                for (at, byte) in (start..).zip(stored) {
                    memory.insert(at, byte);
                }
            })
            .unwrap();
    }
}
