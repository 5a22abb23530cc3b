//! Which changes would make a planned arena smaller: other operators, or other kernels.

use super::build::default_kernels;
use super::change::{ChangeRequest, WorkFront};
use super::error::{About, StudyError};
use super::kernel_request::KernelRequest;
use super::overlap_source::{OverlapKind, OverlapRequest};
use super::plan::{OrderKind, PlanRequest, Planned, plan_as_it_is};
use super::search_time::{SearchTime, within_time};
use super::session::{Session, Work};
use super::source::Source;
use crate::codegen::kernel_sources::{DSP, PLAIN};
use crate::kernels::images;
use dmo_analysis::graph::overlaps::{self, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::optimise::{ModelPlan, WhatIf, what_if};
use dmo_planner::budget::work_in;
use dmo_planner::plan::peak_buffers;
use std::time::Duration;

/// The work that the search for tiles may take.
const TILES_TIME: Duration = Duration::from_secs(2);

/// The work that the search for one operator's better kernel may take.
const KERNEL_TIME: Duration = Duration::from_millis(250);

/// For at most this many operators better kernels are tried.
const MOST_KERNELS: usize = 6;

/// Changes that were tried.
#[derive(Debug, Clone)]
pub struct Remedies {
    /// What memory can be had for what work; `None` if the model cannot be changed.
    pub front: Option<WorkFront>,
    /// The front was searched although the plan may change nothing.
    pub is_suggestion: bool,
    /// For each operator that runs at the peak, the arena if its outputs could overlap its inputs
    /// as far as any kernel could allow: both may start at the same byte.
    pub kernels: Vec<WhatIf>,
    /// Better kernels were tried.
    pub has_tried_kernels: bool,
    /// The plan for kernels of our own in place of CMSIS-NN's, where those are what it is for.
    pub own_kernels: Option<OwnKernels>,
}

/// A plan for a set of kernels that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnKernels {
    /// The set's name.
    pub set: &'static str,
    /// Bytes of its arena.
    pub arena_bytes: u64,
}

impl Remedies {
    /// None.
    pub fn untried() -> Self {
        Self {
            front: None,
            is_suggestion: false,
            kernels: Vec::new(),
            has_tried_kernels: false,
            own_kernels: None,
        }
    }

    /// Searches for them, a few seconds at most. The source is that of the plan.
    ///
    /// # Errors
    /// When the model makes no planning problem.
    pub fn search(
        source: &Source,
        planned: &Planned,
        session: &Session,
    ) -> Result<Self, StudyError> {
        let is_free = source.recipe().is_none()
            && planned.file.fixed.is_empty()
            && source.ensure_changeable().is_ok();
        let front = match &planned.front {
            Some(front) => Some(front.clone()),
            None if is_free => Some(tiles(source, planned, session)?),
            None => None,
        };
        Ok(Self {
            front,
            is_suggestion: planned.front.is_none(),
            has_tried_kernels: planned.overlaps.graph.views.is_empty(),
            kernels: kernels(planned, session).about(&source.name)?,
            own_kernels: own_kernels(source, planned, session),
        })
    }
}

impl Remedies {
    /// Something beyond what the plan was allowed was tried.
    pub fn has_tried_any(&self) -> bool {
        self.is_suggestion && self.front.is_some() || self.has_tried_kernels
    }
}

/// The set of ours for a plan whose kernels are those of a CMSIS-NN that is not built in, where that
/// computes some of the operators.
pub fn set_in_place_of_cmsis_nn(planned: &Planned) -> Option<&'static str> {
    let measured = planned.overlaps.measured.as_ref()?;
    let mut functions = measured.planned.functions.iter().flatten();
    let is_of_cmsis_nn = functions.any(|name| name.starts_with("arm_"));
    if !images::cpus_of(&measured.planned.name).is_empty() || !is_of_cmsis_nn {
        return None;
    }
    Some(match default_kernels(Some(&measured.planned.cpu)) {
        PLAIN => PLAIN,
        _ => DSP,
    })
}

