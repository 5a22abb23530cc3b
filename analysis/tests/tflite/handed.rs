//! A model handed over in tiles with a plan of its own.

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::Overlaps;
use dmo_analysis::graph::{Graph, tflite};
use dmo_analysis::handover::{OnDevice, TiledError, on_device, tiled};
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::transform::Recipe;
use dmo_analysis::transform::standard::Standard;
use dmo_planner::budget::Budget;

pub struct Handed {
    /// The file with the plan.
    pub file: Vec<u8>,
    pub standard: Standard,
    pub planned: ModelPlan,
    /// What TensorFlow Lite Micro makes of it.
    pub device: OnDevice,
}

/// The model that follows the recipe, planned for `seconds`.
pub fn hand_over(
    file: &[u8],
    recipe: &Recipe,
    overlaps: fn(&Graph) -> Overlaps,
    seconds: f64,
) -> Result<Handed, TiledError> {
    let model = tiled(file, recipe)?;
    let graph = &model.standard.graph;
    let layout = Layout::tflm();
    let task = Task {
        graph,
        overlaps: &overlaps(graph),
        layout,
        reorder: false,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_seconds(seconds), &mut |_| {}).unwrap();
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let device = on_device(graph, &planned.order, &offsets, layout.keep_inputs).unwrap();
    let word = |offset: &Option<u64>| offset.map_or(-1, |it| i32::try_from(it).unwrap());
    let words: Vec<i32> = offsets.iter().map(word).collect();
    Ok(Handed {
        file: tflite::with_plan(&model.file, Some(&planned.order), &words)?,
        standard: model.standard,
        planned,
        device,
    })
}
