//! What memory a network needs, for searches over architectures: asked for one candidate after the
//! other, thousands of times a second.
//!
//! A candidate is a graph of shapes and operators, for instance a
//! [`Sketch`](crate::graph::sketch::Sketch). The answer is a planned arena with what is proven of
//! it, and the tensors that make its peak. An oracle remembers what the operators that it has seen
//! may overlap, so that of a candidate that differs in one layer only that layer is computed anew.
//!
//! ```
//! use dmo_analysis::graph::zoo::{Element, find};
//! use dmo_analysis::optimise::Certificate;
//! use dmo_analysis::oracle::Oracle;
//!
//! let network = find("person_detection").unwrap();
//! let needs = Oracle::default().ask(&network.build(Element::Int8))?;
//! assert_eq!((needs.peak_bytes, needs.certificate), (36_880, Certificate::Optimal));
//! # Ok::<(), dmo_analysis::arena::ArenaError>(())
//! ```

use crate::arena::{ArenaError, Layout};
use crate::graph::overlaps::{self, Overlaps, SafeOverlap, Sharing};
use crate::graph::{Graph, Node, OperatorId, TensorId};
use crate::operator::Operator;
use crate::optimise::{Certificate, ModelPlan, Task, in_file_order, optimise};
use crate::transform::front::{Search, front};
use crate::transform::macs;
use dmo_planner::budget::{Budget, WORK_PER_SECOND};
use serde::Serialize;
use std::collections::HashMap;

/// What is asked of each candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OracleRequest {
    /// What the arena holds, and how.
    pub layout: Layout,
    /// Whether outputs may overlap inputs, as far as TensorFlow Lite's reference kernels allow by
    /// formula.
    pub overlap: bool,
    /// Whether operators may run in another order than the graph's. It takes longer where there
    /// is another order.
    pub reorder: bool,
    /// Work that the plan of a candidate may take ([`WORK_PER_SECOND`]); where it does not suffice
    /// the certificate says so.
    pub work: u64,
}

impl Default for OracleRequest {
    fn default() -> Self {
        Self {
            layout: Layout::tflm(),
            overlap: true,
            reorder: false,
            work: WORK_PER_SECOND / 1000,
        }
    }
}

/// What a network needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Size of the planned arena in bytes.
    pub peak_bytes: u64,
    /// No plan for this order of operators has a smaller arena, in bytes.
    pub order_bound_bytes: u64,
    /// No plan for any order has a smaller arena, in bytes.
    pub bound_bytes: u64,
    /// What is proven.
    pub certificate: Certificate,
    /// The operator at which most bytes are in use, the first of several; `None` if that is when
    /// the inputs have been stored.
    pub operator: Option<OperatorId>,
    /// Bytes in use there; those that tensors share count once.
    pub used_bytes: u64,
    /// What is in use there, from the lowest offset up.
    pub peak: Vec<InUse>,
}

/// A buffer in use at the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InUse {
    /// The tensor, the first of several in one buffer; `None` of scratch memory.
    pub tensor: Option<TensorId>,
    /// Where it begins in the arena, in bytes.
    pub offset_bytes: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// What tiles would give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TiledNeeds {
    /// Size of the arena in bytes.
    pub peak_bytes: u64,
    /// Multiply-accumulates that are computed again.
    pub extra_macs: u64,
    /// Multiply-accumulates of the network.
    pub macs: u64,
    /// Runs of operators in tiles; 0 where none makes the arena smaller.
    pub runs: usize,
}

/// Answers what networks need.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    request: OracleRequest,
    /// What the pairs of an operator with this many inputs and outputs may share, input by input.
    known: HashMap<(Operator, usize, usize), Vec<Option<Sharing>>>,
}

/// More operators are not remembered.
const MOST_KNOWN: usize = 1 << 18;

impl Oracle {
    /// An oracle that remembers nothing yet.
    pub fn new(request: OracleRequest) -> Self {
        Self {
            request,
            known: HashMap::new(),
        }
    }

    /// What a network needs.
    ///
    /// # Errors
    /// When its operators cannot be ordered, or its sizes make no problem.
    pub fn ask(&mut self, graph: &Graph) -> Result<Needs, ArenaError> {
        Ok(needs(&self.plan(graph)?))
    }

