//! The smallest arena of a model, with proof.

use super::change::{ChangeRequest, WorkFront};
use super::error::{About, PlanError, StudyError};
use super::overlap_source::{OverlapKind, OverlapRequest, OverlapSource};
use super::placed::PlacedModel;
use super::search_time::{STOPPED, SearchTime, within_time};
use super::session::{Session, State, Work};
use super::source::Source;
use super::{KERNEL_LIMITS, SEARCH_TIME};
use crate::call::ALIGNMENT;
use dmo_analysis::arena::{Arena, ArenaError, Layout};
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::handover::PlanFile;
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::transform::front::Point;
use dmo_analysis::verify::{Positions, clashes, misaligned};
use std::time::{Duration, Instant};

/// In which order a model's operators run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrderKind {
    /// As in the file.
    File,
    /// The one with the smallest arena.
    #[default]
    Best,
}

impl OrderKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::File, Self::Best];

    /// As in baselines and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Best => "best",
        }
    }
}

/// How a model is to be planned. The default is what TensorFlow Lite Micro can run: its layout,
/// and the overlaps of its reference kernels by formula.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// Which overlaps may be used.
    pub overlap: OverlapRequest,
    /// What the arena holds, and how.
    pub layout: Layout,
    /// The order of the operators.
    pub order: OrderKind,
    /// Tensors of the file that lie at given offsets, in bytes.
    pub fixed: Vec<(TensorId, u64)>,
    /// What may be changed of the work.
    pub changes: ChangeRequest,
    /// The search ends after this time with the best so far.
    pub time: Duration,
}

impl Default for PlanRequest {
    fn default() -> Self {
        Self {
            overlap: OverlapRequest::default(),
            layout: Layout::tflm(),
            order: OrderKind::default(),
            fixed: Vec::new(),
            changes: ChangeRequest::default(),
            time: SEARCH_TIME,
        }
    }
}

/// A planned model.
pub struct Planned {
    /// The model as it is planned, and what may overlap in it.
    pub overlaps: OverlapSource,
    /// The plan and what is proven of it.
    pub plan: ModelPlan,
    /// The plan for others, complete in itself and checked.
    pub file: PlanFile,
    /// What memory can be had for what work, where changes are allowed that reshape the model.
    pub front: Option<WorkFront>,
    /// Where everything lies in several memories; `None` if there is one.
    pub placed: Option<PlacedModel>,
    fixed: Vec<(TensorId, u64)>,
    reorder: bool,
}

impl Planned {
    /// What was planned.
    pub fn task(&self) -> Task<'_> {
        Task {
            graph: &self.overlaps.graph,
            overlaps: &self.overlaps.overlaps,
            layout: self.file.layout,
            reorder: self.reorder,
            fixed: &self.fixed,
        }
    }

    /// The same in several memories, with its file as one of the arena that these make.
    #[must_use]
    pub fn in_regions(self, placed: PlacedModel) -> Self {
        Self {
            file: placed.in_one_arena(self.task(), self.file.clone()),
            placed: Some(placed),
            ..self
        }
    }

    /// Its buffers, and where each of them lies in the arena.
    pub fn buffers(&self) -> (&Arena, &[u64]) {
        match &self.placed {
            Some(placed) => (&placed.arena, &placed.offsets),
            None => (&self.plan.arena, &self.plan.plan.offsets),
        }
    }

    /// The operators that its kernels cannot run, and why.
    pub(super) fn not_executed(&self) -> impl Iterator<Item = (OperatorId, &str)> {
        let measured = self.overlaps.measured.iter();
        let operators = measured.flat_map(|measured| &measured.not_executed);
        operators.map(|(operator, reason)| (*operator, &**reason))
    }

    /// Whether the operators run in another order than the file's.
    pub fn is_reordered(&self) -> bool {
        self.plan.order != self.overlaps.graph.file_order()
    }
}

/// Of the time where the work may change: for the order, for what may be changed, for the plan.
const SHARES: [f64; 3] = [0.2, 0.6, 0.2];

