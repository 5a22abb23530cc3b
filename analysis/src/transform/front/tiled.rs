//! From runs in tiles, each by itself, to plans of the whole model.

use super::floor::Steps;
use super::part::Needs;
use super::path::{Count, Path, Piece, Ways};
use super::promises::promises;
use super::{FrontPlanner, TilingBound, with_splits};
use crate::arena::{Arena, ArenaError};
use crate::graph::OperatorId;
use crate::transform::remove::remove;
use crate::transform::{Recipe, Transformed, apply, macs};
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::exact::{Decision, decide_in_parts};
use std::collections::HashSet;

/// Work that a plan of a part may take.
const PART: u64 = WORK_PER_SECOND / 20;

/// At most so many ways are planned of one level that turn out larger than their runs.
const MOST_TRIES: usize = 16;

/// Runs in tiles, each by itself, of a base without any.
struct TiledRuns<'a> {
    base: &'a Recipe,
    /// Multiply-accumulates that the base has less than the model.
    spared: u64,
    /// What the steps of each operator need at least, in bytes, in the order.
    needs: Vec<u64>,
    pieces: Vec<Piece>,
}

impl TiledRuns<'_> {
    /// What no way of at most so much work needs less than.
    fn bound(&self, most_extra_macs: u64) -> Option<TilingBound> {
        let work = most_extra_macs.saturating_add(self.spared);
        let mut ways = Ways::new(&self.needs, &self.pieces, Count::Least, work, u64::MAX);
        let smallest = ways.smallest(&self.pieces)?;
        Some(TilingBound {
            most_extra_macs,
            arena_bytes: smallest.bytes,
        })
    }
}

/// What came of a base.
#[derive(Default)]
pub(super) struct Tiled {
    /// By work; none where not all was looked at.
    pub(super) bounds: Vec<TilingBound>,
    pub(super) candidates: u64,
    /// The work was enough for all runs in tiles, and to plan what comes of them.
    pub(super) complete: bool,
}

/// How much work ways are looked for with.
fn levels(most: u64) -> Vec<u64> {
    const PERCENT: [u64; 11] = [0, 1, 2, 5, 10, 20, 30, 40, 60, 80, 100];
    let of_most = |percent| (u128::from(most) * u128::from(percent) / 100) as u64;
    let mut levels: Vec<u64> = PERCENT.into_iter().map(of_most).collect();
    levels.dedup();
    levels
}

impl Piece {
    fn learn(&mut self, needs: Option<Needs>) {
        self.is_known = true;
        self.bytes = needs.map_or(u64::MAX, |needs| needs.planned);
        // A plan is proof against any bound.
        let least = |needs: Needs| needs.least.max(self.least).min(needs.planned);
        self.least = needs.map_or(u64::MAX, least);
    }
}

