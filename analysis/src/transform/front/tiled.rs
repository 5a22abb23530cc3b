//! From runs in tiles, each by itself, to plans of the whole model.

use super::floor::Steps;
use super::path::{Path, Piece, by_start, path};
use super::promises::promises;
use super::{FrontPlanner, with_splits};
use crate::arena::{Arena, ArenaError};
use crate::graph::OperatorId;
use crate::transform::remove::remove;
use crate::transform::{Recipe, Split, Transformed, apply, macs};
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::exact;
use std::collections::HashSet;

/// Work that the plan of a part may take.
const PART: u64 = WORK_PER_SECOND / 20;

/// Runs in tiles, each by itself, of a base without any.
struct TiledRuns<'a> {
    base: &'a Recipe,
    /// Multiply-accumulates that the base has less than the model.
    spared: u64,
    /// What the steps of each operator need at least, in bytes, in the order.
    needs: Vec<u64>,
    pieces: Vec<Piece>,
    /// Those that begin with each step.
    from: Vec<Vec<usize>>,
}

impl FrontPlanner<'_> {
    /// Puts runs of a base in tiles and plans what comes of it. Whether the work was enough.
    pub(super) fn tile(
        &mut self,
        base: &Recipe,
        candidates: &mut u64,
        budget: &mut Budget<'_>,
        progress: &mut dyn FnMut(usize, usize, u64),
    ) -> Result<bool, ArenaError> {
        let (search, order) = (self.search, self.order.clone());
        let (Ok(remaining), Ok(transformed)) = (
            remove(search.graph, &base.removed),
            apply(search.graph, base),
        ) else {
            return Ok(true);
        };
        let arena = self.arena(&transformed)?;
        let mut needs = self.needs(&transformed, &arena, budget);
        for (need, &operator) in needs.iter_mut().zip(&order) {
            if self.reads_rows(operator) {
                *need = u64::MAX;
            }
        }
        if !search.bands && !search.patches {
            return Ok(true);
        }
        let overlaps = (search.overlaps)(&remaining.graph);
        let steps = Steps::new(&remaining.graph, &order, &overlaps, &arena, search);
        let spared = self
            .total_macs
            .saturating_sub(macs::of_graph(&transformed.graph));
        let most_extra_macs = search.most_extra_macs.saturating_add(spared);
        let promises = promises(search, &steps, &needs, most_extra_macs, budget);
        *candidates += promises.looked_at;
        let mut tiled = TiledRuns {
            base,
            spared,
            from: by_start(needs.len(), &promises.pieces),
            needs,
            pieces: promises.pieces,
        };
        for fitted in [false, true] {
            self.plan_paths(&steps, &mut tiled, fitted, budget, progress);
        }
        Ok(promises.complete && !budget.is_spent())
    }

    /// Plans the paths, from the largest arena on. Where steps fit together worse than each by
    /// itself, `fitted` makes the pieces that they are of count as larger from then on, so that
    /// others get their turn.
    fn plan_paths(
        &mut self,
        steps: &Steps<'_>,
        tiled: &mut TiledRuns<'_>,
        fitted: bool,
        budget: &mut Budget<'_>,
        progress: &mut dyn FnMut(usize, usize, u64),
    ) {
        let mut seen: HashSet<Vec<usize>> = HashSet::new();
        let mut limit = u64::MAX;
        while let Some(path) = self.known_path(steps, tiled, limit, budget) {
            let is_open = seen.insert(path.pieces.clone()) && !self.is_beaten(&path);
            let planned = if is_open && !path.pieces.is_empty() {
                self.plan(self.recipe(tiled, &path), budget)
            } else {
                None
            };
            let least = self.points.iter().map(|point| point.arena_bytes).min();
            let known = tiled.pieces.iter().filter(|piece| piece.is_known);
            progress(known.count(), tiled.pieces.len(), least.unwrap_or(0));
            let larger = planned.filter(|(_, _, bytes)| fitted && *bytes > path.bytes);
            let Some((transformed, arena, _)) = larger else {
                limit = path.bytes.saturating_sub(1);
                continue;
            };
            for &index in &path.pieces {
                let piece = &mut tiled.pieces[index];
                let operators = &self.order[piece.steps.clone()];
                let around = planned_around(&transformed, &arena, operators, budget);
                piece.bytes = around.unwrap_or(0).max(piece.bytes);
            }
        }
    }

    /// The way of least work that needs no more than `limit` bytes, if the work is allowed; all
    /// that is in tiles on it is known.
    fn known_path(
        &mut self,
        steps: &Steps<'_>,
        tiled: &mut TiledRuns<'_>,
        limit: u64,
        budget: &mut Budget<'_>,
    ) -> Option<Path> {
        loop {
            budget.spend(tiled.pieces.len() as u64 / 16);
            let mut path = path(&tiled.needs, &tiled.pieces, &tiled.from, limit)?;
            path.extra_macs = path.extra_macs.saturating_sub(tiled.spared);
            if path.extra_macs > self.search.most_extra_macs || budget.is_spent() {
                return None;
            }
            let unknown = path.pieces.iter().copied();
            let unknown = unknown.filter(|&piece| !tiled.pieces[piece].is_known);
            let unknown: Vec<usize> = unknown.collect();
            if unknown.is_empty() {
                return Some(path);
            }
            for index in unknown {
                let needed = self.piece_needs(steps, tiled, index, budget);
                let piece = &mut tiled.pieces[index];
                piece.is_known = true;
                piece.bytes = needed.unwrap_or(u64::MAX).max(piece.bytes);
            }
        }
    }

    /// What a run in tiles needs at least; `None` if it cannot be done.
    fn piece_needs(
        &mut self,
        steps: &Steps<'_>,
        tiled: &TiledRuns<'_>,
        index: usize,
        budget: &mut Budget<'_>,
    ) -> Option<u64> {
        let piece = &tiled.pieces[index];
        let operators = &self.order[piece.steps.clone()];
        if steps.is_in_pieces(&piece.steps) {
            let split = Split {
                operators: operators.to_vec(),
                grid: piece.grid,
            };
            let recipe = with_splits(self.search, tiled.base, vec![split]);
            let transformed = apply(self.search.graph, &recipe).ok()?;
            let arena = self.arena(&transformed).ok()?;
            let needs = self.needs(&transformed, &arena, budget);
            return needs[piece.steps.clone()].iter().max().copied();
        }
        let key = (operators.to_vec(), tiled.base.removed.clone(), piece.grid);
        let known = self.known.get(&key).copied();
        let needed = known.unwrap_or_else(|| {
            steps
                .part(&piece.steps, operators)
                .needs(self.search, piece.grid, budget)
        });
        self.known.insert(key, needed);
        Some(needed? + steps.beside(&piece.steps))
    }

    fn recipe(&self, tiled: &TiledRuns<'_>, path: &Path) -> Recipe {
        let splits = path.pieces.iter().map(|&piece| {
            let piece = &tiled.pieces[piece];
            Split {
                operators: self.order[piece.steps.clone()].to_vec(),
                grid: piece.grid,
            }
        });
        with_splits(self.search, tiled.base, splits.collect())
    }
}

/// What a plan of all that is alive while these operators run, and shortly before and after, needs
/// in bytes; `None` if they do not run.
fn planned_around(
    transformed: &Transformed,
    arena: &Arena,
    operators: &[OperatorId],
    budget: &mut Budget<'_>,
) -> Option<u64> {
    /// Steps before and after.
    const MARGIN: u32 = 2;
    let own: HashSet<&OperatorId> = operators.iter().collect();
    let origins = transformed.origins.iter();
    let is_own: Vec<bool> = origins
        .map(|origin| own.contains(&origin.operator))
        .collect();
    // Step 0 is the application's.
    let first = (1 + is_own.iter().position(|own| *own)? as u32).saturating_sub(MARGIN);
    let end = 2 + is_own.iter().rposition(|own| *own)? as u32 + MARGIN;
    let buffers = arena.problem.buffers().iter().enumerate();
    let alive = buffers
        .filter(|(_, buffer)| buffer.alive.start < end && first < buffer.alive.end)
        .map(|(index, _)| index);
    let part = arena.problem.subset(&alive.collect::<Vec<usize>>());
    let best = budget.within(PART, |budget| exact::plan(&part, budget));
    Some(best.arena_bytes)
}
