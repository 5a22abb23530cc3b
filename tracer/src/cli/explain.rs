//! `dmo-trace explain`: the two instructions that bind O_s, in their disassembly and source,
//! with the variables of the loops around them.

mod source;

use super::options::kernels::{FunctionArgument, LibraryArguments};
use super::options::program::ProgramArguments;
use super::{Verdict, examples, operator, output};
use anyhow::{Context, bail, ensure};
use dmo_analysis::profile::Profile;
use dmo_analysis::wording::first_names;
use dmo_trace::elf::image::Image;
use dmo_trace::explain::{Explanation, Question, snapshot_program};
use dmo_trace::mcu::machine::ExecutionPoint;
use dmo_trace::measure::{Proof, choose, measure_in_detail, snapshot_kernel};
use dmo_trace::program::run::RunOptions;
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::target::Target;
use dmo_trace::study::compare::{INPUTS, LIMITS};
use dmo_trace::study::run::{RunRequest, trace};
use dmo_trace::words::explanation::ExplainReport;
use source::SourceFiles;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Explain the overlaps of a program's layers
    #[command(after_help = examples::EXPLAIN_RUN)]
    Run(Box<RunArguments>),
    /// Explain the overlap of one kernel and shape
    #[command(after_help = examples::EXPLAIN_OVERLAP)]
    Overlap(Box<OverlapArguments>),
}

#[derive(clap::Args)]
struct RunArguments {
    #[command(flatten)]
    program: ProgramArguments,
    /// Explain only this layer, given by its name, by a part of its name that no other layer has, or by
    /// its number in program order, from 0 [default: all]
    #[arg(long, value_name = "NAME|NUMBER")]
    select: Option<String>,
    #[command(flatten)]
    shown: ShownArguments,
}

#[derive(clap::Args)]
struct OverlapArguments {
    #[command(flatten)]
    operator: operator::OperatorArguments,
    #[command(flatten)]
    library: LibraryArguments,
    #[command(flatten)]
    function: FunctionArgument,
    /// Number of different inputs to run the kernel on, to see whether its accesses depend on the
    /// data
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    #[command(flatten)]
    shown: ShownArguments,
}

/// Options that select and format explanations.
#[derive(clap::Args)]
struct ShownArguments {
    /// Explain only this pair of input and output, from 1 [default: all]
    #[arg(long, value_name = "N")]
    pair: Option<usize>,
    /// Folder to search for source files; repeatable
    #[arg(long, value_name = "DIR")]
    source: Vec<PathBuf>,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

/// More pairs are not explained at once.
const MAX_PAIRS: usize = 256;

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    match &arguments.what {
        What::Run(arguments) => explain_program(arguments),
        What::Overlap(arguments) => explain_kernel(arguments),
    }
}

fn explain_program(arguments: &RunArguments) -> anyhow::Result<Verdict> {
    let elf = &arguments.program.elf;
    let target = arguments.program.load()?;
    let (report, verdict) =
        program_report(arguments, &target).with_context(|| elf.display().to_string())?;
    output::report(&report, arguments.shown.json)?;
    Ok(verdict)
}

fn program_report(
    arguments: &RunArguments,
    target: &Target,
) -> anyhow::Result<(ExplainReport, Verdict)> {
    let program = &arguments.program;
    let (profile, verdict) = profile(program, target)?;
    let mut questions = Vec::new();
    let named = arguments
        .select
        .as_deref()
        .map(|select| named(select, &profile));
    for (index, layer) in profile.layers.iter().enumerate() {
        let number = arguments.select.as_deref();
        if named.is_none_or(|named| named == Some(&*layer.name))
            || number == Some(&*index.to_string())
        {
            let pairs = pairs(arguments.shown.pair, layer.pairs.len());
            questions.extend(pairs.map(|pair| Question {
                number: index,
                layer,
                pair,
                shapes: None,
            }));
        }
    }
    ensure!(!questions.is_empty(), nothing_selected(arguments, &profile));
    let points = points(&questions)?;
    let seen = snapshot_program(target, program.limits(), &points)?;
    let answers = questions
        .iter()
        .map(|question| question.answer(&seen, &target.image));
    let mut explanations = answers.collect::<Result<Vec<_>, _>>()?;
    let files = SourceFiles::new(&arguments.shown.source, program.elf.parent());
    add_sources(&mut explanations, files);
    let report = report(
        program.file_name(),
        &target.image,
        target.cpu.name,
        explanations,
    );
    Ok((report, verdict))
}

/// The numbers of the pairs to explain: the one asked for, whether there is one or not, or all.
fn pairs(asked: Option<usize>, count: usize) -> std::ops::RangeInclusive<usize> {
    match asked {
        Some(pair) => pair..=pair,
        None => 1..=count,
    }
}

/// Runs the program on its own inputs, and its layers on others, as `dmo-trace run` does.
fn profile(program: &ProgramArguments, target: &Target) -> anyhow::Result<(Profile, Verdict)> {
    let request = RunRequest {
        options: RunOptions {
            limits: program.limits(),
            self_check: false,
        },
        inputs: program.inputs,
        every_input: false,
        other_folder: None,
    };
    let silent = Host::console(Box::new(|_| ()));
    let traced = trace(target, request, silent, None, &mut |_| ())?;
    let verdict = program.verdict(traced.outcome.exit, None);
    Ok((traced.profile, verdict))
}

