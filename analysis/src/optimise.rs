//! The smallest arena of a whole model: order and placement together.
//!
//! Whatever the order, no arena is smaller than the lowest peak that an order can have
//! ([`search`], steps measured with overlaps). An order with that peak is placed
//! exactly ([`plan::exact`](dmo_planner::plan::exact)); when its arena is larger than the peak,
//! distances add up along the order, and other orders are tried.

mod any_order;
mod decoded;
mod shuffle;
mod sparing;
mod what_if;

pub use what_if::{WhatIf, what_if};

use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::overlaps::{Overlaps, Sharing};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::cost::Overlapped;
use crate::schedule::search::{Limits, search};
use crate::schedule::{Schedule, ScheduleError};
use decoded::Unpacked;
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::Plan;
use dmo_planner::plan::exact::{self, Optimum};
use dmo_planner::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shuffle::Shuffle;

/// What is to be planned.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The model.
    pub graph: &'a Graph,
    /// What its operators' outputs may overlap.
    pub overlaps: &'a Overlaps,
    /// What the arena holds, and how.
    pub layout: Layout,
    /// Whether the operators may run in another order than the file's; they do not where tensors
    /// are views.
    pub reorder: bool,
    /// Tensors that have to lie at given offsets, in bytes.
    pub fixed: &'a [(TensorId, u64)],
}

/// The best plan found and what is proven of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPlan {
    /// The order in which the operators run.
    pub order: Vec<OperatorId>,
    /// The planning problem of that order.
    pub arena: Arena,
    /// Where its buffers lie.
    pub plan: Plan,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No plan for this order has a smaller arena, in bytes.
    pub order_bound_bytes: u64,
    /// No plan for any order has a smaller arena, in bytes.
    pub bound_bytes: u64,
    /// The caller stopped the search before it had spent its work: on a faster machine it may
    /// find a better plan.
    pub stopped: bool,
}

/// What is known of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certificate {
    /// No plan is smaller, whatever the order.
    Optimal,
    /// No plan for this order is smaller; another order may have one.
    OptimalForOrder,
    /// The search ended early.
    BestFound,
}

impl ModelPlan {
    /// What is proven.
    pub fn certificate(&self) -> Certificate {
        match self.arena_bytes {
            bytes if bytes == self.bound_bytes => Certificate::Optimal,
            bytes if bytes == self.order_bound_bytes => Certificate::OptimalForOrder,
            _ => Certificate::BestFound,
        }
    }
}

/// What the search is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Orders placed so far.
    pub orders: u64,
    /// The smallest arena so far, in bytes; none before the first is known.
    pub arena_bytes: Option<u64>,
    /// No arena is smaller, in bytes.
    pub bound_bytes: u64,
}

/// The smallest arena found within the budget, which is shared by the search for an order and
/// the placements; of several plans for it one that relies on few overlaps.
///
/// # Errors
/// When the graph's operators cannot be ordered, its sizes make no problem, or fixed tensors
/// are not in the arena or clash in the file's order.
pub fn optimise(
    task: Task<'_>,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ModelPlan, ArenaError> {
    let mut best = smallest(task, budget, progress)?;
    let problem = &best.arena.problem;
    best.plan = budget.within(SPARING, |budget| {
        sparing::with_few_overlaps(problem, best.plan, budget)
    });
    best.stopped = budget.was_stopped();
    Ok(best)
}

/// The smallest arena for the graph's order of operators, as far as the budget goes: a quick answer,
/// which does not look for other orders, nor for what bounds these but for the largest buffer.
///
/// # Errors
/// As [`optimise`].
pub fn in_file_order(task: Task<'_>, budget: &mut Budget<'_>) -> Result<ModelPlan, ArenaError> {
    if !task.graph.views.is_empty() {
        return in_given_order(task, budget, &mut |_| {});
    }
    let mut best = place_by(task, task.graph.file_order(), budget, Care::Quick)?;
    best.bound_bytes = if Shuffle::new(task.graph)?.has_choice() {
        let buffers = best.arena.problem.buffers().iter();
        buffers.map(|buffer| buffer.size_bytes).max().unwrap_or(0)
    } else {
        best.order_bound_bytes
    };
    best.stopped = budget.was_stopped();
    Ok(best)
}

/// Work that is spent on plans that rely on fewer overlaps.
const SPARING: u64 = WORK_PER_SECOND / 2;

