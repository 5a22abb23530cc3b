//! `dmo-trace stream`: a model that takes only the newest rows of its window over time.

use super::options::kernels::ModelKernelArguments;
use super::{Verdict, output};
use dmo_trace::study::source::Source;
use dmo_trace::study::windows::compare_windows;
use dmo_trace::study::{INPUTS, KERNEL_LIMITS};
use dmo_trace::words::streaming::StreamedReport;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file whose input is a window over time
    model: OsString,
    /// Number of new rows per inference, the newest ones of the window
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Write the model that takes them to this .tflite file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of windows on which its outputs are compared with the model's
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    #[command(flatten)]
    kernels: ModelKernelArguments,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let mut source = Source::load(&arguments.model)?;
    let kernels = arguments.kernels.load()?;
    source.stream(arguments.rows)?;
    let windows = compare_windows(&source, &kernels, arguments.inputs, KERNEL_LIMITS)?;
    let holds = windows.are_equal();
    if let (true, Some(path), Some(file)) = (holds, &arguments.out, &source.file) {
        output::write(path, file)?;
    }
    let given = arguments.model.to_string_lossy();
    let report = StreamedReport::new(&source, &given, &windows, arguments.out.as_deref());
    output::report(&report, arguments.json)?;
    Ok(holds.into())
}
