//! Operators that only move data, left out: what they would store is where it is already
//! (operation removal, Blacker et al., section II-C).
//!
//! | operator | what becomes of it |
//! |---|---|
//! | reshape | input and output are the same bytes |
//! | concatenation | each input is a part of the output, and its producer stores it there |
//! | split, slice | each output is a part of the input |
//! | pad | the convolution that reads it pads by itself |
//!
//! A value is stored once, by the one operator that computes it, so that what lies in one tensor
//! stays as it is. What the application stores before an inference or reads after it never
//! becomes a part of another tensor: it alone decides where that lies.

mod fold;
mod places;
mod values;

pub use values::keeps_values;

use super::TransformError;
use crate::graph::{Graph, Kernel, Kind, Node, OperatorId, TensorId};
use crate::operator::{Operator, Shape};
use fold::Folds;
use places::{Box4, Places};
use std::collections::{BTreeSet, HashMap};

/// A graph some of whose operators are left out.
pub(super) struct Remaining {
    /// Its operators have the numbers of the original's; those that are left out touch nothing.
    pub(super) graph: Graph,
    /// What an operator reads in place of its own operand, of those that pad by themselves.
    pub(super) renamed: HashMap<OperatorId, HashMap<TensorId, TensorId>>,
}

/// Leaves operators out.
pub(super) fn remove(graph: &Graph, removed: &[OperatorId]) -> Result<Remaining, TransformError> {
    let gone: BTreeSet<OperatorId> = removed.iter().copied().collect();
    if gone.len() < removed.len() {
        let mut seen = BTreeSet::new();
        let twice = removed.iter().find(|operator| !seen.insert(**operator));
        return Err(refused(*twice.unwrap_or(&removed[0]), "is left out twice"));
    }
    let mut places = Places::new(graph);
    let mut pads = Vec::new();
    for &operator in &gone {
        match moved(graph, operator)? {
            Moved::Same(input, output) => places.same(operator, input, output)?,
            Moved::Parts(parts, side) => places.parts(operator, &parts, side)?,
            Moved::Pad => pads.push(operator),
        }
    }
    let mut folds = Folds::new(graph);
    for &pad in pads.iter().rev() {
        folds.fold(pad, &places, &gone)?;
    }
    let (mut graph, renamed) = folds.finish();
    places.settle(&mut graph)?;
    for operator in gone {
        let node = &mut graph.operators[operator.0];
        (node.inputs, node.outputs) = Default::default();
        (node.kernel, node.scratch_bytes) = Default::default();
    }
    Ok(Remaining { graph, renamed })
}

/// The operators that only move data, in the file's order. Whether one can be left out depends on
/// what else is: [`apply`](super::apply) tells.
pub fn moving(graph: &Graph) -> Vec<OperatorId> {
    let moves = |operator: &OperatorId| moved(graph, *operator).is_ok();
    graph.file_order().into_iter().filter(moves).collect()
}

fn refused(operator: OperatorId, reason: &'static str) -> TransformError {
    TransformError::Operator { operator, reason }
}

/// How an operator moves data.
enum Moved {
    /// From the one to the other, in the same order.
    Same(TensorId, TensorId),
    /// Between parts and the whole.
    Parts(Vec<PartOfTensor>, Side),
    /// Into a frame.
    Pad,
}

/// A part of a whole tensor.
struct PartOfTensor {
    part: TensorId,
    whole: TensorId,
    box4: Box4,
}

/// On which side of the operator the parts are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Inputs,
    Outputs,
}

