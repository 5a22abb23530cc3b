//! What a plan is made for: the overlaps of a formula, or those of given kernels.

use super::OverlapKind;
use super::source::{REFERENCE, Source};
use crate::cli::cache::CacheArguments;
use crate::cli::library::{LibraryArguments, VersionArgument};
use crate::cli::progress;
use anyhow::{Context, ensure};
use dmo_analysis::graph::Graph;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::handover::PlannedKernels;
use dmo_analysis::optimise::{ModelPlan, Task, WhatIf, what_if};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::model::overlaps::{KernelOverlaps, measured, of_tensors};
use serde::Serialize;
use std::time::Duration;

/// Which kernels a plan is for.
#[derive(clap::Args)]
pub struct KernelArguments {
    /// Which overlaps the plan may use [default: analytic, or traced with --kernels]
    #[arg(long, value_enum)]
    overlap: Option<OverlapKind>,
    /// Kernels to plan for: reference, dsp, dsp-channels-outside, or an ELF file or static library
    /// (.a) with functions of the same names [default: reference]
    #[arg(long, value_name = "SET|FILE")]
    kernels: Option<String>,
    /// CPU to emulate [default: the one that the kernels were built for]
    #[arg(long)]
    cpu: Option<String>,
    #[command(flatten)]
    version: VersionArgument,
    /// Number of different inputs to measure each kernel on [default: 3]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: Option<u64>,
    #[command(flatten)]
    cache: CacheArguments,
}

impl KernelArguments {
    /// As if given on the command line; the library counts where overlaps are traced.
    pub fn new(overlap: OverlapKind, library: &LibraryArguments, cache: &CacheArguments) -> Self {
        // Without overlaps kernels still want their scratch memory.
        let named = match overlap {
            OverlapKind::Traced => true,
            OverlapKind::None => library.kernels != REFERENCE,
            OverlapKind::Analytic => false,
        };
        Self {
            overlap: Some(overlap),
            kernels: named.then(|| library.kernels.clone()),
            cpu: library.cpu.clone().filter(|_| named),
            version: if named {
                library.version
            } else {
                VersionArgument::default()
            },
            inputs: None,
            cache: cache.clone(),
        }
    }

    /// Where overlaps come from.
    pub fn overlap(&self) -> OverlapKind {
        self.overlap.unwrap_or(if self.names_kernels() {
            OverlapKind::Traced
        } else {
            OverlapKind::Analytic
        })
    }

    fn names_kernels(&self) -> bool {
        self.kernels.is_some()
            || self.cpu.is_some()
            || self.version != VersionArgument::default()
            || self.inputs.is_some()
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            !self.names_kernels() || self.overlap() != OverlapKind::Analytic,
            "--overlap analytic is what TensorFlow Lite's reference kernels allow: --kernels, --cpu, \
             --cmsis-nn-version and --inputs go with --overlap traced, or none"
        );
        Ok(())
    }
}

/// The model and what its operators' outputs may overlap.
pub struct Ground {
    /// Where the overlaps come from.
    pub overlap: OverlapKind,
    /// The model; where kernels were measured, with the scratch memory that these want.
    pub graph: Graph,
    /// What may overlap.
    pub overlaps: Overlaps,
    /// Without overlaps but for element-wise operators.
    pub accumulates: bool,
    /// The kernels that were measured.
    pub measured: Option<Measured>,
}

impl Ground {
    /// What TensorFlow Lite's reference kernels allow.
    pub fn analytic(graph: &Graph) -> Self {
        Self {
            overlap: OverlapKind::Analytic,
            graph: graph.clone(),
            overlaps: overlaps::analytic(graph),
            accumulates: false,
            measured: None,
        }
    }
}

/// Kernels that were measured.
pub struct Measured {
    /// For the plan.
    pub planned: PlannedKernels,
    /// What each allows.
    pub layers: Vec<KernelOverlaps>,
}

/// Bounds of one call of a kernel that is measured.
pub const LIMITS: Limits = Limits {
    max_instructions: 10_000_000_000,
    timeout: Duration::from_secs(600),
};

const INPUTS: u64 = 3;

/// Finds out what may overlap.
pub fn ground(arguments: &KernelArguments, source: &Source) -> anyhow::Result<Ground> {
    arguments.check()?;
    let graph = source.graph();
    let overlap = arguments.overlap();
    match overlap.of(graph) {
        Some(_) if arguments.kernels.is_some() => on_kernels(arguments, source),
        Some(overlaps) => Ok(Ground {
            overlap,
            graph: graph.clone(),
            overlaps,
            accumulates: false,
            measured: None,
        }),
        None => on_kernels(arguments, source),
    }
}

/// The model with the scratch memory that the kernels want, and, where they are measured, what
/// they allow.
fn on_kernels(arguments: &KernelArguments, source: &Source) -> anyhow::Result<Ground> {
    let name = arguments.kernels.as_deref().unwrap_or("reference");
    let library = LibraryArguments {
        kernels: name.to_owned(),
        cpu: arguments.cpu.clone(),
        version: arguments.version,
    }
    .load()?;
    let deployment = source.deploy(&library, name, LIMITS)?;
    let bar = progress::bar("measuring");
    bar.set_length(deployment.steps.len() as u64);
    let inputs = arguments.inputs.unwrap_or(INPUTS);
    let cache = arguments.cache.cache();
    let layers = match arguments.overlap() {
        OverlapKind::None => Ok(Vec::new()),
        _ => measured(&deployment, inputs, LIMITS, &cache, &|done| {
            bar.set_position(done as u64);
        }),
    };
    bar.finish_and_clear();
    let layers = layers.with_context(|| source.name.clone())?;
    let functions = deployment.steps.iter();
    let functions = functions.map(|step| step.contract.function.to_owned());
    Ok(Ground {
        overlap: arguments.overlap(),
        overlaps: match arguments.overlap() {
            OverlapKind::None => overlaps::none(&deployment.graph),
            _ => of_tensors(&deployment, &layers),
        },
        accumulates: false,
        measured: Some(Measured {
            planned: PlannedKernels {
                name: name.to_owned(),
                cpu: library.cpu().name.to_owned(),
                code_sha256: library.image().code_sha256(),
                functions: functions.collect(),
            },
            layers,
        }),
        graph: deployment.graph,
    })
}

/// What the loops of the kernels cost the arena, beside those of the reference kernels.
#[derive(Debug, Serialize)]
pub struct LoopOrderCost {
    /// For each operator whose reference kernel allows more, the arena with that.
    pub operators: Vec<WhatIf>,
    /// The arena with that for all of them, in bytes.
    pub together_bytes: u64,
}

/// What one search may take: there is one for each operator.
const TIME: Duration = Duration::from_secs(1);

/// Plans again with what the reference kernels allow, operator by operator.
pub fn loop_order_cost(task: Task<'_>, planned: &ModelPlan) -> anyhow::Result<LoopOrderCost> {
    let bar = progress::bar("other kernels");
    let analytic = overlaps::analytic(task.graph);
    let found = what_if(task, planned, &analytic, TIME, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let (operators, together_bytes) = found?;
    Ok(LoopOrderCost {
        operators,
        together_bytes,
    })
}
