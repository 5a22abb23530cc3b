//! Kernels side by side: what each takes for each operator of a model.

use super::SEARCH_TIME;
use super::emit::arena_changes;
use super::error::{About, StudyError};
use super::kernel_request::{KernelRequest, ModelKernels};
use super::overlap_source::{OverlapKind, OverlapRequest};
use super::plan::{PlanRequest, plan_as_it_is};
use super::session::{Session, Work};
use super::source::Source;
use super::whole_arena::ArenaChange;
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::Limits;
use crate::model::Deployment;
use crate::model::verify::{Runs, Subject, VerifiedLayer, verify, without_overlaps};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::transform::macs;
use schemars::JsonSchema;
use serde::Serialize;

/// A model's operators on several kernel libraries.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparedModel {
    /// The model's name.
    pub model: String,
    /// The libraries, in the order in which they were given.
    pub kernels: Vec<ComparedKernels>,
    /// The operators, in the order in which they run.
    pub layers: Vec<ComparedLayer>,
}

/// What code takes to run.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct ExecutionCost {
    /// Instructions.
    pub instructions: u64,
    /// Estimated cycles; `None` if they are not known.
    pub cycles: Option<Cycles>,
}

/// A library that is compared.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparedKernels {
    /// Name of the set, or path.
    pub name: String,
    /// The CPU that it ran on.
    pub cpu: &'static str,
    /// Of all operators that all libraries compute.
    #[serde(flatten)]
    pub cost: ExecutionCost,
    /// The most scratch memory that an operator wants, in bytes.
    pub scratch_bytes: u32,
    /// What a plan for this library needs; `None` if there is none.
    pub arena: Option<ComparedArena>,
}

/// The arena of a plan for a library.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparedArena {
    /// Of tensors and scratch memory, in bytes.
    pub planned_bytes: u64,
    /// Some operators are not executed, and what scratch memory they want is not known.
    pub is_lower_bound: bool,
    /// `kTensorArenaSize` without and with the plan; `None` where TensorFlow Lite Micro could not use
    /// it.
    pub runtime: Option<ArenaChange>,
}

/// An operator, as each library computes it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparedLayer {
    /// The operator.
    pub operator: OperatorId,
    /// Its kind.
    pub kind: String,
    /// Shapes of its inputs in the arena, as `1x8x8x16, 1x8x8x16`.
    pub inputs: String,
    /// Shapes of its outputs in the arena.
    pub outputs: String,
    /// Multiply-accumulates; 0 where nothing is multiplied and accumulated.
    pub macs: u64,
    /// What each library takes, in the order of the libraries; `None` where none of its functions
    /// can be called.
    pub figures: Vec<Option<LayerFigures>>,
}

/// What a library takes for an operator.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct LayerFigures {
    /// The function that was called.
    pub function: &'static str,
    /// It is one of the reference kernels, which stand in for a function that the library lacks.
    pub stands_in: bool,
    /// On the first input.
    #[serde(flatten)]
    pub cost: ExecutionCost,
    /// Scratch memory that the function wants, in bytes.
    pub scratch_bytes: u32,
    /// Its deepest stack on all inputs, in bytes; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// The greatest O_s that is granted of an input with an output, in bytes; `None` where there is
    /// no such pair in the arena.
    pub safe_overlap_bytes: Option<u32>,
}

/// Runs a model on each library, without overlaps, traces each operator, and plans the arena for what
/// it allows.
///
/// # Errors
/// When a library cannot be read, or cannot run the model.
pub fn compare_layers(
    source: &Source,
    libraries: &[KernelRequest],
    inputs: u64,
    limits: Limits,
    session: &Session,
) -> Result<ComparedModel, StudyError> {
    let graph = source.graph();
    let order = graph.file_order();
    let mut layers: Vec<ComparedLayer> = order.iter().map(|&it| described(graph, it)).collect();
    let mut kernels = Vec::with_capacity(libraries.len());
    for request in libraries {
        let library = request.load()?;
        let deployed = source.deploy(&library, limits)?;
        let deployment = deployed.model();
        deployment.ensure_parts_executed().about(&source.name)?;
        let placement = without_overlaps(deployment, &order).about(&source.name)?;
        let subject = Subject {
            order: &order,
            placement: &placement,
            keep_inputs: false,
        };
        let running = session.begin(Work::Verifying);
        let progress = |done, all| running.parts(done, all);
        let found = verify(deployment, &subject, Runs::on(inputs, limits), &progress)
            .about(&source.name)?;
        for layer in &mut layers {
            let of_layer = found.layers.iter().find(|it| it.operator == layer.operator);
            layer
                .figures
                .push(of_layer.map(|it| figures(deployment, it)));
        }
        drop(running);
        kernels.push((library, arena(source, request, inputs, session)));
    }
    let compared = kernels.into_iter().enumerate();
    let kernels =
        compared.map(|(position, (library, arena))| of_library(&library, position, &layers, arena));
    Ok(ComparedModel {
        model: source.name.clone(),
        kernels: kernels.collect(),
        layers,
    })
}

