//! `dmo-trace build`: a C library that computes a model in its planned arena.

use super::options::change::{Change, ChangeArguments};
use super::options::flash::FlashArguments;
use super::options::numbers::Seconds;
use super::options::page::PageArguments;
use super::options::regions::RegionArguments;
use super::progress::Bars;
use super::{Verdict, output, pictures};
use anyhow::Context;
use clap::ValueEnum;
use dmo_analysis::wording::parse_size;
use dmo_plot::{FormPoint, draw_forms};
use dmo_trace::codegen::compilation::Compiler;
use dmo_trace::page::build::page;
use dmo_trace::study::build::{BuildRequest, build, default_kernels, library_forms};
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::error::{BuildError, StudyError};
use dmo_trace::study::form::{Form, Forms, MemoryLimits};
use dmo_trace::study::forms::has_windows;
use dmo_trace::study::kernel_request::{KernelRequest, REFERENCE};
use dmo_trace::study::remedies::Remedies;
use dmo_trace::study::session::Cache;
use dmo_trace::study::source::Source;
use dmo_trace::study::{INPUTS, SEARCH_TIME};
use dmo_trace::words::build::BuildReport;
use dmo_trace::words::forms::FormsReport;
use dmo_trace::words::names::pasted;
use dmo_trace::words::regions::no_room;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file
    model: OsString,
    /// Folder to write the library to; an earlier library in it is replaced
    #[arg(long, value_name = "DIR", required_unless_present = "front")]
    out: Option<PathBuf>,
    /// Name of the library, the prefix of its functions [default: from the model's file name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Kernels to bring along: dsp-packed (for CPUs with the DSP extension), dsp (the same with the
    /// weights as the model has them), plain (for CPUs without it) or reference [default: dsp-packed,
    /// and plain for CPUs without the extension]
    #[arg(long, value_name = "SET")]
    kernels: Option<String>,
    /// CPU to plan for [default: the one that the kernels were built for]
    #[arg(long)]
    cpu: Option<String>,
    #[command(flatten)]
    change: ChangeArguments,
    /// Write the fastest form whose arena and stack take at most this, for example 32K; all changes
    /// are allowed unless --allow names some
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    ram: Option<u64>,
    /// Write the fastest form whose weights, tables and code take at most this, for example 256K;
    /// with --ram, the fastest that keeps to both
    #[arg(long = "flash", value_name = "BYTES", value_parser = parse_size)]
    flash_limit: Option<u64>,
    /// Only list what RAM and flash can be had for what time, and write no library
    #[arg(long, conflicts_with_all = ["out", "prove", "report"])]
    front: bool,
    #[command(flatten)]
    regions: RegionArguments,
    /// Draw the forms that --ram, --flash or --front look at as SVG and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
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
const RECOMPUTED_WITHIN_LIMITS: f64 = 200.0;

impl Arguments {
    fn kernels(&self) -> KernelRequest {
        let default = || default_kernels(self.cpu.as_deref()).to_owned();
        let kernels = self.kernels.clone().unwrap_or_else(default);
        // The reference kernels compute what the others cannot.
        let is_enough = kernels == REFERENCE;
        KernelRequest {
            kernels,
            further: (!is_enough)
                .then(|| REFERENCE.to_owned())
                .into_iter()
                .collect(),
            cpu: self.cpu.clone(),
            flash_timing: self.flash.timing(),
            ..KernelRequest::default()
        }
    }

    fn limits(&self) -> MemoryLimits {
        MemoryLimits {
            ram_bytes: self.ram,
            flash_bytes: self.flash_limit,
        }
    }

    /// Several forms are looked at.
    fn has_choice(&self) -> bool {
        self.front || self.limits().are_given()
    }

    /// Pruning costs nothing and is always allowed; where there is a choice all changes are, unless
    /// some are named, and tiles may compute more again.
    fn changes(&self) -> anyhow::Result<ChangeRequest> {
        let mut change = self.change.clone();
        if self.has_choice() {
            if change.allow.is_empty() {
                change.allow = Change::value_variants().to_vec();
            }
            if change.allow_tiles() {
                let by_default = RECOMPUTED_WITHIN_LIMITS;
                change.max_recompute = change.max_recompute.or(Some(by_default));
            }
        }
        let changes = change.request()?;
        let prune = true;
        Ok(ChangeRequest { prune, ..changes })
    }

