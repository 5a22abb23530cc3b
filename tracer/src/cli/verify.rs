//! `dmo-trace verify`: whether a plan is safe with given kernels, by running them.

mod draw;

use super::options::before::FileChangeArguments;
use super::options::firmware_kernels::FirmwareKernelArguments;
use super::options::kernels::ModelKernelArguments;
use super::options::numbers::Seconds;
use super::options::page::PageArguments;
use super::progress::Bars;
use super::{Verdict, output};
use anyhow::Context;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::page::verification::page;
use dmo_trace::study::firmware_kernels::FirmwareKernels;
use dmo_trace::study::firmware_verify::verify_on_firmware;
use dmo_trace::study::kernel_request::REFERENCE;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::session::Cache;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use dmo_trace::study::whole_arena::verified_arena;
use dmo_trace::study::{INPUTS, KERNEL_LIMITS};
use dmo_trace::words::firmware_verification::FirmwareVerifyReport;
use dmo_trace::words::names::pasted;
use dmo_trace::words::pruning::PruneSummary;
use dmo_trace::words::verification::VerifyReport;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file, or zoo:NAME:int8 (random weights)
    model: OsString,
    /// The plan, a .json file written by `dmo-trace plan --out` [default: the plan embedded in the
    /// model, otherwise the one that `dmo-trace plan` finds for the reference kernels]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    change: FileChangeArguments,
    #[command(flatten)]
    library: ModelKernelArguments,
    #[command(flatten)]
    firmware: FirmwareKernelArguments,
    /// Number of different inputs to run the model on
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Give up if one operator executes more than this many instructions
    #[arg(long, value_name = "N", default_value_t = KERNEL_LIMITS.max_instructions)]
    max_instructions: u64,
    /// Give up if one operator runs for more than this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(KERNEL_LIMITS.timeout))]
    timeout: Seconds,
    /// Draw the whole inference over the arena, without overlaps and as planned, as SVG and PNG
    /// into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Also find out, by following the data through registers and memory, whether what holds on the
    /// inputs tried holds on every input; the first run of each operator takes longer
    #[arg(long, conflicts_with = "firmware")]
    every_input: bool,
    /// Fail (exit code 1) if an operator is not executed because no kernel can be called for it, and
    /// with --every-input if data decide what it loads and stores
    #[arg(long)]
    require_all: bool,
    /// Write all objections to this file in SARIF, which code hosts show beside the source lines
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Folder of the sources: paths below it are written to the SARIF file relative to it [default:
    /// the current folder]
    #[arg(long, value_name = "DIR", requires = "sarif")]
    source_root: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// How to get the plan that was verified, or one for the kernels that were named, where the model
    /// carries none and no other is named.
    fn writes_this_plan(&self, source: &Source) -> Option<String> {
        let is_own = self.plan.is_none() && source.carried_offsets().is_none();
        (is_own && source.file.is_some() && !source.is_changed()).then(|| {
            let model = self.model.to_string_lossy();
            let model = pasted(&model);
            let file = output::planned_beside(Path::new(&self.model));
            if self.library.kernels == [REFERENCE] {
                format!(
                    "`dmo-trace plan {model} --out {file}` writes the model with this plan, for it carries none"
                )
            } else {
                format!(
                    "`dmo-trace plan {model}{} --out {file}` writes the model with a plan for these kernels; the \
                     one above is for the reference kernels",
                    self.library.again()
                )
            }
        })
    }

    /// How to get a plan that the kernels allow.
    fn plan_for_these_kernels(&self, source: &Source) -> String {
        let file = match source.file {
            Some(_) => output::planned_beside(Path::new(&self.model)),
            None => "plan.json",
        };
        let ends = if source.integer_ends.is_some() {
            " --integer-io"
        } else {
            ""
        };
        let other_kernels = if self.library.kernels == [REFERENCE] {
            "if the plan was made for other kernels, name them: `--kernels`; "
        } else {
            ""
        };
        // What only further inputs have shown is refused where they are tried.
        let inputs = match self.inputs {
            ..=INPUTS => String::new(),
            inputs => format!(" --inputs {inputs}"),
        };
        format!(
            "{other_kernels}`dmo-trace plan {}{ends}{}{inputs} --out {file}` makes a plan that these kernels allow",
            pasted(&self.model.to_string_lossy()),
            self.library.again()
        )
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    // Before the work, not after it.
    if let Some(path) = &arguments.sarif {
        output::unfinished(path)?;
    }
    arguments.page.ensure_writable()?;
    let mut source = Source::load(&arguments.model)?;
    let plan = arguments.plan.as_ref();
    let plan = plan.map(|path| source.follow_plan(path)).transpose()?;
    arguments.change.make(&mut source)?;
    let carries_plan = plan.is_none() && source.carried_offsets().is_some();
    let firmware = arguments
        .firmware
        .load(&source, arguments.library.cpu.as_ref())?;
    if let Some(firmware) = firmware {
        let plan = plan.map(|plan| PlanToCheck::new(&plan, &source, None));
        return on_firmware(arguments, &source, plan.transpose()?.as_ref(), &firmware);
    }
    let kernels = arguments.library.load()?;
    let plan = plan.map(|plan| PlanToCheck::new(&plan, &source, None));
    let plan = plan.transpose()?;
    let request = VerifyRequest {
        inputs: arguments.inputs,
        limits: Limits {
            max_instructions: arguments.max_instructions,
            timeout: arguments.timeout.0,
        },
        follows_data: arguments.every_input,
        ..VerifyRequest::default()
    };
    let session = Bars::session(Cache::default());
    let verified = verify(&source, plan, &kernels, request, &session)?;
    let mut report = VerifyReport::new(&source.name, &kernels.name(), &verified);
    report.integer_io = source.integer_io().cloned();
    report.pruning = source
        .pruning
        .as_ref()
        .map(|it| PruneSummary::new(&it.report));
    report.next = if report.is_unsafe() {
        Some(arguments.plan_for_these_kernels(&source))
    } else {
        arguments.writes_this_plan(&source)
    };
    if carries_plan {
        report.whole_arenas = verified_arena(&source, &verified)?.into_iter().collect();
    }
    if let Some(folder) = &arguments.plot
        && verified.verification.is_some()
    {
        draw::draw(&source.name, &verified, request.limits, folder)?;
    }
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    if let Some(path) = &arguments.sarif {
        let root = match &arguments.source_root {
            Some(root) => root.clone(),
            None => std::env::current_dir()?,
        };
        let log = report.sarif(arguments.model.as_ref(), &root)?;
        files.push((path, log.into_bytes()));
    }
    files.extend(arguments.page.written(|| {
        page(&source, &verified, &kernels.name(), &report).with_context(|| source.name.clone())
    })?);
    let files = files.iter().map(|(path, content)| (*path, &content[..]));
    output::write_all(files)?;
    output::report(&report, arguments.json)?;
    let holds = if arguments.require_all {
        verified.is_safe() && (!arguments.every_input || report.holds_on_every_input())
    } else {
        !verified.has_objections()
    };
    Ok(holds.into())
}

/// The firmware's interpreter runs the model.
fn on_firmware(
    arguments: &Arguments,
    source: &Source,
    plan: Option<&PlanToCheck>,
    firmware: &FirmwareKernels,
) -> anyhow::Result<Verdict> {
    anyhow::ensure!(
        arguments.plot.is_none() && arguments.sarif.is_none(),
        "--plot and --sarif do not go with --firmware"
    );
    let session = Bars::session(Cache::default());
    let verified = verify_on_firmware(source, plan, firmware, arguments.inputs, &session)?;
    let is_safe = verified.is_safe();
    let mut report = FirmwareVerifyReport::new(&source.name, firmware, verified);
    report.next = Some(format!(
        "`dmo-trace plan {}{} --out {}` makes a plan that the kernels of this firmware allow",
        pasted(&arguments.model.to_string_lossy()),
        arguments.firmware.again(),
        output::planned_beside(Path::new(&arguments.model))
    ));
    output::report(&report, arguments.json)?;
    Ok(is_safe.into())
}
