//! `dmo-trace layers`: what several kernel libraries take for each operator of models.

use super::options::before::FileChangeArguments;
use super::options::flash::FlashArguments;
use super::progress::Bars;
use super::{Verdict, output};
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::layers::{ComparedModel, compare_layers};
use dmo_trace::study::session::Cache;
use dmo_trace::study::source::Source;
use dmo_trace::study::{INPUTS, KERNEL_LIMITS};
use dmo_trace::words::layers::LayersReport;
use std::ffi::{OsStr, OsString};

#[derive(clap::Args)]
pub struct Arguments {
    /// Models: .tflite files, or zoo:NAME:int8 (random weights)
    #[arg(required = true)]
    models: Vec<OsString>,
    /// Kernels to compare: reference, dsp, dsp-packed, plain, dsp-channels-outside, or an ELF file or
    /// static library (.a) with functions of the same names; repeatable: each has columns of its
    /// own, and ratios are to the first
    #[arg(long, value_name = "SET|FILE", default_values = ["dsp", "dsp-packed", "reference"])]
    kernels: Vec<String>,
    /// CPU to emulate [default: for each library the one that it was built for]
    #[arg(long)]
    cpu: Option<String>,
    #[command(flatten)]
    flash: FlashArguments,
    #[command(flatten)]
    change: FileChangeArguments,
    /// Number of different inputs to run each model on: an overlap is granted where all lead to
    /// the same accesses
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Print JSON (docs/json.md) instead of tables
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn libraries(&self) -> Vec<KernelRequest> {
        let request = |kernels: &String| KernelRequest {
            kernels: kernels.clone(),
            cpu: self.cpu.clone(),
            flash_timing: self.flash.timing(),
            ..KernelRequest::default()
        };
        self.kernels.iter().map(request).collect()
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let libraries = arguments.libraries();
    // No model can be compared on kernels that cannot be read.
    for library in &libraries {
        library.load()?;
    }
    let mut models = Vec::new();
    let mut verdict = Verdict::Holds;
    for given in &arguments.models {
        match compared(given, arguments, &libraries) {
            Ok(compared) => models.push(compared),
            // It does not keep others from being compared.
            Err(error) => {
                output::message_on(given, &error);
                verdict = Verdict::Unknown;
            }
        }
    }
    output::report(&LayersReport { models }, arguments.json)?;
    Ok(verdict)
}

fn compared(
    given: &OsStr,
    arguments: &Arguments,
    libraries: &[KernelRequest],
) -> anyhow::Result<ComparedModel> {
    let mut source = Source::load(given)?;
    arguments.change.make(&mut source)?;
    let session = Bars::session(Cache::default());
    let (inputs, limits) = (arguments.inputs, KERNEL_LIMITS);
    Ok(compare_layers(
        &source, libraries, inputs, limits, &session,
    )?)
}
