//! Where the buffers of a plan lie, step by step (in the manner of Blacker et al.,
//! figures 1 and 9).

mod label;
mod list;
mod panel;
mod scale;
mod shared;

use super::chart::{self, Key, Swatch};
use super::name::file_part;
use super::sheet::{Area, Type, draw as draw_sheet};
use super::{DrawError, Figure};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::wording::{bytes, counted};
use dmo_planner::plan::Plan;
use dmo_planner::problem::Problem;
use list::List;
use panel::{HATCH, ORDINARY, PEAK, Panel};
use scale::Scale;

const HEIGHT: i32 = 520;
/// Of one of two panels.
const HALF_WIDTH: i32 = 510;
const GAP: i32 = 36;
/// Below the names of the steps.
const FOOTER: i32 = 34;

/// What a picture of a plan shows.
#[derive(Debug, Clone, Copy)]
pub struct PlanPicture<'a> {
    /// What is planned and how; the figure's name is made of it.
    pub title: &'a str,
    /// The buffers, with their names.
    pub problem: &'a Problem,
    /// Their offsets. Buffers without one are left out.
    pub plan: &'a Plan,
    /// What runs in each step, from step 0 on ([`step_names`]), each beginning with a word that tells
    /// it from others, such as `3 CONV_2D`. Steps beyond have only their number.
    pub steps: &'a [String],
}

impl PlanPicture<'_> {
    /// The highest end of a buffer, also of plans that no check has seen.
    fn arena_bytes(&self) -> u64 {
        let buffers = self.problem.buffers().iter().zip(&self.plan.offsets);
        let ends = buffers.map(|(buffer, offset)| offset.saturating_add(buffer.size_bytes));
        ends.max().unwrap_or(0)
    }

    fn first_step(&self) -> Option<u32> {
        let buffers = self.problem.buffers().iter();
        buffers.map(|buffer| buffer.alive.start).min()
    }
}

/// The names of an [`Arena`](dmo_analysis::arena::Arena)'s steps: in step 0 the application stores
/// the inputs, and in each other one an operator runs, which keeps its number in the graph.
pub fn step_names(graph: &Graph, order: &[OperatorId]) -> Vec<String> {
    let names = order.iter().map(|operator| {
        let number = operator.0;
        let node = graph.operators.get(number);
        node.map_or(number.to_string(), |node| format!("{number} {}", node.kind))
    });
    std::iter::once("inputs".to_owned()).chain(names).collect()
}

/// Offset against step: each buffer a rectangle over the steps in which it is alive, hatched
/// where two of them have the same memory in the same step. Names that do not fit are
/// listed below.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_plan(picture: &PlanPicture<'_>) -> Result<Figure, DrawError> {
    let area = chart::panel(chart::HEADER, HEIGHT);
    let panel = Panel::new(*picture, scale(area, &[picture]), true);
    let list = List::of(picture, &panel);
    let list_top = area.bottom() + panel.names.height + FOOTER;
    let size = (area.right() + chart::RIGHT, list_top + list.height());
    let svg = draw_sheet(size, |sheet| {
        let facts = format!(
            "{}, {}, arena {}",
            counted(panel.blocks.len() as u64, "buffer", "buffers"),
            counted(u64::from(picture.problem.steps()), "step", "steps"),
            bytes(picture.arena_bytes()),
        );
        let legend = legend(&[&panel]);
        chart::header(sheet, picture.title, &legend, &facts, area.right())?;
        panel.draw(sheet, None)?;
        panel.offsets(sheet)?;
        let at = (area.x + area.width / 2, list_top - 18);
        sheet.text(panel.axis_name(), at, Type::centred(chart::BODY))?;
        list.draw(sheet, list_top)
    })?;
    Ok(Figure {
        name: format!("plan-{}", file_part(picture.title, 60)),
        svg,
    })
}

