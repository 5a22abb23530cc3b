//! Writing a plan as JSON, as C, or into the model.

use super::source::Source;
use crate::cli::output;
use anyhow::Context;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, tflite};
use dmo_analysis::handover::{PlanFile, tiled};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::transform::Recipe;
use dmo_analysis::wording::grouped;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::path::Path;
use std::time::Duration;

enum Form {
    Json,
    Header,
    Model,
}

fn form(path: &Path) -> anyhow::Result<Form> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Ok(Form::Json),
        Some("h") => Ok(Form::Header),
        Some("tflite") => Ok(Form::Model),
        _ => anyhow::bail!(
            "cannot emit {}: its name has to end in .json, .h or .tflite",
            path.display()
        ),
    }
}

/// Whether the file can be written for this model, before any work is done.
pub fn check(path: &Path, source: &Source, alignment: u64) -> anyhow::Result<()> {
    let form = form(path)?;
    if let (Form::Header, Some(_)) = (&form, source.recipe()) {
        anyhow::bail!(
            "cannot emit {}: a changed model has other operators, which only .json and .tflite tell",
            path.display()
        );
    }
    if let (Form::Model, Some(recipe)) = (&form, source.recipe())
        && !(recipe.in_place.is_empty() && recipe.removed.is_empty())
    {
        anyhow::bail!(
            "cannot emit {}: no standard operator works in place, or is left out\n  hint: --allow \
             split,patch",
            path.display()
        );
    }
    if let Form::Model = form {
        let shown = path.display();
        if let Some(obstacle) = no_file(source) {
            anyhow::bail!("cannot emit {shown}: {obstacle}");
        }
        anyhow::ensure!(
            alignment.is_multiple_of(ALIGNMENT),
            "cannot emit {shown} with --align {alignment}: TensorFlow Lite Micro needs multiples \
             of {ALIGNMENT}"
        );
    }
    Ok(())
}

/// Why TensorFlow Lite Micro could not use a plan of this model.
pub fn obstacle(source: &Source) -> Option<&'static str> {
    match source.recipe() {
        Some(_) => Some("it has no kernels for the operators of a changed model"),
        None => no_file(source),
    }
}

/// Why no model file can be written.
fn no_file(source: &Source) -> Option<&'static str> {
    if source.file.is_none() {
        Some("there is no model file (`dmo-trace zoo` exports one)")
    } else if source.model.graphs.len() > 1 {
        Some(
            "the model has several subgraphs, for each of which TensorFlow Lite Micro reads the \
             offsets of the first",
        )
    } else {
        None
    }
}

/// The file's content.
pub fn content(path: &Path, source: &Source, plan: &PlanFile) -> anyhow::Result<Vec<u8>> {
    let tensors = source.graph().tensors.len();
    Ok(match form(path)? {
        Form::Json => (serde_json::to_string_pretty(plan)? + "\n").into_bytes(),
        Form::Header if plan.arena_bytes > i32::MAX as u64 => anyhow::bail!(
            "cannot emit {}: offsets in an arena of {} bytes do not fit in int32_t",
            path.display(),
            plan.arena_bytes
        ),
        Form::Header => plan.c_header(tensors).into_bytes(),
        Form::Model => {
            let file = source.file.as_deref().context("there is no model file")?;
            if let Some(recipe) = source.recipe() {
                return standard(path, source.original(), file, recipe, plan);
            }
            let offsets = plan
                .offsets(tensors)
                .into_iter()
                .map(|offset| match offset {
                    Some(offset) => i32::try_from(offset)
                        .with_context(|| format!("offset {offset} does not fit in 31 bits")),
                    None => Ok(-1),
                });
            let offsets = offsets.collect::<anyhow::Result<Vec<i32>>>()?;
            tflite::with_plan(file, Some(&plan.order), &offsets)
                .with_context(|| format!("cannot emit {}", path.display()))?
        }
    })
}

/// The model in tiles, of operators that TensorFlow Lite Micro has, with a plan of its own.
fn standard(
    path: &Path,
    graph: &Graph,
    file: &[u8],
    recipe: &Recipe,
    plan: &PlanFile,
) -> anyhow::Result<Vec<u8>> {
    /// What the search for the plan may take.
    const TIME: Duration = Duration::from_secs(10);
    let shown = path.display();
    let overlaps = |graph: &Graph| match plan.overlap.as_str() {
        // Of kernels that were measured nothing is known of the operators that are added.
        "analytic" => overlaps::analytic(graph),
        _ => overlaps::none(graph),
    };
    let tiled = tiled(file, recipe, overlaps, TIME, &mut |_| ())
        .with_context(|| format!("cannot emit {shown}"))?;
    let (needs, plain) = (
        tiled.device.arena_bytes,
        plain_bytes(graph, overlaps, TIME)?,
    );
    output::message(&format!(
        "{shown}: slices, paddings and concatenations in place of parts of tensors; TensorFlow \
         Lite Micro needs {} bytes for its tensors, {} without tiles{}",
        grouped(needs),
        grouped(plain),
        if needs < plain {
            ""
        } else {
            ": NO GAIN\n  hint: fewer tiles (--max-recompute), or no --allow"
        }
    ));
    Ok(tiled.file)
}

/// What the model needs as it is, with a plan for TensorFlow Lite Micro.
fn plain_bytes(
    graph: &Graph,
    overlaps: impl Fn(&Graph) -> Overlaps,
    time: Duration,
) -> anyhow::Result<u64> {
    let task = Task {
        graph,
        overlaps: &overlaps(graph),
        layout: Layout::tflm(),
        reorder: true,
        fixed: &[],
    };
    Ok(optimise(task, time, &mut |_| ())?.arena_bytes)
}
