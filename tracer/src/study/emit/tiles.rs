//! The form of a model, in tiles or not, that TensorFlow Lite Micro needs the least memory for.

use super::{Emission, Emitted, calls_cmsis_nn, runtime_kernels};
use crate::codegen::kernel_sources::DSP;
use crate::model::Deployment;
use crate::model::verify::differences_from;
use crate::study::KERNEL_LIMITS;
use crate::study::change::ChangeRequest;
use crate::study::error::{About, EmitReason, StudyError};
use crate::study::kernel_request::{KernelRequest, ModelKernels};
use crate::study::plan::{OrderKind, PlanRequest, Planned, plan_as_it_is};
use crate::study::runtime_scratch::with_runtime_scratch;
use crate::study::session::{Session, Work};
use crate::study::source::Source;
use crate::study::whole_arena::{ArenaChange, Scratch};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::handover::{TiledModel, tiled};
use dmo_analysis::transform::standard::Standard;
use dmo_analysis::transform::{Origin, Recipe, macs};
use std::collections::BTreeSet;
use std::time::Duration;

/// Among forms of a model that the runtime can run the one with the least whole arena was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormChoice {
    /// Operators of the form; as many as the model has where it is not in tiles.
    pub operators: usize,
    /// Whether it is in tiles.
    pub is_tiled: bool,
    /// How many forms there were.
    pub forms: usize,
    /// The whole arena in bytes of the form with the smallest tiles; `None` if no form in tiles can be
    /// written.
    pub of_the_plan_bytes: Option<u64>,
}

/// A form of another model: as that is, or of standard operators that compute runs of its in tiles.
pub struct WrittenForm {
    /// The model, without a plan.
    pub source: Source,
    /// Its plan.
    pub planned: Planned,
    /// What it does to the other model.
    pub recipe: Recipe,
    /// The operator of the other model that each one computes a part of; of those that only move
    /// elements, the one that they do it for.
    pub origins: Vec<OperatorId>,
}

impl WrittenForm {
    /// Whether it is in tiles.
    pub fn is_tiled(&self) -> bool {
        !self.recipe.splits.is_empty()
    }
}

/// More forms of a model are not tried: those with the least work come first.
const MOST_FORMS: usize = 32;
/// On how many inputs a form in tiles is compared with the model.
const COMPARED_INPUTS: u64 = 2;
/// Models with more work in an inference are not compared.
const MOST_COMPARED_MACS: u64 = 1_000_000_000;
const NOT_COMPARED: &str = "the model in tiles was not run beside the model: it has operators that are not executed, or \
                            takes too long; compare their outputs";

/// All sets compute the same, and this one in the shortest time.
fn quick_kernels() -> KernelRequest {
    KernelRequest {
        kernels: DSP.to_owned(),
        ..KernelRequest::default()
    }
}

/// What the plan of a form may take.
const FORM_TIME: Duration = Duration::from_secs(2);

/// A planned model of which forms are written.
pub struct WritableForms<'a> {
    /// Where the best one is written to.
    pub emission: &'a Emission,
    /// The model.
    pub source: &'a Source,
    /// Its file.
    pub file: &'a [u8],
    /// Its plan.
    pub planned: &'a Planned,
}

