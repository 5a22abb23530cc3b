//! The planners that need no time limit, one row each.
//!
//! A row is all that the rest knows: tables list it, the tests run it on random problems, and
//! [`exact`](super::exact) starts from the best plan of the rows of [`Family::Offsets`], of
//! equal ones from the first. A new row at the end changes a plan only where it is better.

use super::offsets::{self, Tie};
use super::{Plan, heap, lee, objects, stack, strip_packing, tflm};
use crate::problem::Problem;
use serde::Serialize;

/// What kind of sharing a planner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Each buffer is given one of several shared objects, which lie side by side.
    SharedObjects,
    /// Each buffer is given an offset of its own.
    Offsets,
}

/// A planner.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// What the command line calls it.
    pub name: &'static str,
    /// What its authors call it.
    pub title: &'static str,
    /// Where it was published; what comes before the colon is in tables.
    pub source: &'static str,
    /// What kind of sharing it knows.
    pub family: Family,
    /// Whether it makes use of overlaps. If not, it is given the problem without them.
    pub uses_overlaps: bool,
    /// Problems of more buffers would take it longer than it is worth.
    pub most_buffers: usize,
    place: fn(&Problem) -> Plan,
}

impl Strategy {
    /// The planner of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        STRATEGIES.iter().find(|strategy| strategy.name == name)
    }

    /// Returns true if others than this project have published it.
    pub fn is_published(&self) -> bool {
        self.source != OWN
    }

    /// Places all buffers; none when it cannot keep the buffers whose offset is given, or when
    /// there are too many.
    pub fn plan(&self, problem: &Problem) -> Option<Plan> {
        let many_pairs = problem.pairs() > MANY_PAIRS && self.most_buffers < FAST;
        if problem.buffers().len() > self.most_buffers || many_pairs {
            return None;
        }
        let mut fixed = problem.buffers().iter();
        if self.family == Family::SharedObjects && fixed.any(|buffer| buffer.fixed_offset.is_some())
        {
            return None;
        }
        let plan = if self.uses_overlaps || !problem.has_overlaps() {
            (self.place)(problem)
        } else {
            (self.place)(&problem.without_overlaps())
        };
        Some(plan)
    }
}

/// The source of planners that were published nowhere else.
const OWN: &str = "dmo-trace";
const PISARCHYK_LEE: &str =
    "Pisarchyk, Lee: Efficient Memory Management for Deep Neural Net Inference";
const LEE: &str = "Lee et al.: On-Device Neural Net Inference with Mobile GPUs";
const DMO: &str = "Blacker et al.: Diagonal Memory Optimisation";

/// Of planners that look at each pair of buffers once.
const FAST: usize = 20_000;
/// More pairs than this are too many for planners that look at them several times.
const MANY_PAIRS: usize = 100_000;
/// Of planners that look at pairs several times.
const QUADRATIC: usize = 2000;
/// Of planners whose time grows with its cube.
const CUBIC: usize = 1000;

/// All of them.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "naive",
        title: "Naive: no reuse",
        source: PISARCHYK_LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: FAST,
        place: objects::naive,
    },
    Strategy {
        name: "objects-by-size",
        title: "Greedy by Size, largest object (as its figures need)",
        source: PISARCHYK_LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: |problem| objects::by_size_largest(problem, Tie::First),
    },
    Strategy {
        name: "objects-by-size-smallest",
        title: "Greedy by Size, smallest object (as printed)",
        source: PISARCHYK_LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: objects::by_size_smallest,
    },
    Strategy {
        name: "objects-by-size-improved",
        title: "Greedy by Size Improved",
        source: PISARCHYK_LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: CUBIC,
        place: objects::by_size_improved,
    },
    Strategy {
        name: "objects-by-breadth",
        title: "Greedy by Breadth",
        source: PISARCHYK_LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: |problem| objects::by_breadth(problem, Tie::Last, Tie::Last),
    },
    Strategy {
        name: "objects-greedy",
        title: "Greedy",
        source: LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: lee::greedy,
    },
    Strategy {
        name: "objects-min-cost-flow",
        title: "Min-cost Flow",
        source: LEE,
        family: Family::SharedObjects,
        uses_overlaps: false,
        most_buffers: CUBIC,
        place: lee::min_cost_flow,
    },
    Strategy {
        name: "offsets-by-size",
        title: "Greedy by Size",
        source: PISARCHYK_LEE,
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: FAST,
        place: |problem| offsets::by_size(problem, Tie::First),
    },
    Strategy {
        name: "offsets-by-breadth",
        title: "Greedy by Breadth",
        source: PISARCHYK_LEE,
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: |problem| offsets::by_breadth(problem, Tie::Last, Tie::Last),
    },
    Strategy {
        name: "offsets-greedy",
        title: "Greedy: in execution order, smallest gap",
        source: LEE,
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: FAST,
        place: offsets::in_order,
    },
    Strategy {
        name: "strip-packing",
        title: "Strip packing, best fit",
        source: "Sekiyama et al.: Profile-guided Memory Optimization for Deep Neural Networks",
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: strip_packing::plan,
    },
    Strategy {
        name: "tflm",
        title: "TensorFlow Lite Micro's greedy planner",
        source: "tensorflow/tflite-micro, memory_planner/greedy_memory_planner.cc",
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: FAST,
        place: tflm::plan,
    },
    Strategy {
        name: "heap",
        title: "Modified heap, forwards, no overlaps",
        source: DMO,
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: heap::forwards,
    },
    Strategy {
        name: "heap-reverse",
        title: "Modified heap, backwards, no overlaps",
        source: DMO,
        family: Family::Offsets,
        uses_overlaps: false,
        most_buffers: QUADRATIC,
        place: heap::backwards,
    },
    Strategy {
        name: "heap-overlap",
        title: "Modified heap, forwards, overlaps",
        source: DMO,
        family: Family::Offsets,
        uses_overlaps: true,
        most_buffers: QUADRATIC,
        place: heap::forwards,
    },
    Strategy {
        name: "heap-overlap-reverse",
        title: "Modified heap, backwards, overlaps",
        source: DMO,
        family: Family::Offsets,
        uses_overlaps: true,
        most_buffers: QUADRATIC,
        place: heap::backwards,
    },
    Strategy {
        name: "stack",
        title: "Largest first, above or below what is placed, overlaps",
        source: OWN,
        family: Family::Offsets,
        uses_overlaps: true,
        most_buffers: QUADRATIC,
        place: stack::plan,
    },
];
