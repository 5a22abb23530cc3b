//! Is a layout of a model's tensors safe? The geometric witness: it knows tensors, lifetimes
//! and what may overlap, and no planner, problem or arena.

use crate::graph::overlaps::{Overlaps, Sharing};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::ScheduleError;
use crate::schedule::lifetime::lifetimes;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// Where everything lies, in bytes from the arena's start.
#[derive(Debug, Clone, Copy)]
pub struct Positions<'a> {
    /// One for each of the graph's tensors; none where it is not in the arena.
    pub tensors: &'a [Option<u64>],
    /// Scratch buffers: the operator, offset and size.
    pub scratch: &'a [(OperatorId, u64, u64)],
    /// The graph's inputs have to be as they were when an inference has ended.
    pub keep_inputs: bool,
}

/// Something in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Occupant {
    /// A tensor of the graph.
    Tensor(TensorId),
    /// A scratch buffer of an operator.
    Scratch(OperatorId),
}

/// Two things that are in use at the same time and share bytes without leave to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// All clashes, ordered by operator; none for a safe layout. At most `most` are given.
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
    let mut lives = lifetimes(graph, order)?;
    // Past the last step: what is kept never dies at an operator.
    let end = order.len() + 1;
    let inputs = graph.inputs.iter().filter(|_| positions.keep_inputs);
    for kept in graph.outputs.iter().chain(inputs) {
        let life = &mut lives[kept.0];
        if life.start < life.end {
            life.end = end;
        }
    }
    if overlaps.len() != graph.operators.len() {
        return Err(ScheduleError::OverlapsLength {
            given: overlaps.len(),
            expected: graph.operators.len(),
        });
    }
    let leave: HashMap<(TensorId, TensorId, OperatorId), Sharing> = overlaps
        .iter()
        .enumerate()
        .flat_map(|(operator, pairs)| pairs.iter().map(move |pair| (operator, pair)))
        .map(|(operator, pair)| {
            (
                (pair.input, pair.output, OperatorId(operator)),
                pair.sharing,
            )
        })
        .collect();
    let mut present = occupants(graph, order, &lives, positions);
    present.sort_by_key(|occupant| occupant.steps.start);
    let mut found = Vec::new();
    let mut alive: Vec<&Present> = Vec::new();
    for occupant in &present {
        alive.retain(|earlier| earlier.steps.end > occupant.steps.start);
        for earlier in &alive {
            let clash = clash(graph, order, &leave, &lives, earlier, occupant);
            found.extend(clash);
            if found.len() >= most {
                return Ok(found);
            }
        }
        alive.push(occupant);
    }
    Ok(found)
}

#[derive(Debug)]
struct Present {
    what: Occupant,
    steps: Range<usize>,
    /// 128 bits, so that no position, however far away, makes the range empty.
    bytes: Range<u128>,
}

fn occupants(
    graph: &Graph,
    order: &[OperatorId],
    lives: &[Range<usize>],
    positions: Positions<'_>,
) -> Vec<Present> {
    let tensors = positions.tensors.iter().enumerate();
    let tensors = tensors.filter_map(|(index, offset)| {
        let size = graph.tensors.get(index)?.size_bytes;
        let offset = (*offset)?;
        Some(Present {
            what: Occupant::Tensor(TensorId(index)),
            steps: lives[index].clone(),
            bytes: extent(offset, size),
        })
    });
    let scratch = positions
        .scratch
        .iter()
        .filter_map(|&(operator, offset, size)| {
            let step = order.iter().position(|&other| other == operator)?;
            Some(Present {
                what: Occupant::Scratch(operator),
                steps: step..step + 1,
                bytes: extent(offset, size),
            })
        });
    tensors
        .chain(scratch)
        .filter(|occupant| !occupant.bytes.is_empty() && occupant.steps.start < occupant.steps.end)
        .collect()
}

/// What lies beyond 64 bits is shown as their end.
fn shown(offset: u128) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}

fn extent(offset: u64, size: u64) -> Range<u128> {
    let start = u128::from(offset);
    start..start + u128::from(size)
}

fn clash(
    graph: &Graph,
    order: &[OperatorId],
    leave: &HashMap<(TensorId, TensorId, OperatorId), Sharing>,
    lives: &[Range<usize>],
    one: &Present,
    other: &Present,
) -> Option<Clash> {
    let bytes = one.bytes.start.max(other.bytes.start)..one.bytes.end.min(other.bytes.end);
    if bytes.is_empty() {
        return None;
    }
    let steps = one.steps.start.max(other.steps.start)..one.steps.end.min(other.steps.end);
    let operator = order.get(steps.start).copied().unwrap_or(OperatorId(0));
    let mut needed_displacement = None;
    // An input may be overlapped where it dies, by what is created there. What the application
    // reads after the last step does not die.
    if let (Occupant::Tensor(first), Occupant::Tensor(second)) = (one.what, other.what)
        && steps.len() == 1
    {
        for (input, output, offsets) in [
            (first, second, (one.bytes.start, other.bytes.start)),
            (second, first, (other.bytes.start, one.bytes.start)),
        ] {
            let dies = lives[input.0].end == steps.end && lives[output.0].start == steps.start;
            match leave.get(&(input, output, operator)).filter(|_| dies) {
                None => {}
                Some(Sharing::Alias) => {
                    let same = graph.tensor(input).size_bytes == graph.tensor(output).size_bytes;
                    if same && offsets.0 == offsets.1 {
                        return None;
                    }
                }
                Some(&Sharing::Displaced(least)) => {
                    let displacement = offsets.0.checked_sub(offsets.1);
                    if displacement.is_some_and(|displacement| displacement >= u128::from(least)) {
                        return None;
                    }
                    needed_displacement = Some(least);
                }
            }
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