impl WritableForms<'_> {
    /// The best form of the model: as it is, or in tiles of standard operators with a plan of their own.
    /// More tiles make the planned part smaller and what persists larger.
    ///
    /// # Errors
    /// When no form can be written.
    pub fn best(&self, recipe: &Recipe, session: &Session) -> Result<Emitted, StudyError> {
        let path = &self.emission.path;
        if !is_standard(recipe) {
            return Err(EmitReason::NotStandard.of(path).into());
        }
        let none = Recipe {
            order: recipe.order.clone(),
            ..Recipe::default()
        };
        let mut recipes = vec![recipe];
        if recipe != &none {
            recipes.push(&none);
        }
        for found in standard_recipes(self.planned) {
            if !recipes.contains(&found) {
                recipes.push(found);
            }
        }
        recipes.truncate(MOST_FORMS);
        let running = session.begin(Work::Forms);
        // The session of a form has no progress of its own.
        let quiet = Session {
            cache: session.cache.clone(),
            ..Session::default()
        };
        let (mut forms, mut refused) = (Vec::new(), None);
        for (index, recipe) in recipes.iter().enumerate() {
            running.parts(index, recipes.len());
            match self.in_tiles(recipe, &quiet) {
                Ok(form) => forms.push(form),
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        let count = forms.len();
        let mut tiled = forms.iter().filter(|form| form.is_tiled());
        let of_the_plan_bytes = tiled.next().map(total);
        // In the order that is best for it, which need not be that of the tiles.
        match self.as_it_is(&quiet) {
            Ok(whole) => {
                forms.retain(|form| is_no_larger(form, &whole));
                forms.insert(0, whole);
            }
            Err(error) => _ = refused.get_or_insert(error),
        }
        let Some(best) = forms.into_iter().min_by_key(total) else {
            let none = || EmitReason::NoModelFile.of(path).into();
            return Err(refused.unwrap_or_else(none));
        };
        let graph = match &best.form {
            Some(form) => form.source.graph(),
            None => self.source.original(),
        };
        if let Some(form) = best.form.as_ref().filter(|form| form.is_tiled()) {
            self.ensure_same_outputs(form, session)?;
        }
        let choice = FormChoice {
            operators: graph.operators.len(),
            is_tiled: best.is_tiled(),
            forms: count,
            of_the_plan_bytes,
        };
        Ok(Emitted {
            choice: Some(choice),
            ..best
        })
    }

    /// Runs the model and the form in tiles, if that does not take long.
    fn ensure_same_outputs(&self, form: &WrittenForm, session: &Session) -> Result<(), StudyError> {
        let model = Source::of_bytes(&self.source.name, self.file.to_vec())?;
        if macs::of_graph(form.source.graph()) > MOST_COMPARED_MACS {
            session.progress.note(NOT_COMPARED);
            return Ok(());
        }
        let running = session.begin(Work::Verifying);
        running.parts(0, 1);
        let measured = self.planned.overlaps.measured.as_ref();
        let kernels = measured.map_or_else(quick_kernels, |measured| measured.request.clone());
        let kernels = kernels.load()?;
        let original = model.deploy(&kernels, KERNEL_LIMITS)?.into_model();
        let tiled = form.source.deploy(&kernels, KERNEL_LIMITS)?.into_model();
        let is_run = |deployment: &Deployment| deployment.not_executed().next().is_none();
        if !is_run(&original) || !is_run(&tiled) {
            drop(running);
            session.progress.note(NOT_COMPARED);
            return Ok(());
        }
        let name = &self.source.name;
        let other = differences_from(&original, &tiled, COMPARED_INPUTS, KERNEL_LIMITS);
        match other.about(name)?.first() {
            Some(_) => Err(EmitReason::OtherOutputs.of(&self.emission.path).into()),
            None => Ok(()),
        }
    }

    /// The model as it is, without tiles.
    fn as_it_is(&self, session: &Session) -> Result<Emitted, StudyError> {
        let model = Source::of_bytes(&self.source.name, self.file.to_vec())?;
        let order = if self.planned.task().reorder {
            OrderKind::Best
        } else {
            OrderKind::File
        };
        let (emitted, planned) = self.written(&model, order, session)?;
        let origins = (0..model.graph().operators.len()).map(OperatorId);
        let form = WrittenForm {
            origins: origins.collect(),
            source: model,
            planned,
            recipe: Recipe::default(),
        };
        Ok(Emitted {
            form: Some(Box::new(form)),
            ..emitted
        })
    }

    /// The model that follows a recipe.
    fn in_tiles(&self, recipe: &Recipe, session: &Session) -> Result<Emitted, StudyError> {
        let model = tiled(self.file, recipe).about(self.emission.refusal())?;
        let TiledModel { file, standard } = model;
        let model = Source::of_bytes(&self.source.name, file)?;
        let (emitted, planned) = self.written(&model, OrderKind::File, session)?;
        let before = self.source.original();
        Ok(Emitted {
            added_kinds: &kinds(model.graph()) - &kinds(before),
            form: Some(Box::new(WrittenForm {
                source: model,
                planned,
                recipe: recipe.clone(),
                origins: origins(&standard),
            })),
            ..emitted
        })
    }

    /// The file of a form, planned like any other model, with the overlaps that the plan of the given one
    /// has: those of the same kernels are measured anew.
    fn written(
        &self,
        form: &Source,
        order: OrderKind,
        session: &Session,
    ) -> Result<(Emitted, Planned), StudyError> {
        let overlaps = &self.planned.overlaps;
        let request = PlanRequest {
            overlap: overlaps.request(),
            layout: self.planned.file.layout,
            order,
            changes: ChangeRequest {
                accumulate: overlaps.accumulates,
                ..ChangeRequest::default()
            },
            time: FORM_TIME,
            fixed: Vec::new(),
        };
        let mut planned = plan_as_it_is(form, &request, FORM_TIME, session)?;
        planned.front.clone_from(&self.planned.front);
        let (content, arena_bytes) = self.emission.with_plan(form, &planned)?;
        let given = self.source.file_as_read().unwrap_or(self.file);
        let emitted = Emitted {
            added_kinds: BTreeSet::new(),
            changes: changes(given, &content, &planned)?,
            arena_bytes,
            choice: None,
            form: None,
            content,
        };
        Ok((emitted, planned))
    }
}

/// The whole arena of a form in bytes, with the kernels that need most.
fn total(form: &Emitted) -> u64 {
    let sizes = form.changes.iter().map(|change| change.after_bytes);
    sizes.max().unwrap_or(form.arena_bytes)
}

/// Whether a form needs no more than another one, whichever of the kernels compute it.
fn is_no_larger(form: &Emitted, other: &Emitted) -> bool {
    let mut sizes = form.changes.iter().zip(&other.changes);
    sizes.all(|(one, other)| one.after_bytes <= other.after_bytes)
}

/// Whether TensorFlow Lite Micro could run the model in tiles, of all ways that were found.
pub fn has_standard_tiles(planned: &Planned) -> bool {
    standard_recipes(planned).any(|recipe| !recipe.splits.is_empty())
}

/// What standard operators can do, of all ways that were found.
fn standard_recipes(planned: &Planned) -> impl Iterator<Item = &Recipe> {
    let points = planned.front.iter().flat_map(|front| &front.front.points);
    let recipes = points.map(|point| &point.recipe);
    recipes.filter(|recipe| is_standard(recipe))
}

/// Whether TensorFlow Lite Micro has operators for it.
pub fn is_standard(recipe: &Recipe) -> bool {
    let keeps_rows = recipe.splits.iter().any(|split| split.cached);
    recipe.in_place.is_empty() && recipe.removed.is_empty() && !recipe.slices && !keeps_rows
}

/// What is cut out and padded is for the next tile; what is joined is of those before.
fn origins(standard: &Standard) -> Vec<OperatorId> {
    let known = |origin: &Option<Origin>| origin.as_ref().map(|it| it.operator);
    let of_operator = |index: usize| {
        let (before, after) = standard.origins.split_at(index);
        let of_joined = standard.graph.operators[index].kind.name() == "CONCATENATION";
        let before = || before.iter().rev().find_map(known);
        let after = || after.iter().find_map(known);
        let origin = known(&standard.origins[index]);
        let origin = origin.or_else(|| if of_joined { before() } else { after() });
        origin.unwrap_or(OperatorId(index))
    };
    (0..standard.origins.len()).map(of_operator).collect()
}

fn kinds(graph: &Graph) -> BTreeSet<String> {
    let kinds = graph.operators.iter();
    kinds.map(|operator| operator.kind.to_string()).collect()
}

/// The whole arena before and after. Measured kernels are asked what scratch memory they want for a
/// tile.
fn changes(before: &[u8], after: &[u8], planned: &Planned) -> Result<Vec<ArenaChange>, StudyError> {
    match &planned.overlaps.measured {
        Some(measured) if calls_cmsis_nn(planned) => {
            let kernels = measured.request.load()?;
            let scratch = [
                scratch_of_file(before, &kernels)?,
                scratch_of_file(after, &kernels)?,
            ];
            let [of_before, of_after] = &scratch;
            let change =
                ArenaChange::in_place_of_cmsis_nn((before, Some(of_before)), (after, of_after));
            Ok(vec![change.about("the model")?])
        }
        _ => {
            let changes = ArenaChange::all(before, after, runtime_kernels(planned));
            changes.about("the model")
        }
    }
}

/// Scratch memory that TensorFlow Lite Micro's kernels ask for, those that call CMSIS-NN's functions what these kernels
/// want.
fn scratch_of_file(file: &[u8], kernels: &ModelKernels) -> Result<Scratch, StudyError> {
    let source = Source::of_bytes("the model", file.to_vec())?;
    let deployment = source.deploy(kernels, KERNEL_LIMITS)?.into_model();
    let graph = with_runtime_scratch(&source, &deployment);
    Ok(source.scratch_bytes(&graph, &graph.file_order()))
}
