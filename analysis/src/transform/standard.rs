//! A recipe in operators that every runtime has: for handing a model over.
//!
//! [`apply`](super::apply) gives tensors that lie inside of others, and windows with a padding
//! for each tile. Here a tile copies what it needs (`SLICE`), surrounds it by zero points where
//! its window reaches beyond the tensor (`PAD`), and all tiles are joined at the end
//! (`CONCATENATION`). Everything else is an operator of the original, on a part of its tensors
//! and on the same weights.
//!
//! ```text
//!  A --slice--> a --pad--> a' --conv, VALID--> x --slice--> ... --> tile 0 --+
//!  A --slice--> ...                                             --> tile 1 --+--concatenation--> B
//! ```
//!
//! The copies cost memory: what is sliced and its copy are there at the same time, and so are
//! all tiles and the whole that they are joined to.

use super::draft::Draft;
use super::region::Region;
use super::split::{Run, Tile, shape};
use super::{MOST_OPERATORS, Origin, Piece, Recipe, Split, TransformError, pieces};
use crate::graph::{Graph, GraphTensor, Kernel, Node, OperatorId, Storage, TensorId};
use crate::operator::{
    Concat, Conv2d, DepthwiseConv2d, Operator, Pad, Padding, Shape, StridedSlice, Window,
};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A graph of standard operators that computes the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standard {
    /// Its operators are in the order in which they run. All tensors of the original that are
    /// still in use have the indices that they had.
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
}

/// Follows a recipe with standard operators.
///
/// # Errors
/// When [`apply`](super::apply) cannot follow it, or a tile of a pool reaches beyond the tensor
/// in a way that neither `SAME` nor `VALID` is.
pub fn standard(graph: &Graph, recipe: &Recipe) -> Result<Standard, TransformError> {
    if let Some(&operator) = recipe.in_place.first() {
        let reason = "is to work in place, which no standard operator does";
        return Err(TransformError::Operator { operator, reason });
    }
    let mut builder = Builder {
        draft: Draft::new(graph),
        pieces: HashMap::new(),
        integers: HashMap::new(),
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
}

/// A tensor and its shape.
type Shaped = (TensorId, Shape);

impl Builder<'_> {
    fn split(&mut self, split: &Split) -> Result<(), TransformError> {
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
        self.insert("CONCATENATION", operator, inputs.clone(), inputs, output);
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
        let tile = run.parts(region)?;
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
        let (from, region) = match run.computed.contains(&input) {
            true => (*locals.computed.get(&input)?, tile.regions.get(&input)?),
            false => (input, &Region::whole(shape)),
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
            element_bytes: self.element_bytes(output),
        });
        let begin = self.constant(vec![4], signed(begin));
        let size = self.constant(vec![4], signed(shape));
        self.insert(
            "SLICE",
            operator,
            vec![from],
            vec![from, begin, size],
            output,
        );
        output
    }

    /// The loops, with the padding that they lack in front of them.
    fn standard_loops(
        &mut self,
        graph: &Graph,
        operator: OperatorId,
        loops: &Operator,
        renamed: &mut HashMap<TensorId, TensorId>,
    ) -> Result<Operator, TransformError> {
        let node = &graph.operators[operator.0];
        let refused = |reason| TransformError::Operator { operator, reason };
        match *loops {
            Operator::Conv2d(conv) if needs_pad(&conv.window, conv.input, conv.output) => {
                let input = self.padded(node, conv.window, conv.input, conv.output, renamed);
                let window = unpadded(conv.window);
                let input = input.ok_or(refused(BEYOND))?;
                let conv = Conv2d {
                    input,
                    window,
                    ..conv
                };
                Ok(Operator::Conv2d(conv))
            }
            Operator::DepthwiseConv2d(conv) if needs_pad(&conv.window, conv.input, conv.output) => {
                let input = self.padded(node, conv.window, conv.input, conv.output, renamed);
                let window = unpadded(conv.window);
                let input = input.ok_or(refused(BEYOND))?;
                let conv = DepthwiseConv2d {
                    input,
                    window,
                    ..conv
                };
                Ok(Operator::DepthwiseConv2d(conv))
            }
            Operator::Pool2d(pool) if needs_pad(&pool.window, pool.input, pool.output) => {
                Err(refused(POOL))
            }
            Operator::Pad(pad) => {
                // Graphs built in code may leave them out.
                if let Some(&paddings) = node.inputs.get(1) {
                    let new = self.paddings(&pad).ok_or(refused(BEYOND))?;
                    renamed.insert(paddings, new);
                }
                Ok(Operator::Pad(pad))
            }
            ref other => Ok(other.clone()),
        }
    }

    /// Pads the first input of a node, so that its window stays inside, and gives its shape.
    fn padded(
        &mut self,
        node: &Node,
        window: Window,
        input: Shape,
        output: Shape,
        renamed: &mut HashMap<TensorId, TensorId>,
    ) -> Option<Shape> {
        let original = *node.kernel.as_ref()?.inputs.first()?;
        let from = *renamed.get(&original)?;
        let mut padded = input;
        for axis in [0, 1] {
            let reach = (window.kernel[axis] - 1).checked_mul(window.dilation[axis])?;
            let last = (output[axis + 1] - 1).checked_mul(window.stride[axis])?;
            padded[axis + 1] = last.checked_add(reach)?.checked_add(1)?;
        }
        let pad = Pad {
            input,
            before: [0, window.padding_before[0], window.padding_before[1], 0],
            output: padded,
            element_bytes: self.element_bytes(from),
        };
        let paddings = self.paddings(&pad)?;
        let new = self.piece(original, "padded", padded);
        self.insert(
            "PAD",
            Operator::Pad(pad),
            vec![from],
            vec![from, paddings],
            new,
        );
        renamed.insert(original, new);
        Some(padded)
    }

    /// The constant that says how to pad; none where the output is too small.
    fn paddings(&mut self, pad: &Pad) -> Option<TensorId> {
        let mut values = Vec::new();
        for axis in 0..4 {
            let after = pad.output[axis].checked_sub(pad.before[axis])?;
            let after = after.checked_sub(pad.input[axis])?;
            values.extend([pad.before[axis], after].map(u32::cast_signed));
        }
        Some(self.constant(vec![4, 2], values))
    }

    fn constant(&mut self, shape: Vec<u32>, values: Vec<i32>) -> TensorId {
        let key = (shape, values);
        if let Some(&known) = self.integers.get(&key) {
            return known;
        }
        let (shape, values) = key.clone();
        let id = self.draft.add(GraphTensor {
            name: format!("{values:?}"),
            shape,
            element_type: "INT32".to_owned(),
            size_bytes: 4 * values.len() as u64,
            storage: Storage::Constant,
        });
        self.integers.insert(key, id);
        id
    }

    /// A new tensor, a piece of one of the original.
    fn piece(&mut self, of: TensorId, what: &str, shape: Shape) -> TensorId {
        let name = format!("{} {what}", self.draft.original.tensor(of).name);
        let id = self.draft.tensor(of, name, shape);
        self.pieces.insert(id, of);
        id
    }

    fn insert(
        &mut self,
        kind: &str,
        operator: Operator,
        activations: Vec<TensorId>,
        inputs: Vec<TensorId>,
        output: TensorId,
    ) {
        self.draft.insert(Node {
            kind: kind.to_owned(),
            inputs,
            outputs: vec![output],
            kernel: Some(Kernel {
                operator,
                inputs: activations,
                outputs: vec![output],
            }),
            scratch_bytes: Vec::new(),
        });
    }

    fn element_bytes(&self, id: TensorId) -> u32 {
        let tensor = self.draft.known(id);
        let elements: u64 = tensor.shape.iter().copied().map(u64::from).product();
        let bytes = tensor.size_bytes.checked_div(elements);
        bytes.map_or(1, |bytes| bytes as u32)
    }

    fn finish(self) -> Standard {
        let originals = self.draft.original.tensors.len();
        let (mut graph, mut origins) = self.draft.into_parts();
        let mut values: HashMap<TensorId, Vec<i32>> = HashMap::new();
        for ((_, constant), id) in self.integers {
            values.insert(id, constant);
        }
        let mut tensors: Vec<TensorSource> = (0..graph.tensors.len())
            .map(|index| {
                match (
                    self.pieces.get(&TensorId(index)),
                    values.remove(&TensorId(index)),
                ) {
                    (Some(&of), _) => TensorSource::Piece(of),
                    (_, Some(values)) => TensorSource::Integers(values),
                    _ => TensorSource::Original,
                }
            })
            .collect();
        let moved = fill_gaps(&mut graph, originals, &mut tensors);
        let new = |id: &mut TensorId| {
            if let Some(&new) = moved.get(id) {
                *id = new;
            }
        };
        for node in &mut graph.operators {
            node.inputs
                .iter_mut()
                .chain(&mut node.outputs)
                .for_each(new);
            if let Some(kernel) = &mut node.kernel {
                kernel
                    .inputs
                    .iter_mut()
                    .chain(&mut kernel.outputs)
                    .for_each(new);
            }
        }
        for origin in origins.iter_mut().flatten() {
            origin.renamed.values_mut().for_each(new);
        }
        Standard {
            graph,
            origins,
            tensors,
        }
    }
}

