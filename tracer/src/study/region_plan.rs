//! The plan of a library whose tensors lie in several memories, by the accesses of its kernels.

use super::error::{About, BuildError, StudyError};
use super::kernel_request::ModelKernels;
use super::placed::PlacedModel;
use super::plan::{PlanRequest, Planned, plan, plan_as_it_is};
use super::region_use::RegionUse;
use super::regions::{OnKernels, RegionRequest, place_model};
use super::session::Session;
use super::source::Source;
use crate::codegen::memory::PlannedMemories;
use crate::codegen::network::arena_with_states;
use crate::model::traffic::KernelTraffic;
use dmo_analysis::wording::grouped;
use dmo_planner::regions::NoRoom;

/// A plan in memories.
struct Placed {
    planned: Planned,
    /// Cycles of an inference, or instructions where they are not known, and those that the core
    /// waits for memory.
    time: u64,
}

/// The plan of a model in several memories. Where the work may change, the fastest of two: what
/// needs the smallest arena, and the model as it is.
///
/// # Errors
/// When neither fits, or the model cannot be planned.
pub(super) fn plan_in_regions(
    source: &mut Source,
    regions: &RegionRequest,
    request: &PlanRequest,
    kernels: &ModelKernels,
    session: &Session,
) -> Result<Planned, StudyError> {
    let smallest = plan(source, request, session)?;
    let smallest = placed(source, smallest, regions, kernels)?;
    let recipe = source.recipe().cloned();
    let Some(recipe) = recipe.filter(|_| !request.changes.slices) else {
        return taken(source, smallest);
    };
    source.follow_nothing();
    let as_it_is = plan_as_it_is(source, request, request.time, session)?;
    let as_it_is = placed(source, as_it_is, regions, kernels)?;
    let is_smallest_taken = match (&smallest, &as_it_is) {
        (Ok(smallest), Ok(as_it_is)) => smallest.time < as_it_is.time,
        (smallest, as_it_is) => smallest.is_ok() || as_it_is.is_err(),
    };
    if is_smallest_taken {
        source.follow(recipe)?;
        return taken(source, smallest);
    }
    taken(source, as_it_is)
}

fn taken(source: &Source, placed: Result<Placed, NoRoom>) -> Result<Planned, StudyError> {
    let placed = placed.map_err(|error| {
        let model = source.name.clone();
        BuildError::NoRoom { model, error }
    });
    Ok(placed?.planned)
}

/// Places what was planned by the accesses of the kernels.
fn placed(
    source: &Source,
    planned: Planned,
    regions: &RegionRequest,
    kernels: &ModelKernels,
) -> Result<Result<Placed, NoRoom>, StudyError> {
    let limits = super::KERNEL_LIMITS;
    let deployed = source.deploy(kernels, limits)?;
    let deployment = deployed.model();
    let traffic = KernelTraffic::measure(deployment, &planned.plan.order, limits);
    let on_kernels = OnKernels {
        deployment,
        traffic: traffic.about(&source.name)?,
        state_bytes: arena_with_states(deployment, 0)?,
    };
    let found = place_model(source, &planned, regions, Some(&on_kernels))?;
    Ok(found.map(|found| Placed {
        time: on_kernels.traffic.time.saturating_add(found.wait_cycles()),
        planned: planned.in_regions(found),
    }))
}

/// The memories of a plan as its library has them.
pub(super) fn memories(planned: &Planned) -> PlannedMemories {
    let placed = planned.placed.as_ref();
    placed.map_or_else(PlannedMemories::default, |placed| PlannedMemories {
        regions: placed.regions.clone(),
        states: placed.states,
    })
}

/// What was counted without the states, and accesses to states as they were measured.
pub(super) fn with_states(planned: &Planned, mut counted: Vec<u64>, inferences: u64) -> Vec<u64> {
    let placed = planned.placed.as_ref();
    if let Some((placed, states)) = placed.and_then(|placed| Some((placed, placed.states?)))
        && let Some(count) = counted.get_mut(states.region)
    {
        *count += placed.state_accesses * inferences;
    }
    counted
}

/// What each memory was planned for and what was counted in it, of one inference.
pub(super) fn region_uses(planned: &Planned, counted: &[u64], inferences: u64) -> Vec<RegionUse> {
    let Some(placed) = &planned.placed else {
        return Vec::new();
    };
    let regions = placed.regions.iter().enumerate();
    let uses = regions.map(|(index, known)| {
        let counted = counted.get(index).copied().unwrap_or(0);
        RegionUse {
            region: known.region.clone(),
            used_bytes: known.used_bytes,
            planned_accesses: Some(placed.accesses[index]),
            accesses: counted / inferences.max(1),
        }
    });
    uses.collect()
}

/// What lies in the memories, and what is proven of it, in a sentence.
pub(super) fn region_sentence(placed: &PlacedModel) -> String {
    let proven = if placed.is_optimal() {
        ", and no plan for this order costs less"
    } else {
        ""
    };
    format!(
        "The kernels' accesses to the memories cost {} cycles in an inference{proven}.",
        grouped(placed.cost)
    )
}