fn smallest(
    task: Task<'_>,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ModelPlan, ArenaError> {
    let mut shuffle = Shuffle::new(task.graph)?;
    if !task.graph.views.is_empty() {
        return in_given_order(task, budget, progress);
    }
    let reorder = task.reorder && shuffle.has_choice();
    let share = if reorder { 2 } else { 1 };
    let mut best = budget.share(share, |budget| place(task, task.graph.file_order(), budget))?;
    report(&best, 1, progress);
    if !reorder {
        best.bound_bytes = if shuffle.has_choice() {
            budget.share(4, |budget| bound_of_any_order(task, &best, budget))
        } else {
            best.order_bound_bytes
        };
        return Ok(best);
    }
    let schedule = budget.share(2, |budget| {
        lowest_peak(task, budget, &mut |bound| {
            let bound_bytes = bound.max(best.bound_bytes);
            let arena_bytes = Some(best.arena_bytes);
            progress(Progress {
                orders: 1,
                arena_bytes,
                bound_bytes,
            });
        })
    })?;
    let unpacked = Unpacked::new(task.graph);
    let order = unpacked.settled(schedule.order);
    if let Some(order) = order.filter(|order| *order != best.order) {
        let candidate = budget.share(2, |budget| place_other(task, order, budget))?;
        if let Some(candidate) = candidate.filter(|other| other.arena_bytes < best.arena_bytes) {
            best = candidate;
        }
    }
    best.bound_bytes = schedule.bound_bytes.min(best.arena_bytes);
    if best.bound_bytes < best.arena_bytes {
        best.bound_bytes = budget.share(4, |budget| bound_of_any_order(task, &best, budget));
    }
    let mut orders = 2;
    report(&best, orders, progress);
    let mut current = best.order.clone();
    while best.arena_bytes > best.bound_bytes && !budget.is_spent() && orders < MOST_ORDERS {
        orders += 1;
        let Some(order) = unpacked.settled(shuffle.step(&current)) else {
            budget.spend(BUILT * task.graph.operators.len() as u64);
            continue;
        };
        let arena = arena(task, &order)?;
        budget.spend(BUILT * (arena.problem.pairs() + arena.problem.buffers().len()) as u64);
        let bound = arena.problem.lower_bound();
        if bound > best.arena_bytes {
            continue;
        }
        // A walk among orders that are no worse, as far as their bounds say.
        current.clone_from(&order);
        if bound < best.arena_bytes {
            let candidate = budget.share(8, |budget| place_other(task, order, budget))?;
            if let Some(candidate) = candidate.filter(|other| other.arena_bytes < best.arena_bytes)
            {
                best = ModelPlan {
                    bound_bytes: best.bound_bytes,
                    ..candidate
                };
                report(&best, orders, progress);
            }
        }
    }
    Ok(best)
}

/// Pieces of tensors are computed in the order in which they lie.
fn in_given_order(
    task: Task<'_>,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ModelPlan, ArenaError> {
    let mut best = place_by(task, task.graph.file_order(), budget, Care::InParts)?;
    // All that is known of other orders.
    let buffers = best.arena.problem.buffers().iter();
    best.bound_bytes = buffers.map(|buffer| buffer.size_bytes).max().unwrap_or(0);
    report(&best, 1, progress);
    Ok(best)
}

/// Work of making the problem of an order and bounding it, in its pairs and buffers.
const BUILT: u64 = 16;

/// Orders tried beyond the one of the lowest peak.
const MOST_ORDERS: u64 = 20_000;

fn report(best: &ModelPlan, orders: u64, progress: &mut dyn FnMut(Progress)) {
    progress(Progress {
        orders,
        arena_bytes: Some(best.arena_bytes),
        bound_bytes: best.bound_bytes,
    });
}

/// The best placement for an order beside the file's; `None` if given offsets clash.
fn place_other(
    task: Task<'_>,
    order: Vec<OperatorId>,
    budget: &mut Budget<'_>,
) -> Result<Option<ModelPlan>, ArenaError> {
    match place(task, order, budget) {
        Err(ArenaError::GivenOffsetsClash) => Ok(None),
        placed => placed.map(Some),
    }
}

/// The best placement for an order; nothing is said of other orders yet.
fn place(
    task: Task<'_>,
    order: Vec<OperatorId>,
    budget: &mut Budget<'_>,
) -> Result<ModelPlan, ArenaError> {
    place_by(task, order, budget, Care::Thorough)
}

/// How an order is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// The same plan whatever else has been tried.
    Thorough,
    /// What is likely to be the best comes first, and ends the search if it is.
    Quick,
    /// For tiles, of which many are alive for a short time between a few buffers that are alive for long.
    InParts,
}

fn place_by(
    task: Task<'_>,
    order: Vec<OperatorId>,
    budget: &mut Budget<'_>,
    care: Care,
) -> Result<ModelPlan, ArenaError> {
    let arena = arena(task, &order)?;
    let best = match care {
        Care::Thorough => exact::plan(&arena.problem, budget),
        Care::Quick => exact::plan_quickly(&arena.problem, budget),
        Care::InParts => in_parts(&arena.problem, budget),
    };
    if !best.plan.check(&arena.problem).is_empty() {
        return Err(ArenaError::GivenOffsetsClash);
    }
    let order_bound_bytes = if arena.has_aliases() {
        bound_with_aliases(task, &order, best.arena_bytes, care, budget)?
    } else {
        best.bound_bytes
    };
    Ok(ModelPlan {
        order,
        arena,
        plan: best.plan,
        arena_bytes: best.arena_bytes,
        order_bound_bytes,
        bound_bytes: 0,
        stopped: false,
    })
}

