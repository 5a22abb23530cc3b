//! The smallest arena, with proof: two searches that complement each other take turns until
//! one has found a plan within a capacity, or that there is none.

mod canonical;
mod orientation;
mod parts;

use super::{Family, Plan, STRATEGIES, Strategy};
use crate::budget::Budget;
use crate::problem::Problem;
use canonical::{Canonical, PREORDERS, Preorder, STRAIGHT};
pub use orientation::PairDistances;
pub use parts::{decide_in_parts, plan_in_parts};

/// Whether there is a plan within a capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// There is one; its offsets.
    Possible(Vec<u64>),
    /// There is none.
    Impossible,
    /// The search ended before it knew.
    Unknown,
}

impl Decision {
    /// This, or what another search comes to if this one is not known.
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Unknown => other(),
            decision => decision,
        }
    }
}

/// The best plan found and what is proven of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optimum {
    /// The plan.
    pub plan: Plan,
    /// Its arena in bytes.
    pub arena_bytes: u64,
    /// No plan has a smaller arena, in bytes.
    pub bound_bytes: u64,
}

impl Optimum {
    /// Whether the plan is proven to be the best.
    pub fn is_optimal(&self) -> bool {
        self.arena_bytes == self.bound_bytes
    }
}

/// The smallest arena. When the budget ends the search, the best plan so far and the best
/// bound so far.
///
/// The plan is valid unless buffers whose offset is given clash with one another.
pub fn plan(problem: &Problem, budget: &mut Budget<'_>) -> Optimum {
    plan_from(problem, STRATEGIES.iter(), budget)
}

/// The same, from the strategies in the opposite order: those with overlaps reach the bound more
/// often, and what follows them is not tried then. Of equal plans it may give another.
pub fn plan_quickly(problem: &Problem, budget: &mut Budget<'_>) -> Optimum {
    plan_from(problem, STRATEGIES.iter().rev(), budget)
}

fn plan_from<'a>(
    problem: &Problem,
    strategies: impl Iterator<Item = &'a Strategy>,
    budget: &mut Budget<'_>,
) -> Optimum {
    budget.spend(HEURISTICS * extent(problem));
    let bound = problem.lower_bound();
    let mut best: Option<(u64, Plan)> = None;
    // Shared objects are never better than offsets of their own.
    for strategy in strategies.filter(|strategy| strategy.family == Family::Offsets) {
        let valid = |plan: &Plan| plan.check(problem).is_empty();
        let Some(plan) = strategy.plan(problem).filter(valid) else {
            continue;
        };
        let arena_bytes = plan.arena_bytes(problem);
        if best.as_ref().is_none_or(|(least, _)| arena_bytes < *least) {
            best = Some((arena_bytes, plan));
        }
        // None that follows is better.
        if arena_bytes == bound {
            break;
        }
    }
    if let Some((arena_bytes, plan)) = best {
        return improve(problem, plan, arena_bytes, budget);
    }
    let plan = super::offsets::above_all(problem);
    let arena_bytes = plan.arena_bytes(problem);
    if plan.check(problem).is_empty() {
        return improve(problem, plan, arena_bytes, budget);
    }
    // Given offsets clash: there is nothing to look for.
    Optimum {
        plan,
        arena_bytes,
        bound_bytes: arena_bytes,
    }
}

/// What the heuristics go through, in all pairs and buffers.
const HEURISTICS: u64 = 32;

/// Pairs and buffers of a problem.
fn extent(problem: &Problem) -> u64 {
    (problem.pairs() + problem.buffers().len()) as u64
}

/// Nodes that a search may take at first, before the other ones have their turn.
const FIRST_NODES: u64 = 500;

