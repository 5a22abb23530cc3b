//! What a planned model would need with other planners, on TensorFlow Lite Micro, and with other
//! kernels.

use super::emit;
use super::error::StudyError;
use super::plan::Planned;
use super::search_time::within_time;
use super::session::{Session, Work};
use super::source::Source;
use dmo_analysis::arena::{Arena, ArenaError, Layout};
use dmo_analysis::graph::overlaps;
use dmo_analysis::handover::OnDevice;
use dmo_analysis::optimise::{Task, WhatIf, what_if};
use dmo_planner::budget::work_in;
use dmo_planner::plan::tflm::ALIGNMENT;
use dmo_planner::plan::{Family, Plan, STRATEGIES, Strategy};
use dmo_planner::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// What one planner needs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Planner {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub title: &'static str,
    /// Who has published it.
    pub source: &'static str,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// Whether the plan passed the geometric check.
    pub valid: bool,
}

impl Planner {
    /// Runs the planner; `None` where it cannot plan the problem.
    pub fn of(strategy: &Strategy, problem: &Problem) -> Option<Self> {
        let plan = strategy.plan(problem)?;
        Some(Self {
            name: strategy.name,
            title: strategy.title,
            source: strategy.source,
            arena_bytes: plan.arena_bytes(problem),
            valid: plan.check(problem).is_empty(),
        })
    }

    /// What each planner needs for a model, its operators in the file's order.
    ///
    /// # Errors
    /// When the sizes make no problem.
    pub fn all(task: Task<'_>) -> Result<Vec<Self>, ArenaError> {
        let order = task.graph.file_order();
        let arena = Arena::new(task.graph, &order, task.overlaps, task.layout)?;
        let apart = Arena::new(task.graph, &order, &overlaps::none(task.graph), task.layout)?;
        let rows = STRATEGIES.iter().filter_map(|strategy| {
            // Without overlaps there are no aliases either.
            let problem = if strategy.uses_overlaps {
                &arena.problem
            } else {
                &apart.problem
            };
            Self::of(strategy, problem)
        });
        Ok(rows.collect())
    }
}

/// The smallest plan of the published planners without overlaps, and what its authors call the
/// planner; `None` where none of them can plan the problem.
pub fn best_published(apart: &Problem) -> Option<(&'static str, Plan)> {
    // Of equal ones not the shared objects, which waste room in a picture.
    let plans = STRATEGIES
        .iter()
        .filter(|strategy| strategy.is_published() && !strategy.uses_overlaps)
        .filter_map(|strategy| Some((strategy, strategy.plan(apart)?)));
    let (strategy, plan) = plans.min_by_key(|(strategy, plan)| {
        let arena_bytes = plan.arena_bytes(apart);
        (arena_bytes, strategy.family == Family::SharedObjects)
    })?;
    Some((strategy.title, plan))
}

/// What TensorFlow Lite Micro needs, by itself and with the plan; `None` where it could not use
/// the plan.
///
/// # Errors
/// When an offset of the plan is not a multiple of 16.
pub fn on_tflm(source: &Source, planned: &Planned) -> Result<Option<[OnDevice; 2]>, StudyError> {
    let Layout {
        alignment,
        keep_inputs,
        ..
    } = planned.file.layout;
    if !alignment.is_multiple_of(ALIGNMENT) || !emit::tflm_can_obey(source, planned) {
        return Ok(None);
    }
    let graph = emit::device_graph(planned);
    let carried = source.obeyed_offsets();
    let carried = carried.unwrap_or_else(|| vec![None; graph.tensors.len()]);
    let own = source.on_device(graph, &graph.file_order(), &carried, false)?;
    let offsets = planned.plan.arena.tensor_offsets(&planned.plan.plan);
    let with_plan = source.on_device(graph, &planned.plan.order, &offsets, keep_inputs)?;
    Ok(Some([own, with_plan]))
}

/// What the loops of the kernels cost the arena, beside those of the reference kernels.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LoopOrderCost {
    /// For each operator whose reference kernel allows more, the arena with that.
    pub operators: Vec<WhatIf>,
    /// The arena with that for all of them, in bytes.
    pub together_bytes: u64,
}

/// What one search may take: there is one for each operator.
const WHAT_IF_TIME: Duration = Duration::from_secs(1);

impl LoopOrderCost {
    /// Plans again with what the reference kernels allow, operator by operator.
    ///
    /// # Errors
    /// When there is no plan with that.
    pub fn of(planned: &Planned, session: &Session) -> Result<Self, ArenaError> {
        let running = session.begin(Work::OtherKernels);
        let task = planned.task();
        let analytic = overlaps::analytic(task.graph);
        let searches = task.graph.operators.len() as u32 + 1;
        let each = work_in(WHAT_IF_TIME.as_secs_f64());
        let mut reach = |done, all| running.parts(done, all);
        let (operators, together_bytes) = within_time(WHAT_IF_TIME * searches, |budget| {
            what_if(task, &planned.plan, &analytic, each, budget, &mut reach)
        })?;
        Ok(Self {
            operators,
            together_bytes,
        })
    }
}
