//! Placing buffers in an arena: what a planner is given.
//!
//! ```text
//!  offset
//!    ^        +-----+
//!    |        |  in |            in starts at least min_distance(out, in) above out:
//!    |  +-----|.....|            the dotted part is the overlap, size(out) - min_distance
//!    |  | out +-----+
//!    |  +-----+
//!    +--+-------------------> step
//! ```
//!
//! All that a planner and a check know of two buffers is [`Problem::min_distance`]: how far
//! the upper one has to start above the lower one. Buffers that are never alive at the same
//! step have none. Of two that are, one lies above the other; where nothing may overlap, the
//! distance is the lower one's size.
//!
//! Each buffer has its own [alignment](Buffer::alignment). The greatest common divisor of all of
//! them is the problem's *grain*: every offset is a multiple of it, so distances
//! are rounded up to it. A buffer of a coarser alignment lies at its next multiple above that.

mod bound;
mod error;

pub use error::ProblemError;
pub(crate) use error::check;

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Something that needs a place in the arena.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Buffer {
    /// What it is called in messages and pictures.
    pub name: String,
    /// Length in bytes, at least 1.
    pub size_bytes: u64,
    /// The steps at which it is alive (its usage interval), half-open, not empty.
    pub alive: Range<u32>,
    /// Its offset is a multiple of this many bytes, at least 1.
    #[serde(default = "any_offset")]
    pub alignment: u64,
    /// Where it has to lie, if that is given.
    pub fixed_offset: Option<u64>,
}

/// The alignment of a buffer that may lie anywhere.
fn any_offset() -> u64 {
    1
}

/// Permission for two buffers to overlap: `upper` may start `bytes` above the start of
/// `lower`, or anywhere above that.
///
/// The lower one is created later, or at the same step and lives on. So no chain of
/// distances comes back to where it began, and every valid plan can be pushed down to one in
/// which each buffer touches zero or one that was placed before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Displacement {
    /// Index of the lower buffer, an operator's output.
    pub lower: usize,
    /// Index of the upper buffer, its input.
    pub upper: usize,
    /// Least distance in bytes, at most the size of `lower`.
    pub bytes: u64,
}

/// A buffer that is alive together with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// Its index.
    pub buffer: usize,
    /// How far it has to start above the other one, if it lies above.
    pub distance_above: u64,
    /// How far it has to start below the other one, if it lies below.
    pub distance_below: u64,
}

/// A stretch of steps in which the same buffers are alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The steps, half-open.
    pub steps: Range<u32>,
    /// The buffers, ordered by index.
    pub alive: Vec<usize>,
}

/// Buffers to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    buffers: Vec<Buffer>,
    grain: u64,
    /// For each buffer those that are alive together with it, ordered by index.
    neighbours: Vec<Vec<Neighbour>>,
}

/// No problem is larger than this, so that sums of sizes fit.
pub const MAX_TOTAL_BYTES: u64 = 1 << 48;

impl Problem {
    /// The buffers, and which of them may overlap.
    ///
    /// # Errors
    /// When a buffer has no size, no step or alignment 0, a displacement is of buffers that are
    /// never alive together or in the wrong order or exceeds the lower one's size, a fixed offset
    /// is not aligned, all sizes, rounded up to where all buffers are aligned, together exceed
    /// [`MAX_TOTAL_BYTES`], or more than [`MAX_PAIRS`] pairs are alive together.
    pub fn new(buffers: Vec<Buffer>, displacements: &[Displacement]) -> Result<Self, ProblemError> {
        check(&buffers)?;
        let grain = grain(&buffers);
        let mut problem = Self {
            neighbours: neighbours(&buffers, grain)?,
            buffers,
            grain,
        };
        for displacement in displacements {
            problem.permit(displacement)?;
        }
        Ok(problem)
    }

    /// The buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Moved up by a multiple of this many bytes, all buffers stay aligned: the least common
    /// multiple of all alignments.
    pub fn common_alignment(&self) -> u64 {
        let alignments = self.buffers.iter().map(|buffer| buffer.alignment);
        // That it fits was checked.
        alignments.fold(1, |common, alignment| {
            common_multiple(common, alignment).unwrap_or(common)
        })
    }

    /// The lowest offset from this one on at which the buffer may lie, in bytes.
    pub(crate) fn aligned(&self, buffer: usize, offset: i64) -> i64 {
        round_up(offset, signed(self.buffers[buffer].alignment))
    }

    /// The highest offset up to this one at which the buffer may lie, in bytes.
    pub(crate) fn aligned_below(&self, buffer: usize, offset: i64) -> i64 {
        round_down(offset, signed(self.buffers[buffer].alignment))
    }

    /// The buffers that are alive together with this one, ordered by index.
    pub fn neighbours(&self, buffer: usize) -> &[Neighbour] {
        &self.neighbours[buffer]
    }

