//! Blocks of pixels into the batch, and back.

use super::store_lead::{each_element, position, strides};
use super::{Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Moves each pixel of a block into a batch of its own, or back. Either way the loops go through
/// the tensor with more batches in order: of its batch `s * N + n`, where `N` is the number of
/// batches of the image, the pixel `(y, x)` is the image's pixel `(y, x) * block + shift - before`
/// in batch `n`, with the shift `(s / block width, s % block width)`. Those outside of the image
/// are padding on the way there, and are skipped on the way back.
///
/// The kernels of TensorFlow Lite copy each pixel by `memcpy`, which promises nothing of its order.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchSpace {
    /// Shape of the tensor with fewer batches.
    pub image: Shape,
    /// Height and width of the other one.
    pub extents: [u32; 2],
    /// Height and width of a block.
    pub block: [u32; 2],
    /// Padding above and left of the image, or what is cropped there.
    pub before: [u32; 2],
    /// Which way.
    pub direction: BatchDirection,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

/// Which way pixels move.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchDirection {
    /// `SPACE_TO_BATCH_ND`: the output has more batches.
    SpaceToBatch,
    /// `BATCH_TO_SPACE_ND`: the input has.
    BatchToSpace,
}

/// Pixels of a block; the formula goes through them.
const BLOCK_LIMIT: u64 = 1 << 16;

impl BatchSpace {
    /// Batches that do not fit count as the most, so that the buffer is refused.
    fn spread(&self) -> Shape {
        let batches = self.block.iter().fold(self.image[0], |batches, &extent| {
            batches.saturating_mul(extent)
        });
        [batches, self.extents[0], self.extents[1], self.image[3]]
    }

    /// Where the pixel of the tensor with more batches lies in the image; `None` if outside.
    fn pixel(&self, [batch, y, x, _]: Shape) -> Option<Shape> {
        let [images, height, width, _] = self.image;
        let shift = batch / images;
        let shifts = [shift / self.block[1], shift % self.block[1]];
        let along = |axis: usize, index: u32, extent: u32| {
            let at = u64::from(index) * u64::from(self.block[axis]) + u64::from(shifts[axis]);
            let at = at.checked_sub(self.before[axis].into())?;
            u32::try_from(at).ok().filter(|&at| at < extent)
        };
        Some([batch % images, along(0, y, height)?, along(1, x, width)?, 0])
    }

    /// The indices on an axis, 0 for height, whose pixels with this shift lie in the image.
    fn inside(&self, axis: usize, shift: u32) -> Option<RangeInclusive<i64>> {
        let [block, before, shift] = [self.block[axis], self.before[axis], shift].map(i64::from);
        let last = before + i64::from(self.image[axis + 1]) - 1 - shift;
        let from = (before - shift + block - 1).div_euclid(block).max(0);
        let to = last
            .div_euclid(block)
            .min(i64::from(self.extents[axis]) - 1);
        (from <= to).then_some(from..=to)
    }

    /// Position in the image less that in the other tensor, in elements.
    fn ahead(&self, shift: [u32; 2], [n, y, x]: [i64; 3]) -> i64 {
        let shifts = shift.map(i64::from);
        let [block_height, block_width] = self.block.map(i64::from);
        let [above, left] = self.before.map(i64::from);
        let [images, height, width, depth] = self.image.map(i64::from);
        let [spread_height, spread_width] = self.extents.map(i64::from);
        let row = y * block_height + shifts[0] - above;
        let column = x * block_width + shifts[1] - left;
        let batch = (shifts[0] * block_width + shifts[1]) * images + n;
        let in_image = (n * height + row) * width + column;
        let in_spread = (batch * spread_height + y) * spread_width + x;
        (in_image - in_spread) * depth
    }

