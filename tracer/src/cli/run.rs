//! `dmo-trace run`: from an ELF program to its layers' safe overlaps.

use super::options::page::PageArguments;
use super::options::program::ProgramArguments;
use super::{Verdict, output, pictures, progress};
use anyhow::Context;
use dmo_analysis::firmware::Placed;
use dmo_analysis::profile::Profile;
use dmo_analysis::trace::file::TraceWriter;
use dmo_analysis::trace::{Program, TraceSink};
use dmo_trace::page::run::page;
use dmo_trace::program::run::{RunOptions, describe_exit};
use dmo_trace::program::semihosting::folder::Folder;
use dmo_trace::program::semihosting::{Console, Host};
use dmo_trace::program::target::Target;
use dmo_trace::study::run::{RunRequest, Stage, Traced, placed, trace};
use dmo_trace::study::tenants;
use dmo_trace::words::printable::Printable;
use dmo_trace::words::run::timeline::perfetto;
use dmo_trace::words::run::{RunReport, Warning};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use tempfile::NamedTempFile;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    program: ProgramArguments,
    /// Let the program access files in this folder, and no others, through semihosting. Runs on
    /// other inputs use a copy of it [default: no files]
    #[arg(long, value_name = "DIR")]
    semihosting_dir: Option<PathBuf>,
    /// Run all engines side by side, whatever --engine says, and compare every access with an
    /// independent decoding of the executed instructions (slow)
    #[arg(long)]
    self_check: bool,
    /// Also find out, by following the data through registers and memory, in which layers what holds on
    /// the inputs tried holds on every input; takes longer
    #[arg(long, conflicts_with = "semihosting_dir")]
    every_input: bool,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
    /// Draw pictures as SVG and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Save the trace to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write a timeline for Perfetto (ui.perfetto.dev): layers, and the arena in use
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let mut target = arguments.program.load()?;
    let shared = placed(&target).is_some_and(Placed::has_overlaps);
    anyhow::ensure!(
        !shared || arguments.save.is_none() && arguments.plot.is_none(),
        "{}: tensors of the model share memory as its plan says, which a saved trace and its pictures cannot show\n  \
         hint: leave out --save and --plot; --report has a map of the arena",
        arguments.program.elf.display()
    );
    // Before the work, not after it.
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    arguments.page.ensure_writable()?;
    let program = Program {
        name: arguments.program.file_name(),
        sha256: target.image.sha256.clone(),
        cpu: target.cpu.name.to_owned(),
        recorder: concat!("dmo-trace ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let (traced, file) = trace_into_file(arguments, &target, &program)
        .with_context(|| arguments.program.elf.display().to_string())?;
    if target.interpreted.is_none() && names_no_buffers(&traced.profile) {
        output::message(
            "no layer names a buffer: if these are the operators of an interpreter, --model and --arena say which tensors they have (docs/firmware.md)",
        );
    }
    let models = tenants::of_run(&mut target, &traced, arguments.program.limits())
        .with_context(|| arguments.program.elf.display().to_string())?;
    let is_safe = models.iter().all(|model| model.safe);
    let exit = describe_exit(traced.ending.exit, &target.image.symbols);
    let report = RunReport {
        program: &program,
        file: Some(&arguments.program.elf),
        ending: &traced.ending,
        exit: &exit,
        inputs: Some(arguments.program.inputs),
        self_checked: Some(arguments.self_check),
        memory: Some(target.map.to_string()),
        cycles: traced.outcome.cycles.as_ref(),
        profile: &traced.profile,
        decisions: traced.decisions.as_deref(),
        warnings: Warning::all(&traced, &target),
        ram: Some(traced.outcome.ram.clone()),
        arena: placed(&target).zip(traced.arena.as_ref()),
        models,
    };
    if let Some(folder) = &arguments.plot {
        let file = file
            .as_ref()
            .context("the trace for the pictures is missing")?;
        let reader = file.reopen().context("cannot read the trace again")?;
        pictures::draw(reader, &traced.profile, folder, &[])?;
    }
    let timeline = match &arguments.perfetto {
        Some(path) => Some((path.as_path(), perfetto(&report)?)),
        None => None,
    };
    let page = arguments.page.written(|| Ok(page(&report)))?;
    if let (Some(path), Some(file)) = (&arguments.save, file) {
        output::finish(file, path)?;
    }
    let files = timeline.iter().chain(&page);
    output::write_all(files.map(|(path, content)| (*path, &content[..])))?;
    output::report(&report, arguments.json)?;
    let arena = traced.arena.as_ref();
    Ok(match arguments.program.verdict(traced.ending.exit, arena) {
        Verdict::Holds => is_safe.into(),
        fails => fails,
    })
}

fn names_no_buffers(profile: &Profile) -> bool {
    let mut layers = profile.layers.iter();
    layers.all(|layer| layer.tensors.is_empty())
}

/// Runs the program, and writes its trace to a file where that is wanted.
fn trace_into_file(
    arguments: &Arguments,
    target: &Target,
    program: &Program,
) -> anyhow::Result<(Traced, Option<NamedTempFile>)> {
    let file = match (&arguments.save, &arguments.plot) {
        (Some(path), _) => Some(output::unfinished(path)?),
        (None, Some(_)) => {
            let temporary = tempfile::Builder::new()
                .prefix(&dmo_trace::temporary::prefix())
                .tempfile();
            Some(temporary.context("cannot make a temporary file")?)
        }
        (None, None) => None,
    };
    let mut writer = file
        .as_ref()
        .map(|file| -> anyhow::Result<TraceWriter<File>> {
            Ok(TraceWriter::new(file.reopen()?, program)?)
        })
        .transpose()?;
    let progress = progress::spinner(
        "{spinner} {prefix}: {human_pos} instructions, {elapsed} {msg}",
        program.name.clone(),
    );
    let (own_folder, other_folder) = folders(arguments)?;
    let request = RunRequest {
        options: RunOptions {
            limits: arguments.program.limits(),
            self_check: arguments.self_check,
        },
        inputs: arguments.program.inputs,
        every_input: arguments.every_input,
        other_folder,
    };
    let host = Host {
        console: console(&progress),
        folder: own_folder,
    };
    let sink = writer.as_mut().map(|writer| writer as &mut dyn TraceSink);
    let mut tick = |stage| match stage {
        Stage::Executed(time) => progress.set_position(time),
        Stage::OtherInputs => progress.set_message("its layers run on other inputs"),
    };
    let traced = trace(target, request, host, sink, &mut tick);
    progress.finish_and_clear();
    let traced = traced?;
    if let Some(writer) = writer {
        writer
            .finish(&traced.ending)
            .and_then(|mut file| Ok(file.flush()?))
            .context("cannot save the trace")?;
    }
    Ok((traced, file))
}

/// What the program prints goes to stderr.
fn console(progress: &ProgressBar) -> Console<'_> {
    let terminal = std::io::stderr().is_terminal();
    let mut filter = Printable::default();
    Box::new(move |bytes: &[u8]| {
        let bytes = filter.for_terminal(terminal, bytes);
        // A closed stderr must not end the run.
        progress.suspend(|| drop(std::io::stderr().write_all(&bytes)));
    })
}

/// The program's folder, and that of the runs on other inputs: these run at the same time,
/// and leave no files behind.
fn folders(arguments: &Arguments) -> anyhow::Result<(Option<Folder>, Option<Folder>)> {
    let Some(path) = &arguments.semihosting_dir else {
        return Ok((None, None));
    };
    let shown = || path.display();
    let own = Folder::open(path).with_context(|| format!("cannot use the folder {}", shown()))?;
    let copied = (arguments.program.inputs > 1)
        .then(|| Folder::copy(path))
        .transpose();
    let copied = copied.with_context(|| {
        format!(
            "cannot copy the folder {} for the runs on other inputs\n  hint: a folder of its own \
             for the program, or --inputs 1",
            shown()
        )
    })?;
    Ok((Some(own), copied))
}
