//! Which instruction loads or stores what it must not: by function, source line and
//! disassembly.

use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::replay::Finding;
use dmo_analysis::trace::{Address, Location, Time};
use dmo_trace::mcu::disassembly::Disassembler;
use dmo_trace::model::Deployment;
use dmo_trace::model::verify::Verification;
use dmo_trace::words::finding::{Instruction, Instructions, describe};
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
        let place = format!(
            "operator {} {} ({}), input {}",
            self.operator.0, self.kind_of_operator, self.function, self.input,
        );
        let writer = finding.writer.and_then(|writer| {
            Some(Instruction {
                pc: writer.pc?,
                time: Some(writer.time?),
                location: self.writer_location.as_ref(),
            })
        });
        let instructions = Instructions {
            access: finding.access.map(|access| Instruction {
                pc: access.pc,
                time: Some(access.time),
                location: self.access_location.as_ref(),
            }),
            writer,
            reader: self.reader.as_ref().map(|reader| {
                let instruction = Instruction {
                    pc: reader.pc,
                    time: Some(reader.time),
                    location: Some(&reader.location),
                };
                (instruction, reader.operator, reader.function)
            }),
        };
        describe(&place, graph, finding, instructions)
    }
}
