//! The geometric check of a plan: all pairs keep their least distance. It reads like the
//! definition and shares nothing with any planner.

use super::Plan;
use crate::problem::Problem;
use serde::Serialize;

/// A rule that a plan breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Violation {
    /// Index of the buffer, the lower one of two.
    pub buffer: usize,
    /// Which rule.
    pub kind: ViolationKind,
}

/// The rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// The plan has no offset for the buffer, or one too many.
    Missing,
    /// The offset is not a multiple of the buffer's alignment.
    Misaligned {
        /// Where the plan puts it.
        offset: u64,
    },
    /// The buffer had to lie elsewhere.
    Moved {
        /// Where the plan puts it.
        offset: u64,
        /// Where it had to lie.
        fixed: u64,
    },
    /// Two buffers are alive together and closer than they may be, whichever is taken for
    /// the lower one.
    TooClose {
        /// The other buffer.
        other: usize,
        /// How far the other one starts above the first.
        distance: u64,
        /// How far it would have to.
        needed: u64,
    },
}

impl Plan {
    /// Every rule that the plan breaks; none for a valid plan.
    pub fn check(&self, problem: &Problem) -> Vec<Violation> {
        let buffers = problem.buffers();
        if self.offsets.len() != buffers.len() {
            return vec![Violation {
                buffer: self.offsets.len().min(buffers.len()),
                kind: ViolationKind::Missing,
            }];
        }
        let mut broken = Vec::new();
        for (buffer, &offset) in self.offsets.iter().enumerate() {
            if !offset.is_multiple_of(buffers[buffer].alignment) {
                let kind = ViolationKind::Misaligned { offset };
                broken.push(Violation { buffer, kind });
            }
            if let Some(fixed) = buffers[buffer]
                .fixed_offset
                .filter(|&fixed| fixed != offset)
            {
                let kind = ViolationKind::Moved { offset, fixed };
                broken.push(Violation { buffer, kind });
            }
            for other in 0..buffer {
                broken.extend(self.too_close(problem, buffer, other));
            }
        }
        broken
    }

    fn too_close(&self, problem: &Problem, one: usize, other: usize) -> Option<Violation> {
        let ordered = |lower: usize, upper: usize| {
            let needed = problem.min_distance(lower, upper)?;
            let distance = self.offsets[upper].checked_sub(self.offsets[lower]);
            Some((needed, distance))
        };
        let (upward, downward) = (ordered(one, other)?, ordered(other, one)?);
        let holds = |(needed, distance): (u64, Option<u64>)| {
            distance.is_some_and(|distance| distance >= needed)
        };
        if holds(upward) || holds(downward) {
            return None;
        }
        let (buffer, other, (needed, distance)) = match upward.1 {
            Some(_) => (one, other, upward),
            None => (other, one, downward),
        };
        Some(Violation {
            buffer,
            kind: ViolationKind::TooClose {
                other,
                distance: distance.unwrap_or(0),
                needed,
            },
        })
    }
}
