//! Of plans with the same arena, one that relies on few overlaps: each that is not needed is
//! a risk less, when the kernels turn out to be others.

use dmo_planner::budget::Budget;
use dmo_planner::plan::Plan;
use dmo_planner::plan::exact::{self, Decision};
use dmo_planner::problem::Problem;

/// Steps that a decision may take.
const NODES: u64 = 2000;

/// A plan of the same arena whose overlaps are each needed, as far as the searches see: taking
/// them one after the other, the smallest first, without each of them no plan was found.
pub(super) fn with_few_overlaps(problem: &Problem, plan: Plan, budget: &mut Budget<'_>) -> Plan {
    let capacity = plan.arena_bytes(problem);
    let mut plan = plan;
    let mut needed = problem.clone();
    let mut used = Vec::new();
    for (lower, upper) in problem.overlapping_pairs() {
        match shared_bytes(problem, &plan, lower, upper) {
            0 => needed.set_apart(lower, upper),
            bytes => used.push((bytes, lower, upper)),
        }
    }
    used.sort_unstable();
    for (_, lower, upper) in used {
        if budget.is_spent() {
            break;
        }
        let mut without = needed.clone();
        without.set_apart(lower, upper);
        let kept = match shared_bytes(problem, &plan, lower, upper) {
            // An earlier change has moved them apart.
            0 => Decision::Possible(plan.offsets.clone()),
            _ => exact::decide(&without, capacity, NODES, budget),
        };
        if let Decision::Possible(offsets) = kept {
            plan = Plan { offsets };
            needed = without;
        }
    }
    plan
}

fn shared_bytes(problem: &Problem, plan: &Plan, one: usize, other: usize) -> u64 {
    let end = |buffer: usize| plan.offsets[buffer] + problem.buffers()[buffer].size_bytes;
    let start = plan.offsets[one].max(plan.offsets[other]);
    end(one).min(end(other)).saturating_sub(start)
}
