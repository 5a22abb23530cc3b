//! One plan on one panel.

use super::PlanPicture;
use super::label::{Content, Label};
use super::scale::Scale;
use super::shared::Shared;
use crate::axis::ticks;
use crate::chart;
use crate::sheet::{Area, Colour, Drawn, Sheet, Type};
use crate::step_names::{Column, DISTANCE, StepNames};
use crate::text::{shorten, shorten_middle, width};
use dmo_analysis::wording::{bytes, grouped};
use dmo_planner::plan::peak_buffers;

pub(super) const ORDINARY: Colour = Colour(0xe0, 0xe0, 0xe0);
pub(super) const PEAK: Colour = Colour(0xa6, 0xc8, 0xee);
pub(super) const HATCH: Colour = Colour(0xb0, 0x5f, 0x00);

/// Rectangles narrower than this have no outline, which would be all that is seen, but their
/// lower and upper edges.
const LEAST_OUTLINED: i32 = 4;
/// Between two step numbers without names, in pixels.
const NUMBER_DISTANCE: i32 = 48;
const LABEL_SIZE: f64 = 12.0;
/// Widest name of an offset.
const TICK_WIDTH: f64 = 82.0;

/// A buffer on the panel.
pub(super) struct Block {
    pub(super) buffer: usize,
    pub(super) area: Area,
    pub(super) peak: bool,
    pub(super) label: Option<Label>,
}

/// A plan, laid out on a panel.
pub(super) struct Panel<'a> {
    pub(super) scale: Scale,
    pub(super) blocks: Vec<Block>,
    pub(super) shared: Shared,
    pub(super) names: StepNames,
    picture: PlanPicture<'a>,
    /// The steps with a name or a number below them.
    named_steps: Vec<u32>,
}

impl<'a> Panel<'a> {
    /// With numbers for the buffers whose names do not fit, if there is a list of them.
    pub(super) fn new(picture: PlanPicture<'a>, scale: Scale, numbered: bool) -> Self {
        let PlanPicture { problem, plan, .. } = picture;
        let shared = Shared::of(problem, plan, &scale);
        let peak = peak_buffers(problem, plan);
        let placed = problem.buffers().iter().zip(&plan.offsets).enumerate();
        let block = |(index, (buffer, &offset)): (usize, (&dmo_planner::problem::Buffer, &u64))| {
            let end = offset.saturating_add(buffer.size_bytes);
            let area = scale.area(&buffer.alive, offset..end);
            let name = shorten_middle(&buffer.name, LABEL_SIZE, f64::from(scale.panel.width)).0;
            let content = Content {
                name: &name,
                size: bytes(buffer.size_bytes),
                number: numbered.then_some(index),
            };
            Block {
                buffer: index,
                area,
                peak: peak[index],
                label: Label::of(&content, area, &shared),
            }
        };
        let mut blocks: Vec<Block> = placed.map(block).collect();
        if numbered {
            number_the_covered(&mut blocks);
        }
        let named_steps = named_steps(&picture, &scale);
        Self {
            names: names(&picture, &scale, &named_steps),
            scale,
            blocks,
            shared,
            picture,
            named_steps,
        }
    }

