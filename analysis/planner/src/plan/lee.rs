//! The shared-objects planners of Lee et al.

use super::Plan;
use super::objects::Objects;
use crate::problem::Problem;

/// In execution order, into the suitable object whose size is closest; of two that are
/// equally close the larger one.
pub(super) fn greedy(problem: &Problem) -> Plan {
    let buffers = problem.buffers();
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| (buffers[buffer].alive.start, buffer));
    let mut objects = Objects::new(problem);
    for buffer in order {
        let size = buffers[buffer].size_bytes;
        let closest = objects.suitable(buffer).into_iter().min_by_key(|&object| {
            let given = objects.size(object);
            (given.abs_diff(size), given < size, object)
        });
        objects.assign(buffer, closest);
    }
    objects.finish()
}

/// Who takes over whose object is a cheapest assignment: taking over costs the bytes by
/// which the object grows, a new object costs the buffer's size.
///
/// The costs do not see that an object grown once may serve several later buffers, so that
/// the result is not the least sum of objects.
pub(super) fn min_cost_flow(problem: &Problem) -> Plan {
    let buffers = problem.buffers();
    let cost = |heir: usize, previous: usize| {
        let over = buffers[previous].alive.end <= buffers[heir].alive.start;
        over.then(|| {
            let growth = buffers[heir]
                .size_bytes
                .saturating_sub(buffers[previous].size_bytes);
            growth as i64
        })
    };
    let inherited =
        cheapest_inheritance(buffers.len(), cost, |heir| buffers[heir].size_bytes as i64);
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| (buffers[buffer].alive.start, buffer));
    let mut objects = Objects::new(problem);
    for buffer in order {
        let object = inherited[buffer].and_then(|previous| objects.object_of(previous));
        objects.assign(buffer, object);
    }
    objects.finish()
}

/// The Hungarian method on `count` heirs and twice as many columns: column `p` is taking
/// over from buffer `p`, column `count + h` a new object for heir `h`. Costs are `None` where
/// nothing can be taken over. Gives from whom each heir takes over. O(count^3).
fn cheapest_inheritance(
    count: usize,
    cost: impl Fn(usize, usize) -> Option<i64>,
    new: impl Fn(usize) -> i64,
) -> Vec<Option<usize>> {
    const NEVER: i64 = i64::MAX / 4;
    let columns = 2 * count;
    let cost = |heir: usize, column: usize| match column.checked_sub(count) {
        None => cost(heir, column).unwrap_or(NEVER / 4),
        Some(own) if own == heir => new(heir),
        Some(_) => NEVER / 4,
    };
    // Potentials of rows and columns; row and column 0 are the augmenting path's start.
    let mut row_potential = vec![0_i64; count + 1];
    let mut column_potential = vec![0_i64; columns + 1];
    let mut row_of = vec![0_usize; columns + 1];
    let mut way = vec![0_usize; columns + 1];
    for row in 1..=count {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![NEVER; columns + 1];
        let mut used = vec![false; columns + 1];
        loop {
            used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (NEVER, 0);
            for other in 1..=columns {
                if used[other] {
                    continue;
                }
                let reduced =
                    cost(current - 1, other - 1) - row_potential[current] - column_potential[other];
                if reduced < least[other] {
                    least[other] = reduced;
                    way[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if used[other] {
                    row_potential[row_of[other]] += delta;
                    column_potential[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            let previous = way[column];
            row_of[column] = row_of[previous];
            column = previous;
        }
    }
    let mut inherited = vec![None; count];
    for column in 1..=count {
        if row_of[column] > 0 {
            inherited[row_of[column] - 1] = Some(column - 1);
        }
    }
    inherited
}
