//! The modified heap of Blacker et al. (section IV): of all buffers that are alive together
//! with a placed one, the next is the one that fits at the lowest offset.
//!
//! The paper leaves ties open: of several at the same offset the one that has waited longest
//! is next, which is what two figures of its Table III need (docs/tables.md).

use super::Plan;
use super::placement::Placement;
use crate::problem::Problem;

/// Starts with the buffer that is alive first.
pub(super) fn forwards(problem: &Problem) -> Plan {
    spread(problem, |buffer| {
        let alive = &problem.buffers()[buffer].alive;
        (i64::from(alive.start), buffer)
    })
}

/// Starts with the buffer that is alive last.
pub(super) fn backwards(problem: &Problem) -> Plan {
    spread(problem, |buffer| {
        let alive = &problem.buffers()[buffer].alive;
        (-i64::from(alive.end), usize::MAX - buffer)
    })
}

fn spread(problem: &Problem, rank: impl Fn(usize) -> (i64, usize)) -> Plan {
    let count = problem.buffers().len();
    let mut placement = Placement::new(problem);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&buffer| rank(buffer));
    // Where each waiting buffer fits, those that have waited longest first.
    let mut waiting: Vec<(usize, i64)> = (0..count)
        .filter(|&buffer| !placement.is_placed(buffer) && touches_placed(&placement, buffer))
        .map(|buffer| (buffer, placement.lowest(buffer)))
        .collect();
    let mut is_waiting = vec![false; count];
    for &(buffer, _) in &waiting {
        is_waiting[buffer] = true;
    }
    let mut others = order.into_iter();
    loop {
        let next = (0..waiting.len()).min_by_key(|&position| (waiting[position].1, position));
        let (buffer, offset) = match next {
            Some(position) => waiting.remove(position),
            // A part of the graph that no placed buffer touches starts anew at 0.
            None => match others.find(|&buffer| !placement.is_placed(buffer)) {
                Some(buffer) => (buffer, 0),
                None => break,
            },
        };
        placement.place(buffer, offset);
        for (other, lowest) in &mut waiting {
            if problem.min_distance(buffer, *other).is_some() {
                *lowest = placement.lowest(*other);
            }
        }
        for neighbour in problem.neighbours(buffer) {
            let other = neighbour.buffer;
            if !placement.is_placed(other) && !std::mem::replace(&mut is_waiting[other], true) {
                waiting.push((other, placement.lowest(other)));
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
