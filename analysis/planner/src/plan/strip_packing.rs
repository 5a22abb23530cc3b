//! Best fit for strip packing with fixed times (Sekiyama et al.): on the lowest, earliest
//! stretch of the skyline goes the buffer with the longest life that fits into the stretch's
//! time; when none does, the stretch is lifted to its lower neighbour.

use super::Plan;
use super::placement::Placement;
use crate::problem::{Problem, signed};
use std::ops::Range;

/// A stretch of the skyline: buffers may start at `offset` within these steps.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: u32,
    end: u32,
    offset: i64,
}

/// Buffers whose offset is given leave the skyline no shape to follow: they are left to
/// first fit around them, longest life first.
pub(super) fn plan(problem: &Problem) -> Plan {
    let buffers = problem.buffers();
    let mut placement = Placement::new(problem);
    let mut waiting: Vec<usize> = (0..buffers.len())
        .filter(|&buffer| !placement.is_placed(buffer))
        .collect();
    waiting.sort_by_key(|&buffer| {
        let alive = &buffers[buffer].alive;
        (std::cmp::Reverse(alive.end - alive.start), buffer)
    });
    if waiting.len() < buffers.len() {
        for buffer in waiting {
            let offset = placement.lowest(buffer);
            placement.place(buffer, offset);
        }
        return placement.finish();
    }
    let mut skyline = vec![Stretch {
        start: 0,
        end: problem.steps(),
        offset: 0,
    }];
    while !waiting.is_empty() {
        let Some(lowest) = (0..skyline.len()).min_by_key(|&index| skyline[index].offset) else {
            break;
        };
        let stretch = skyline[lowest];
        let fits = |&buffer: &usize| {
            let alive = &buffers[buffer].alive;
            stretch.start <= alive.start && alive.end <= stretch.end
        };
        match waiting.iter().position(fits) {
            Some(position) => {
                let buffer = waiting.remove(position);
                let offset = problem.aligned(buffer, stretch.offset);
                placement.place(buffer, offset);
                let end = offset + signed(problem.spacing(buffer));
                raise(&mut skyline, lowest, &buffers[buffer].alive, end);
            }
            None => lift(&mut skyline, lowest),
        }
    }
    placement.finish()
}

/// The stretch's part at these steps, where a buffer is alive, rises to the buffer's end.
fn raise(skyline: &mut Vec<Stretch>, index: usize, alive: &Range<u32>, buffer_end: i64) {
    let Stretch { start, end, offset } = skyline[index];
    let parts = [
        (start, alive.start, offset),
        (alive.start, alive.end, buffer_end),
        (alive.end, end, offset),
    ];
    let parts = parts.into_iter().filter(|&(start, end, _)| start < end);
    skyline.splice(
        index..=index,
        parts.map(|(start, end, offset)| Stretch { start, end, offset }),
    );
    merge(skyline);
}

/// The stretch rises to its lower neighbour. A skyline of one stretch has room for all.
fn lift(skyline: &mut Vec<Stretch>, index: usize) {
    let before = index.checked_sub(1).map(|before| skyline[before].offset);
    let after = skyline.get(index + 1).map(|after| after.offset);
    let lower = before.into_iter().chain(after).min();
    skyline[index].offset = lower.unwrap_or(skyline[index].offset);
    merge(skyline);
}

/// Neighbours at the same offset become one.
fn merge(skyline: &mut Vec<Stretch>) {
    skyline.dedup_by(|next, previous| {
        let same = next.offset == previous.offset;
        if same {
            previous.end = next.end;
        }
        same
    });
}
