//! Tensors and operators that the original does not have, and the graph of all.

use super::{Builder, Standard, TensorSource};
use crate::graph::{Graph, GraphTensor, Kernel, Kind, Node, Storage, TensorId, TensorType};
use crate::operator::{Operator, Shape};
use std::collections::{HashMap, HashSet};

impl Builder<'_> {
    pub(super) fn constant(&mut self, shape: Vec<u32>, values: Vec<i32>) -> TensorId {
        let key = (shape, values);
        if let Some(&known) = self.integers.get(&key) {
            return known;
        }
        let (shape, values) = key.clone();
        let id = self.draft.add(GraphTensor {
            name: format!("{values:?}"),
            shape,
            element_type: TensorType::Int32,
            size_bytes: 4 * values.len() as u64,
            storage: Storage::Constant,
        });
        self.integers.insert(key, id);
        id
    }

    pub(super) fn lowest(&mut self, of: TensorId) -> TensorId {
        if let Some(&known) = self.lowest.get(&of) {
            return known;
        }
        let id = self.draft.add(GraphTensor {
            name: "lowest".to_owned(),
            shape: vec![1],
            element_type: self.draft.original.tensor(of).element_type,
            size_bytes: u64::from(self.element_bytes(of)),
            storage: Storage::Constant,
        });
        self.lowest.insert(of, id);
        id
    }

    /// A new tensor, a piece of one of the original.
    pub(super) fn piece(&mut self, of: TensorId, what: &str, shape: Shape) -> TensorId {
        let name = format!("{} {what}", self.draft.original.tensor(of).name);
        let id = self.draft.tensor(of, name, shape);
        self.pieces.insert(id, of);
        id
    }

    pub(super) fn insert(
        &mut self,
        kind: Kind,
        operator: Operator,
        activations: Vec<TensorId>,
        inputs: Vec<TensorId>,
        output: TensorId,
    ) {
        self.draft.insert(Node {
            kind,
            inputs,
            outputs: vec![output],
            kernel: Some(Kernel {
                operator,
                inputs: activations,
                outputs: vec![output],
            }),
            scratch_bytes: Vec::new(),
        });
    }

    pub(super) fn element_bytes(&self, id: TensorId) -> u32 {
        self.draft.element_bytes(id) as u32
    }

    pub(super) fn finish(self) -> Standard {
        let originals = self.draft.original.tensors.len();
        let (mut graph, mut origins) = self.draft.into_parts();
        let mut tensors = vec![TensorSource::Original; graph.tensors.len()];
        for (id, of) in self.pieces {
            tensors[id.0] = TensorSource::Piece(of);
        }
        for ((_, values), id) in self.integers {
            tensors[id.0] = TensorSource::Integers(values);
        }
        for (of, id) in self.lowest {
            tensors[id.0] = TensorSource::Lowest(of);
        }
        let moved = fill_gaps(&mut graph, originals, &mut tensors);
        let new = |id: &mut TensorId| {
            if let Some(&new) = moved.get(id) {
                *id = new;
            }
        };
        for node in &mut graph.operators {
            node.inputs
                .iter_mut()
                .chain(&mut node.outputs)
                .for_each(new);
            if let Some(kernel) = &mut node.kernel {
                kernel
                    .inputs
                    .iter_mut()
                    .chain(&mut kernel.outputs)
                    .for_each(new);
            }
        }
        for origin in origins.iter_mut().flatten() {
            origin.renamed.values_mut().for_each(new);
        }
        Standard {
            graph,
            origins,
            tensors,
        }
    }
}

/// Runtimes make room for tensors that nothing uses: the last new ones take their places.
fn fill_gaps(
    graph: &mut Graph,
    originals: usize,
    tensors: &mut Vec<TensorSource>,
) -> HashMap<TensorId, TensorId> {
    let of_operators = graph.operators.iter();
    let of_operators = of_operators.flat_map(|node| node.inputs.iter().chain(&node.outputs));
    let used = of_operators.chain(&graph.inputs).chain(&graph.outputs);
    let used: HashSet<TensorId> = used.copied().collect();
    let mut moved = HashMap::new();
    for index in 0..originals {
        let unused = graph.in_arena(TensorId(index)) && !used.contains(&TensorId(index));
        if unused && graph.tensors.len() > originals {
            graph.tensors.swap_remove(index);
            tensors.swap_remove(index);
            moved.insert(TensorId(graph.tensors.len()), TensorId(index));
        }
    }
    moved
}

pub(super) fn signed(shape: Shape) -> Vec<i32> {
    shape.map(u32::cast_signed).to_vec()
}
