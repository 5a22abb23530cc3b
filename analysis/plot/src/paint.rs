//! From rasters to coloured rectangles: few enough for a small file, large enough to be
//! seen.

use super::raster::{Plane, Raster};
use super::sheet::{Area, Colour};

/// Rectangles of one picture, at most. Each takes about 90 bytes of SVG.
pub(super) const MAX_PATCHES: usize = 12_000;

/// Sides of a cell in pixels, tried in this order until the picture is small enough.
const CELL_SIDES: [i32; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/// What a rectangle stands for. The most telling comes last: it hides the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tint {
    OutputInUse,
    InUse,
    Load,
    Store,
    LoadAndStore,
    Update,
}

impl Tint {
    /// Distinct in lightness too: red and blue are dark, green is light.
    pub(super) const fn colour(self) -> Colour {
        match self {
            Self::OutputInUse => Colour(0xd3, 0xe2, 0xf2),
            Self::InUse => Colour(0xd6, 0xd6, 0xd6),
            Self::Load => Colour(0xcf, 0x22, 0x2e),
            Self::Store => Colour(0x1f, 0x5f, 0xbf),
            Self::LoadAndStore => Colour(0x6f, 0x2c, 0x91),
            Self::Update => Colour(0x3f, 0xae, 0x49),
        }
    }
}

/// Bits of a cell.
pub(super) mod flag {
    pub(in super::super) const LOAD: u8 = 1;
    pub(in super::super) const STORE: u8 = 2;
    pub(in super::super) const UPDATE: u8 = 4;
    pub(in super::super) const IN_USE: u8 = 8;
    pub(in super::super) const OUTPUT_IN_USE: u8 = 16;
    pub(super) const ACCESS: u8 = LOAD | STORE | UPDATE;
}

/// The flags that the planes of a raster become, in the order of [`Plane::ALL`].
pub(super) const PLAIN: [u8; 4] = [flag::LOAD, flag::STORE, flag::UPDATE, flag::IN_USE];

/// A raster on part of a panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) raster: &'a Raster,
    /// Lower and upper edge as fractions of the panel's height, counted from below.
    pub(super) span: (f64, f64),
    pub(super) flags: [u8; 4],
}

/// A panel and what is to be seen on it.
#[derive(Debug, Clone)]
pub(super) struct Panel<'a> {
    pub(super) area: Area,
    pub(super) sources: Vec<Source<'a>>,
}

impl<'a> Panel<'a> {
    /// One raster that fills the panel.
    pub(super) fn full(area: Area, raster: &'a Raster) -> Self {
        let source = Source {
            raster,
            span: (0.0, 1.0),
            flags: PLAIN,
        };
        Self {
            area,
            sources: vec![source],
        }
    }
}

/// A rectangle of one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) area: Area,
    pub(super) tint: Tint,
}

/// The rectangles of a picture. Accesses lie on top of what is in use.
#[derive(Debug, Clone, Default)]
pub(super) struct Patches {
    pub(super) in_use: Vec<Patch>,
    pub(super) accesses: Vec<Patch>,
}

impl Patches {
    /// The finest rectangles of which there are not too many.
    pub(super) fn of(panels: &[Panel]) -> Self {
        let mut patches = Self::default();
        for side in CELL_SIDES {
            patches = Self::with_cells(panels, side);
            if patches.in_use.len() + patches.accesses.len() <= MAX_PATCHES {
                break;
            }
        }
        patches
    }

    pub(super) fn contain(&self, tint: Tint) -> bool {
        let mut all = self.in_use.iter().chain(&self.accesses);
        all.any(|patch| patch.tint == tint)
    }

    fn with_cells(panels: &[Panel], side: i32) -> Self {
        let mut patches = Self::default();
        for panel in panels {
            let mut cells = Cells::of(panel, side);
            if side == 1 {
                cells.thicken();
            }
            cells.merge(in_use_tint, &mut patches.in_use);
            cells.merge(access_tint, &mut patches.accesses);
        }
        patches
    }
}

fn in_use_tint(flags: u8) -> Option<Tint> {
    if flags & flag::IN_USE != 0 {
        Some(Tint::InUse)
    } else {
        (flags & flag::OUTPUT_IN_USE != 0).then_some(Tint::OutputInUse)
    }
}

fn access_tint(flags: u8) -> Option<Tint> {
    const BOTH: u8 = flag::LOAD | flag::STORE;
    match flags & flag::ACCESS {
        0 => None,
        flag::LOAD => Some(Tint::Load),
        flag::STORE => Some(Tint::Store),
        BOTH => Some(Tint::LoadAndStore),
        _ => Some(Tint::Update),
    }
}

