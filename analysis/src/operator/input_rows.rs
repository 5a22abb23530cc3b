//! Rows of an input that is handed over while a model is computed.

use super::{Buffer, Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows that are there already, copied by one `memmove`, and after them new ones. No operator of a
/// model: [`Recipe::slices`](crate::transform::Recipe::slices) makes it.
///
/// Of the rows that are there each element is loaded before it can be stored over, wherever the
/// output begins at or below them: that is what `memmove` promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct InputRows {
    /// Shape of the rows that are there; `None` if all are new.
    pub kept: Option<Shape>,
    /// Shape of the new rows.
    pub new: Shape,
    /// Bytes per element of all buffers.
    pub element_bytes: u32,
}

impl InputRows {
    /// Elements of the rows that are there.
    fn kept_elements(&self) -> u32 {
        self.kept.map_or(0, |shape| shape.iter().product())
    }

    /// The shapes of the parts, in the order in which they are stored.
    fn parts(&self) -> impl Iterator<Item = Shape> {
        self.kept.into_iter().chain([self.new])
    }

    fn output(&self) -> Shape {
        let [batch, new, width, depth] = self.new;
        let kept = self.kept.map_or(0, |shape| shape[1]);
        [batch, kept.saturating_add(new), width, depth]
    }
}

impl ReferenceKernel for InputRows {
    fn check(&self) -> Result<(), ShapeError> {
        if self.new[0] != 1 {
            return Err(ShapeError::Outside {
                what: "batch".to_owned(),
                given: self.new[0].into(),
                last: 1,
            });
        }
        for axis in [0, 2, 3] {
            if let Some(kept) = self.kept {
                super::error::expect_equal(
                    || super::error::extent_of("rows that are there", axis),
                    kept[axis],
                    self.new[axis],
                    "that of the new rows",
                )?;
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let buffer = |name, shape| Buffer::new(name, shape, self.element_bytes);
        Buffers {
            inputs: self.parts().map(|shape| buffer("input", shape)).collect(),
            outputs: vec![buffer("output", self.output())],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let is_kept = input == 0 && self.kept.is_some();
        let before = if is_kept { 0 } else { self.kept_elements() };
        Some(i64::from(before) * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let mut stored = 0;
        for (input, shape) in self.parts().enumerate() {
            let elements: u32 = shape.iter().product();
            for element in 0..elements {
                visit(AccessKind::Load, input, element);
                visit(AccessKind::Store, 0, stored + element);
            }
            stored += elements;
        }
    }
}
