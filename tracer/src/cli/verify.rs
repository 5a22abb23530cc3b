//! `dmo-trace verify`: whether a plan is safe with given kernels, by running them.

mod draw;
mod report;

use super::library::LibraryArguments;
use super::plan::given::{Given, carried, of_plan, read_plan};
use super::plan::kernels::Ground;
use super::plan::source::Source;
use super::plan::{OrderKind, plan_of};
use super::{Verdict, output, progress};
use anyhow::Context;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::tflite::offline_plan;
use dmo_trace::kernels::KernelLibrary;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::model::verify::{Subject, differences_from, verify};
use dmo_trace::model::{Deployment, Placement};
use report::VerifyReport;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `dmo-trace verify`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file, or zoo:NAME:int8 (random weights)
    model: String,
    /// The plan, a .json file written by `dmo-trace plan --emit` [default: the plan embedded in the
    /// model, otherwise the one that `dmo-trace plan` finds for the reference kernels]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArguments,
    /// Number of different inputs to run the model on
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Give up if one operator executes more than this many instructions
    #[arg(long, default_value_t = 10_000_000_000)]
    max_instructions: u64,
    /// Give up if one operator runs for more than this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = super::parse_seconds)]
    timeout: f64,
    /// Draw the whole inference over the arena, without overlaps and as planned, as SVG and PNG
    /// into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    let source = Source::load_for(&arguments.model, arguments.plan.as_deref())?;
    let library = arguments.library.load()?;
    let limits = Limits {
        max_instructions: arguments.max_instructions,
        timeout: Duration::from_secs_f64(arguments.timeout),
    };
    let kernels = Kernels {
        library: &library,
        name: &arguments.library.kernels,
    };
    let given = given(arguments, &source, kernels, limits)?;
    let report = examine(&source, &given, kernels, arguments.inputs, limits)?;
    if let Some(folder) = arguments.plot.as_deref().filter(|_| report.has_run()) {
        let deployment = source.deploy(&library, kernels.name, limits)?;
        let placed = place(&deployment, &given);
        let subject = placed.subject(&given);
        let name = &source.name;
        let safe = report.is_safe();
        draw::draw(
            name,
            safe,
            &deployment,
            &subject,
            given.layout,
            limits,
            folder,
        )?;
        output::message(&format!("pictures (SVG and PNG) in {}", folder.display()));
    }
    output::report(&report, arguments.json)?;
    Ok(if report.is_safe() {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

/// The plan to verify.
fn given(
    arguments: &Arguments,
    source: &Source,
    kernels: Kernels<'_>,
    limits: Limits,
) -> anyhow::Result<Given> {
    if let Some(path) = &arguments.plan {
        return read_plan(path, source, None);
    }
    let file = source.file.as_deref();
    let carries = file.is_some_and(|file| !matches!(offline_plan(file), Ok(None)));
    // The scratch memory is that of these kernels.
    let deployment = source.deploy(kernels.library, kernels.name, limits)?;
    if carries {
        return carried(source, &deployment.graph);
    }
    let ground = Ground::analytic(&deployment.graph);
    let plan = plan_of(source, &ground, Layout::tflm(), OrderKind::Best, SECONDS)?;
    of_plan(plan, source, None, &source.name)
}

/// What the search for a plan may take, where none is given.
const SECONDS: f64 = 10.0;

/// Kernels that were read, and how the user calls them.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    pub library: &'a KernelLibrary,
    pub name: &'a str,
}

/// Asks the three witnesses about a plan.
///
/// # Errors
/// When the plan is for other kernels, or the model cannot run even without overlaps.
pub fn examine(
    source: &Source,
    given: &Given,
    kernels: Kernels<'_>,
    inputs: u64,
    limits: Limits,
) -> anyhow::Result<VerifyReport> {
    ensure_is_for(given, kernels)?;
    let deployment = source.deploy(kernels.library, kernels.name, limits)?;
    let placed = place(&deployment, given);
    let faults = given.faults(source.graph());
    if !faults.is_empty() {
        // A layout with holes cannot be run.
        return Ok(VerifyReport::of_faults(
            &source.name,
            kernels.name,
            given,
            faults,
        ));
    }
    let subject = placed.subject(given);
    let bar = progress::bar("verifying");
    let verification = verify(&deployment, &subject, inputs, limits, &|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let mut verification = verification.with_context(|| source.name.clone())?;
    if source.recipe().is_some() {
        let original = source.deploy_original(kernels.library, kernels.name, limits)?;
        let differences = differences_from(&original, &deployment, inputs, limits);
        let differences = differences.with_context(|| source.name.clone())?;
        verification.differences.extend(differences);
    }
    Ok(VerifyReport::new(
        &source.name,
        kernels.name,
        inputs,
        given,
        &deployment,
        &verification,
        placed.faults.clone(),
    ))
}

/// A plan that was made for kernels is for these only.
pub fn ensure_is_for(given: &Given, kernels: Kernels<'_>) -> anyhow::Result<()> {
    let Some(planned) = &given.kernels else {
        return Ok(());
    };
    let Kernels { library, name } = kernels;
    let code = library.image().code_sha256();
    let cpu = library.cpu().name;
    anyhow::ensure!(
        planned.cpu == cpu,
        "the plan was made for {}, not for {cpu}\n  hint: --cpu {}, or plan again with --overlap \
         traced --kernels {name} --cpu {cpu}",
        planned.cpu.escape_debug(),
        planned.cpu.escape_debug()
    );
    anyhow::ensure!(
        planned.code_sha256 == code,
        "the plan was made for other kernels ({} on {}, code {}) than these ({name} on {cpu}, code {}): what \
         was measured on those says nothing of these\n  hint: plan again with --overlap traced \
         --kernels {name} --cpu {cpu}",
        planned.name.escape_debug(),
        planned.cpu.escape_debug(),
        short(&planned.code_sha256),
        short(&code),
    );
    Ok(())
}

fn short(sha256: &str) -> String {
    sha256.chars().take(12).collect()
}

/// A plan's layout, as far as kernels can run in it.
struct Placed {
    placement: Placement,
    /// Scratch memory that the plan does not give, in words. It lies apart.
    faults: Vec<String>,
}

impl Placed {
    fn subject<'a>(&'a self, given: &'a Given) -> Subject<'a> {
        Subject {
            order: &given.order,
            placement: &self.placement,
            keep_inputs: given.layout.keep_inputs,
        }
    }
}

/// The scratch memory of each operator is the plan's first for it, if that is large enough.
fn place(deployment: &Deployment, given: &Given) -> Placed {
    let mut scratch = vec![None; deployment.steps.len()];
    let mut lacking = Vec::new();
    let wanting = deployment.steps.iter();
    for step in wanting.filter(|step| step.scratch_bytes > 0 && given.layout.scratch) {
        // The kernel is given one block, its first.
        let mut planned = given.scratch.iter();
        let first = planned.find(|(operator, _, _)| *operator == step.operator);
        let found = first.filter(|(_, _, bytes)| *bytes >= u64::from(step.scratch_bytes));
        scratch[step.operator.0] = found.map(|(_, offset, _)| *offset);
        if found.is_none() {
            lacking.push(step);
        }
    }
    let most = lacking.iter().max_by_key(|step| step.scratch_bytes);
    let fault = most.map(|most| {
        format!(
            "{} more scratch memory than the plan gives: operator {} {}, {}, wants {} bytes\n  hint: \
             plan again with --overlap traced, or none, and --kernels",
            match lacking.len() {
                1 => "1 operator wants".to_owned(),
                count => format!("{count} operators want"),
            },
            most.operator.0,
            deployment.graph.operators[most.operator.0]
                .kind
                .escape_debug(),
            most.contract.function,
            most.scratch_bytes,
        )
    });
    Placed {
        placement: Placement {
            tensors: given.tensors.clone(),
            scratch,
            arena_bytes: given.arena_bytes,
        },
        faults: fault.into_iter().collect(),
    }
}
