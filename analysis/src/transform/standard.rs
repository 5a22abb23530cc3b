//! A recipe in operators that every runtime has: for handing a model over.
//!
//! [`apply`](super::apply) gives tensors that lie inside of others, and windows with a padding
//! for each tile. Here a tile copies what it needs (`SLICE`), surrounds it by zero points where
//! its window reaches beyond the tensor (`PAD`; for a maximum by the lowest number, `PADV2`), and
//! all tiles are joined at the end (`CONCATENATION`). Everything else is an operator of the
//! original, on a part of its tensors and on the same weights.
//!
//! | file | what it holds |
//! |---|---|
//! | `standard/padding.rs` | windows that reach beyond the tensor |
//! | `standard/new.rs` | tensors and operators that the original does not have |
//!
//! ```text
//!  A --slice--> a --pad--> a' --conv, VALID--> x --slice--> ... --> tile 0 --+
//!  A --slice--> ...                                             --> tile 1 --+--concatenation--> B
//! ```
//!
//! The copies cost memory: what is sliced and its copy are there at the same time, and so are
//! all tiles and the whole that they are joined to.

mod new;
mod padding;

use super::draft::Draft;
use super::region::{Region, shape};
use super::split::{Run, Tile};
use super::{MOST_OPERATORS, Origin, Piece, Recipe, Split, TransformError, pieces};
use crate::graph::{Graph, Kind, TensorId};
use crate::operator::{Concat, Operator, Shape, StridedSlice};
use new::signed;
use std::collections::HashMap;
use std::ops::Range;

/// A graph of standard operators that computes the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standard {
    /// Its operators are in the order in which they run. All tensors of the original that are
    /// still in use have the indices that they had; those of the others are used again.
    pub graph: Graph,
    /// Where each operator comes from; none for a new one, which moves elements only.
    pub origins: Vec<Option<Origin>>,
    /// What each tensor is.
    pub tensors: Vec<TensorSource>,
}

/// What a tensor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TensorSource {
    /// That of the original graph with this index.
    Original,
    /// A piece of this one of the original graph, of its type and quantisation.
    Piece(TensorId),
    /// A constant of 32-bit integers.
    Integers(Vec<i32>),
    /// The lowest number of the type of this one of the original graph, with its quantisation.
    Lowest(TensorId),
}

/// Follows a recipe with standard operators.
///
/// # Errors
/// When [`apply`](super::apply) cannot follow it, or a tile of a pool that averages reaches beyond
/// the tensor in a way that neither `SAME` nor `VALID` is: it counts what lies inside.
pub fn standard(graph: &Graph, recipe: &Recipe) -> Result<Standard, TransformError> {
    if let Some(&operator) = recipe.in_place.first() {
        let reason = "is to work in place, which no standard operator does";
        return Err(TransformError::Operator { operator, reason });
    }
    if let Some(&operator) = recipe.removed.first() {
        let reason = "is left out, which no standard operator makes up for";
        return Err(TransformError::Operator { operator, reason });
    }
    let mut builder = Builder {
        draft: Draft::new(graph, graph),
        pieces: HashMap::new(),
        integers: HashMap::new(),
        lowest: HashMap::new(),
    };
    for piece in pieces(graph, recipe)? {
        match piece {
            Piece::One(operator) => builder.draft.keep(operator),
            Piece::Run(split) => builder.split(split)?,
        }
    }
    Ok(builder.finish())
}

/// TensorFlow Lite Micro concatenates no more tensors at once
/// (`tensorflow/lite/micro/kernels/concatenation.cc`).
const MOST_INPUTS: u32 = 10;

struct Builder<'a> {
    draft: Draft<'a>,
    /// Of which tensor of the original each new one is a piece.
    pieces: HashMap<TensorId, TensorId>,
    /// Constants, by shape and values.
    integers: HashMap<(Vec<u32>, Vec<i32>), TensorId>,
    /// The lowest number of each tensor of the original.
    lowest: HashMap<TensorId, TensorId>,
}

/// A tensor and its shape.
type Shaped = (TensorId, Shape);

