//! Peaks computed from the definitions, slowly, without the crate's help.

use super::graphs::Random;
use dmo_analysis::graph::overlaps::{Overlaps, Sharing};
use dmo_analysis::graph::{Graph, Node, OperatorId, Storage, TensorId};
use dmo_analysis::schedule::CountedEnds;
use std::collections::HashMap;

/// Judges orders of one graph.
pub struct Judge<'a> {
    pub graph: &'a Graph,
    pub ends: CountedEnds,
    pub overlaps: Option<&'a Overlaps>,
    extents: HashMap<(usize, Vec<bool>), u64>,
}

impl<'a> Judge<'a> {
    pub fn new(graph: &'a Graph, ends: CountedEnds, overlaps: Option<&'a Overlaps>) -> Self {
        Self {
            graph,
            ends,
            overlaps,
            extents: HashMap::new(),
        }
    }

    fn size(&self, id: TensorId) -> u64 {
        let left_out = !self.ends.count_graph_inputs && self.graph.inputs.contains(&id)
            || !self.ends.count_graph_outputs && self.graph.outputs.contains(&id);
        if left_out || !self.graph.in_arena(id) {
            0
        } else {
            self.graph.tensor(id).size_bytes
        }
    }

    /// First and last step of a tensor.
    pub fn used(&self, id: TensorId, order: &[OperatorId]) -> Option<(usize, usize)> {
        if !self.graph.in_arena(id) {
            return None;
        }
        let step = |touches: &dyn Fn(&Node) -> bool, last: bool| {
            let mut steps =
                (0..order.len()).filter(|&step| touches(&self.graph.operators[order[step].0]));
            if last {
                steps.next_back()
            } else {
                steps.next()
            }
        };
        let written = step(&|node| node.outputs.contains(&id), false);
        let read = step(&|node| node.inputs.contains(&id), true);
        let is_input = self.graph.inputs.contains(&id);
        let is_output = self.graph.outputs.contains(&id);
        if written.is_none() && read.is_none() && !is_input && !is_output {
            return None;
        }
        let begin = written.unwrap_or(0);
        let end = if is_output {
            order.len().max(1) - 1
        } else {
            read.unwrap_or(begin)
        };
        Some((begin, end))
    }

    /// The cost of each step.
    pub fn costs(&mut self, order: &[OperatorId]) -> Vec<u64> {
        let used: Vec<Option<(usize, usize)>> = (0..self.graph.tensors.len())
            .map(|index| self.used(TensorId(index), order))
            .collect();
        let mut costs = Vec::new();
        for (step, operator) in order.iter().enumerate() {
            let node = &self.graph.operators[operator.0];
            let touched = |id: TensorId| node.inputs.contains(&id) || node.outputs.contains(&id);
            let alive = |index: &usize| used[*index].is_some_and(|(a, b)| a <= step && step <= b);
            let others: u64 = (0..used.len())
                .filter(alive)
                .filter(|&index| !touched(TensorId(index)))
                .map(|index| self.size(TensorId(index)))
                .sum();
            let dying = |id: TensorId| used[id.0].is_some_and(|(_, end)| end == step);
            let scratch: u64 = node.scratch_bytes.iter().sum();
            costs.push(others + scratch + self.extent(*operator, &dying, order, step));
        }
        costs
    }

    /// Without sharing the sum; otherwise by trying positions of the tensors one by one.
    fn extent(
        &mut self,
        operator: OperatorId,
        dying: &dyn Fn(TensorId) -> bool,
        order: &[OperatorId],
        step: usize,
    ) -> u64 {
        let graph = self.graph;
        let node = &graph.operators[operator.0];
        let inputs = graph.arena_inputs(node);
        let outputs = graph.arena_outputs(node);
        let ids: Vec<TensorId> = inputs.iter().chain(&outputs).copied().collect();
        let Some(overlaps) = self.overlaps else {
            return ids.iter().map(|&id| self.size(id)).sum();
        };
        // An output of the graph is needed after the last step.
        let dies: Vec<bool> = inputs
            .iter()
            .map(|&id| dying(id) && !(step + 1 == order.len() && graph.outputs.contains(&id)))
            .collect();
        let key = (operator.0, dies.clone());
        if let Some(&known) = self.extents.get(&key) {
            return known;
        }
        let granted = |one: usize, other: usize| {
            if one >= inputs.len() || other < inputs.len() || !dies[one] {
                return None;
            }
            overlaps[operator.0]
                .iter()
                .find(|overlap| (overlap.input, overlap.output) == (ids[one], ids[other]))
                .map(|overlap| overlap.sharing)
        };
        let sizes: Vec<u64> = ids.iter().map(|&id| self.size(id)).collect();
        let extent = slow_extent(&sizes, &granted);
        self.extents.insert(key, extent);
        extent
    }