/// What they would give; `None` if they cannot run the model.
fn own_kernels(source: &Source, planned: &Planned, session: &Session) -> Option<OwnKernels> {
    let set = set_in_place_of_cmsis_nn(planned)?;
    let measured = planned.overlaps.measured.as_ref()?;
    let kernels = KernelRequest {
        kernels: set.to_owned(),
        cpu: Some(measured.planned.cpu.clone()),
        ..KernelRequest::default()
    };
    let request = PlanRequest {
        overlap: OverlapRequest {
            kind: OverlapKind::Traced,
            kernels: Some(kernels),
            inputs: measured.inputs,
        },
        layout: planned.file.layout,
        order: if planned.task().reorder {
            OrderKind::Best
        } else {
            OrderKind::File
        },
        ..PlanRequest::default()
    };
    let other = plan_as_it_is(source, &request, request.time, session).ok()?;
    Some(OwnKernels {
        set,
        arena_bytes: other.plan.arena_bytes,
    })
}

/// What running operators in tiles would give.
fn tiles(source: &Source, planned: &Planned, session: &Session) -> Result<WorkFront, StudyError> {
    let changes = ChangeRequest {
        split: true,
        patch: true,
        ..ChangeRequest::default()
    };
    let (order, layout) = (&planned.plan.order, planned.file.layout);
    let kind = planned.overlaps.kind;
    let time = SearchTime::patient(TILES_TIME);
    WorkFront::search(source, order, &changes, layout, kind, time, session)
}

/// What better kernels at the peak would give.
fn kernels(
    planned: &Planned,
    session: &Session,
) -> Result<Vec<WhatIf>, dmo_analysis::arena::ArenaError> {
    let task = planned.task();
    if !task.graph.views.is_empty() {
        return Ok(Vec::new());
    }
    let running = session.begin(Work::OtherKernels);
    let mut other = overlaps::none(task.graph);
    for operator in operators_at_peak(&planned.plan) {
        other[operator.0] = every_overlap(task.graph, operator);
    }
    let searches = MOST_KERNELS as u32 + 1;
    let each = work_in(KERNEL_TIME.as_secs_f64());
    let mut reach = |done, all| running.parts(done, all);
    let time = SearchTime::patient(KERNEL_TIME * searches);
    let (found, _) = within_time(time, |budget| {
        what_if(task, &planned.plan, &other, each, budget, &mut reach)
    })?;
    Ok(found)
}

/// The most that any kernel could allow.
fn every_overlap(graph: &Graph, operator: OperatorId) -> Vec<SafeOverlap> {
    let node = &graph.operators[operator.0];
    let outputs = graph.arena_outputs(node);
    let pairs = graph.arena_inputs(node).into_iter();
    let pairs = pairs.flat_map(|input| outputs.iter().map(move |&output| (input, output)));
    pairs
        .filter(|(input, output)| input != output)
        .map(|(input, output)| SafeOverlap {
            input,
            output,
            sharing: Sharing::Displaced(0),
        })
        .collect()
}

/// The operators that run while most of the buffers are alive that hold the arena up, the first
/// few.
pub fn operators_at_peak(planned: &ModelPlan) -> Vec<OperatorId> {
    let problem = &planned.arena.problem;
    let peak = peak_buffers(problem, &planned.plan);
    let sections = problem.sections();
    let held = |alive: &[usize]| alive.iter().filter(|&&buffer| peak[buffer]).count();
    let most = sections.iter().map(|section| held(&section.alive)).max();
    let fullest = sections
        .iter()
        .filter(|section| Some(held(&section.alive)) == most);
    let steps = fullest.flat_map(|section| section.steps.clone());
    // In step 0 the application stores the inputs.
    let operators = steps.filter_map(|step| {
        let index = (step as usize).checked_sub(1)?;
        planned.order.get(index).copied()
    });
    operators.take(MOST_KERNELS).collect()
}
