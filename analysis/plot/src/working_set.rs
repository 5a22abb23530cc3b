//! What is in memory in each step of an order (in the manner of Liberis and Lane,
//! appendix A).

use super::chart;
use super::name::file_part;
use super::paint::Tint;
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::step_names::{Column, StepNames};
use super::text::width;
use super::{DrawError, Figure};
use dmo_analysis::graph::{Graph, TensorId};
use dmo_analysis::schedule::lifetime::WorkingSet;
use dmo_analysis::wording::{bytes, counted};
use std::ops::Range;

const HEIGHT: i32 = 420;
const LEAST_BAR: i32 = 2;
/// Bars narrower than this have no stripes for their tensors.
const LEAST_STRIPED_BAR: i32 = 8;
/// Thinner stripes join the next of their kind, so that a picture stays small.
const LEAST_STRIPE: i32 = 6;
const NUMBER_SIZE: f64 = 11.0;

/// A bar for each step, stacked by tensor (their numbers where there is room); those of
/// the peak have a frame. Of more steps
/// than there is room for, neighbours share a bar: that of the largest of them.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_working_sets(graph: &Graph, sets: &[WorkingSet]) -> Result<Figure, DrawError> {
    let peak = sets.iter().map(|set| set.bytes).max().unwrap_or(0);
    let panel = chart::panel(chart::HEADER, HEIGHT);
    let bars = bars(sets, panel);
    let names = names(graph, &bars);
    let size = (
        panel.right() + chart::RIGHT,
        panel.bottom() + names.height + 30,
    );
    let svg = draw_sheet(size, |sheet| {
        let title = format!("{}: memory in each step, without overlaps", graph.name);
        let facts = format!(
            "{}, peak {}",
            counted(sets.len() as u64, "operator", "operators"),
            bytes(peak)
        );
        let any_scratch = sets.iter().any(|set| set.scratch_bytes > 0);
        let shown = TensorRole::ALL
            .iter()
            .filter(|&&part| part != TensorRole::Scratch || any_scratch);
        let legend: Vec<chart::Key> = shown
            .map(|part| (part.colour().into(), part.name()))
            .collect();
        chart::header(sheet, &title, &legend, &facts, panel.right())?;
        let extent = peak.saturating_add(peak / 12).max(1);
        chart::grid(sheet, panel, extent, 34)?;
        for bar in &bars {
            draw_bar(sheet, graph, panel, bar, extent)?;
        }
        let y = chart::y_of(panel, peak as f64, extent);
        sheet.dashes((panel.x, panel.right()), y, Colour::BAND)?;
        let framed = |bar: &&Bar<'_>| bar.set.bytes == peak && bar.area(0, 0).width >= 4;
        for bar in bars.iter().filter(framed) {
            sheet.frame(bar.area(y, panel.bottom()), Colour::INK)?;
        }
        sheet.frame(panel, Colour::FRAME)?;
        if sets.is_empty() {
            chart::remark(sheet, panel, "no operator runs")?;
        }
        names.draw(sheet, panel.bottom() + 6)?;
        let middle = (panel.x + panel.width / 2, size.1 - 14);
        sheet.text(
            "operator, in the order of execution",
            middle,
            Type::centred(chart::BODY),
        )?;
        chart::vertical_name(sheet, panel.y, panel.bottom(), "bytes")
    })?;
    Ok(Figure {
        name: format!("working-sets-{}", file_part(&graph.name, 40)),
        svg,
    })
}

/// A step, or the largest of several, between two vertical edges.
struct Bar<'a> {
    set: &'a WorkingSet,
    pixels: Range<i32>,
}

impl Bar<'_> {
    fn area(&self, top: i32, bottom: i32) -> Area {
        Area {
            x: self.pixels.start,
            y: top,
            width: self.pixels.end - self.pixels.start,
            height: bottom - top,
        }
    }

    fn middle(&self) -> i32 {
        (self.pixels.start + self.pixels.end) / 2
    }
}

