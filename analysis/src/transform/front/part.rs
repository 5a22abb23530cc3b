//! A run by itself: what its tiles need does not depend on the rest of the model, but for what is
//! there beside them.

use super::Search;
use super::candidates::Tiling;
use crate::arena::Arena;
use crate::graph::{Graph, Kernel, Kind, Node, OperatorId, TensorId};
use crate::transform::{Recipe, apply, slices};
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use dmo_planner::plan::exact::plan_in_parts;
use std::collections::HashMap;

/// The operators of a run, and one behind them that reads what others read of it.
pub(super) struct Part {
    graph: Graph,
    run: Vec<OperatorId>,
}

impl Part {
    /// `is_read_later` says of a tensor whether it is read behind the run.
    pub(super) fn new(
        graph: &Graph,
        operators: &[OperatorId],
        is_read_later: &dyn Fn(TensorId) -> bool,
    ) -> Self {
        let mut part = Graph::default();
        let mut numbers: HashMap<TensorId, TensorId> = HashMap::new();
        let mut number = |id: TensorId| {
            *numbers.entry(id).or_insert_with(|| {
                part.tensors.push(graph.tensor(id).clone());
                TensorId(part.tensors.len() - 1)
            })
        };
        for operator in operators {
            let node = &graph.operators[operator.0];
            let mut all = |ids: &[TensorId]| ids.iter().map(|&id| number(id)).collect();
            part.operators.push(Node {
                inputs: all(&node.inputs),
                outputs: all(&node.outputs),
                kernel: node.kernel.as_ref().map(|kernel| Kernel {
                    operator: kernel.operator.clone(),
                    inputs: all(&kernel.inputs),
                    outputs: all(&kernel.outputs),
                }),
                kind: node.kind.clone(),
                scratch_bytes: node.scratch_bytes.clone(),
            });
        }
        let mut known: Vec<(TensorId, TensorId)> = numbers.into_iter().collect();
        known.sort_unstable();
        let within = |ids: &[TensorId]| -> Vec<TensorId> {
            let known = known.iter().filter(|(id, _)| ids.contains(id));
            known.map(|(_, number)| *number).collect()
        };
        part.inputs = within(&graph.inputs);
        part.outputs = within(&graph.outputs);
        let later = known.iter().filter(|(id, number)| {
            graph.in_arena(*id) && is_read_later(*id) && !part.outputs.contains(number)
        });
        let later: Vec<TensorId> = later.map(|(_, number)| *number).collect();
        let run = part.file_order();
        part.operators.push(Node {
            kind: Kind::Reshape,
            inputs: later,
            outputs: Vec::new(),
            kernel: None,
            scratch_bytes: Vec::new(),
        });
        Self { graph: part, run }
    }

    /// What the run needs in these tiles, planned by itself; `None` if it cannot be done.
    pub(super) fn needs(
        &self,
        search: &Search<'_>,
        tiling: Tiling,
        budget: &mut Budget<'_>,
    ) -> Option<Needs> {
        let mut recipe = Recipe {
            splits: vec![tiling.split(&self.run)],
            ..Recipe::default()
        };
        recipe.slices = search.slices && slices::is_possible(&self.graph, &recipe);
        let changed = apply(&self.graph, &recipe).ok()?;
        let graph = &changed.graph;
        let overlaps = (search.overlaps)(graph);
        let arena = Arena::new(graph, &graph.file_order(), &overlaps, search.layout).ok()?;
        let extent = arena.problem.pairs() + arena.problem.buffers().len();
        budget.spend(super::BUILT * extent as u64);
        let best = budget.within(PLAN, |budget| plan_in_parts(&arena.problem, budget));
        Some(Needs {
            least: best.bound_bytes,
            planned: best.arena_bytes,
        })
    }
}

/// What a run in tiles needs, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// No plan of it is smaller.
    pub(super) least: u64,
    /// There is a plan of it by itself that needs no more.
    pub(super) planned: u64,
}

/// Work that a plan of a run may take.
const PLAN: u64 = WORK_PER_SECOND / 20;
