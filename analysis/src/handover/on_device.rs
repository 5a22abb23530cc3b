//! What TensorFlow Lite Micro makes of a plan.

use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::{Graph, OperatorId, overlaps};
use crate::schedule::lifetime::lifetimes;
use dmo_planner::plan::{Plan, ViolationKind, tflm};
use serde::Serialize;

/// What TensorFlow Lite Micro makes of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnDevice {
    /// The part of its arena that is shared by tensors and scratch buffers, in bytes. What it
    /// allocates for itself comes on top.
    pub arena_bytes: u64,
    /// Whether scratch buffers, which it places itself, keep apart from all else.
    pub scratch_is_apart: bool,
    /// Where each of the graph's tensors lies; none where it is not in the arena.
    #[serde(skip)]
    pub tensors: Vec<Option<u64>>,
    /// Scratch buffers: the operator, offset and size in bytes.
    #[serde(skip)]
    pub scratch: Vec<(OperatorId, u64, u64)>,
}

/// Simulates TensorFlow Lite Micro: tensors with an offset stay there, everything else is
/// placed by its greedy planner.
///
/// # Errors
/// When the order is not one of the graph's, or an offset is not a multiple of 16.
pub fn on_device(
    graph: &Graph,
    order: &[OperatorId],
    offsets: &[Option<u64>],
) -> Result<OnDevice, ArenaError> {
    lifetimes(graph, order)?;
    // The file that it is given has the operators in this order.
    let operators = order.iter().map(|id| graph.operators[id.0].clone());
    let graph = &Graph {
        operators: operators.collect(),
        ..graph.clone()
    };
    let arena = Arena::new(
        graph,
        &graph.file_order(),
        &overlaps::none(graph),
        Layout::tflm(),
    )?;
    let mut fixed = vec![None; arena.problem.buffers().len()];
    for (buffer, offset) in arena.buffer_of.iter().zip(offsets) {
        if let Some(buffer) = buffer {
            fixed[*buffer] = *offset;
        }
    }
    let problem = arena.problem.with_offsets(&fixed)?;
    let plan = tflm::plan(&problem);
    Ok(OnDevice {
        arena_bytes: plan.arena_bytes(&problem),
        scratch_is_apart: scratch_is_apart(&arena, &plan),
        tensors: arena.tensor_offsets(&plan),
        scratch: arena
            .scratch
            .iter()
            .map(|scratch| {
                let bytes = graph.operators[scratch.operator.0].scratch_bytes[scratch.index];
                let operator = order[scratch.operator.0];
                (operator, plan.offsets[scratch.buffer], bytes)
            })
            .collect(),
    })
}

fn scratch_is_apart(arena: &Arena, plan: &Plan) -> bool {
    let is_scratch = |buffer: usize| arena.scratch.iter().any(|scratch| scratch.buffer == buffer);
    plan.check(&arena.problem).iter().all(|broken| {
        let other = match broken.kind {
            ViolationKind::TooClose { other, .. } => other,
            _ => broken.buffer,
        };
        !is_scratch(broken.buffer) && !is_scratch(other)
    })
}
