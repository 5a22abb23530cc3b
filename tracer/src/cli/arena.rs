//! `dmo-trace arena`: what `kTensorArenaSize` has to be.

use super::{Verdict, output};
use anyhow::ensure;
use dmo_analysis::graph::tflite::RuntimeKernels;
use dmo_analysis::wording::parse_size;
use dmo_trace::study::carried_plan::CarriedPlan;
use dmo_trace::study::source::Source;
use dmo_trace::study::whole_arena::whole_arenas;
use dmo_trace::words::whole_arena::{ArenaReport, ModelArena};

#[derive(clap::Args)]
pub struct Arguments {
    /// Models: .tflite files, or zoo:NAME (see `dmo-trace zoo`)
    #[arg(required = true)]
    models: Vec<String>,
    /// Kernels with which TensorFlow Lite Micro was built [default: both]
    #[arg(long, value_enum)]
    kernels: Option<Kernels>,
    /// Print a row for each operator too
    #[arg(long)]
    operators: bool,
    /// Fail (exit code 1) if kTensorArenaSize has to be larger than this, for example 64K
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    capacity: Option<u64>,
    /// The models share one arena, with one MicroAllocator: --capacity is about all of them together
    #[arg(long, requires = "capacity")]
    shared: bool,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kernels {
    /// Its reference kernels
    Reference,
    /// CMSIS-NN, on a core with the DSP extension
    CmsisNn,
}

impl Kernels {
    fn of_runtime(self) -> RuntimeKernels {
        match self {
            Self::Reference => RuntimeKernels::Reference,
            Self::CmsisNn => RuntimeKernels::CmsisNn,
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    ensure!(
        !arguments.shared || arguments.models.len() > 1,
        "--shared is about several models, and there is one\n  hint: name all models that share the arena"
    );
    let mut models = Vec::new();
    let mut verdict = Verdict::Holds;
    for given in &arguments.models {
        match model(given, arguments) {
            Ok(model) => models.push(model),
            Err(error) => {
                output::message(&format!("dmo-trace: {error:#}"));
                verdict = Verdict::Unknown;
            }
        }
    }
    let mut report = ArenaReport::new(models, arguments.capacity.filter(|_| arguments.shared));
    if verdict == Verdict::Unknown {
        // Of one model nothing is known.
        report.shared.clear();
    }
    if !report.models.is_empty() {
        output::report(&report, arguments.json)?;
    }
    Ok(match verdict {
        Verdict::Holds if !report.fits() => Verdict::Fails,
        verdict => verdict,
    })
}

/// A model that cannot be read does not keep others from being reported. What is not known in full
/// fits no capacity.
fn model(given: &str, arguments: &Arguments) -> anyhow::Result<ModelArena> {
    let source = Source::load(given)?;
    let wanted = arguments.kernels.map(Kernels::of_runtime);
    let arenas = whole_arenas(&source)?.into_iter();
    let arenas: Vec<_> = arenas
        .filter(|arena| wanted.is_none_or(|wanted| wanted == arena.kernels))
        .collect();
    let capacity_bytes = arguments.capacity.filter(|_| !arguments.shared);
    let fits = capacity_bytes.map(|capacity| {
        let mut arenas = arenas.iter();
        arenas.all(|it| it.unknown.is_empty() && it.needed_bytes <= capacity)
    });
    Ok(ModelArena {
        plan: CarriedPlan::of(&source)?,
        is_file: source.file.is_some(),
        given: given.to_owned(),
        name: source.name,
        arenas,
        capacity_bytes,
        fits,
        each_operator: arguments.operators,
    })
}
