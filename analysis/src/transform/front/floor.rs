//! What the tiles of a run need at least, from their sizes alone.
//!
//! While a tile is computed, what is left of the run's inputs X, the output O, and what this tile or the
//! next still needs of the tile's own tensors L have their bytes in memory. L may lie where X is not
//! needed any more, the first f bytes of it, and O where X allows it, the first |O| - d; both in the same
//! bytes at most once:
//!
//! ```text
//!  bytes >= |X| + |O| + |L| - max(f, |O| - d)
//! ```
//!
//! L never lies in O. Of two tensors that are there together only the later one may reach into the other,
//! from below ([`Arena::new`]). From the second tile on L is later than O, and whoever reads O reads its
//! first byte, after the run: an L below O ends where O begins. A tile that keeps rows reads some that are
//! earlier than O, and those may lie in what of O is not stored yet; of such tiles the floor only says in
//! which order they are looked at.

use super::Search;
use super::cuts::{Cut, Step};
use super::part::Part;
use crate::arena::{Arena, Layout};
use crate::graph::overlaps::Overlaps;
use crate::graph::{Graph, OperatorId, TensorId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The model's operators, in the order in which they run, as far as tiles are concerned.
pub(super) struct Steps<'a> {
    graph: &'a Graph,
    layout: Layout,
    pub(super) steps: Vec<Option<Step<'a>>>,
    /// Which step computes a tensor.
    pub(super) producers: HashMap<TensorId, usize>,
    /// The last step that reads a tensor; one past all for what is read in the end.
    last_reads: HashMap<TensorId, usize>,
    /// For each step, those before it whose output it, or one behind it, reads.
    alive: Vec<Vec<usize>>,
    /// For each step, those that read its output, and which of their inputs it is.
    readers: Vec<Vec<(usize, usize)>>,
    /// Whether a step's output may overlap something.
    overlaps: Vec<bool>,
    /// Tensors that lie in others, or in which others lie.
    in_pieces: HashSet<TensorId>,
    /// Whether the graph's inputs are handed over in rows, of which a floor counts none.
    inputs_in_rows: bool,
    arena: &'a Arena,
}

/// What a run reads that others compute.
struct Given {
    /// Of one row and of one pixel, in bytes.
    pitch: [u64; 2],
    bytes: u64,
    /// Whether nothing behind the run reads it.
    dies: bool,
    /// The steps that read it, and which of their inputs it is.
    readers: Vec<(usize, usize)>,
}

/// A run of steps.
pub(super) struct Span<'a, 's> {
    of: &'s Steps<'a>,
    pub(super) steps: Range<usize>,
    given: Vec<Given>,
    /// What is there beside the run's own tensors, in bytes.
    beside: u64,
    /// Of the output; 0 if it is not counted.
    output_bytes: u64,
    /// Of a pixel of each step's output.
    pixel_bytes: Vec<u64>,
}

