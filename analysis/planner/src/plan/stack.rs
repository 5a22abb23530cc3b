//! Builds upwards and downwards from the first buffer placed, so that overlaps of
//! neighbouring operators add up, and moves the whole to zero.
//!
//! Upward first fit wastes overlaps. An operator with input and output of 8 bytes and an O_s
//! of 7 needs 9 bytes; but whichever of the two is at offset 0, the other one has to lie
//! below it, or apart.

use super::offsets::{self, Tie};
use super::placement::Placement;
use super::{Plan, heap};
use crate::problem::{Problem, signed};
use std::cmp::Reverse;

/// The best of several orders.
pub(super) fn plan(problem: &Problem) -> Plan {
    let orders = [
        by_size(problem),
        offsets::order_by_breadth(problem, Tie::Last, Tie::Last),
        from_widest_step(problem),
    ];
    let plans = orders.iter().map(|order| build(problem, order));
    plans
        .chain([heap::forwards(problem), heap::backwards(problem)])
        .min_by_key(|plan| plan.arena_bytes(problem))
        .unwrap_or(Plan {
            offsets: Vec::new(),
        })
}

fn by_size(problem: &Problem) -> Vec<usize> {
    let buffers = problem.buffers();
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| (Reverse(buffers[buffer].size_bytes), buffer));
    order
}

/// The step with the largest breadth first, then the steps beside it.
fn from_widest_step(problem: &Problem) -> Vec<usize> {
    let sections = problem.sections();
    let widest = sections
        .iter()
        .max_by_key(|section| problem.breadth(section));
    let widest = widest.map_or(0, |section| section.steps.start);
    let buffers = problem.buffers();
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| {
        let alive = &buffers[buffer].alive;
        let steps_away = if alive.contains(&widest) {
            0
        } else {
            (alive.start.abs_diff(widest)).min((alive.end - 1).abs_diff(widest))
        };
        (steps_away, Reverse(buffers[buffer].size_bytes), buffer)
    });
    order
}

/// Places each buffer where the arena stays shortest, if need be below zero.
pub(super) fn build(problem: &Problem, order: &[usize]) -> Plan {
    let mut placement = Placement::new(problem);
    // Nothing may move where some offset is given.
    let fixed = order.iter().any(|&buffer| placement.is_placed(buffer));
    let (mut lowest, mut highest) = (0, 0);
    for &buffer in order {
        if placement.is_placed(buffer) {
            continue;
        }
        let size = signed(problem.buffers()[buffer].size_bytes);
        let growth = |&offset: &i64| {
            let extent = highest.max(offset + size) - lowest.min(offset);
            (extent, offset.abs(), offset)
        };
        let places = places(&placement, buffer);
        let allowed = places.into_iter().filter(|&offset| offset >= 0 || !fixed);
        let Some(offset) = allowed.min_by_key(growth) else {
            continue;
        };
        placement.place(buffer, offset);
        lowest = lowest.min(offset);
        highest = highest.max(offset + size);
    }
    if fixed {
        placement.finish()
    } else {
        placement.finish_at_zero()
    }
}

/// Where the buffer touches what is placed, and zero.
fn places(placement: &Placement<'_>, buffer: usize) -> Vec<i64> {
    let forbidden = placement.forbidden(buffer);
    let problem = placement.problem;
    let mut places: Vec<i64> = vec![0];
    for range in &forbidden {
        places.push(problem.aligned_below(buffer, range.start - 1));
        places.push(problem.aligned(buffer, range.end));
    }
    places.retain(|offset| !forbidden.iter().any(|range| range.contains(offset)));
    places
}
