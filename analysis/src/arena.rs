//! From a graph, an order and overlaps to a planning problem: which tensor is which buffer,
//! when it is alive, and which inputs really die where an output may overlap them.

mod traffic;
mod viewed;

pub use traffic::ArenaTraffic;

use crate::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::uses::Uses;
use crate::schedule::{CountedEnds, ScheduleError};
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, Displacement, Problem, ProblemError, common_multiple};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use thiserror::Error;
use viewed::Pieces;

/// What an arena has to hold, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Offsets are multiples of it, in bytes, and of what each tensor's elements need
    /// ([`TensorType::alignment`](crate::graph::TensorType::alignment)), those of scratch buffers
    /// of [`SCRATCH_ALIGNMENT`].
    pub alignment: u64,
    /// Sizes are rounded up to the alignment too, as TensorFlow Lite Micro does.
    pub round_sizes: bool,
    /// Whether the graph's inputs and outputs lie in the arena.
    pub counted: CountedEnds,
    /// The graph's inputs stay as they are to the end of an inference.
    pub keep_inputs: bool,
    /// Whether scratch buffers lie in the arena.
    pub scratch: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            alignment: 1,
            round_sizes: false,
            counted: CountedEnds::default(),
            keep_inputs: false,
            scratch: true,
        }
    }
}

impl Layout {
    /// What TensorFlow Lite Micro does: multiples of 16, inputs, outputs and scratch buffers
    /// in the arena.
    pub fn tflm() -> Self {
        Self {
            alignment: dmo_planner::plan::tflm::ALIGNMENT,
            round_sizes: true,
            ..Self::default()
        }
    }
}

/// A scratch buffer of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Scratch {
    /// The operator.
    pub operator: OperatorId,
    /// Which of [`Node::scratch_bytes`](crate::graph::Node::scratch_bytes).
    pub index: usize,
    /// The problem's buffer.
    pub buffer: usize,
}

/// A planning problem, and what its buffers are in the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arena {
    /// The problem. Buffers are in the order of the graph's tensors, those of scratch
    /// after them in the order of the file's operators.
    pub problem: Problem,
    /// The buffer of each tensor; `None` if it is not in the arena. Tensors that alias
    /// have the same one; views have that of the tensor that they lie in.
    pub buffer_of: Vec<Option<usize>>,
    /// The scratch buffers.
    pub scratch: Vec<Scratch>,
    /// How far above its buffer's start each view begins, in bytes.
    within: BTreeMap<TensorId, u64>,
}

/// Why no problem can be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaError {
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error("tensor {} has a given offset and is not in the arena", tensor.0)]
    NotInArena { tensor: TensorId },
    #[error(
        "tensor {} lies {offset} bytes within another, its rows and pixels {pitch:?} bytes apart: \
         its elements need multiples of {alignment}", tensor.0
    )]
    ViewMisaligned {
        tensor: TensorId,
        offset: u64,
        pitch: Option<[u64; 2]>,
        alignment: u64,
    },
    #[error(
        "the tensors with given offsets clash with one another, or a reshape of one of them is \
         given another offset than its input"
    )]
    GivenOffsetsClash,
}

impl Arena {
    /// The problem of running the graph's operators in this order, from step 1 on; step 0 is
    /// when the graph's inputs are stored. An overlap is used only
    /// where the input dies at the operator; an alias makes both tensors one buffer.
    ///
    /// # Errors
    /// When the order is not one of the graph's, or the sizes make no problem.
    pub fn new(
        graph: &Graph,
        order: &[OperatorId],
        overlaps: &Overlaps,
        layout: Layout,
    ) -> Result<Self, ArenaError> {
        Self::build(graph, order, overlaps, layout, Aliasing::Merged)
    }

    /// A problem of which every plan for this order is a plan, whether or not it makes use of
    /// aliases: what is best for it bounds the order. An input that an output may be ends a
    /// step early, so that the two may lie anywhere.
    ///
    /// # Errors
    /// Those of [`Arena::new`].
    pub fn relaxed(
        graph: &Graph,
        order: &[OperatorId],
        overlaps: &Overlaps,
        layout: Layout,
    ) -> Result<Self, ArenaError> {
        Self::build(graph, order, overlaps, layout, Aliasing::Relaxed)
    }

    /// Whether some buffer is that of several tensors.
    pub fn has_aliases(&self) -> bool {
        let is_view = |index: usize| self.within.contains_key(&TensorId(index));
        let tensors = self.buffer_of.iter().enumerate();
        let tensors = tensors.filter(|(index, buffer)| buffer.is_some() && !is_view(*index));
        tensors.count() + self.scratch.len() > self.problem.buffers().len()
    }