/// Plans a model. Where it may be pruned, it is; where other changes are allowed, it becomes what
/// needs the smallest arena.
///
/// # Errors
/// When a fixed tensor is none of the model's or cannot lie there, kernels cannot run the model,
/// or its operators cannot be ordered.
pub fn plan(
    source: &mut Source,
    request: &PlanRequest,
    session: &Session,
) -> Result<Planned, StudyError> {
    if request.changes.prune {
        if !request.fixed.is_empty() {
            return Err(PlanError::ChangeOfFixed.into());
        }
        source.prune()?;
    }
    let tensors = source.graph().tensors.len();
    if let Some((tensor, _)) = request.fixed.iter().find(|(id, _)| id.0 >= tensors) {
        let tensor = tensor.0;
        return Err(PlanError::NoTensor { tensor, tensors }.into());
    }
    let front = if request.changes.reshapes() {
        Some(change(source, request, session)?)
    } else {
        None
    };
    let time = match &front {
        Some(_) => request.time.mul_f64(SHARES[2]),
        None => request.time,
    };
    Ok(Planned {
        front,
        ..plan_as_it_is(source, request, time, session)?
    })
}

/// Makes of the model what needs the smallest arena, and tells what else was found. Where nothing
/// is better, the model stays as it is.
fn change(
    source: &mut Source,
    request: &PlanRequest,
    session: &Session,
) -> Result<WorkFront, StudyError> {
    if !request.fixed.is_empty() {
        return Err(PlanError::ChangeOfFixed.into());
    }
    source.ensure_changeable()?;
    let (changes, kind) = (&request.changes, request.overlap.kind);
    let graph = source.graph();
    let overlaps = changes.known_overlaps(graph, kind);
    let task = Task {
        graph,
        overlaps: &overlaps,
        layout: request.layout,
        reorder: request.order == OrderKind::Best,
        fixed: &[],
    };
    let start = Instant::now();
    let planned = search(task, request.time.mul_f64(SHARES[0]), session)?;
    // What the order has left over, too.
    let time = request.time.mul_f64(SHARES[0] + SHARES[1]);
    let time = time.saturating_sub(start.elapsed());
    let order = &planned.order;
    let search = |source: &mut Source, changes: &ChangeRequest, time| {
        WorkFront::search(source, order, changes, request.layout, kind, time, session)
    };
    let start = Instant::now();
    let mut fronts = vec![search(source, changes, time)?];
    if request.overlap.names_kernels() && changes.split && changes.patch {
        // Kernels may be unable to run patches, which hide bands that are larger by the formulas.
        let bands = ChangeRequest {
            patch: false,
            ..*changes
        };
        let time = time.saturating_sub(start.elapsed());
        fronts.push(search(source, &bands, time)?);
    }
    let (chosen, smallest) = if request.overlap.names_kernels() {
        smallest_measured(source, &fronts, request, session)?
    } else {
        (0, fronts[0].best())
    };
    match smallest.filter(|point| point.recipe.changes()) {
        Some(point) => source.follow(point.recipe.clone())?,
        None => source.follow_nothing(),
    }
    Ok(fronts.swap_remove(chosen))
}

/// At most this many ways are measured, beside the model as it is.
const MOST_MEASURED: usize = 3;

