//! What all pictures have in common: title, legend, axes, panels.

use super::axis::{ticks, time_tick};
use super::paint::{Patch, Tint};
use super::raster::MAX_COLUMNS;
use super::sheet::{Area, Colour, Drawn, Sheet, Type};
use super::text::{shorten, width};
use dmo_analysis::wording::grouped;

/// Left of the panels: room for addresses.
pub(super) const LEFT: i32 = 100;
/// Right of the panels: room for half a tick label.
pub(super) const RIGHT: i32 = 44;
/// A pixel for each column of a raster.
pub(super) const PANEL_WIDTH: i32 = MAX_COLUMNS as i32;
/// Above the panels: room for title and legend.
pub(super) const HEADER: i32 = 66;
/// Below the panels: room for the time axis.
pub(super) const FOOTER: i32 = 52;
/// Height of a panel's heading.
pub(super) const HEADING: i32 = 20;

/// A panel of the usual width.
pub(super) const fn panel(y: i32, height: i32) -> Area {
    Area {
        x: LEFT,
        y,
        width: PANEL_WIDTH,
        height,
    }
}

const TITLE: Type = Type::left(15.0);
/// The size of everything that is not a title or a tick.
pub(super) const BODY: f64 = 12.0;
const TICK: f64 = 11.0;

/// How something looks in the picture.
#[derive(Debug, Clone, Copy)]
pub(super) enum Swatch {
    Plain(Colour),
    Hatched(Colour),
}

impl From<Colour> for Swatch {
    fn from(colour: Colour) -> Self {
        Self::Plain(colour)
    }
}

/// A line of the legend.
pub(super) type Key = (Swatch, &'static str);

pub(super) const fn key(tint: Tint, label: &'static str) -> Key {
    (Swatch::Plain(tint.colour()), label)
}

/// Title, and below it the legend and, right of it as far as there is room, `facts`.
pub(super) fn header(
    sheet: &mut Sheet<'_>,
    title: &str,
    legend: &[Key],
    facts: &str,
    right: i32,
) -> Drawn {
    let title = shorten(title, TITLE.size, f64::from(right - LEFT));
    sheet.text(&title, (LEFT, 20), TITLE)?;
    let (mut x, y) = (LEFT, 45);
    for &(swatch, label) in legend {
        let area = Area {
            x,
            y: y - 6,
            width: 12,
            height: 12,
        };
        match swatch {
            Swatch::Plain(colour) => sheet.fill(area, colour)?,
            Swatch::Hatched(colour) => {
                for diagonal in (4..24).step_by(4) {
                    let (near, far) = ((diagonal - 12).max(0), diagonal.min(12));
                    let (from, to) = ((x + near, area.y + far), (x + far, area.y + near));
                    sheet.line(from, to, colour, 1.0)?;
                }
            }
        }
        sheet.text(label, (x + 17, y), Type::left(BODY))?;
        x += 17 + width(label, BODY).ceil() as i32 + 16;
    }
    let room = f64::from(right - x - 10);
    if room > 60.0 {
        let set = Type::right(BODY).colour(Colour::FAINT);
        sheet.text(&shorten(facts, BODY, room), (right, y), set)?;
    }
    Ok(())
}

/// Ticks and name of the time axis under the lowest panel.
pub(super) fn time_axis(
    sheet: &mut Sheet<'_>,
    panel: Area,
    begin: u64,
    extent: u64,
    name: &str,
) -> Drawn {
    let first = begin;
    let last = begin.saturating_add(extent);
    // Multiples of a step, also where the axis does not begin at 0.
    let candidates = ticks(extent, panel.width, 110);
    let step = candidates.get(1).copied().unwrap_or(extent.max(1));
    for time in (first.div_ceil(step)..=last / step).map(|index| index * step) {
        let part = (time - first) as f64 / extent as f64;
        let x = panel.x + (part * f64::from(panel.width)).round() as i32;
        let mark = (x, panel.bottom());
        sheet.line(mark, (x, panel.bottom() + 5), Colour::FRAME, 1.0)?;
        let at = (x, panel.bottom() + 14);
        sheet.text(&time_tick(time, last), at, Type::centred(TICK))?;
    }
    let at = (panel.x + panel.width / 2, panel.bottom() + 35);
    sheet.text(name, at, Type::centred(BODY))
}

/// A mark and its label at the left of a panel.
pub(super) fn tick(sheet: &mut Sheet<'_>, panel: Area, y: i32, label: &str) -> Drawn {
    sheet.line((panel.x - 5, y), (panel.x, y), Colour::FRAME, 1.0)?;
    sheet.text(label, (panel.x - 8, y), Type::right(TICK))
}

/// Grid lines on a panel whose upper edge is `extent`, at least `distance` pixels apart, with
/// their numbers.
pub(super) fn grid(sheet: &mut Sheet<'_>, panel: Area, extent: u64, distance: i32) -> Drawn {
    for value in ticks(extent, panel.height, distance) {
        let y = y_of(panel, value as f64, extent);
        sheet.line((panel.x, y), (panel.right(), y), Colour::GRID, 1.0)?;
        tick(sheet, panel, y, &grouped(value))?;
    }
    Ok(())
}

/// The name of the vertical axis, at the left edge of the sheet.
pub(super) fn vertical_name(sheet: &mut Sheet<'_>, top: i32, bottom: i32, name: &str) -> Drawn {
    let name = shorten(name, BODY, f64::from(bottom - top).max(40.0));
    let at = (12, (top + bottom) / 2);
    sheet.text(&name, at, Type::centred(BODY).turned())
}

/// A heading whose name gives way, never the facts after it.
pub(super) fn heading(sheet: &mut Sheet<'_>, panel: Area, name: &str, facts: &str) -> Drawn {
    let room = f64::from(panel.width) - width(facts, BODY);
    let text = format!("{}{facts}", shorten(name, BODY, room));
    let text = shorten(&text, BODY, f64::from(panel.width));
    sheet.text(
        &text,
        (panel.x, panel.y - HEADING / 2 + 1),
        Type::left(BODY),
    )
}

pub(super) fn patches(sheet: &mut Sheet<'_>, patches: &[Patch]) -> Drawn {
    patches
        .iter()
        .try_for_each(|patch| sheet.fill(patch.area, patch.tint.colour()))
}

/// A remark in the middle of an empty panel.
pub(super) fn remark(sheet: &mut Sheet<'_>, panel: Area, text: &str) -> Drawn {
    let middle = (panel.x + panel.width / 2, panel.y + panel.height / 2);
    sheet.plaque(text, middle, Type::centred(BODY).colour(Colour::FAINT))
}

/// The pixel of `value` on a panel whose lower edge is 0 and upper edge is `extent`.
pub(super) fn y_of(panel: Area, value: f64, extent: u64) -> i32 {
    let part = value / extent.max(1) as f64;
    panel.bottom() - (part * f64::from(panel.height)).round() as i32
}
