//! A planned model in several memories, placed by how often each tensor is accessed.

use super::error::{About, PlanError, StudyError};
use super::plan::{Planned, ensure_safe};
use super::search_time::within_time;
use super::source::Source;
use dmo_analysis::arena::{Arena, ArenaTraffic};
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_planner::plan::Plan;
use dmo_planner::regions::{ArenaRegion, NoRoom, RegionOffset, RegionPlan, RegionProblem, place};
use std::time::Duration;

/// How a model is to be placed in several memories.
#[derive(Debug, Clone, Default)]
pub struct RegionRequest {
    /// The memories.
    pub regions: Vec<ArenaRegion>,
    /// What has to lie in certain ones.
    pub pins: Vec<Pin>,
    /// The search ends after this time with the best so far.
    pub time: Duration,
}

/// Something that has to lie in certain regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// What is pinned.
    pub what: Pinned,
    /// Names of the regions in which it may lie.
    pub regions: Vec<String>,
}

/// What can be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinned {
    /// The model's inputs, for instance where DMA reaches.
    Inputs,
    /// The model's outputs.
    Outputs,
    /// All scratch buffers.
    Scratch,
    /// One tensor of the file.
    Tensor(TensorId),
}

/// A planned model in several memories.
#[derive(Debug, Clone)]
pub struct PlacedModel {
    /// Where each tensor of the model lies; `None` if it is in no region.
    pub tensors: Vec<Option<RegionOffset>>,
    /// Where the scratch buffers lie: the operator, which of its own, the place, the size in bytes.
    pub scratch: Vec<(OperatorId, usize, RegionOffset, u64)>,
    /// How much of each region is used, in bytes.
    pub used_bytes: Vec<u64>,
    /// Accesses to all that lies in each region.
    pub accesses: Vec<u64>,
    /// Accesses to the buffer in which each tensor lies.
    pub accesses_of: Vec<Option<u64>>,
    /// What all accesses cost.
    pub cost: u64,
    /// No plan for this order costs less.
    pub bound: u64,
    /// The operators whose accesses are assumed: each element once.
    pub assumed: Vec<OperatorId>,
}

/// Places the tensors of a planned order so that their accesses cost least. The inner error is
/// that nothing fits, or was found that does.
///
/// # Errors
/// When the regions or pins make no sense, or what was found does not pass its checks.
pub fn place_model(
    source: &Source,
    planned: &Planned,
    request: &RegionRequest,
) -> Result<Result<PlacedModel, NoRoom>, StudyError> {
    let task = planned.task();
    let (order, layout) = (&planned.plan.order, task.layout);
    // With all overlaps: a plan of one arena may do without some.
    let arena = Arena::new(task.graph, order, task.overlaps, layout).about(&source.name)?;
    let ArenaTraffic { accesses, assumed } = arena.traffic(task.graph);
    let regions = request.regions.clone();
    let problem = RegionProblem::new(arena.problem.clone(), regions, accesses);
    let mut problem = problem.map_err(PlanError::from)?;
    for pin in &request.pins {
        apply(pin, &mut problem, &arena, planned)?;
    }
    let found = match within_time(request.time, |budget| place(&problem, budget)) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    if !found.plan.check(&problem).is_empty() {
        let problem = source.name.clone();
        return Err(PlanError::InvalidPlan { problem }.into());
    }
    let places = &found.plan.places;
    let offsets = places.iter().map(|place| place.offset).collect();
    let offsets = arena.tensor_offsets(&Plan { offsets });
    let tensors = offsets.into_iter().zip(&arena.buffer_of);
    let tensors = tensors.map(|(offset, buffer)| {
        let region = places[(*buffer)?].region;
        offset.map(|offset| RegionOffset { region, offset })
    });
    let scratch = arena.scratch.iter().map(|scratch| {
        let node = &task.graph.operators[scratch.operator.0];
        let bytes = node.scratch_bytes[scratch.index];
        let place = places[scratch.buffer];
        (scratch.operator, scratch.index, place, bytes)
    });
    let mut accesses = vec![0; problem.regions().len()];
    for (place, count) in places.iter().zip(problem.accesses()) {
        accesses[place.region] += count;
    }
    let of_buffer = |buffer: &Option<usize>| buffer.map(|buffer| problem.accesses()[buffer]);
    let placed = PlacedModel {
        tensors: tensors.collect(),
        scratch: scratch.collect(),
        used_bytes: problem.used_bytes(&found.plan),
        accesses,
        accesses_of: arena.buffer_of.iter().map(of_buffer).collect(),
        cost: found.cost,
        bound: found.bound,
        assumed,
    };
    placed
        .ensure_safe(planned, &problem, &found.plan)
        .about(&source.name)?;
    Ok(Ok(placed))
}

/// Pins the buffers of what is pinned.
fn apply(
    pin: &Pin,
    problem: &mut RegionProblem,
    arena: &Arena,
    planned: &Planned,
) -> Result<(), PlanError> {
    let graph = planned.task().graph;
    let mut regions = Vec::with_capacity(pin.regions.len());
    for name in &pin.regions {
        let mut known = problem.regions().iter();
        let region = known.position(|region| region.name == *name);
        regions.push(region.ok_or_else(|| PlanError::PinnedNowhere { name: name.clone() })?);
    }
    let of_tensors = |tensors: &[TensorId]| -> Vec<usize> {
        let buffers = tensors.iter().filter_map(|id| arena.buffer_of[id.0]);
        buffers.collect()
    };
    let buffers = match pin.what {
        Pinned::Inputs => of_tensors(&graph.inputs),
        Pinned::Outputs => of_tensors(&graph.outputs),
        Pinned::Scratch => arena.scratch.iter().map(|it| it.buffer).collect(),
        Pinned::Tensor(id) => {
            let (tensor, tensors) = (id.0, graph.tensors.len());
            let known = arena.buffer_of.get(tensor);
            let buffer = known.ok_or(PlanError::PinOfNone { tensor, tensors })?;
            vec![buffer.ok_or(PlanError::PinOfOutside { tensor })?]
        }
    };
    for buffer in buffers {
        problem.pin(buffer, &regions)?;
    }
    Ok(())
}

impl PlacedModel {
    /// Whether the plan is proven to be the best for its order.
    pub fn is_optimal(&self) -> bool {
        self.cost == self.bound
    }

    /// As for one arena, with the regions one above the other.
    fn ensure_safe(
        &self,
        planned: &Planned,
        problem: &RegionProblem,
        plan: &RegionPlan,
    ) -> Result<(), StudyError> {
        let aligned = problem.problem().common_alignment();
        let mut bases = Vec::with_capacity(self.used_bytes.len());
        let mut end = 0_u64;
        for (region, used) in problem.regions().iter().zip(problem.used_bytes(plan)) {
            if used > region.capacity_bytes {
                let name = region.name.clone();
                return Err(PlanError::RegionOverflows { name }.into());
            }
            bases.push(end);
            // Each region begins where every buffer is aligned.
            let next = end.saturating_add(used).checked_next_multiple_of(aligned);
            end = next.unwrap_or(u64::MAX);
        }
        let address = |place: RegionOffset| bases[place.region] + place.offset;
        let tensors = self.tensors.iter();
        let tensors: Vec<_> = tensors.map(|place| place.map(address)).collect();
        let scratch = self.scratch.iter();
        let scratch: Vec<_> = scratch
            .map(|&(operator, _, place, bytes)| (operator, address(place), bytes))
            .collect();
        ensure_safe(planned.task(), &planned.plan.order, &tensors, &scratch)
    }
}
