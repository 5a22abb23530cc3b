//! Blocks of pixels into depth, and back.

use super::error::extent_of;
use super::store_lead::{each_element, position, strides};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Moves blocks of pixels into the depth of one pixel each, or back. Either way the loops go
/// through the tensor with the larger image in order, and so through the other one row of blocks
/// after the other, each row by row.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DepthSpace {
    /// Batch, height and width in blocks, and depth of the tensor with the larger image.
    pub blocks: Shape,
    /// Height and width of a block.
    pub block: u32,
    /// Which way.
    pub direction: DepthDirection,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

/// Which way elements move.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DepthDirection {
    /// `SPACE_TO_DEPTH`: the input has the larger image.
    SpaceToDepth,
    /// `DEPTH_TO_SPACE`: the output has.
    DepthToSpace,
}

impl DepthSpace {
    /// Extents that do not fit count as the largest, so that the buffer is refused.
    fn larger_image(&self) -> Shape {
        let [batches, height, width, depth] = self.blocks;
        let pixels = |blocks: u32| blocks.saturating_mul(self.block);
        [batches, pixels(height), pixels(width), depth]
    }

    fn deeper(&self) -> Shape {
        let [batches, height, width, depth] = self.blocks;
        let pixels = self.block.saturating_mul(self.block);
        [batches, height, width, depth.saturating_mul(pixels)]
    }
}

impl ReferenceKernel for DepthSpace {
    fn check(&self) -> Result<(), ShapeError> {
        let depth = u64::from(self.blocks[3]) * u64::from(self.block).pow(2);
        if depth > u64::from(u32::MAX) {
            return Err(ShapeError::TooLarge {
                what: extent_of("block", 3),
                given: self.block,
                limit: 1 << 16,
            });
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let (input, output) = match self.direction {
            DepthDirection::SpaceToDepth => (self.larger_image(), self.deeper()),
            DepthDirection::DepthToSpace => (self.deeper(), self.larger_image()),
        };
        Buffers::pair(input, output, [self.element_bytes; 2])
    }

    /// Into the depth, the last block's first row is stored far ahead of where it lies in the
    /// image; back, the last row of the first block is loaded far behind. Both are as far.
    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let [block, width, depth] = [self.block, self.blocks[2], self.blocks[3]].map(i64::from);
        let elements = block * depth * (block - 1) * (width - 1);
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let deeper = strides(self.deeper());
        each_element(self.larger_image(), |[b, y, x, c], element| {
            let pixel = y % self.block * self.block + x % self.block;
            let depth = pixel * self.blocks[3] + c;
            let other = position([b, y / self.block, x / self.block, depth], deeper);
            let (loaded, stored) = match self.direction {
                DepthDirection::SpaceToDepth => (element, other),
                DepthDirection::DepthToSpace => (other, element),
            };
            visit(AccessKind::Load, 0, loaded);
            visit(AccessKind::Store, 0, stored);
        });
    }
}