    /// The shifts of the pixels that lie in the image, with their rows and columns, in the order of
    /// the batches.
    fn shifts(&self) -> impl Iterator<Item = ([u32; 2], [RangeInclusive<i64>; 2])> + '_ {
        let [heights, widths] = self.block;
        let each = (0..heights).flat_map(move |down| (0..widths).map(move |right| [down, right]));
        each.filter_map(|shift| {
            Some((
                shift,
                [self.inside(0, shift[0])?, self.inside(1, shift[1])?],
            ))
        })
    }

    /// Each store is as far ahead as its pixel's place in the batch is of that in the image.
    fn lead_into_batch(&self) -> Option<i64> {
        let last = i64::from(self.image[0]) - 1;
        let leads = self.shifts().map(|(shift, [rows, columns])| {
            extreme(|at| -self.ahead(shift, at), [&(0..=last), &rows, &columns])
        });
        leads.max()
    }

    /// Each pixel that was stored, against the next one that is loaded: in its row, in the row
    /// after, in the next image, or with another shift.
    fn lead_back(&self) -> Option<i64> {
        let [images, _, _, depth] = self.image.map(i64::from);
        let [height, width] = self.extents.map(i64::from);
        // Nothing is stored before the first is loaded.
        let (mut leads, mut before) = (vec![0], None::<([u32; 2], [i64; 3])>);
        for (shift, [rows, columns]) in self.shifts() {
            let [last_row, last_column] = [*rows.end(), *columns.end()];
            let [row_span, column_span] =
                [&rows, &columns].map(|range| range.end() - range.start());
            let mut lead = |ranges: [RangeInclusive<i64>; 3], gap: i64| {
                if ranges.iter().all(|range| !range.is_empty()) {
                    let [n, y, x] = &ranges;
                    leads.push(extreme(|at| self.ahead(shift, at), [n, y, x]) - gap);
                }
            };
            let all = 0..=images - 1;
            // Within a pixel, and from one to the next.
            let columns_before = *columns.start()..=last_column - i64::from(depth == 1);
            lead([all.clone(), rows.clone(), columns_before], 0);
            let only = |at: i64| at..=at;
            let gap = (width - column_span - 1) * depth;
            lead([all, *rows.start()..=last_row - 1, only(last_column)], gap);
            let gap = gap + (height - row_span - 1) * width * depth;
            lead([0..=images - 2, only(last_row), only(last_column)], gap);
            if let Some((shift_before, at)) = before {
                let first = [0, *rows.start(), *columns.start()];
                let stored = self.ahead(shift_before, at) + self.place(shift_before, at) + depth;
                leads.push(stored - self.place(shift, first));
            }
            before = Some((shift, [images - 1, last_row, last_column]));
        }
        leads.into_iter().max()
    }

    /// Position in the tensor with more batches, in elements.
    fn place(&self, shift: [u32; 2], [n, y, x]: [i64; 3]) -> i64 {
        let [down, right, block_width] = [shift[0], shift[1], self.block[1]].map(i64::from);
        let [images, _, _, depth] = self.image.map(i64::from);
        let [height, width] = self.extents.map(i64::from);
        let batch = (down * block_width + right) * images + n;
        ((batch * height + y) * width + x) * depth
    }
}

/// The greatest value of a function that is linear in each of three indices.
fn extreme(value: impl Fn([i64; 3]) -> i64, ranges: [&RangeInclusive<i64>; 3]) -> i64 {
    let at = ranges.map(|range| *range.start());
    (0..3).fold(value(at), |greatest, axis| {
        let mut end = at;
        end[axis] = *ranges[axis].end();
        greatest + (value(end) - value(at)).max(0)
    })
}

impl ReferenceKernel for BatchSpace {
    fn check(&self) -> Result<(), ShapeError> {
        let pixels = u64::from(self.block[0]) * u64::from(self.block[1]);
        if pixels == 0 {
            return Err(ShapeError::Zero { what: "block" });
        }
        if pixels > BLOCK_LIMIT {
            return Err(ShapeError::TooLarge {
                what: "pixels of a block".to_owned(),
                given: u32::try_from(pixels).unwrap_or(u32::MAX),
                limit: BLOCK_LIMIT as u32,
            });
        }
        for axis in 0..2 {
            let room = u64::from(self.extents[axis]) * u64::from(self.block[axis]);
            let taken = u64::from(self.before[axis]) + u64::from(self.image[axis + 1]);
            if taken > room {
                return Err(ShapeError::Outside {
                    what: format!("last {} of the image", ["row", "column"][axis]),
                    given: i64::try_from(taken - 1).unwrap_or(i64::MAX),
                    last: u32::try_from(room).unwrap_or(u32::MAX).saturating_sub(1),
                });
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let (input, output) = match self.direction {
            BatchDirection::SpaceToBatch => (self.image, self.spread()),
            BatchDirection::BatchToSpace => (self.spread(), self.image),
        };
        Buffers::pair(input, output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let elements = match self.direction {
            BatchDirection::SpaceToBatch => self.lead_into_batch(),
            BatchDirection::BatchToSpace => self.lead_back(),
        };
        Some(elements? * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let image = strides(self.image);
        each_element(self.spread(), |indices, element| {
            let pixel = self.pixel(indices);
            let other = pixel.map(|pixel| position(pixel, image) + indices[3]);
            let (loaded, stored) = match self.direction {
                BatchDirection::SpaceToBatch => (other, Some(element)),
                BatchDirection::BatchToSpace => (other.map(|_| element), other),
            };
            if let Some(loaded) = loaded {
                visit(AccessKind::Load, 0, loaded);
            }
            if let Some(stored) = stored {
                visit(AccessKind::Store, 0, stored);
            }
        });
    }
}
