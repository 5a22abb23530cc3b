//! Forms of a model, from the fastest to the smallest: what memory can be had for what time on given
//! kernels.

use super::change::{ChangeRequest, WorkFront};
use super::error::{About, BuildError, StudyError};
use super::form::{Form, Forms, MemoryLimits};
use super::kernel_request::ModelKernels;
use super::plan::{PlanRequest, Planned, plan_as_it_is, search};
use super::plan_to_check::PlanToCheck;
use super::search_time::SearchTime;
use super::session::{Session, Work};
use super::source::Source;
use super::verify::{VerifyRequest, place};
use crate::codegen::call_size::call_bytes;
use crate::codegen::kernel_sources;
use crate::codegen::loops::rolled;
use crate::codegen::memory::PlannedMemories;
use crate::codegen::network::{Network, arena_with_states};
use crate::elf::reach::reachable_bytes;
use crate::mcu::machine::Observation;
use crate::model::verify::model_inputs;
use crate::model::{Deployment, Inference};
use dmo_analysis::graph::{Graph, Kind};
use dmo_analysis::optimise::Task;
use dmo_analysis::transform::{Recipe, macs};
use std::collections::{BTreeMap, BTreeSet};

/// More forms are not measured.
const MOST_FORMS: usize = 24;

/// Of the time: for the order, for each search over forms, for the plan of each form.
const ORDER_SHARE: f64 = 0.1;
const PLAN_SHARE: f64 = 0.02;

/// Where all forms together execute more instructions, not all are measured.
const MOST_INSTRUCTIONS: u64 = 4_000_000_000;

/// How many forms that fit are measured where not all are: the one with the least work need not be the
/// fastest.
const FITTING: usize = 3;

/// Forms of a model, measured. Of a model whose inferences take long, only the model as it is, the
/// smallest form, and those that may keep to the limits, by their work, until some do. The source is
/// left as it was read, or pruned where it may be.
///
/// # Errors
/// When the model cannot be changed, or not be planned on the kernels.
pub fn forms(
    source: &mut Source,
    request: &PlanRequest,
    kernels: &ModelKernels,
    limits: &MemoryLimits,
    session: &Session,
) -> Result<Forms, StudyError> {
    if request.changes.prune {
        source.prune()?;
    }
    let (candidates, complete) = candidates(source, request, session)?;
    // The model as it is comes first, and has no size yet.
    let sizes = candidates.iter().map(|it| it.arena_bytes);
    let smallest = sizes.filter(|&bytes| bytes > 0).min();
    let running = session.begin(Work::Forms);
    let mut forms: Vec<Form> = Vec::new();
    let mut refusal = None;
    for (index, candidate) in candidates.iter().enumerate() {
        running.parts(index, candidates.len());
        let recipe = &candidate.recipe;
        if let Some(first) = forms.first()
            && first.instructions.saturating_mul(candidates.len() as u64) > MOST_INSTRUCTIONS
        {
            if forms.iter().filter(|form| limits.admit(form)).count() >= FITTING {
                break;
            }
            let is_large = |limit| candidate.arena_bytes > limit;
            if limits.ram_bytes.is_some_and(is_large) && Some(candidate.arena_bytes) != smallest {
                continue;
            }
        }
        // The session of the plan has no progress of its own.
        let quiet = Session {
            cache: session.cache.clone(),
            ..Session::default()
        };
        follow(source, recipe)?;
        let time = request.time.mul_f64(PLAN_SHARE);
        // A tile may have a shape that no kernel takes.
        let measured = plan_as_it_is(source, request, time, &quiet)
            .and_then(|planned| measure(source, recipe, &planned, kernels));
        match measured {
            Ok(form) => forms.push(form),
            Err(error) if !recipe.changes() => return Err(error),
            Err(error) => refusal = Some(error),
        }
    }
    source.follow_nothing();
    if let Some(error) = refusal.filter(|_| forms.is_empty()) {
        return Err(error);
    }
    let has_stack = forms.iter().all(|form| form.stack_bytes.is_some());
    if limits.ram_bytes.is_some() && !has_stack {
        return Err(BuildError::UnknownStack.into());
    }
    Ok(Forms::of(forms, complete))
}

/// Makes of the model what the recipe says.
pub(super) fn follow(source: &mut Source, recipe: &Recipe) -> Result<(), StudyError> {
    if recipe.changes() {
        source.follow(recipe.clone())
    } else {
        source.follow_nothing();
        Ok(())
    }
}

/// Whether some operator could run in tiles.
pub fn has_windows(graph: &Graph) -> bool {
    let mut nodes = graph.operators.iter();
    nodes.any(|node| matches!(node.kind, Kind::Conv2d | Kind::DepthwiseConv2d))
}

/// A recipe to try.
struct Candidate {
    recipe: Recipe,
    /// Size of the arena by formula, in bytes.
    arena_bytes: u64,
    extra_macs: u64,
}

