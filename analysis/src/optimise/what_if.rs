//! What an arena would be if one operator's kernel walked its buffers in another order.

use super::{ModelPlan, Task, optimise};
use crate::arena::ArenaError;
use crate::graph::OperatorId;
use crate::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use dmo_planner::budget::Budget;
use schemars::JsonSchema;
use serde::Serialize;

/// The arena if one operator had other overlaps than it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WhatIf {
    /// The operator.
    pub operator: OperatorId,
    /// Size of the smallest arena found with them, in bytes.
    pub arena_bytes: u64,
}

/// For each operator of which `other` allows more than the task's overlaps do, the arena with
/// what both allow together for this operator, and the task's for all others. Then the arena
/// where all of them have that.
///
/// `planned` is the plan of the task: nothing is searched for an operator where it has no byte
/// to save. Each search spends at most `work` of the
/// budget.
///
/// # Errors
/// Those of [`optimise`].
pub fn what_if(
    task: Task<'_>,
    planned: &ModelPlan,
    other: &Overlaps,
    work: u64,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Vec<WhatIf>, u64), ArenaError> {
    let better = both(task.overlaps, other);
    let changed = (0..better.len()).filter(|&index| better[index] != task.overlaps[index]);
    let changed: Vec<usize> = changed.collect();
    let mut found = Vec::new();
    for (done, &index) in changed.iter().enumerate() {
        progress(done, changed.len());
        let mut overlaps = task.overlaps.clone();
        overlaps[index].clone_from(&better[index]);
        found.push(WhatIf {
            operator: OperatorId(index),
            arena_bytes: budget
                .within(work, |budget| arena_bytes(task, &overlaps, planned, budget))?,
        });
    }
    let together = if changed.is_empty() {
        planned.arena_bytes
    } else {
        budget.within(work, |budget| arena_bytes(task, &better, planned, budget))?
    };
    Ok((found, together))
}

/// More overlap never asks for a larger arena: the plan found without it still holds.
fn arena_bytes(
    task: Task<'_>,
    overlaps: &Overlaps,
    planned: &ModelPlan,
    budget: &mut Budget<'_>,
) -> Result<u64, ArenaError> {
    let task = Task { overlaps, ..task };
    let found = optimise(task, budget, &mut |_| ())?;
    Ok(found.arena_bytes.min(planned.arena_bytes))
}

/// What either allows.
fn both(one: &Overlaps, other: &Overlaps) -> Overlaps {
    let operators = one.iter().zip(other);
    operators
        .map(|(one, other)| {
            let mut pairs = one.clone();
            other.iter().for_each(|pair| add(&mut pairs, *pair));
            pairs
        })
        .collect()
}

fn add(pairs: &mut Vec<SafeOverlap>, pair: SafeOverlap) {
    let same = |known: &&mut SafeOverlap| (known.input, known.output) == (pair.input, pair.output);
    match pairs.iter_mut().find(same) {
        None => pairs.push(pair),
        Some(known) => {
            if let (Sharing::Displaced(one), Sharing::Displaced(other)) =
                (known.sharing, pair.sharing)
            {
                known.sharing = Sharing::Displaced(one.min(other));
            }
        }
    }
}
