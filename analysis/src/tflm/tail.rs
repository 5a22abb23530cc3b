//! The tail of the arena, allocation by allocation, in the order in which the runtime makes them
//! (`micro_allocator.cc`, `micro_interpreter.cc`, `micro_interpreter_graph.cc`).

use super::operators::row;
use super::structures::{
    ARENA_ALLOCATOR, EVAL_TENSOR, MODEL_ALLOCATOR, NODE, OPTIONS_ALLOCATOR, PLANNER, POINTER_BYTES,
    SCRATCH_HANDLE, SUBGRAPH, Structure, requests_bytes, temporary_tensor_bytes, tensor,
};
use super::{Component, OperatorBytes, Part, UnknownOperator, UnknownReason};
use crate::graph::tflite::RuntimeKernels;
use crate::graph::tflite::catalogue::is_refused_signal;
use crate::graph::tflite::lower::FileNode;
use crate::graph::tflite::nodes::{RawOperator, RawSubgraph};
use crate::graph::tflite::requests::of_node;
use crate::graph::{Kind, OperatorId, Storage, TensorId};
use dmo_planner::plan::tflm::ALIGNMENT;
use std::collections::BTreeMap;

/// The tail and what is known of it.
pub(super) struct Tail {
    /// In all.
    pub bytes: u64,
    /// When the head is planned.
    pub bytes_at_planning: u64,
    /// Scratch buffers that are asked for.
    pub requests: u64,
    /// When each operator is prepared.
    pub preparing: Vec<Preparing>,
    pub components: Vec<Component>,
    pub operators: Vec<OperatorBytes>,
    pub unknown: Vec<UnknownOperator>,
}

/// While an operator is prepared.
pub(super) struct Preparing {
    /// Index of the operator among those of all subgraphs.
    pub index: usize,
    pub temporary_bytes: u64,
    pub tail_bytes: u64,
}

impl Tail {
    /// `offsets` is the plan of the model's file: where tensors of all subgraphs lie, -1 where it
    /// does not say. `scratch` is what functions in place of those of `kernels` want, for each
    /// operator of each subgraph.
    pub fn new(
        subgraphs: &[RawSubgraph],
        offsets: Option<&[i32]>,
        kernels: RuntimeKernels,
        scratch: Option<&[Vec<Vec<u64>>]>,
    ) -> Self {
        let mut stack = Stack::default();
        for part in [ARENA_ALLOCATOR, PLANNER, MODEL_ALLOCATOR, OPTIONS_ALLOCATOR] {
            stack.push(Part::Runtime, part, 1);
        }
        stack.push(Part::Runtime, SUBGRAPH, subgraphs.len());
        for subgraph in subgraphs {
            stack.push(Part::Tensors, EVAL_TENSOR, subgraph.tensors.len());
        }
        for subgraph in subgraphs {
            stack.push(Part::Nodes, NODE, subgraph.operators.len());
        }
        let mut operators = Operators::of(subgraphs, kernels);
        if let Some(scratch) = scratch {
            operators.take_scratch(scratch);
        }
        let preparing = operators.push(&mut stack);
        let requests: usize = operators.sizes.iter().map(|it| it.scratch.len()).sum();
        if requests > 0 {
            stack.push(Part::ScratchHandles, SCRATCH_HANDLE, requests);
        }
        for subgraph in subgraphs {
            push_variables(&mut stack, subgraph, offsets);
        }
        let bytes_at_planning = stack.bytes;
        if let Some(first) = subgraphs.first() {
            push_ends(&mut stack, first, &first.inputs);
            push_ends(&mut stack, first, &first.outputs);
        }
        Self {
            bytes: stack.bytes,
            bytes_at_planning,
            requests: requests as u64,
            preparing,
            components: stack.components(),
            unknown: operators.unknown(),
            operators: operators.done(),
        }
    }
}

/// No tail is larger: sizes of a hostile file would not add up.
const MOST_BYTES: u64 = 1 << 62;

/// Allocations one below the other from the end of the arena, which is a multiple of 16.
#[derive(Default)]
struct Stack {
    bytes: u64,
    parts: BTreeMap<Part, (usize, u64)>,
}

impl Stack {
    /// Gives how much larger the tail becomes by an allocation of this many structures.
    fn push(&mut self, part: Part, structure: Structure, count: usize) -> u64 {
        let size = structure.size_bytes.saturating_mul(count as u64);
        let bytes = self.bytes.saturating_add(size).min(MOST_BYTES);
        let bytes = bytes.next_multiple_of(structure.alignment);
        let added = bytes - self.bytes;
        self.bytes = bytes;
        let (allocations, total) = self.parts.entry(part).or_default();
        *allocations += 1;
        *total += added;
        added
    }

    /// What kernels and variables get: at a multiple of 16.
    fn push_buffer(&mut self, part: Part, size_bytes: u64) -> u64 {
        let structure = Structure {
            size_bytes,
            alignment: ALIGNMENT,
        };
        self.push(part, structure, 1)
    }

    fn components(&self) -> Vec<Component> {
        let component = |(&part, &(allocations, bytes))| Component {
            part,
            allocations,
            bytes,
        };
        self.parts.iter().map(component).collect()
    }
}

/// Those of all subgraphs in their order.
struct Operators {
    sizes: Vec<Sizes>,
}

struct Sizes {
    subgraph: usize,
    operator: OperatorId,
    kind: Kind,
    options: Option<Structure>,
    data_bytes: u64,
    persistent: Vec<u64>,
    scratch: Vec<u64>,
    /// Structures of its tensors while it is prepared, in bytes.
    temporary_bytes: u64,
    unknown: Option<UnknownReason>,
    tail_bytes: u64,
}

