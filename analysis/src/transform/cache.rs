//! What is there already of the tensors inside a run, for the next tile of a column.
//!
//! ```text
//!  tile 0:  A --conv--> x0 (rows 0..4) --depthwise--> B, rows 0..3
//!  tile 1:  x0, rows 2..4 --KEPT_ROWS--> x1, rows 2..4
//!           A --conv--> x1, rows 4..7                --depthwise--> B, rows 3..6
//! ```
//!
//! Rows that the next tile needs too are copied to the front of the tensor in which it finds all that it
//! reads, and only the others are computed. From tile to tile each operator goes on where it was.

use super::TransformError;
use super::draft::Draft;
use super::region::Region;
use crate::graph::{OperatorId, TensorId};
use crate::operator::Shape;
use std::collections::HashMap;

/// What the last tile of a column has left of tensors of the original graph.
pub(super) type Cache = HashMap<TensorId, Held>;

/// What is there of a tensor of the original graph.
#[derive(Clone)]
pub(super) struct Held {
    /// The tensor that holds it.
    pub(super) tensor: TensorId,
    /// Which part it is.
    pub(super) region: Region,
}

impl Held {
    /// What has to be computed so that all that is needed is there; `None` if it is.
    ///
    /// # Errors
    /// When rows are needed that are gone, or other columns.
    pub(super) fn missing(&self, needed: &Region) -> Result<Option<Region>, TransformError> {
        let held = &self.region;
        if needed.rows.start < held.rows.start || needed.columns != held.columns {
            let reason = "needs again what is gone of a tensor of which rows are kept";
            return Err(TransformError::Run { reason });
        }
        let rows = needed.rows.start.max(held.rows.end)..needed.rows.end;
        let columns = needed.columns.clone();
        Ok((!rows.is_empty()).then_some(Region { rows, columns }))
    }

    /// Adds what copies the rows that the next tile needs too, of a tensor of this shape that `operator`
    /// computes, to the front of the next one, which is to hold this region of it.
    pub(super) fn keep(
        &self,
        draft: &mut Draft,
        operator: OperatorId,
        shape: Shape,
        (next, region): (TensorId, &Region),
    ) {
        let rows = region.rows.start..self.region.rows.end;
        if rows.is_empty() {
            return;
        }
        let columns = region.columns.clone();
        let kept = Region { rows, columns };
        let mut part = |tensor: TensorId, holds: &Region| {
            draft.view(tensor, holds.shape(shape), &kept.within(holds))
        };
        let (from, to) = (part(self.tensor, &self.region), part(next, region));
        draft.keep_rows(operator, from, to, kept.shape(shape));
    }
}
