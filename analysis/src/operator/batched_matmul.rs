//! Batched matrix product.

use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the matrices of an operand lie in memory.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct MatrixOperand {
    /// Column after column, where others lie row after row.
    pub transposed: bool,
    /// One matrix is that of all batches.
    pub shared: bool,
}

impl MatrixOperand {
    /// Elements from a matrix of these extents to that of the next batch, from one row to the
    /// next, and from one column to the next.
    #[must_use]
    pub fn strides(self, [rows, columns]: [u32; 2]) -> [u64; 3] {
        let [rows, columns] = [rows, columns].map(u64::from);
        let batch = if self.shared { 0 } else { rows * columns };
        if self.transposed {
            [batch, 1, rows]
        } else {
            [batch, columns, 1]
        }
    }
}

/// Batched matrix product: `[batches, rows, inner] x [batches, inner, columns]`; the output is
/// row-major, and each of its elements is stored once, after its loads.
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
    /// How the left operand lies.
    #[serde(default)]
    pub left: MatrixOperand,
    /// How the right operand lies.
    #[serde(default)]
    pub right: MatrixOperand,
    /// Bytes per element of both operands.
    pub input_element_bytes: u32,
    /// Bytes per element of the output.
    pub output_element_bytes: u32,
}

impl BatchedMatmul {
    /// Those of both operands, as [`MatrixOperand::strides`] has them.
    #[must_use]
    pub fn strides(&self) -> [[u64; 3]; 2] {
        [
            self.left.strides([self.rows, self.inner]),
            self.right.strides([self.inner, self.columns]),
        ]
    }
}

impl ReferenceKernel for BatchedMatmul {
    fn buffers(&self) -> Buffers {
        let Self {
            batches,
            rows,
            inner,
            columns,
            left,
            right,
            input_element_bytes,
            output_element_bytes,
        } = *self;
        let operand = |name, at: MatrixOperand, [rows, columns]: [u32; 2]| {
            let batches = if at.shared { 1 } else { batches };
            let [height, width] = if at.transposed {
                [columns, rows]
            } else {
                [rows, columns]
            };
            Buffer::new(name, [batches, 1, height, width], input_element_bytes)
        };
        let output = [batches, 1, rows, columns];
        Buffers {
            inputs: vec![
                operand("left operand", left, [rows, inner]),
                operand("right operand", right, [inner, columns]),
            ],
            outputs: vec![Buffer::new("output", output, output_element_bytes)],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        let [rows, columns] = [self.rows, self.columns].map(i64::from);
        let stored = i64::from(self.output_element_bytes);
        let loaded = i64::from(self.input_element_bytes);
        // What the positions grow by with each row and each column of the output; k = 0
        // is the first of the loads.
        let [left, right] = self.strides().map(|strides| strides.map(|it| it as i64));
        let [batch_elements, row_elements, column_elements] = match input {
            0 => [left[0], left[1], 0],
            _ => [right[0], 0, right[2]],
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
        let [left, right] = self.strides().map(|strides| strides.map(|it| it as u32));
        for b in 0..batches {
            for m in 0..rows {
                for n in 0..columns {
                    for k in 0..inner {
                        visit(AccessKind::Load, 0, b * left[0] + m * left[1] + k * left[2]);
                        visit(
                            AccessKind::Load,
                            1,
                            b * right[0] + k * right[1] + n * right[2],
                        );
                    }
                    visit(AccessKind::Store, 0, (b * rows + m) * columns + n);
                }
            }
        }
    }
}
