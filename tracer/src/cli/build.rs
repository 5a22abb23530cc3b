//! `dmo-trace build`: a C library that computes a model in its planned arena.

use super::options::change::{Change, ChangeArguments};
use super::options::flash::FlashArguments;
use super::options::numbers::Seconds;
use super::options::page::PageArguments;
use super::progress::Bars;
use super::{Verdict, output};
use anyhow::Context;
use clap::ValueEnum;
use dmo_analysis::wording::parse_size;
use dmo_trace::codegen::compilation::Compiler;
use dmo_trace::page::build::page;
use dmo_trace::study::build::{BuildRequest, DSP, build};
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::kernel_request::{KernelRequest, REFERENCE};
use dmo_trace::study::remedies::Remedies;
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
    /// Write the fastest form whose arena and stack take at most this, for example 32K; all changes
    /// are allowed unless --allow names some
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    ram: Option<u64>,
    /// Take this many new rows of the model's time window per inference, and compute only what is new
    /// (docs/streaming.md)
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    stream: Option<u32>,
    /// Preserve the model's inputs: they are intact when an inference has ended
    #[arg(long)]
    keep_inputs: bool,
    /// Stop searching for a plan after this many seconds and use the best one found so far
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(SEARCH_TIME))]
    time: Seconds,
    /// Number of different inputs to verify the plan on, and to record for the library's test
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=100))]
    inputs: u64,
    /// Compile the library for the CPU, and prove it as compiled: its kernels in the plan, every load
    /// and store, the outputs, the stack
    #[arg(long)]
    prove: bool,
    /// Cross compiler of the proof
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "arm-none-eabi-gcc",
        requires = "prove"
    )]
    cc: String,
    /// Flags of the proof's compiler
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "-O2",
        allow_hyphen_values = true,
        requires = "prove"
    )]
    cflags: String,
    #[command(flatten)]
    flash: FlashArguments,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

/// What tiles may compute again where the fastest form that fits is asked for, in percent.
const RECOMPUTED_WITHIN_RAM: f64 = 200.0;

impl Arguments {
    /// The reference kernels compute what the others cannot.
    fn further_kernels(&self) -> Vec<String> {
        if self.kernels == REFERENCE {
            return Vec::new();
        }
        vec![REFERENCE.to_owned()]
    }

    /// Pruning costs nothing and is always allowed; with a limit of memory all changes are, unless
    /// some are named.
    fn changes(&self) -> anyhow::Result<ChangeRequest> {
        if self.ram.is_none() || !self.change.allow.is_empty() {
            let changes = self.change.request()?;
            let prune = true;
            return Ok(ChangeRequest { prune, ..changes });
        }
        let all = ChangeArguments {
            allow: Change::value_variants().to_vec(),
            max_recompute: self.change.max_recompute.or(Some(RECOMPUTED_WITHIN_RAM)),
        };
        all.request()
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    output::ensure_replaceable(&arguments.out)?;
    arguments.page.ensure_not_below(&arguments.out)?;
    let mut source = Source::load(&arguments.model)?;
    let request = BuildRequest {
        name: arguments.name.clone(),
        kernels: KernelRequest {
            kernels: arguments.kernels.clone(),
            further: arguments.further_kernels(),
            cpu: arguments.cpu.clone(),
            flash_timing: arguments.flash.timing(),
            ..KernelRequest::default()
        },
        changes: arguments.changes()?,
        ram_bytes: arguments.ram,
        keep_inputs: arguments.keep_inputs,
        stream_rows: arguments.stream,
        time: arguments.time.0,
        inputs: arguments.inputs,
        prove: arguments.prove.then(|| Compiler {
            program: arguments.cc.clone(),
            flags: arguments
                .cflags
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        }),
    };
    let session = Bars::session(Cache::of_user());
    let built = build(&mut source, &request, &session)?;
    if built.holds() {
        let page = arguments.page.written(|| {
            let tried = Remedies::search(&source, &built.planned, &session)?;
            page(&source, &built, &tried).with_context(|| source.name.clone())
        })?;
        let files = built.files.iter();
        let files = files.map(|file| (file.path.as_str(), file.text.as_bytes()));
        output::write_folder(&arguments.out, files)?;
        let page = page.iter().map(|(path, content)| (*path, &content[..]));
        output::write_all(page)?;
    }
    output::report(&BuildReport::new(&source, &built), arguments.json)?;
    Ok(built.holds().into())
}