/// Two plans on the same scale, and what the second one saves.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_plans(
    title: &str,
    before: &PlanPicture<'_>,
    after: &PlanPicture<'_>,
) -> Result<Figure, DrawError> {
    let scale = |index: i32| {
        let area = Area {
            x: chart::LEFT + index * (HALF_WIDTH + GAP),
            y: chart::HEADER + chart::HEADING,
            width: HALF_WIDTH,
            height: HEIGHT,
        };
        scale(area, &[before, after])
    };
    let left = Panel::new(*before, scale(0), false);
    let right = Panel::new(*after, scale(1), false);
    let names_height = left.names.height.max(right.names.height);
    let bottom = left.scale.panel.bottom() + names_height + FOOTER;
    let edge = right.scale.panel.right();
    let svg = draw_sheet((edge + chart::RIGHT, bottom), |sheet| {
        let facts = difference(before.arena_bytes(), after.arena_bytes());
        chart::header(sheet, title, &legend(&[&left, &right]), &facts, edge)?;
        for (panel, picture) in [(&left, before), (&right, after)] {
            let other = std::ptr::eq(panel, &right).then(|| before.arena_bytes());
            let arena = picture.arena_bytes();
            let saved = other.map_or(String::new(), |other| saving(other, arena));
            let facts = format!(": {}{saved}", bytes(arena));
            chart::heading(sheet, panel.scale.panel, picture.title, &facts)?;
            panel.draw(sheet, other)?;
            let area = panel.scale.panel;
            let at = (area.x + area.width / 2, bottom - 18);
            sheet.text(panel.axis_name(), at, Type::centred(chart::BODY))?;
        }
        left.offsets(sheet)
    })?;
    Ok(Figure {
        name: format!("plans-{}", file_part(title, 60)),
        svg,
    })
}

/// The scale that has room for all of the pictures, and for a label above the largest.
fn scale(panel: Area, pictures: &[&PlanPicture<'_>]) -> Scale {
    let arenas = pictures.iter().map(|picture| picture.arena_bytes());
    let arena = arenas.max().unwrap_or(0);
    let firsts = pictures.iter().filter_map(|picture| picture.first_step());
    let first = firsts.min().unwrap_or(0);
    let ends = pictures.iter().map(|picture| picture.problem.steps());
    let end = ends.max().unwrap_or(0);
    Scale {
        panel,
        steps: first..end.max(first.saturating_add(1)),
        bytes: arena.saturating_add(arena / 12).max(1),
    }
}

/// Of what is to be seen.
fn legend(panels: &[&Panel<'_>]) -> Vec<Key> {
    let shown = |peak: bool| {
        let mut blocks = panels.iter().flat_map(|panel| &panel.blocks);
        blocks.any(|block| block.peak == peak)
    };
    let hatched = panels.iter().any(|panel| panel.shared.is_anything());
    let keys: [(bool, Key); 3] = [
        (shown(true), (PEAK.into(), "buffer that makes the peak")),
        (shown(false), (ORDINARY.into(), "buffer")),
        (hatched, (Swatch::Hatched(HATCH), "overlap")),
    ];
    let keys = keys.into_iter().filter(|(shown, _)| *shown);
    keys.map(|(_, key)| key).collect()
}

/// By how much the second arena is smaller.
fn difference(before: u64, after: u64) -> String {
    if after <= before {
        format!("{} saved", bytes(before - after))
    } else {
        format!("{} more", bytes(after - before))
    }
}

/// The same in per cent, to follow the second arena's size.
pub(super) fn saving(before: u64, after: u64) -> String {
    let percent = 100.0 * before.abs_diff(after) as f64 / before.max(1) as f64;
    let word = if after <= before { "saved" } else { "more" };
    format!(", {percent:.1} % {word}")
}

#[cfg(test)]
mod tests {
    use super::{difference, saving};

    #[test]
    fn a_saving_is_told_either_way() {
        assert_eq!(saving(98_304, 65_536), ", 33.3 % saved");
        assert_eq!(difference(98_304, 65_536), "32,768 bytes saved");
        assert_eq!(saving(10, 11), ", 10.0 % more");
        assert_eq!(difference(10, 11), "1 byte more");
        assert_eq!(saving(0, 0), ", 0.0 % saved");
    }
}
