//! The whole program: all buffers' memory over all layers (Blacker et al., figure 2).

use super::axis::address_ticks;
use super::canvas::MemoryPanel;
use super::chart;
use super::layer::legend;
use super::name::role_name;
use super::paint::{Panel, Patches};
use super::sheet::{Area, Colour, Drawn, Sheet, draw as draw_sheet};
use super::spans::Spans;
use super::{DrawError, Figure, Subject};
use dmo_analysis::profile::{LayerProfile, Profile};
use dmo_analysis::trace::Role;
use dmo_analysis::wording::{bytes, counted};

const ALL_PANELS_HEIGHT: i32 = 480;
const LEAST_HEIGHT: i32 = 60;

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
    let spans = Spans::of(profile, canvas.program_window().length());
    let areas = stack(canvas.regions(), chart::HEADER + spans.names_height());
    let panels: Vec<Panel> = canvas
        .regions()
        .iter()
        .zip(&areas)
        .map(|(region, &area)| Panel::full(area, &region.raster))
        .collect();
    let patches = Patches::of(&panels);
    let empty = chart::panel(chart::HEADER + chart::HEADING, LEAST_HEIGHT);
    // Regions ascend, and so do the panels: the first is the lowest.
    let lowest = areas.first().copied().unwrap_or(empty);
    let top = areas.last().copied().unwrap_or(empty).y;
    let size = (
        lowest.right() + chart::RIGHT,
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
            spans.names(sheet, top - chart::HEADING - 2)?;
        }
        let window = canvas.program_window();
        let name = "time since the program began [executed instructions]";
        chart::time_axis(sheet, lowest, window.begin(), window.length(), name)?;
        chart::vertical_name(sheet, top, lowest.bottom(), "address")
    })
}

/// Places the panels, the highest addresses on top.
fn stack(regions: &[MemoryPanel], top: i32) -> Vec<Area> {
    let weight = |region: &MemoryPanel| ((region.end - region.first_byte) as f64).sqrt();
    let all: f64 = regions.iter().map(weight).sum();
    let spare = (ALL_PANELS_HEIGHT - LEAST_HEIGHT * regions.len() as i32).max(0);
    let mut y = top;
    let mut areas: Vec<Area> = regions
        .iter()
        .rev()
        .map(|region| {
            let height = LEAST_HEIGHT + (f64::from(spare) * weight(region) / all) as i32;
            let area = chart::panel(y + chart::HEADING, height);
            y = area.bottom() + 6;
            area
        })
        .collect();
    areas.reverse();
    areas
}

/// Heading, ticks and grid lines of a region's panel.
fn ground(sheet: &mut Sheet<'_>, area: Area, region: &MemoryPanel, profile: &Profile) -> Drawn {
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