/// Runtimes make room for tensors that nothing uses: the last new ones take their places.
fn fill_gaps(
    graph: &mut Graph,
    originals: usize,
    tensors: &mut Vec<TensorSource>,
) -> HashMap<TensorId, TensorId> {
    let of_operators = graph.operators.iter();
    let of_operators = of_operators.flat_map(|node| node.inputs.iter().chain(&node.outputs));
    let used = of_operators.chain(&graph.inputs).chain(&graph.outputs);
    let used: HashSet<TensorId> = used.copied().collect();
    let mut moved = HashMap::new();
    for index in 0..originals {
        let unused = graph.in_arena(TensorId(index)) && !used.contains(&TensorId(index));
        if unused && graph.tensors.len() > originals {
            graph.tensors.swap_remove(index);
            tensors.swap_remove(index);
            moved.insert(TensorId(graph.tensors.len()), TensorId(index));
        }
    }
    moved
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

const BEYOND: &str = "has a window that lies wholly outside its input";
const POOL: &str = "pools a part that reaches beyond the tensor's border, which no padding of \
                    standard operators says; hint: end the run before it";

/// Whether a runtime, told SAME or VALID, makes another window.
fn needs_pad(window: &Window, input: Shape, output: Shape) -> bool {
    let known = [Padding::Same, Padding::Valid];
    !known
        .iter()
        .any(|&padding| window.is_padded(padding, input, output))
}

fn unpadded(window: Window) -> Window {
    Window {
        padding_before: [0, 0],
        ..window
    }
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

fn signed(shape: Shape) -> Vec<i32> {
    shape.map(u32::cast_signed).to_vec()
}