/// Of the smallest ways of these fronts that the kernels can run the one with the smallest arena on them,
/// and of equal ones that with the least work, with the position of its front: these may allow less than the
/// formulas say, and less of one than of another. `None` if it is the model as it is.
fn smallest_measured<'a>(
    source: &mut Source,
    fronts: &'a [WorkFront],
    request: &PlanRequest,
    session: &Session,
) -> Result<(usize, Option<&'a Point>), StudyError> {
    let time = request.time.mul_f64(SHARES[2] / 2.0);
    let measured = |source: &Source| {
        let planned = plan_as_it_is(source, request, time, session)?;
        Ok::<u64, StudyError>(planned.plan.arena_bytes)
    };
    let (mut points, mut refusal) = (Vec::new(), None);
    for (index, front) in fronts.iter().enumerate() {
        let (found, refused) = runnable(source, front, request)?;
        points.extend(found.into_iter().map(|point| (index, point)));
        refusal = refusal.or(refused);
    }
    points.sort_by_key(|(_, point)| point.extra_macs);
    let mut smallest = None;
    if !request.changes.slices {
        source.follow_nothing();
        smallest = Some((measured(source)?, (0, None)));
    }
    if let (true, Some(error)) = (points.is_empty() && smallest.is_some(), &refusal) {
        session
            .progress
            .note(&format!("{error}\n  {TILES_OF_FILES}"));
    }
    for (index, point) in points {
        source.follow(point.recipe.clone())?;
        match measured(source) {
            Ok(bytes) if smallest.is_none_or(|(least, _)| bytes < least) => {
                smallest = Some((bytes, (index, Some(point))));
            }
            Ok(_) => (),
            Err(error) => refusal = Some(error),
        }
    }
    match (smallest, refusal) {
        (Some((_, chosen)), _) => Ok(chosen),
        (None, Some(error)) => Err(error),
        (None, None) => Ok((0, fronts.first().and_then(WorkFront::best))),
    }
}

/// The smallest ways whose operators the kernels can run as far as those of the model, by their work; and
/// why a way is none of them.
fn runnable<'a>(
    source: &mut Source,
    front: &'a WorkFront,
    request: &PlanRequest,
) -> Result<(Vec<&'a Point>, Option<StudyError>), StudyError> {
    let kernels = request.overlap.kernels.clone().unwrap_or_default().load()?;
    let not_executed = |source: &Source| {
        let deployment = source.deploy(&kernels, KERNEL_LIMITS)?.into_model();
        let operators = deployment.not_executed();
        let operators = operators.map(|(operator, reason)| (operator, reason.to_string()));
        Ok::<Vec<(OperatorId, String)>, StudyError>(operators.collect())
    };
    source.follow_nothing();
    let unknown = not_executed(source)?;
    let is_unknown = |operator| unknown.iter().any(|(known, _)| *known == operator);
    let mut points: Vec<&Point> = front.front.points.iter().collect();
    points.retain(|point| point.recipe.changes());
    points.sort_by_key(|point| point.arena_bytes);
    let (mut runnable, mut refusal) = (Vec::new(), None);
    for point in points {
        source.follow(point.recipe.clone())?;
        let mut refused = not_executed(source)?.into_iter();
        match refused.find(|(operator, _)| !is_unknown(source.origin(*operator))) {
            Some((operator, reason)) => {
                let kind = source.graph().operators[operator.0].kind.to_string();
                let operator = source.origin(operator);
                refusal = Some(
                    PlanError::NotRunInTiles {
                        operator,
                        kind,
                        reason,
                    }
                    .into(),
                );
            }
            None => runnable.push(point),
        }
        if runnable.len() == MOST_MEASURED {
            break;
        }
    }
    runnable.sort_by_key(|point| point.extra_macs);
    Ok((runnable, refusal))
}

/// What is left where kernels cannot run the tiles of a plan.
const TILES_OF_FILES: &str = "hint: planned without; `--out FILE.tflite` makes tiles of the model's own operators, \
                              which these kernels may run";

/// Plans the model as it is now.
pub(super) fn plan_as_it_is(
    source: &Source,
    request: &PlanRequest,
    time: Duration,
    session: &Session,
) -> Result<Planned, StudyError> {
    ensure_measured_there(request.layout, request.overlap.names_kernels())?;
    let mut overlaps = OverlapSource::find(&request.overlap, source, session)?;
    if overlaps.kind == OverlapKind::None && request.changes.accumulate {
        overlaps.overlaps = overlaps::accumulating(&overlaps.graph);
        overlaps.accumulates = true;
    }
    let request = &PlanRequest {
        time,
        ..request.clone()
    };
    plan_with(source, overlaps, request, session)
}

