//! What TensorFlow Lite Micro makes of a plan for a model with several subgraphs.

use super::{TflmError, planned};
use crate::arena::{Arena, Layout};
use crate::graph::tflite::{Linked, Model};
use crate::graph::{Graph, TensorId, overlaps};
use crate::handover::{OnDevice, own_clash};
use dmo_planner::plan::Plan;

/// Simulates TensorFlow Lite Micro, as [`on_device`](crate::handover::on_device) does for a model of
/// one subgraph: what has no offset is placed by the runtime's rules for all subgraphs. `graph` is
/// the linked graph with the scratch buffers of the kernels that run it.
///
/// # Errors
/// When the bytes are not the model, there are not as many offsets as tensors, or one is not a
/// multiple of 16 or needs more than 31 bits.
pub fn on_device(
    file: &[u8],
    (model, linked): (&Model, &Linked),
    graph: &Graph,
    offsets: &[Option<u64>],
    keep_inputs: bool,
) -> Result<OnDevice, TflmError> {
    let word = |offset: &Option<u64>| match *offset {
        Some(offset) => i32::try_from(offset).map_err(|_| TflmError::Range { offset }),
        None => Ok(-1),
    };
    let words: Vec<i32> = offsets.iter().map(word).collect::<Result<_, _>>()?;
    let head = planned(file, &words, &linked.scratch_bytes(model, graph))?;
    let layout = Layout {
        keep_inputs,
        ..Layout::tflm()
    };
    let arena = Arena::new(graph, &graph.file_order(), &overlaps::none(graph), layout)?;
    let mut fixed = vec![None; arena.problem.buffers().len()];
    let mut placed = fixed.clone();
    for (index, buffer) in arena.buffer_of.iter().enumerate() {
        let is_view = graph.views.contains_key(&TensorId(index));
        if let Some(buffer) = buffer.filter(|_| !is_view) {
            (fixed[buffer], placed[buffer]) = (offsets[index], head.tensors[index]);
        }
    }
    let mut first_operators = Vec::new();
    let mut operators = 0;
    for subgraph in &model.graphs {
        first_operators.push(operators);
        operators += subgraph.operators.len();
    }
    for scratch in &arena.scratch {
        let of_file = linked.scratch_of(scratch.operator, scratch.index);
        placed[scratch.buffer] = of_file.and_then(|it| {
            let operator = first_operators.get(it.subgraph)? + it.operator.0;
            *head.scratch.get(operator)?.get(it.index)?
        });
    }
    arena.problem.with_offsets(&fixed)?;
    let offsets: Option<Vec<u64>> = placed.into_iter().collect();
    let plan = Plan {
        offsets: offsets.ok_or(TflmError::Scratch)?,
    };
    let clash = own_clash(&arena.problem, &fixed, &plan);
    let scratch = arena.scratch.iter().map(|scratch| {
        let bytes = graph.operators[scratch.operator.0].scratch_bytes[scratch.index];
        (scratch.operator, plan.offsets[scratch.buffer], bytes)
    });
    Ok(OnDevice {
        arena_bytes: head.bytes,
        scratch_is_apart: clash.is_none(),
        clash,
        tensors: arena.tensor_offsets(&plan),
        scratch: scratch.collect(),
    })
}
