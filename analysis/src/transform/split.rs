//! A run of operators, computed tile by tile.

use super::cache::{Cache, Held};
use super::draft::Draft;
use super::region::{self, PartialOperator, Region, part};
use super::slices::InputRows;
use super::{MOST_OPERATORS, Split, TransformError};
use crate::graph::{Graph, Kernel, Node, OperatorId, Storage, TensorId};
use crate::operator::{Operator, Shape};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Adds the operators of a split to the draft: tiles row by row, and in each the run. If the run
/// reads the input that is handed over `in_rows`, each row of tiles begins with that.
pub(super) fn split(
    draft: &mut Draft,
    split: &Split,
    in_rows: Option<TensorId>,
) -> Result<(), TransformError> {
    let run = Run::new(draft.original, &split.operators)?;
    let tiles = run.tiles(split.grid)?;
    // A part of an operator may have a copy of what is kept for it.
    let each = if split.cached { 2 } else { 1 };
    if draft.operators() + tiles.len() * run.operators.len() * each > MOST_OPERATORS {
        let limit = MOST_OPERATORS;
        return Err(TransformError::TooLarge { limit });
    }
    let mut rows = in_rows.and_then(|input| run.rows_of(input));
    let columns = split.grid[1] as usize;
    let mut caches: Vec<Option<Cache>> = Vec::new();
    caches.resize_with(columns, || split.cached.then(Cache::default));
    for (row, tiles) in tiles.chunks(columns).enumerate() {
        let parts = tiles.iter().zip(&caches);
        let parts = parts.map(|(tile, cache)| run.parts(tile, cache.as_ref()));
        let tiles = parts.collect::<Result<Vec<Tile>, TransformError>>()?;
        if let Some(rows) = &mut rows {
            let needed = tiles.iter();
            let needed = needed.filter_map(|tile| rows.of_tile(&tile.regions));
            rows.hand_over(draft, &needed.collect::<Vec<Region>>())?;
        }
        for (column, (tile, cache)) in tiles.iter().zip(&mut caches).enumerate() {
            let number = row * columns + column;
            let locals = run.add_tile(draft, number, tile, cache.as_ref(), rows.as_ref());
            let Some(cache) = cache else {
                continue;
            };
            for (of, tensor) in locals.into_iter().filter(|(of, _)| *of != run.output) {
                if let Some(region) = tile.regions.get(&of).cloned() {
                    cache.insert(of, Held { tensor, region });
                }
            }
        }
    }
    Ok(())
}

/// Operators whose last one's output is the only thing that others see of them.
pub(super) struct Run<'a> {
    pub(super) graph: &'a Graph,
    pub(super) operators: &'a [OperatorId],
    /// What they compute, the last one's output too.
    pub(super) computed: HashSet<TensorId>,
    pub(super) output: TensorId,
    pub(super) shape: Shape,
}

