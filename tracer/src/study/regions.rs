//! A planned model in several memories.

use super::error::{About, PlanError, StudyError};
use super::plan::{Planned, ensure_safe};
use super::search_time::within_time;
use super::source::Source;
use dmo_planner::regions::{ArenaRegion, RegionOffset, RegionsError, assign};
use std::time::Duration;

/// A planned model in several memories.
#[derive(Debug, Clone)]
pub struct RegionPlan {
    /// Where each buffer of the planning problem lies.
    pub places: Vec<RegionOffset>,
    /// How much of each region is used, in bytes.
    pub used_bytes: Vec<u64>,
}

/// Places the buffers of a planned order; what does not fit in the first region lies in the next.
/// The inner error is that nothing was found that fits.
///
/// # Errors
/// When two regions have one name, or what was found does not pass its check.
pub fn place(
    source: &Source,
    planned: &Planned,
    regions: &[ArenaRegion],
    time: Duration,
) -> Result<Result<RegionPlan, RegionsError>, StudyError> {
    for (index, region) in regions.iter().enumerate() {
        let same = |other: &ArenaRegion| other.name == region.name;
        if regions[..index].iter().any(same) {
            let name = region.name.clone();
            return Err(PlanError::RegionTwice { name }.into());
        }
    }
    let plan = &planned.plan;
    let problem = &plan.arena.problem;
    let first = regions.first().map_or(0, |first| first.capacity_bytes);
    let places = if plan.arena_bytes <= first {
        let offsets = plan.plan.offsets.iter();
        offsets
            .map(|&offset| RegionOffset { region: 0, offset })
            .collect()
    } else {
        match within_time(time, |budget| assign(problem, regions, budget)) {
            Ok(places) => places,
            Err(error) => return Ok(Err(error)),
        }
    };
    let used = |index: usize| {
        let buffers = problem.buffers().iter().zip(&places);
        let ends = buffers
            .filter(|(_, place)| place.region == index)
            .map(|(buffer, place)| place.offset + buffer.size_bytes);
        ends.max().unwrap_or(0)
    };
    let found = RegionPlan {
        used_bytes: (0..regions.len()).map(used).collect(),
        places,
    };
    found.ensure_safe(planned, regions).about(&source.name)?;
    Ok(Ok(found))
}

impl RegionPlan {
    /// As for one arena, with the regions one above the other.
    fn ensure_safe(&self, planned: &Planned, regions: &[ArenaRegion]) -> Result<(), StudyError> {
        let mut bases = Vec::with_capacity(regions.len());
        let aligned = planned.plan.arena.problem.common_alignment();
        let mut end = 0_u64;
        for (region, used) in regions.iter().zip(&self.used_bytes) {
            if *used > region.capacity_bytes {
                let name = region.name.clone();
                return Err(PlanError::RegionOverflows { name }.into());
            }
            bases.push(end);
            // Each region begins where every buffer is aligned.
            let next = end.saturating_add(*used).checked_next_multiple_of(aligned);
            end = next.unwrap_or(u64::MAX);
        }
        let address = |buffer: usize| {
            let place = self.places[buffer];
            bases[place.region] + place.offset
        };
        let (task, arena) = (planned.task(), &planned.plan.arena);
        let tensors = arena.buffer_of.iter();
        let tensors: Vec<_> = tensors.map(|buffer| buffer.map(address)).collect();
        let scratch = arena.scratch.iter().map(|scratch| {
            let node = &task.graph.operators[scratch.operator.0];
            let bytes = node.scratch_bytes[scratch.index];
            (scratch.operator, address(scratch.buffer), bytes)
        });
        let scratch: Vec<_> = scratch.collect();
        ensure_safe(task, &planned.plan.order, &tensors, &scratch)
    }
}
