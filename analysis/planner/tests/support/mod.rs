//! Random problems.

use dmo_planner::problem::{Buffer, Displacement, Problem};

/// A problem of these buffers. `of_pair` says of each pair whether it may overlap where it is alive
/// together, and what share of the lower buffer has to lie below the upper one.
pub fn problem(buffers: Vec<Buffer>, of_pair: impl Fn(usize, usize) -> (bool, f64)) -> Problem {
    let apart = Problem::new(buffers.clone(), &[]).unwrap();
    let mut displacements = Vec::new();
    for one in 0..buffers.len() {
        for other in 0..one {
            let (overlap, share) = of_pair(one, other);
            let life = |buffer: usize| (buffers[buffer].alive.start, buffers[buffer].alive.end);
            let together = apart.min_distance(one, other).is_some();
            if !overlap || !together || life(one) == life(other) {
                continue;
            }
            let later = life(one) > life(other);
            let (lower, upper) = if later { (one, other) } else { (other, one) };
            let bytes = (buffers[lower].size_bytes as f64 * share) as u64;
            displacements.push(Displacement {
                lower,
                upper,
                bytes,
            });
        }
    }
    Problem::new(buffers, &displacements).unwrap()
}