fn improve(problem: &Problem, plan: Plan, arena_bytes: u64, budget: &mut Budget<'_>) -> Optimum {
    let mut best = Optimum {
        plan,
        arena_bytes,
        bound_bytes: problem.lower_bound(),
    };
    let mut nodes = FIRST_NODES;
    let first_bound = best.bound_bytes;
    while !best.is_optimal() && !budget.is_spent() {
        let (bound, arena) = (best.bound_bytes, best.arena_bytes);
        // The bound itself is often reached; where it is not, halves approach what is from both
        // sides; the least improvement is what is left when both are too hard.
        let half = bound + (arena - bound) / 2;
        let capacities = if bound == first_bound {
            [bound, half, arena - 1]
        } else {
            [half, bound, arena - 1]
        };
        let decided = capacities.into_iter().find_map(|capacity| {
            match decide(problem, capacity, nodes, budget) {
                Decision::Unknown => None,
                decision => Some((capacity, decision)),
            }
        });
        match decided {
            None => nodes = nodes.saturating_mul(2),
            Some((_, Decision::Possible(offsets))) => {
                best.plan = Plan { offsets };
                best.arena_bytes = best.plan.arena_bytes(problem);
            }
            Some((capacity, _)) => best.bound_bytes = capacity + 1,
        }
    }
    best
}

/// Whether there is a plan within the capacity, in bytes, as far as the budget goes.
pub fn fit(problem: &Problem, capacity: u64, budget: &mut Budget<'_>) -> Decision {
    // A placement for each buffer, and a few to take back: often the first choices are right.
    let buffers = problem.buffers().len() as u64;
    let straight = place_upwards(problem, capacity, STRAIGHT, buffers + buffers / 8, budget);
    if straight != Decision::Unknown {
        return straight;
    }
    let mut nodes = FIRST_NODES;
    loop {
        let decision = decide(problem, capacity, nodes, budget);
        if decision != Decision::Unknown || budget.is_spent() {
            return decision;
        }
        nodes = nodes.saturating_mul(2);
    }
}

/// The search from the bottom up is as deep as there are buffers.
const MOST_NESTED: usize = 3000;

/// Whether there is a plan within the capacity, in bytes; each search takes at most `nodes`
/// steps.
pub fn decide(problem: &Problem, capacity: u64, nodes: u64, budget: &mut Budget<'_>) -> Decision {
    // Where nothing may overlap, packing is what is hard, and the search from the bottom up is
    // better at it.
    if problem.has_overlaps() {
        let decision = orient(problem, capacity, nodes, budget);
        return decision.or_else(|| place_upwards(problem, capacity, PREORDERS, nodes, budget));
    }
    let decision = place_upwards(problem, capacity, PREORDERS, nodes, budget);
    decision.or_else(|| orient(problem, capacity, nodes / 8, budget))
}

fn orient(problem: &Problem, capacity: u64, nodes: u64, budget: &mut Budget<'_>) -> Decision {
    budget.spend(extent(problem));
    PairDistances::of(problem).decide(capacity, nodes, budget)
}

fn place_upwards(
    problem: &Problem,
    capacity: u64,
    preorders: &[Preorder],
    nodes: u64,
    budget: &mut Budget<'_>,
) -> Decision {
    let buffers = problem.buffers();
    let movable = buffers.iter().all(|buffer| buffer.fixed_offset.is_none());
    if !movable || buffers.len() > MOST_NESTED {
        return Decision::Unknown;
    }
    for preorder in preorders {
        budget.spend(extent(problem));
        let decision = Canonical::new(problem, preorder, capacity).decide(nodes, budget);
        if decision != Decision::Unknown {
            return decision;
        }
    }
    Decision::Unknown
}

/// What each search by itself decides without a limit: they have to agree.
pub fn decide_each(problem: &Problem, capacity: u64) -> Vec<Decision> {
    let budget = &mut Budget::unlimited();
    let mut decisions = vec![PairDistances::of(problem).decide(capacity, u64::MAX, budget)];
    decisions.extend(
        PREORDERS
            .iter()
            .map(|preorder| Canonical::new(problem, preorder, capacity).decide(u64::MAX, budget)),
    );
    decisions.push(decide_in_parts(problem, capacity, u64::MAX, budget));
    decisions
}
