//! What memory and flash the forms of a model take for what time.

use super::chart;
use super::name::file_part;
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::text::width;
use super::{DrawError, Figure};
use crate::axis::ticks;
use dmo_analysis::wording::grouped;

const RAM_HEIGHT: i32 = 330;
const FLASH_HEIGHT: i32 = 150;
const LABEL_SIZE: f64 = 11.0;

/// A form of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormPoint {
    /// RAM in bytes.
    pub ram_bytes: u64,
    /// Flash in bytes.
    pub flash_bytes: u64,
    /// What an inference takes, in the unit of the picture.
    pub time: u64,
    /// No other form beats it.
    pub is_best: bool,
    /// It is the one that was taken.
    pub is_chosen: bool,
}

/// All forms of a model: RAM above, flash below, against what an inference takes in `unit`. Those
/// that none beats are rings, with a step from each to the next one that takes less RAM.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_forms(name: &str, points: &[FormPoint], unit: &str) -> Result<Figure, DrawError> {
    let ram = chart::panel(chart::HEADER + chart::HEADING, RAM_HEIGHT);
    let flash = chart::panel(ram.bottom() + 2 * chart::HEADING, FLASH_HEIGHT);
    let size = (ram.right() + chart::RIGHT, flash.bottom() + chart::FOOTER);
    let svg = draw_sheet(size, |sheet| {
        let title = format!("{name}: memory against time");
        let legend = [
            (Colour::INK.into(), "none beats it"),
            (
                Colour::FRAME.into(),
                "another form is better or equal in all",
            ),
            (Colour::BAND.into(), "chosen"),
        ];
        let facts = format!("{} forms", grouped(points.len() as u64));
        chart::header(sheet, &title, &legend, &facts, ram.right())?;
        let time = TimeAxis::of(points);
        chart::heading(sheet, ram, "RAM", ": arena and stack")?;
        let bytes = |point: &FormPoint| point.ram_bytes;
        Panel::new(ram, time, points, bytes).draw(sheet, true)?;
        chart::heading(
            sheet,
            flash,
            "Flash",
            ": weights, tables and code, estimated",
        )?;
        let bytes = |point: &FormPoint| point.flash_bytes;
        Panel::new(flash, time, points, bytes).draw(sheet, false)?;
        if points.is_empty() {
            chart::remark(sheet, ram, "no form was found")?;
        }
        let axis = format!("{unit} of an inference");
        time.draw(sheet, flash)?;
        let middle = (flash.x + flash.width / 2, flash.bottom() + 38);
        sheet.text(&axis, middle, Type::centred(chart::BODY))?;
        chart::vertical_name(sheet, ram.y, flash.bottom(), "bytes")
    })?;
    Ok(Figure {
        name: format!("forms-{}", file_part(name, 40)),
        svg,
    })
}

/// The part of the time axis that forms lie on.
#[derive(Clone, Copy)]
struct TimeAxis {
    begin: u64,
    extent: u64,
}

impl TimeAxis {
    /// With some room at both ends.
    fn of(points: &[FormPoint]) -> Self {
        let times = points.iter().map(|point| point.time);
        let (least, most) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
        let room = ((most - least) / 12).max(most / 100).max(1);
        let begin = least.saturating_sub(room);
        Self {
            begin,
            extent: most.saturating_add(room) - begin,
        }
    }

    /// Ticks with all their digits: forms may lie close together.
    fn draw(&self, sheet: &mut Sheet<'_>, panel: Area) -> Drawn {
        let step = ticks(self.extent, panel.width, 110);
        let step = step.get(1).copied().unwrap_or(self.extent.max(1));
        let last = self.begin.saturating_add(self.extent);
        for time in (self.begin.div_ceil(step)..=last / step).map(|index| index * step) {
            let (x, bottom) = (self.x(time, panel), panel.bottom());
            sheet.line((x, bottom), (x, bottom + 5), Colour::FRAME, 1.0)?;
            sheet.text(&grouped(time), (x, bottom + 15), Type::centred(LABEL_SIZE))?;
        }
        Ok(())
    }