/// The smallest arena: by the search that takes the problem apart, and if that does not end by the one
/// that does not.
fn in_parts(problem: &Problem, budget: &mut Budget<'_>) -> Optimum {
    let parts = budget.share(2, |budget| exact::plan_in_parts(problem, budget));
    if parts.is_optimal() {
        return parts;
    }
    let whole = exact::plan(problem, budget);
    let bound_bytes = parts.bound_bytes.max(whole.bound_bytes);
    let least = if parts.arena_bytes < whole.arena_bytes {
        parts
    } else {
        whole
    };
    Optimum {
        bound_bytes,
        ..least
    }
}

/// No plan for the order has a smaller arena, in bytes, also none in which tensors that may be
/// one buffer are two, and at most `arena_bytes`.
fn bound_with_aliases(
    task: Task<'_>,
    order: &[OperatorId],
    arena_bytes: u64,
    care: Care,
    budget: &mut Budget<'_>,
) -> Result<u64, ArenaError> {
    let relaxed = Arena::relaxed(task.graph, order, task.overlaps, task.layout)?;
    let mut offsets = vec![None; relaxed.problem.buffers().len()];
    for &(tensor, offset) in task.fixed {
        if let Some(buffer) = relaxed.buffer_of[tensor.0] {
            offsets[buffer] = Some(offset);
        }
    }
    let problem = relaxed.problem.with_offsets(&offsets)?;
    if care == Care::Quick && problem.lower_bound() >= arena_bytes {
        return Ok(arena_bytes);
    }
    let bound_bytes = exact::plan(&problem, budget).bound_bytes;
    Ok(bound_bytes.min(arena_bytes))
}

/// The problem of an order, with what is fixed.
fn arena(task: Task<'_>, order: &[OperatorId]) -> Result<Arena, ArenaError> {
    let mut arena = Arena::new(task.graph, order, task.overlaps, task.layout)?;
    let mut offsets = vec![None; arena.problem.buffers().len()];
    for &(tensor, offset) in task.fixed {
        match arena.buffer_of.get(tensor.0).copied().flatten() {
            Some(buffer) if offsets[buffer].is_none_or(|other| other == offset) => {
                offsets[buffer] = Some(offset);
            }
            Some(_) => return Err(ArenaError::GivenOffsetsClash),
            None => return Err(ArenaError::NotInArena { tensor }),
        }
    }
    arena.problem = arena.problem.with_offsets(&offsets)?;
    Ok(arena)
}

/// The order with the lowest peak, overlaps and rounding of sizes counted.
fn lowest_peak(
    task: Task<'_>,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Schedule, ScheduleError> {
    let (graph, overlaps) = as_laid_out(task);
    let counted = task.layout.counted;
    let mut cost = Overlapped::new(&graph, &overlaps, counted)?;
    let limits = Limits::default();
    search(&graph, counted, &mut cost, limits, budget, &mut |known| {
        progress(known.bound_bytes);
    })
}

/// The bound so far, or a better one.
fn bound_of_any_order(task: Task<'_>, best: &ModelPlan, budget: &mut Budget<'_>) -> u64 {
    let (graph, overlaps) = as_laid_out(task);
    let buffers = best.arena.problem.buffers().iter();
    let largest = buffers.map(|buffer| buffer.size_bytes).max().unwrap_or(0);
    let range = (best.bound_bytes.max(largest), best.arena_bytes);
    any_order::bound(&graph, &overlaps, task.layout, range, budget)
}

/// The graph and its overlaps with the sizes that the layout gives them.
fn as_laid_out(task: Task<'_>) -> (Graph, Overlaps) {
    let (mut graph, mut overlaps) = (task.graph.clone(), task.overlaps.clone());
    let layout = task.layout;
    for tensor in &mut graph.tensors {
        tensor.size_bytes = layout.rounded(tensor.size_bytes);
    }
    for node in &mut graph.operators {
        if layout.scratch {
            for bytes in &mut node.scratch_bytes {
                *bytes = layout.rounded(*bytes);
            }
        } else {
            node.scratch_bytes.clear();
        }
    }
    for overlap in overlaps.iter_mut().flatten() {
        if let Sharing::Displaced(bytes) = &mut overlap.sharing {
            *bytes = layout.rounded(*bytes);
        }
    }
    (graph, overlaps)
}
