//! The whole program: all buffers' memory over all layers (Blacker et al., figure 2).

use super::axis::{address_ticks, bytes, counted};
use super::canvas::{Region, Window};
use super::chart;
use super::layer::legend;
use super::name::role_name;
use super::paint::{Panel, Patches};
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::text::{shorten, width};
use super::{DrawError, Figure, Subject};
use crate::profile::{LayerProfile, Profile};
use crate::trace::Role;

const ALL_PANELS_HEIGHT: i32 = 480;
const LEAST_HEIGHT: i32 = 60;
/// Layer names on top: their size, and how long they may be when turned.
const NAME_SIZE: f64 = 11.0;
const NAME_LENGTH: i32 = 110;

pub(super) fn draw(subject: &Subject<'_>) -> Result<Vec<Figure>, DrawError> {
    let svg = picture(subject)?;
    Ok(vec![Figure {
        name: "arena".to_owned(),
        svg,
    }])
}

fn picture(subject: &Subject<'_>) -> Result<String, DrawError> {
    let canvas = subject.canvas;
    let profile = canvas.profile();
    let spans = Spans::of(profile, canvas.program_window());
    let areas = stack(canvas.regions(), chart::HEADER + spans.names_height());
    let panels: Vec<Panel> = canvas
        .regions()
        .iter()
        .zip(&areas)
        .map(|(region, &area)| Panel::full(area, &region.raster))
        .collect();
    let patches = Patches::of(&panels);
    let empty = Area {
        x: chart::LEFT,
        y: chart::HEADER + chart::HEADING,
        width: chart::PANEL_WIDTH,
        height: LEAST_HEIGHT,
    };
    // Regions ascend, and so do the panels: the first is the lowest.
    let lowest = areas.first().copied().unwrap_or(empty);
    let top = areas.last().copied().unwrap_or(empty).y;
    let size = (
        chart::LEFT + chart::PANEL_WIDTH + chart::RIGHT,
        lowest.bottom() + chart::FOOTER,
    );
    draw_sheet(size, |sheet| {
        let title = format!(
            "{}: memory of the tensors on {}",
            subject.program.name, subject.program.cpu
        );
        let sum = |count: fn(&LayerProfile) -> u64| profile.layers.iter().map(count).sum();
        let facts = format!(
            "{}, {}, {}",
            counted(profile.layers.len() as u64, "layer", "layers"),
            counted(sum(LayerProfile::loads), "load", "loads"),
            counted(sum(LayerProfile::stores), "store", "stores"),
        );
        chart::header(sheet, &title, &legend(&patches), &facts, lowest.right())?;
        for (region, &area) in canvas.regions().iter().zip(&areas) {
            ground(sheet, area, region, profile)?;
        }
        chart::patches(sheet, &patches.in_use)?;
        chart::patches(sheet, &patches.accesses)?;
        for &area in &areas {
            spans.lines(sheet, area)?;
            sheet.frame(area, Colour::FRAME)?;
        }
        if areas.is_empty() {
            chart::remark(sheet, lowest, "no layer has a tensor")?;
        } else {
            spans.names(sheet, top - chart::HEADING - 4)?;
        }
        let window = canvas.program_window();
        let name = "time since the program began [executed instructions]";
        chart::time_axis(sheet, lowest, window.begin(), window.length(), name)?;
        chart::vertical_name(sheet, top, lowest.bottom(), "address")
    })
}

/// Places the panels, the highest addresses on top.
fn stack(regions: &[Region], top: i32) -> Vec<Area> {
    let weight = |region: &Region| ((region.end - region.first_byte) as f64).sqrt();
    let all: f64 = regions.iter().map(weight).sum();
    let spare = (ALL_PANELS_HEIGHT - LEAST_HEIGHT * regions.len() as i32).max(0);
    let mut y = top;
    let mut areas: Vec<Area> = regions
        .iter()
        .rev()
        .map(|region| {
            let area = Area {
                x: chart::LEFT,
                y: y + chart::HEADING,
                width: chart::PANEL_WIDTH,
                height: LEAST_HEIGHT + (f64::from(spare) * weight(region) / all) as i32,
            };
            y = area.bottom() + 6;
            area
        })
        .collect();
    areas.reverse();
    areas
}

