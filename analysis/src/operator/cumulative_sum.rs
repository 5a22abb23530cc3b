//! Cumulative sums.

use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cumulative sum along an axis, kept in a register: for each position on the axes after it, then
/// on those before it, along the axis.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CumulativeSum {
    /// Positions on the axes before it.
    pub before: u32,
    /// Its extent.
    pub extent: u32,
    /// Positions on the axes after it.
    pub after: u32,
    /// An element does not count itself, so that it is stored before its own is loaded.
    pub exclusive: bool,
    /// All loops run from the end.
    pub reverse: bool,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl ReferenceKernel for CumulativeSum {
    fn buffers(&self) -> Buffers {
        let shape = [1, self.before, self.extent, self.after];
        Buffers::pair(shape, shape, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let [before, extent, after] = [self.before, self.extent, self.after].map(i64::from);
        let elements = if self.reverse {
            // The last element is the first to be stored, the first the last to be loaded.
            let count = before * extent * after;
            if count > 1 { count } else { 0 }
        } else if after > 1 {
            // All but a last few elements are stored when the next column begins.
            (before * extent - 1) * after
        } else {
            0
        };
        let own = i64::from(self.exclusive);
        Some(elements.max(own) * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let directed = |index: u32, count: u32| {
            if self.reverse {
                count - 1 - index
            } else {
                index
            }
        };
        let (first, second) = if self.exclusive {
            (AccessKind::Store, AccessKind::Load)
        } else {
            (AccessKind::Load, AccessKind::Store)
        };
        for column in 0..self.after {
            for row in 0..self.before {
                for step in 0..self.extent {
                    let row = directed(row, self.before) * self.extent;
                    let row = row + directed(step, self.extent);
                    let element = row * self.after + directed(column, self.after);
                    visit(first, 0, element);
                    visit(second, 0, element);
                }
            }
        }
    }
}
