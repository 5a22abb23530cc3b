//! The buffers of an operator.

use super::ShapeError;
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Batch, height, width, channels.
pub type Shape = [u32; 4];

/// One input or output: dense, row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize)]
pub struct Buffer {
    /// What it is called in messages.
    pub name: &'static str,
    /// Elements on each axis.
    pub shape: Shape,
    /// Bytes per element.
    pub element_bytes: u32,
}

impl Buffer {
    pub(super) fn new(name: &'static str, shape: Shape, element_bytes: u32) -> Self {
        Self {
            name,
            shape,
            element_bytes,
        }
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u32 {
        // What `Operator::buffers` lets out fits.
        self.checked_size_bytes().unwrap_or(u32::MAX)
    }

    fn checked_size_bytes(&self) -> Option<u32> {
        self.shape
            .iter()
            .try_fold(self.element_bytes, |size, &extent| size.checked_mul(extent))
    }

    pub(super) fn check(&self) -> Result<(), ShapeError> {
        if self.shape.contains(&0) {
            return Err(ShapeError::Zero { what: self.name });
        }
        if !matches!(self.element_bytes, 1 | 2 | 4 | 8) {
            return Err(ShapeError::ElementSize {
                buffer: self.name,
                given: self.element_bytes,
            });
        }
        if self.checked_size_bytes().is_none() {
            return Err(ShapeError::BufferTooLarge {
                buffer: self.name,
                shape: self.shape,
                element_bytes: self.element_bytes,
            });
        }
        Ok(())
    }
}

/// All inputs and outputs, in the operator's order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Buffers {
    pub inputs: Vec<Buffer>,
    pub outputs: Vec<Buffer>,
}

impl Buffers {
    /// One input, one output; bytes per element of both.
    pub(super) fn pair(input: Shape, output: Shape, element_bytes: [u32; 2]) -> Self {
        Self {
            inputs: vec![Buffer::new("input", input, element_bytes[0])],
            outputs: vec![Buffer::new("output", output, element_bytes[1])],
        }
    }

    /// Those of which only the numbers and sizes of their elements are known, in this order.
    pub(super) fn without_shapes(
        inputs: impl Iterator<Item = (u32, u32)>,
        outputs: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let buffer = |name| move |(elements, bytes)| Buffer::new(name, [1, 1, 1, elements], bytes);
        Self {
            inputs: inputs.map(buffer("input")).collect(),
            outputs: outputs.map(buffer("output")).collect(),
        }
    }

    /// [`displacement_bytes`](super::ReferenceKernel::displacement_bytes) of kernels whose accesses
    /// are not known: nothing may overlap this output.
    pub(super) fn displacement_if_unknown(&self, output: usize) -> Option<i64> {
        Some(self.outputs.get(output)?.size_bytes().into())
    }

    /// [`accesses`](super::ReferenceKernel::accesses) of such kernels: for all that can be said, they
    /// store all outputs before they load anything.
    pub(super) fn accesses_if_unknown<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        for (kind, buffers) in [
            (AccessKind::Store, &self.outputs),
            (AccessKind::Load, &self.inputs),
        ] {
            for (index, buffer) in buffers.iter().enumerate() {
                let elements = buffer.shape.iter().product();
                (0..elements).for_each(|element| visit(kind, index, element));
            }
        }
    }
}
