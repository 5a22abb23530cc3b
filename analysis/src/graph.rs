//! A model as its operators and tensors: what ordering and planning work on.
//!
//! | module | what it holds |
//! |---|---|
//! | [`overlaps`] | which inputs of an operator its outputs may overlap, and how far |
//! | [`parameters`] | quantisation, weights and options of an operator |
//! | [`sketch`] | a network as shapes and operators |
//! | [`tflite`] | models of TensorFlow Lite |
//! | [`view`] | tensors that lie inside of others |
//! | [`zoo`] | networks built in code |
//!
//! Tensors are those of the model file, constants included, so that a [`TensorId`] is the
//! file's tensor index. Planning looks at the activations only.

mod kind;
pub mod overlaps;
pub mod parameters;
pub mod sketch;
mod tensor_type;
pub mod tflite;
pub mod view;
pub mod zoo;

pub use kind::Kind;
pub use tensor_type::TensorType;
pub use view::TensorView;

use crate::operator::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Index of a tensor in [`Graph::tensors`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TensorId(pub usize);

/// Index of an operator in [`Graph::operators`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct OperatorId(pub usize);

/// Where a tensor's bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// In the arena, while it is in use.
    Arena,
    /// In the model file: weights, tables.
    Constant,
    /// Kept from one inference to the next: never shares memory.
    Variable,
    /// With the application, which hands it over piece by piece
    /// ([`Recipe::slices`](crate::transform::Recipe::slices)).
    Application,
}

/// A tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct GraphTensor {
    /// Name; need not be unique.
    pub name: String,
    /// Elements on each axis; empty for a scalar.
    pub shape: Vec<u32>,
    /// Type of its elements.
    pub element_type: TensorType,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Where it is kept.
    pub storage: Storage,
}

impl GraphTensor {
    /// Its shape in words, as `1x8x8x16`.
    pub fn extents(&self) -> String {
        let extents: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        extents.join("x")
    }
}

/// An operator in terms of the reference kernels' loops ([`Operator`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Kernel {
    /// Its loops and shapes.
    pub operator: Operator,
    /// The tensors that stand for the operator's inputs, in its order.
    pub inputs: Vec<TensorId>,
    /// The tensors that stand for the operator's outputs, in its order.
    pub outputs: Vec<TensorId>,
}

/// An operator of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Node {
    /// What it computes.
    pub kind: Kind,
    /// All tensors that it reads, constants and variables included, in the file's order;
    /// absent optional inputs are left out.
    pub inputs: Vec<TensorId>,
    /// All tensors that it writes, in the file's order.
    pub outputs: Vec<TensorId>,
    /// What it is to the reference kernels; none when it is not known, so that nothing
    /// may overlap.
    pub kernel: Option<Kernel>,
    /// Sizes in bytes of the scratch buffers that it wants in the arena while it runs.
    pub scratch_bytes: Vec<u64>,
}

impl Node {
    /// Whether its scratch memory is not known: that of a custom operator of somebody else, or of
    /// one whose options do not say it.
    pub fn has_unknown_memory(&self) -> bool {
        let takes_scratch = matches!(self.kind, Kind::DetectionPostprocess | Kind::SignalRfft);
        self.kind.is_custom() || takes_scratch && self.scratch_bytes.is_empty()
    }
}

/// A model, or one subgraph of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, JsonSchema, Serialize, Deserialize)]
pub struct Graph {
    /// The model's name.
    pub name: String,
    /// All tensors.
    pub tensors: Vec<GraphTensor>,
    /// Operators, in the order in which the file has them, which is an order in which
    /// they can run.
    pub operators: Vec<Node>,
    /// What the application stores before an inference.
    pub inputs: Vec<TensorId>,
    /// What the application reads after an inference.
    pub outputs: Vec<TensorId>,
    /// Tensors that lie inside of others: parts of tiles, and what an accelerator finds in its
    /// scratch tensor.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub views: BTreeMap<TensorId, TensorView>,
}

impl Graph {
    /// The tensor.
    pub fn tensor(&self, id: TensorId) -> &GraphTensor {
        &self.tensors[id.0]
    }

    /// Whether the tensor lies in the arena.
    pub fn in_arena(&self, id: TensorId) -> bool {
        self.tensor(id).storage == Storage::Arena
    }

    /// The graph's inputs that no operator reads, not even a part of them, and that are no outputs.
    pub fn unread_inputs(&self) -> impl Iterator<Item = TensorId> {
        let parts: BTreeSet<TensorId> = self.views.values().map(|view| view.of).collect();
        let is_read = move |id: &TensorId| {
            let mut nodes = self.operators.iter();
            nodes.any(|node| node.inputs.contains(id))
                || self.outputs.contains(id)
                || parts.contains(id)
        };
        self.inputs.iter().copied().filter(move |id| !is_read(id))
    }

    /// Tensors in the arena that the operator reads, each once.
    pub fn arena_inputs(&self, node: &Node) -> Vec<TensorId> {
        self.once(&node.inputs)
    }

    /// Tensors in the arena that the operator writes, each once.
    pub fn arena_outputs(&self, node: &Node) -> Vec<TensorId> {
        self.once(&node.outputs)
    }

    /// Whether it has weights of which several lie in a byte: only kernels for whole tensors, to a
    /// buffer of their own, unpack them.
    pub(crate) fn has_packed_weights(&self, node: &Node) -> bool {
        let mut tensors = node.inputs.iter().map(|&id| self.tensor(id));
        tensors.any(|tensor| tensor.element_type == TensorType::Int4)
    }

    fn once(&self, ids: &[TensorId]) -> Vec<TensorId> {
        let mut found = BTreeSet::new();
        let once = |id: &TensorId| self.in_arena(*id) && found.insert(*id);
        ids.iter().copied().filter(once).collect()
    }

    /// How many operands, and inputs and outputs of the graph, each tensor is.
    pub(crate) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.tensors.len()];
        let operands = self.operators.iter().flat_map(|node| &node.inputs);
        for id in operands.chain(&self.inputs).chain(&self.outputs) {
            uses[id.0] += 1;
        }
        uses
    }

    /// The shapes of some tensors in words, as `1x8x8x16, 1x8x8x16`.
    pub fn extents(&self, tensors: &[TensorId]) -> String {
        let extents = tensors.iter().map(|&tensor| self.tensor(tensor).extents());
        extents.collect::<Vec<_>>().join(", ")
    }

    /// The operators in the file's order.
    pub fn file_order(&self) -> Vec<OperatorId> {
        (0..self.operators.len()).map(OperatorId).collect()
    }

    /// All activations together, in bytes: what a plan without any reuse needs.
    pub fn naive_bytes(&self) -> u64 {
        let tensors = self.tensors.iter().enumerate();
        tensors
            .filter(|(_, tensor)| tensor.storage == Storage::Arena)
            .filter(|(index, _)| !self.views.contains_key(&TensorId(*index)))
            .map(|(_, tensor)| tensor.size_bytes)
            .sum()
    }
}