impl<'a> Steps<'a> {
    /// `arena` is that of the operators in this order, none of them in tiles; `overlaps` are
    /// those of the graph.
    pub(super) fn new(
        graph: &'a Graph,
        order: &[OperatorId],
        overlaps: &Overlaps,
        arena: &'a Arena,
        search: &Search<'_>,
    ) -> Self {
        let layout = search.layout;
        let nodes: Vec<_> = order.iter().map(|one| &graph.operators[one.0]).collect();
        let mut last_reads = HashMap::new();
        let mut producers = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            last_reads.extend(node.inputs.iter().map(|&input| (input, at)));
            producers.extend(node.outputs.iter().map(|&output| (output, at)));
        }
        let kept = graph.inputs.iter().filter(|_| layout.keep_inputs);
        let kept = graph.outputs.iter().chain(kept);
        last_reads.extend(kept.map(|&output| (output, order.len())));
        let last_read = |at: usize| {
            let outputs = nodes[at].outputs.iter();
            outputs.filter_map(|id| last_reads.get(id)).max().copied()
        };
        let alive = (0..order.len()).map(|at| {
            let before = (0..at).filter(|&before| last_read(before) >= Some(at));
            before.collect()
        });
        let views = graph.views.iter();
        let steps: Vec<Option<Step<'a>>> = order.iter().map(|&one| Step::new(graph, one)).collect();
        let mut readers = vec![Vec::new(); steps.len()];
        for (at, step) in steps.iter().enumerate() {
            let inputs = step.as_ref().map_or(&[][..], |step| step.inputs).iter();
            for (index, input) in inputs.enumerate() {
                if let Some(&producer) = producers.get(input) {
                    readers[producer].push((at, index));
                }
            }
        }
        Self {
            graph,
            layout,
            readers,
            steps,
            alive: alive.collect(),
            overlaps: order
                .iter()
                .map(|one| !overlaps[one.0].is_empty())
                .collect(),
            in_pieces: views.flat_map(|(&view, known)| [view, known.of]).collect(),
            producers,
            last_reads,
            inputs_in_rows: search.slices,
            arena,
        }
    }

    /// The first step from which on steps make a run that ends before `end`: nothing but the
    /// last one's output is read by others.
    pub(super) fn first(&self, end: usize, most: usize) -> usize {
        let ends = |at: usize| {
            let Some(step) = &self.steps[at] else {
                return false;
            };
            let last_read = self.last_reads.get(&step.output);
            at + 1 == end
                || last_read.is_some_and(|&last| last < end)
                    && !self.in_pieces.contains(&step.output)
        };
        let least = end.saturating_sub(most);
        let steps = (least..end).rev().take_while(|&at| ends(at));
        steps.last().unwrap_or(end)
    }

    /// Whether some of these columns are less than the whole width of a tensor of the arena.
    pub(super) fn has_gaps(&self, id: TensorId, columns: &[Range<u32>]) -> bool {
        let width = self.graph.tensor(id).shape.get(2).copied().unwrap_or(1);
        self.graph.in_arena(id) && columns.iter().any(|range| *range != (0..width))
    }

    /// What is to be known of a run.
    pub(super) fn span(&self, steps: Range<usize>) -> Span<'a, '_> {
        let inside = |id: &TensorId| self.producers.get(id).is_some_and(|at| steps.contains(at));
        let mut given: Vec<(TensorId, Vec<(usize, usize)>)> = Vec::new();
        let mut touched: HashSet<Option<usize>> = HashSet::new();
        for at in steps.clone() {
            let Some(step) = &self.steps[at] else {
                continue;
            };
            touched.insert(self.arena.buffer_of[step.output.0]);
            for (index, input) in step.inputs.iter().enumerate() {
                touched.insert(self.arena.buffer_of[input.0]);
                let in_rows = self.inputs_in_rows && self.graph.inputs.contains(input);
                if inside(input) || in_rows || !self.graph.in_arena(*input) {
                    continue;
                }
                match given.iter_mut().find(|(known, _)| known == input) {
                    Some((_, readers)) => readers.push((at, index)),
                    None => given.push((*input, vec![(at, index)])),
                }
            }
        }
        let output = self.steps[steps.end - 1].as_ref().map(|step| step.output);
        let ends = given.iter().map(|(id, _)| *id).chain(output);
        let in_pieces = ends.into_iter().any(|id| self.in_pieces.contains(&id));
        let count = |id: TensorId| {
            let bytes = self.layout.rounded(self.graph.tensor(id).size_bytes);
            bytes * u64::from(self.arena.buffer_of[id.0].is_some() && !in_pieces)
        };
        let pixel_bytes = steps.clone().map(|at| {
            let step = self.steps[at].as_ref();
            step.map_or(0, |step| self.pixel_bytes(step.output))
        });
        let (first, last) = (steps.start as u32, steps.end as u32);
        let beside = self.arena.problem.buffers().iter().enumerate();
        let beside = beside.filter(|(index, buffer)| {
            // Step 0 is the application's.
            let around = buffer.alive.start <= first && last + 1 < buffer.alive.end;
            around && !in_pieces && !touched.contains(&Some(*index))
        });
        Span {
            of: self,
            beside: beside.map(|(_, buffer)| buffer.size_bytes).sum(),
            // What nobody reads keeps nothing away.
            output_bytes: output
                .filter(|id| self.last_reads.get(id).is_some_and(|&at| at >= steps.end))
                .map_or(0, count),
            pixel_bytes: pixel_bytes.collect(),
            given: given
                .into_iter()
                .filter(|(id, _)| count(*id) > 0)
                .map(|(id, readers)| self.given(id, readers, count(id), steps.end))
                .collect(),
            steps,
        }
    }

    /// Whether a run reads or computes tensors that lie in others, or in which others lie.
    pub(super) fn is_in_pieces(&self, run: &Range<usize>) -> bool {
        let steps = run.clone().filter_map(|at| self.steps[at].as_ref());
        let mut touched = steps.flat_map(|step| step.inputs.iter().chain([&step.output]));
        touched.any(|id| self.in_pieces.contains(id))
    }

    /// What is there beside the tensors of a run, in bytes.
    pub(super) fn beside(&self, run: &Range<usize>) -> u64 {
        self.span(run.clone()).beside
    }

    /// The run by itself.
    pub(super) fn part(&self, run: &Range<usize>, operators: &[OperatorId]) -> Part {
        let later = |id: TensorId| {
            self.last_reads
                .get(&id)
                .is_some_and(|&last| last >= run.end)
        };
        Part::new(self.graph, operators, &later)
    }

    fn given(&self, id: TensorId, readers: Vec<(usize, usize)>, bytes: u64, end: usize) -> Given {
        let pixel = self.pixel_bytes(id);
        let width = self.graph.tensor(id).shape.get(2).copied().unwrap_or(1);
        Given {
            pitch: [pixel * u64::from(width), pixel],
            bytes,
            dies: self.last_reads.get(&id).is_some_and(|&last| last < end),
            readers,
        }
    }

    fn pixel_bytes(&self, id: TensorId) -> u64 {
        let tensor = self.graph.tensor(id);
        let pixels = tensor.shape.get(1..3).unwrap_or(&[]).iter();
        let pixels: u64 = pixels.map(|&extent| u64::from(extent)).product();
        tensor.size_bytes / pixels.max(1)
    }
}