/// The recipes to try, the model as it is first, the others by their work; and whether all searches
/// have done their work.
fn candidates(
    source: &Source,
    request: &PlanRequest,
    session: &Session,
) -> Result<(Vec<Candidate>, bool), StudyError> {
    let as_it_is = Candidate {
        recipe: Recipe::default(),
        arena_bytes: 0,
        extra_macs: 0,
    };
    let mut candidates = Vec::new();
    if !request.changes.slices {
        candidates.push(as_it_is);
    }
    if !request.changes.reshapes() {
        return Ok((candidates, true));
    }
    source.ensure_changeable()?;
    let graph = source.graph();
    let (changes, kind) = (&request.changes, request.overlap.kind);
    let overlaps = changes.known_overlaps(graph, kind);
    let task = Task {
        graph,
        overlaps: &overlaps,
        layout: request.layout,
        reorder: true,
        fixed: &[],
    };
    let time = SearchTime::patient(request.time.mul_f64(ORDER_SHARE));
    let order = search(task, time, session)?.order;
    let searches = searches(changes);
    // Kernels that work in place leave the other forms what they would have without.
    let others = searches.iter().filter(|search| !search.in_place).count();
    let share = (1.0 - ORDER_SHARE) / others.max(1) as f64;
    let time = SearchTime::patient(request.time.mul_f64(share));
    let layout = request.layout;
    let (mut refusal, mut complete) = (None, true);
    for changes in &searches {
        let front = WorkFront::search(source, &order, changes, layout, kind, time, session);
        let front = match front {
            // Other searches may compute more again.
            Err(error) if changes.slices => {
                refusal = Some(error);
                continue;
            }
            front => front?,
        };
        complete &= front.front.complete;
        for point in front.front.points {
            if candidates.iter().any(|it| it.recipe == point.recipe) {
                continue;
            }
            candidates.push(Candidate {
                recipe: point.recipe,
                arena_bytes: point.arena_bytes,
                extra_macs: point.extra_macs,
            });
        }
    }
    if let Some(error) = refusal.filter(|_| candidates.is_empty()) {
        return Err(error);
    }
    candidates.sort_by_key(|candidate| candidate.extra_macs);
    Ok((thinned(candidates), complete))
}

/// What may be computed again, in percent: the more, the more tiles there are to try, and the less
/// of each search is left for the best of them.
const RECOMPUTED_PERCENT: [f64; 2] = [10.0, 40.0];

/// Searches whose results are put together. Kernels that work in place are slow, and have a search
/// of their own, and so have bands that keep rows: next to these, which compute nothing again, few
/// other tiles are found.
fn searches(changes: &ChangeRequest) -> Vec<ChangeRequest> {
    let most = changes.most_recomputed_percent;
    let mut limits = RECOMPUTED_PERCENT.to_vec();
    limits.retain(|&percent| percent < most && (changes.split || changes.patch));
    limits.push(most);
    let mut searches = Vec::new();
    for percent in limits {
        searches.push(ChangeRequest {
            in_place: false,
            cache: false,
            most_recomputed_percent: percent,
            ..*changes
        });
    }
    if changes.cache {
        searches.push(ChangeRequest {
            in_place: false,
            ..*changes
        });
    }
    if changes.in_place {
        searches.push(ChangeRequest {
            most_recomputed_percent: most.min(RECOMPUTED_PERCENT[0]),
            ..*changes
        });
    }
    searches.retain(ChangeRequest::reshapes);
    searches
}

/// At most as many as are measured, evenly spread.
fn thinned(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let count = candidates.len();
    if count <= MOST_FORMS {
        return candidates;
    }
    let kept = (0..MOST_FORMS).map(|index| index * (count - 1) / (MOST_FORMS - 1));
    let mut kept: Vec<usize> = kept.collect();
    kept.dedup();
    let candidates = candidates.into_iter().enumerate();
    let kept = candidates.filter(|(index, _)| kept.contains(index));
    kept.map(|(_, candidate)| candidate).collect()
}

/// Runs one inference in the plan.
fn measure(
    source: &Source,
    recipe: &Recipe,
    planned: &Planned,
    kernels: &ModelKernels,
) -> Result<Form, StudyError> {
    let limits = VerifyRequest::default().limits;
    let deployment = source.deploy(kernels, limits)?.into_model();
    let deployment = deployment.complete().about(&source.name)?;
    let plan = PlanToCheck::of_planned(planned, source)?;
    let (placement, _) = place(source, &deployment, &plan);
    let mut inference = Inference::new(&deployment, &placement, 0, Observation::Watch, limits)?;
    inference.count_cycles();
    inference.infer(&model_inputs(&deployment, 0), &plan.order)?;
    let graph: &Graph = &planned.overlaps.graph;
    let interface = kernel_sources::interface();
    let memories = PlannedMemories::default();
    let network = Network::new(&deployment, &plan.order, &placement, &memories, &interface);
    let network = network.about(&source.name)?;
    let loops = rolled(&network.calls, |operator| source.origin(operator));
    let flash_bytes = network.constants.bytes()
        + call_bytes(&loops, &interface)
        + kernel_bytes(&deployment, &network);
    Ok(Form {
        recipe: recipe.clone(),
        arena_bytes: arena_with_states(&deployment, planned.file.arena_bytes)?,
        stack_bytes: inference.deepest_stack_bytes(),
        flash_bytes,
        macs: macs::of_graph(graph),
        instructions: inference.instructions(),
        cycles: inference.cycles(),
    })
}

/// Code and tables of the kernels that the calls need, as they are emulated.
fn kernel_bytes(deployment: &Deployment, network: &Network) -> u64 {
    let mut entries: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for call in &network.calls {
        if let Ok(kernel) = &deployment.step(call.operator).kernel {
            let address = deployment.library(kernel).address_of(call.function);
            entries.entry(kernel.source).or_default().extend(address);
        }
    }
    let libraries = entries.into_iter().map(|(source, entries)| {
        let library = deployment.sources[source].library;
        reachable_bytes(library.image(), entries)
    });
    libraries.sum()
}
