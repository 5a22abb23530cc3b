//! How a firmware uses its arena, as data; `dmo-trace` has the words for it.

use super::placed::{Origin, Placed, Taken};
use super::witness::{Observed, StoreBetween, Wrong};
use crate::graph::overlaps::{self, Overlaps, SafeOverlap, Sharing};
use crate::optimise::Certificate;
use crate::profile::{Pair, Profile};
use crate::verify::Occupant;
use schemars::JsonSchema;
use serde::Serialize;

/// What a firmware's arena holds. All sizes are bytes.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ArenaUse {
    /// Address of the arena.
    pub start: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Address of the planned part.
    pub head_start: u64,
    /// Size of the planned part.
    pub head_bytes: u64,
    /// Who has planned it.
    pub planned: Origin,
    /// Whether the plan was simulated, and not read from the runtime.
    pub simulated: bool,
    /// What holds something while each operator runs.
    pub in_use_bytes: Vec<u64>,
    /// Above the head, below what was never touched.
    pub temporary_bytes: u64,
    /// The longest stretch above the head that the program never touched. What it requests and
    /// leaves untouched counts as well; the stack does not lie here.
    pub headroom_bytes: u64,
    /// Above that, to the arena's end.
    pub tail_bytes: u64,
    /// What the runtime says that it has taken when the first inference begins, together its
    /// `arena_used_bytes`. `None` where it is not found.
    pub taken: Option<Taken>,
    /// Whole inferences.
    pub inferences: usize,
    /// No content was lost.
    pub safe: bool,
    /// What is wrong.
    pub findings: Vec<Wrong>,
    /// Bytes that are wrong and not among the findings.
    pub further_bytes: u64,
    /// Stores of code between operators to tensors that are needed later.
    pub stores_between: Vec<StoreBetween>,
    /// What the head would need with the overlaps that were measured; `None` if that was
    /// not planned.
    pub overlapped: Option<Overlapped>,
}

/// A plan with the firmware's own overlaps, in the order of its operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Overlapped {
    /// Size in bytes.
    pub head_bytes: u64,
    /// What is proven of it.
    pub certificate: Certificate,
}

/// What the layers of all inferences allow, for each operator of the model. What one of them
/// refuses is not allowed, and the largest displacement counts.
pub fn overlaps(placed: &Placed, profile: &Profile) -> Overlaps {
    let mut allowed = overlaps::none(&placed.graph);
    for (number, allowed) in allowed.iter_mut().enumerate() {
        let operator = &placed.layers[number];
        let inferences = || {
            profile
                .layers
                .iter()
                .skip(number)
                .step_by(placed.layers.len())
        };
        let Some(first) = inferences().next() else {
            continue;
        };
        for position in 0..first.pairs.len() {
            let pairs = || inferences().map(|layer| layer.pairs.get(position));
            let granted = |pair: Option<&Pair>| pair.is_some_and(|pair| pair.refusals.is_empty());
            let pair = &first.pairs[position];
            let occupant = |index: usize| match operator.places.get(index).and_then(Option::as_ref)
            {
                Some(place) => match place.occupant {
                    Occupant::Tensor(id) => Some(id),
                    Occupant::Scratch(_) => None,
                },
                None => None,
            };
            let (Some(input), Some(output)) = (occupant(pair.input), occupant(pair.output)) else {
                continue;
            };
            if pairs().all(granted) {
                let displacement = pairs().flatten().map(|pair| pair.displacement_bytes).max();
                allowed.push(SafeOverlap {
                    input,
                    output,
                    sharing: Sharing::Displaced(displacement.unwrap_or(u32::MAX).into()),
                });
            }
        }
    }
    allowed
}

impl ArenaUse {
    /// From what was simulated and what was seen.
    pub fn new(placed: &Placed, observed: &Observed, overlapped: Option<Overlapped>) -> Self {
        let (arena, head) = (&placed.arena, &placed.head);
        let untouched = &observed.untouched;
        Self {
            start: arena.start,
            size_bytes: arena.end - arena.start,
            head_start: head.start,
            head_bytes: head.end - head.start,
            planned: placed.origin,
            simulated: placed.simulated,
            in_use_bytes: placed
                .layers
                .iter()
                .map(|layer| layer.in_use_bytes)
                .collect(),
            temporary_bytes: untouched.start - head.end,
            headroom_bytes: untouched.end - untouched.start,
            tail_bytes: arena.end - untouched.end,
            taken: placed.taken,
            inferences: observed.inferences,
            safe: observed.is_safe(),
            findings: observed.wrong.clone(),
            further_bytes: observed.further_bytes,
            stores_between: observed.between.clone(),
            overlapped,
        }
    }
}
