//! What memory can be had for what work: runs and grids, searched for those that nothing else
//! beats in both.
//!
//! A run in tiles changes what its own operators need and nothing of the others. For every size
//! of the arena the least work is therefore a shortest path along the order: over each operator
//! that needs no more, or over a run whose tiles need no more. What all runs in all grids need is
//! first bounded from their sizes; the operators of those that such a path takes are then looked
//! at, until a path is of known ones only. What comes of it is planned exactly.

mod candidates;
mod cuts;
mod floor;
mod part;
mod path;
mod promises;
mod removal;
mod tiled;

use super::{Recipe, Split, Transformed, apply, in_place, macs, slices};
use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::overlaps::Overlaps;
use crate::graph::{Graph, OperatorId};
use candidates::Tiling;
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::exact;
use part::Needs;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use tiled::Tiled;

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
    /// Whether bands may keep rows for the next one ([`Split::cached`]).
    pub cached: bool,
    /// At most this many multiply-accumulates may be computed beside those of the model.
    pub most_extra_macs: u64,
    /// Whether the input is handed over in rows ([`Recipe::slices`]): only ways that do count.
    pub slices: bool,
}

impl Search<'_> {
    /// Where the input is handed over in rows, no other way counts.
    fn counts(&self, point: &Point) -> bool {
        point.recipe.slices || !self.slices
    }
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