impl Builder<'_> {
    fn split(&mut self, split: &Split) -> Result<(), TransformError> {
        if split.cached {
            let reason =
                "keeps rows from tile to tile, for which there is no form in standard operators";
            return Err(TransformError::Run { reason });
        }
        let run = Run::new(self.draft.original, &split.operators)?;
        let tiles = run.tiles(split.grid)?;
        let tiles = Tiles {
            run,
            tiles,
            columns: split.grid[1],
        };
        self.rows(&tiles, 0..split.grid[0], Some(tiles.run.output))?;
        Ok(())
    }

    /// Rows of tiles, one below the other; `into` a tensor of the original, else into a new one.
    fn rows(
        &mut self,
        tiles: &Tiles,
        rows: Range<u32>,
        into: Option<TensorId>,
    ) -> Result<Shaped, TransformError> {
        if rows.len() == 1 {
            return self.columns(tiles, rows.start, 0..tiles.columns, into);
        }
        let parts = cut(&rows).map(|rows| self.rows(tiles, rows, None));
        let parts: Vec<Shaped> = parts.collect::<Result<_, _>>()?;
        Ok(self.join(1, &parts, into.ok_or(tiles.run.output)))
    }

    /// Tiles of a row, side by side.
    fn columns(
        &mut self,
        tiles: &Tiles,
        row: u32,
        columns: Range<u32>,
        into: Option<TensorId>,
    ) -> Result<Shaped, TransformError> {
        if columns.len() == 1 {
            let number = row as usize * tiles.columns as usize + columns.start as usize;
            return self.tile(tiles, number, into);
        }
        let parts = cut(&columns).map(|columns| self.columns(tiles, row, columns, None));
        let parts: Vec<Shaped> = parts.collect::<Result<_, _>>()?;
        Ok(self.join(2, &parts, into.ok_or(tiles.run.output)))
    }

    /// One tensor of several. `into` is the tensor, or the one that it is to be a piece of.
    fn join(&mut self, axis: usize, parts: &[Shaped], into: Result<TensorId, TensorId>) -> Shaped {
        let mut whole = parts.first().map_or([1; 4], |(_, shape)| *shape);
        whole[axis] = parts.iter().map(|(_, shape)| shape[axis]).sum();
        let output = into.unwrap_or_else(|of| self.piece(of, "joined", whole));
        let inputs: Vec<TensorId> = parts.iter().map(|(id, _)| *id).collect();
        let operator = Operator::Concat(Concat {
            inputs: parts.iter().map(|(_, shape)| *shape).collect(),
            axis: axis as u32,
            element_bytes: self.element_bytes(output),
        });
        self.insert(
            Kind::Concatenation,
            operator,
            inputs.clone(),
            inputs,
            output,
        );
        (output, whole)
    }

    fn tile(
        &mut self,
        tiles: &Tiles,
        number: usize,
        into: Option<TensorId>,
    ) -> Result<Shaped, TransformError> {
        let run = &tiles.run;
        let region = &tiles.tiles[number];
        let tile = run.parts(region, None)?;
        let mut locals = Locals::default();
        for (&operator, part) in run.operators.iter().zip(&tile.parts) {
            let (Some((part, region)), Some(kernel)) =
                (part, &run.graph.operators[operator.0].kernel)
            else {
                continue;
            };
            let mut renamed = HashMap::new();
            for (&input, needs) in kernel.inputs.iter().zip(&part.inputs) {
                if let Some(new) = self.input(run, &tile, &mut locals, input, needs) {
                    renamed.insert(input, new);
                }
            }
            let loops = self.standard_loops(run.graph, operator, &part.operator, &mut renamed)?;
            for &output in &kernel.outputs {
                let Some(shape) = shape(run.graph, output) else {
                    continue;
                };
                let new = match into {
                    Some(into) if output == run.output => into,
                    _ => self.piece(output, &format!("tile {number}"), region.shape(shape)),
                };
                locals.computed.insert(output, new);
                renamed.insert(output, new);
            }
            self.draft.replace(operator, loops, renamed);
            if self.draft.operators() > MOST_OPERATORS {
                let limit = MOST_OPERATORS;
                return Err(TransformError::TooLarge { limit });
            }
        }
        let reason = "does not compute its output";
        let output = locals.computed.get(&run.output);
        let output = *output.ok_or(TransformError::Run { reason })?;
        Ok((output, region.shape(run.shape)))
    }

    /// What a part of an operator reads for one of its inputs; none for what stays as it is.
    fn input(
        &mut self,
        run: &Run,
        tile: &Tile,
        locals: &mut Locals,
        input: TensorId,
        needs: &Region,
    ) -> Option<TensorId> {
        if !run.graph.in_arena(input) {
            return None;
        }
        let shape = shape(run.graph, input)?;
        let (from, region) = if run.computed.contains(&input) {
            (*locals.computed.get(&input)?, tile.regions.get(&input)?)
        } else {
            (input, &Region::whole(shape))
        };
        if needs == region {
            return Some(from);
        }
        let key = (input, needs.clone());
        if let Some(&known) = locals.slices.get(&key) {
            return Some(known);
        }
        let begin = [
            0,
            needs.rows.start - region.rows.start,
            needs.columns.start - region.columns.start,
            0,
        ];
        let new = self.slice(
            (from, region.shape(shape)),
            begin,
            input,
            needs.shape(shape),
        );
        locals.slices.insert(key, new);
        Some(new)
    }

    /// A copy of a part, which is to be a piece of a tensor of the original.
    fn slice(&mut self, from: Shaped, begin: Shape, of: TensorId, shape: Shape) -> TensorId {
        let (from, input) = from;
        let output = self.piece(of, "slice", shape);
        let operator = Operator::StridedSlice(StridedSlice {
            input,
            begin,
            stride: [1; 4],
            output: shape,
            in_runs: false,
            element_bytes: self.element_bytes(output),
        });
        let begin = self.constant(vec![4], signed(begin));
        let size = self.constant(vec![4], signed(shape));
        self.insert(
            Kind::Slice,
            operator,
            vec![from],
            vec![from, begin, size],
            output,
        );
        output
    }
}

/// The tiles of a run, row by row.
struct Tiles<'a> {
    run: Run<'a>,
    tiles: Vec<Region>,
    columns: u32,
}

/// What a tile has.
#[derive(Default)]
struct Locals {
    /// What stands for what the run computes.
    computed: HashMap<TensorId, TensorId>,
    /// Parts of tensors.
    slices: HashMap<(TensorId, Region), TensorId>,
}
/// A range in pieces, one for each element where they are few.
fn cut(range: &Range<u32>) -> impl Iterator<Item = Range<u32>> + use<> {
    let (start, length) = (range.start, range.end - range.start);
    let parts = match length {
        0..=MOST_INPUTS => length,
        _ => length.div_ceil(MOST_INPUTS).min(MOST_INPUTS),
    };
    let at = move |part: u32| {
        start + (u64::from(length) * u64::from(part) / u64::from(parts.max(1))) as u32
    };
    (0..parts).map(move |part| at(part)..at(part + 1))
}
