//! What no tiling needs less than, against all tilings of small networks.

use super::graphs::Random;
use super::networks;
use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::transform::front::{Front, Search, front};
use dmo_analysis::transform::{Recipe, Split, apply, macs};
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact;

/// Bands and patches of an output: what docs/splitting.md says is looked at.
fn grids(height: u32, width: u32) -> Vec<[u32; 2]> {
    let bands = (2..=height).map(|rows| [rows, 1]);
    let bands = bands.filter(|grid| !matches!(grid[0], 7 | 9 | 11 | 13 | 15) || grid[0] == height);
    let columns = [2u32, 3, 4, 5, 6, 8, 10];
    let patches = columns.iter().flat_map(|&columns| {
        let rows = [columns.div_ceil(2), columns, 2 * columns];
        rows.map(|rows| [rows, columns])
    });
    let patches = patches.filter(|grid| grid[0] <= height && grid[1] <= width);
    bands.chain(patches).collect()
}

/// All ways to put the operators from `first` on in tiles or not.
fn splits(graph: &Graph, first: usize) -> Vec<Vec<Split>> {
    if first == graph.operators.len() {
        return vec![Vec::new()];
    }
    let mut found = splits(graph, first + 1);
    for end in first + 1..=graph.operators.len() {
        let output = graph.operators[end - 1].outputs[0];
        let shape = &graph.tensor(output).shape;
        let behind = splits(graph, end);
        for grid in grids(shape[1], shape[2]) {
            let operators: Vec<OperatorId> = (first..end).map(OperatorId).collect();
            let split = Split {
                operators,
                grid,
                cached: false,
            };
            let alone = Recipe {
                splits: vec![split],
                ..Recipe::default()
            };
            if apply(graph, &alone).is_ok() {
                let with = |rest: &Vec<Split>| [alone.splits.clone(), rest.clone()].concat();
                found.extend(behind.iter().map(with));
            }
        }
    }
    found
}

struct Way<'a> {
    graph: &'a Graph,
    overlaps: fn(&Graph) -> Overlaps,
    layout: Layout,
    slices: bool,
}

impl Way<'_> {
    fn front(&self, most_extra_macs: u64) -> Front {
        let search = Search {
            graph: self.graph,
            order: &self.graph.file_order(),
            overlaps: &self.overlaps,
            layout: self.layout,
            in_place: false,
            remove: Vec::new(),
            bands: true,
            patches: true,
            cached: false,
            most_extra_macs,
            slices: self.slices,
        };
        front(&search, &mut Budget::of_seconds(2.0), &mut |_, _, _| {}).unwrap()
    }

    /// Tries all tilings; how many there are, and the smallest arena with at most so much work.
    fn smallest(&self, most_extra_macs: &[u64], bounds: &[u64]) -> (u64, Vec<u64>) {
        let total = macs::of_graph(self.graph);
        let mut smallest = vec![u64::MAX; bounds.len()];
        let mut tried = 0;
        for splits in splits(self.graph, 0) {
            let recipe = Recipe {
                splits,
                slices: self.slices,
                ..Recipe::default()
            };
            let Ok(transformed) = apply(self.graph, &recipe) else {
                continue;
            };
            let changed = &transformed.graph;
            let extra = macs::of_graph(changed).saturating_sub(total);
            let overlaps = (self.overlaps)(changed);
            let order = changed.file_order();
            let problem = Arena::new(changed, &order, &overlaps, self.layout)
                .unwrap()
                .problem;
            tried += 1;
            let levels = most_extra_macs.iter().zip(bounds).zip(&mut smallest);
            let mut bytes = problem.lower_bound();
            for ((_, bound), known) in levels.filter(|((most, _), _)| extra <= **most) {
                if bytes < (*bound).max(*known) {
                    let budget = &mut Budget::of_seconds(0.05);
                    bytes = exact::plan(&problem, budget).arena_bytes;
                }
                *known = bytes.min(*known);
            }
        }
        (tried, smallest)
    }
}

