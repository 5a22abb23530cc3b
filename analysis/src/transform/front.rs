//! What memory can be had for what work: runs and grids, searched for those that nothing else
//! beats in both.
//!
//! A run in tiles changes what its own operators need and nothing of the others. So each run is
//! tried with each grid by itself, its operators' steps bounded from below. For every size of the
//! arena the least work is then a shortest path along the order: over each operator that needs
//! no more, or over a run whose tiles need no more. What comes of it is planned exactly.

mod candidates;
mod path;
mod removal;

use super::{Recipe, Split, Transformed, apply, in_place, macs, slices};
use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::overlaps::Overlaps;
use crate::graph::{Graph, OperatorId};
use candidates::{Run, grids, runs};
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::exact;
use path::{Path, Piece, paths};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What is searched.
pub struct Search<'a> {
    /// The model.
    pub graph: &'a Graph,
    /// In which order its operators run.
    pub order: &'a [OperatorId],
    /// What the outputs of any graph's operators may overlap.
    pub overlaps: &'a (dyn Fn(&Graph) -> Overlaps + Sync),
    /// What the arena holds, and how.
    pub layout: Layout,
    /// Whether depthwise convolutions may work in place.
    pub in_place: bool,
    /// Operators that may be left out ([`remove`](super::remove)); tried in this order.
    pub remove: Vec<OperatorId>,
    /// Whether tiles may be bands: whole rows.
    pub bands: bool,
    /// Whether tiles may be patches: parts of rows.
    pub patches: bool,
    /// At most this many multiply-accumulates may be computed beside those of the model.
    pub most_extra_macs: u64,
    /// Whether the input is handed over in rows ([`Recipe::slices`]): only ways that do count.
    pub slices: bool,
}

/// A way to run the model.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Point {
    /// What is done to the model.
    pub recipe: Recipe,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No arena for these operators in this order is smaller, in bytes.
    pub bound_bytes: u64,
    /// Multiply-accumulates that are computed again.
    pub extra_macs: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Front {
    /// Ways that none of the others beats in both arena and work, by work, the model as it is
    /// first, unless that is beaten.
    pub points: Vec<Point>,
    /// Runs in tiles that were tried.
    pub candidates: u64,
    /// The work was enough for all of them, and to plan what comes of them.
    pub complete: bool,
    /// The caller stopped the search before it had spent its work: on a faster machine it may find
    /// better ways.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// Work that one exact plan may take.
const PLAN: u64 = WORK_PER_SECOND * 2 / 5;

/// Work that the plan of a part may take.
const PART: u64 = WORK_PER_SECOND / 20;

/// Work of rewriting a model, making its problem and bounding each step, in pairs and buffers.
const BUILT: u64 = 16;

/// Searches as far as the budget goes; the model as it is is always planned. `progress` receives
/// how many runs have been tried and how many there are, and the smallest arena planned so far,
/// in bytes.
///
/// # Errors
/// When the order is not one of the graph's.
pub fn front(
    search: &Search<'_>,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(usize, usize, u64),
) -> Result<Front, ArenaError> {
    let whole = budget.left();
    let plain = Recipe {
        order: search.order.to_vec(),
        ..Recipe::default()
    };
    let mut planner = FrontPlanner {
        search,
        total_macs: macs::of_graph(search.graph),
        order: search.order.to_vec(),
        points: Vec::new(),
    };
    planner.plan(plain.clone(), budget);
    let smaller = if search.in_place {
        in_place::smaller(search.graph)
    } else {
        Vec::new()
    };
    let in_place = Recipe {
        in_place: smaller,
        ..plain.clone()
    };
    // What is removed, or works in place, is not tiled in the same way.
    let mut bases = vec![plain];
    if !in_place.in_place.is_empty() {
        planner.plan(in_place.clone(), budget);
        bases.push(in_place.clone());
    }
    if !search.remove.is_empty() {
        let without = budget.within(whole / 4, |budget| planner.without_moves(&in_place, budget));
        if !without.removed.is_empty() {
            bases.push(without);
        }
    }
    let (mut candidates, mut complete) = (0, true);
    let mut known: Vec<Piece> = Vec::new();
    for (number, base) in bases.iter().enumerate() {
        // The first tries all runs of the model, the others what is new to them.
        let others = bases.len() - number - 1;
        let left = budget.left();
        let share = match number {
            0 => left / (3 + others as u64) * 3,
            _ => left / (1 + others as u64),
        };
        let is_left = |operator: &&OperatorId| !base.removed.contains(operator);
        planner.order = search.order.iter().filter(is_left).copied().collect();
        let least = planner.points.iter().map(|point| point.arena_bytes).min();
        complete &= budget.within(share, |budget| {
            // What is left is for plans.
            let mut tiled = budget.within(share / 4 * 3, |budget| {
                planner.pieces(base, &known, budget, &mut |done, all| {
                    progress(done, all, least.unwrap_or(0));
                })
            })?;
            if number == 0 {
                known.clone_from(&tiled.pieces);
            }
            candidates += tiled.candidates;
            let mut complete = tiled.complete;
            for fitted in [false, true] {
                complete &= planner.plan_paths(base, &mut tiled, fitted, budget);
            }
            Ok::<bool, ArenaError>(complete)
        })?;
    }
    Ok(Front {
        points: planner.front(),
        candidates,
        complete,
        stopped: budget.was_stopped(),
    })
}

/// Plans recipes and keeps what came of them.
struct FrontPlanner<'a> {
    search: &'a Search<'a>,
    total_macs: u64,
    /// The operators that are not left out, in the order in which they run.
    order: Vec<OperatorId>,
    /// All that was planned.
    points: Vec<Point>,
}