fn bars(sets: &[WorkingSet], panel: Area) -> Vec<Bar<'_>> {
    let most = (panel.width / LEAST_BAR).unsigned_abs() as usize;
    let count = sets.len().min(most);
    let bar = |index: usize| {
        let steps = index * sets.len() / count..(index + 1) * sets.len() / count;
        let set = sets.get(steps)?.iter().max_by_key(|set| set.bytes)?;
        let edge = |index: usize| {
            let part = index as f64 / count as f64;
            panel.x + (part * f64::from(panel.width)).round() as i32
        };
        let (left, right) = (edge(index), edge(index + 1));
        let gap = (right - left) / 6;
        let pixels = left + gap / 2..right - (gap - gap / 2);
        Some(Bar { set, pixels })
    };
    (0..count).filter_map(bar).collect()
}

/// The role of a tensor for the operator that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TensorRole {
    Held,
    Input,
    Output,
    Scratch,
}

impl TensorRole {
    const ALL: [Self; 4] = [Self::Held, Self::Input, Self::Output, Self::Scratch];

    const fn name(self) -> &'static str {
        match self {
            Self::Held => "kept for later",
            Self::Input => "input",
            Self::Output => "output",
            Self::Scratch => "scratch",
        }
    }

    const fn colour(self) -> Colour {
        match self {
            Self::Held => Tint::InUse.colour(),
            Self::Input => Tint::Load.colour(),
            Self::Output => Tint::Store.colour(),
            Self::Scratch => Tint::LoadAndStore.colour(),
        }
    }

    const fn ink(self) -> Colour {
        match self {
            Self::Held => Colour::INK,
            _ => Colour::WHITE,
        }
    }
}

fn draw_bar(
    sheet: &mut Sheet<'_>,
    graph: &Graph,
    panel: Area,
    bar: &Bar<'_>,
    extent: u64,
) -> Drawn {
    let striped = bar.pixels.end - bar.pixels.start >= LEAST_STRIPED_BAR;
    let stack = stack(graph, bar.set);
    let mut below: u64 = 0;
    let mut begin = panel.bottom();
    for (index, &(part, size, label)) in stack.iter().enumerate() {
        below = below.saturating_add(size);
        let end = chart::y_of(panel, below as f64, extent);
        let last = stack.get(index + 1).is_none_or(|&(next, ..)| next != part);
        if begin > end && (last || striped && begin - end >= LEAST_STRIPE) {
            let area = bar.area(end, begin);
            sheet.fill(area, part.colour())?;
            if striped && begin - end >= LEAST_STRIPE {
                sheet.line((area.x, end), (area.right(), end), Colour::WHITE, 1.0)?;
            }
            let label = label.map_or(String::new(), |tensor| tensor.0.to_string());
            if area.height >= 14 && width(&label, NUMBER_SIZE) + 4.0 <= f64::from(area.width) {
                let middle = (bar.middle(), (begin + end) / 2);
                sheet.text(
                    &label,
                    middle,
                    Type::centred(NUMBER_SIZE).colour(part.ink()),
                )?;
            }
            begin = end;
        }
    }
    Ok(())
}

/// Sizes from below: what is kept, inputs, outputs, scratch.
fn stack(graph: &Graph, set: &WorkingSet) -> Vec<(TensorRole, u64, Option<TensorId>)> {
    let node = graph.operators.get(set.operator.0);
    let part = |id: &TensorId| match node {
        Some(node) if node.outputs.contains(id) => TensorRole::Output,
        Some(node) if node.inputs.contains(id) => TensorRole::Input,
        _ => TensorRole::Held,
    };
    let mut stack = Vec::new();
    for wanted in TensorRole::ALL {
        for &id in set.tensors.iter().filter(|id| part(id) == wanted) {
            let size = graph
                .tensors
                .get(id.0)
                .map_or(0, |tensor| tensor.size_bytes);
            stack.push((wanted, size, Some(id)));
        }
    }
    stack.push((TensorRole::Scratch, set.scratch_bytes, None));
    stack
}

/// The name of each bar's operator, with its number.
fn names(graph: &Graph, bars: &[Bar<'_>]) -> StepNames {
    StepNames::of(bars.iter().map(|bar| {
        let operator = bar.set.operator;
        let node = graph.operators.get(operator.0);
        let kind = node.map_or("", |node| node.kind.name());
        Column {
            middle: bar.middle(),
            width: bar.pixels.end - bar.pixels.start,
            name: format!("{} {kind}", operator.0),
        }
    }))
}
