//! Forms of a model, from the fastest to the smallest: what memory can be had for what time on given
//! kernels.

use super::change::{ChangeRequest, WorkFront};
use super::error::{About, BuildError, StudyError};
use super::kernel_request::ModelKernels;
use super::plan::{PlanRequest, Planned, plan_as_it_is, search};
use super::plan_to_check::PlanToCheck;
use super::search_time::SearchTime;
use super::session::{Session, Work};
use super::source::Source;
use super::verify::{VerifyRequest, place};
use crate::codegen::network::arena_with_states;
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::Observation;
use crate::model::Inference;
use crate::model::verify::model_inputs;
use dmo_analysis::graph::Graph;
use dmo_analysis::optimise::Task;
use dmo_analysis::transform::{Recipe, macs};
use schemars::JsonSchema;
use serde::Serialize;

/// A form of a model on kernels.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Form {
    /// What is done to the model; nothing in the form that it has.
    #[serde(skip)]
    pub recipe: Recipe,
    /// Size of the arena in bytes, states included.
    pub arena_bytes: u64,
    /// The deepest stack of a kernel in bytes; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// Multiply-accumulates of an inference.
    pub macs: u64,
    /// Instructions of an inference.
    pub instructions: u64,
    /// Estimated cycles of an inference; `None` if they are not known.
    pub cycles: Option<Cycles>,
}

impl Form {
    /// Arena and stack in bytes; of the stack that is above the kernels a bound.
    pub fn ram_bytes(&self) -> u64 {
        self.arena_bytes + u64::from(self.stack_bytes.unwrap_or(0)) + INVOKE_STACK_BYTES
    }

    /// What an inference takes: estimated cycles, or instructions where these are not known.
    pub fn time(&self) -> u64 {
        self.cycles.map_or(self.instructions, |cycles| cycles.total)
    }
}

/// The function that makes the calls has taken at most 130 bytes of stack, as compilers make it at
/// -O1 to -O3 and -Os.
const INVOKE_STACK_BYTES: u64 = 160;

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

/// Forms that none of the others beats in both memory and time, the fastest first. Of a model whose
/// inferences take long, only the model as it is, the smallest form, and those that may fit into
/// `limit_bytes`, by their work, until some do. The source is left as it was read, or pruned where it may be.
///
/// # Errors
/// When the model cannot be changed, or not be planned on the kernels.
pub fn forms(
    source: &mut Source,
    request: &PlanRequest,
    kernels: &ModelKernels,
    limit_bytes: u64,
    session: &Session,
) -> Result<Vec<Form>, StudyError> {
    if request.changes.prune {
        source.prune()?;
    }
    let candidates = candidates(source, request, session)?;
    // The model as it is comes first, and has no size yet.
    let smallest = candidates.iter().skip(1).map(|it| it.arena_bytes).min();
    let running = session.begin(Work::OtherKernels);
    let mut forms: Vec<Form> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        running.parts(index, candidates.len());
        let recipe = &candidate.recipe;
        if let Some(first) = forms.first()
            && first.instructions.saturating_mul(candidates.len() as u64) > MOST_INSTRUCTIONS
        {
            let fits = |form: &&Form| form.ram_bytes() <= limit_bytes;
            if forms.iter().filter(fits).count() >= FITTING {
                break;
            }
            if candidate.arena_bytes > limit_bytes && Some(candidate.arena_bytes) != smallest {
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
            Err(error) if index == 0 => return Err(error),
            Err(_) => (),
        }
    }
    source.follow_nothing();
    Ok(best(forms))
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

/// The fastest form that fits.
///
/// # Errors
/// When none does, or it is not known how much stack a form takes.
pub fn fastest_within<'a>(
    forms: &'a [Form],
    limit_bytes: u64,
    model: &str,
) -> Result<&'a Form, BuildError> {
    if forms.iter().any(|form| form.stack_bytes.is_none()) {
        return Err(BuildError::UnknownStack);
    }
    let fits = |form: &&Form| form.ram_bytes() <= limit_bytes;
    forms.iter().find(fits).ok_or_else(|| {
        let smallest = forms.iter().map(Form::ram_bytes).min();
        BuildError::TooSmall {
            model: model.to_owned(),
            limit_bytes,
            smallest_bytes: smallest.unwrap_or(0),
        }
    })
}

/// A recipe to try.
struct Candidate {
    recipe: Recipe,
    /// Size of the arena by formula, in bytes.
    arena_bytes: u64,
    extra_macs: u64,
}

/// The recipes to try, the model as it is first, the others by their work.
fn candidates(
    source: &Source,
    request: &PlanRequest,
    session: &Session,
) -> Result<Vec<Candidate>, StudyError> {
    let as_it_is = Candidate {
        recipe: Recipe::default(),
        arena_bytes: 0,
        extra_macs: 0,
    };
    let mut candidates = vec![as_it_is];
    if !request.changes.reshapes() {
        return Ok(candidates);
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
    let order = search(task, request.time.mul_f64(ORDER_SHARE), session)?.order;
    let searches = searches(changes);
    // Kernels that work in place leave the other forms what they would have without.
    let others = searches.iter().filter(|search| !search.in_place).count();
    let share = (1.0 - ORDER_SHARE) / others.max(1) as f64;
    let time = SearchTime::patient(request.time.mul_f64(share));
    let layout = request.layout;
    for changes in &searches {
        let front = WorkFront::search(source, &order, changes, layout, kind, time, session)?;
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
    candidates.sort_by_key(|candidate| candidate.extra_macs);
    Ok(thinned(candidates))
}

/// What may be computed again, in percent: the more, the more tiles there are to try, and the less
/// of each search is left for the best of them.
const RECOMPUTED_PERCENT: [f64; 2] = [10.0, 40.0];

/// Searches whose results are put together. Kernels that work in place are slow, and have a search
/// of their own.
fn searches(changes: &ChangeRequest) -> Vec<ChangeRequest> {
    let most = changes.most_recomputed_percent;
    let mut limits = RECOMPUTED_PERCENT.to_vec();
    limits.retain(|&percent| percent < most && (changes.split || changes.patch));
    limits.push(most);
    let mut searches = Vec::new();
    for percent in limits {
        searches.push(ChangeRequest {
            in_place: false,
            most_recomputed_percent: percent,
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
    let (placement, _) = place(&deployment, &plan);
    let mut inference = Inference::new(&deployment, &placement, 0, Observation::Watch, limits)?;
    inference.count_cycles();
    inference.infer(&model_inputs(&deployment, 0), &plan.order)?;
    let graph: &Graph = &planned.overlaps.graph;
    Ok(Form {
        recipe: recipe.clone(),
        arena_bytes: arena_with_states(&deployment, planned.file.arena_bytes)?,
        stack_bytes: inference.deepest_stack_bytes(),
        macs: macs::of_graph(graph),
        instructions: inference.instructions(),
        cycles: inference.cycles(),
    })
}

/// Those that none beats, the fastest first.
fn best(mut forms: Vec<Form>) -> Vec<Form> {
    forms.sort_by_key(|form| (form.time(), form.ram_bytes()));
    let mut least = u64::MAX;
    forms.retain(|form| {
        let is_smaller = form.ram_bytes() < least;
        least = least.min(form.ram_bytes());
        is_smaller
    });
    forms
}
