//! What memory can be had for what work: runs and grids, searched for those that nothing else
//! beats in both.
//!
//! The arena of a candidate is first bounded from below, which is cheap; the best candidates are
//! then planned exactly until each point of the front is a plan. So what is left out is beaten by
//! something that was planned, as long as the time suffices.

mod candidates;

use super::{Recipe, Split, Transformed, apply, in_place, macs};
use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::overlaps::Overlaps;
use crate::graph::{Graph, OperatorId};
use crate::plan::exact::{self, Budget};
use candidates::{grids, runs};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What is searched.
pub struct Search<'a> {
    /// The model.
    pub graph: &'a Graph,
    /// In which order its operators run.
    pub order: &'a [OperatorId],
    /// What the outputs of any graph's operators may overlap.
    pub overlaps: &'a dyn Fn(&Graph) -> Overlaps,
    /// What the arena holds, and how.
    pub layout: Layout,
    /// What is done in any case; its order counts for nothing.
    pub base: Recipe,
    /// Whether depthwise convolutions may work in place.
    pub in_place: bool,
    /// Whether tiles may be bands: whole rows.
    pub bands: bool,
    /// Whether tiles may be patches: parts of rows.
    pub patches: bool,
    /// So many multiply-accumulates may be computed beside those of the model.
    pub most_extra_macs: u64,
}

/// A way to run the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Point {
    /// What is done to the model.
    pub recipe: Recipe,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// Multiply-accumulates that are computed again.
    pub extra_macs: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Front {
    /// Ways that none of the others beats in both arena and work, by work, the model as it is
    /// first.
    pub points: Vec<Point>,
    /// Candidates that were looked at.
    pub candidates: u64,
    /// The time was enough for all candidates with one run; with several runs only those of the
    /// points are extended.
    pub complete: bool,
}

/// A candidate and what is known of its arena.
struct Candidate {
    recipe: Recipe,
    extra_macs: u64,
    /// Its arena, where it was planned; else no arena is smaller.
    bytes: u64,
    planned: bool,
}

/// What one exact plan may take.
const PLAN: Duration = Duration::from_millis(400);

/// No more runs are split in one model.
const MOST_RUNS: usize = 4;

