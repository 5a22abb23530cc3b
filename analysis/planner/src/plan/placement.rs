//! A plan in the making: some buffers have their place, and where others still fit.

use super::Plan;
use crate::problem::{Problem, signed};
use std::ops::Range;

/// A plan in the making. Offsets are signed while it is not yet decided where the arena
/// begins.
pub(super) struct Placement<'a> {
    pub(super) problem: &'a Problem,
    offsets: Vec<Option<i64>>,
}

impl<'a> Placement<'a> {
    /// Nothing is placed but the buffers whose offset is given.
    pub(super) fn new(problem: &'a Problem) -> Self {
        let fixed = |buffer: &crate::problem::Buffer| buffer.fixed_offset.map(signed);
        Self {
            problem,
            offsets: problem.buffers().iter().map(fixed).collect(),
        }
    }

    pub(super) fn is_placed(&self, buffer: usize) -> bool {
        self.offsets[buffer].is_some()
    }

    pub(super) fn place(&mut self, buffer: usize, offset: i64) {
        self.offsets[buffer] = Some(offset);
    }

    /// Where the buffer must not start, ascending and disjoint.
    pub(super) fn forbidden(&self, buffer: usize) -> Vec<Range<i64>> {
        forbidden(self.problem, buffer, |other| self.offsets[other])
    }

    /// The lowest offset in the arena at which the buffer fits.
    pub(super) fn lowest(&self, buffer: usize) -> i64 {
        lowest(self.problem, buffer, &self.forbidden(buffer))
    }

    /// The plan; buffers that were not placed are at offset 0.
    pub(super) fn finish(self) -> Plan {
        let unsigned = |offset: Option<i64>| offset.map_or(0, i64::unsigned_abs);
        Plan {
            offsets: self.offsets.into_iter().map(unsigned).collect(),
        }
    }

    /// The plan, moved so that the lowest buffer starts at 0, or as low as all alignments allow.
    pub(super) fn finish_at_zero(mut self) -> Plan {
        let lowest = self.offsets.iter().flatten().min().copied().unwrap_or(0);
        let common = signed(self.problem.common_alignment());
        let moved = lowest - lowest.rem_euclid(common);
        for offset in self.offsets.iter_mut().flatten() {
            *offset -= moved;
        }
        self.finish()
    }
}

/// Where a buffer must not start, ascending and disjoint, with others at these offsets; `None` of one
/// that is not placed.
pub(crate) fn forbidden(
    problem: &Problem,
    buffer: usize,
    offset_of: impl Fn(usize) -> Option<i64>,
) -> Vec<Range<i64>> {
    let neighbours = problem.neighbours(buffer).iter();
    let mut ranges: Vec<Range<i64>> = neighbours
        .filter_map(|neighbour| {
            let offset = offset_of(neighbour.buffer)?;
            let start = offset - signed(neighbour.distance_above) + 1;
            let end = offset + signed(neighbour.distance_below);
            Some(start..end)
        })
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<i64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The lowest offset at which a buffer may start that must not start in these ranges.
pub(crate) fn lowest(problem: &Problem, buffer: usize, forbidden: &[Range<i64>]) -> i64 {
    let mut offset = 0;
    for range in forbidden {
        if range.contains(&offset) {
            offset = problem.aligned(buffer, range.end);
        }
    }
    offset
}