/// Runs in tiles, each by itself.
struct TiledRuns {
    /// What the steps of each operator need at least, in bytes, in the order.
    needs: Vec<u64>,
    pieces: Vec<Piece>,
    candidates: u64,
    complete: bool,
}

/// What came of one run, with each of its grids.
struct TiledRun {
    pieces: Vec<Piece>,
    candidates: u64,
}

impl FrontPlanner<'_> {
    /// Plans the paths, from the largest arena on. Where steps fit together worse than each by
    /// itself, `fitted` makes the pieces that they are of count as larger from then on, so that
    /// others get their turn. Whether the work was enough.
    fn plan_paths(
        &mut self,
        base: &Recipe,
        tiled: &mut TiledRuns,
        fitted: bool,
        budget: &mut Budget<'_>,
    ) -> bool {
        let mut seen: HashSet<Vec<usize>> = HashSet::new();
        loop {
            let paths = paths(&tiled.needs, &tiled.pieces, self.search.most_extra_macs);
            let is_open = |path: &&Path| {
                !path.pieces.is_empty() && !seen.contains(&path.pieces) && !self.is_beaten(path)
            };
            let Some(path) = paths.iter().find(is_open) else {
                return true;
            };
            if budget.is_spent() {
                return false;
            }
            let splits = path.pieces.iter().map(|&piece| {
                let piece = &tiled.pieces[piece];
                Split {
                    operators: self.order[piece.steps.clone()].to_vec(),
                    grid: piece.grid,
                }
            });
            let recipe = self.with_splits(base, splits.collect());
            seen.insert(path.pieces.clone());
            let Some((transformed, arena, bytes)) = self.plan(recipe, budget) else {
                continue;
            };
            if !fitted || bytes <= path.bytes {
                continue;
            }
            for &index in &path.pieces {
                let piece = &mut tiled.pieces[index];
                let operators = &self.order[piece.steps.clone()];
                let around = planned_around(&transformed, &arena, operators, budget);
                piece.bytes = around.unwrap_or(0).max(piece.bytes);
            }
        }
    }

    /// Each run with each grid, on all cores; first those with the operators that need most. Runs
    /// that the model has with all its operators are `known` already, where any are.
    fn pieces(
        &self,
        base: &Recipe,
        known: &[Piece],
        budget: &mut Budget<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<TiledRuns, ArenaError> {
        let order = &self.order[..];
        let by_operator = match apply(self.search.graph, base) {
            Ok(transformed) => self.needs(&transformed, order, budget)?,
            Err(_) => HashMap::new(),
        };
        // An input in rows is never read by an operator as a whole.
        let need = |operator: &OperatorId| match by_operator.get(operator) {
            _ if self.reads_rows(*operator) => u64::MAX,
            bytes => bytes.copied().unwrap_or(0),
        };
        let needs: Vec<u64> = order.iter().map(need).collect();
        let runs = if self.search.bands || self.search.patches {
            runs(self.search.graph, order, &needs)
        } else {
            Vec::new()
        };
        let (runs, mut pieces) = if known.is_empty() {
            (runs, Vec::new())
        } else {
            self.besides_known(runs, known)
        };
        let (next, spent, limit) = (AtomicUsize::new(0), AtomicU64::new(0), budget.left());
        let (found, beside) = (Mutex::new(Vec::new()), budget.beside(limit));
        let work = |tell: &mut dyn FnMut(usize)| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(number) else { return };
                // Those before it have spent everything, whoever of them is not done yet.
                if spent.load(Ordering::Relaxed) >= limit {
                    return;
                }
                let mut own = beside.beside(limit);
                let tiled = self.of_run(base, run, &mut own);
                spent.fetch_add(own.used(), Ordering::Relaxed);
                if let Ok(mut found) = found.lock() {
                    found.push((number, tiled, own.used(), own.was_stopped()));
                }
                tell(number);
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(|| work(&mut |_| ()));
            }
            work(&mut |done| progress(done, runs.len()));
        });
        // In the order of the runs, as far as the work goes: the same on any number of threads.
        let mut found = found.into_inner().unwrap_or_default();
        found.sort_unstable_by_key(|(number, ..)| *number);
        let (mut candidates, mut complete) = (0, true);
        for (_, tiled, used, stopped) in found {
            if budget.is_spent() {
                break;
            }
            candidates += tiled.candidates;
            complete &= !stopped;
            pieces.extend(tiled.pieces);
            budget.spend(used);
        }
        pieces.sort_unstable_by_key(|piece| (piece.steps.start, piece.steps.end, piece.grid));
        Ok(TiledRuns {
            needs,
            pieces,
            candidates,
            complete: complete && !budget.is_spent(),
        })
    }

    /// The runs that go over a place where operators are left out, and the pieces of all others.
    fn besides_known(&self, runs: Vec<Run>, known: &[Piece]) -> (Vec<Run>, Vec<Piece>) {
        let mut place = vec![None; self.search.graph.operators.len()];
        for (index, operator) in self.order.iter().enumerate() {
            place[operator.0] = Some(index);
        }
        let all = self.search.order;
        let moved = known.iter().filter_map(|piece| {
            let operators = &all[piece.steps.clone()];
            let mut places = operators.iter().map(|operator| place[operator.0]);
            let start = place[operators.first()?.0]?;
            places.all(|place| place.is_some()).then(|| Piece {
                steps: start..start + operators.len(),
                ..piece.clone()
            })
        });
        let moved = moved.collect();
        let is_new = |run: &Run| {
            let operators = &self.order[run.steps.clone()];
            let first = all.iter().position(|one| Some(one) == operators.first());
            let same = first.and_then(|first| all.get(first..first + operators.len()));
            same != Some(operators)
        };
        (runs.into_iter().filter(is_new).collect(), moved)
    }

    /// The grids of a run, from the coarsest on, bands and patches each for themselves, until
    /// they recompute too much or do not help any more.
    fn of_run(&self, base: &Recipe, run: &Run, budget: &mut Budget<'_>) -> TiledRun {
        /// At most this many grids may be no better than the best before.
        const PATIENCE: usize = 4;
        let (mut found, mut candidates): (Vec<Piece>, u64) = (Vec::new(), 0);
        'families: for family in grids(self.search, &self.order[run.steps.clone()]) {
            let (mut least, mut idle) = (u64::MAX, 0);
            for grid in family {
                if budget.spend(BUILT * self.order.len() as u64) {
                    break 'families;
                }
                candidates += 1;
                let Some(piece) = self.piece(base, run, grid, budget) else {
                    break;
                };
                if piece.extra_macs > self.search.most_extra_macs {
                    break;
                }
                idle = if piece.bytes < least { 0 } else { idle + 1 };
                least = piece.bytes.min(least);
                if idle == PATIENCE || least <= run.least_bytes {
                    found.push(piece);
                    break;
                }
                found.push(piece);
            }
        }
        TiledRun {
            pieces: found,
            candidates,
        }
    }

    /// What a run's own operators need at least when it is tiled; `None` if it cannot be.
    fn piece(
        &self,
        base: &Recipe,
        run: &Run,
        grid: [u32; 2],
        budget: &mut Budget<'_>,
    ) -> Option<Piece> {
        let operators = &self.order[run.steps.clone()];
        let split = Split {
            operators: operators.to_vec(),
            grid,
        };
        let recipe = self.with_splits(base, vec![split]);
        let transformed = apply(self.search.graph, &recipe).ok()?;
        let needs = self.needs(&transformed, operators, budget).ok()?;
        Some(Piece {
            steps: run.steps.clone(),
            grid,
            bytes: needs.into_values().max()?,
            extra_macs: self.extra_macs(&transformed),
        })
    }

    fn reads_rows(&self, operator: OperatorId) -> bool {
        let graph = self.search.graph;
        let reads = |input| graph.operators[operator.0].inputs.contains(input);
        self.search.slices && graph.inputs.iter().any(reads)
    }

    /// Tiles do not work in place. The input is handed over in rows to the run that reads it.
    fn with_splits(&self, base: &Recipe, splits: Vec<Split>) -> Recipe {
        let tiled: HashSet<&OperatorId> =
            splits.iter().flat_map(|split| &split.operators).collect();
        let mut in_place = base.in_place.clone();
        in_place.retain(|operator| !tiled.contains(operator));
        let mut recipe = Recipe {
            in_place,
            splits,
            ..base.clone()
        };
        recipe.slices = self.search.slices && slices::input(self.search.graph, &recipe).is_ok();
        recipe
    }

    fn extra_macs(&self, transformed: &Transformed) -> u64 {
        macs::of_graph(&transformed.graph).saturating_sub(self.total_macs)
    }

    /// What the steps of these original operators need at least, in bytes.
    fn needs(
        &self,
        transformed: &Transformed,
        operators: &[OperatorId],
        budget: &mut Budget<'_>,
    ) -> Result<HashMap<OperatorId, u64>, ArenaError> {
        let arena = self.arena(transformed)?;
        let extent = (arena.problem.pairs() + arena.problem.buffers().len()) as u64;
        budget.spend(BUILT * extent);
        let mut needs: HashMap<OperatorId, u64> = HashMap::new();
        let asked: HashSet<&OperatorId> = operators.iter().collect();
        for section in arena.problem.sections() {
            // Step 0 is the application's.
            let steps = section.steps.clone().filter_map(|step| step.checked_sub(1));
            let origins = steps.filter_map(|step| transformed.origins.get(step as usize));
            let origins = origins.map(|origin| origin.operator);
            let own: Vec<OperatorId> = origins.filter(|one| asked.contains(one)).collect();
            if own.is_empty() {
                continue;
            }
            budget.spend(extent);
            let bytes = arena.problem.section_bound(&section);
            for operator in own {
                let needed = needs.entry(operator).or_insert(0);
                *needed = bytes.max(*needed);
            }
        }
        Ok(needs)
    }

    fn arena(&self, transformed: &Transformed) -> Result<Arena, ArenaError> {
        let graph = &transformed.graph;
        let overlaps = (self.search.overlaps)(graph);
        Arena::new(graph, &graph.file_order(), &overlaps, self.search.layout)
    }

    /// Plans a recipe exactly; what comes of it, its problem and the size of its arena in bytes;
    /// `None` if it cannot be done.
    fn plan(
        &mut self,
        recipe: Recipe,
        budget: &mut Budget<'_>,
    ) -> Option<(Transformed, Arena, u64)> {
        let transformed = apply(self.search.graph, &recipe).ok()?;
        let arena = self.arena(&transformed).ok()?;
        let best = budget.within(PLAN, |budget| exact::plan(&arena.problem, budget));
        self.points.push(Point {
            recipe,
            arena_bytes: best.arena_bytes,
            bound_bytes: best.bound_bytes,
            extra_macs: self.extra_macs(&transformed),
        });
        Some((transformed, arena, best.arena_bytes))
    }

    fn is_beaten(&self, path: &Path) -> bool {
        let beats =
            |point: &Point| point.arena_bytes <= path.bytes && point.extra_macs <= path.extra_macs;
        self.points.iter().any(beats)
    }

    /// The points that nothing beats, by work; of equal ones that which changes least.
    fn front(self) -> Vec<Point> {
        let mut points = self.points;
        points.retain(|point| point.recipe.slices || !self.search.slices);
        points.sort_by_key(|point| {
            let Point { recipe, .. } = point;
            let changes = recipe.in_place.len() + recipe.removed.len();
            (point.extra_macs, point.arena_bytes, recipe.tiles(), changes)
        });
        let mut least = u64::MAX;
        points.retain(|point| {
            let better = point.arena_bytes < least;
            least = least.min(point.arena_bytes);
            better
        });
        points
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
