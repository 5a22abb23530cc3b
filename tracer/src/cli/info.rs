//! `dmo-trace info`: the report of a saved trace.

use super::{Verdict, output};
use anyhow::Context;
use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::TraceReader;
use dmo_analysis::trace::{Ending, Exit, Program};
use dmo_trace::program::run::stopped;
use dmo_trace::words::run::{RunReport, Warning};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Arguments of `dmo-trace info`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let (program, profile, ending) = read(&arguments.trace)?;
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

/// Reads a saved trace to its end, as the run saw it.
pub fn read(path: &Path) -> anyhow::Result<(Program, Profile, Ending)> {
    let whole = || -> anyhow::Result<_> {
        let reader = TraceReader::open(File::open(path)?)?;
        let program = reader.program().clone();
        let mut profiler = Profiler::<()>::default();
        let ending = reader.read_into(&mut profiler)?;
        let (mut profile, ()) = profiler.finish();
        profile.set_data_dependent(&ending.data_dependent);
        Ok((program, profile, ending))
    };
    whole().with_context(|| path.display().to_string())
}

fn exit_in_words(ending: &Ending) -> String {
    match ending.exit {
        Exit::Status(status) => format!("exit status {status}"),
        Exit::Sleep(address) => format!("asleep at {address}"),
        Exit::Loop(address) => format!("endless loop at {address}"),
        Exit::Stopped(layers) => stopped(layers),
    }
}
