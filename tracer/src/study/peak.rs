//! What the arena of a plan is needed for: the operator at which most of it is in use.

use super::plan::Planned;
use dmo_analysis::arena::Arena;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_planner::plan::Peak;
use schemars::JsonSchema;
use serde::Serialize;

/// The operator at which most bytes of the arena are in use; of several, the one that needs most by
/// itself, then the first.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ArenaPeak {
    /// The operator; `None` before the first one, when the inputs have been stored.
    pub operator: Option<OperatorId>,
    /// Its kind; empty if there is no operator.
    pub kind: String,
    /// Bytes in use while it runs; those that buffers share count once.
    pub used_bytes: u64,
    /// What is in use, from the lowest offset up.
    pub buffers: Vec<PeakBuffer>,
}

/// A buffer that is in use at the peak: of a tensor, or scratch.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PeakBuffer {
    /// The tensor, of several in one buffer the first; `None` of scratch.
    pub tensor: Option<TensorId>,
    /// The tensor's name; empty of scratch.
    pub name: String,
    /// Where it begins in the arena, in bytes.
    pub offset_bytes: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
}

impl ArenaPeak {
    /// The peak of a plan; `None` if the arena is empty.
    pub fn of(planned: &Planned) -> Option<Self> {
        let plan = &planned.plan;
        let arena = &plan.arena;
        let peak = plan.plan.peak(&arena.problem)?;
        let graph = &planned.overlaps.graph;
        let operator = first_operator(&peak, &plan.order);
        let kind = operator.map(|id| graph.operators[id.0].kind.to_string());
        let buffers = peak.buffers.iter().map(|&buffer| {
            let tensor = tensor_of(arena, buffer);
            PeakBuffer {
                tensor,
                name: tensor.map_or_else(String::new, |id| graph.tensor(id).name.clone()),
                offset_bytes: plan.plan.offsets[buffer],
                size_bytes: arena.problem.buffers()[buffer].size_bytes,
            }
        });
        Some(Self {
            operator,
            kind: kind.unwrap_or_default(),
            used_bytes: peak.used_bytes,
            buffers: buffers.collect(),
        })
    }

    /// Bytes that more than one buffer has: what overlaps save here.
    pub fn shared_bytes(&self) -> u64 {
        let all: u64 = self.buffers.iter().map(|buffer| buffer.size_bytes).sum();
        all - self.used_bytes
    }
}

/// Step 0 is that of the inputs, the operators follow from 1 on.
fn first_operator(peak: &Peak, order: &[OperatorId]) -> Option<OperatorId> {
    let last = peak.steps.end.saturating_sub(1);
    let step = peak.steps.start.max(1);
    (step <= last)
        .then(|| order.get(step as usize - 1).copied())
        .flatten()
}

fn tensor_of(arena: &Arena, buffer: usize) -> Option<TensorId> {
    let found = arena.buffer_of.iter().position(|&it| it == Some(buffer));
    found.map(TensorId)
}