    pub fn peak(&mut self, order: &[OperatorId]) -> u64 {
        self.costs(order).into_iter().max().unwrap_or(0)
    }

    /// The lowest peak of all orders.
    pub fn best(&mut self) -> u64 {
        let mut best = u64::MAX;
        self.all_orders(&mut Vec::new(), &mut |judge, order| {
            best = best.min(judge.peak(order));
        });
        best
    }

    fn all_orders(
        &mut self,
        order: &mut Vec<OperatorId>,
        found: &mut dyn FnMut(&mut Self, &[OperatorId]),
    ) {
        if order.len() == self.graph.operators.len() {
            found(self, order);
            return;
        }
        for index in 0..self.graph.operators.len() {
            let operator = OperatorId(index);
            if !order.contains(&operator) && self.can_follow(operator, order) {
                order.push(operator);
                self.all_orders(order, found);
                order.pop();
            }
        }
    }

    /// All earlier writers of its inputs have run, and all earlier users of its variables.
    fn can_follow(&self, operator: OperatorId, order: &[OperatorId]) -> bool {
        let node = &self.graph.operators[operator.0];
        let variable = |id: &&TensorId| self.graph.tensor(**id).storage == Storage::Variable;
        (0..operator.0)
            .filter(|&index| !order.contains(&OperatorId(index)))
            .all(|index| {
                let earlier = &self.graph.operators[index];
                let feeds = node.inputs.iter().any(|id| earlier.outputs.contains(id));
                let mut variables = node.inputs.iter().filter(variable);
                !feeds && !variables.any(|id| earlier.inputs.contains(id))
            })
    }

    /// A random order of the graph.
    pub fn shuffled(&self, random: &mut Random) -> Vec<OperatorId> {
        let mut order = self.graph.file_order();
        for _ in 0..4 * order.len() {
            let step = random.below(order.len() as u64) as usize;
            let other = random.below(order.len() as u64) as usize;
            order.swap(step, other);
            if !self.is_order(&order) {
                order.swap(step, other);
            }
        }
        order
    }

    /// Whether it is one of the graph's orders.
    pub fn is_order(&self, order: &[OperatorId]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted == self.graph.file_order()
            && (0..order.len()).all(|step| self.can_follow(order[step], &order[..step]))
    }
}

/// The least extent of blocks, all starts tried. `granted` is the sharing of an input with
/// an output.
pub fn slow_extent(sizes: &[u64], granted: &dyn Fn(usize, usize) -> Option<Sharing>) -> u64 {
    let mut best = sizes.iter().sum();
    let mut starts = Vec::new();
    place(sizes, granted, &mut starts, &mut best);
    best
}

fn place(
    sizes: &[u64],
    granted: &dyn Fn(usize, usize) -> Option<Sharing>,
    starts: &mut Vec<u64>,
    best: &mut u64,
) {
    let block = starts.len();
    if block == sizes.len() {
        let ends = starts.iter().zip(sizes).map(|(start, size)| start + size);
        *best = (*best).min(ends.max().unwrap_or(0));
        return;
    }
    if sizes[block] == 0 {
        starts.push(0);
        place(sizes, granted, starts, best);
        starts.pop();
        return;
    }
    for start in 0..(*best).saturating_sub(sizes[block]) {
        let fits = (0..block).filter(|&other| sizes[other] > 0).all(|other| {
            let (low, high) = (starts[other], start);
            let apart = low + sizes[other] <= high || high + sizes[block] <= low;
            apart
                || match granted(other, block) {
                    None => false,
                    Some(Sharing::Alias) => low == high,
                    Some(Sharing::Displaced(bytes)) => low >= high + bytes,
                }
        });
        if fits {
            starts.push(start);
            place(sizes, granted, starts, best);
            starts.pop();
        }
    }
}