impl Operators {
    fn of(subgraphs: &[RawSubgraph], kernels: RuntimeKernels) -> Self {
        let mut sizes = Vec::new();
        for (index, subgraph) in subgraphs.iter().enumerate() {
            for (number, operator) in subgraph.operators.iter().enumerate() {
                let id = OperatorId(number);
                let found = subgraph.node(operator, |node| Sizes::of(node, kernels));
                sizes.push(Sizes {
                    subgraph: index,
                    operator: id,
                    temporary_bytes: temporary_bytes(subgraph, operator),
                    ..found
                });
            }
        }
        Self { sizes }
    }

    /// What other functions want. Where a kernel asks for several buffers, all of them are theirs, or
    /// none is.
    fn take_scratch(&mut self, scratch: &[Vec<Vec<u64>>]) {
        for it in &mut self.sizes {
            let theirs = &scratch[it.subgraph][it.operator.0];
            if it.scratch.len() <= 1 || it.scratch.len() == theirs.len() {
                it.scratch.clone_from(theirs);
            }
        }
    }

    /// All options, then all data, then what is asked for as each is prepared.
    fn push(&mut self, stack: &mut Stack) -> Vec<Preparing> {
        for it in &mut self.sizes {
            if let Some(options) = it.options {
                it.tail_bytes += stack.push(Part::Options, options, 1);
            }
        }
        for it in self.sizes.iter_mut().filter(|it| it.data_bytes > 0) {
            it.tail_bytes += stack.push_buffer(Part::OperatorData, it.data_bytes);
        }
        let mut preparing = Vec::new();
        let mut requests = 0;
        for (index, it) in self.sizes.iter_mut().enumerate() {
            for &bytes in &it.persistent {
                it.tail_bytes += stack.push_buffer(Part::Persistent, bytes);
            }
            preparing.push(Preparing {
                index,
                temporary_bytes: requests_bytes(requests) + it.temporary_bytes,
                tail_bytes: stack.bytes,
            });
            requests += it.scratch.len() as u64;
        }
        preparing
    }

    fn unknown(&self) -> Vec<UnknownOperator> {
        let unknown = self.sizes.iter().filter_map(|it| {
            Some(UnknownOperator {
                subgraph: it.subgraph,
                operator: it.operator,
                kind: it.kind.clone(),
                reason: it.unknown?,
            })
        });
        unknown.collect()
    }

    fn done(self) -> Vec<OperatorBytes> {
        let done = |it: Sizes| OperatorBytes {
            subgraph: it.subgraph,
            operator: it.operator,
            kind: it.kind,
            tail_bytes: it.tail_bytes,
            scratch_bytes: it.scratch,
        };
        self.sizes.into_iter().map(done).collect()
    }
}

impl Sizes {
    fn of(node: &FileNode, kernels: RuntimeKernels) -> Self {
        let row = row(node.kind);
        let persistent = row.and_then(|row| (row.persistent)(node, kernels));
        let scratch = of_node(node, kernels);
        let unknown = if node.kind.is_custom() {
            Some(UnknownReason::Custom)
        } else if *node.kind == Kind::VarHandle {
            Some(UnknownReason::Application)
        } else if row.is_none() {
            Some(UnknownReason::NoKernel)
        } else if persistent.is_none() || scratch.is_none() || is_refused_signal(node) {
            Some(UnknownReason::NotTaken)
        } else {
            None
        };
        Self {
            subgraph: 0,
            operator: OperatorId(0),
            kind: node.kind.clone(),
            unknown,
            options: row.and_then(|row| row.options),
            data_bytes: row.map_or(0, |row| row.data_bytes(kernels)),
            persistent: persistent.unwrap_or_default(),
            scratch: scratch.unwrap_or_default(),
            temporary_bytes: 0,
            tail_bytes: 0,
        }
    }
}

/// Structures of an operator's tensors, which exist while it is prepared, in bytes. A kernel asks
/// for each of them at most twice; of those that are named here it is known how often.
fn temporary_bytes(subgraph: &RawSubgraph, operator: &RawOperator) -> u64 {
    let bytes = |id: &TensorId| temporary_tensor_bytes(subgraph.scales[id.0]);
    let inputs = operator.inputs.iter().enumerate();
    let inputs = inputs.filter_map(|(index, id)| Some((index, id.as_ref()?)));
    let times = |index: usize| match operator.kind {
        Kind::FullyConnected
        | Kind::UnidirectionalSequenceLstm
        | Kind::Concatenation
        | Kind::Split
        | Kind::SplitV
        | Kind::LeakyRelu => 1,
        Kind::Conv2d | Kind::DepthwiseConv2d if index == 2 => 1,
        _ => 2,
    };
    let outputs = operator.outputs.iter();
    inputs
        .map(|(index, id)| times(index) * bytes(id))
        .sum::<u64>()
        + outputs.map(|id| times(0) * bytes(id)).sum::<u64>()
}

/// Variables that the model's plan leaves to the runtime. It looks the tensors of each subgraph up
/// among the first offsets.
fn push_variables(stack: &mut Stack, subgraph: &RawSubgraph, offsets: Option<&[i32]>) {
    for (index, tensor) in subgraph.tensors.iter().enumerate() {
        let is_planned = offsets.is_some_and(|offsets| offsets[index] != -1);
        if tensor.storage == Storage::Variable && !is_planned {
            stack.push_buffer(Part::Variables, tensor.size_bytes);
        }
    }
}

fn push_ends(stack: &mut Stack, subgraph: &RawSubgraph, ends: &[TensorId]) {
    stack.push_buffer(Part::Ends, POINTER_BYTES * ends.len() as u64);
    for id in ends {
        for part in tensor(subgraph.scales[id.0]) {
            stack.push(Part::Ends, part, 1);
        }
    }
}
