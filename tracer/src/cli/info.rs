//! `dmo-trace info`: the report of a saved trace.

use super::{Verdict, output, saved_trace};
use dmo_trace::elf::symbols::Symbols;
use dmo_trace::program::run::describe_exit;
use dmo_trace::words::run::timeline::perfetto;
use dmo_trace::words::run::{RunReport, Warning};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
    /// Write a timeline for Perfetto (ui.perfetto.dev): layers, and the buffers of each
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let (program, profile, ending) = saved_trace::read(&arguments.trace)?;
    let report = RunReport {
        program: &program,
        file: None,
        // A trace has no symbols of its own.
        exit: &describe_exit(ending.exit, &Symbols::default()),
        ending: &ending,
        inputs: None,
        self_checked: None,
        memory: None,
        cycles: None,
        decisions: None,
        profile: &profile,
        warnings: Warning::of_exit(ending.exit).into_iter().collect(),
        ram: None,
        arena: None,
        models: Vec::new(),
    };
    if let Some(path) = &arguments.perfetto {
        output::write(path, &perfetto(&report)?)?;
    }
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}