    fn x(&self, time: u64, panel: Area) -> i32 {
        let part = (time - self.begin) as f64 / self.extent as f64;
        panel.x + (part * f64::from(panel.width)).round() as i32
    }
}

/// One measure of the forms.
struct Panel<'a> {
    area: Area,
    time: TimeAxis,
    points: &'a [FormPoint],
    bytes: fn(&FormPoint) -> u64,
    /// Of the vertical axis, from 0.
    extent: u64,
}

impl<'a> Panel<'a> {
    fn new(
        area: Area,
        time: TimeAxis,
        points: &'a [FormPoint],
        bytes: fn(&FormPoint) -> u64,
    ) -> Self {
        let most = points.iter().map(bytes).max().unwrap_or(0);
        Self {
            area,
            time,
            points,
            bytes,
            extent: most.saturating_add(most / 8).max(1),
        }
    }

    fn at(&self, point: &FormPoint) -> (i32, i32) {
        let x = self.time.x(point.time, self.area);
        (
            x,
            chart::y_of(self.area, (self.bytes)(point) as f64, self.extent),
        )
    }

    fn draw(&self, sheet: &mut Sheet<'_>, with_stairs: bool) -> Drawn {
        chart::grid(sheet, self.area, self.extent, 34)?;
        if with_stairs {
            self.draw_stairs(sheet)?;
        }
        for point in self.points.iter().filter(|point| !point.is_best) {
            let (x, y) = self.at(point);
            let dot = Area {
                x: x - 2,
                y: y - 2,
                width: 5,
                height: 5,
            };
            sheet.fill(dot, Colour::FRAME)?;
        }
        for point in self.points.iter().filter(|point| point.is_best) {
            let place = self.at(point);
            if point.is_chosen {
                let (x, y) = place;
                sheet.fill(
                    Area {
                        x: x - 4,
                        y: y - 4,
                        width: 9,
                        height: 9,
                    },
                    Colour::BAND,
                )?;
            }
            sheet.ring(place, if point.is_chosen { 7 } else { 4 })?;
        }
        self.draw_labels(sheet)?;
        sheet.frame(self.area, Colour::FRAME)
    }

    /// From each form to the right as far as the next one that takes less, then down.
    fn draw_stairs(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let mut points: Vec<&FormPoint> = self.points.iter().collect();
        points.sort_by_key(|point| (point.time, (self.bytes)(point)));
        let mut last: Option<&FormPoint> = None;
        for point in points {
            if last.is_some_and(|last| (self.bytes)(point) >= (self.bytes)(last)) {
                continue;
            }
            if let Some(last) = last {
                let ((x, y), (end, below)) = (self.at(last), self.at(point));
                sheet.line((x, y), (end, y), Colour::INK, 2.0)?;
                sheet.line((end, y), (end, below), Colour::INK, 2.0)?;
            }
            last = Some(point);
        }
        let Some(last) = last else { return Ok(()) };
        let (x, y) = self.at(last);
        sheet.line((x, y), (self.area.right(), y), Colour::INK, 2.0)
    }

    /// The bytes of the forms that none beats, where there is room.
    fn draw_labels(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let mut best: Vec<&FormPoint> = self.points.iter().filter(|point| point.is_best).collect();
        best.sort_by_key(|point| (!point.is_chosen, point.time));
        let mut taken: Vec<Area> = Vec::new();
        for point in best {
            let (x, y) = self.at(point);
            let label = grouped((self.bytes)(point));
            let area = Area {
                x: x + 8,
                y: y - 21,
                width: width(&label, LABEL_SIZE).ceil() as i32 + 4,
                height: 14,
            };
            let is_free = area.right() < self.area.right()
                && area.y > self.area.y
                && taken.iter().all(|other| area.shared(other) == 0);
            if is_free {
                sheet.text(&label, (area.x, area.y + 7), Type::left(LABEL_SIZE))?;
                taken.push(area);
            }
        }
        Ok(())
    }
}
