//! `dmo-trace sweep`: a grid of operators, shapes, kernels and CPUs over all cores, one row
//! for each pair of an input and an output.

pub(super) mod key;
mod table;

use super::options::kernels::LibraryArguments;
use super::options::numbers::Seconds;
use super::{Verdict, output, progress};
use anyhow::Context;
use dmo_trace::study::compare::{INPUTS, LIMITS};
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::sweep::{Grid, SweepRequest, shard, sweep};
use key::Key;
use std::path::PathBuf;
use table::Table;

#[derive(clap::Args)]
#[command(after_help = GRID_HELP)]
pub struct Arguments {
    /// TOML file with the grid of cases
    grid: PathBuf,
    #[command(flatten)]
    library: LibraryArguments,
    /// Evaluate the formulas only, without running machine code
    #[arg(long, conflicts_with_all = ["kernels", "cpu", "cmsis_nn_version"])]
    formulas: bool,
    /// Number of different inputs to run each kernel on
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Show that each overlap holds on every input, not only on those that are run, or name in
    /// `finding` where data decide what a kernel loads and stores; takes longer
    #[arg(long, conflicts_with = "formulas")]
    every_input: bool,
    /// Give up if a case takes more than this: the operator's loops, or one run of a kernel
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(LIMITS.timeout))]
    timeout: Seconds,
    /// Output file: .csv, or .jsonl for one JSON object per line. An unfinished file of an earlier
    /// call is continued if FILE.key shows that its rows are still valid
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Run only every Nth case, starting at the Ith: the share of job I of N, counted from 1
    #[arg(long, value_name = "I/N", value_parser = parse_shard, default_value = "1/1")]
    shard: (usize, usize),
}

const GRID_HELP: &str = "\
The grid consists of [[grid]] tables. `operator` names the operator; every other key is an option
of `dmo-trace overlap` with a list of values. All combinations are run:

  [[grid]]
  operator = \"conv2d\"
  input = [\"1x16x16x8\", \"1x15x15x8\"]
  filter = [\"16x3x3x8\"]
  stride = [\"1\", \"2\"]
  padding = [\"same\", \"valid\"]
  kernels = [\"reference\", \"dsp\"]
  cpu = [\"cortex-m4\", \"cortex-m7\"]

Separate several inputs by commas in one value. --kernels and --cpu apply to tables without
`kernels` and `cpu`. Cases with impossible shapes, or without a kernel in the set, are skipped
with a note.

Exit code 1 if a row has a finding.

Examples:
  dmo-trace sweep grid.toml --out overlaps.csv
  dmo-trace sweep grid.toml --out part-2.jsonl --shard 2/8";

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let default = (!arguments.formulas).then(|| KernelRequest {
        flash_timing: None,
        ..arguments.library.request()
    });
    let grid = Grid::read(&arguments.grid, default.as_ref())?;
    for note in &grid.notes {
        output::message(&format!("{}: {note}", arguments.grid.display()));
    }
    let (number, shards) = arguments.shard;
    let entries = shard(&grid, number, shards);
    if entries.is_empty() {
        output::message(&format!(
            "{}: shard {number}/{shards} is empty: the grid has {} cases",
            arguments.grid.display(),
            grid.entries.len()
        ));
    }
    let version = arguments.library.cmsis_nn_version;
    let key = Key::of(&grid, version, arguments.inputs, arguments.every_input);
    let mut table = Table::open(&arguments.out, &entries, &key)
        .with_context(|| arguments.out.display().to_string())?;
    let done = table.done;
    let progress = progress::shown("{bar:40} {pos}/{len} cases, {eta} left", "sweep");
    progress.set_length(entries.len() as u64);
    progress.set_position(done as u64);
    let mut findings = table.findings;
    let request = SweepRequest {
        inputs: arguments.inputs,
        timeout: arguments.timeout.0,
        every_input: arguments.every_input,
        threads: None,
    };
    sweep(&entries[done..], request, |rows| {
        findings += rows.iter().filter(|row| !row.finding.is_empty()).count();
        progress.inc(1);
        table.append(&rows)
    })?;
    progress.finish_and_clear();
    output::print(&format!(
        "{} cases ({done} of them from an earlier call), {findings} rows with a finding: {}\n",
        entries.len(),
        arguments.out.display()
    ))?;
    Ok(Verdict::from(findings == 0))
}

fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let parsed = text
        .split_once('/')
        // Only digits: a number may not have a sign.
        .filter(|_| text.chars().all(|c| c.is_ascii_digit() || c == '/'))
        .and_then(|(shard, shards)| Some((shard.parse().ok()?, shards.parse().ok()?)));
    parsed
        .filter(|&(shard, shards)| (1..=shards).contains(&shard))
        .ok_or_else(|| format!("'{text}': expected I/N with I from 1 to N"))
}