/// What computes a tile.
pub(super) struct Tile {
    /// One for each operator of the run; `None` if the tile needs nothing of it.
    pub(super) parts: Vec<Option<(PartialOperator, Region)>>,
    /// What of each tensor that the run computes is there for the tile: computed, but for what is kept.
    pub(super) regions: HashMap<TensorId, Region>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        operators: &'a [OperatorId],
    ) -> Result<Self, TransformError> {
        let refused = |reason| TransformError::Run { reason };
        let last = operators.last().ok_or(refused("is empty"))?;
        let mut computed = HashSet::new();
        for &operator in operators {
            let (_, output) = kernel(graph, operator)?;
            computed.insert(output);
        }
        let (_, output) = kernel(graph, *last)?;
        let inside: HashSet<OperatorId> = operators.iter().copied().collect();
        let is_outside = |(index, _): &(usize, &Node)| !inside.contains(&OperatorId(*index));
        let outside = graph.operators.iter().enumerate().filter(is_outside);
        let read_outside = outside.flat_map(|(_, node)| &node.inputs);
        let mut seen = read_outside.chain(&graph.outputs);
        if seen.any(|id| *id != output && computed.contains(id)) {
            let reason = "computes more than one tensor that others read";
            return Err(refused(reason));
        }
        // Others see of a tensor what they see of those that share its memory.
        let in_pieces = |id| {
            graph
                .views
                .iter()
                .any(|(view, known)| *view == id || known.of == id)
        };
        if computed.iter().any(|&id| id != output && in_pieces(id)) {
            let reason = "computes a tensor inside that is a part of another, or has parts";
            return Err(refused(reason));
        }
        let shape = region::shape(graph, output).ok_or(refused("has no rows and columns"))?;
        Ok(Self {
            graph,
            operators,
            computed,
            output,
            shape,
        })
    }

    /// The output, cut into tiles that differ by at most one row and one column.
    pub(super) fn tiles(&self, grid: [u32; 2]) -> Result<Vec<Region>, TransformError> {
        let limit = [self.shape[1], self.shape[2]];
        if grid.contains(&0) || grid[0] > limit[0] || grid[1] > limit[1] {
            return Err(TransformError::Grid { given: grid, limit });
        }
        let tiles = u64::from(grid[0]) * u64::from(grid[1]);
        if tiles.saturating_mul(self.operators.len() as u64) > MOST_OPERATORS as u64 {
            let limit = MOST_OPERATORS;
            return Err(TransformError::TooLarge { limit });
        }
        let cut = |extent: u32, parts: u32, part: u32| -> Range<u32> {
            let at = |part: u32| (u64::from(extent) * u64::from(part) / u64::from(parts)) as u32;
            at(part)..at(part + 1)
        };
        let tiles = (0..grid[0]).flat_map(|row| {
            (0..grid[1]).map(move |column| Region {
                rows: cut(limit[0], grid[0], row),
                columns: cut(limit[1], grid[1], column),
            })
        });
        Ok(tiles.collect())
    }

    /// What each operator has to compute for the tile, from the last one back: all that it needs, or
    /// what the `cache` does not have.
    pub(super) fn parts(
        &self,
        tile: &Region,
        cache: Option<&Cache>,
    ) -> Result<Tile, TransformError> {
        let mut regions = HashMap::from([(self.output, tile.clone())]);
        let mut parts = Vec::new();
        for &operator in self.operators.iter().rev() {
            let (kernel, output) = kernel(self.graph, operator)?;
            let held = cache.and_then(|cache| cache.get(&output));
            let missing = match (regions.get(&output), held) {
                (Some(needed), Some(held)) => held.missing(needed)?,
                (needed, _) => needed.cloned(),
            };
            let Some(region) = missing else {
                // All that is needed of it is there.
                regions.extend(held.map(|held| (output, held.region.clone())));
                parts.push(None);
                continue;
            };
            let refused = |reason| TransformError::Operator { operator, reason };
            let shape =
                region::shape(self.graph, output).ok_or(refused("has no rows and columns"))?;
            let reason = "cannot compute a part of its output from a part of its input";
            if !region::has_rows_of_its_inputs(self.graph, kernel, shape) {
                return Err(refused(
                    "has an input of other rows and columns than it reads",
                ));
            }
            let part = part(&kernel.operator, shape, &region).ok_or(refused(reason))?;
            for (index, (&input, needs)) in kernel.inputs.iter().zip(&part.inputs).enumerate() {
                match self.graph.tensor(input).storage {
                    Storage::Arena => {}
                    // Constants stay as they are, and so has what is needed of them.
                    _ if same_input(&kernel.operator, &part.operator, index) => continue,
                    _ => return Err(refused("takes a constant with rows and columns")),
                }
                if region::shape(self.graph, input).is_none() {
                    return Err(refused("has an input without rows and columns"));
                }
                let known = regions.entry(input).or_insert_with(|| needs.clone());
                *known = known.hull(needs);
            }
            parts.push(Some((part, region)));
        }
        parts.reverse();
        Ok(Tile { parts, regions })
    }

    /// `None` if no operator of the run reads the input.
    fn rows_of(&self, input: TensorId) -> Option<InputRows> {
        let reads = |one: &&OperatorId| self.graph.operators[one.0].inputs.contains(&input);
        let reader = self.operators.iter().find(reads)?;
        InputRows::new(self.graph, input, *reader)
    }

    /// Gives the tensors that hold what the tile needs of those that the run computes.
    fn add_tile(
        &self,
        draft: &mut Draft,
        number: usize,
        tile: &Tile,
        cache: Option<&Cache>,
        rows: Option<&InputRows>,
    ) -> HashMap<TensorId, TensorId> {
        let held = cache.into_iter().flatten();
        let mut locals: HashMap<TensorId, TensorId> =
            held.map(|(&of, held)| (of, held.tensor)).collect();
        for (&operator, part) in self.operators.iter().zip(&tile.parts) {
            let (Some((part, region)), Some(kernel)) =
                (part, &self.graph.operators[operator.0].kernel)
            else {
                continue;
            };
            let mut renamed = HashMap::new();
            for (&input, needs) in kernel.inputs.iter().zip(&part.inputs) {
                let new = match rows.filter(|rows| rows.is_of(input)) {
                    Some(rows) => rows.view(draft, needs),
                    None => self.input(draft, tile, &locals, input, needs),
                };
                if let Some(new) = new {
                    renamed.insert(input, new);
                }
            }
            for &output in &kernel.outputs {
                let Some(shape) = region::shape(self.graph, output) else {
                    continue;
                };
                let whole = tile.regions.get(&output).unwrap_or(region);
                let (local, stored) = if output == self.output {
                    let view = draft.view(output, shape, region);
                    (view, view)
                } else {
                    let name = format!("{} of tile {number}", self.graph.tensor(output).name);
                    let local = draft.tensor(output, name, whole.shape(shape));
                    if let Some(held) = cache.and_then(|cache| cache.get(&output)) {
                        held.keep(draft, operator, shape, (local, whole));
                    }
                    (
                        local,
                        draft.view(local, whole.shape(shape), &region.within(whole)),
                    )
                };
                locals.insert(output, local);
                renamed.insert(output, stored);
            }
            draft.replace(operator, part.operator.clone(), renamed);
        }
        locals
    }

    /// What a part of an operator reads for one of its inputs; none for what stays as it is.
    fn input(
        &self,
        draft: &mut Draft,
        tile: &Tile,
        locals: &HashMap<TensorId, TensorId>,
        input: TensorId,
        needs: &Region,
    ) -> Option<TensorId> {
        if !self.graph.in_arena(input) {
            return None;
        }
        let shape = region::shape(self.graph, input)?;
        if !self.computed.contains(&input) {
            return Some(draft.view(input, shape, needs));
        }
        let (local, region) = (*locals.get(&input)?, tile.regions.get(&input)?);
        Some(draft.view(local, region.shape(shape), &needs.within(region)))
    }
}

/// Whether two operators take the same of this input.
fn same_input(one: &Operator, other: &Operator, index: usize) -> bool {
    let input = |operator: &Operator| {
        let buffers = operator.buffers().ok()?;
        buffers.inputs.get(index).map(|buffer| buffer.shape)
    };
    input(one).is_some_and(|shape| input(other) == Some(shape))
}

/// The loops of an operator and the one tensor that it computes.
fn kernel(graph: &Graph, operator: OperatorId) -> Result<(&Kernel, TensorId), TransformError> {
    let refused = |reason| TransformError::Operator { operator, reason };
    let node = graph.operators.get(operator.0);
    let node = node.ok_or(refused("does not exist"))?;
    let kernel = node.kernel.as_ref().ok_or(refused("is not known"))?;
    match (&kernel.outputs[..], &node.outputs[..]) {
        (&[output], &[_]) if graph.in_arena(output) => Ok((kernel, output)),
        _ => Err(refused("does not compute one tensor of the arena")),
    }
}
