//! The check of a plan of several regions. It reads like the definition and shares nothing with
//! the search.

use super::{RegionPlan, RegionProblem};
use serde::Serialize;

/// A rule that a plan of several regions breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegionViolation {
    /// Index of the buffer.
    pub buffer: usize,
    /// Which rule.
    pub kind: RegionViolationKind,
}

/// The rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionViolationKind {
    /// The plan has no place for the buffer, or one too many.
    Missing,
    /// There is no such region.
    NoRegion,
    /// The buffer is pinned to other regions.
    NotAllowed,
    /// It ends beyond its region.
    Beyond,
    /// It has to lie at another offset.
    Moved,
    /// Its offset is no multiple of its own alignment and of the region's.
    Misaligned,
    /// It is alive together with another one in the same region, and closer than it may be,
    /// whichever is taken for the lower one.
    TooClose {
        /// The other buffer.
        other: usize,
    },
}

impl RegionPlan {
    /// Every rule that the plan breaks; none for a valid plan.
    pub fn check(&self, problem: &RegionProblem) -> Vec<RegionViolation> {
        let buffers = problem.problem().buffers();
        if self.places.len() != buffers.len() {
            return vec![RegionViolation {
                buffer: self.places.len().min(buffers.len()),
                kind: RegionViolationKind::Missing,
            }];
        }
        let mut broken = Vec::new();
        for (buffer, place) in self.places.iter().enumerate() {
            let mut breaks = |kind| broken.push(RegionViolation { buffer, kind });
            let Some(region) = problem.regions().get(place.region) else {
                breaks(RegionViolationKind::NoRegion);
                continue;
            };
            let what = &buffers[buffer];
            if !problem.is_allowed(buffer, place.region) {
                breaks(RegionViolationKind::NotAllowed);
            }
            let end = place.offset.checked_add(what.size_bytes);
            if end.is_none_or(|end| end > region.capacity_bytes) {
                breaks(RegionViolationKind::Beyond);
            }
            if what.fixed_offset.is_some_and(|fixed| fixed != place.offset) {
                breaks(RegionViolationKind::Moved);
            }
            let alignments = [what.alignment, region.alignment];
            if !alignments.iter().all(|it| place.offset.is_multiple_of(*it)) {
                breaks(RegionViolationKind::Misaligned);
            }
            for other in 0..buffer {
                if self.are_too_close(problem, buffer, other) {
                    breaks(RegionViolationKind::TooClose { other });
                }
            }
        }
        broken
    }

    fn are_too_close(&self, problem: &RegionProblem, one: usize, other: usize) -> bool {
        if self.places[one].region != self.places[other].region {
            return false;
        }
        let keeps = |lower: usize, upper: usize| {
            let [below, above] = [lower, upper].map(|buffer| self.places[buffer].offset);
            let distance = above.checked_sub(below);
            let least = problem.problem().min_distance(lower, upper);
            least.is_none_or(|least| distance.is_some_and(|distance| distance >= least))
        };
        !keeps(one, other) && !keeps(other, one)
    }
}
