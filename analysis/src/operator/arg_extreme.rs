//! Index of the largest or smallest element.

use super::store_lead::longest;
use super::{Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index of the largest or smallest element along an axis, kept in a register: for each position on
/// the axes before it, then on those after it, along the axis; then one store.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArgExtreme {
    /// Positions on the axes before it.
    pub before: u32,
    /// Its extent.
    pub extent: u32,
    /// Positions on the axes after it.
    pub after: u32,
    /// Bytes per element of the input.
    pub input_element_bytes: u32,
    /// Bytes per index of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for ArgExtreme {
    fn buffers(&self) -> Buffers {
        Buffers::pair(
            [1, self.before, self.extent, self.after],
            [1, 1, self.before, self.after],
            [self.input_element_bytes, self.output_element_bytes],
        )
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let [extent, after] = [self.extent, self.after].map(i64::from);
        let [loaded, stored] = [self.input_element_bytes, self.output_element_bytes].map(i64::from);
        // The first element on the axis has the lowest address.
        let rows = longest(self.before, after * stored - extent * after * loaded);
        Some(rows + longest(self.after, stored - loaded))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for row in 0..self.before {
            for column in 0..self.after {
                for step in 0..self.extent {
                    let element = (row * self.extent + step) * self.after + column;
                    visit(AccessKind::Load, 0, element);
                }
                visit(AccessKind::Store, 0, row * self.after + column);
            }
        }
    }
}