impl FrontPlanner<'_> {
    /// Puts runs of a base in tiles and plans what comes of it.
    pub(super) fn tile(
        &mut self,
        base: &Recipe,
        budget: &mut Budget<'_>,
        progress: &mut dyn FnMut(usize, usize, u64),
    ) -> Result<Tiled, ArenaError> {
        let (search, order) = (self.search, self.order.clone());
        let (Ok(remaining), Ok(transformed)) = (
            remove(search.graph, &base.removed),
            apply(search.graph, base),
        ) else {
            return Ok(Tiled::default());
        };
        let arena = self.arena(&transformed)?;
        let mut needs = self.needs(&transformed, &arena, budget);
        for (need, &operator) in needs.iter_mut().zip(&order) {
            if self.reads_rows(&remaining.graph, operator) {
                *need = u64::MAX;
            }
        }
        let overlaps = (search.overlaps)(&remaining.graph);
        let steps = Steps::new(&remaining.graph, &order, &overlaps, &arena, search);
        let macs = macs::of_graph(&transformed.graph);
        let spared = self.total_macs.saturating_sub(macs);
        let promises = promises(search, &steps, &needs, spared, budget);
        let mut tiled = TiledRuns {
            base,
            spared,
            needs,
            pieces: promises.pieces,
        };
        let levels = levels(search.most_extra_macs);
        for &level in &levels {
            self.plan_level(&steps, &mut tiled, level, budget);
            let least = self.points.iter().map(|point| point.arena_bytes).min();
            let known = tiled.pieces.iter().filter(|piece| piece.is_known);
            progress(known.count(), tiled.pieces.len(), least.unwrap_or(0));
        }
        // How far tensors in pieces keep apart depends on what else is in tiles. Of rows that are kept a
        // part may lie where the output is not stored yet, of which the floor knows nothing.
        let is_bounded = promises.complete
            && !search.cached
            && (search.bands || search.patches)
            && remaining.graph.views.is_empty();
        let bounded = levels.iter().filter(|_| is_bounded);
        Ok(Tiled {
            bounds: bounded.filter_map(|&level| tiled.bound(level)).collect(),
            candidates: promises.looked_at,
            complete: promises.complete && !budget.is_spent(),
        })
    }

    /// Plans the smallest way of at most so much work. Where runs fit together worse than each by
    /// itself, they count as larger until the next level, so that others get their turn.
    fn plan_level(
        &mut self,
        steps: &Steps<'_>,
        tiled: &mut TiledRuns<'_>,
        level: u64,
        budget: &mut Budget<'_>,
    ) {
        let mut seen: HashSet<Vec<usize>> = HashSet::new();
        let mut grown: Vec<(usize, u64)> = Vec::new();
        let work = level.saturating_add(tiled.spared);
        let below = self.smallest(level);
        let mut ways = Ways::new(&tiled.needs, &tiled.pieces, Count::Needed, work, below);
        while let Some(path) = ways.smallest(&tiled.pieces)
            && !budget.spend(tiled.pieces.len() as u64 / 4)
            && path.bytes < self.smallest(level)
        {
            let unknown = path.pieces.iter().copied();
            let unknown: Vec<usize> = unknown.filter(|&at| !tiled.pieces[at].is_known).collect();
            for &index in &unknown {
                let needs = self.piece_needs(steps, tiled, index, budget);
                tiled.pieces[index].learn(needs);
                ways.grow(tiled.pieces[index].bytes);
            }
            if !unknown.is_empty() {
                continue;
            }
            if path.pieces.is_empty() || !seen.insert(path.pieces.clone()) {
                break;
            }
            let planned = self.planned(self.recipe(tiled, &path), budget);
            let planned = planned.unwrap_or(u64::MAX);
            if planned > path.bytes {
                if seen.len() == MOST_TRIES {
                    break;
                }
                let before = path.pieces.iter().map(|&at| (at, tiled.pieces[at].bytes));
                grown.extend(before);
                self.fit(tiled, &path, planned, budget);
                for &index in &path.pieces {
                    ways.grow(tiled.pieces[index].bytes);
                }
            }
        }
        for (index, bytes) in grown.into_iter().rev() {
            tiled.pieces[index].bytes = bytes;
        }
    }

    /// The smallest arena that was planned with at most so much work, in bytes.
    fn smallest(&self, level: u64) -> u64 {
        let points = self.points.iter();
        let points = points.filter(|point| self.search.counts(point) && point.extra_macs <= level);
        points
            .map(|point| point.arena_bytes)
            .min()
            .unwrap_or(u64::MAX)
    }

    /// The arena of a recipe, in bytes, planned at most once; `None` if it cannot be done.
    fn planned(&mut self, recipe: Recipe, budget: &mut Budget<'_>) -> Option<u64> {
        let known = self.points.iter().find(|point| point.recipe == recipe);
        known
            .map(|point| point.arena_bytes)
            .or_else(|| self.plan(recipe, budget))
    }

    /// Of the fewest pieces that follow each other and do not fit together, the smallest counts as
    /// the whole plan.
    fn fit(&self, tiled: &mut TiledRuns<'_>, path: &Path, planned: u64, budget: &mut Budget<'_>) {
        let transformed = apply(self.search.graph, &self.recipe(tiled, path)).ok();
        let whole = transformed.and_then(|whole| {
            let arena = self.arena(&whole).ok()?;
            Some((whole, arena))
        });
        let count = path.pieces.len();
        let mut parts = (1..count).flat_map(|length| path.pieces.windows(length));
        let apart = whole.and_then(|(whole, arena)| {
            parts.find(|pieces| {
                let steps = pieces.iter().flat_map(|&at| tiled.pieces[at].steps.clone());
                let operators: HashSet<OperatorId> = steps.map(|at| self.order[at]).collect();
                !fits(&whole, &arena, &operators, path.bytes, budget)
            })
        });
        let pieces = apart.unwrap_or(&path.pieces).iter().copied();
        let smallest = pieces.min_by_key(|&index| tiled.pieces[index].bytes);
        if let Some(smallest) = smallest {
            tiled.pieces[smallest].bytes = planned;
        }
    }

    /// What a run in tiles needs; `None` if it cannot be done.
    fn piece_needs(
        &mut self,
        steps: &Steps<'_>,
        tiled: &TiledRuns<'_>,
        index: usize,
        budget: &mut Budget<'_>,
    ) -> Option<Needs> {
        let piece = &tiled.pieces[index];
        let operators = &self.order[piece.steps.clone()];
        if steps.is_in_pieces(&piece.steps) {
            let split = piece.tiling.split(operators);
            let recipe = with_splits(self.search, tiled.base, vec![split]);
            let transformed = apply(self.search.graph, &recipe).ok()?;
            let arena = self.arena(&transformed).ok()?;
            let needs = self.needs(&transformed, &arena, budget);
            let least = needs[piece.steps.clone()].iter().max().copied()?;
            return Some(Needs {
                least,
                planned: least,
            });
        }
        let left_out = tiled.base.removed.clone();
        let key = (operators.to_vec(), left_out, piece.tiling);
        let known = self.known.get(&key).copied();
        let needed = known.unwrap_or_else(|| {
            let part = steps.part(&piece.steps, operators);
            part.needs(self.search, piece.tiling, budget)
        });
        self.known.insert(key, needed);
        let beside = steps.beside(&piece.steps);
        needed.map(|needs| Needs {
            least: needs.least + beside,
            planned: needs.planned + beside,
        })
    }

    fn recipe(&self, tiled: &TiledRuns<'_>, path: &Path) -> Recipe {
        let splits = path.pieces.iter().map(|&piece| {
            let piece = &tiled.pieces[piece];
            piece.tiling.split(&self.order[piece.steps.clone()])
        });
        with_splits(self.search, tiled.base, splits.collect())
    }
}

