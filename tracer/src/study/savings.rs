//! The ways of saving memory, one added to the other.

use super::error::{About, StudyError};
use super::kernel_request::KernelRequest;
use super::search_time::within_time;
use super::source::Source;
use super::{KERNEL_LIMITS, SEARCH_TIME};
use crate::mcu::cycles::{Cycles, FlashTiming};
use crate::mcu::machine::Observation;
use crate::model::verify::{model_inputs, without_overlaps};
use crate::model::{Deployment, Inference};
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::OperatorId;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::transform::front::{Front, Search, front};
use dmo_analysis::transform::{Recipe, apply, macs};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// A way of saving memory together with all those above it.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Row {
    /// What is added.
    pub added: &'static str,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No arena for these operators in this order is smaller, in bytes.
    pub bound_bytes: u64,
    /// Multiply-accumulates that are computed again.
    pub extra_macs: u64,
    /// What is done to the model, where its operators are changed.
    pub recipe: Option<Recipe>,
    /// Instructions of one inference on the reference kernels; `None` where it was not run.
    pub instructions: Option<u64>,
    /// Estimated cycles of it; `None` where it was not run, or they are not known.
    pub cycles: Option<Cycles>,
}

/// How a model's savings are measured.
#[derive(Debug, Clone, Copy)]
pub struct SavingsRequest {
    /// What the arena holds, and how.
    pub layout: Layout,
    /// The search for runs to be split ends after this time.
    pub time: Duration,
    /// A model of at most this many multiply-accumulates is run; `None`: no model is.
    pub most_run_macs: Option<u64>,
    /// Flash memory that makes the CPU wait, as far as cycles are estimated.
    pub flash_timing: Option<FlashTiming>,
}

impl Default for SavingsRequest {
    fn default() -> Self {
        Self {
            layout: Layout::tflm(),
            time: SEARCH_TIME,
            most_run_macs: None,
            flash_timing: None,
        }
    }
}

/// What is saved of a model's memory.
pub struct Savings {
    /// Multiply-accumulates of the model.
    pub macs: u64,
    /// The ways of saving, each added to those before.
    pub rows: Vec<Row>,
    /// What memory can be had for what work.
    pub front: Front,
    /// A search was stopped by the clock ([`super::search_time::STOPPED`]).
    pub stopped: bool,
    /// Why the model was not run, where it was to be.
    pub not_run: Option<StudyError>,
}

/// Recomputation that is allowed, in percent.
const LEVELS: [(&str, u64); 4] = [
    ("+ tiles, 0 % recomputed", 0),
    ("+ tiles, up to 5 %", 5),
    ("+ tiles, up to 10 %", 10),
    ("+ tiles, up to 25 %", 25),
];

/// What a plan of a row may take.
const PLAN: Duration = Duration::from_secs(5);

