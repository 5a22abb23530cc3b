//! The least work for each size of the arena.

use super::candidates::Tiling;
use std::collections::BTreeSet;
use std::ops::Range;

/// A run in tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which steps of the order it takes the place of.
    pub(super) steps: Range<usize>,
    pub(super) tiling: Tiling,
    /// What its steps need: at least, until that is known of its operators, not of sizes alone.
    pub(super) bytes: u64,
    pub(super) is_known: bool,
    /// What they need at least.
    pub(super) least: u64,
    pub(super) extra_macs: u64,
}

/// A way through the whole order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// What its steps need at least, in bytes.
    pub(super) bytes: u64,
    pub(super) extra_macs: u64,
    /// The pieces on the way, in the order.
    pub(super) pieces: Vec<usize>,
}

/// Which bytes of a piece count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// What is known of what it needs.
    Needed,
    /// What it needs at least.
    Least,
}

impl Piece {
    fn count(&self, count: Count) -> u64 {
        match count {
            Count::Needed => self.bytes,
            Count::Least => self.least,
        }
    }
}

/// Ways through an order of at most so much work, that of the smallest first.
pub(super) struct Ways {
    /// The bytes of each step that is in no piece.
    needs: Vec<u64>,
    count: Count,
    most_extra_macs: u64,
    /// The pieces that may be on the way: those that begin with each step, in their order.
    from: Vec<Vec<usize>>,
    /// What the steps and pieces need, from the least on.
    sizes: Vec<u64>,
    /// No way needs less than this one of the sizes.
    least: usize,
}

impl Ways {
    /// Ways that need less than `below` bytes.
    pub(super) fn new(
        needs: &[u64],
        pieces: &[Piece],
        count: Count,
        most_extra_macs: u64,
        below: u64,
    ) -> Self {
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
        let mut sizes: BTreeSet<u64> = needs.iter().copied().filter(|&size| size < below).collect();
        for (index, piece) in pieces.iter().enumerate() {
            let bytes = piece.count(count);
            if bytes < below && piece.extra_macs <= most_extra_macs {
                from[piece.steps.start].push(index);
                sizes.insert(bytes);
            }
        }
        Self {
            needs: needs.to_vec(),
            count,
            most_extra_macs,
            from,
            sizes: sizes.into_iter().collect(),
            least: 0,
        }
    }

    /// A piece needs this much from now on, which is more than before.
    pub(super) fn grow(&mut self, bytes: u64) {
        if let Err(place) = self.sizes.binary_search(&bytes) {
            self.sizes.insert(place, bytes);
        }
    }

    /// The smallest way; what pieces need may have grown since the last one.
    pub(super) fn smallest(&mut self, pieces: &[Piece]) -> Option<Path> {
        let (mut step, mut found) = (1, None);
        let mut end = self.least;
        // In growing steps up to one that there is a way of, then by halves.
        while found.is_none() && end < self.sizes.len() {
            found = self.within(pieces, self.sizes[end]);
            if found.is_none() {
                self.least = end + 1;
                end = (end + step).min(self.sizes.len() - 1).max(self.least);
                step *= 4;
            }
        }
        while self.least < end {
            let middle = self.least.midpoint(end);
            match self.within(pieces, self.sizes[middle]) {
                Some(path) => {
                    found = Some(path);
                    end = middle;
                }
                None => self.least = middle + 1,
            }
        }
        found
    }

    fn within(&self, pieces: &[Piece], limit: u64) -> Option<Path> {
        let path = self.path(pieces, limit)?;
        (path.extra_macs <= self.most_extra_macs).then_some(path)
    }
}

/// How a step is reached with the least work, and of these ways with the fewest pieces.
#[derive(Clone, Copy)]
struct Reached {
    work: (u64, usize),
    /// By this piece; by the operator before it where there is none.
    by: Option<usize>,
}

impl Ways {
    /// Of the pieces of one run, by their work, the first that needs no more than `limit` bytes. Those that
    /// keep rows all do the same work: of these the first that leaves an eighth of the limit for kernels
    /// that allow less overlap than was reckoned with, or else the smallest.
    fn of_run(&self, pieces: &[Piece], of_run: &[usize], limit: u64) -> Option<usize> {
        let bytes = |index: usize| pieces[index].count(self.count);
        let mut fitting = of_run.iter().copied().filter(|&at| bytes(at) <= limit);
        let first = fitting.next()?;
        if !pieces[first].tiling.cached {
            return Some(first);
        }
        let alike = fitting.filter(|&at| pieces[at].tiling.cached);
        let alike: Vec<usize> = [first].into_iter().chain(alike).collect();
        let roomy = alike
            .iter()
            .copied()
            .find(|&at| bytes(at) <= limit - limit / 8);
        roomy.or_else(|| alike.into_iter().min_by_key(|&at| bytes(at)))
    }

    /// The way of least work that needs no more than `limit` bytes at any step.
    fn path(&self, pieces: &[Piece], limit: u64) -> Option<Path> {
        let needs = &self.needs;
        let mut reached: Vec<Option<Reached>> = vec![None; needs.len() + 1];
        reached[0] = Some(Reached {
            work: (0, 0),
            by: None,
        });
        for step in 0..needs.len() {
            let Some(Reached { work, .. }) = reached[step] else {
                continue;
            };
            let mut reach = |end: usize, work: (u64, usize), by| {
                if reached[end].is_none_or(|known| work < known.work) {
                    reached[end] = Some(Reached { work, by });
                }
            };
            if needs[step] <= limit {
                reach(step + 1, work, None);
            }
            let of_runs = self.from[step].chunk_by(|&one, &other| {
                let [one, other] = [one, other].map(|index| &pieces[index]);
                one.steps.end == other.steps.end
            });
            for of_run in of_runs {
                if let Some(index) = self.of_run(pieces, of_run, limit) {
                    let piece = &pieces[index];
                    let work = (work.0.saturating_add(piece.extra_macs), work.1 + 1);
                    reach(piece.steps.end, work, Some(index));
                }
            }
        }
        let extra_macs = reached[needs.len()]?.work.0;
        let (mut at, mut bytes, mut taken) = (needs.len(), 0, Vec::new());
        while at > 0 {
            let (start, needed) = match reached[at]?.by {
                Some(index) => {
                    taken.push(index);
                    (pieces[index].steps.start, pieces[index].count(self.count))
                }
                None => (at - 1, needs[at - 1]),
            };
            bytes = needed.max(bytes);
            at = start;
        }
        taken.reverse();
        Some(Path {
            bytes,
            extra_macs,
            pieces: taken,
        })
    }
}
