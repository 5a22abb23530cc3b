//! An input that is handed over in rows, while the run that reads it is computed.
//!
//! ```text
//!  rows 0..9   --INPUT_ROWS--> x1 --conv--> first row of tiles
//!  rows 9..17  --INPUT_ROWS--> x2 --conv--> second row of tiles
//!        x1's last rows ---^
//! ```
//!
//! Before each row of tiles the application hands over the rows that no tile before needed, each
//! once and in order. Rows that the tiles before needed too are copied from what they read, so that
//! the tiles of a row find all that they read in one tensor.

use super::draft::Draft;
use super::region::{Region, shape};
use super::remove::remove;
use super::{Recipe, TransformError};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::operator::Shape;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The graph's one input, if the recipe's runs can be computed from its rows.
///
/// # Errors
/// When the graph has another number of inputs, or an operator outside of a run in tiles reads it.
pub(super) fn input(graph: &Graph, recipe: &Recipe) -> Result<TensorId, TransformError> {
    let refused = |reason| TransformError::Input { reason };
    let &[input] = &graph.inputs[..] else {
        return Err(refused("is not the only one"));
    };
    if !graph.in_arena(input) || shape(graph, input).is_none() {
        return Err(refused("has no rows and columns"));
    }
    if graph.outputs.contains(&input) {
        return Err(refused("is an output, too"));
    }
    let is_part =
        |(view, known): (&TensorId, &crate::graph::TensorView)| *view == input || known.of == input;
    if graph.views.iter().any(is_part) {
        return Err(refused("shares memory with another tensor"));
    }
    let nodes = graph.operators.iter().enumerate();
    let readers = nodes.filter(|(_, node)| node.inputs.contains(&input));
    let readers: HashSet<OperatorId> = readers.map(|(index, _)| OperatorId(index)).collect();
    let mut splits = recipe.splits.iter();
    let is_in_one =
        splits.any(|split| readers.is_subset(&split.operators.iter().copied().collect()));
    if readers.is_empty() || !is_in_one {
        return Err(refused(
            "is read by an operator that is not computed in tiles",
        ));
    }
    Ok(input)
}

/// Whether the graph's one input can be handed over in rows, to what remains of the graph.
pub(super) fn is_possible(graph: &Graph, recipe: &Recipe) -> bool {
    let remaining = remove(graph, &recipe.removed);
    remaining.is_ok_and(|remaining| input(&remaining.graph, recipe).is_ok())
}

/// The rows of an input that are in the arena while a run is computed.
pub(super) struct InputRows {
    input: TensorId,
    shape: Shape,
    /// The operator of the run that asks for them.
    reader: OperatorId,
    /// The tensor that holds rows now, and which.
    current: Option<(TensorId, Range<u32>)>,
}

impl InputRows {
    /// `None` if the input has no rows and columns.
    pub(super) fn new(graph: &Graph, input: TensorId, reader: OperatorId) -> Option<Self> {
        Some(Self {
            input,
            shape: shape(graph, input)?,
            reader,
            current: None,
        })
    }

    pub(super) fn is_of(&self, tensor: TensorId) -> bool {
        self.input == tensor
    }

    /// What a tile needs of the input, of the regions that it needs of all tensors.
    pub(super) fn of_tile(&self, regions: &HashMap<TensorId, Region>) -> Option<Region> {
        regions.get(&self.input).cloned()
    }

    /// Adds what makes the rows available that tiles need, unless they are there already.
    ///
    /// # Errors
    /// When they begin above those that are there: rows are handed over once.
    pub(super) fn hand_over(
        &mut self,
        draft: &mut Draft,
        needed: &[Region],
    ) -> Result<(), TransformError> {
        let needed = needed.iter().cloned();
        let Some(needed) = needed.reduce(|one, other| one.hull(&other)) else {
            return Ok(());
        };
        let held = self.current.as_ref().map_or(0..0, |(_, rows)| rows.clone());
        if needed.rows.start < held.start {
            let reason = "is needed again from a row on that is gone";
            return Err(TransformError::Input { reason });
        }
        if needed.rows.end <= held.end {
            return Ok(());
        }
        let new = needed.rows.start.max(held.end)..needed.rows.end;
        let kept = needed.rows.start..new.start;
        let current = self.current.as_ref().filter(|_| !kept.is_empty());
        let there = current.map(|(tensor, rows)| {
            let whole = self.of_rows(rows).shape(self.shape);
            let within = kept.start - rows.start..kept.end - rows.start;
            let kept = draft.view(*tensor, whole, &self.of_rows(&within));
            (kept, within.len() as u32)
        });
        let region = self.of_rows(&new);
        let fresh = (
            draft.view(self.input, self.shape, &region),
            new.len() as u32,
        );
        let (name, input) = (&draft.original.tensor(self.input).name, self.input);
        let name = format!("rows {}..{} of {name}", kept.start, new.end);
        let tensor = draft.hand_over(self.reader, (input, self.shape), name, there, fresh);
        self.current = Some((tensor, kept.start..new.end));
        Ok(())
    }

    /// The view of rows that are there.
    pub(super) fn view(&self, draft: &mut Draft, needs: &Region) -> Option<TensorId> {
        let (tensor, rows) = self.current.as_ref()?;
        let within = Region {
            rows: needs.rows.start.checked_sub(rows.start)?
                ..needs.rows.end.checked_sub(rows.start)?,
            columns: needs.columns.clone(),
        };
        let shape = self.of_rows(rows).shape(self.shape);
        (within.rows.end <= shape[1]).then(|| draft.view(*tensor, shape, &within))
    }

    fn of_rows(&self, rows: &Range<u32>) -> Region {
        Region {
            rows: rows.clone(),
            ..Region::whole(self.shape)
        }
    }
}
