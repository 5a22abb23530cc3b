//! Which instruction loads or stores what it must not: by function, source line and
//! disassembly.

use super::super::tensor_name;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::replay::{Finding, FindingKind, Subject};
use dmo_analysis::trace::{Address, Location, Time};
use dmo_analysis::verify::Occupant;
use dmo_trace::mcu::disassembly::Disassembler;
use dmo_trace::model::Deployment;
use dmo_trace::model::verify::Verification;
use serde::Serialize;

/// A finding, and where its instructions come from.
#[derive(Serialize)]
pub struct Evidence {
    operator: OperatorId,
    kind_of_operator: String,
    function: &'static str,
    /// Number of the model's input.
    input: u64,
    #[serde(flatten)]
    finding: Finding,
    /// The load or store that shows it.
    access_location: Option<Location>,
    /// The store that has done it.
    writer_location: Option<Location>,
    /// The later operator's load that finds it.
    reader: Option<Reader>,
}

/// The load that finds what an earlier operator has destroyed.
#[derive(Serialize)]
struct Reader {
    operator: OperatorId,
    function: &'static str,
    pc: Address,
    time: Time,
    location: Location,
}

/// Knows the code.
pub struct Blame<'a> {
    deployment: &'a Deployment<'a>,
    found: &'a Verification,
    disassembler: Disassembler,
}

impl<'a> Blame<'a> {
    pub fn new(deployment: &'a Deployment<'a>, found: &'a Verification) -> Self {
        Self {
            deployment,
            found,
            disassembler: Disassembler::default(),
        }
    }

    /// All findings.
    pub fn evidence(&mut self) -> Vec<Evidence> {
        let mut all = Vec::new();
        for layer in &self.found.layers {
            for (input, finding) in &layer.findings {
                let access = finding.access.map(|access| self.location(access.pc));
                let writer = finding.writer.and_then(|writer| writer.pc);
                let reader = self.found.readers.iter();
                let reader = reader
                    .clone()
                    .find(|reader| reader.is_of(layer.operator, *input, finding));
                all.push(Evidence {
                    operator: layer.operator,
                    kind_of_operator: self.kind(layer.operator),
                    function: layer.function,
                    input: *input,
                    finding: finding.clone(),
                    access_location: access,
                    writer_location: writer.map(|pc| self.location(pc)),
                    reader: reader.map(|reader| Reader {
                        operator: reader.reader,
                        function: self.deployment.step(reader.reader).contract.function,
                        pc: reader.load.pc,
                        time: reader.load.time,
                        location: self.location(reader.load.pc),
                    }),
                });
            }
        }
        all
    }

    fn kind(&self, operator: OperatorId) -> String {
        let kind = &self.deployment.graph.operators[operator.0].kind;
        kind.escape_debug().to_string()
    }

    fn location(&self, pc: Address) -> Location {
        self.deployment.library.location(pc, &self.disassembler)
    }
}

/// In words, of the findings of one kind with one buffer the first: its instructions are often
/// those of an unrolled loop, of which each has a finding of its own.
pub fn first_of_each(findings: &[Evidence], graph: &Graph) -> Vec<String> {
    let same = |one: &Evidence, other: &Evidence| {
        (one.operator, one.input, one.finding.kind)
            == (other.operator, other.input, other.finding.kind)
            && one.finding.subject == other.finding.subject
    };
    let alike = findings.chunk_by(same);
    alike
        .filter_map(|alike| {
            let (first, others) = alike.split_first()?;
            let more = match others.len() {
                0 => String::new(),
                count => format!("\n  and {count} more of the same by other instructions"),
            };
            Some(first.text(graph) + &more)
        })
        .collect()
}

impl Evidence {
    /// In words.
    pub fn text(&self, graph: &Graph) -> String {
        let finding = &self.finding;
        let mut text = format!(
            "operator {} {} ({}), input {}: {} of {} {}",
            self.operator.0,
            self.kind_of_operator,
            self.function,
            self.input,
            bytes(finding),
            subject(graph, finding.subject),
            wrong(finding.kind),
        );
        if let (Some(access), Some(location)) = (&finding.access, &self.access_location) {
            let what = match finding.kind {
                FindingKind::StrayStore
                | FindingKind::StoreToInput
                | FindingKind::StoreToConstant => "store",
                _ => "load ",
            };
            text += &instruction(what, location, access.pc, access.time);
        }
        if let (Some(writer), Some(location)) = (&finding.writer, &self.writer_location)
            && let (Some(pc), Some(time)) = (writer.pc, writer.time)
        {
            text += &instruction("store", location, pc, time);
            let whose = subject(graph, writer.subject);
            text += &format!(", byte {} of {whose}", writer.byte);
        }
        if let Some(reader) = &self.reader {
            text += &instruction("load ", &reader.location, reader.pc, reader.time);
            text += &format!(", in operator {} ({})", reader.operator.0, reader.function);
        }
        if let (Some(displacement), Some(needed)) =
            (finding.displacement, finding.needed_displacement)
        {
            text += &format!(
                "\n  it starts {displacement} bytes above what was stored there; at least {needed} \
                 are safe"
            );
        }
        text
    }
}

fn bytes(finding: &Finding) -> String {
    let range = &finding.bytes;
    let element = match finding.element {
        Some(element) => format!(" (element {element} on)"),
        None => String::new(),
    };
    match range.end - range.start {
        1 => format!("byte {}{element}", range.start),
        _ => format!("bytes {}..{}{element}", range.start, range.end),
    }
}

fn subject(graph: &Graph, subject: Subject) -> String {
    match subject.occupant {
        Some(Occupant::Tensor(id)) => tensor_name(graph, id),
        Some(Occupant::Scratch(operator)) => {
            format!("the scratch memory of operator {}", operator.0)
        }
        None => "memory outside the arena".to_owned(),
    }
}

fn wrong(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::SharedAtBegin => "share memory with another tensor that holds content",
        FindingKind::Clobber => "are overwritten before they are loaded",
        FindingKind::UninitialisedRead => "are loaded before anything is stored there",
        FindingKind::Destroyed => "are overwritten, and needed later",
        FindingKind::NotStored => "are never stored",
        FindingKind::StrayStore => "are stored to",
        FindingKind::StrayLoad => "are loaded",
        FindingKind::StoreToInput => "are stored to, and it is an input",
        FindingKind::StoreToConstant => "are stored to, and it is a constant",
    }
}

fn instruction(what: &str, location: &Location, pc: Address, time: Time) -> String {
    let function = location.function.as_deref().unwrap_or("?");
    let disassembly = match &location.disassembly {
        Some(disassembly) => format!(": {disassembly}"),
        None => String::new(),
    };
    format!(
        "\n  {what} {location} in {function}, instruction {time} of the operator ({pc}{disassembly})"
    )
}