    fn build(
        graph: &Graph,
        order: &[OperatorId],
        overlaps: &Overlaps,
        layout: Layout,
        sharing: Aliasing,
    ) -> Result<Self, ArenaError> {
        let uses = Uses::new(graph, order, layout.keep_inputs)?;
        let ids = || (0..graph.tensors.len()).map(TensorId);
        let life = |id| {
            let life = uses.life(id);
            // When the application reads what is left, nothing else happens.
            life.start..life.end.min(uses.end())
        };
        let mut lives: Vec<Range<usize>> = ids().map(life).collect();
        if overlaps.len() != graph.operators.len() {
            return Err(ScheduleError::OverlapsLength {
                given: overlaps.len(),
                expected: graph.operators.len(),
            }
            .into());
        }
        leave_out(graph, &mut lives, layout);
        let mut step_of = vec![0; order.len()];
        for (step, operator) in order.iter().enumerate() {
            step_of[operator.0] = step + 1;
        }
        let kept = kept(graph, layout);
        let dies = |overlap: &SafeOverlap, operator: usize| {
            let step = step_of[operator];
            let (input, output) = (&lives[overlap.input.0], &lives[overlap.output.0]);
            let last = input.contains(&step) && input.end == step + 1;
            last && !kept[overlap.input.0] && output.start == step
        };
        let in_pieces = in_pieces(graph);
        let whole = |pair: &SafeOverlap| !in_pieces[pair.input.0] && !in_pieces[pair.output.0];
        let granted: Vec<SafeOverlap> = overlaps
            .iter()
            .enumerate()
            .flat_map(|(operator, pairs)| pairs.iter().map(move |pair| (operator, *pair)))
            .filter(|(operator, pair)| {
                whole(pair) && !lives[pair.output.0].is_empty() && dies(pair, *operator)
            })
            .map(|(_, pair)| pair)
            .collect();
        let aliases = match sharing {
            Aliasing::Merged => Aliases::merged(graph, &granted),
            Aliasing::Relaxed => Aliases::relaxed(graph, &granted, &mut lives),
        };
        let mut arena = Self {
            problem: Problem::new(Vec::new(), &[])?,
            buffer_of: vec![None; graph.tensors.len()],
            scratch: Vec::new(),
            within: BTreeMap::new(),
        };
        let mut buffers = arena.tensor_buffers(graph, &lives, &aliases, layout);
        if layout.scratch {
            arena.add_scratch(graph, &step_of, layout, &mut buffers);
        }
        let mut displacements = arena.displacements(graph, &granted, &aliases, &buffers);
        let pieces = Pieces {
            graph,
            order,
            overlaps,
            uses: &uses,
        };
        displacements.extend(arena.displacements_in_pieces(&pieces, &in_pieces, &buffers));
        arena.place_views(graph, &mut buffers)?;
        arena.problem = Problem::new(buffers, &displacements)?;
        Ok(arena)
    }

    /// Views lie where their elements may lie as soon as the tensor that they lie in does.
    fn place_views(&mut self, graph: &Graph, buffers: &mut [Buffer]) -> Result<(), ArenaError> {
        for (&id, view) in &graph.views {
            let element = graph.tensor(id).element_type.alignment();
            let bytes = view.pitch_bytes.into_iter().flatten();
            let mut bytes = bytes.chain([view.offset_bytes]);
            if !bytes.all(|bytes| bytes.is_multiple_of(element)) {
                return Err(ArenaError::ViewMisaligned {
                    tensor: id,
                    offset: view.offset_bytes,
                    pitch: view.pitch_bytes,
                    alignment: element,
                });
            }
            let buffer = self.buffer_of[view.of.0];
            if let Some(buffer) = buffer.and_then(|buffer| buffers.get_mut(buffer)) {
                buffer.alignment = also_aligned(buffer.alignment, element);
            }
            self.buffer_of[id.0] = buffer;
            self.within.insert(id, view.offset_bytes);
        }
        Ok(())
    }

    /// Where the plan puts each tensor; `None` if it is not in the arena.
    pub fn tensor_offsets(&self, plan: &Plan) -> Vec<Option<u64>> {
        let offset = |(index, buffer): (usize, &Option<usize>)| {
            let within = self.within.get(&TensorId(index)).copied().unwrap_or(0);
            buffer.map(|buffer| plan.offsets[buffer].saturating_add(within))
        };
        self.buffer_of.iter().enumerate().map(offset).collect()
    }

