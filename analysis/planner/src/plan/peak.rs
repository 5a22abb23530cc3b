//! When a plan uses most of its arena, and by what.

use super::Plan;
use crate::problem::{Problem, Section};
use std::ops::Range;

/// A stretch of steps at which a plan uses most bytes of the arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peak {
    /// The steps, half-open.
    pub steps: Range<u32>,
    /// Bytes in use; those that buffers share count once.
    pub used_bytes: u64,
    /// The buffers that are alive then, from the lowest offset up.
    pub buffers: Vec<usize>,
}

impl Plan {
    /// The stretch of steps at which most bytes of the arena are in use. Of several, that which needs
    /// most by itself, however the buffers lie, since it is why the arena is no smaller; then the
    /// first. `None` of a problem without buffers.
    pub fn peak(&self, problem: &Problem) -> Option<Peak> {
        let sections = problem.sections().into_iter();
        let usages: Vec<Peak> = sections
            .map(|section| self.usage(problem, section))
            .collect();
        let most = usages.iter().map(|peak| peak.used_bytes).max()?;
        let partners = problem.partners();
        let needed = |peak: &Peak| {
            let mut alive = peak.buffers.clone();
            alive.sort_unstable();
            problem.step_bound(&alive, &partners)
        };
        let peaks = usages.into_iter().filter(|peak| peak.used_bytes == most);
        // The last of equals, which is the first of all.
        peaks.rev().max_by_key(needed)
    }

    fn usage(&self, problem: &Problem, section: Section) -> Peak {
        let mut buffers = section.alive;
        buffers.sort_by_key(|&buffer| (self.offsets[buffer], buffer));
        let (mut used_bytes, mut used_to) = (0, 0);
        for &buffer in &buffers {
            let start = self.offsets[buffer];
            let end = start + problem.buffers()[buffer].size_bytes;
            used_bytes += end.saturating_sub(start.max(used_to));
            used_to = used_to.max(end);
        }
        Peak {
            steps: section.steps,
            used_bytes,
            buffers,
        }
    }
}