/// The layer's name that this is, or that alone has it as a part.
fn named<'a>(select: &str, profile: &'a Profile) -> Option<&'a str> {
    let names: BTreeSet<&str> = profile.layers.iter().map(|it| &*it.name).collect();
    if let Some(&name) = names.get(select) {
        return Some(name);
    }
    if select.parse::<usize>().is_ok() {
        return None;
    }
    let mut parts = names.into_iter().filter(|name| name.contains(select));
    parts.next().filter(|_| parts.next().is_none())
}

fn nothing_selected(arguments: &RunArguments, profile: &Profile) -> String {
    const MOST: usize = 20;
    let Some(select) = &arguments.select else {
        return "no layer has both an input and an output".to_owned();
    };
    let layers = profile.layers.iter().enumerate();
    let (alike, others): (Vec<_>, Vec<_>) =
        layers.partition(|(_, layer)| layer.name.contains(&**select));
    let shown = if alike.is_empty() { others } else { alike };
    let names = shown.iter();
    let names = names.map(|(index, layer)| format!("{index} '{}'", layer.name));
    let names: Vec<String> = names.collect();
    format!(
        "no layer '{select}' with an input and an output\n  hint: the layers are {}",
        first_names(&names, MOST)
    )
}

fn points(questions: &[Question<'_>]) -> anyhow::Result<Vec<ExecutionPoint>> {
    if questions.len() > MAX_PAIRS {
        bail!(
            "{} pairs of inputs and outputs, the limit is {MAX_PAIRS}\n  hint: --select a layer, or a --pair",
            questions.len()
        );
    }
    let mut points = Vec::new();
    for question in questions {
        points.extend(question.points()?);
    }
    Ok(points)
}

fn explain_kernel(arguments: &OverlapArguments) -> anyhow::Result<Verdict> {
    let report = kernel_report(arguments).with_context(|| arguments.library.kernels.clone())?;
    output::report(&report, arguments.shown.json)?;
    Ok(Verdict::Holds)
}

fn kernel_report(arguments: &OverlapArguments) -> anyhow::Result<ExplainReport> {
    let case = arguments.operator.case()?;
    let library = arguments.library.load()?.library;
    let contract = choose(&library, &case, arguments.function.function.as_deref())?;
    let measured = measure_in_detail(&library, &case, contract, arguments.inputs, LIMITS)?;
    let layer = &measured.layer;
    let buffers = case.operator.buffers()?;
    let shapes = |number: usize| {
        let pair = layer.pairs.get(number.checked_sub(1)?)?;
        let output = pair.output.checked_sub(buffers.inputs.len())?;
        Some([
            buffers.inputs.get(pair.input)?.shape,
            buffers.outputs.get(output)?.shape,
        ])
    };
    let questions: Vec<Question> = pairs(arguments.shown.pair, layer.pairs.len())
        .map(|pair| Question {
            number: 0,
            layer,
            pair,
            shapes: shapes(pair),
        })
        .collect();
    let points = points(&questions)?;
    let seen = snapshot_kernel(&library, &case, contract, LIMITS, &points)?;
    let mut explanations = Vec::new();
    for question in &questions {
        let mut explanation = question.answer(&seen, library.image())?;
        let mut decisions = measured.decisions.iter().flatten();
        if let Some(decision) = decisions.next() {
            explanation.why.push(format!(
                "On another input it may load or store other bytes: {}.",
                decision.clause()
            ));
        }
        if let Some(proof) = measured.proofs.get(question.pair - 1) {
            refute(&mut explanation, proof);
        }
        explanations.push(explanation);
    }
    let kernels = &arguments.library.kernels;
    let files = SourceFiles::new(&arguments.shown.source, Path::new(kernels).parent());
    add_sources(&mut explanations, files);
    let cpu = library.cpu().name;
    Ok(report(kernels.clone(), library.image(), cpu, explanations))
}

/// Execution has the last word on what the trace allows.
fn refute(explanation: &mut Explanation, proof: &Proof) {
    let refuted = match proof {
        Proof {
            equal_at_overlap: false,
            ..
        } => "Executed at O_s, or at less, the kernel computes something else: no overlap is safe.",
        Proof {
            misaligned_at_overlap: true,
            ..
        } => "At O_s the alignment of the input makes a real core fault: no overlap is granted.",
        _ => return,
    };
    explanation.safe_overlap_bytes = 0;
    explanation.why.push(refuted.to_owned());
}

fn report(
    program: String,
    image: &Image,
    cpu: &'static str,
    explanations: Vec<Explanation>,
) -> ExplainReport {
    ExplainReport {
        program,
        sha256: image.sha256.clone(),
        cpu,
        debug_information: image.debug.is_present(),
        explanations,
    }
}

fn add_sources(explanations: &mut [Explanation], mut files: SourceFiles) {
    for explanation in explanations {
        for bound in [&mut explanation.store, &mut explanation.load] {
            if let Some(bound) = bound
                && let Some((file, line)) = bound.place()
            {
                bound.source = files.around(file, line);
            }
        }
    }
}