    fn tensor_buffers(
        &mut self,
        graph: &Graph,
        lives: &[Range<usize>],
        aliases: &Aliases,
        layout: Layout,
    ) -> Vec<Buffer> {
        let mut buffers: Vec<Buffer> = Vec::new();
        for (index, tensor) in graph.tensors.iter().enumerate() {
            let life = &lives[index];
            if life.is_empty() || tensor.size_bytes == 0 {
                continue;
            }
            let first = aliases.first(index);
            let element = tensor.element_type.alignment();
            if let Some(index_of_first) = self.buffer_of[first] {
                let buffer = &mut buffers[index_of_first];
                let alive = &mut buffer.alive;
                *alive = alive.start.min(life.start as u32)..alive.end.max(life.end as u32);
                buffer.alignment = also_aligned(buffer.alignment, element);
                self.buffer_of[index] = Some(index_of_first);
                continue;
            }
            self.buffer_of[index] = Some(buffers.len());
            self.buffer_of[first] = Some(buffers.len());
            buffers.push(Buffer {
                name: tensor.name.clone(),
                size_bytes: layout.rounded(tensor.size_bytes),
                alive: life.start as u32..life.end as u32,
                alignment: also_aligned(layout.alignment, element),
                fixed_offset: None,
            });
        }
        buffers
    }

    fn add_scratch(
        &mut self,
        graph: &Graph,
        step_of: &[usize],
        layout: Layout,
        buffers: &mut Vec<Buffer>,
    ) {
        for (operator, node) in graph.operators.iter().enumerate() {
            for (index, &bytes) in node.scratch_bytes.iter().enumerate() {
                if bytes == 0 {
                    continue;
                }
                self.scratch.push(Scratch {
                    operator: OperatorId(operator),
                    index,
                    buffer: buffers.len(),
                });
                let step = step_of[operator] as u32;
                buffers.push(Buffer {
                    name: format!("scratch {} of operator {operator}", index + 1),
                    size_bytes: layout.rounded(bytes),
                    alive: step..step + 1,
                    alignment: also_aligned(layout.alignment, SCRATCH_ALIGNMENT),
                    fixed_offset: None,
                });
            }
        }
    }

    fn displacements(
        &self,
        graph: &Graph,
        granted: &[SafeOverlap],
        aliases: &Aliases,
        buffers: &[Buffer],
    ) -> Vec<Displacement> {
        let displacement = |pair: &SafeOverlap| {
            let Sharing::Displaced(bytes) = pair.sharing else {
                return None;
            };
            // What is not below the output's end is apart from it.
            let bytes = bytes.min(graph.tensor(pair.output).size_bytes);
            let lower = self.buffer_of[pair.output.0]?;
            let upper = self.buffer_of[pair.input.0]?;
            let life = |buffer: usize| (buffers[buffer].alive.start, buffers[buffer].alive.end);
            // Of two that live equally long neither is the later one: they lie apart.
            (life(lower) > life(upper)).then_some(Displacement {
                lower,
                upper,
                bytes,
            })
        };
        let apart = |pair: &&SafeOverlap| !aliases.involve(pair);
        granted
            .iter()
            .filter(apart)
            .filter_map(displacement)
            .collect()
    }

    /// Of each two that are alive together, one of them in pieces, the later one below.
    fn displacements_in_pieces(
        &self,
        pieces: &Pieces,
        in_pieces: &[bool],
        buffers: &[Buffer],
    ) -> Vec<Displacement> {
        let mut tensors_in = vec![0; buffers.len()];
        for &buffer in self.buffer_of.iter().flatten() {
            tensors_in[buffer] += 1;
        }
        // What is one buffer with another tensor keeps apart.
        let alone = |id: usize| self.buffer_of[id].is_some_and(|buffer| tensors_in[buffer] == 1);
        let placed: Vec<usize> = (0..in_pieces.len()).filter(|&id| alone(id)).collect();
        let alive = |id: usize| {
            let buffer = self.buffer_of[id]?;
            Some((buffer, buffers[buffer].alive.clone()))
        };
        let mut found = Vec::new();
        for &one in placed.iter().filter(|&&id| in_pieces[id]) {
            for &other in placed.iter().filter(|&&id| id != one) {
                if in_pieces[other] && other < one {
                    continue;
                }
                for (lower, upper) in [(one, other), (other, one)] {
                    let (Some((below, life)), Some((above, earlier))) =
                        (alive(lower), alive(upper))
                    else {
                        continue;
                    };
                    let together = life.start < earlier.end && earlier.start < life.end;
                    let later = (life.start, life.end) > (earlier.start, earlier.end);
                    if below == above || !together || !later {
                        continue;
                    }
                    let [lower, upper] = [lower, upper].map(TensorId);
                    let bytes = pieces.displacement(lower, upper);
                    if bytes < pieces.graph.tensor(lower).size_bytes {
                        found.push(Displacement {
                            lower: below,
                            upper: above,
                            bytes,
                        });
                    }
                }
            }
        }
        found
    }
}