/// Plans a model in each way. One that cannot run on the reference kernels is planned all the
/// same.
///
/// # Errors
/// When the model cannot be planned.
pub fn savings(source: &Source, request: &SavingsRequest) -> Result<Savings, StudyError> {
    let SavingsRequest {
        layout,
        time,
        most_run_macs,
        flash_timing,
    } = *request;
    source.ensure_changeable()?;
    let graph = source.graph();
    let macs = macs::of_graph(graph);
    let plan = |overlaps: &Overlaps, reorder: bool| {
        let task = Task {
            graph,
            overlaps,
            layout,
            reorder,
            fixed: &[],
        };
        within_time(PLAN, |budget| optimise(task, budget, &mut |_| ()))
    };
    let none = overlaps::none(graph);
    let mut rows = vec![Row {
        added: "no reuse",
        arena_bytes: graph.naive_bytes(),
        bound_bytes: graph.naive_bytes(),
        ..Row::of_plan("", &plan(&none, false)?)
    }];
    rows.push(Row::of_plan("planned", &plan(&none, false)?));
    rows.push(Row::of_plan("+ order", &plan(&none, true)?));
    let overlapped = plan(&overlaps::analytic(graph), true)?;
    rows.push(Row::of_plan("+ overlaps", &overlapped));
    let removable = source.removable()?;
    let extra_macs = |percent: u64| (u128::from(macs) * u128::from(percent) / 100) as u64;
    let search = |remove: &[OperatorId], tiles: bool, percent: u64, time: Duration| {
        let search = Search {
            graph,
            order: &overlapped.order,
            overlaps: &overlaps::analytic,
            layout,
            in_place: true,
            remove: remove.to_vec(),
            bands: tiles,
            patches: tiles,
            cached: false,
            most_extra_macs: extra_macs(percent),
            slices: false,
        };
        within_time(time, |budget| front(&search, budget, &mut |_, _, _| ()))
    };
    let in_place = search(&[], false, 0, PLAN)?;
    rows.push(Row::best("+ in place", &in_place, 0));
    let removed = search(&removable, false, 0, PLAN)?;
    rows.push(Row::best("+ removal", &removed, 0));
    let most = LEVELS.iter().map(|level| level.1).max().unwrap_or(0);
    let found = search(&removable, true, most, time)?;
    let levels = LEVELS.iter();
    rows.extend(levels.map(|&(added, percent)| Row::best(added, &found, extra_macs(percent))));
    let not_run = if most_run_macs.is_some_and(|most| macs <= most) {
        run_each(source, &mut rows, flash_timing).err()
    } else {
        None
    };
    Ok(Savings {
        macs,
        rows,
        stopped: in_place.stopped || removed.stopped || found.stopped || overlapped.stopped,
        front: found,
        not_run,
    })
}

impl Row {
    fn of_plan(added: &'static str, plan: &ModelPlan) -> Self {
        Self {
            added,
            arena_bytes: plan.arena_bytes,
            bound_bytes: plan.order_bound_bytes,
            ..Self::default()
        }
    }

    /// The smallest arena for at most so much work.
    fn best(added: &'static str, front: &Front, most_extra_macs: u64) -> Self {
        let points = front.points.iter();
        let affordable = points.filter(|point| point.extra_macs <= most_extra_macs);
        let best = affordable.min_by_key(|point| point.arena_bytes);
        let row = best.map(|best| Self {
            arena_bytes: best.arena_bytes,
            bound_bytes: best.bound_bytes,
            extra_macs: best.extra_macs,
            recipe: Some(best.recipe.clone()).filter(Recipe::changes),
            ..Self::default()
        });
        Self {
            added,
            ..row.unwrap_or_default()
        }
    }
}

/// Runs the model once for each different way to compute it.
fn run_each(
    source: &Source,
    rows: &mut [Row],
    flash_timing: Option<FlashTiming>,
) -> Result<(), StudyError> {
    let request = KernelRequest {
        flash_timing,
        ..KernelRequest::default()
    };
    let kernels = request.load()?;
    let original = source.deploy(&kernels, KERNEL_LIMITS)?.into_model();
    let original = original.complete().about(&source.name)?;
    let mut known: Vec<(Option<Recipe>, Work)> = Vec::new();
    for row in rows {
        let same = known.iter().find(|(recipe, _)| *recipe == row.recipe);
        let work = match (same, &row.recipe) {
            (Some((_, work)), _) => *work,
            (None, None) => inference(&original)?,
            (None, Some(recipe)) => {
                let transformed = apply(source.graph(), recipe)?;
                let changed = original.transformed(&transformed, KERNEL_LIMITS)?;
                inference(&changed.complete()?)?
            }
        };
        known.push((row.recipe.clone(), work));
        (row.instructions, row.cycles) = (Some(work.0), work.1);
    }
    Ok(())
}

/// Instructions, and estimated cycles if they are known.
type Work = (u64, Option<Cycles>);

/// One inference without overlaps.
fn inference(deployment: &Deployment) -> Result<Work, StudyError> {
    let order = deployment.graph.file_order();
    let apart = without_overlaps(deployment, &order)?;
    let mut inference = Inference::new(deployment, &apart, 0, Observation::Watch, KERNEL_LIMITS)?;
    inference.count_cycles();
    inference.infer(&model_inputs(deployment, 0), &order)?;
    Ok((inference.instructions(), inference.cycles()))
}
