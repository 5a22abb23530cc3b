//! What else the texts of published planners can mean.
//!
//! Pisarchyk and Lee do not say which of equal tensors and operators comes first, and their
//! printed figures need now one answer, now another. Each row of [`READINGS`] is another way
//! to read what [`STRATEGIES`](dmo_planner::plan::STRATEGIES) has one row for.

use dmo_planner::plan::offsets::{self, Tie};
use dmo_planner::plan::{Plan, objects};
use dmo_planner::problem::Problem;

/// Another reading of a published planner.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The name of the strategy that is read in this way.
    pub strategy: &'static str,
    /// What is different.
    pub title: &'static str,
    place: fn(&Problem) -> Plan,
}

impl Reading {
    /// Places all buffers, without overlaps. Offsets given in advance are kept only by planners
    /// of offsets.
    pub fn plan(&self, problem: &Problem) -> Plan {
        (self.place)(&problem.without_overlaps())
    }
}

const OPERATORS_FIRST: &str =
    "of equal operators the first that is executed, of equal tensors the last";
const TENSORS_FIRST: &str =
    "of equal operators the last that is executed, of equal tensors the first";
const BOTH_FIRST: &str = "of equal operators and tensors the first that is executed";
const TENSORS_LAST: &str = "of equal tensors the last that is executed";

/// All of them.
pub const READINGS: &[Reading] = &[
    Reading {
        strategy: "objects-by-size",
        title: "the smallest suitable object, as printed",
        place: objects::by_size_smallest,
    },
    Reading {
        strategy: "objects-by-size",
        title: TENSORS_LAST,
        place: |problem| objects::by_size_largest(problem, Tie::Last),
    },
    Reading {
        strategy: "objects-by-size-improved",
        title: "sizes between two positional maxima in one stage with the lower maximum",
        place: objects::by_size_improved_fewer_stages,
    },
    Reading {
        strategy: "objects-by-breadth",
        title: OPERATORS_FIRST,
        place: |problem| objects::by_breadth(problem, Tie::First, Tie::Last),
    },
    Reading {
        strategy: "objects-by-breadth",
        title: TENSORS_FIRST,
        place: |problem| objects::by_breadth(problem, Tie::Last, Tie::First),
    },
    Reading {
        strategy: "objects-by-breadth",
        title: BOTH_FIRST,
        place: |problem| objects::by_breadth(problem, Tie::First, Tie::First),
    },
    Reading {
        strategy: "offsets-by-size",
        title: TENSORS_LAST,
        place: |problem| offsets::by_size(problem, Tie::Last),
    },
    Reading {
        strategy: "offsets-by-breadth",
        title: OPERATORS_FIRST,
        place: |problem| offsets::by_breadth(problem, Tie::First, Tie::Last),
    },
    Reading {
        strategy: "offsets-by-breadth",
        title: TENSORS_FIRST,
        place: |problem| offsets::by_breadth(problem, Tie::Last, Tie::First),
    },
    Reading {
        strategy: "offsets-by-breadth",
        title: BOTH_FIRST,
        place: |problem| offsets::by_breadth(problem, Tie::First, Tie::First),
    },
];