/// What a plan for the kernels needs; where there is none, a note says why.
fn arena(
    source: &Source,
    kernels: &KernelRequest,
    inputs: u64,
    session: &Session,
) -> Option<ComparedArena> {
    let request = PlanRequest {
        overlap: OverlapRequest {
            inputs,
            ..OverlapRequest::on(OverlapKind::Traced, kernels)
        },
        ..PlanRequest::default()
    };
    match plan_as_it_is(source, &request, SEARCH_TIME, session) {
        Ok(planned) => {
            let changes = arena_changes(source, &planned);
            Some(ComparedArena {
                planned_bytes: planned.file.arena_bytes,
                is_lower_bound: planned.not_executed().next().is_some(),
                runtime: changes.and_then(|changes| changes.first().copied()),
            })
        }
        Err(error) => {
            session.progress.note(&format!("no plan: {error}"));
            None
        }
    }
}

fn described(graph: &Graph, operator: OperatorId) -> ComparedLayer {
    let node = &graph.operators[operator.0];
    let kernel = node.kernel.as_ref();
    ComparedLayer {
        operator,
        kind: node.kind.escape_debug().to_string(),
        inputs: graph.extents(&graph.arena_inputs(node)),
        outputs: graph.extents(&graph.arena_outputs(node)),
        macs: kernel.map_or(0, |kernel| macs::of_operator(&kernel.operator)),
        figures: Vec::new(),
    }
}

fn figures(deployment: &Deployment, layer: &VerifiedLayer) -> LayerFigures {
    let step = deployment.step(layer.operator);
    let source = step.kernel.as_ref().ok().map(|kernel| kernel.source);
    let pairs = layer.pairs.iter();
    let granted = pairs.map(|pair| match pair.refusals[..] {
        [] => pair.safe_overlap_bytes,
        _ => 0,
    });
    LayerFigures {
        function: layer.function,
        stands_in: source.is_some_and(|source| deployment.sources[source].is_fallback),
        cost: ExecutionCost {
            instructions: layer.instructions,
            cycles: layer.cycles,
        },
        scratch_bytes: step.scratch.total_bytes,
        stack_bytes: layer.stack_bytes,
        safe_overlap_bytes: granted.max(),
    }
}

/// What a library takes for all operators that all libraries compute.
fn of_library(
    kernels: &ModelKernels,
    position: usize,
    layers: &[ComparedLayer],
    arena: Option<ComparedArena>,
) -> ComparedKernels {
    let common = layers
        .iter()
        .filter(|it| it.figures.iter().all(Option::is_some));
    let common = common.filter_map(|it| it.figures[position].as_ref());
    let all = layers.iter().filter_map(|it| it.figures[position].as_ref());
    ComparedKernels {
        name: kernels.name(),
        cpu: kernels.cpu().name,
        cost: ExecutionCost {
            instructions: common.clone().map(|it| it.cost.instructions).sum(),
            cycles: sum(common.map(|it| it.cost.cycles)),
        },
        scratch_bytes: all.map(|it| it.scratch_bytes).max().unwrap_or(0),
        arena,
    }
}

/// `None` if one of them is not known, or there is none.
fn sum(mut cycles: impl Iterator<Item = Option<Cycles>>) -> Option<Cycles> {
    let first = cycles.next()??;
    cycles.try_fold(first, |sum, more| Some(sum.plus(more?)))
}
