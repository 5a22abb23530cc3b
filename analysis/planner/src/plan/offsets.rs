//! Greedy planners that give each buffer an offset of its own, in the smallest gap that
//! fits (Pisarchyk and Lee, section 5 and Algorithm 3).

use super::Plan;
use super::placement::Placement;
use crate::problem::{Problem, signed};
use std::cmp::Reverse;

/// Which of equals comes first, in the order of execution. The paper does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// The one whose lifetime starts first.
    First,
    /// The one whose lifetime starts last.
    Last,
}

impl Tie {
    /// A key that sorts equals so.
    fn key(self, start: u32, index: usize) -> (i64, i64) {
        let (start, index) = (i64::from(start), index as i64);
        match self {
            Self::First => (start, index),
            Self::Last => (-start, -index),
        }
    }
}

/// Largest first (Algorithm 3).
pub fn by_size(problem: &Problem, tie: Tie) -> Plan {
    in_smallest_gaps(problem, &order_by_size(problem, tie))
}

pub(super) fn order_by_size(problem: &Problem, tie: Tie) -> Vec<usize> {
    let mut order: Vec<usize> = (0..problem.buffers().len()).collect();
    order.sort_by_key(|&buffer| {
        let Size { bytes, start } = size(problem, buffer);
        (Reverse(bytes), tie.key(start, buffer))
    });
    order
}

/// Operators of the largest breadth first, and of each its largest buffers (section 5.3), with
/// these ties of operators and of buffers.
pub fn by_breadth(problem: &Problem, operators: Tie, buffers: Tie) -> Plan {
    in_smallest_gaps(problem, &order_by_breadth(problem, operators, buffers))
}

/// Each buffer above all others and above those whose offset is given: always a plan, unless
/// these clash.
pub(super) fn above_all(problem: &Problem) -> Plan {
    let mut placement = Placement::new(problem);
    let given = |buffer: &crate::problem::Buffer| {
        buffer.fixed_offset.map(|offset| offset + buffer.size_bytes)
    };
    let ends = problem.buffers().iter().filter_map(given);
    let mut end = signed(ends.max().unwrap_or(0));
    for buffer in 0..problem.buffers().len() {
        if !placement.is_placed(buffer) {
            let offset = problem.aligned(buffer, end);
            placement.place(buffer, offset);
            end = offset + signed(problem.spacing(buffer));
        }
    }
    placement.finish()
}

/// In execution order: TensorFlow Lite's arena as Lee et al. have it.
pub(super) fn in_order(problem: &Problem) -> Plan {
    let mut order: Vec<usize> = (0..problem.buffers().len()).collect();
    order.sort_by_key(|&buffer| (size(problem, buffer).start, buffer));
    in_smallest_gaps(problem, &order)
}

struct Size {
    bytes: u64,
    start: u32,
}

fn size(problem: &Problem, buffer: usize) -> Size {
    let buffer = &problem.buffers()[buffer];
    Size {
        bytes: buffer.size_bytes,
        start: buffer.alive.start,
    }
}

/// Steps in descending order of breadth, of each its buffers in descending order of size. Most of
/// the published figures need the last of equal ones first.
pub(super) fn order_by_breadth(problem: &Problem, operators: Tie, buffers: Tie) -> Vec<usize> {
    let mut sections = problem.sections();
    sections.sort_by_key(|section| {
        let tie = operators.key(section.steps.start, 0);
        (Reverse(problem.breadth(section)), tie)
    });
    let mut order = Vec::with_capacity(problem.buffers().len());
    let mut listed = vec![false; problem.buffers().len()];
    for section in sections {
        let mut profile = section.alive;
        profile.sort_by_key(|&buffer| {
            let Size { bytes, start } = size(problem, buffer);
            (Reverse(bytes), buffers.key(start, buffer))
        });
        for buffer in profile {
            if !std::mem::replace(&mut listed[buffer], true) {
                order.push(buffer);
            }
        }
    }
    order
}

/// Each buffer in the smallest gap between those that are placed and alive together with
/// it, or else after the last of them.
fn in_smallest_gaps(problem: &Problem, order: &[usize]) -> Plan {
    let mut placement = Placement::new(problem);
    for &buffer in order {
        if placement.is_placed(buffer) {
            continue;
        }
        let offset = smallest_gap(&placement, buffer);
        placement.place(buffer, offset);
    }
    placement.finish()
}

fn smallest_gap(placement: &Placement<'_>, buffer: usize) -> i64 {
    let mut best: Option<(i64, i64)> = None;
    let mut start = 0;
    // Where the buffer may start between two forbidden ranges says how much larger the
    // gap is than the buffer.
    for range in placement.forbidden(buffer) {
        let room = range.start - 1 - start;
        if room >= 0 && best.is_none_or(|(least, _)| room < least) {
            best = Some((room, start));
        }
        start = placement.problem.aligned(buffer, start.max(range.end));
    }
    best.map_or(start, |(_, offset)| offset)
}
