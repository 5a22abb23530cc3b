//! The shape that two shapes are broadcast to.

use super::{Buffer, Buffers, ReferenceKernel};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extents of what two shapes are broadcast to, from the last axis to the first: `BROADCAST_ARGS`.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BroadcastArgs {
    /// How many axes each shape has; the output has those of the longer one.
    pub axes: [u32; 2],
    /// Bytes per extent.
    pub element_bytes: u32,
}

impl BroadcastArgs {
    fn output_axes(&self) -> u32 {
        self.axes[0].max(self.axes[1])
    }
}

impl ReferenceKernel for BroadcastArgs {
    fn buffers(&self) -> Buffers {
        let buffer = |name, axes| Buffer::new(name, [1, 1, 1, axes], self.element_bytes);
        Buffers {
            inputs: vec![
                buffer("first shape", self.axes[0]),
                buffer("second shape", self.axes[1]),
            ],
            outputs: vec![buffer("output", self.output_axes())],
        }
    }

    /// The end of the output is stored before the second load.
    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        Some(match self.axes[input] {
            1 => 0,
            _ => i64::from(self.output_axes()) * i64::from(self.element_bytes),
        })
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for from_end in 1..=self.output_axes() {
            for (input, axes) in self.axes.iter().enumerate() {
                if let Some(axis) = axes.checked_sub(from_end) {
                    visit(AccessKind::Load, input, axis);
                }
            }
            visit(AccessKind::Store, 0, self.output_axes() - from_end);
        }
    }
}
