//! What is said of a plan that a firmware has run in, in words and as JSON.

use crate::model::verify::{Difference, Mismatch, OtherBytes};
use crate::study::firmware_kernels::FirmwareKernels;
use crate::study::firmware_verify::{FirmwareArena, FirmwareVerified};
use crate::words::finding::{Instruction, Instructions, describe};
use crate::words::names;
use crate::words::report::Report;
use crate::words::verification::differences::first_of_each_input;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::replay::Finding;
use dmo_analysis::trace::{Address, Locations};
use dmo_analysis::verify::Clash;
use dmo_analysis::wording::{counted, first_lines, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// A plan that was verified on a firmware.
#[derive(JsonSchema, Serialize)]
pub struct FirmwareVerifyReport {
    model: String,
    firmware: String,
    cpu: &'static str,
    /// Where the file lies that was replaced by the model.
    replaced: Address,
    /// Whether the firmware was built with this model.
    own_model: bool,
    /// On how many inputs the model was run.
    inputs: u64,
    safe: bool,
    /// `safe`, or `unsafe`.
    verdict: &'static str,
    /// Operators in the order in which they run, by their positions in the model's file.
    order: Vec<OperatorId>,
    instructions: u64,
    arena_before: FirmwareArena,
    arena: FirmwareArena,
    /// What is wrong with the plan whatever the kernels do, or how the firmware departs from it.
    faults: Vec<String>,
    clashes: Vec<Clash>,
    accesses: u64,
    findings: Vec<PlacedFinding>,
    further_bytes: u64,
    /// Every operator was replayed as a whole.
    replay_is_whole: bool,
    differences: Vec<Difference>,
    contradictions: Vec<String>,
    /// Operators whose accesses depend on the data.
    data_dependent: Vec<OperatorId>,
    locations: Locations,
    /// What else the reader should know, a sentence each without its full stop.
    notes: Vec<String>,
    /// What to do where the plan is not safe, a sentence without its full stop.
    #[serde(skip)]
    pub next: Option<String>,
    #[serde(skip)]
    objections: [Vec<String>; 3],
}

/// A finding of the replay.
#[derive(Clone, JsonSchema, Serialize)]
struct PlacedFinding {
    operator: OperatorId,
    /// Number of the model's input.
    input: u64,
    #[serde(flatten)]
    finding: Finding,
}

/// At most this many objections of each witness are in words; JSON has all.
const MOST_LINES: usize = 5;

impl FirmwareVerifyReport {
    /// Of a plan of `model`, verified on a firmware.
    pub fn new(model: &str, firmware: &FirmwareKernels, verified: FirmwareVerified) -> Self {
        let graph = &verified.graph;
        let safe = verified.is_safe();
        let locations = verified.locations;
        let findings = verified.replayed.findings.into_iter();
        let findings = findings.map(|(input, operator, finding)| PlacedFinding {
            operator,
            input,
            finding,
        });
        let findings: Vec<PlacedFinding> = findings.collect();
        let clashes = verified.clashes.iter();
        let replayed = first_of_each(&findings).into_iter();
        let differences = &verified.in_plan.differences;
        let executed = verified.in_plan.contradictions.iter().cloned();
        let objections = [
            some_of(
                clashes
                    .map(|clash| names::clash(graph, clash, &[]))
                    .collect(),
            ),
            some_of(replayed.map(|it| finding(it, graph, &locations)).collect()),
            some_of(
                executed
                    .chain(first_of_each_input(differences, |it| difference(graph, it)))
                    .collect(),
            ),
        ];
        let [arena_before, arena] = verified.arenas;
        Self {
            model: model.to_owned(),
            firmware: firmware.name.clone(),
            cpu: firmware.cpu,
            replaced: firmware.replaced,
            own_model: firmware.has_model,
            inputs: verified.inputs,
            safe,
            verdict: if safe { "safe" } else { "unsafe" },
            notes: notes(firmware, graph, &verified.data_dependent, verified.inputs),
            order: verified.order,
            instructions: verified.instructions,
            arena_before,
            arena,
            faults: verified.faults,
            clashes: verified.clashes,
            accesses: verified.replayed.accesses,
            findings,
            further_bytes: verified.replayed.further_bytes,
            replay_is_whole: !verified.replayed.incomplete && verified.replayed.further_bytes == 0,
            differences: verified.in_plan.differences,
            contradictions: verified.in_plan.contradictions,
            data_dependent: verified.data_dependent,
            locations,
            next: None,
            objections,
        }
    }

    fn witnesses(&self) -> [String; 3] {
        let [geometry, replay, _] = &self.objections;
        let inputs = counted(self.inputs, "input", "inputs");
        let geometry = if geometry.is_empty() {
            "safe: all that is in use at the same time keeps the measured distances".to_owned()
        } else {
            objected(self.clashes.len(), "clash", "clashes")
        };
        let replay = if replay.is_empty() && self.replay_is_whole {
            format!(
                "safe: {} loads and stores on {inputs}, each load finds what its own tensor holds",
                grouped(self.accesses)
            )
        } else {
            objected(self.findings.len(), "finding", "findings")
        };
        let wrong = self.differences.len() + self.contradictions.len();
        let executed = match wrong {
            0 if self.clashes.is_empty() && self.findings.is_empty() => {
                format!("safe: on {inputs} every operator stores what it stores without overlaps")
            }
            0 => format!(
                "no difference on {inputs}: what was overwritten happened to be equal, or not to \
                 matter"
            ),
            wrong => objected(wrong, "difference", "differences"),
        };
        [geometry, replay, executed]
    }
}

fn objected(count: usize, one: &str, more: &str) -> String {
    format!("UNSAFE: {}", counted(count as u64, one, more))
}

fn notes(
    firmware: &FirmwareKernels,
    graph: &Graph,
    data_dependent: &[OperatorId],
    inputs: u64,
) -> Vec<String> {
    let mut notes = Vec::new();
    if !firmware.has_model {
        notes.push(format!(
            "the firmware was built with another model, at {}, which this one has replaced",
            firmware.replaced
        ));
    }
    for &operator in data_dependent {
        let kind = graph.operators[operator.0].kind.escape_debug();
        notes.push(format!(
            "operator {} {kind}: its accesses depend on the data, so that no overlap is granted",
            operator.0
        ));
    }
    if inputs == 1 {
        notes.push(names::ON_ONE_INPUT.to_owned());
    }
    notes
}

/// Of findings on the same bytes the first.
fn first_of_each(findings: &[PlacedFinding]) -> Vec<&PlacedFinding> {
    let mut first: Vec<&PlacedFinding> = Vec::new();
    let key = |one: &PlacedFinding| (one.operator, one.finding.kind, one.finding.subject);
    for finding in findings {
        if first.iter().all(|known| key(known) != key(finding)) {
            first.push(finding);
        }
    }
    first
}

fn finding(placed: &PlacedFinding, graph: &Graph, locations: &Locations) -> String {
    let place = format!(
        "operator {} {}, input {}",
        placed.operator.0,
        graph.operators[placed.operator.0].kind.escape_debug(),
        placed.input,
    );
    let instruction = |pc: Address| Instruction {
        pc,
        time: None,
        location: locations.get(&pc),
    };
    let found = &placed.finding;
    let writer = found.writer.and_then(|writer| writer.pc);
    let instructions = Instructions {
        access: found.access.map(|access| instruction(access.pc)),
        writer: writer.map(instruction),
        reader: None,
    };
    describe(&place, graph, found, instructions)
}

fn difference(graph: &Graph, difference: &Difference) -> String {
    let place = format!(
        "operator {} {}, input {}",
        difference.operator.0,
        graph.operators[difference.operator.0].kind.escape_debug(),
        difference.input
    );
    let share = |other: &OtherBytes| {
        let bytes = counted(other.bytes as u64, "byte", "bytes");
        format!("{bytes} of {}", names::tensor(graph, other.tensor))
    };
    match &difference.mismatch {
        Mismatch::Tensor(other) | Mismatch::Original(other) => format!(
            "{place}: {} differ from what is stored without overlaps, from byte {} on",
            share(other),
            grouped(other.first_byte as u64)
        ),
        Mismatch::Lost(other) => format!(
            "{place}: {}, which a later operator or the application needs, are no longer there, from byte {} on",
            share(other),
            grouped(other.first_byte as u64)
        ),
        Mismatch::Stray { arena } => format!(
            "{place}: changes bytes of the arena between {} and {} that are neither its output nor \
             its scratch memory",
            grouped(arena.start as u64),
            grouped(arena.end as u64)
        ),
        Mismatch::Failed { reason } => format!("{place}: {reason}"),
    }
}

/// The first few.
fn some_of(lines: Vec<String>) -> Vec<String> {
    let more = lines.len() > MOST_LINES;
    let mut lines = first_lines(lines, MOST_LINES);
    if let Some(last) = lines.last_mut().filter(|_| more) {
        *last += " (--json has all)";
    }
    lines
}

fn arena(arena: &FirmwareArena) -> String {
    let head = grouped(arena.head_bytes);
    match arena.taken {
        Some(taken) => format!(
            "{head} bytes, {} with what the runtime keeps (arena_used_bytes)",
            grouped(taken.head_bytes + taken.tail_bytes)
        ),
        None => format!("{head} bytes"),
    }
}

impl Report for FirmwareVerifyReport {
    const SCHEMA: &'static str = "dmo-trace/verify-firmware/1";

    fn text(&self) -> String {
        let mut text = format!(
            "{} in {} on {}: {}, {} instructions an inference\n",
            self.model,
            self.firmware,
            self.cpu,
            counted(self.order.len() as u64, "operator", "operators"),
            grouped(self.instructions)
        );
        text += &format!(
            "Arena: {}; as the firmware plans it by itself: {}\n\n",
            arena(&self.arena),
            arena(&self.arena_before)
        );
        for fault in &self.faults {
            text += &format!("plan       UNSAFE: {fault}\n");
        }
        for (name, words) in ["geometry", "replay", "execution"]
            .iter()
            .zip(self.witnesses())
        {
            text += &format!("{name:<10} {words}\n");
        }
        for objection in self.objections.iter().flatten() {
            text += &format!("\n{objection}\n");
        }
        for note in &self.notes {
            text += &format!("Note: {note}.\n");
        }
        if self.safe {
            return text + "\nSAFE with this firmware\n";
        }
        text += "\nUNSAFE\n";
        if let Some(next) = &self.next {
            text += &format!("Next: {next}.\n");
        }
        text
    }
}
