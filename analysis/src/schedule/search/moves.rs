//! Steps that can be taken at once, without looking at others.
//!
//! In a set `S` let the operator `v` be ready, its step cost at most `L`, and memory after
//! it no more than before. Then among the ways on from `S` with the lowest peak, or a peak
//! of at most `L`, is one that begins with `v`. For take any way `u1 .. uk v ..` and move
//! `v` to its front:
//!
//! * `v` itself costs at most `L`.
//! * What `v` adds to memory does not depend on what has run. What it frees are inputs whose
//!   other readers have all run: the more has run, the more it frees. So after any of
//!   `u1 .. uk`, too, memory with `v` is no more than memory without it.
//! * The step of `ui` costs the memory before it, less its inputs, plus what its tensors
//!   take together. Its inputs are in memory in both cases, for `ui` has not run. With `v`
//!   gone before, no fewer of them die, so that together they take no more. (Nothing that
//!   `ui` touches is made by `v`: `ui` could run before.)
//! * After `v`'s old place all is as it was.
//!
//! The same holds for several operators `V` that become a beginning of the way together, if
//! memory after all of `V` is no more than after any closed part of it, nothing included:
//! memory is a submodular function of the set, a sum of sizes over produced tensors less a
//! sum over tensors that are produced and fully read, and so the difference between all of
//! `V` and the part that had run anyway only falls with what else has run. [`settle`] after
//! an operator `v` finds such a `V`, if it runs only operators that `v` made ready: a closed
//! part of `V` is either nothing, or holds `v` and lacks some of the later operators, each
//! of which did not raise memory when it was run, and raises it no more after others.

use super::super::bits;
use super::super::memory::Memory;

/// Runs operators before `end` whose steps cost at most `limit` and do not raise memory,
/// until there are none, and adds them to `trail`. Operators in `spared` are left.
pub(super) fn settle(
    memory: &mut Memory<'_>,
    end: usize,
    limit: u64,
    spared: Option<&[u64]>,
    trail: &mut Vec<usize>,
) {
    loop {
        let before = trail.len();
        let candidates: Vec<usize> = bits::ones(memory.ready())
            .take_while(|&operator| operator < end)
            .filter(|&operator| spared.is_none_or(|spared| !bits::contains(spared, operator)))
            .collect();
        for operator in candidates {
            if memory.growth(operator) <= 0 && memory.cost(operator) <= limit {
                memory.run(operator);
                trail.push(operator);
            }
        }
        if trail.len() == before {
            return;
        }
    }
}
