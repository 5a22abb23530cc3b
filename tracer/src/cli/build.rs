//! `dmo-trace build`: a C library that computes a model in its planned arena.

use super::options::change::ChangeArguments;
use super::options::numbers::Seconds;
use super::progress::Bars;
use super::{Verdict, output};
use dmo_trace::study::build::{BuildRequest, DSP, build};
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::session::Cache;
use dmo_trace::study::source::Source;
use dmo_trace::study::{INPUTS, SEARCH_TIME};
use dmo_trace::words::build::BuildReport;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file
    model: OsString,
    /// Folder to write the library to; an earlier library in it is replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the library, the prefix of its functions [default: from the model's file name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Kernels to bring along: dsp (for CPUs with the DSP extension) or reference
    #[arg(long, value_name = "SET", default_value = DSP)]
    kernels: String,
    /// CPU to plan for [default: the one that the kernels were built for]
    #[arg(long)]
    cpu: Option<String>,
    #[command(flatten)]
    change: ChangeArguments,
    /// Preserve the model's inputs: they are intact when an inference has ended
    #[arg(long)]
    keep_inputs: bool,
    /// Stop searching for a plan after this many seconds and use the best one found so far
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(SEARCH_TIME))]
    time: Seconds,
    /// Number of different inputs to verify the plan on, and to record for the library's test
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=100))]
    inputs: u64,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    output::ensure_replaceable(&arguments.out)?;
    let mut source = Source::load(&arguments.model)?;
    let request = BuildRequest {
        name: arguments.name.clone(),
        kernels: KernelRequest {
            kernels: arguments.kernels.clone(),
            cpu: arguments.cpu.clone(),
            ..KernelRequest::default()
        },
        changes: arguments.change.request()?,
        keep_inputs: arguments.keep_inputs,
        time: arguments.time.0,
        inputs: arguments.inputs,
    };
    let session = Bars::session(Cache::of_user());
    let built = build(&mut source, &request, &session)?;
    if built.is_safe {
        let files = built.files.iter();
        let files = files.map(|file| (file.path.as_str(), file.text.as_bytes()));
        output::write_folder(&arguments.out, files)?;
    }
    output::report(&BuildReport::new(&source, &built), arguments.json)?;
    Ok(built.is_safe.into())
}
