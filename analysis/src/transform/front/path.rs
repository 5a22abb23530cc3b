//! The least work for each size of the arena.

use std::ops::Range;

/// A run in tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which steps of the order it takes the place of.
    pub(super) steps: Range<usize>,
    pub(super) grid: [u32; 2],
    /// What its steps need at least.
    pub(super) bytes: u64,
    pub(super) extra_macs: u64,
    /// What they need at least was computed from its operators, not from sizes alone.
    pub(super) is_known: bool,
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

/// The pieces that begin with each step, each step's in their order.
pub(super) fn by_start(steps: usize, pieces: &[Piece]) -> Vec<Vec<usize>> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); steps];
    for (index, piece) in pieces.iter().enumerate() {
        if let Some(from) = from.get_mut(piece.steps.start) {
            from.push(index);
        }
    }
    from
}

/// How a step is reached with the least work, and of these ways with the fewest pieces.
#[derive(Clone, Copy)]
struct Reached {
    work: (u64, usize),
    /// By this piece; by the operator before it where there is none.
    by: Option<usize>,
}

/// The way of least work that needs no more than `limit` bytes at any step. `needs` are the bytes
/// of each step that is in no piece.
pub(super) fn path(
    needs: &[u64],
    pieces: &[Piece],
    from: &[Vec<usize>],
    limit: u64,
) -> Option<Path> {
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
        for &index in from[step]
            .iter()
            .filter(|&&index| pieces[index].bytes <= limit)
        {
            let piece = &pieces[index];
            let work = (work.0.saturating_add(piece.extra_macs), work.1 + 1);
            reach(piece.steps.end, work, Some(index));
        }
    }
    let extra_macs = reached[needs.len()]?.work.0;
    let (mut at, mut bytes, mut taken) = (needs.len(), 0, Vec::new());
    while at > 0 {
        let (start, needed) = match reached[at]?.by {
            Some(index) => {
                taken.push(index);
                (pieces[index].steps.start, pieces[index].bytes)
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
