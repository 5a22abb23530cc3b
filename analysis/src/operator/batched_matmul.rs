//! Batched matrix product.

use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel, ShapeError};
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

/// Batches around those of a product, where an operand is the same for some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct OuterBatches {
    /// How often all that is inside comes.
    pub extent: u32,
    /// Whether the same matrices of the left operand, and of the right one, serve each time.
    pub shared: [bool; 2],
}

impl Default for OuterBatches {
    /// Once.
    fn default() -> Self {
        Self {
            extent: 1,
            shared: [false; 2],
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
    /// Batches around these, the outermost first; mostly one each.
    #[serde(default)]
    pub outer: [OuterBatches; 2],
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

    /// Products in all.
    #[must_use]
    pub fn all_batches(&self) -> u64 {
        let outer = self.outer.iter().map(|axis| u64::from(axis.extent));
        outer.fold(self.batches.into(), u64::saturating_mul)
    }

    /// Matrices of the left operand, of the right one and of the output.
    fn matrices(&self) -> [u64; 3] {
        let operands = [(0, self.left), (1, self.right)].map(|(side, at)| {
            let own = if at.shared { 1 } else { self.batches };
            let outer = self.outer.iter().filter(|axis| !axis.shared[side]);
            let outer = outer.map(|axis| u64::from(axis.extent));
            outer.fold(own.into(), u64::saturating_mul)
        });
        [operands[0], operands[1], self.all_batches()]
    }

    /// Elements from what serves one of the outer batches to what serves the next, of the left
    /// operand, the right one and the output.
    #[must_use]
    pub fn outer_strides(&self) -> [[u64; 3]; 2] {
        let sizes = [
            u64::from(self.rows) * u64::from(self.inner),
            u64::from(self.inner) * u64::from(self.columns),
            u64::from(self.rows) * u64::from(self.columns),
        ];
        let own = |shared| if shared { 1 } else { u64::from(self.batches) };
        let batches = [own(self.left.shared), own(self.right.shared), own(false)];
        let mut inside: [u64; 3] = std::array::from_fn(|at| sizes[at] * batches[at]);
        let mut strides = [[0; 3]; 2];
        for (axis, strides) in self.outer.iter().zip(&mut strides).rev() {
            let shared = [axis.shared[0], axis.shared[1], false];
            for at in (0..3).filter(|&at| !shared[at]) {
                strides[at] = inside[at];
                inside[at] = inside[at].saturating_mul(axis.extent.into());
            }
        }
        strides
    }
}

impl ReferenceKernel for BatchedMatmul {
    fn check(&self) -> Result<(), ShapeError> {
        if self.outer.iter().any(|axis| axis.extent == 0) {
            return Err(ShapeError::Zero {
                what: "number of outer batches",
            });
        }
        if self.matrices().iter().any(|&it| it >= u32::MAX.into()) {
            return Err(ShapeError::TooLarge {
                what: "number of batches".to_owned(),
                given: u32::MAX,
                limit: u32::MAX - 1,
            });
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let Self {
            batches: _,
            rows,
            inner,
            columns,
            left,
            right,
            outer: _,
            input_element_bytes,
            output_element_bytes,
        } = *self;
        // More are refused.
        let matrices = self.matrices();
        let matrices = matrices.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let operand = |name, at: MatrixOperand, matrices, [rows, columns]: [u32; 2]| {
            let [height, width] = if at.transposed {
                [columns, rows]
            } else {
                [rows, columns]
            };
            Buffer::new(name, [matrices, 1, height, width], input_element_bytes)
        };
        let output = [matrices[2], 1, rows, columns];
        Buffers {
            inputs: vec![
                operand("left operand", left, matrices[0], [rows, inner]),
                operand("right operand", right, matrices[1], [inner, columns]),
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
        let outer = self.outer.iter().zip(self.outer_strides());
        let outer: i64 = outer
            .map(|(axis, strides)| {
                let [of_operand, of_output] = [strides[input], strides[2]].map(|it| it as i64);
                longest(axis.extent, of_output * stored - of_operand * loaded)
            })
            .sum();
        Some(
            outer
                + longest(
                    self.batches,
                    rows * columns * stored - batch_elements * loaded,
                )
                + longest(self.rows, columns * stored - row_elements * loaded)
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
        let outer = self
            .outer_strides()
            .map(|strides| strides.map(|it| it as u32));
        let [first, second] = self.outer.map(|axis| axis.extent);
        for (o, p) in (0..first).flat_map(|o| (0..second).map(move |p| (o, p))) {
            let [l, r, s] = [0, 1, 2].map(|at| o * outer[0][at] + p * outer[1][at]);
            for b in 0..batches {
                for m in 0..rows {
                    for n in 0..columns {
                        for k in 0..inner {
                            let from_left = b * left[0] + m * left[1] + k * left[2];
                            let from_right = b * right[0] + k * right[1] + n * right[2];
                            visit(AccessKind::Load, 0, l + from_left);
                            visit(AccessKind::Load, 1, r + from_right);
                        }
                        visit(AccessKind::Store, 0, s + (b * rows + m) * columns + n);
                    }
                }
            }
        }
    }
}
