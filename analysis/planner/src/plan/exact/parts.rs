//! A search that takes a problem apart in time: a core of buffers is placed first, then what lies
//! between them, each part by itself.
//!
//! ```text
//!  core  +-----------------------------+
//!        +-----------------------------+     parts that are never alive together
//!  parts   +--+ +-+   +--+ +-+   +--+        cannot be in each other's way
//! ```
//!
//! At first the core is what is alive together with many others. A part that has no place between
//! the core joins it, so that in the end all are in the core that matter to each other. What is
//! impossible for the core is impossible for all.

use super::{Decision, Optimum, STRATEGIES, decide, extent, orient};
use crate::budget::Budget;
use crate::plan::{Family, Plan};
use crate::problem::Problem;

/// A buffer that is alive together with more than so many others is of the core.
const MANY: usize = 12;

/// Decisions that a search may take at first.
const FIRST_NODES: u64 = 1000;

/// The smallest arena, as [`plan`](super::plan): quicker where many buffers are alive for a short
/// time between a few that are alive for long, as tiles are. Of equal plans it may give another.
///
/// The plan is valid unless buffers whose offset is given clash with one another.
pub fn plan_in_parts(problem: &Problem, budget: &mut Budget<'_>) -> Optimum {
    let bound = problem.lower_bound();
    budget.spend(extent(problem));
    let at_bound = decide_in_parts(problem, bound, FIRST_NODES, budget);
    if let Some(plan) = valid(problem, &at_bound) {
        return Optimum {
            arena_bytes: plan.arena_bytes(problem),
            plan,
            bound_bytes: bound,
        };
    }
    let mut best = by_strategy(problem, budget);
    best.bound_bytes = bound + u64::from(at_bound == Decision::Impossible);
    let mut nodes = FIRST_NODES;
    while !best.is_optimal() && !budget.is_spent() {
        let (bound, arena) = (best.bound_bytes, best.arena_bytes);
        // The bound itself has been tried. From below in halves, and at last right below.
        let capacities = [bound + (arena - bound) / 2, arena - 1];
        let decided = capacities.into_iter().find_map(|capacity| {
            match decide_in_parts(problem, capacity, nodes, budget) {
                Decision::Unknown => None,
                decision => Some((capacity, decision)),
            }
        });
        match decided {
            None => nodes = nodes.saturating_mul(2),
            Some((capacity, Decision::Impossible)) => best.bound_bytes = capacity + 1,
            Some((_, possible)) => {
                let Some(plan) = valid(problem, &possible) else {
                    return best;
                };
                best.arena_bytes = plan.arena_bytes(problem);
                best.plan = plan;
            }
        }
    }
    best
}

/// The plan that was found, if it is one.
fn valid(problem: &Problem, decision: &Decision) -> Option<Plan> {
    let Decision::Possible(offsets) = decision else {
        return None;
    };
    let plan = Plan {
        offsets: offsets.clone(),
    };
    plan.check(problem).is_empty().then_some(plan)
}

/// The best plan of those that need no search; where something may overlap, of those that let it.
fn by_strategy(problem: &Problem, budget: &mut Budget<'_>) -> Optimum {
    budget.spend(super::HEURISTICS * extent(problem));
    let has_overlaps = problem.has_overlaps();
    let strategies = STRATEGIES.iter().rev().filter(|strategy| {
        strategy.family == Family::Offsets && (strategy.uses_overlaps || !has_overlaps)
    });
    let plans = strategies.filter_map(|strategy| strategy.plan(problem));
    let plans = plans.filter(|plan| plan.check(problem).is_empty());
    let best = plans.min_by_key(|plan| plan.arena_bytes(problem));
    let plan = best.unwrap_or_else(|| crate::plan::offsets::above_all(problem));
    Optimum {
        arena_bytes: plan.arena_bytes(problem),
        plan,
        bound_bytes: 0,
    }
}

/// Whether there is a plan within the capacity, in bytes; each search takes at most `nodes`
/// decisions.
pub fn decide_in_parts(
    problem: &Problem,
    capacity: u64,
    nodes: u64,
    budget: &mut Budget<'_>,
) -> Decision {
    let count = problem.buffers().len();
    let is_fixed = |buffer: usize| problem.buffers()[buffer].fixed_offset.is_some();
    let mut core: Vec<bool> = (0..count)
        .map(|buffer| is_fixed(buffer) || problem.neighbours(buffer).len() > MANY)
        .collect();
    loop {
        let kept: Vec<usize> = (0..count).filter(|&buffer| core[buffer]).collect();
        let placed = match decide(&problem.subset(&kept), capacity, nodes, budget) {
            Decision::Possible(placed) => placed,
            decision => return decision,
        };
        let mut offsets = vec![None; count];
        for (&buffer, &offset) in kept.iter().zip(&placed) {
            offsets[buffer] = Some(offset);
        }
        let Some(part) = fill(problem, &mut offsets, capacity, nodes, budget) else {
            return Decision::Possible(offsets.into_iter().flatten().collect());
        };
        if budget.is_spent() {
            return Decision::Unknown;
        }
        for buffer in part {
            core[buffer] = true;
        }
    }
}

/// Places all that has no offset yet, part by part; gives the first part that has no place.
fn fill(
    problem: &Problem,
    offsets: &mut [Option<u64>],
    capacity: u64,
    nodes: u64,
    budget: &mut Budget<'_>,
) -> Option<Vec<usize>> {
    for first in 0..offsets.len() {
        if offsets[first].is_some() {
            continue;
        }
        let part = part(problem, offsets, first);
        let mut kept = part.clone();
        for &buffer in &part {
            let neighbours = problem.neighbours(buffer).iter();
            let core = neighbours.map(|neighbour| neighbour.buffer);
            kept.extend(core.filter(|&buffer| offsets[buffer].is_some()));
        }
        kept.sort_unstable();
        kept.dedup();
        let given: Vec<Option<u64>> = kept.iter().map(|&buffer| offsets[buffer]).collect();
        let decision = match problem.subset(&kept).with_offsets(&given) {
            Ok(fixed) => orient(&fixed, capacity, nodes, budget),
            Err(_) => Decision::Unknown,
        };
        let Decision::Possible(placed) = decision else {
            return Some(part);
        };
        for (&buffer, &offset) in kept.iter().zip(&placed) {
            offsets[buffer] = Some(offset);
        }
    }
    None
}

/// The buffers without an offset that this one has to do with, directly or by way of others, in
/// their order.
fn part(problem: &Problem, offsets: &[Option<u64>], first: usize) -> Vec<usize> {
    let mut found = vec![first];
    let mut seen = std::collections::HashSet::from([first]);
    let mut next = 0;
    while let Some(&buffer) = found.get(next) {
        next += 1;
        for neighbour in problem.neighbours(buffer) {
            if offsets[neighbour.buffer].is_none() && seen.insert(neighbour.buffer) {
                found.push(neighbour.buffer);
            }
        }
    }
    found.sort_unstable();
    found
}
