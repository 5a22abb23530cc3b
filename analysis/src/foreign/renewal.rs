//! A memory of another tool as a planning problem.

use super::{Memory, SharedReason};
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, Problem, ProblemError};

/// What is to be planned anew: buffers that the tool has as one stay one, no others overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewal {
    /// The problem.
    pub problem: Problem,
    /// For each buffer of the memory its buffer in the problem.
    pub buffer_of: Vec<usize>,
    /// How many pairs the tool lets share bytes in part, which the new plan keeps apart.
    pub kept_apart: usize,
}

impl Memory {
    /// The memory as a problem. Two buffers become one where the tool has both at the same bytes:
    /// under two names, or where an output takes the place of the input that dies.
    ///
    /// # Errors
    /// When alignments have no common multiple that fits.
    pub fn renewal(&self) -> Result<Renewal, ProblemError> {
        let buffers = self.problem.buffers();
        let mut first: Vec<usize> = (0..buffers.len()).collect();
        let mut kept_apart = 0;
        for pair in &self.shared {
            let [one, other] = pair.buffers;
            let place = |buffer: usize| (self.plan.offsets[buffer], buffers[buffer].size_bytes);
            if place(one) != place(other) {
                kept_apart += 1;
                continue;
            }
            let (one, other) = (root(&first, one), root(&first, other));
            first[one.max(other)] = one.min(other);
        }
        let mut buffer_of = vec![0; buffers.len()];
        let mut merged: Vec<Buffer> = Vec::new();
        for (index, buffer) in buffers.iter().enumerate() {
            let root = root(&first, index);
            if root == index {
                buffer_of[index] = merged.len();
                merged.push(buffer.clone());
                continue;
            }
            buffer_of[index] = buffer_of[root];
            let whole = &mut merged[buffer_of[root]];
            let alive = &buffer.alive;
            whole.alive = whole.alive.start.min(alive.start)..whole.alive.end.max(alive.end);
            whole.alignment = whole.alignment.max(buffer.alignment);
        }
        Ok(Renewal {
            problem: Problem::new(merged, &[])?.aligned_to(self.alignment.max(1))?,
            buffer_of,
            kept_apart,
        })
    }

    /// Whether some buffers share bytes as an operator's output and its dying input.
    pub fn has_dying_inputs(&self) -> bool {
        let mut pairs = self.shared.iter();
        pairs.any(|pair| matches!(pair.reason, SharedReason::InputDies(_)))
    }
}

impl Renewal {
    /// The memory's own plan, if it is one of the problem.
    pub fn own_plan(&self, memory: &Memory) -> Option<Plan> {
        let mut offsets = vec![0; self.problem.buffers().len()];
        for (&buffer, &offset) in self.buffer_of.iter().zip(&memory.plan.offsets) {
            offsets[buffer] = offset;
        }
        let plan = Plan { offsets };
        plan.check(&self.problem).is_empty().then_some(plan)
    }

    /// The offsets of the memory's buffers in a plan of the problem.
    pub fn offsets(&self, plan: &Plan) -> Vec<u64> {
        let buffers = self.buffer_of.iter();
        buffers.map(|&buffer| plan.offsets[buffer]).collect()
    }
}

/// The first of the buffers that are one with this one.
fn root(first: &[usize], mut buffer: usize) -> usize {
    while first[buffer] != buffer {
        buffer = first[buffer];
    }
    buffer
}