    /// The plan behind the answer, with all offsets.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn plan(&mut self, graph: &Graph) -> Result<ModelPlan, ArenaError> {
        let overlaps = self.overlaps(graph);
        let task = Task {
            graph,
            overlaps: &overlaps,
            layout: self.request.layout,
            reorder: self.request.reorder,
            fixed: &[],
        };
        let mut budget = Budget::of_work(self.request.work);
        if self.request.reorder {
            optimise(task, &mut budget, &mut |_| {})
        } else {
            in_file_order(task, &mut budget)
        }
    }

    /// What tiles would give where they may compute at most this many percent of the network's
    /// multiply-accumulates again: a search of its own, which takes far longer than
    /// [`Self::ask`]. `seconds` of work end it.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_tiled(
        &mut self,
        graph: &Graph,
        most_recomputed_percent: f64,
        seconds: f64,
    ) -> Result<TiledNeeds, ArenaError> {
        let planned = self.plan(graph)?;
        let macs = macs::of_graph(graph);
        let overlap = self.request.overlap;
        let of_graph = move |graph: &Graph| {
            if overlap {
                overlaps::analytic(graph)
            } else {
                overlaps::none(graph)
            }
        };
        let search = Search {
            graph,
            order: &planned.order,
            overlaps: &of_graph,
            layout: self.request.layout,
            in_place: false,
            remove: Vec::new(),
            bands: true,
            patches: true,
            cached: false,
            most_extra_macs: (macs as f64 * most_recomputed_percent / 100.0) as u64,
            slices: false,
        };
        let mut budget = Budget::of_work((seconds * WORK_PER_SECOND as f64) as u64);
        let front = front(&search, &mut budget, &mut |_, _, _| {})?;
        let best = front.points.iter().min_by_key(|point| point.arena_bytes);
        let best = best.filter(|point| point.arena_bytes < planned.arena_bytes);
        Ok(TiledNeeds {
            peak_bytes: best.map_or(planned.arena_bytes, |point| point.arena_bytes),
            extra_macs: best.map_or(0, |point| point.extra_macs),
            macs,
            runs: best.map_or(0, |point| point.recipe.splits.len()),
        })
    }

    fn overlaps(&mut self, graph: &Graph) -> Overlaps {
        if !self.request.overlap {
            return overlaps::none(graph);
        }
        // What lies in other tensors depends on more than the operator.
        if !graph.views.is_empty() {
            return overlaps::analytic(graph);
        }
        let nodes = graph.operators.iter();
        nodes.map(|node| self.of_node(graph, node)).collect()
    }

    /// By formula, which is evaluated once for each operator.
    fn of_node(&mut self, graph: &Graph, node: &Node) -> Vec<SafeOverlap> {
        let Some(kernel) = &node.kernel else {
            return Vec::new();
        };
        let pairs = kernel.inputs.iter();
        let pairs =
            pairs.flat_map(|&input| kernel.outputs.iter().map(move |&output| (input, output)));
        // A tensor that is read twice shares what both readings allow.
        let is_plain = |(input, _): &(TensorId, TensorId)| {
            let readings = kernel.inputs.iter().filter(|other| *other == input);
            readings.count() == 1
        };
        if !pairs.clone().all(|pair| is_plain(&pair)) {
            return overlaps::analytic_of(graph, node);
        }
        let key = (
            kernel.operator.clone(),
            kernel.inputs.len(),
            kernel.outputs.len(),
        );
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let known = self.known.entry(key).or_insert_with(|| {
            let (inputs, outputs) = (kernel.inputs.len(), kernel.outputs.len());
            overlaps::sharings(&kernel.operator, inputs, outputs)
        });
        let granted = pairs.zip(known).filter_map(|((input, output), sharing)| {
            let in_arena = graph.in_arena(input) && graph.in_arena(output);
            let sharing = sharing.filter(|_| in_arena)?;
            Some(SafeOverlap {
                input,
                output,
                sharing,
            })
        });
        granted.collect()
    }
}

fn needs(planned: &ModelPlan) -> Needs {
    let problem = &planned.arena.problem;
    let offsets = &planned.plan.offsets;
    let mut most = Needs {
        peak_bytes: planned.arena_bytes,
        order_bound_bytes: planned.order_bound_bytes,
        bound_bytes: planned.bound_bytes,
        certificate: planned.certificate(),
        operator: None,
        used_bytes: 0,
        peak: Vec::new(),
    };
    let mut steps = None;
    for section in problem.sections() {
        let mut buffers = section.alive;
        buffers.sort_by_key(|&buffer| (offsets[buffer], buffer));
        let (mut used_bytes, mut used_to) = (0, 0);
        for &buffer in &buffers {
            let start = offsets[buffer];
            let end = start + problem.buffers()[buffer].size_bytes;
            used_bytes += end.saturating_sub(start.max(used_to));
            used_to = used_to.max(end);
        }
        if used_bytes > most.used_bytes {
            most.used_bytes = used_bytes;
            steps = Some((section.steps, buffers));
        }
    }
    if let Some((steps, buffers)) = steps {
        // Step 0 is that of the inputs, the operators follow.
        let first = steps.start.max(1);
        let operator = (first < steps.end).then(|| planned.order.get(first as usize - 1));
        most.operator = operator.flatten().copied();
        let in_use = buffers.into_iter().map(|buffer| InUse {
            tensor: planned
                .arena
                .buffer_of
                .iter()
                .position(|it| *it == Some(buffer))
                .map(TensorId),
            offset_bytes: offsets[buffer],
            size_bytes: problem.buffers()[buffer].size_bytes,
        });
        most.peak = in_use.collect();
    }
    most
}
