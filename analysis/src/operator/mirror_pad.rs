//! Padding by a mirror image.

use super::error::extent_of;
use super::store_lead::{each_element, position, strides, strides_bytes};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Surrounds the input by its mirror image; the output is stored in order.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MirrorPad {
    /// Shape of the input.
    pub input: Shape,
    /// Elements before the input on each axis.
    pub before: Shape,
    /// Elements after it.
    pub after: Shape,
    /// The outermost elements of the input stand on the mirror, and are not repeated.
    pub reflect: bool,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl MirrorPad {
    /// An extent that does not fit counts as the largest, so that the buffer is refused.
    fn output(&self) -> Shape {
        std::array::from_fn(|axis| {
            let padding = self.before[axis].saturating_add(self.after[axis]);
            self.input[axis].saturating_add(padding)
        })
    }

    /// Which element of the input's axis an element of the output's is.
    fn source(&self, axis: usize, index: u32) -> u32 {
        let (before, extent) = (self.before[axis], self.input[axis]);
        let edge = u32::from(self.reflect);
        if index < before {
            before - 1 - index + edge
        } else if index - before < extent {
            index - before
        } else {
            2 * extent - 1 - edge - (index - before)
        }
    }
}

impl ReferenceKernel for MirrorPad {
    fn check(&self) -> Result<(), ShapeError> {
        for axis in 0..4 {
            let mirrored = self.input[axis].saturating_sub(u32::from(self.reflect));
            for padding in [self.before[axis], self.after[axis]] {
                if padding > mirrored {
                    return Err(ShapeError::TooLarge {
                        what: format!("padding on the {}", extent_of("input", axis)),
                        given: padding,
                        limit: mirrored,
                    });
                }
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output(), [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let output = self.output();
        let stored = strides_bytes(output, self.element_bytes);
        let loaded = strides_bytes(self.input, self.element_bytes);
        // Straight within each of the three parts, so that their ends suffice.
        let lead = |axis: usize| -> i64 {
            let (before, extent) = (self.before[axis], self.input[axis]);
            let ends = [
                before.saturating_sub(1),
                before,
                before + extent - 1,
                output[axis] - 1,
            ];
            let leads = ends.map(|index| {
                let source = self.source(axis, index);
                i64::from(index) * stored[axis] - i64::from(source) * loaded[axis]
            });
            leads.into_iter().fold(i64::MIN, i64::max)
        };
        Some((0..4).map(lead).sum())
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let loaded = strides(self.input);
        each_element(self.output(), |indices, element| {
            let source = std::array::from_fn(|axis| self.source(axis, indices[axis]));
            visit(AccessKind::Load, 0, position(source, loaded));
            visit(AccessKind::Store, 0, element);
        });
    }
}