/// Heading, ticks and grid lines of a region's panel.
fn ground(sheet: &mut Sheet<'_>, area: Area, region: &Region, profile: &Profile) -> Drawn {
    let mut roles: Vec<&str> = Vec::new();
    for role in [
        Role::Input,
        Role::Output,
        Role::Scratch,
        Role::Constant,
        Role::State,
    ] {
        let mut tensors = profile.layers.iter().flat_map(|layer| &layer.tensors);
        if tensors.any(|profile| profile.tensor.role == role && region.contains(&profile.tensor)) {
            roles.push(role_name(role));
        }
    }
    let (first, end) = (region.first_byte, region.end);
    let range = format!("{first:#010x} to {:#010x}", end - 1);
    let facts = format!(": {} of {}", bytes(end - first), roles.join(", "));
    chart::heading(sheet, area, &range, &facts)?;
    for address in address_ticks((first, end), area.height, 34) {
        let y = chart::y_of(area, (address - first) as f64, end - first);
        sheet.line((area.x, y), (area.right(), y), Colour::GRID, 1.0)?;
        chart::tick(sheet, area, y, &format!("{address:#010x}"))?;
    }
    Ok(())
}

/// A layer on the time axis, in pixels.
struct Span {
    left: i32,
    right: i32,
    name: String,
    name_width: i32,
}

impl Span {
    fn middle(&self) -> i32 {
        (self.left + self.right) / 2
    }

    /// Where its name is, set upright.
    fn name_bounds(&self) -> (i32, i32) {
        let left = self.middle() - self.name_width / 2;
        (left, left + self.name_width)
    }
}

/// Where the layers lie.
struct Spans {
    layers: Vec<Span>,
    /// All names fit side by side; else they are turned.
    upright: bool,
}

impl Spans {
    fn of(profile: &Profile, window: &Window) -> Self {
        let pixel = |time: u64| {
            let part = time.saturating_sub(window.begin()) as f64 / window.length() as f64;
            chart::LEFT + (part * f64::from(chart::PANEL_WIDTH)).round() as i32
        };
        let layers: Vec<Span> = (1..)
            .zip(&profile.layers)
            .map(|(number, layer)| {
                let name = format!("{number} {}", layer.name);
                let name = shorten(&name, NAME_SIZE, f64::from(NAME_LENGTH));
                Span {
                    left: pixel(layer.begin),
                    right: pixel(layer.end),
                    name_width: width(&name, NAME_SIZE).ceil() as i32,
                    name: name.into_owned(),
                }
            })
            .collect();
        let limits = (chart::LEFT, chart::LEFT + chart::PANEL_WIDTH + chart::RIGHT);
        let inside = layers.iter().map(Span::name_bounds);
        let upright = inside
            .clone()
            .all(|(left, right)| left >= limits.0 && right <= limits.1)
            && inside
                .clone()
                .zip(inside.skip(1))
                .all(|(a, b)| a.1 + 10 <= b.0);
        Self { layers, upright }
    }

    fn names_height(&self) -> i32 {
        if self.upright {
            return 18;
        }
        let widths = self.layers.iter().map(|layer| layer.name_width);
        widths.max().unwrap_or_default() + 8
    }

    /// A thin line where a layer begins or ends, unless the lines would be a surface.
    fn lines(&self, sheet: &mut Sheet<'_>, area: Area) -> Drawn {
        let edges = self.layers.iter().flat_map(|span| [span.left, span.right]);
        let mut edges: Vec<i32> = edges.collect();
        edges.sort_unstable();
        let opacity = if edges.len() > 80 { 0.2 } else { 0.45 };
        let mut last = area.x;
        for x in edges {
            if x >= last + 4 && x <= area.right() - 4 {
                sheet.line((x, area.y), (x, area.bottom()), Colour::INK, opacity)?;
                last = x;
            }
        }
        Ok(())
    }

    /// The layers' names above the panels. Where there is no room for all, the longest
    /// layers keep theirs.
    fn names(&self, sheet: &mut Sheet<'_>, bottom: i32) -> Drawn {
        let mut by_length: Vec<&Span> = self.layers.iter().collect();
        by_length.sort_by_key(|span| span.left - span.right);
        let mut taken: Vec<i32> = Vec::new();
        for span in by_length {
            let x = span.middle();
            if self.upright {
                sheet.text(&span.name, (x, bottom - 4), Type::centred(NAME_SIZE))?;
            } else if taken.iter().all(|other| (other - x).abs() >= 14) {
                let set = Type::left(NAME_SIZE).turned();
                sheet.text(&span.name, (x, bottom + 2), set)?;
                taken.push(x);
            }
        }
        Ok(())
    }
}