/// How the operator moves data.
fn moved(graph: &Graph, operator: OperatorId) -> Result<Moved, TransformError> {
    let reason = "does not only move data, or is not known: it cannot be left out";
    let node = graph.operators.get(operator.0);
    let node = node.ok_or(refused(operator, "does not exist"))?;
    // A reshape has a kernel that says its sizes.
    if node.kind.keeps_bytes() && node.kind != Kind::Reshape {
        return copied(graph, node).ok_or(refused(operator, reason));
    }
    let kernel = node.kernel.as_ref().ok_or(refused(operator, reason))?;
    let moved = match (&kernel.operator, &kernel.inputs[..], &kernel.outputs[..]) {
        (Operator::Reshape(_), &[input], &[output]) => Moved::Same(input, output),
        (Operator::Concat(concat), inputs, &[output]) => {
            let axis = concat.axis.min(3) as usize;
            let mut whole = *concat.inputs.first().ok_or(refused(operator, reason))?;
            let extents = concat.inputs.iter().map(|shape| shape[axis]);
            whole[axis] = extents.fold(0, u32::saturating_add);
            let boxes = along(axis, concat.inputs.iter().copied(), whole);
            let parts = inputs.iter().zip(boxes);
            let parts = parts.map(|(&part, box4)| PartOfTensor::new(part, output, box4));
            Moved::Parts(parts.collect(), Side::Inputs)
        }
        (Operator::Split(split), &[input], outputs) => {
            let axis = split.axis.min(3) as usize;
            let shape = |&extent: &u32| {
                let mut shape = split.input;
                shape[axis] = extent;
                shape
            };
            let boxes = along(axis, split.parts.iter().map(shape), split.input);
            let parts = outputs.iter().zip(boxes);
            let parts = parts.map(|(&part, box4)| PartOfTensor::new(part, input, box4));
            Moved::Parts(parts.collect(), Side::Outputs)
        }
        (Operator::StridedSlice(slice), &[input], &[output]) => {
            // An axis of one index never takes the stride.
            let steps = slice.output.iter().zip(slice.stride);
            if steps
                .into_iter()
                .any(|(&extent, stride)| extent > 1 && stride != 1)
            {
                return Err(refused(operator, "leaves elements out: no view has steps"));
            }
            let box4 = Box4 {
                begin: slice.begin,
                shape: slice.output,
                whole: slice.input,
            };
            Moved::Parts(vec![PartOfTensor::new(output, input, box4)], Side::Outputs)
        }
        (Operator::Pad(_), &[_], &[_]) => Moved::Pad,
        _ => return Err(refused(operator, reason)),
    };
    ensure_sizes(graph, operator, node, kernel)?;
    Ok(moved)
}

/// An operator whose output holds its input's bytes.
fn copied(graph: &Graph, node: &Node) -> Option<Moved> {
    match (
        &graph.arena_inputs(node)[..],
        &graph.arena_outputs(node)[..],
    ) {
        (&[input], &[output]) => {
            let types = [input, output].map(|id| &graph.tensor(id).element_type);
            (types[0] == types[1]).then_some(Moved::Same(input, output))
        }
        _ => None,
    }
}

/// The shapes are those of the operator's tensors, each of them in the arena, and there are no
/// others.
fn ensure_sizes(
    graph: &Graph,
    operator: OperatorId,
    node: &Node,
    kernel: &Kernel,
) -> Result<(), TransformError> {
    let buffers = kernel.operator.buffers();
    let buffers = buffers.map_err(|_| refused(operator, "has a shape that makes no sense"))?;
    let sized = |ids: &[TensorId], buffers: &[crate::operator::Buffer]| {
        let fits = |(id, buffer): (&TensorId, &crate::operator::Buffer)| {
            graph.in_arena(*id) && graph.tensor(*id).size_bytes == u64::from(buffer.size_bytes())
        };
        ids.len() == buffers.len() && ids.iter().zip(buffers).all(fits)
    };
    if !sized(&kernel.inputs, &buffers.inputs) || !sized(&kernel.outputs, &buffers.outputs) {
        let reason = "moves what is no tensor of the arena: a constant, or a variable";
        return Err(refused(operator, reason));
    }
    let others = |known: &[TensorId], all: Vec<TensorId>| all.iter().any(|id| !known.contains(id));
    if others(&kernel.inputs, graph.arena_inputs(node))
        || others(&kernel.outputs, graph.arena_outputs(node))
    {
        return Err(refused(operator, "depends on another tensor of the arena"));
    }
    Ok(())
}

impl PartOfTensor {
    fn new(part: TensorId, whole: TensorId, box4: Box4) -> Self {
        Self { part, whole, box4 }
    }
}

/// Boxes that follow each other along an axis.
fn along(axis: usize, shapes: impl Iterator<Item = Shape>, whole: Shape) -> Vec<Box4> {
    let mut next = 0u32;
    let boxes = shapes.map(|shape| {
        let mut begin = [0; 4];
        begin[axis] = next;
        next = next.saturating_add(shape[axis]);
        Box4 {
            begin,
            shape,
            whole,
        }
    });
    boxes.collect()
}
