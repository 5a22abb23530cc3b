//! When a plan uses most of its arena, and by what.

use super::Plan;
use crate::problem::{Problem, Section};
use std::ops::Range;

/// The stretch of steps at which a plan uses most bytes of the arena.
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
    /// The first of the stretches of steps at which most bytes of the arena are in use; `None` of a
    /// problem without buffers.
    pub fn peak(&self, problem: &Problem) -> Option<Peak> {
        let peaks = problem
            .sections()
            .into_iter()
            .map(|section| self.usage(problem, section));
        // `max_by_key` would give the last one.
        peaks.reduce(|most, next| {
            if next.used_bytes > most.used_bytes {
                next
            } else {
                most
            }
        })
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
