//! What a replay finds: which bytes of which buffer are wrong, and the instructions that did it,
//! by function, source line and disassembly.

use super::names;
use crate::elf::symbols::without_parameters;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::replay::{BufferId, Finding, FindingKind};
use dmo_analysis::trace::{Address, Location, Time};
use dmo_analysis::wording::grouped;

/// A load or store that a finding names.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    /// Its address.
    pub pc: Address,
    /// Executed instructions since its operator began, where they are counted so.
    pub time: Option<Time>,
    /// Where it comes from, where that is known.
    pub location: Option<&'a Location>,
}

/// The instructions that a finding names, as far as they are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Instructions<'a> {
    /// The load or store that shows the finding.
    pub access: Option<Instruction<'a>>,
    /// The store that overwrote the bytes.
    pub writer: Option<Instruction<'a>>,
    /// The load of a later operator that needed the bytes: the operator and its function.
    pub reader: Option<(Instruction<'a>, OperatorId, &'a str)>,
}

/// A finding in words: a line that begins with `place`, a line for each instruction, and the
/// displacement that would be safe.
pub fn describe(
    place: &str,
    graph: &Graph,
    finding: &Finding,
    instructions: Instructions<'_>,
) -> String {
    let mut text = format!("{place}: {}", headline(graph, finding));
    if let Some(access) = instructions.access {
        text += &line(access_word(finding.kind), access);
    }
    if let (Some(writer), Some(by)) = (instructions.writer, &finding.writer) {
        let whose = subject(graph, by.subject);
        text += &line("store", writer);
        text += &format!(", byte {} of {whose}", grouped(by.byte));
    }
    if let Some((reader, operator, function)) = instructions.reader {
        text += &line("load", reader);
        text += &format!(", in operator {} ({function})", operator.0);
    }
    if let (Some(displacement), Some(needed)) = (finding.displacement, finding.needed_displacement)
    {
        text += &format!(
            "\n  it starts {} bytes above the tensor that overwrites it, and must start at least {} \
             above",
            signed(displacement),
            grouped(needed)
        );
    }
    text
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(bytes.unsigned_abs()))
}

/// Which bytes of which buffer are wrong, and how.
fn headline(graph: &Graph, finding: &Finding) -> String {
    let bytes = &finding.bytes;
    let element = match finding.element {
        Some(element) => format!(" (element {} on)", grouped(element)),
        None => String::new(),
    };
    let (bytes, [are, they_are, share]) = if bytes.end - bytes.start == 1 {
        (
            format!("byte {}", grouped(bytes.start)),
            ["is", "it is", "shares"],
        )
    } else {
        let range = format!("bytes {}..{}", grouped(bytes.start), grouped(bytes.end));
        (range, ["are", "they are", "share"])
    };
    let wrong = match finding.kind {
        FindingKind::SharedAtBegin => {
            format!("{share} memory with another tensor that holds content")
        }
        FindingKind::Clobber => format!("{are} overwritten before {they_are} loaded"),
        FindingKind::UninitialisedRead => format!("{are} loaded before anything is stored there"),
        FindingKind::Destroyed => format!("{are} overwritten, and needed later"),
        FindingKind::NotStored => format!("{are} never stored"),
        FindingKind::StrayStore => format!("{are} stored to"),
        FindingKind::StrayLoad => format!("{are} loaded"),
        FindingKind::StoreToInput => format!("{are} stored to, and it is an input"),
        FindingKind::StoreToConstant => format!("{are} stored to, and it is a constant"),
    };
    let subject = subject(graph, finding.subject);
    format!("{bytes}{element} of {subject} {wrong}")
}

/// A line for an instruction, after a line feed; `what` is `load` or `store`.
fn line(what: &str, instruction: Instruction<'_>) -> String {
    format!("\n  {what:<5} {}", place(instruction))
}

/// Where an instruction is: source, function, time, address and disassembly, as far as known.
pub fn place(instruction: Instruction<'_>) -> String {
    let Instruction { pc, time, location } = instruction;
    let time = time.map_or(String::new(), |time| {
        format!(", instruction {} of the operator", grouped(time))
    });
    let known = location.filter(|location| **location != Location::default());
    let Some(location) = known else {
        return format!("{pc}{time}");
    };
    let function = location.function.as_deref().unwrap_or("?");
    let function = without_parameters(function);
    let source = match &location.file {
        Some(_) => format!("{location} in "),
        None => String::new(),
    };
    let disassembly = location.disassembly.as_deref();
    let disassembly = disassembly.map_or(String::new(), |text| format!(": {text}"));
    format!("{source}{function}{time} ({pc}{disassembly})")
}

/// Which access shows a finding of this kind.
fn access_word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::StrayStore | FindingKind::StoreToInput | FindingKind::StoreToConstant => {
            "store"
        }
        FindingKind::SharedAtBegin
        | FindingKind::Clobber
        | FindingKind::UninitialisedRead
        | FindingKind::Destroyed
        | FindingKind::NotStored
        | FindingKind::StrayLoad => "load",
    }
}

fn subject(graph: &Graph, subject: BufferId) -> String {
    match subject.occupant {
        Some(occupant) => names::occupant(graph, occupant),
        None => "memory outside the arena".to_owned(),
    }
}
