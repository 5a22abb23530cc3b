//! How a firmware uses its arena, for reports.

use super::placed::{Origin, Placed};
use super::witness::{Observed, StoreBetween, Wrong};
use crate::graph::overlaps::{self, Overlaps, SafeOverlap, Sharing};
use crate::optimise::Certificate;
use crate::profile::{Pair, Profile};
use crate::replay::{FindingKind, Subject};
use crate::trace::{Address, Location, Locations};
use crate::verify::Occupant;
use crate::wording::grouped;
use serde::Serialize;
use std::fmt::Write;

/// What a firmware's arena holds. All sizes are bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// What holds something while each operator runs.
    pub in_use_bytes: Vec<u64>,
    /// Above the head, below what was never touched.
    pub temporary_bytes: u64,
    /// The longest stretch above the head that the program never touched. What it asks for and
    /// leaves untouched counts as well; the stack does not lie here.
    pub headroom_bytes: u64,
    /// Above that, to the arena's end.
    pub tail_bytes: u64,
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
    /// What the head would need with the overlaps that were measured; none where that was not
    /// planned.
    pub overlapped: Option<Overlapped>,
}

/// A plan with the firmware's own overlaps, in the order of its operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
            in_use_bytes: placed
                .layers
                .iter()
                .map(|layer| layer.in_use_bytes)
                .collect(),
            temporary_bytes: untouched.start - head.end,
            headroom_bytes: untouched.end - untouched.start,
            tail_bytes: arena.end - untouched.end,
            inferences: observed.inferences,
            safe: observed.is_safe(),
            findings: observed.wrong.clone(),
            further_bytes: observed.further_bytes,
            stores_between: observed.between.clone(),
            overlapped,
        }
    }

    /// A few lines for people.
    pub fn text(&self, placed: &Placed, locations: &Locations) -> String {
        let planned = match self.planned {
            Origin::Offline => "by the model's offline plan",
            Origin::Greedy => "by TensorFlow Lite Micro's greedy planner",
        };
        let most = self.in_use_bytes.iter().enumerate();
        let most = most.max_by_key(|&(operator, &bytes)| (bytes, std::cmp::Reverse(operator)));
        let (operator, in_use) = most.map_or((0, 0), |(operator, &bytes)| (operator, bytes));
        let row =
            |name, bytes, what: &str| format!("  {name:<10} {:>10}  {what}\n", grouped(bytes));
        let mut text = format!(
            "\nArena of {} bytes at {:#010x}, {} inference{}\n",
            grouped(self.size_bytes),
            self.start,
            self.inferences,
            if self.inferences == 1 { "" } else { "s" }
        );
        text += &row(
            "head",
            self.head_bytes,
            &format!(
                "tensors and scratch memory, planned {planned}; at most {} in use, by operator {operator} {}",
                grouped(in_use),
                placed.graph.operators[operator].kind.escape_debug()
            ),
        );
        text += &row(
            "temporary",
            self.temporary_bytes,
            "above the head, and touched",
        );
        text += &row("head-room", self.headroom_bytes, "never touched");
        text += &row(
            "tail",
            self.tail_bytes,
            "kept by the runtime, down from the arena's end",
        );
        if let Some(overlapped) = self.overlapped {
            let proven = match overlapped.certificate {
                Certificate::Optimal | Certificate::OptimalForOrder => "the least",
                Certificate::BestFound => "the best found",
            };
            let what = format!(
                "the head, overlapped by the O_s above: {proven} for this order of operators"
            );
            text += &row("overlapped", overlapped.head_bytes, &what);
        }
        for wrong in &self.findings {
            text += &format!("\n{}\n", describe(wrong, placed, locations));
        }
        for store in &self.stores_between {
            let _ = writeln!(
                text,
                "\ninference {}: code between operators stores to {}, which operator {} or a later one needs: {} stores, the first by {}",
                store.inference + 1,
                name(placed, Occupant::Tensor(store.tensor)),
                store.operator.0,
                store.count,
                place(store.pc, locations),
            );
        }
        if self.further_bytes > 0 {
            let _ = writeln!(
                text,
                "\nand {} more bytes that are wrong",
                self.further_bytes
            );
        }
        text + if self.safe {
            "\nno tensor is overwritten while it is needed\n"
        } else {
            "\nCLOBBERED: a tensor is overwritten while it is needed\n"
        }
    }
}

fn describe(wrong: &Wrong, placed: &Placed, locations: &Locations) -> String {
    let finding = &wrong.finding;
    let mut text = format!(
        "inference {}, operator {} {}: bytes {}..{} of {} {}",
        wrong.inference + 1,
        wrong.operator.0,
        placed.node(wrong.operator).kind.escape_debug(),
        finding.bytes.start,
        finding.bytes.end,
        subject(placed, finding.subject),
        match finding.kind {
            FindingKind::Clobber => "are overwritten before they are loaded",
            FindingKind::Destroyed => "are overwritten, and needed later",
            FindingKind::SharedAtBegin => "share memory with another tensor that is needed",
            FindingKind::UninitialisedRead => "are loaded before anything is stored there",
            FindingKind::NotStored => "are never stored",
            FindingKind::StrayStore | FindingKind::StoreToInput | FindingKind::StoreToConstant =>
                "are stored to",
            FindingKind::StrayLoad => "are loaded",
        }
    );
    if let Some(access) = &finding.access {
        let _ = write!(text, "\n  load  {}", place(access.pc, locations));
    }
    if let Some(writer) = &finding.writer
        && let Some(pc) = writer.pc
    {
        let by = subject(placed, writer.subject);
        let _ = write!(
            text,
            "\n  store {}, byte {} of {by}",
            place(pc, locations),
            writer.byte
        );
    }
    if let (Some(displacement), Some(needed)) = (finding.displacement, finding.needed_displacement)
    {
        let _ = write!(
            text,
            "\n  it starts {displacement} bytes above what was stored there; at least {needed} are safe"
        );
    }
    text
}

fn subject(placed: &Placed, subject: Subject) -> String {
    let occupant = subject.occupant.map(|occupant| name(placed, occupant));
    occupant.unwrap_or_else(|| "memory outside the arena".to_owned())
}

fn name(placed: &Placed, occupant: Occupant) -> String {
    match occupant {
        Occupant::Tensor(id) => format!("tensor {} {:?}", id.0, placed.graph.tensor(id).name),
        Occupant::Scratch(operator) => format!("the scratch memory of operator {}", operator.0),
    }
}

fn place(pc: Address, locations: &Locations) -> String {
    match locations.get(&pc) {
        Some(location) if *location != Location::default() => {
            let function = location.function.as_deref().unwrap_or("?");
            let disassembly = location.disassembly.as_deref().unwrap_or_default();
            format!("{location} in {function} ({pc}: {disassembly})")
        }
        _ => pc.to_string(),
    }
}
