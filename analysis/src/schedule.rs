//! In which order a model's operators run, and what memory each order needs at least.
//!
//! A step is the execution of one operator. Its *working set* is what has to be in memory
//! meanwhile: the operator's inputs, outputs and scratch buffers, and whatever was produced
//! (or given) before and is needed later. The peak of an order is its largest working set.
//!
//! | module | what it does |
//! |---|---|
//! | [`dataflow`] | a graph, checked: who produces and who reads each tensor |
//! | [`uses`] | when the bytes of each tensor are stored and loaded, of an order |
//! | [`lifetime`] | when each tensor is in use, and the working sets, of a given order |
//! | [`extent`] | the least memory for a step's tensors when some may overlap |
//! | [`cost`] | what a step costs, with and without overlaps |
//! | [`search`] | the order of the lowest peak, exactly, within limits |
//!
//! ```
//! use dmo_analysis::graph::{Graph, overlaps};
//! use dmo_analysis::schedule::search::{search, Limits};
//! use dmo_analysis::schedule::{cost::Overlapped, CountedEnds};
//! use dmo_planner::budget::Budget;
//!
//! let graph = Graph::default();
//! let mut cost = Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default())?;
//! let (ends, limits) = (CountedEnds::default(), Limits::default());
//! let budget = &mut Budget::of_seconds(10.0);
//! let schedule = search(&graph, ends, &mut cost, limits, budget, &mut |_| {})?;
//! assert_eq!(schedule.peak_bytes, schedule.bound_bytes);
//! # Ok::<(), dmo_analysis::schedule::ScheduleError>(())
//! ```

mod ancestry;
mod bits;
pub mod cost;
pub mod dataflow;
pub mod extent;
pub mod lifetime;
mod memory;
pub mod search;
pub mod uses;

use crate::graph::{OperatorId, TensorId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which ends of the graph lie in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedEnds {
    /// Whether the graph's inputs lie in the arena.
    pub count_graph_inputs: bool,
    /// Whether the graph's outputs lie in the arena.
    pub count_graph_outputs: bool,
}

impl Default for CountedEnds {
    fn default() -> Self {
        Self {
            count_graph_inputs: true,
            count_graph_outputs: true,
        }
    }
}

/// An order and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Schedule {
    /// All operators, in the order in which they run.
    pub order: Vec<OperatorId>,
    /// The largest working set of this order, in bytes.
    pub peak_bytes: u64,
    /// What no order can stay below, in bytes.
    pub bound_bytes: u64,
    /// Whether the order is known to be a best one.
    pub proof: Proof,
}

/// Whether an order is known to be a best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// No order has a lower peak.
    Optimal,
    /// The search ended before it knew: the best peak lies between the bound and this one.
    BestFound,
}

/// Why a graph cannot be ordered, or an order is not one of the graph's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum ScheduleError {
    #[error("{place} names tensor {}, but the graph has {limit} tensors", tensor.0)]
    NoSuchTensor {
        place: String,
        tensor: TensorId,
        limit: usize,
    },
    #[error(
        "tensor {} is written by operator {} and by operator {}, expected one of them",
        tensor.0, first.0, second.0
    )]
    TwoProducers {
        tensor: TensorId,
        first: OperatorId,
        second: OperatorId,
    },
    #[error("operator {} writes tensor {}, which is an input of the graph", operator.0, tensor.0)]
    InputWritten {
        operator: OperatorId,
        tensor: TensorId,
    },
    #[error(
        "operator {} reads tensor {}, which operator {} writes, no earlier in the file",
        operator.0, tensor.0, producer.0
    )]
    ReadBeforeWritten {
        operator: OperatorId,
        tensor: TensorId,
        producer: OperatorId,
    },
    #[error("the sizes of all tensors and scratch buffers together exceed 64 bits")]
    TooLarge,
    #[error("the order has {given} operators, expected {expected} (each of the graph's once)")]
    OrderLength { given: usize, expected: usize },
    #[error("step {step} runs operator {}, but the graph has {limit} operators", operator.0)]
    NoSuchOperator {
        step: usize,
        operator: OperatorId,
        limit: usize,
    },
    #[error("operator {} runs in step {first} and again in step {second}", operator.0)]
    Repeated {
        operator: OperatorId,
        first: usize,
        second: usize,
    },
    #[error(
        "operator {} runs in step {step}, before operator {}, which it depends on",
        operator.0, needs.0
    )]
    TooEarly {
        operator: OperatorId,
        step: usize,
        needs: OperatorId,
    },
    #[error("operator {} reads bytes of tensor {} that nothing has stored yet", operator.0, tensor.0)]
    NotYetStored {
        operator: OperatorId,
        tensor: TensorId,
    },
    #[error("tensor {} is said to lie in tensor {}, which cannot hold it", view.0, of.0)]
    View { view: TensorId, of: TensorId },
    #[error(
        "input {} cannot be kept: it lies in another tensor, where an operator overwrites it", input.0
    )]
    Overwritten { input: TensorId },
    #[error("overlaps are given for {given} operators, expected {expected}")]
    OverlapsLength { given: usize, expected: usize },
    #[error(
        "the working sets name {given} tensors together, limit {limit} \
         (their bytes alone can be had step by step)"
    )]
    TooManyTensors { given: usize, limit: usize },
}
