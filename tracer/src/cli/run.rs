//! `dmo-trace run`: from an ELF program to its layers' safe overlaps.

use super::options::program::ProgramArguments;
use super::{Verdict, output, pictures, progress};
use anyhow::Context;
use dmo_analysis::firmware::{ArenaUse, Observed, Placed, Witness};
use dmo_analysis::profile::{OtherInput, Profile, Profiler};
use dmo_analysis::trace::file::TraceWriter;
use dmo_analysis::trace::{Ending, Program, Time, TraceSink};
use dmo_trace::program::ram::RamUse;
use dmo_trace::program::run::{
    RunCycles, RunOptions, RunOutcome, describe_exit, run as run_program,
};
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::semihosting::folder::Folder;
use dmo_trace::program::target::Target;
use dmo_trace::study::firmware::arena_use;
use dmo_trace::words::printable::Printable;
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
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
    /// Draw pictures as SVG and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Save the trace to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let mut target = arguments.program.load()?;
    let shared = placed(&target).is_some_and(Placed::has_overlaps);
    anyhow::ensure!(
        !shared || arguments.save.is_none() && arguments.plot.is_none(),
        "the model's plan overlaps tensors, and a saved trace cannot: no --save and no --plot"
    );
    // Before the work, not after it.
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    let program = Program {
        name: arguments.program.file_name(),
        sha256: target.image.sha256.clone(),
        cpu: target.cpu.name.to_owned(),
        recorder: concat!("dmo-trace ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let traced = trace(arguments, &target, &program)
        .with_context(|| arguments.program.elf.display().to_string())?;
    if target.interpreted.is_none() && names_no_buffers(&traced.profile) {
        output::message(
            "no layer names a buffer: if these are the operators of an interpreter, --model and --arena say which tensors they have (docs/firmware.md)",
        );
    }
    let models = if traced.several_models {
        let models = arguments.program.tenants(&mut target);
        models.with_context(|| arguments.program.elf.display().to_string())?
    } else {
        Vec::new()
    };
    let is_safe = models.iter().all(|model| model.safe);
    let exit = describe_exit(traced.ending.exit, &target.image.symbols);
    let report = RunReport {
        program: &program,
        ending: &traced.ending,
        exit: &exit,
        inputs: Some(arguments.program.inputs),
        self_checked: Some(arguments.self_check),
        memory: Some(target.map.to_string()),
        cycles: traced.cycles.as_ref(),
        profile: &traced.profile,
        warnings: traced.warnings,
        ram: Some(traced.ram),
        arena: placed(&target).zip(traced.arena.as_ref()),
        models,
    };
    if let Some(folder) = &arguments.plot {
        let file = traced
            .file
            .as_ref()
            .context("the trace for the pictures is missing")?;
        let reader = file.reopen().context("cannot read the trace again")?;
        pictures::draw(reader, &traced.profile, folder, &[])?;
    }
    if let (Some(path), Some(file)) = (&arguments.save, traced.file) {
        output::finish(file, path)?;
    }
    output::report(&report, arguments.json)?;
    let arena = traced.arena.as_ref();
    Ok(match arguments.program.verdict(traced.ending.exit, arena) {
        Verdict::Holds => is_safe.into(),
        fails => fails,
    })
}

/// The model that the program runs, in its arena.
fn placed(target: &Target) -> Option<&Placed> {
    target.interpreted.as_ref().map(|found| &found.placed)
}

fn names_no_buffers(profile: &Profile) -> bool {
    let mut layers = profile.layers.iter();
    layers.all(|layer| layer.tensors.is_empty())
}

struct Traced {
    profile: Profile,
    ending: Ending,
    cycles: Option<RunCycles>,
    warnings: Vec<Warning>,
    ram: RamUse,
    /// The arena of the model that the program runs.
    arena: Option<ArenaUse>,
    /// It runs other models besides.
    several_models: bool,
    /// The complete trace, where it is wanted.
    file: Option<NamedTempFile>,
}

fn trace(arguments: &Arguments, target: &Target, program: &Program) -> anyhow::Result<Traced> {
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
    let mut profiler = Profiler::<()>::default();
    let mut writer = file
        .as_ref()
        .map(|file| -> anyhow::Result<TraceWriter<File>> {
            Ok(TraceWriter::new(file.reopen()?, program)?)
        })
        .transpose()?;
    let progress = progress::spinner(
        "{spinner} {prefix}: {human_pos} instructions, {elapsed}",
        program.name.clone(),
    );
    let (own_folder, copied_folder) = folders(arguments)?;
    let (outcome, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| arguments.program.other_inputs(target, copied_folder));
        let outcome = match &mut writer {
            Some(writer) => {
                let mut both = (&mut profiler, writer);
                own_inputs(arguments, target, own_folder, &mut both, &progress)
            }
            None => own_inputs(arguments, target, own_folder, &mut profiler, &progress),
        };
        (outcome, others.join())
    });
    progress.finish_and_clear();
    let (outcome, observed) = outcome?;
    let others = others.map_err(|_| anyhow::anyhow!("the run on other inputs panicked"))??;
    let (mut profile, ()) = profiler.finish();
    if let Some(others) = &others {
        profile.compare_inputs(others);
    }
    let arena = match (placed(target), &observed) {
        (Some(placed), Some(observed)) => Some(arena_use(placed, observed, &profile)?),
        _ => None,
    };
    let warnings = warnings(&outcome, &profile, others.as_deref().unwrap_or_default());
    let ending = Ending {
        exit: outcome.exit,
        instructions: outcome.instructions,
        data_dependent: profile
            .layers
            .iter()
            .map(|layer| layer.data_dependent)
            .collect(),
        locations: outcome.locations,
    };
    if let Some(writer) = writer {
        writer
            .finish(&ending)
            .and_then(|mut file| Ok(file.flush()?))
            .context("cannot save the trace")?;
    }
    Ok(Traced {
        profile,
        ending,
        cycles: outcome.cycles,
        warnings,
        ram: outcome.ram,
        arena,
        several_models: outcome.other_models > 0,
        file,
    })
}

