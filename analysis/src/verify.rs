//! Is a layout of a model's tensors safe? The geometric witness: it knows tensors, when their
//! bytes are in use, and what may overlap, and no planner, problem or arena.
//!
//! A step must not store where a tensor has bytes that are loaded later, and not where the step
//! itself loads, except as far as its operator's overlap reaches.

use crate::graph::overlaps::{Overlaps, Sharing};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::ScheduleError;
use crate::schedule::uses::Uses;
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;
use std::ops::Range;

/// Where everything lies, in bytes from the arena's start.
#[derive(Debug, Clone, Copy)]
pub struct Positions<'a> {
    /// One for each of the graph's tensors; `None` if it is not in the arena. A view lies where
    /// the tensor has it that it lies in, whatever is said here.
    pub tensors: &'a [Option<u64>],
    /// Scratch buffers: the operator, offset and size.
    pub scratch: &'a [(OperatorId, u64, u64)],
    /// The graph's inputs have to be as they were when an inference has ended.
    pub keep_inputs: bool,
}

/// Something in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Occupant {
    /// A tensor of the graph.
    Tensor(TensorId),
    /// A scratch buffer of an operator.
    Scratch(OperatorId),
}

/// Two things that are in use at the same time and share bytes without leave to.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Clash {
    /// The one that was there first.
    pub one: Occupant,
    /// The other one.
    pub other: Occupant,
    /// An operator during which both are in use.
    pub operator: OperatorId,
    /// The bytes of the arena that they share, half-open.
    pub bytes: Range<u64>,
    /// What would have been safe, if anything: how far the input has to start above the
    /// output.
    pub needed_displacement: Option<u64>,
}