/// Whether all that is alive while these operators run, and shortly before and after, has a place
/// in so many bytes, as far as a short search sees.
fn fits(
    transformed: &Transformed,
    arena: &Arena,
    operators: &HashSet<OperatorId>,
    bytes: u64,
    budget: &mut Budget<'_>,
) -> bool {
    /// Steps before and after.
    const MARGIN: u32 = 2;
    /// Decisions of a search.
    const NODES: u64 = 1000;
    let origins = transformed.origins.iter();
    let mut own = (1..)
        .zip(origins)
        .filter(|(_, origin)| operators.contains(&origin.operator))
        .map(|(step, _)| step);
    let first: u32 = own.next().unwrap_or(0);
    let (begin, end) = (
        first.saturating_sub(MARGIN),
        own.last().unwrap_or(first) + 1 + MARGIN,
    );
    let buffers = arena.problem.buffers().iter().enumerate();
    let alive = buffers
        .filter(|(_, buffer)| buffer.alive.start < end && begin < buffer.alive.end)
        .map(|(index, _)| index);
    let part = arena.problem.subset(&alive.collect::<Vec<usize>>());
    let decision = budget.within(PART, |budget| decide_in_parts(&part, bytes, NODES, budget));
    matches!(decision, Decision::Possible(_))
}
