//! What is in the arena before and after each operator.

use super::{Needed, Resident};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::ScheduleError;
use crate::schedule::uses::Uses;
use crate::verify::Positions;

/// The content that a step finds, and what it has to leave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alive {
    /// What holds content when the operator begins, in the order of the graph's tensors.
    pub before: Vec<Resident>,
    /// What has to be there when it has ended, in the order of the graph's tensors.
    pub after: Vec<Needed>,
}

/// For each step of the order, the tensors of the arena with content: the application's
/// inputs from the start, what operators have stored until its last reader, the graph's
/// outputs (and inputs, where they are kept) to the end. Views are bytes of the tensors that they
/// lie in.
///
/// What one step has to leave is what the next one finds, so that steps that are clean one by
/// one are clean together.
///
/// # Errors
/// When the order is not one of the graph's.
pub fn alive(
    graph: &Graph,
    order: &[OperatorId],
    positions: Positions<'_>,
) -> Result<Vec<Alive>, ScheduleError> {
    let uses = Uses::new(graph, order, positions.keep_inputs)?;
    let mut steps = vec![Alive::default(); order.len()];
    let placed = positions.tensors.iter().enumerate();
    for (index, offset) in placed.take(graph.tensors.len()) {
        let (Some(offset), tensor) = (*offset, TensorId(index)) else {
            continue;
        };
        for step in uses.life(tensor) {
            let Some(alive) = step.checked_sub(1).and_then(|at| steps.get_mut(at)) else {
                continue;
            };
            let held = uses.held_before(tensor, step);
            if !held.is_empty() {
                alive.before.push(Resident {
                    tensor,
                    offset,
                    size_bytes: graph.tensor(tensor).size_bytes,
                    held,
                });
            }
            let bytes = uses.held_after(tensor, step);
            if !bytes.is_empty() {
                alive.after.push(Needed { tensor, bytes });
            }
        }
    }
    Ok(steps)
}
