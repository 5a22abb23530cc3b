//! `dmo-trace info`: the report of a saved trace.

use super::{Verdict, output, saved_trace};
use dmo_analysis::trace::{Ending, Exit};
use dmo_trace::program::run::stopped;
use dmo_trace::words::run::{RunReport, Warning};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let (program, profile, ending) = saved_trace::read(&arguments.trace)?;
    let report = RunReport {
        program: &program,
        exit: &exit_in_words(&ending),
        ending: &ending,
        inputs: None,
        self_checked: None,
        memory: None,
        profile: &profile,
        warnings: Warning::of_exit(ending.exit).into_iter().collect(),
        arena: None,
    };
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}

fn exit_in_words(ending: &Ending) -> String {
    match ending.exit {
        Exit::Status(status) => format!("exit status {status}"),
        Exit::Sleep(address) => format!("asleep at {address}"),
        Exit::Loop(address) => format!("endless loop at {address}"),
        Exit::Stopped(layers) => stopped(layers),
    }
}
