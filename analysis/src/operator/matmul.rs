//! Matrix product that accumulates in its output.

use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Matrix product that accumulates in its output: `[rows, inner] x [inner, columns]`. The
/// worst case, after Fig. 3b of Blacker et al.: nothing may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Matmul {
    /// Rows of the left operand and of the output.
    pub rows: u32,
    /// Columns of the left and rows of the right operand.
    pub inner: u32,
    /// Columns of the right operand and of the output.
    pub columns: u32,
    /// Bytes per element of both operands.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl ReferenceKernel for Matmul {
    fn buffers(&self) -> Buffers {
        let buffer = |name, height, width, element_bytes| {
            Buffer::new(name, [1, 1, height, width], element_bytes)
        };
        let (input_bytes, output_bytes) = (self.input_element_bytes, self.output_element_bytes);
        Buffers {
            inputs: vec![
                buffer("left operand", self.rows, self.inner, input_bytes),
                buffer("right operand", self.inner, self.columns, input_bytes),
            ],
            outputs: vec![buffer("output", self.rows, self.columns, output_bytes)],
        }
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        // All of the output is zeroed before the first load.
        let elements = i64::from(self.rows) * i64::from(self.columns);
        Some(elements * i64::from(self.output_element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for element in 0..self.rows * self.columns {
            visit(AccessKind::Store, 0, element);
        }
        for k in 0..self.inner {
            for i in 0..self.rows {
                for j in 0..self.columns {
                    visit(AccessKind::Load, 0, i * self.inner + k);
                    visit(AccessKind::Load, 1, k * self.columns + j);
                    visit(AccessKind::Store, 0, i * self.columns + j);
                }
            }
        }
    }
}