/// No choice of runs and grids needs less than the bound for its work, whatever overlaps and
/// whatever is counted; mostly some choice needs no more, and the search has found it.
#[test]
fn no_tiling_needs_less_than_the_bound() {
    let mut random = Random(5);
    let (mut networks, mut tried, mut levels, mut tight, mut found) = (0, 0, 0, 0, 0);
    for seed in 0..30 {
        let graph = networks::network(77 << 32 | seed, 3);
        if graph.operators.len() > 3 {
            continue;
        }
        networks += 1;
        let total = macs::of_graph(&graph);
        let layout = if random.one_in(2) {
            Layout::tflm()
        } else {
            Layout::default()
        };
        let counted = CountedEnds {
            count_graph_inputs: !random.one_in(3),
            count_graph_outputs: !random.one_in(3),
        };
        let kinds: [fn(&Graph) -> Overlaps; 3] =
            [overlaps::analytic, overlaps::none, overlaps::accumulating];
        let way = Way {
            graph: &graph,
            overlaps: kinds[random.below(3) as usize],
            layout: Layout { counted, ..layout },
            slices: false,
        };
        let front = way.front(total);
        let bounds: Vec<u64> = front.bounds.iter().map(|bound| bound.arena_bytes).collect();
        let most: Vec<u64> = front
            .bounds
            .iter()
            .map(|bound| bound.most_extra_macs)
            .collect();
        assert!(!bounds.is_empty(), "{graph:?}");
        let (ways, smallest) = way.smallest(&most, &bounds);
        tried += ways;
        for ((bound, smallest), most) in bounds.iter().zip(&smallest).zip(most) {
            assert!(
                bound <= smallest,
                "{bound} {smallest} {most} {graph:?} {:?}",
                way.layout
            );
            let points = front.points.iter().filter(|point| point.extra_macs <= most);
            let best = points.map(|point| point.arena_bytes).min();
            assert!(best >= Some(*bound), "{bound} {best:?} {graph:?}");
            levels += 1;
            tight += u64::from(bound == smallest);
            found += u64::from(best == Some(*smallest));
        }
    }
    assert!(
        networks > 15 && tried > 10_000,
        "{networks} networks, {tried} ways"
    );
    assert!(
        10 * tight > 8 * levels,
        "{tight} of {levels} bounds are reached"
    );
    assert!(
        10 * found > 9 * levels,
        "{found} of {levels} smallest are found"
    );
}

/// The same of inputs that are handed over in rows, where a run in tiles reads them.
#[test]
fn no_tiling_of_rows_needs_less_than_the_bound() {
    let (mut tried, mut levels, mut found) = (0, 0, 0);
    for seed in 0..40 {
        let graph = networks::network(78 << 32 | seed, 3);
        if graph.operators.len() > 3 {
            continue;
        }
        let way = Way {
            graph: &graph,
            overlaps: overlaps::analytic,
            layout: Layout::default(),
            slices: true,
        };
        let front = way.front(macs::of_graph(&graph));
        let bounds: Vec<u64> = front.bounds.iter().map(|bound| bound.arena_bytes).collect();
        let most = front.bounds.iter().map(|bound| bound.most_extra_macs);
        let most: Vec<u64> = most.collect();
        let (ways, smallest) = way.smallest(&most, &bounds);
        tried += ways;
        for ((bound, smallest), most) in bounds.iter().zip(&smallest).zip(most) {
            assert!(bound <= smallest, "{bound} {smallest} {most} {graph:?}");
            let points = front.points.iter().filter(|point| point.extra_macs <= most);
            let best = points.map(|point| point.arena_bytes).min();
            levels += 1;
            found += u64::from(best.unwrap_or(u64::MAX) == *smallest);
        }
    }
    assert!(
        tried > 2_000 && levels > 50,
        "{tried} ways, {levels} levels"
    );
    assert!(
        10 * found > 8 * levels,
        "{found} of {levels} smallest are found"
    );
}