/// Plans the model as it is now with overlaps that are known; nothing else of the request's
/// overlaps and changes counts.
///
/// # Errors
/// As [`plan`].
pub fn plan_with(
    source: &Source,
    overlaps: OverlapSource,
    request: &PlanRequest,
    session: &Session,
) -> Result<Planned, StudyError> {
    ensure_measured_there(request.layout, overlaps.measured.is_some())?;
    // Operators of several subgraphs run one another's; rows of an input come in order.
    let in_order = source.recipe().is_some_and(|recipe| recipe.slices);
    let reorder = request.order == OrderKind::Best && source.linked().is_none() && !in_order;
    let task = Task {
        graph: &overlaps.graph,
        overlaps: &overlaps.overlaps,
        layout: request.layout,
        reorder,
        fixed: &request.fixed,
    };
    let plan = search(task, request.time, session).about(&source.name)?;
    let file = plan_file(source, &overlaps, task, &plan)?;
    Ok(Planned {
        overlaps,
        plan,
        file,
        front: None,
        placed: None,
        fixed: request.fixed.clone(),
        reorder,
    })
}

/// Kernels are measured in buffers that are aligned as those of a call are; at other offsets they
/// may fault, or take another way.
pub(super) fn ensure_measured_there(layout: Layout, on_kernels: bool) -> Result<(), PlanError> {
    let (given, measured) = (layout.alignment, ALIGNMENT);
    if on_kernels && !given.is_multiple_of(measured.into()) {
        return Err(PlanError::BelowMeasured { given, measured });
    }
    Ok(())
}

/// What was found, complete in itself and checked.
fn plan_file(
    source: &Source,
    overlaps: &OverlapSource,
    task: Task<'_>,
    planned: &ModelPlan,
) -> Result<PlanFile, StudyError> {
    // The formulas grant what element-wise operators do.
    let kind = if overlaps.accumulates {
        OverlapKind::Analytic
    } else {
        overlaps.kind
    };
    let mut file = PlanFile::new(
        &source.name,
        source.sha256.clone(),
        kind.name(),
        task,
        planned,
    );
    let measured = overlaps.measured.as_ref();
    file.kernels = measured.map(|measured| measured.planned.clone());
    file.integer_io_sha256 = source.integer_io_sha256().cloned();
    file.pruned_sha256 = source.pruned_sha256().cloned();
    file.recipe = source.recipe().cloned();
    let tensors = file.offsets(task.graph.tensors.len());
    let scratch = file.scratch_positions();
    ensure_safe(task, &file.order, &tensors, &scratch).about(&source.name)?;
    Ok(file)
}

/// The last look at a plan before anyone sees it, by a check that shares nothing with the
/// planners.
pub(super) fn ensure_safe(
    task: Task<'_>,
    order: &[OperatorId],
    tensors: &[Option<u64>],
    scratch: &[(OperatorId, u64, u64)],
) -> Result<(), StudyError> {
    let positions = Positions {
        tensors,
        scratch,
        keep_inputs: task.layout.keep_inputs,
    };
    let found = clashes(task.graph, order, task.overlaps, positions, 1)?;
    let misaligned = misaligned(task.graph, tensors);
    if found.is_empty() && misaligned.is_empty() {
        Ok(())
    } else {
        Err(PlanError::Unsafe { found, misaligned }.into())
    }
}

pub(super) fn search(
    task: Task<'_>,
    time: impl Into<SearchTime>,
    session: &Session,
) -> Result<ModelPlan, ArenaError> {
    let running = session.begin(Work::Planning);
    let start = Instant::now();
    let mut reach = |progress| running.reach(State::Planning(progress, start.elapsed()));
    let planned = within_time(time, |budget| optimise(task, budget, &mut reach))?;
    if planned.stopped {
        session.progress.note(STOPPED);
    }
    Ok(planned)
}
