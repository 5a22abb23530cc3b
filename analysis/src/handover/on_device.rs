//! What TensorFlow Lite Micro makes of a plan.

use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::{Graph, OperatorId, TensorId, overlaps};
use crate::schedule::lifetime::lifetimes;
use dmo_planner::plan::{Plan, ViolationKind, tflm};
use dmo_planner::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// What TensorFlow Lite Micro makes of a plan.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OnDevice {
    /// The part of its arena that is shared by tensors and scratch buffers, in bytes; perhaps less
    /// if the graph has inputs that nothing loads. What it allocates for itself comes on top.
    pub arena_bytes: u64,
    /// Whether what it places itself, scratch buffers above all, keeps apart from all else; and
    /// where the graph's inputs are to be kept, from these too, for it does not know that they are.
    pub scratch_is_apart: bool,
    /// Where it does not: the names of a buffer that it places, and of one that shares bytes.
    #[serde(skip)]
    pub clash: Option<[String; 2]>,
    /// Where each of the graph's tensors lies; `None` if it is not in the arena.
    #[serde(skip)]
    pub tensors: Vec<Option<u64>>,
    /// Scratch buffers: the operator, offset and size in bytes.
    #[serde(skip)]
    pub scratch: Vec<(OperatorId, u64, u64)>,
}

/// Simulates TensorFlow Lite Micro: tensors with an offset stay there, everything else is
/// placed by its greedy planner. `keep_inputs` says whether the graph's inputs have to be in memory
/// to the end of an inference ([`Layout::keep_inputs`]).
///
/// # Errors
/// When the order is not one of the graph's, or an offset is not a multiple of 16.
pub fn on_device(
    graph: &Graph,
    order: &[OperatorId],
    offsets: &[Option<u64>],
    keep_inputs: bool,
) -> Result<OnDevice, ArenaError> {
    lifetimes(graph, order)?;
    // The file that it is given has the operators in this order.
    let operators = order.iter().map(|id| graph.operators[id.0].clone());
    let graph = &Graph {
        operators: operators.collect(),
        ..graph.clone()
    };
    let arena = |keep_inputs: bool| {
        let layout = Layout {
            keep_inputs,
            ..Layout::tflm()
        };
        Arena::new(graph, &graph.file_order(), &overlaps::none(graph), layout)
    };
    let needed = arena(keep_inputs)?;
    let arena = arena(false)?;
    let mut fixed = vec![None; arena.problem.buffers().len()];
    let tensors = arena.buffer_of.iter().zip(offsets).enumerate();
    for (index, (buffer, offset)) in tensors {
        let is_view = graph.views.contains_key(&TensorId(index));
        if let Some(buffer) = buffer.filter(|_| !is_view) {
            fixed[buffer] = *offset;
        }
    }
    let seen = without_unread_inputs(graph, &arena)?.with_offsets(&fixed)?;
    let seen_plan = tflm::plan(&seen);
    let seen_bytes = seen_plan.arena_bytes(&seen);
    // For all that is known here, the first step might want an input that nothing loads.
    let plan = if keep_inputs {
        seen_plan
    } else {
        tflm::plan(&arena.problem.with_offsets(&fixed)?)
    };
    let arena_bytes = plan.arena_bytes(&arena.problem).max(seen_bytes);
    let clash = own_clash(&needed.problem, &fixed, &plan);
    Ok(OnDevice {
        arena_bytes,
        scratch_is_apart: clash.is_none(),
        clash,
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

/// The problem as TensorFlow Lite Micro sees it: an input that no operator loads is in use before
/// the first step only, whereas an [`Arena`] has it there in that step too. So it may place a
/// buffer over such an input, which is lost to who wants it kept.
fn without_unread_inputs(graph: &Graph, arena: &Arena) -> Result<Problem, ArenaError> {
    // Only views make its displacements, which are an accelerator's and are loaded.
    if !graph.views.is_empty() {
        return Ok(arena.problem.clone());
    }
    let mut buffers = arena.problem.buffers().to_vec();
    for input in graph.unread_inputs() {
        if let Some(buffer) = arena.buffer_of[input.0] {
            buffers[buffer].alive = 0..1;
        }
    }
    Ok(Problem::new(buffers, &[])?)
}

/// The names of two buffers that the plan puts where the problem says they may not lie, the first
/// without a given offset.
pub(crate) fn own_clash(
    problem: &Problem,
    fixed: &[Option<u64>],
    plan: &Plan,
) -> Option<[String; 2]> {
    plan.check(problem).iter().find_map(|broken| {
        let other = match broken.kind {
            ViolationKind::TooClose { other, .. } => other,
            _ => broken.buffer,
        };
        let mut pair = [broken.buffer, other];
        pair.sort_by_key(|&buffer| fixed[buffer].is_some());
        let name = |buffer: usize| problem.buffers()[buffer].name.clone();
        fixed[pair[0]].is_none().then(|| pair.map(name))
    })
}
