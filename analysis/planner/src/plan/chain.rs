//! Which buffers make the arena as large as it is.

use super::Plan;
use crate::problem::{Neighbour, Problem};

/// For each buffer whether it stands in a chain from the arena's start to its end: each
/// buffer of a chain touches the one below it, so that none can move down by itself.
///
/// Chains of buffers that are alive together come first, for they show what no order of the
/// offsets can help. Where there is none, the chain's neighbours meet in different steps.
/// Where a plan has gaps in all of them, it is the buffers at the arena's end alone.
pub fn peak_buffers(problem: &Problem, plan: &Plan) -> Vec<bool> {
    let chains = Chains::of(problem, plan);
    let mut found = vec![false; chains.buffers.len()];
    for section in problem.sections() {
        chains.mark(&section.alive, &mut found);
    }
    if !found.contains(&true) {
        let all: Vec<usize> = (0..found.len()).collect();
        chains.mark(&all, &mut found);
    }
    if !found.contains(&true) {
        return chains.buffers.iter().map(|buffer| buffer.on_top).collect();
    }
    found
}

struct Chains {
    buffers: Vec<Link>,
}

/// A buffer and what it stands on.
struct Link {
    offset: u64,
    /// It ends where the arena ends.
    on_top: bool,
    /// It starts with the arena, or is not to be moved.
    on_ground: bool,
    /// The buffers below that keep it from moving down.
    supports: Vec<usize>,
}

impl Chains {
    fn of(problem: &Problem, plan: &Plan) -> Self {
        let placed: Vec<_> = problem.buffers().iter().zip(&plan.offsets).collect();
        let ends = placed
            .iter()
            .map(|(buffer, offset)| offset.saturating_add(buffer.size_bytes));
        let arena = ends.clone().max().unwrap_or(0);
        let supports = |buffer: usize| {
            let touches = |below: &&Neighbour| {
                let (Some(&offset), Some(&above)) =
                    (plan.offsets.get(below.buffer), plan.offsets.get(buffer))
                else {
                    return false;
                };
                offset < above && above - offset == below.distance_below
            };
            let neighbours = problem.neighbours(buffer).iter();
            neighbours
                .filter(touches)
                .map(|below| below.buffer)
                .collect()
        };
        let link = |(index, end): (usize, u64)| Link {
            offset: *placed[index].1,
            on_top: end == arena,
            on_ground: *placed[index].1 == 0 || placed[index].0.fixed_offset.is_some(),
            supports: supports(index),
        };
        Self {
            buffers: ends.enumerate().map(link).collect(),
        }
    }

    /// Marks the chains that consist of these buffers.
    fn mark(&self, among: &[usize], found: &mut [bool]) {
        let mut order: Vec<usize> = among
            .iter()
            .copied()
            .filter(|&buffer| buffer < self.buffers.len())
            .collect();
        if !order.iter().any(|&buffer| self.buffers[buffer].on_top) {
            return;
        }
        order.sort_by_key(|&buffer| self.buffers[buffer].offset);
        let mut grounded = vec![false; self.buffers.len()];
        for &buffer in &order {
            let Link {
                on_ground,
                supports,
                ..
            } = &self.buffers[buffer];
            grounded[buffer] = *on_ground || supports.iter().any(|&below| grounded[below]);
        }
        let mut in_chain = vec![false; self.buffers.len()];
        for &buffer in order.iter().rev().filter(|&&buffer| grounded[buffer]) {
            let link = &self.buffers[buffer];
            if link.on_top || in_chain[buffer] {
                found[buffer] = true;
                in_chain[buffer] = true;
                for &below in &link.supports {
                    in_chain[below] = grounded[below];
                }
            }
        }
    }
}
