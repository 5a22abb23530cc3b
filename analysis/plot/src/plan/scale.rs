//! Steps and bytes to pixels.

use crate::chart;
use crate::sheet::Area;
use std::ops::Range;

/// A panel and what its edges stand for.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) panel: Area,
    /// From the left edge to the right one, not empty.
    pub(super) steps: Range<u32>,
    /// At the upper edge; 0 is at the lower one.
    pub(super) bytes: u64,
}

impl Scale {
    pub(super) fn x(&self, step: u32) -> i32 {
        let count = self.steps.end.saturating_sub(self.steps.start).max(1);
        let part = f64::from(step.saturating_sub(self.steps.start)) / f64::from(count);
        let x = self.panel.x + (part * f64::from(self.panel.width)).round() as i32;
        x.min(self.panel.right())
    }

    pub(super) fn y(&self, offset: u64) -> i32 {
        chart::y_of(self.panel, offset as f64, self.bytes).max(self.panel.y)
    }

    /// At least a pixel, within the panel.
    pub(super) fn area(&self, steps: &Range<u32>, bytes: Range<u64>) -> Area {
        let left = self.x(steps.start).min(self.panel.right() - 1);
        let bottom = self.y(bytes.start).max(self.panel.y + 1);
        let top = self.y(bytes.end).min(bottom - 1);
        Area {
            x: left,
            y: top,
            width: (self.x(steps.end) - left).max(1),
            height: bottom - top,
        }
    }
}