fn warnings(outcome: &RunOutcome, profile: &Profile, others: &[Vec<OtherInput>]) -> Vec<Warning> {
    let crossing = outcome
        .crossing_loads
        .iter()
        .map(|crossing| Warning::CrossingLoads {
            layer: crossing.layer.clone(),
            tensor: crossing.tensor.clone(),
            count: crossing.count,
            pc: crossing.pc,
        });
    let failed = profile
        .layers
        .iter()
        .zip(others)
        .filter_map(|(layer, others)| {
            let reason = others.iter().find_map(|other| match other {
                OtherInput::Failed(reason) => reason.lines().next().map(str::to_owned),
                OtherInput::Accesses(_) => None,
            })?;
            Some(Warning::OtherInputFailed {
                layer: layer.name.clone(),
                reason,
            })
        });
    let ticks = outcome.expects_ticks.then_some(Warning::NoTicks);
    let others = (outcome.other_models > 0).then_some(Warning::OtherModels {
        count: outcome.other_models,
    });
    let requested = outcome.requested_exception;
    let exception = requested.map(|exception| Warning::NoException { exception });
    let functions = outcome.skipped.clone();
    let skipped = (!functions.is_empty()).then_some(Warning::NotLayers { functions });
    let stopped = Warning::of_exit(outcome.exit);
    let warnings = crossing.chain(failed).chain(ticks).chain(exception);
    let warnings = warnings.chain(skipped).chain(others);
    warnings.chain(stopped).collect()
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

/// The run on the program's own inputs, and what a witness saw of its arena. What the program
/// prints goes to stderr.
fn own_inputs(
    arguments: &Arguments,
    target: &Target,
    folder: Option<Folder>,
    sink: &mut dyn TraceSink,
    progress: &ProgressBar,
) -> anyhow::Result<(RunOutcome, Option<Observed>)> {
    let options = RunOptions {
        limits: arguments.program.limits(),
        self_check: arguments.self_check,
    };
    let terminal = std::io::stderr().is_terminal();
    let mut filter = Printable::default();
    let console = |bytes: &[u8]| {
        let bytes = filter.for_terminal(terminal, bytes);
        // A closed stderr must not end the run.
        progress.suspend(|| drop(std::io::stderr().write_all(&bytes)));
    };
    let host = Host {
        console: Box::new(console),
        folder,
    };
    let mut tick = |time: Time| progress.set_position(time);
    let Some(placed) = placed(target) else {
        let outcome = run_program(target, options, host, sink, &mut tick)?;
        return Ok((outcome, None));
    };
    let mut witness = Witness::new(placed, sink);
    let outcome = run_program(target, options, host, &mut witness, &mut tick)?;
    Ok((outcome, Some(witness.finish()?)))
}