/// All clashes, ordered by operator; none for a safe layout. Of two that clash in several steps
/// the first is reported. At most `most` are given.
///
/// # Errors
/// When the order is not one of the graph's, or overlaps are not of its operators.
pub fn clashes(
    graph: &Graph,
    order: &[OperatorId],
    overlaps: &Overlaps,
    positions: Positions<'_>,
    most: usize,
) -> Result<Vec<Clash>, ScheduleError> {
    if overlaps.len() != graph.operators.len() {
        return Err(ScheduleError::OverlapsLength {
            given: overlaps.len(),
            expected: graph.operators.len(),
        });
    }
    let uses = Uses::new(graph, order, positions.keep_inputs)?;
    let layout = Layout {
        graph,
        order,
        overlaps,
        positions,
        uses: &uses,
    };
    let mut told = HashSet::new();
    let mut found = Vec::new();
    for (number, step) in layout.steps().enumerate() {
        for clash in layout.clashes_of(number, &step) {
            if told.insert((clash.one, clash.other)) {
                found.push(clash);
            }
            if found.len() >= most {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// A tensor where its elements cannot lie: a core that loads them whole faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Misaligned {
    /// The tensor.
    pub tensor: TensorId,
    /// Where its first byte lies, in bytes from the arena's start.
    pub offset: u64,
    /// What that has to be a multiple of.
    pub alignment: u64,
}

/// All tensors, views included, whose elements do not lie at multiples of what they need; none for
/// a safe layout, provided that the arena itself is aligned.
pub fn misaligned(graph: &Graph, tensors: &[Option<u64>]) -> Vec<Misaligned> {
    let offsets = graph.with_views(tensors.to_vec());
    let tensors = graph.tensors.iter().zip(offsets).enumerate();
    tensors
        .filter_map(|(index, (tensor, offset))| {
            let (offset, alignment) = (offset?, tensor.element_type.alignment());
            let tensor = TensorId(index);
            (!offset.is_multiple_of(alignment)).then_some(Misaligned {
                tensor,
                offset,
                alignment,
            })
        })
        .collect()
}

struct Layout<'a> {
    graph: &'a Graph,
    order: &'a [OperatorId],
    overlaps: &'a Overlaps,
    positions: Positions<'a>,
    uses: &'a Uses,
}

/// Bytes of the arena that something occupies.
#[derive(Debug, Clone)]
struct Present {
    what: Occupant,
    /// Of a tensor, what it lies in.
    root: Option<TensorId>,
    /// 128 bits, so that no position, however far away, makes the range empty.
    bytes: Range<u128>,
}

/// What a step does.
#[derive(Debug, Default)]
struct Step {
    /// What was stored before and is loaded later.
    held: Vec<Present>,
    loaded: Vec<Present>,
    stored: Vec<Present>,
}

impl Layout<'_> {
    /// Each step in turn, that of the application's first.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let count = self.order.len() + 1;
        let mut steps: Vec<Step> = Vec::new();
        steps.resize_with(count, Step::default);
        for root in (0..self.graph.tensors.len()).map(TensorId) {
            for known in self.uses.of(root) {
                let Some(step) = steps.get_mut(known.step) else {
                    continue;
                };
                let present = self.present(root, Occupant::Tensor(known.tensor), &known.bytes);
                match known.kind {
                    AccessKind::Load => step.loaded.extend(present),
                    AccessKind::Store => step.stored.extend(present),
                }
            }
            for number in self.uses.life(root) {
                let Some(step) = steps.get_mut(number) else {
                    continue;
                };
                let held = self.uses.held_through(root, number);
                step.held
                    .extend(self.present(root, Occupant::Tensor(root), &held));
            }
        }
        for &(operator, offset, size) in self.positions.scratch {
            let at = self.order.iter().position(|&other| other == operator);
            if let Some(step) = at.and_then(|at| steps.get_mut(at + 1)) {
                step.stored.push(Present {
                    what: Occupant::Scratch(operator),
                    root: None,
                    bytes: extent(offset, 0..size),
                });
            }
        }
        steps.into_iter()
    }

    fn present(&self, root: TensorId, what: Occupant, bytes: &Range<u64>) -> Option<Present> {
        let offset = self.positions.tensors.get(root.0).copied().flatten()?;
        Some(Present {
            what,
            root: Some(root),
            bytes: extent(offset, bytes.clone()),
        })
    }

    fn clashes_of(&self, number: usize, step: &Step) -> Vec<Clash> {
        let operator = number.checked_sub(1).and_then(|at| self.order.get(at));
        let operator = operator.or(self.order.first());
        let operator = operator.copied().unwrap_or(OperatorId(0));
        let stored = step.stored.iter().enumerate();
        stored
            .flat_map(|(index, store)| {
                let held = step.held.iter().map(|held| (held, None));
                let loads = step.loaded.iter();
                let loads = loads.map(|load| (load, self.leave(operator, load, store)));
                let others = step.stored[..index].iter().map(|other| (other, None));
                let first = held.chain(loads).chain(others);
                first.filter_map(move |(one, leave)| clash(operator, one, store, leave))
            })
            .collect()
    }

    /// How the operator lets a tensor that it loads and one that it stores share memory. Tensors
    /// of different sizes are never the same.
    fn leave(&self, operator: OperatorId, load: &Present, store: &Present) -> Option<Sharing> {
        let (Occupant::Tensor(input), Occupant::Tensor(output)) = (load.what, store.what) else {
            return None;
        };
        let pairs = self.overlaps[operator.0].iter();
        let mut of_pair = pairs.filter(|pair| (pair.input, pair.output) == (input, output));
        let sharing = of_pair.next_back()?.sharing;
        let size = |tensor| self.graph.tensor(tensor).size_bytes;
        (sharing != Sharing::Alias || size(input) == size(output)).then_some(sharing)
    }
}

/// What lies beyond 64 bits is shown as their end.
fn shown(offset: u128) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}

fn extent(offset: u64, bytes: Range<u64>) -> Range<u128> {
    let [start, end] = [bytes.start, bytes.end].map(|at| u128::from(offset) + u128::from(at));
    start..end
}

/// Of one that is there and one that is stored.
fn clash(
    operator: OperatorId,
    one: &Present,
    other: &Present,
    leave: Option<Sharing>,
) -> Option<Clash> {
    // Pieces of one tensor keep apart by themselves.
    let one_tensor = one.root.is_some() && one.root == other.root;
    let bytes = one.bytes.start.max(other.bytes.start)..one.bytes.end.min(other.bytes.end);
    if bytes.is_empty() || one_tensor {
        return None;
    }
    let mut needed_displacement = None;
    match leave {
        Some(Sharing::Alias) if one.bytes.start == other.bytes.start => return None,
        None | Some(Sharing::Alias) => {}
        Some(Sharing::Displaced(least)) => {
            let displacement = one.bytes.start.checked_sub(other.bytes.start);
            if displacement.is_some_and(|displacement| displacement >= u128::from(least)) {
                return None;
            }
            needed_displacement = Some(least);
        }
    }
    Some(Clash {
        one: one.what,
        other: other.what,
        operator,
        bytes: shown(bytes.start)..shown(bytes.end),
        needed_displacement,
    })
}