/// A tile: which part of the rows, and which of the columns.
type Tile = [usize; 2];

impl Span<'_, '_> {
    /// No plan with the run in tiles of these cuts is smaller, in bytes.
    pub(super) fn floor(&self, cuts: [&Cut; 2], grid: [u32; 2]) -> u64 {
        let [rows, columns] = grid.map(|parts| parts as usize);
        let (down, right) = ((rows - 1).min(1), (columns - 1).min(1));
        let mut tiles = vec![[down, right]];
        if down + right == 2 {
            tiles.extend([[0, 1], [1, 0]]);
        }
        let output = self.output_shared(cuts, grid);
        let tiles = tiles.into_iter();
        tiles
            .map(|tile| self.of_tile(cuts, grid, tile, &output))
            .max()
            .unwrap_or(0)
    }

    /// How many bytes at the start of the output may lie in the input's, at most.
    fn output_shared(&self, cuts: [&Cut; 2], grid: [u32; 2]) -> Vec<u64> {
        let last = self.steps.end - 1;
        let [rows, columns] = grid.map(|parts| parts as usize);
        let tiles = [
            [0, 0],
            [rows / 2, columns - 1],
            [rows - 1, 0],
            [rows - 1, columns - 1],
        ];
        let pixel = self.pixel_bytes[self.steps.len() - 1];
        let shape = self.of.steps[last]
            .as_ref()
            .map_or([1; 4], |step| step.shape);
        let stored = |tile: Tile| {
            let [rows, columns] = [0, 1].map(|axis| &cuts[axis].at(last).computed[tile[axis]]);
            (u64::from(rows.end - 1) * u64::from(shape[2]) + u64::from(columns.end)) * pixel
        };
        let shared = |given: &Given| {
            let distances = tiles.iter().map(|&tile| {
                let free = self.free(given, cuts, grid, tile, last);
                stored(tile).saturating_sub(free)
            });
            self.output_bytes
                .saturating_sub(distances.max().unwrap_or(0))
        };
        self.given.iter().map(shared).collect()
    }

