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

/// The tensors of the last tile of a column.
#[derive(Default)]
pub(super) struct Cache {
    held: HashMap<TensorId, Held>,
}

/// What is there of a tensor of the original graph.
#[derive(Clone)]
pub(super) struct Held {
    /// The tensor that holds it.
    pub(super) tensor: TensorId,
    /// Which part it is.
    pub(super) region: Region,
}

impl Held {
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

impl Cache {
    pub(super) fn of(&self, tensor: TensorId) -> Option<&Held> {
        self.held.get(&tensor)
    }

    /// The tensor that holds what is there of each one.
    pub(super) fn tensors(&self) -> HashMap<TensorId, TensorId> {
        let held = self.held.iter();
        held.map(|(&of, held)| (of, held.tensor)).collect()
    }

    /// The first row of a tensor of this shape that has not been computed yet, if any.
    pub(super) fn next_row(&self, tensor: TensorId, shape: Shape) -> Option<Region> {
        let next = self.of(tensor).map_or(0, |held| held.region.rows.end);
        (next < shape[1]).then(|| Region {
            rows: next..next + 1,
            ..Region::whole(shape)
        })
    }

    /// What has to be computed so that all that is needed is there; `None` if it is.
    ///
    /// # Errors
    /// When rows are needed that are gone, or other columns.
    pub(super) fn missing(
        &self,
        tensor: TensorId,
        needed: &Region,
    ) -> Result<Option<Region>, TransformError> {
        let Some(Held { region: held, .. }) = self.of(tensor) else {
            return Ok(Some(needed.clone()));
        };
        if needed.rows.start < held.rows.start || needed.columns != held.columns {
            let reason = "needs again what is gone of a tensor of which rows are kept";
            return Err(TransformError::Run { reason });
        }
        let rows = needed.rows.start.max(held.rows.end)..needed.rows.end;
        let columns = needed.columns.clone();
        Ok((!rows.is_empty()).then_some(Region { rows, columns }))
    }

    /// From now on this is there of a tensor.
    pub(super) fn hold(&mut self, of: TensorId, held: Held) {
        self.held.insert(of, held);
    }
}