/// The alignment of what has to lie at multiples of both; no offset but 0 is one where they do not
/// fit in 64 bits together, which no problem allows. 0 stays 0, which is an error too.
pub(crate) fn also_aligned(alignment: u64, element: u64) -> u64 {
    if alignment == 0 {
        return 0;
    }
    common_multiple(alignment, element).unwrap_or(u64::MAX)
}

/// What the elements of a scratch buffer need at most, whatever they are: no instruction of a
/// Cortex-M wants more of an address. In bytes.
pub const SCRATCH_ALIGNMENT: u64 = 4;

impl Layout {
    /// A size in the arena, in bytes; the largest number where it does not fit in 64 bits.
    pub(crate) fn rounded(self, bytes: u64) -> u64 {
        if self.round_sizes {
            let rounded = bytes.checked_next_multiple_of(self.alignment.max(1));
            rounded.unwrap_or(u64::MAX)
        } else {
            bytes
        }
    }
}

/// Which tensors are stored or loaded in pieces: views, and what they lie in.
fn in_pieces(graph: &Graph) -> Vec<bool> {
    let mut in_pieces = vec![false; graph.tensors.len()];
    for (id, view) in &graph.views {
        in_pieces[id.0] = true;
        in_pieces[view.of.0] = true;
    }
    in_pieces
}

/// Takes tensors out of the arena, or lets them live longer, as the layout says.
fn leave_out(graph: &Graph, lives: &mut [Range<usize>], layout: Layout) {
    let end = lives.iter().map(|life| life.end).max().unwrap_or(0);
    let ends = [
        (&graph.inputs, layout.counted.count_graph_inputs),
        (&graph.outputs, layout.counted.count_graph_outputs),
    ];
    if layout.keep_inputs {
        for input in graph.inputs.iter().filter(|id| graph.in_arena(**id)) {
            lives[input.0].end = end.max(lives[input.0].end);
        }
    }
    for (tensors, counted) in ends {
        for tensor in tensors.iter().filter(|_| !counted) {
            lives[tensor.0] = 0..0;
        }
    }
}

/// Which tensors are needed after the last step: none of their bytes is ever to be lost.
fn kept(graph: &Graph, layout: Layout) -> Vec<bool> {
    let mut kept = vec![false; graph.tensors.len()];
    let inputs = graph.inputs.iter().filter(|_| layout.keep_inputs);
    for tensor in graph.outputs.iter().chain(inputs) {
        kept[tensor.0] = true;
    }
    kept
}

/// What becomes of tensors that may be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aliasing {
    /// They are one buffer.
    Merged,
    /// They may lie anywhere.
    Relaxed,
}

fn is_alias(graph: &Graph, pair: &SafeOverlap) -> bool {
    let size = |tensor: TensorId| graph.tensor(tensor).size_bytes;
    pair.sharing == Sharing::Alias && size(pair.input) == size(pair.output)
}

/// Which tensors are the same buffer.
struct Aliases {
    first: Vec<usize>,
    /// Inputs that are an output.
    inputs: HashSet<TensorId>,
    /// Outputs that are an input.
    outputs: HashSet<TensorId>,
}

impl Aliases {
    fn none(graph: &Graph) -> Self {
        Self {
            first: (0..graph.tensors.len()).collect(),
            inputs: HashSet::new(),
            outputs: HashSet::new(),
        }
    }

    /// By the granted aliases of tensors of the same size. Several outputs of one operator
    /// never share, nor do several inputs, so that a second alias of a tensor is refused.
    fn merged(graph: &Graph, granted: &[SafeOverlap]) -> Self {
        let mut aliases = Self::none(graph);
        for pair in granted.iter().filter(|pair| is_alias(graph, pair)) {
            if aliases.involve(pair) {
                continue;
            }
            aliases.inputs.insert(pair.input);
            aliases.outputs.insert(pair.output);
            let (one, other) = (aliases.first(pair.input.0), aliases.first(pair.output.0));
            aliases.first[one.max(other)] = one.min(other);
        }
        aliases
    }

    /// Inputs that may be an output end before it begins.
    fn relaxed(graph: &Graph, granted: &[SafeOverlap], lives: &mut [Range<usize>]) -> Self {
        let mut aliases = Self::none(graph);
        for pair in granted.iter().filter(|pair| is_alias(graph, pair)) {
            aliases.inputs.insert(pair.input);
            lives[pair.input.0].end = lives[pair.output.0].start;
        }
        aliases
    }

    /// Whether an alias of this operator takes one of the two: any other tensor that the
    /// operator touches is then used together with both tensors of the alias.
    fn involve(&self, pair: &SafeOverlap) -> bool {
        self.inputs.contains(&pair.input) || self.outputs.contains(&pair.output)
    }

    fn first(&self, tensor: usize) -> usize {
        let mut tensor = tensor;
        while self.first[tensor] != tensor {
            tensor = self.first[tensor];
        }
        tensor
    }
}