/// A panel in square cells, the lowest row first.
#[derive(Debug)]
struct Cells {
    area: Area,
    side: i32,
    columns: usize,
    rows: usize,
    flags: Vec<u8>,
}

impl Cells {
    fn of(panel: &Panel, side: i32) -> Self {
        let count = |pixels: i32| ((pixels + side - 1) / side).max(1) as usize;
        let (columns, rows) = (count(panel.area.width), count(panel.area.height));
        let mut cells = Self {
            area: panel.area,
            side,
            columns,
            rows,
            flags: vec![0; columns * rows],
        };
        for source in &panel.sources {
            cells.draw(source);
        }
        cells
    }

    fn draw(&mut self, source: &Source) {
        let raster = source.raster;
        let (low, high) = source.span;
        let (width, height) = (self.area.width, self.area.height);
        let x_edge = |column: usize| column as i32 * width / raster.columns() as i32;
        let y_edge = |row: usize| {
            let part = row as f64 / raster.rows() as f64;
            ((low + (high - low) * part) * f64::from(height)).round() as i32
        };
        for row in 0..raster.rows() {
            let (bottom, top) = self.cell_range(y_edge(row), y_edge(row + 1), self.rows);
            for (plane, &flags) in Plane::ALL.into_iter().zip(&source.flags) {
                if flags == 0 {
                    continue;
                }
                for column in raster.marked(row, plane) {
                    let (left, right) =
                        self.cell_range(x_edge(column), x_edge(column + 1), self.columns);
                    for y in bottom..=top {
                        let line = &mut self.flags[y * self.columns..][left..=right];
                        line.iter_mut().for_each(|cell| *cell |= flags);
                    }
                }
            }
        }
    }

    /// First and last cell that the pixels `from..to` touch.
    fn cell_range(&self, from: i32, to: i32, cells: usize) -> (usize, usize) {
        let cell = |pixel: i32| ((pixel.max(0) / self.side) as usize).min(cells - 1);
        (cell(from), cell(from.max(to - 1)))
    }

    /// Makes each access at least two pixels wide and high, without hiding another.
    fn thicken(&mut self) {
        let thin = self.flags.clone();
        let neighbour = |at: usize, end: usize| if at + 1 < end { at + 1 } else { at - 1 };
        for y in 0..self.rows {
            for x in 0..self.columns {
                let access = thin[y * self.columns + x] & flag::ACCESS;
                if access == 0 || self.columns < 2 || self.rows < 2 {
                    continue;
                }
                let (x2, y2) = (neighbour(x, self.columns), neighbour(y, self.rows));
                for at in [(x2, y), (x, y2), (x2, y2)] {
                    let index = at.1 * self.columns + at.0;
                    if thin[index] & flag::ACCESS == 0 {
                        self.flags[index] |= access;
                    }
                }
            }
        }
    }

    /// Covers the cells with rectangles: runs of a row, extended upwards as long as the
    /// next row has the same run.
    fn merge(&self, tint_of: fn(u8) -> Option<Tint>, patches: &mut Vec<Patch>) {
        // Per column: the rectangle whose top row begins there.
        let mut open: Vec<Option<Run>> = vec![None; self.columns];
        for y in 0..=self.rows {
            let mut next: Vec<Option<Run>> = vec![None; self.columns];
            let row = self.flags.get(y * self.columns..(y + 1) * self.columns);
            let mut x = 0;
            while let Some(flags) = row.and_then(|row| row.get(x..)).filter(|f| !f.is_empty()) {
                let tint = tint_of(flags[0]);
                let length = flags.iter().take_while(|&&f| tint_of(f) == tint).count();
                if let Some(tint) = tint {
                    next[x] = Some(match open[x].take() {
                        Some(run) if (run.length, run.tint) == (length, tint) => run,
                        unlike => {
                            open[x] = unlike;
                            Run {
                                bottom: y,
                                length,
                                tint,
                            }
                        }
                    });
                }
                x += length;
            }
            for (x, run) in open.iter().enumerate() {
                patches.extend(run.map(|run| self.patch(x, y, run)));
            }
            open = next;
        }
    }