    pub(super) const fn axis_name(&self) -> &'static str {
        if self.picture.steps.is_empty() {
            "step"
        } else {
            "operator that runs, with its number"
        }
    }

    /// All but the offsets. `other` is the arena that this one is compared with.
    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, other: Option<u64>) -> Drawn {
        let panel = self.scale.panel;
        self.grid(sheet)?;
        for peak in [false, true] {
            let blocks = self.blocks.iter().filter(|block| block.peak == peak);
            for block in blocks {
                sheet.fill(block.area, if peak { PEAK } else { ORDINARY })?;
            }
        }
        self.shared.hatch(sheet, HATCH)?;
        for block in &self.blocks {
            let Area { x, y, .. } = block.area;
            let (right, bottom) = (block.area.right(), block.area.bottom());
            if block.area.width >= LEAST_OUTLINED {
                sheet.frame(block.area, Colour::FRAME)?;
            } else {
                sheet.line((x, y), (right, y), Colour::FRAME, 1.0)?;
                sheet.line((x, bottom), (right, bottom), Colour::FRAME, 1.0)?;
            }
        }
        for label in self.blocks.iter().filter_map(|block| block.label.as_ref()) {
            label.draw(sheet)?;
        }
        self.arena(sheet, other)?;
        sheet.frame(panel, Colour::FRAME)?;
        if self.blocks.is_empty() {
            chart::remark(sheet, panel, "no buffer is placed")?;
        }
        self.names.draw(sheet, panel.bottom() + 6)
    }

    /// The vertical axis.
    pub(super) fn offsets(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let panel = self.scale.panel;
        for (y, tick) in self.ticks() {
            let name = shorten(&grouped(tick), 11.0, TICK_WIDTH).into_owned();
            chart::tick(sheet, panel, y, &name)?;
        }
        let name = "offset in the arena, in bytes";
        chart::vertical_name(sheet, panel.y, panel.bottom(), name)
    }

    fn ticks(&self) -> impl Iterator<Item = (i32, u64)> {
        let Scale { panel, bytes, .. } = self.scale;
        ticks(bytes, panel.height, 34)
            .into_iter()
            .map(move |tick| (chart::y_of(panel, tick as f64, bytes), tick))
    }

    fn grid(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let panel = self.scale.panel;
        for (y, _) in self.ticks() {
            sheet.line((panel.x, y), (panel.right(), y), Colour::GRID, 1.0)?;
        }
        for &step in &self.named_steps {
            let x = self.scale.x(step);
            sheet.line((x, panel.y), (x, panel.bottom()), Colour::GRID, 1.0)?;
        }
        Ok(())
    }

    /// A line at the arena's end, and a faint one at the other arena's.
    fn arena(&self, sheet: &mut Sheet<'_>, other: Option<u64>) -> Drawn {
        let panel = self.scale.panel;
        let arena = self.picture.arena_bytes();
        let y = self.scale.y(arena);
        let right = panel.right() - 6;
        if let Some(other) = other {
            let other_y = self.scale.y(other);
            if y - other_y >= 20 {
                sheet.dashes((panel.x, panel.right()), other_y, Colour::FRAME)?;
                let set = Type::right(LABEL_SIZE).colour(Colour::FAINT);
                sheet.text(
                    &format!("before: {}", bytes(other)),
                    (right, other_y - 10),
                    set,
                )?;
            }
        }
        sheet.dashes((panel.x, panel.right()), y, Colour::INK)?;
        let text = format!("arena: {}", bytes(arena));
        let above = y.max(panel.y + 20) - 10;
        sheet.text(&text, (right, above), Type::right(LABEL_SIZE))
    }
}

/// Of a buffer without a label all is shared, or it is too small. Its number is put on its
/// middle, where its neighbours' numbers are not.
fn number_the_covered(blocks: &mut [Block]) {
    let mut taken: Vec<Area> = Vec::new();
    for block in blocks.iter_mut().filter(|block| block.label.is_none()) {
        let (label, area) = Label::number(block.buffer, block.area);
        let fits = area.x >= block.area.x
            && area.y >= block.area.y
            && area.right() <= block.area.right()
            && area.bottom() <= block.area.bottom();
        if fits && taken.iter().all(|other| area.shared(other) == 0) {
            taken.push(area);
            block.label = Some(label);
        }
    }
}

/// As many steps as there is room for, evenly.
fn named_steps(picture: &PlanPicture<'_>, scale: &Scale) -> Vec<u32> {
    let count = scale.steps.end - scale.steps.start;
    let most = if picture.steps.is_empty() {
        scale.panel.width / NUMBER_DISTANCE
    } else {
        scale.panel.width / DISTANCE
    };
    let stride = count.div_ceil(most.unsigned_abs()).max(1) as usize;
    scale.steps.clone().step_by(stride).collect()
}

fn names(picture: &PlanPicture<'_>, scale: &Scale, steps: &[u32]) -> StepNames {
    StepNames::of(steps.iter().map(|&step| {
        let (left, right) = (scale.x(step), scale.x(step.saturating_add(1)));
        let number = step.to_string();
        let name = picture.steps.get(step as usize);
        Column {
            middle: (left + right) / 2,
            // Numbers alone are far enough apart.
            width: if picture.steps.is_empty() {
                (right - left).max(width(&number, 11.0).ceil() as i32 + 8)
            } else {
                right - left
            },
            name: name.cloned().unwrap_or(number),
        }
    }))
}