    /// The least `offset(upper) - offset(lower)` that is safe together with all larger
    /// ones, if `upper` lies above; a multiple of the grain, and no multiple of
    /// the two buffers' alignments where these are coarser. `None` when the two are never alive
    /// together.
    pub fn min_distance(&self, lower: usize, upper: usize) -> Option<u64> {
        let index = self.neighbour_index(lower, upper)?;
        Some(self.neighbours[lower][index].distance_above)
    }

    /// The same buffers, none of which may overlap another.
    #[must_use]
    pub fn without_overlaps(&self) -> Self {
        let mut apart = self.clone();
        for buffer in 0..self.buffers.len() {
            let above = self.spacing(buffer);
            for neighbour in &mut apart.neighbours[buffer] {
                neighbour.distance_above = above;
                neighbour.distance_below = self.spacing(neighbour.buffer);
            }
        }
        apart
    }

    /// Only these buffers, in the given order, with the overlaps that they may have.
    #[must_use]
    pub fn subset(&self, kept: &[usize]) -> Self {
        let mut place = vec![None; self.buffers.len()];
        for (position, &buffer) in kept.iter().enumerate() {
            place[buffer] = Some(position);
        }
        let neighbours = kept.iter().map(|&buffer| {
            let known = self.neighbours[buffer].iter().filter_map(|neighbour| {
                Some(Neighbour {
                    buffer: place[neighbour.buffer]?,
                    ..*neighbour
                })
            });
            let mut known: Vec<Neighbour> = known.collect();
            known.sort_by_key(|neighbour| neighbour.buffer);
            known
        });
        Self {
            neighbours: neighbours.collect(),
            buffers: kept
                .iter()
                .map(|&buffer| self.buffers[buffer].clone())
                .collect(),
            // Those that are kept may all be coarser: what is true of all stays true of them.
            grain: self.grain,
        }
    }