/// Searches for the time that is given. `progress` is told of the candidates so far and the
/// smallest arena.
///
/// # Errors
/// When the order is not one of the graph's.
pub fn front(
    search: &Search<'_>,
    time: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Front, ArenaError> {
    let end = Instant::now() + time;
    let mut hunt = Hunt {
        search,
        total_macs: macs::of_graph(search.graph),
        end,
        candidates: Vec::new(),
        looked_at: 0,
        complete: true,
    };
    let plain = Recipe {
        order: search.order.to_vec(),
        ..search.base.clone()
    };
    hunt.look_at(plain.clone());
    let mut level = vec![plain.clone()];
    let smaller = match search.in_place {
        true => in_place::smaller(search.graph),
        false => Vec::new(),
    };
    if !smaller.is_empty() {
        let in_place = Recipe {
            in_place: smaller,
            ..plain
        };
        hunt.look_at(in_place.clone());
        level.push(in_place);
    }
    hunt.plan_front();
    for runs in 0..MOST_RUNS {
        let behind = end.saturating_duration_since(Instant::now());
        // Half of what is left, so that the next level gets some too.
        let share = Instant::now() + behind / 2;
        for recipe in &level {
            hunt.extend(recipe, share, progress)?;
        }
        hunt.plan_front();
        let split = |point: &&Candidate| point.recipe.splits.len() == runs + 1;
        let next: Vec<Recipe> = hunt
            .front()
            .into_iter()
            .filter(split)
            .map(|candidate| candidate.recipe.clone())
            .collect();
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(hunt.finish())
}

struct Hunt<'a> {
    search: &'a Search<'a>,
    total_macs: u64,
    end: Instant,
    candidates: Vec<Candidate>,
    looked_at: u64,
    complete: bool,
}

impl Hunt<'_> {
    /// Adds one more run to a recipe, in all ways that might help.
    fn extend(
        &mut self,
        recipe: &Recipe,
        end: Instant,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), ArenaError> {
        let Some(known) = self.arena(recipe) else {
            return Ok(());
        };
        let peak = self.peak(recipe)?;
        let order = self.search.order;
        for run in runs(self.search.graph, order, recipe, &peak) {
            for grid in grids(self.search, &run) {
                if Instant::now() > end.min(self.end) {
                    self.complete &= !recipe.splits.is_empty();
                    return Ok(());
                }
                let mut extended = recipe.clone();
                extended.splits.push(Split {
                    operators: run.clone(),
                    grid,
                });
                self.look_at(extended);
                let best = self.candidates.iter().filter(|one| one.planned);
                let best = best.map(|one| one.bytes).min().unwrap_or(known);
                progress(self.looked_at, best);
            }
        }
        Ok(())
    }

    /// Keeps a candidate, unless it cannot be done, costs too much, or is beaten.
    fn look_at(&mut self, recipe: Recipe) {
        self.looked_at += 1;
        let Ok(transformed) = apply(self.search.graph, &recipe) else {
            return;
        };
        let extra = macs::of_graph(&transformed.graph).saturating_sub(self.total_macs);
        if extra > self.search.most_extra_macs {
            return;
        }
        let Ok(arena) = self.arena_of(&transformed) else {
            return;
        };
        let bytes = arena.problem.lower_bound();
        let beaten =
            |other: &Candidate| other.planned && other.bytes <= bytes && other.extra_macs <= extra;
        if !self.candidates.iter().any(beaten) {
            self.candidates.push(Candidate {
                recipe,
                extra_macs: extra,
                bytes,
                planned: false,
            });
        }
    }

    /// Plans candidates until each that nothing beats is planned.
    fn plan_front(&mut self) {
        loop {
            let open = self.front().into_iter().find(|one| !one.planned);
            let Some(recipe) = open.map(|one| one.recipe.clone()) else {
                return;
            };
            // The model as it is is always planned.
            let is_plain = recipe.splits.is_empty();
            let over = Instant::now() > self.end && !is_plain;
            let planned = match over {
                true => None,
                false => self.plan(&recipe),
            };
            self.complete &= planned.is_some();
            let same = |one: &Candidate| one.recipe == recipe;
            match planned {
                Some(bytes) => {
                    if let Some(one) = self.candidates.iter_mut().find(|one| same(one)) {
                        (one.bytes, one.planned) = (bytes, true);
                    }
                }
                None => self.candidates.retain(|one| !same(one)),
            }
        }
    }

    /// The candidates that nothing beats, as far as is known, by work.
    fn front(&self) -> Vec<&Candidate> {
        let mut by_work: Vec<&Candidate> = self.candidates.iter().collect();
        by_work.sort_by_key(|one| (one.extra_macs, one.bytes, one.recipe.tiles()));
        let mut least = u64::MAX;
        by_work.retain(|one| {
            let better = one.bytes < least;
            least = least.min(one.bytes);
            better
        });
        by_work
    }

    fn arena_of(&self, transformed: &Transformed) -> Result<Arena, ArenaError> {
        let graph = &transformed.graph;
        let overlaps = (self.search.overlaps)(graph);
        Arena::new(graph, &graph.file_order(), &overlaps, self.search.layout)
    }

    fn plan(&self, recipe: &Recipe) -> Option<u64> {
        let transformed = apply(self.search.graph, recipe).ok()?;
        let arena = self.arena_of(&transformed).ok()?;
        let end = Instant::now() + PLAN;
        let mut stop = || Instant::now() > end;
        let best = exact::plan(&arena.problem, &mut Budget::new(&mut stop));
        Some(best.arena_bytes)
    }

    fn arena(&self, recipe: &Recipe) -> Option<u64> {
        let known = self.candidates.iter().find(|one| one.recipe == *recipe);
        known.map(|one| one.bytes)
    }

    /// The original operators that run when most memory is in use.
    fn peak(&self, recipe: &Recipe) -> Result<Vec<OperatorId>, ArenaError> {
        let Ok(transformed) = apply(self.search.graph, recipe) else {
            return Ok(Vec::new());
        };
        let arena = self.arena_of(&transformed)?;
        let sections = arena.problem.sections();
        let bound = sections
            .iter()
            .map(|section| arena.problem.section_bound(section));
        let bounds: Vec<u64> = bound.collect();
        let most = bounds.iter().copied().max().unwrap_or(0);
        let at_peak = sections
            .iter()
            .zip(&bounds)
            .filter(|(_, bytes)| **bytes == most);
        let steps = at_peak.flat_map(|(section, _)| section.steps.clone());
        // Step 0 is the application's.
        let origins =
            steps.filter_map(|step| transformed.origins.get(step.checked_sub(1)? as usize));
        let mut operators: Vec<OperatorId> = origins.map(|origin| origin.operator).collect();
        operators.dedup();
        Ok(operators)
    }

    fn finish(self) -> Front {
        let complete = self.complete;
        let candidates = self.looked_at;
        let points = self.front().into_iter().filter(|one| one.planned);
        let points = points.map(|one| Point {
            recipe: one.recipe.clone(),
            arena_bytes: one.bytes,
            extra_macs: one.extra_macs,
        });
        Front {
            points: points.collect(),
            candidates,
            complete,
        }
    }
}
