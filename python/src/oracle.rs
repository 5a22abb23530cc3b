//! What memory one candidate network after the other needs.

use crate::error::raised;
use crate::graph::NativeGraph;
use crate::interruptible::interruptible;
use crate::options;
use dmo_analysis::arena::Layout;
use dmo_analysis::optimise::Certificate;
use dmo_analysis::oracle::{Needs, Oracle, OracleRequest};
use dmo_analysis::schedule::CountedEnds;
use dmo_planner::budget::work_in;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// An oracle; threads that share one wait for each other.
#[pyclass(name = "Oracle", frozen, module = "dmo_trace._native")]
pub struct NativeOracle(Mutex<Oracle>);

/// Options of an oracle.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct OracleOptions {
    overlap: bool,
    reorder: bool,
    align: u64,
    exclude_inputs: bool,
    exclude_outputs: bool,
    keep_inputs: bool,
    time: f64,
}

/// What a network needs.
#[pyclass(name = "Needs", frozen, get_all, module = "dmo_trace._native")]
pub struct NativeNeeds {
    peak_bytes: u64,
    order_bound_bytes: u64,
    bound_bytes: u64,
    certificate: &'static str,
    operator: Option<usize>,
    used_bytes: u64,
    /// Tensor, offset and size of what is in use at the peak.
    peak: Vec<(Option<usize>, u64, u64)>,
}

impl From<Needs> for NativeNeeds {
    fn from(needs: Needs) -> Self {
        let in_use = needs.peak.iter();
        let in_use = in_use.map(|it| (it.tensor.map(|id| id.0), it.offset_bytes, it.size_bytes));
        Self {
            peak_bytes: needs.peak_bytes,
            order_bound_bytes: needs.order_bound_bytes,
            bound_bytes: needs.bound_bytes,
            certificate: match needs.certificate {
                Certificate::Optimal => "optimal",
                Certificate::OptimalForOrder => "optimal_for_order",
                Certificate::BestFound => "best_found",
            },
            operator: needs.operator.map(|id| id.0),
            used_bytes: needs.used_bytes,
            peak: in_use.collect(),
        }
    }
}

#[pymethods]
impl NativeOracle {
    #[new]
    fn new(options: OracleOptions) -> PyResult<Self> {
        let seconds = options::seconds("time", options.time)?.as_secs_f64();
        let request = OracleRequest {
            layout: Layout {
                alignment: options.align.max(1),
                counted: CountedEnds {
                    count_graph_inputs: !options.exclude_inputs,
                    count_graph_outputs: !options.exclude_outputs,
                },
                keep_inputs: options.keep_inputs,
                ..Layout::tflm()
            },
            overlap: options.overlap,
            reorder: options.reorder,
            work: work_in(seconds),
        };
        Ok(Self(Mutex::new(Oracle::new(request))))
    }

    fn ask(&self, py: Python<'_>, graph: &NativeGraph) -> PyResult<NativeNeeds> {
        let graph = graph.graph()?;
        let needs = py.detach(|| {
            let mut oracle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            oracle.ask(graph)
        });
        Ok(needs.map_err(raised)?.into())
    }

    /// Arena, multiply-accumulates computed again and in all, runs in tiles.
    fn ask_tiled(
        &self,
        py: Python<'_>,
        graph: &NativeGraph,
        max_recompute: f64,
        time: f64,
    ) -> PyResult<(u64, u64, u64, usize)> {
        let seconds = options::seconds("time", time)?.as_secs_f64();
        let graph = graph.graph()?.clone();
        let mut oracle = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let tiled = interruptible(py, move || oracle.ask_tiled(&graph, max_recompute, seconds))?;
        let tiled = tiled.map_err(raised)?;
        Ok((tiled.peak_bytes, tiled.extra_macs, tiled.macs, tiled.runs))
    }
}
