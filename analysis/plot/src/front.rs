//! What memory can be had for what work.

use super::chart;
use super::name::file_part;
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::text::width;
use super::{DrawError, Figure};
use crate::axis::ticks;
use dmo_analysis::transform::front::Point;
use dmo_analysis::wording::{bytes, grouped};

const HEIGHT: i32 = 420;
const LABEL_SIZE: f64 = 11.0;
const LINE: Colour = Colour::BAND;

/// The front of a model's arena against the multiply-accumulates that are computed again, in
/// percent of all `macs`: a step for each point, with its bytes where there is room.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_front(name: &str, points: &[Point], macs: u64) -> Result<Figure, DrawError> {
    let panel = chart::panel(chart::HEADER, HEIGHT);
    let size = (panel.right() + chart::RIGHT, panel.bottom() + chart::FOOTER);
    let svg = draw_sheet(size, |sheet| {
        let plain = points.first().map_or(0, |point| point.arena_bytes);
        let least = points.iter().map(|point| point.arena_bytes).min();
        let facts = format!("from {} to {}", bytes(plain), bytes(least.unwrap_or(0)));
        let title = format!("{name}: arena against recomputation");
        let legend = [(LINE.into(), "nothing found is better in both")];
        chart::header(sheet, &title, &legend, &facts, panel.right())?;
        let scale = Scale::new(panel, points, macs);
        scale.draw(sheet)?;
        draw_points(sheet, &scale, points)?;
        sheet.frame(panel, Colour::FRAME)?;
        if points.is_empty() {
            chart::remark(sheet, panel, "no plan was found")?;
        }
        let middle = (panel.x + panel.width / 2, panel.bottom() + 38);
        let axis = "multiply-accumulates computed again, percent of the model's";
        sheet.text(axis, middle, Type::centred(chart::BODY))?;
        chart::vertical_name(sheet, panel.y, panel.bottom(), "arena, bytes")
    })?;
    Ok(Figure {
        name: format!("front-{}", file_part(name, 40)),
        svg,
    })
}

/// Where bytes and work lie on the panel.
struct Scale {
    panel: Area,
    /// Of the vertical axis, from 0.
    bytes: u64,
    /// Of the horizontal axis, from 0, in hundredths of a percent.
    work: u64,
    macs: u64,
}

impl Scale {
    fn new(panel: Area, points: &[Point], macs: u64) -> Self {
        let most = points.iter().map(|point| point.arena_bytes).max();
        let most = most.unwrap_or(0);
        let mut scale = Self {
            panel,
            bytes: most.saturating_add(most / 10).max(1),
            work: 0,
            macs: macs.max(1),
        };
        let work = points.iter().map(|point| scale.hundredths(point));
        let work = work.max().unwrap_or(0);
        scale.work = (work + work / 12).max(100);
        scale
    }

    fn hundredths(&self, point: &Point) -> u64 {
        let share = u128::from(point.extra_macs) * 10_000 / u128::from(self.macs);
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    fn x(&self, hundredths: u64) -> i32 {
        let part = hundredths as f64 / self.work as f64;
        self.panel.x + (part * f64::from(self.panel.width)).round() as i32
    }

    fn at(&self, point: &Point) -> (i32, i32) {
        let y = chart::y_of(self.panel, point.arena_bytes as f64, self.bytes);
        (self.x(self.hundredths(point)), y)
    }

    fn draw(&self, sheet: &mut Sheet<'_>) -> Drawn {
        chart::grid(sheet, self.panel, self.bytes, 34)?;
        for tick in ticks(self.work, self.panel.width, 90) {
            let (x, bottom) = (self.x(tick), self.panel.bottom());
            sheet.line((x, self.panel.y), (x, bottom), Colour::GRID, 1.0)?;
            sheet.line((x, bottom), (x, bottom + 5), Colour::FRAME, 1.0)?;
            let label = format!("{} %", tick as f64 / 100.0);
            sheet.text(&label, (x, bottom + 15), Type::centred(LABEL_SIZE))?;
        }
        Ok(())
    }
}

/// From each point to the right the arena stays as it is, down to the next one.
fn draw_points(sheet: &mut Sheet<'_>, scale: &Scale, points: &[Point]) -> Drawn {
    let right = scale.panel.right();
    let places: Vec<(i32, i32)> = points.iter().map(|point| scale.at(point)).collect();
    for (index, &(x, y)) in places.iter().enumerate() {
        let next = places.get(index + 1);
        let end = next.map_or(right, |&(x, _)| x);
        sheet.line((x, y), (end, y), LINE, 2.0)?;
        if let Some(&(_, below)) = next {
            sheet.line((end, y), (end, below), LINE, 2.0)?;
        }
    }
    for &place in &places {
        sheet.ring(place, 4)?;
    }
    let mut taken: Vec<Area> = Vec::new();
    for (point, &(x, y)) in points.iter().zip(&places) {
        let label = grouped(point.arena_bytes);
        let area = Area {
            x: x + 6,
            y: y - 20,
            width: width(&label, LABEL_SIZE).ceil() as i32 + 4,
            height: 14,
        };
        let is_free = area.right() < right && taken.iter().all(|other| area.shared(other) == 0);
        if is_free {
            let at = (area.x, area.y + 7);
            sheet.text(&label, at, Type::left(LABEL_SIZE))?;
            taken.push(area);
        }
    }
    Ok(())
}
