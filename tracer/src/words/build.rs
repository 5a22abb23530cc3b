//! A generated library in words and as JSON.

use super::cycles;
use super::report::Report;
use crate::mcu::cycles::Cycles;
use crate::study::build::Built;
use crate::study::source::Source;
use dmo_analysis::wording::{counted, grouped};
use serde::Serialize;

/// What a library needs, and what was checked of it.
#[derive(Debug, Serialize)]
pub struct BuildReport {
    model: String,
    name: String,
    kernels: String,
    cpu: String,
    safe: bool,
    inputs: u64,
    arena_bytes: u32,
    state_bytes: u32,
    stack_bytes: Option<u32>,
    weights_bytes: u64,
    macs: u64,
    calls: usize,
    instructions: u64,
    cycles: Option<Cycles>,
    files: Vec<String>,
}

impl BuildReport {
    /// What is known of a library.
    pub fn new(source: &Source, built: &Built) -> Self {
        let description = &built.description;
        Self {
            model: source.name.clone(),
            name: description.name.clone(),
            kernels: description.kernels.clone(),
            cpu: description.cpu.clone(),
            safe: built.is_safe,
            inputs: built.inputs,
            arena_bytes: built.arena_bytes,
            state_bytes: built.state_bytes,
            stack_bytes: description.stack_bytes,
            weights_bytes: built.weights_bytes,
            macs: description.macs,
            calls: built.calls,
            instructions: built.instructions,
            cycles: built.cycles,
            files: built.files.iter().map(|file| file.path.clone()).collect(),
        }
    }
}

impl Report for BuildReport {
    const SCHEMA: &'static str = "dmo-trace/build/1";

    fn text(&self) -> String {
        let inputs = counted(self.inputs, "input", "inputs");
        if !self.safe {
            return format!(
                "{}: UNSAFE: the plan does not hold on the kernels' machine code; nothing was written.\n\
                 Please report this. `dmo-trace plan` and `dmo-trace verify` show what clashes.\n",
                self.model
            );
        }
        let stack = self.stack_bytes.map_or_else(
            || "not measured".to_owned(),
            |bytes| format!("{} bytes", grouped(u64::from(bytes))),
        );
        let state = match self.state_bytes {
            0 => String::new(),
            bytes => format!(", {} of them state", grouped(u64::from(bytes))),
        };
        let cycles = match &self.cycles {
            Some(_) => format!(
                ", about {} cycles",
                cycles::total(self.cycles.as_ref(), grouped)
            ),
            None => String::new(),
        };
        format!(
            "{model}: C library {name}, {files}\n\n\
             Arena:     {arena} bytes{state}\n\
             Stack:     {stack}, deepest of the kernels on {cpu}\n\
             Weights:   {weights} bytes\n\
             Inference: {calls}, {macs} multiply-accumulates, {instructions} instructions{cycles}\n\n\
             SAFE: the plan holds on the machine code of the {kernels} kernels, and all outputs are \
             the model's, on {inputs}.\n",
            model = self.model,
            name = self.name,
            files = counted(self.files.len() as u64, "file", "files"),
            arena = grouped(self.arena_bytes.into()),
            cpu = self.cpu,
            weights = grouped(self.weights_bytes),
            calls = counted(self.calls as u64, "call", "calls"),
            macs = grouped(self.macs),
            instructions = grouped(self.instructions),
            kernels = self.kernels,
        )
    }
}