    /// The bytes at the start of an input that nothing reads after this step of a tile.
    fn free(&self, given: &Given, cuts: [&Cut; 2], grid: [u32; 2], tile: Tile, step: usize) -> u64 {
        if !given.dies {
            return 0;
        }
        let first = |at: usize, input: usize, tile: Tile| {
            let read = |axis: usize| {
                let ranges = &cuts[axis].at(at).read[input];
                ranges.get(tile[axis]).filter(|range| !range.is_empty())
            };
            let starts = [read(0)?, read(1)?].map(|range| u64::from(range.start));
            Some(starts[0] * given.pitch[0] + starts[1] * given.pitch[1])
        };
        let [row, column] = tile;
        let later = given.readers.iter().flat_map(|&(at, input)| {
            let here = (at > step).then_some(tile);
            let right = (column + 1 < grid[1] as usize).then_some([row, column + 1]);
            let below = (row + 1 < grid[0] as usize).then_some([row + 1, 0]);
            let tiles = [here, right, below].into_iter().flatten();
            tiles.filter_map(move |tile| first(at, input, tile))
        });
        later.min().unwrap_or(given.bytes)
    }

    fn of_tile(&self, cuts: [&Cut; 2], grid: [u32; 2], tile: Tile, output: &[u64]) -> u64 {
        let last = self.steps.end - 1;
        let rows_of = Rows {
            of: self.of,
            steps: &self.steps,
            rows: cuts[0],
            row: tile[0],
        };
        let bytes = |at: usize, rows: u64| {
            let columns = cuts[1].at(at).computed.get(tile[1]);
            let pixels = columns.map_or(0, |range| range.len() as u64);
            rows * pixels * self.pixel_bytes[at - self.steps.start]
        };
        let given: u64 = self.given.iter().map(|given| given.bytes).sum();
        let first = tile == [0, 0];
        let keeps = cuts[0].keeps(&self.steps);
        let at_step = |at: usize| {
            let inside = |one: &usize| self.steps.contains(one);
            let before: Vec<usize> = if keeps {
                (self.steps.start..at).collect()
            } else {
                self.of.alive[at].iter().copied().filter(inside).collect()
            };
            let needed = |from: usize| -> u64 {
                let steps = before.iter();
                steps
                    .map(|&one| bytes(one, rows_of.needed(one, from)))
                    .sum()
            };
            let own = if at == last {
                needed(at)
            } else {
                let stored = bytes(at, rows_of.computed(at));
                if self.of.overlaps[at] {
                    needed(at).max(needed(at + 1) + stored)
                } else {
                    needed(at) + stored
                }
            };
            let waiting = (at..last).map(|one| bytes(one, rows_of.kept(one, tile[0])));
            let own = own + waiting.sum::<u64>();
            let is_there = !first || at == last;
            let output_bytes = if is_there { self.output_bytes } else { 0 };
            // In the first tile the last operator may store over what it loads.
            let own = if first && at == last { 0 } else { own };
            let shared = self.given.iter().zip(output).map(|(given, output)| {
                let free = self.free(given, cuts, grid, tile, at);
                free.max(if is_there { *output } else { 0 })
            });
            let shared: u64 = shared.sum();
            (given + output_bytes + own).saturating_sub(shared)
        };
        let own = self.steps.clone().map(at_step).max().unwrap_or(0);
        self.of.layout.rounded(own + self.beside)
    }
}

/// What a row of tiles has of the outputs of a run's steps.
struct Rows<'a, 's> {
    of: &'s Steps<'a>,
    steps: &'s Range<usize>,
    rows: &'s Cut,
    row: usize,
}

impl Rows<'_, '_> {
    fn computed(&self, at: usize) -> u64 {
        let rows = self.rows.at(at).computed.get(self.row);
        rows.map_or(0, |range| range.len() as u64)
    }

    /// Of the rows of tiles before, for this row of tiles.
    fn kept(&self, at: usize, row: usize) -> u64 {
        let rows = self.rows.at(at).kept.get(row);
        rows.map_or(0, |range| range.len() as u64)
    }

    /// Rows of an output that this step or a later one reads, or that are kept for the next row of tiles:
    /// what lies before and after them may be stored over.
    fn needed(&self, at: usize, from: usize) -> u64 {
        let readers = self.of.readers[at].iter();
        let readers = readers.filter(|(step, _)| *step >= from && self.steps.contains(step));
        let read =
            readers.filter_map(|&(step, input)| self.rows.at(step).read[input].get(self.row));
        let kept = self.rows.at(at).kept.get(self.row + 1);
        let needed = read.chain(kept).filter(|range| !range.is_empty()).cloned();
        let hull =
            |one: Range<u32>, other: Range<u32>| one.start.min(other.start)..one.end.max(other.end);
        needed.reduce(hull).map_or(0, |range| range.len() as u64)
    }
}
