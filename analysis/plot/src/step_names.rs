//! Names of steps below a panel.

use super::sheet::{Drawn, Sheet, Type};
use super::text::{shorten, width};

const SIZE: f64 = 11.0;
const LENGTH: f64 = 160.0;
/// Between the middles of two turned names.
pub(super) const DISTANCE: i32 = 14;

/// A step on the horizontal axis, in pixels.
pub(super) struct Column {
    pub(super) middle: i32,
    pub(super) width: i32,
    pub(super) name: String,
}

/// The names below their columns: upright where all fit side by side, else turned, and as
/// many as there is room for.
pub(super) struct StepNames {
    at: Vec<(i32, String)>,
    upright: bool,
    /// What they take below the panel, in pixels.
    pub(super) height: i32,
}

impl StepNames {
    /// Of columns from left to right.
    pub(super) fn of(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut at: Vec<(i32, String)> = Vec::new();
        let mut upright = true;
        let mut widest: f64 = 0.0;
        for column in columns {
            let free = |&(x, _): &(i32, String)| column.middle - x >= DISTANCE;
            if at.last().is_none_or(free) {
                let name = shorten(&column.name, SIZE, LENGTH).into_owned();
                let length = width(&name, SIZE);
                upright &= length + 8.0 <= f64::from(column.width);
                widest = widest.max(length);
                at.push((column.middle, name));
            }
        }
        let height = if upright {
            20
        } else {
            widest.ceil() as i32 + 14
        };
        Self {
            at,
            upright,
            height,
        }
    }

    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, top: i32) -> Drawn {
        for (x, name) in &self.at {
            if self.upright {
                sheet.text(name, (*x, top + 8), Type::centred(SIZE))?;
            } else {
                sheet.text(name, (*x, top), Type::right(SIZE).turned())?;
            }
        }
        Ok(())
    }
}
