//! Where in time and memory something happened, in a grid of fixed size.
//!
//! Four bits a cell: loaded, stored, updated, in use. A bit set twice is a bit set, so
//! nothing overflows and the order of the marks does not matter.

use dmo_analysis::profile::AccessClass;

/// Most columns of a raster: a whole number of words.
pub(super) const MAX_COLUMNS: u64 = 64 * WORDS as u64;
/// Most rows of a raster.
pub(super) const MAX_ROWS: u64 = 400;

const WORDS: usize = 13;

/// The meaning of a bit of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plane {
    Load,
    Store,
    Update,
    InUse,
}

impl Plane {
    pub(super) const ALL: [Self; 4] = [Self::Load, Self::Store, Self::Update, Self::InUse];
}

impl From<AccessClass> for Plane {
    fn from(class: AccessClass) -> Self {
        match class {
            AccessClass::Load => Self::Load,
            AccessClass::Store => Self::Store,
            AccessClass::Update => Self::Update,
        }
    }
}

/// Divides `0..extent` evenly into bins, with a multiplication instead of a division.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    bins: u64,
    /// `bins / extent` as a fraction of 2^63, rounded up so that a value on the edge of
    /// a bin does not fall below it.
    multiplier: u64,
}

impl Scale {
    /// At most `max_bins` bins, and none narrower than 1. An extent of 0 counts as 1.
    pub(super) fn new(extent: u64, max_bins: u64) -> Self {
        let extent = extent.max(1);
        let bins = extent.min(max_bins);
        Self {
            bins,
            multiplier: (u128::from(bins) << 63).div_ceil(u128::from(extent)) as u64,
        }
    }

    /// The bin of `value`, which is less than 2^63; the last one beyond the extent.
    #[inline]
    pub(super) fn bin(&self, value: u64) -> usize {
        // The doubled value leaves the bin in the upper half of the product.
        let bin = ((u128::from(value << 1) * u128::from(self.multiplier)) >> 64) as u64;
        bin.min(self.bins - 1) as usize
    }

    pub(super) fn bins(&self) -> usize {
        self.bins as usize
    }

    /// The first value after a bin.
    pub(super) fn end_of(&self, bin: usize) -> u64 {
        let end = ((bin as u128 + 1) << 63).div_ceil(u128::from(self.multiplier));
        u64::try_from(end).unwrap_or(u64::MAX)
    }
}

/// A column, split into its word and its bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    word: usize,
    bit: u64,
}

impl Column {
    #[inline]
    pub(super) fn new(index: usize) -> Self {
        Self {
            word: index / 64,
            bit: 1 << (index % 64),
        }
    }
}

/// The grid: time to the right, bytes upwards.
#[derive(Debug, Clone)]
pub(super) struct Raster {
    columns: usize,
    rows: usize,
    /// Row by row, in a row plane by plane, in a plane word by word.
    bits: Vec<u64>,
}

impl Raster {
    pub(super) fn new(columns: &Scale, rows: &Scale) -> Self {
        Self {
            columns: columns.bins(),
            rows: rows.bins(),
            bits: vec![0; rows.bins() * Plane::ALL.len() * WORDS],
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Marks one column of the rows `first..=last`, mostly a single one.
    #[inline]
    pub(super) fn mark(&mut self, (first, last): (usize, usize), column: Column, plane: Plane) {
        let mut index = Self::start(first, plane) + column.word;
        for _ in first..last {
            self.bits[index] |= column.bit;
            index += Plane::ALL.len() * WORDS;
        }
        self.bits[index] |= column.bit;
    }

    /// Marks the columns `from..=to` of the rows `first..=last`. A row takes a handful of
    /// words however long the stretch is.
    pub(super) fn fill(
        &mut self,
        (first, last): (usize, usize),
        (from, to): (usize, usize),
        plane: Plane,
    ) {
        let (from_word, to_word) = (from / 64, to / 64);
        let (head, tail) = (u64::MAX << (from % 64), u64::MAX >> (63 - to % 64));
        for row in first..=last {
            let start = Self::start(row, plane);
            let words = &mut self.bits[start + from_word..=start + to_word];
            if let [word] = words {
                *word |= head & tail;
            } else if let [low, between @ .., high] = words {
                *low |= head;
                between.fill(u64::MAX);
                *high |= tail;
            }
        }
    }

    /// The marked columns of a row, in ascending order.
    pub(super) fn marked(&self, row: usize, plane: Plane) -> impl Iterator<Item = usize> {
        let start = Self::start(row, plane);
        self.bits[start..start + WORDS]
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    (rest != 0).then(|| {
                        let bit = rest.trailing_zeros() as usize;
                        rest &= rest - 1;
                        index * 64 + bit
                    })
                })
            })
    }

    #[inline]
    fn start(row: usize, plane: Plane) -> usize {
        (row * Plane::ALL.len() + plane as usize) * WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_agrees_with_division() {
        for extent in [1, 2, 7, 831, 832, 833, 4 << 20, u64::from(u32::MAX) + 1] {
            let scale = Scale::new(extent, MAX_COLUMNS);
            let bins = scale.bins() as u64;
            let samples = (0..=bins).flat_map(|bin| {
                let edge = u128::from(bin) * u128::from(extent) / u128::from(bins);
                [edge.saturating_sub(1), edge, edge + 1].map(|value| value as u64)
            });
            for value in samples.filter(|&value| value < extent) {
                let exact = u128::from(value) * u128::from(bins) / u128::from(extent);
                assert_eq!(scale.bin(value) as u128, exact, "{value} of {extent}");
                assert!(value < scale.end_of(exact as usize), "{value} of {extent}");
            }
            assert_eq!(scale.bin(u64::MAX / 2), scale.bins() - 1);
            for bin in 0..scale.bins() - 1 {
                assert_eq!(scale.bin(scale.end_of(bin)), bin + 1, "of {extent}");
            }
        }
    }

    #[test]
    fn a_fill_marks_exactly_its_columns() {
        let scale = Scale::new(MAX_COLUMNS, MAX_COLUMNS);
        let rows = Scale::new(3, 3);
        for (from, to) in [(0, 0), (0, 63), (63, 64), (5, 700), (64, 127), (0, 831)] {
            let mut raster = Raster::new(&scale, &rows);
            raster.fill((1, 1), (from, to), Plane::InUse);
            let marked: Vec<usize> = raster.marked(1, Plane::InUse).collect();
            assert_eq!(marked, (from..=to).collect::<Vec<_>>());
            assert_eq!(raster.marked(0, Plane::InUse).count(), 0);
            assert_eq!(raster.marked(1, Plane::Load).count(), 0);
        }
    }
}