    fn request(&self) -> anyhow::Result<BuildRequest> {
        Ok(BuildRequest {
            name: self.name.clone(),
            kernels: self.kernels(),
            changes: self.changes()?,
            limits: self.limits(),
            regions: self.regions.request(self.time.0),
            keep_inputs: self.keep_inputs,
            stream_rows: self.stream,
            time: self.time.0,
            inputs: self.inputs,
            prove: self.prove.then(|| Compiler {
                program: self.cc.clone(),
                flags: self.cflags.split_whitespace().map(str::to_owned).collect(),
            }),
        })
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.plot {
        anyhow::ensure!(
            arguments.has_choice(),
            "--plot draws the forms that are looked at\n  hint: add --front, --ram or --flash"
        );
        output::folder(folder)?;
    }
    if let Some(out) = &arguments.out {
        output::ensure_replaceable(out)?;
        arguments.page.ensure_not_below(out)?;
    }
    arguments.page.ensure_writable()?;
    let mut source = Source::load(&arguments.model)?;
    arguments.change.take_integers(&mut source)?;
    let request = arguments.request()?;
    let session = Bars::session(Cache::of_user());
    let Some(out) = &arguments.out else {
        let forms = library_forms(&mut source, &request, &session)?;
        return report_forms(arguments, &source, &forms);
    };
    let built = match build(&mut source, &request, &session) {
        Err(StudyError::Build(BuildError::OutOfReach(beyond))) => {
            return report_forms(arguments, &source, &beyond.forms);
        }
        Err(StudyError::Build(BuildError::NoRoom { model, error })) => {
            output::message(&format!("dmo-trace: {}", no_room(&model, &error)));
            return Ok(Verdict::Fails);
        }
        built => built?,
    };
    if built.holds() {
        let page = arguments.page.written(|| {
            let tried = Remedies::search(&source, &built.planned, &session)?;
            page(&source, &built, &tried).with_context(|| source.name.clone())
        })?;
        let files = built.files.iter();
        let files = files.map(|file| (file.path.as_str(), file.text.as_bytes()));
        output::write_folder(out, files)?;
        let page = page.iter().map(|(path, content)| (*path, &content[..]));
        output::write_all(page)?;
    }
    draw(arguments, &source.name, &built.forms, |form| {
        built.is_of(form)
    })?;
    let mut report = BuildReport::new(&source, &built);
    report.next = Some(format!(
        "`make -C {0} test` runs the recorded inferences on this machine; {0}/README.md shows how to \
         call the library{1}",
        pasted(&out.to_string_lossy()),
        smaller(arguments, &source)
    ));
    output::report(&report, arguments.json)?;
    Ok(built.holds().into())
}

/// What may need less memory.
fn smaller(arguments: &Arguments, source: &Source) -> String {
    let mut text = String::new();
    if source.has_float_ends() {
        text +=
            "; `--integer-io` leaves out the conversions from and to floats at the model's ends";
    }
    if may_remove(arguments, source) {
        text += "; `--allow remove,cache` may need less RAM, with nothing computed twice";
    }
    text
}

/// Nothing but the default was asked for, and something else may need less.
fn may_remove(arguments: &Arguments, source: &Source) -> bool {
    let is_asked_for = arguments.has_choice() || arguments.change.slices;
    !is_asked_for && arguments.change.allow.is_empty() && has_windows(source.graph())
}

/// Says what can be had, where no library is made.
fn report_forms(arguments: &Arguments, source: &Source, forms: &Forms) -> anyhow::Result<Verdict> {
    let limits = arguments.limits();
    let chosen = forms.fastest_within(&limits).filter(|_| limits.are_given());
    let is_chosen = |form: &Form| chosen.is_some_and(|chosen| chosen.recipe == form.recipe);
    draw(arguments, &source.name, forms, is_chosen)?;
    let report = FormsReport::new(source, &arguments.changes()?, limits, forms);
    output::report(&report, arguments.json)?;
    Ok(report.fits().into())
}

fn draw(
    arguments: &Arguments,
    model: &str,
    forms: &Forms,
    is_chosen: impl Fn(&Form) -> bool,
) -> anyhow::Result<()> {
    let Some(folder) = &arguments.plot else {
        return Ok(());
    };
    let point = |form: &Form, is_best| FormPoint {
        ram_bytes: form.ram_bytes(),
        flash_bytes: form.flash_bytes,
        time: form.time(),
        is_best,
        is_chosen: is_chosen(form),
    };
    let best = forms.best.iter().map(|form| point(form, true));
    let beaten = forms.beaten.iter().map(|form| point(form, false));
    let points: Vec<FormPoint> = best.chain(beaten).collect();
    let unit = if forms.best.iter().all(|form| form.cycles.is_some()) {
        "cycles"
    } else {
        "instructions"
    };
    pictures::write_all(&[draw_forms(model, &points, unit)?], folder)
}
