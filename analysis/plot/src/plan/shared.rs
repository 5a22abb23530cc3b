//! Which pixels of a panel stand for memory that two buffers alive together both have.

use super::scale::Scale;
use crate::paint::MAX_PATCHES;
use crate::sheet::{Area, Colour, Drawn, Sheet};
use dmo_planner::plan::Plan;
use dmo_planner::problem::Problem;

/// Pixels between two lines, tried in this order until there are not too many.
const SPACINGS: [i32; 4] = [5, 8, 12, 20];
/// Smaller areas would fall between the lines.
const LEAST_SIDE: i32 = 3;

/// A panel's pixels.
pub(super) struct Shared {
    panel: Area,
    /// Row by row from the top.
    pixels: Vec<bool>,
    /// How many are shared above and left of each corner of a pixel.
    sums: Vec<u32>,
}

impl Shared {
    pub(super) fn of(problem: &Problem, plan: &Plan, scale: &Scale) -> Self {
        let panel = scale.panel;
        let count = (panel.width * panel.height).unsigned_abs() as usize;
        let mut shared = Self {
            panel,
            pixels: vec![false; count],
            sums: Vec::new(),
        };
        for section in problem.sections() {
            let extents = section.alive.iter().filter_map(|&buffer| {
                let start = *plan.offsets.get(buffer)?;
                Some((
                    start,
                    start.saturating_add(problem.buffers()[buffer].size_bytes),
                ))
            });
            for (start, end) in twice_covered(extents.collect()) {
                shared.mark(scale.area(&section.steps, start..end));
            }
        }
        shared.sums = shared.sums();
        shared
    }

    /// Returns `true` if nothing is shared there.
    pub(super) fn is_free(&self, area: Area) -> bool {
        let columns = (self.panel.width + 1).unsigned_abs() as usize;
        let sum = |x: i32, y: i32| {
            let column = (x - self.panel.x).clamp(0, self.panel.width).unsigned_abs() as usize;
            let row = (y - self.panel.y)
                .clamp(0, self.panel.height)
                .unsigned_abs() as usize;
            self.sums[row * columns + column]
        };
        sum(area.right(), area.bottom()) + sum(area.x, area.y)
            == sum(area.x, area.bottom()) + sum(area.right(), area.y)
    }

    pub(super) fn is_anything(&self) -> bool {
        self.sums.last().is_some_and(|&all| all > 0)
    }

    /// Slanting lines over all that is shared.
    pub(super) fn hatch(&self, sheet: &mut Sheet<'_>, colour: Colour) -> Drawn {
        let mut lines = Vec::new();
        for spacing in SPACINGS {
            lines = self.lines(spacing);
            if lines.len() <= MAX_PATCHES {
                break;
            }
        }
        lines
            .into_iter()
            .try_for_each(|(from, to)| sheet.line(from, to, colour, 1.0))
    }

    fn lines(&self, spacing: i32) -> Vec<((i32, i32), (i32, i32))> {
        let Area {
            x,
            y,
            width,
            height,
        } = self.panel;
        let mut lines = Vec::new();
        for diagonal in (0..width + height - 1).step_by(spacing.unsigned_abs() as usize) {
            let columns = (diagonal - height + 1).max(0)..diagonal.min(width - 1) + 1;
            let mut start = None;
            for column in columns.start..=columns.end {
                let inside = columns.contains(&column) && self.at(column, diagonal - column);
                match (start, inside) {
                    (None, true) => start = Some(column),
                    (Some(first), false) => {
                        let from = (x + first, y + diagonal - first + 1);
                        lines.push((from, (x + column, y + diagonal - column + 1)));
                        start = None;
                    }
                    _ => {}
                }
            }
        }
        lines
    }

    fn at(&self, column: i32, row: i32) -> bool {
        let index = row * self.panel.width + column;
        self.pixels[index.unsigned_abs() as usize]
    }

    fn mark(&mut self, area: Area) {
        let span = |start: i32, length: i32, panel_length: i32| {
            let length = length.max(LEAST_SIDE);
            let start = start.clamp(0, (panel_length - length).max(0));
            start.unsigned_abs() as usize
                ..(start + length).min(panel_length).unsigned_abs() as usize
        };
        let columns = span(area.x - self.panel.x, area.width, self.panel.width);
        let width = self.panel.width.unsigned_abs() as usize;
        for row in span(area.y - self.panel.y, area.height, self.panel.height) {
            self.pixels[row * width + columns.start..row * width + columns.end].fill(true);
        }
    }

    fn sums(&self) -> Vec<u32> {
        let width = self.panel.width.unsigned_abs() as usize;
        let mut sums = vec![0; width + 1];
        for row in self.pixels.chunks(width.max(1)) {
            let above = sums.len() - width - 1;
            let mut of_row = 0;
            sums.push(0);
            for (column, &shared) in row.iter().enumerate() {
                of_row += u32::from(shared);
                sums.push(sums[above + column + 1] + of_row);
            }
        }
        sums
    }
}

/// What at least two of the extents cover, in ascending order and apart.
fn twice_covered(mut extents: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    extents.sort_unstable();
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut reach = 0;
    for (start, end) in extents {
        let both = (start, end.min(reach));
        reach = reach.max(end);
        if both.0 >= both.1 {
            continue;
        }
        match found.last_mut() {
            Some(last) if both.0 <= last.1 => last.1 = last.1.max(both.1),
            _ => found.push(both),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn twice_covered_is_what_two_cover(
            extents in prop::collection::vec((0..30_u64, 0..12_u64), 0..8)
        ) {
            let extents: Vec<(u64, u64)> =
                extents.into_iter().map(|(start, size)| (start, start + size)).collect();
            let found = twice_covered(extents.clone());
            let within = |&&(start, end): &&(u64, u64), byte| start <= byte && byte < end;
            for byte in 0..50 {
                let cover = extents.iter().filter(|extent| within(extent, byte)).count();
                let times = found.iter().filter(|extent| within(extent, byte)).count();
                prop_assert_eq!(times, usize::from(cover >= 2), "byte {}", byte);
            }
        }
    }
}
