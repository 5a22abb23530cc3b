//! A model whose operators run tile by tile, for TensorFlow Lite Micro as it is.

use super::rewrite;
use super::{OnDevice, on_device};
use crate::arena::{ArenaError, Layout};
use crate::graph::Graph;
use crate::graph::overlaps::Overlaps;
use crate::graph::tflite::{self, TfliteError};
use crate::optimise::{ModelPlan, Progress, Task, optimise};
use crate::transform::standard::{Standard, standard};
use crate::transform::{Recipe, TransformError};
use dmo_planner::budget::Budget;

/// A model of standard operators, with its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledModel {
    /// The model's file: operators in the order of the plan, which is its metadata.
    pub file: Vec<u8>,
    /// Its graph, before it was ordered, and where the parts of it come from.
    pub standard: Standard,
    /// The plan.
    pub planned: ModelPlan,
    /// What TensorFlow Lite Micro makes of it.
    pub device: OnDevice,
}

/// Why a model cannot be handed over in tiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TiledError {
    #[error(transparent)]
    Transform(#[from] TransformError),
    #[error(transparent)]
    File(#[from] TfliteError),
    #[error(transparent)]
    Arena(#[from] ArenaError),
}

/// The model that follows a recipe in standard operators ([`standard`]) and carries a plan of
/// its arena, in this layout. `overlaps` is asked what the new graph's operators may overlap on the kernels that
/// are to run it: [`none`](crate::graph::overlaps::none) is right for all. Operators keep the
/// recipe's order.
///
/// # Errors
/// When the file is no model of one subgraph, or the recipe cannot be followed in standard
/// operators.
pub fn tiled(
    file: &[u8],
    recipe: &Recipe,
    layout: Layout,
    overlaps: impl FnOnce(&Graph) -> Overlaps,
    budget: &mut Budget<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<TiledModel, TiledError> {
    let model = tflite::read(file)?;
    let graph = model.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let standard = standard(graph, recipe)?;
    let rewritten = rewrite(file, &standard)?;
    let task = Task {
        graph: &standard.graph,
        overlaps: &overlaps(&standard.graph),
        layout,
        reorder: false,
        fixed: &[],
    };
    let planned = optimise(task, budget, progress)?;
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let device = on_device(
        &standard.graph,
        &planned.order,
        &offsets,
        layout.keep_inputs,
    )?;
    let word = |offset: &Option<u64>| match offset {
        None => Ok(-1),
        Some(offset) => i32::try_from(*offset).map_err(|_| {
            TfliteError::Plan(format!(
                "the plan has a tensor at byte {offset}, expected at most {}",
                i32::MAX
            ))
        }),
    };
    let words: Vec<i32> = offsets.iter().map(word).collect::<Result<_, _>>()?;
    Ok(TiledModel {
        file: tflite::with_plan(&rewritten, Some(&planned.order), &words)?,
        standard,
        planned,
        device,
    })
}
