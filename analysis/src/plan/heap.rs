//! The modified heap of Blacker et al. (section IV): of all buffers that are alive together
//! with a placed one, the next is the one that fits at the lowest offset.

use super::Plan;
use super::placement::{Placement, signed};
use crate::problem::Problem;
use std::cmp::Reverse;

/// Starts with the buffer that is alive first. The paper leaves ties open: the first that
/// is executed.
pub(super) fn forwards(problem: &Problem) -> Plan {
    spread(problem, |buffer| {
        let alive = &problem.buffers()[buffer].alive;
        (i64::from(alive.start), buffer)
    })
}

/// Starts with the buffer that is alive last. Ties: the last that is executed.
pub(super) fn backwards(problem: &Problem) -> Plan {
    spread(problem, |buffer| {
        let alive = &problem.buffers()[buffer].alive;
        (-i64::from(alive.end), usize::MAX - buffer)
    })
}

fn spread(problem: &Problem, rank: impl Fn(usize) -> (i64, usize)) -> Plan {
    let count = problem.buffers().len();
    let mut placement = Placement::new(problem);
    let mut waiting: Vec<usize> = (0..count)
        .filter(|&buffer| !placement.is_placed(buffer))
        .collect();
    waiting.sort_by_key(|&buffer| Reverse(rank(buffer)));
    // Where each buffer fits; none while nothing alive together with it is placed.
    let mut lowest: Vec<Option<i64>> = (0..count)
        .map(|buffer| touches_placed(&placement, buffer).then(|| placement.lowest(buffer)))
        .collect();
    while !waiting.is_empty() {
        let key = |&position: &usize| {
            let buffer = waiting[position];
            (lowest[buffer].unwrap_or(i64::MAX), rank(buffer))
        };
        // A part of the graph that no placed buffer touches starts anew at 0.
        let Some(position) = (0..waiting.len()).min_by_key(key) else {
            break;
        };
        let buffer = waiting.remove(position);
        let offset = lowest[buffer].unwrap_or(0);
        placement.place(buffer, offset);
        for neighbour in problem.neighbours(buffer) {
            let other = neighbour.buffer;
            // The lowest place stays the lowest unless it was just taken.
            let taken = lowest[other].is_none_or(|lowest| {
                lowest > offset - signed(neighbour.distance_below)
                    && lowest < offset + signed(neighbour.distance_above)
            });
            if taken && !placement.is_placed(other) {
                lowest[other] = Some(placement.lowest(other));
            }
        }
    }
    placement.finish()
}

fn touches_placed(placement: &Placement<'_>, buffer: usize) -> bool {
    let neighbours = placement.problem.neighbours(buffer).iter();
    neighbours
        .map(|neighbour| neighbour.buffer)
        .any(|other| placement.is_placed(other))
}
