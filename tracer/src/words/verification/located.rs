//! Findings with the functions, source lines and disassembly of their instructions.

use crate::mcu::disassembly::Disassembler;
use crate::model::Deployment;
use crate::model::verify::Verification;
use crate::words::finding::{Instruction, Instructions, describe};
use crate::words::names;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::replay::Finding;
use dmo_analysis::trace::{Address, Location, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A finding, and where its instructions come from.
#[derive(JsonSchema, Serialize)]
pub struct LocatedFinding {
    operator: OperatorId,
    kind_of_operator: String,
    function: &'static str,
    /// Number of the model's input.
    input: u64,
    #[serde(flatten)]
    finding: Finding,
    /// The load or store that shows it.
    access_location: Option<Location>,
    /// The store that overwrote the bytes.
    writer_location: Option<Location>,
    /// The load of a later operator that finds other bytes there.
    reader: Option<Reader>,
}

/// The load that finds what an earlier operator has destroyed.
#[derive(JsonSchema, Serialize)]
struct Reader {
    operator: OperatorId,
    function: &'static str,
    pc: Address,
    time: Time,
    location: Location,
}

/// All findings of all operators, with the sources of their instructions.
pub fn locate(deployment: &Deployment<'_>, found: &Verification) -> Vec<LocatedFinding> {
    let disassembler = Disassembler::default();
    // One operator is replayed at a time, so that its instructions are those of its library.
    let location = |operator: OperatorId, pc: Address| {
        let kernel = deployment.step(operator).kernel.as_ref().ok()?;
        Some(deployment.library(kernel).location(pc, &disassembler))
    };
    let mut all = Vec::new();
    for layer in &found.layers {
        let kind = &deployment.graph.operators[layer.operator.0].kind;
        for (input, finding) in &layer.findings {
            let mut readers = found.readers.iter();
            let reader = readers.find(|reader| reader.is_of(layer.operator, *input, finding));
            let writer = finding.writer.and_then(|writer| writer.pc);
            all.push(LocatedFinding {
                operator: layer.operator,
                kind_of_operator: kind.escape_debug().to_string(),
                function: layer.function,
                input: *input,
                finding: finding.clone(),
                access_location: finding
                    .access
                    .and_then(|access| location(layer.operator, access.pc)),
                writer_location: writer.and_then(|pc| location(layer.operator, pc)),
                reader: reader.and_then(|reader| {
                    Some(Reader {
                        operator: reader.reader,
                        function: deployment.step(reader.reader).function()?,
                        pc: reader.load.pc,
                        time: reader.load.time,
                        location: location(reader.reader, reader.load.pc)?,
                    })
                }),
            });
        }
    }
    all
}

/// A finding in words, and where its instructions come from.
pub struct Annotation {
    /// The finding, and how many are like it.
    pub text: String,
    /// What instructions do, and where they come from, the one to blame first.
    pub places: Vec<(&'static str, Location)>,
}

/// The first finding of each kind and buffer, on the first input that shows it: the others are often
/// those of further instructions of an unrolled loop.
pub fn first_of_each(findings: &[LocatedFinding], graph: &Graph) -> Vec<Annotation> {
    let mut firsts: Vec<Alike> = Vec::new();
    for finding in findings {
        match firsts.iter_mut().find(|alike| alike.first.is_like(finding)) {
            Some(alike) => alike.add(finding.input),
            None => firsts.push(Alike {
                first: finding,
                more: 0,
                further_inputs: BTreeSet::new(),
            }),
        }
    }
    firsts.iter().map(|alike| alike.annotation(graph)).collect()
}

/// Findings of one kind and buffer.
struct Alike<'a> {
    first: &'a LocatedFinding,
    /// How many more there are on the first one's input.
    more: usize,
    further_inputs: BTreeSet<u64>,
}

impl Alike<'_> {
    fn add(&mut self, input: u64) {
        if input == self.first.input {
            self.more += 1;
        } else {
            self.further_inputs.insert(input);
        }
    }

    fn annotation(&self, graph: &Graph) -> Annotation {
        let more = match self.more {
            0 => String::new(),
            count => format!("\n  and {count} more of the same by other instructions"),
        };
        let inputs = names::likewise(self.further_inputs.len() as u64);
        Annotation {
            text: self.first.text(graph) + &more + &inputs,
            places: self.first.places(),
        }
    }
}

impl LocatedFinding {
    fn is_like(&self, other: &Self) -> bool {
        (self.operator, self.finding.kind) == (other.operator, other.finding.kind)
            && self.finding.subject == other.finding.subject
    }

    /// The store that overwrote, the load that shows it, the load that needed the bytes.
    fn places(&self) -> Vec<(&'static str, Location)> {
        let reader = self.reader.as_ref().map(|reader| &reader.location);
        let known = [
            ("overwrites them", self.writer_location.as_ref()),
            ("shows it", self.access_location.as_ref()),
            ("needs them", reader),
        ];
        let known = known.into_iter();
        known
            .filter_map(|(what, location)| Some((what, location?.clone())))
            .collect()
    }

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
