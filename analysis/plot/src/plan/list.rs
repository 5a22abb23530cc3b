//! The buffers whose names do not fit into their rectangles.

use super::PlanPicture;
use super::panel::{Block, Panel};
use crate::chart;
use crate::sheet::{Colour, Drawn, Sheet, Type};
use crate::text::{shorten_middle, width};
use dmo_analysis::wording::{counted, grouped};
use std::cmp::Reverse;

const MOST: usize = 60;
/// Names that would be shortened in two columns are written in one, if they are so few.
const MOST_IN_ONE_COLUMN: usize = 40;
const LINE: i32 = 15;
const SIZE: f64 = 11.0;
const GAP: i32 = 20;
const HEADING: i32 = 20;
const WIDTH: i32 = chart::PANEL_WIDTH + chart::RIGHT - 10;
const TITLE: &str =
    "Where there is no room for the name: number, name, size and offset in bytes, lifetime";

/// A list in columns below the panel.
pub(super) struct List {
    lines: Vec<String>,
    columns: i32,
    left_out: usize,
}

impl List {
    /// All of them if they are few; else those that the panel has a number of, or that make
    /// the peak, the largest of these.
    pub(super) fn of(picture: &PlanPicture<'_>, panel: &Panel<'_>) -> Self {
        let named = |block: &&Block| block.label.as_ref().is_some_and(|label| label.complete);
        let unnamed = panel.blocks.iter().filter(|block| !named(block));
        let mut listed: Vec<&Block> = unnamed.collect();
        let all = listed.len();
        if all > MOST {
            listed.retain(|block| block.peak || block.label.is_some());
        }
        let size = |block: &Block| picture.problem.buffers()[block.buffer].size_bytes;
        listed.sort_by_key(|block| (!block.peak, Reverse(size(block)), block.buffer));
        listed.truncate(MOST);
        listed.sort_by_key(|block| block.buffer);
        let lines = |columns: i32| -> Vec<(String, bool)> {
            let line = |block: &&Block| line(picture, block.buffer, column_width(columns));
            listed.iter().map(line).collect()
        };
        let mut columns = 2;
        let mut found = lines(columns);
        if found.len() <= MOST_IN_ONE_COLUMN && found.iter().any(|&(_, whole)| !whole) {
            columns = 1;
            found = lines(columns);
        }
        Self {
            columns,
            left_out: all - found.len(),
            lines: found.into_iter().map(|(line, _)| line).collect(),
        }
    }

    /// In pixels; 0 where all names fit into their rectangles.
    pub(super) fn height(&self) -> i32 {
        match self.lines.len() + self.left_out {
            0 => 0,
            _ => HEADING + (self.rows() + i32::from(self.left_out > 0)) * LINE + 12,
        }
    }

    fn rows(&self) -> i32 {
        (self.lines.len() as i32 + self.columns - 1) / self.columns
    }

    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, top: i32) -> Drawn {
        let set = Type::left(SIZE).colour(Colour::FAINT);
        let rows = self.rows();
        if rows > 0 {
            sheet.text(TITLE, (chart::LEFT, top + 6), set)?;
        }
        for (index, line) in (0..).zip(&self.lines) {
            let x = chart::LEFT + index / rows * (column_width(self.columns) + GAP);
            let y = top + HEADING + index % rows * LINE + 6;
            sheet.text(line, (x, y), Type::left(SIZE))?;
        }
        if self.left_out > 0 {
            let further = counted(self.left_out as u64, "further buffer", "further buffers");
            let at = (chart::LEFT, top + HEADING + rows * LINE + 6);
            sheet.text(&format!("{further} without room for the name"), at, set)?;
        }
        Ok(())
    }
}

const fn column_width(columns: i32) -> i32 {
    (WIDTH - GAP * (columns - 1)) / columns
}

/// Number, name, size, offset, lifetime; the name gives way. Whether it is whole.
fn line(picture: &PlanPicture<'_>, index: usize, room: i32) -> (String, bool) {
    let buffer = &picture.problem.buffers()[index];
    let offset = picture.plan.offsets.get(index).copied().unwrap_or(0);
    let (first, last) = (buffer.alive.start, buffer.alive.end.saturating_sub(1));
    let steps = lifetime(picture, first, last);
    let size = grouped(buffer.size_bytes);
    let facts = format!(": {size} at {}, {steps}", grouped(offset));
    let number = format!("{index} ");
    let room = f64::from(room) - width(&number, SIZE) - width(&facts, SIZE);
    let (name, _) = shorten_middle(&buffer.name, SIZE, room);
    let whole = name == buffer.name;
    (format!("{number}{name}{facts}"), whole)
}

/// From which step to which, in the words below the panel.
fn lifetime(picture: &PlanPicture<'_>, first: u32, last: u32) -> String {
    let word = |step: u32| {
        let name = picture.steps.get(step as usize)?;
        name.split_whitespace().next().map(str::to_owned)
    };
    let of_operator = |word: &String| word.parse::<usize>().is_ok();
    let (noun, from, to) = match (word(first), word(last)) {
        (Some(from), Some(to)) if of_operator(&from) => ("operator ", from, to),
        (Some(from), Some(to)) => ("", from, to),
        _ => ("step ", first.to_string(), last.to_string()),
    };
    if first == last {
        format!("{noun}{from}")
    } else {
        format!("{noun}{from} to {to}")
    }
}
