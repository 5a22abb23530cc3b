//! Batched matrix product.

use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Batched matrix product: `[batches, rows, inner] x [batches, inner, columns]`, all
/// row-major; each output element is stored once, after its loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct BatchedMatmul {
    /// Number of products.
    pub batches: u32,
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

impl ReferenceKernel for BatchedMatmul {
    fn buffers(&self) -> Buffers {
        let Self {
            batches,
            rows,
            inner,
            columns,
            input_element_bytes,
            output_element_bytes,
        } = *self;
        let buffer = |name, height, width, element_bytes| {
            Buffer::new(name, [batches, 1, height, width], element_bytes)
        };
        Buffers {
            inputs: vec![
                buffer("left operand", rows, inner, input_element_bytes),
                buffer("right operand", inner, columns, input_element_bytes),
            ],
            outputs: vec![buffer("output", rows, columns, output_element_bytes)],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let [rows, inner, columns] = [self.rows, self.inner, self.columns].map(i64::from);
        let stored = i64::from(self.output_element_bytes);
        let loaded = i64::from(self.input_element_bytes);
        // What the positions grow by with each row and each column of the output; k = 0
        // is the first of the loads.
        let (batch_elements, row_elements, column_elements) = match input {
            0 => (rows * inner, inner, 0),
            _ => (inner * columns, 0, 1),
        };
        Some(
            longest(
                self.batches,
                rows * columns * stored - batch_elements * loaded,
            ) + longest(self.rows, columns * stored - row_elements * loaded)
                + longest(self.columns, stored - column_elements * loaded),
        )
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let Self {
            batches,
            rows,
            inner,
            columns,
            ..
        } = *self;
        for b in 0..batches {
            for m in 0..rows {
                for n in 0..columns {
                    for k in 0..inner {
                        visit(AccessKind::Load, 0, (b * rows + m) * inner + k);
                        visit(AccessKind::Load, 1, (b * inner + k) * columns + n);
                    }
                    visit(AccessKind::Store, 0, (b * rows + m) * columns + n);
                }
            }
        }
    }
}