    /// The rectangle of a run that begins in column `x` and ends below row `top`.
    fn patch(&self, x: usize, top: usize, run: Run) -> Patch {
        let (width, height) = (self.area.width, self.area.height);
        let pixel = |cell: usize, limit: i32| (cell as i32 * self.side).min(limit);
        let (left, right) = (pixel(x, width), pixel(x + run.length, width));
        let (low, high) = (pixel(run.bottom, height), pixel(top, height));
        Patch {
            area: Area {
                x: self.area.x + left,
                y: self.area.y + height - high,
                width: right - left,
                height: high - low,
            },
            tint: run.tint,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Run {
    bottom: usize,
    length: usize,
    tint: Tint,
}

#[cfg(test)]
mod tests {
    use super::super::raster::{Column, MAX_COLUMNS, MAX_ROWS, Scale};
    use super::*;

    const AREA: Area = Area {
        x: 10,
        y: 20,
        width: 832,
        height: 400,
    };

    fn raster(columns: u64, rows: u64) -> Raster {
        Raster::new(
            &Scale::new(columns, MAX_COLUMNS),
            &Scale::new(rows, MAX_ROWS),
        )
    }

    /// The tint on top at a pixel of the sheet.
    fn tint_at(patches: &Patches, x: i32, y: i32) -> Option<Tint> {
        let hit = |patch: &&Patch| {
            (patch.area.x..patch.area.x + patch.area.width).contains(&x)
                && (patch.area.y..patch.area.y + patch.area.height).contains(&y)
        };
        let on_top = patches.accesses.iter().find(hit);
        on_top
            .or_else(|| patches.in_use.iter().find(hit))
            .map(|patch| patch.tint)
    }

    #[test]
    fn a_single_event_is_two_pixels_wide_and_high() {
        let mut raster = raster(10_000, 10_000);
        raster.mark((100, 100), Column::new(300), Plane::Load);
        raster.mark((399, 399), Column::new(831), Plane::Store);
        let patches = Patches::of(&[Panel::full(AREA, &raster)]);
        let sizes = patches
            .accesses
            .iter()
            .map(|patch| (patch.area.width, patch.area.height));
        assert_eq!(sizes.collect::<Vec<_>>(), [(2, 2), (2, 2)]);
        assert_eq!(tint_at(&patches, 310, 20 + 400 - 1 - 100), Some(Tint::Load));
        assert_eq!(tint_at(&patches, 10 + 831, 20), Some(Tint::Store));
    }

    #[test]
    fn a_cell_shows_the_most_telling_access() {
        let mut raster = raster(4, 4);
        let all: [(usize, &[Plane], Option<Tint>); 4] = [
            (0, &[Plane::InUse], Some(Tint::InUse)),
            (1, &[Plane::InUse, Plane::Load], Some(Tint::Load)),
            (2, &[Plane::Store, Plane::Load], Some(Tint::LoadAndStore)),
            (3, &[Plane::Load, Plane::Update], Some(Tint::Update)),
        ];
        for (column, planes, _) in all {
            for &plane in planes {
                raster.mark((1, 1), Column::new(column), plane);
            }
        }
        let patches = Patches::of(&[Panel::full(AREA, &raster)]);
        for (column, _, tint) in all {
            let x = 10 + 208 * column as i32 + 100;
            assert_eq!(tint_at(&patches, x, 20 + 250), tint, "column {column}");
            assert_eq!(tint_at(&patches, x, 20 + 350), None, "below");
        }
    }

    #[test]
    fn noise_of_any_density_stays_within_the_limit() {
        let mut random = 1_u64;
        for share in [2, 7, 50, 1000] {
            let mut raster = raster(MAX_COLUMNS, MAX_ROWS);
            for row in 0..raster.rows() {
                for column in 0..raster.columns() {
                    for plane in Plane::ALL {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        if (random >> 33).is_multiple_of(share) {
                            raster.mark((row, row), Column::new(column), plane);
                        }
                    }
                }
            }
            let panel = Panel::full(AREA, &raster);
            let patches = Patches::of(&[panel.clone(), panel]);
            let count = patches.in_use.len() + patches.accesses.len();
            assert!(count <= MAX_PATCHES, "{count} for one in {share}");
            assert!(count > 100);
        }
    }

    #[test]
    fn merged_rectangles_neither_overlap_nor_miss_a_cell() {
        let mut raster = raster(MAX_COLUMNS, MAX_ROWS);
        for step in 0..400 {
            raster.fill((step, step), (step, 2 * step), Plane::InUse);
        }
        let patches = Patches::of(&[Panel::full(AREA, &raster)]);
        let covered: i32 = patches
            .in_use
            .iter()
            .map(|patch| patch.area.width * patch.area.height)
            .sum();
        assert_eq!(covered, (0..400).map(|step| step + 1).sum::<i32>());
    }
}