/// What no way of tiling needs less than: of the runs and grids that are looked at, each run by
/// itself, in this order, with what was left out or works in place in the ways that were tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct TilingBound {
    /// With at most so many multiply-accumulates computed again.
    pub most_extra_macs: u64,
    /// No arena is smaller, in bytes.
    pub arena_bytes: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Front {
    /// Ways that none of the others beats in both arena and work, by work, the model as it is
    /// first, unless that is beaten.
    pub points: Vec<Point>,
    /// What no other choice of runs and grids needs less than, by work; none where the work was
    /// not enough to look at all of them, where rows may be kept, and where what is left out makes tensors
    /// lie in others.
    pub bounds: Vec<TilingBound>,
    /// Runs in tiles that were looked at.
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

/// Work of rewriting a model, making its problem and bounding each step, in pairs and buffers.
const BUILT: u64 = 16;

/// Searches as far as the budget goes; the model as it is is always planned. `progress` receives
/// of how many runs in tiles the operators have been looked at and how many may help, and the
/// smallest arena planned so far, in bytes.
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
        known: HashMap::new(),
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
    // Where rows may be kept, tiles that keep none are looked for first: fewer of them have to be planned.
    let without_kept = Search {
        cached: false,
        remove: search.remove.clone(),
        ..*search
    };
    let without_kept = (search.bands || search.patches || !search.cached).then_some(&without_kept);
    let searches = without_kept.into_iter();
    let searches = searches.chain(search.cached.then_some(search));
    let passes: Vec<(&Search<'_>, &Recipe)> = searches
        .flat_map(|search| bases.iter().map(move |base| (search, base)))
        .collect();
    let mut tiled = Vec::new();
    for (number, &(search, base)) in passes.iter().enumerate() {
        // The first has the most to be planned.
        let others = passes.len() - number - 1;
        let left = budget.left();
        let share = match number {
            0 => left / (3 + others as u64) * 3,
            _ => left / (1 + others as u64),
        };
        let is_left = |operator: &&OperatorId| !base.removed.contains(operator);
        planner.order = search.order.iter().filter(is_left).copied().collect();
        planner.search = search;
        tiled.push(budget.within(share, |budget| planner.tile(base, budget, progress))?);
    }
    Ok(Front {
        points: planner.front(),
        bounds: least_of_all(&tiled),
        // The last passes look at all that those before them look at.
        candidates: (tiled.iter().rev().take(bases.len()))
            .map(|tiled| tiled.candidates)
            .sum(),
        complete: tiled.iter().all(|tiled| tiled.complete),
        stopped: budget.was_stopped(),
    })
}

/// At each level the least bound of all passes; none where one of them has none.
fn least_of_all(tiled: &[Tiled]) -> Vec<TilingBound> {
    let mut bounds = tiled.iter().map(|tiled| tiled.bounds.clone());
    let first = bounds.next().unwrap_or_default();
    bounds.fold(first, |least, others| {
        let pairs = least.into_iter().zip(others);
        pairs
            .map(|(one, other)| TilingBound {
                arena_bytes: one.arena_bytes.min(other.arena_bytes),
                ..one
            })
            .collect()
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
    /// What runs in tiles need by themselves; `None` if they cannot be done.
    known: HashMap<TiledRun, Option<Needs>>,
}

/// A run in tiles: its operators, those that are left out of the model, and its tiles.
type TiledRun = (Vec<OperatorId>, Vec<OperatorId>, Tiling);

impl FrontPlanner<'_> {
    fn extra_macs(&self, transformed: &Transformed) -> u64 {
        macs::of_graph(&transformed.graph).saturating_sub(self.total_macs)
    }

    /// What the steps of each operator in the order need at least, in bytes.
    fn needs(&self, transformed: &Transformed, arena: &Arena, budget: &mut Budget<'_>) -> Vec<u64> {
        let extent = (arena.problem.pairs() + arena.problem.buffers().len()) as u64;
        budget.spend(BUILT * extent);
        let place: HashMap<OperatorId, usize> = self
            .order
            .iter()
            .enumerate()
            .map(|(at, &one)| (one, at))
            .collect();
        let mut needs = vec![0; self.order.len()];
        for (section, bytes) in arena.problem.section_bounds() {
            // Step 0 is the application's.
            let steps = section.steps.filter_map(|step| step.checked_sub(1));
            let origins = steps.filter_map(|step| transformed.origins.get(step as usize));
            for at in origins.filter_map(|origin| place.get(&origin.operator)) {
                needs[*at] = bytes.max(needs[*at]);
            }
        }
        needs
    }

    fn arena(&self, transformed: &Transformed) -> Result<Arena, ArenaError> {
        let graph = &transformed.graph;
        let overlaps = (self.search.overlaps)(graph);
        Arena::new(graph, &graph.file_order(), &overlaps, self.search.layout)
    }

    /// Plans a recipe exactly: the size of its arena in bytes; `None` if it cannot be done.
    fn plan(&mut self, recipe: Recipe, budget: &mut Budget<'_>) -> Option<u64> {
        let transformed = apply(self.search.graph, &recipe).ok()?;
        let arena = self.arena(&transformed).ok()?;
        let best = budget.within(PLAN, |budget| exact::plan_in_parts(&arena.problem, budget));
        self.points.push(Point {
            recipe,
            arena_bytes: best.arena_bytes,
            bound_bytes: best.bound_bytes,
            extra_macs: self.extra_macs(&transformed),
        });
        Some(best.arena_bytes)
    }

    /// Whether the operator of the graph that remains reads the input that is handed over in rows:
    /// never as a whole.
    fn reads_rows(&self, graph: &Graph, operator: OperatorId) -> bool {
        let reads = |input| graph.operators[operator.0].inputs.contains(input);
        self.search.slices && graph.inputs.iter().any(reads)
    }

    /// The points that nothing beats, by work; of equal ones that which changes least.
    fn front(self) -> Vec<Point> {
        let Self {
            search, mut points, ..
        } = self;
        points.retain(|point| search.counts(point));
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

/// Tiles do not work in place. An input in rows is handed over to the run that reads it.
fn with_splits(search: &Search<'_>, base: &Recipe, splits: Vec<Split>) -> Recipe {
    let tiled: HashSet<&OperatorId> = splits.iter().flat_map(|split| &split.operators).collect();
    let mut in_place = base.in_place.clone();
    in_place.retain(|operator| !tiled.contains(operator));
    let mut recipe = Recipe {
        in_place,
        splits,
        ..base.clone()
    };
    recipe.slices = search.slices && slices::is_possible(search.graph, &recipe);
    recipe
}