    /// The same buffers and one more, the last of them, which overlaps none.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_buffer(&self, buffer: Buffer) -> Result<Self, ProblemError> {
        let mut buffers = self.buffers.clone();
        buffers.push(buffer);
        let mut more = Self::new(buffers, &[])?;
        for (lower, upper) in self.overlapping_pairs() {
            if let Some(bytes) = self.min_distance(lower, upper) {
                more.set_distance(lower, upper, bytes.next_multiple_of(more.grain));
            }
        }
        Ok(more)
    }

    /// The same buffers, each also at a multiple of this many bytes.
    ///
    /// # Errors
    /// When the alignment is 0, a given offset is no multiple of it, or all buffers, rounded up to
    /// where all are aligned, are too large.
    pub fn aligned_to(&self, alignment: u64) -> Result<Self, ProblemError> {
        let mut finer = self.clone();
        for buffer in &mut finer.buffers {
            let common = common_multiple(buffer.alignment, alignment);
            buffer.alignment = match common {
                Some(common) => common,
                None if alignment == 0 => 0,
                None => return Err(ProblemError::TooLarge),
            };
        }
        check(&finer.buffers)?;
        finer.grain = grain(&finer.buffers);
        for neighbour in finer.neighbours.iter_mut().flatten() {
            for distance in [&mut neighbour.distance_above, &mut neighbour.distance_below] {
                *distance = distance.next_multiple_of(finer.grain);
            }
        }
        Ok(finer)
    }

    /// The same buffers, these at given offsets in bytes: one entry for each buffer, `None`
    /// where it may lie anywhere. Whether the given ones keep apart is not checked.
    ///
    /// # Errors
    /// When an offset is not a multiple of its buffer's alignment or too large.
    pub fn with_offsets(&self, offsets: &[Option<u64>]) -> Result<Self, ProblemError> {
        let mut fixed = self.clone();
        for (buffer, offset) in fixed.buffers.iter_mut().zip(offsets) {
            buffer.fixed_offset = *offset;
        }
        check(&fixed.buffers)?;
        Ok(fixed)
    }

    /// Whether two buffers may overlap anywhere.
    pub fn has_overlaps(&self) -> bool {
        !self.overlapping_pairs().is_empty()
    }

    /// How many pairs of buffers are alive together.
    pub fn pairs(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }

    /// The pairs that may overlap: the lower one and the upper one.
    pub fn overlapping_pairs(&self) -> Vec<(usize, usize)> {
        let pairs = (0..self.buffers.len()).flat_map(|lower| {
            let full = self.spacing(lower);
            let neighbours = self.neighbours[lower].iter();
            neighbours
                .filter(move |neighbour| neighbour.distance_above < full)
                .map(move |neighbour| (lower, neighbour.buffer))
        });
        pairs.collect()
    }

    /// From now on the two may not overlap. Of two that are never alive together nothing changes.
    pub fn set_apart(&mut self, one: usize, other: usize) {
        self.set_distance(one, other, self.spacing(one));
        self.set_distance(other, one, self.spacing(other));
    }

    /// How far a buffer keeps from one above it that it may not overlap: its size in bytes,
    /// rounded up to the grain.
    pub fn spacing(&self, buffer: usize) -> u64 {
        self.buffers[buffer].size_bytes.next_multiple_of(self.grain)
    }

    /// One past the last step.
    pub fn steps(&self) -> u32 {
        let ends = self.buffers.iter().map(|buffer| buffer.alive.end);
        ends.max().unwrap_or(0)
    }

    /// The stretches of steps in which the same buffers are alive, in order.
    pub fn sections(&self) -> Vec<Section> {
        let alive = self.buffers.iter().map(|buffer| &buffer.alive);
        let mut bounds: Vec<u32> = alive.flat_map(|alive| [alive.start, alive.end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let steps = bounds.windows(2).map(|bounds| bounds[0]..bounds[1]);
        let mut sections: Vec<Section> = steps
            .map(|steps| Section {
                steps,
                alive: Vec::new(),
            })
            .collect();
        for (index, buffer) in self.buffers.iter().enumerate() {
            let first = bounds.partition_point(|&bound| bound < buffer.alive.start);
            let last = bounds.partition_point(|&bound| bound < buffer.alive.end);
            for section in &mut sections[first..last] {
                section.alive.push(index);
            }
        }
        sections
    }

    fn permit(&mut self, displacement: &Displacement) -> Result<(), ProblemError> {
        let Displacement {
            lower,
            upper,
            bytes,
        } = *displacement;
        error::check_displacement(&self.buffers, displacement)?;
        self.set_distance(lower, upper, bytes.next_multiple_of(self.grain));
        Ok(())
    }

    /// How far the upper one has to start above the lower one, if the two are alive together.
    fn set_distance(&mut self, lower: usize, upper: usize, bytes: u64) {
        if let Some(index) = self.neighbour_index(lower, upper) {
            self.neighbours[lower][index].distance_above = bytes;
        }
        if let Some(index) = self.neighbour_index(upper, lower) {
            self.neighbours[upper][index].distance_below = bytes;
        }
    }

    /// Where the other one is among a buffer's neighbours.
    fn neighbour_index(&self, buffer: usize, other: usize) -> Option<usize> {
        let neighbours = &self.neighbours[buffer];
        let index = neighbours.binary_search_by_key(&other, |neighbour| neighbour.buffer);
        index.ok()
    }
}

/// The greatest common divisor of all alignments; of no buffers 1.
pub(crate) fn grain(buffers: &[Buffer]) -> u64 {
    let alignments = buffers.iter().map(|buffer| buffer.alignment);
    alignments.reduce(common_divisor).unwrap_or(1)
}

/// The greatest common divisor (Euclid). Neither is 0.
fn common_divisor(one: u64, other: u64) -> u64 {
    let (mut divisor, mut rest) = (one, other);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    divisor
}

/// The least number of bytes that is a multiple of both alignments: where something lies that
/// has to satisfy both. `None` where one is 0 or it does not fit in 64 bits.
pub fn common_multiple(one: u64, other: u64) -> Option<u64> {
    if one == 0 || other == 0 {
        return None;
    }
    (one / common_divisor(one, other)).checked_mul(other)
}

/// The least multiple of the alignment that is no lower.
pub(crate) fn round_up(offset: i64, alignment: i64) -> i64 {
    match offset.rem_euclid(alignment) {
        0 => offset,
        beyond => offset + (alignment - beyond),
    }
}

/// The greatest multiple of the alignment that is no higher.
pub(crate) fn round_down(offset: i64, alignment: i64) -> i64 {
    offset - offset.rem_euclid(alignment)
}

/// Sizes and offsets are far below 2^63: a problem says how large it may be.
pub(crate) fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// No problem has more pairs of buffers that are alive together.
pub const MAX_PAIRS: usize = 10_000_000;

/// Buffers that are alive together, with full distances.
fn neighbours(buffers: &[Buffer], grain: u64) -> Result<Vec<Vec<Neighbour>>, ProblemError> {
    let mut pairs = 0;
    let spacing = |buffer: usize| buffers[buffer].size_bytes.next_multiple_of(grain);
    let mut by_start: Vec<usize> = (0..buffers.len()).collect();
    by_start.sort_by_key(|&buffer| buffers[buffer].alive.start);
    let mut found: Vec<Vec<Neighbour>> = vec![Vec::new(); buffers.len()];
    let mut alive: Vec<usize> = Vec::new();
    for buffer in by_start {
        let start = buffers[buffer].alive.start;
        alive.retain(|&other| buffers[other].alive.end > start);
        pairs += alive.len();
        if pairs > MAX_PAIRS {
            return Err(ProblemError::TooManyPairs);
        }
        for &other in &alive {
            for (from, to) in [(buffer, other), (other, buffer)] {
                found[from].push(Neighbour {
                    buffer: to,
                    distance_above: spacing(from),
                    distance_below: spacing(to),
                });
            }
        }
        alive.push(buffer);
    }
    for neighbours in &mut found {
        neighbours.sort_by_key(|neighbour| neighbour.buffer);
    }
    Ok(found)
}
