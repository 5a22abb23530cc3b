//! Tensors that lie inside of others.

use super::{Graph, GraphTensor, TensorId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A tensor that has no memory of its own: its bytes are some of another tensor's.
///
/// ```text
///  the other tensor, 4 rows of 6 pixels       the view, 2 rows of 3 pixels
///  . . . . . .
///  . . V V V .  <- offset_bytes: 8 pixels     pitch_bytes: [6 pixels, 1 pixel]
///  . . V V V .                                size_bytes: 9 pixels, from the first
///  . . . . . .                                to the last, 6 of them its own
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorView {
    /// The tensor that it lies in, which is no view.
    pub of: TensorId,
    /// Where its first byte lies in that one.
    pub offset_bytes: u64,
    /// From one row to the next and from one pixel to the next; `None` if its elements follow
    /// each other without gaps.
    pub pitch_bytes: Option<[u64; 2]>,
}

impl TensorView {
    /// The bytes that are the view's own, from its first byte, in ascending order and as long
    /// as they follow each other. `shape` is the view's, its batch 1 where it has a pitch.
    pub fn runs(&self, tensor: &GraphTensor) -> Vec<Range<u64>> {
        let whole = 0..tensor.size_bytes;
        let Some([row, pixel]) = self.pitch_bytes else {
            return vec![whole];
        };
        let &[_, height, width, _] = &tensor.shape[..] else {
            return vec![whole];
        };
        let [rows, pixels] = [height, width].map(u64::from);
        let before = |rows: u64, pixels: u64| {
            row.saturating_mul(rows)
                .saturating_add(pixel.saturating_mul(pixels))
        };
        let last = before(rows.saturating_sub(1), pixels.saturating_sub(1));
        let run = tensor.size_bytes.saturating_sub(last);
        let mut runs: Vec<Range<u64>> = Vec::new();
        for start in (0..rows).flat_map(|y| (0..pixels).map(move |x| before(y, x))) {
            match runs.last_mut() {
                Some(last) if last.end == start => last.end = start + run,
                _ => runs.push(start..start + run),
            }
        }
        runs
    }
}

impl Graph {
    /// The tensor whose memory this one's bytes are: itself, where it is no view.
    pub fn root(&self, id: TensorId) -> TensorId {
        self.views.get(&id).map_or(id, |view| view.of)
    }

    /// Where the tensor's bytes lie in its [`root`](Self::root), from the first to the last.
    pub fn extent(&self, id: TensorId) -> Range<u64> {
        let start = self.views.get(&id).map_or(0, |view| view.offset_bytes);
        start..start.saturating_add(self.tensor(id).size_bytes)
    }

    /// Whether other bytes lie between the tensor's own.
    pub fn has_gaps(&self, id: TensorId) -> bool {
        let view = self.views.get(&id);
        view.is_some_and(|view| view.pitch_bytes.is_some())
    }

    /// The tensor's own bytes, from its first byte ([`TensorView::runs`]).
    pub fn own_bytes(&self, id: TensorId) -> Vec<Range<u64>> {
        let tensor = self.tensor(id);
        match self.views.get(&id) {
            Some(view) => view.runs(tensor),
            None => std::iter::once(0..tensor.size_bytes).collect(),
        }
    }

    /// Where each tensor lies, views included, given where those that are none lie.
    pub fn with_views(&self, mut offsets: Vec<Option<u64>>) -> Vec<Option<u64>> {
        for (id, view) in &self.views {
            let root = offsets.get(view.of.0).copied().flatten();
            if let Some(offset) = offsets.get_mut(id.0) {
                *offset = root.map(|root| root.saturating_add(view.offset_bytes));
            }
        }
        offsets
    }
}
