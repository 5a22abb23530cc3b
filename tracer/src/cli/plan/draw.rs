//! The pictures of a planned model.

use crate::cli::pictures;
use dmo_analysis::arena::Arena;
use dmo_analysis::graph::overlaps;
use dmo_analysis::schedule::lifetime::working_sets;
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, Problem};
use dmo_plot::{
    Figure, PlanPicture, draw_front, draw_plan, draw_plans, draw_working_sets, step_names,
};
use dmo_trace::study::emit::WrittenForm;
use dmo_trace::study::others::best_published;
use dmo_trace::study::placed::PlacedModel;
use dmo_trace::study::plan::Planned;
use dmo_trace::study::source::Source;
use std::path::Path;

/// Draws the plan, the best published plan without overlaps beside it, and the working sets
/// of the order, and the front of arena against work, where it was searched.
///
/// A form that was written is drawn in place of the plan.
pub fn draw(
    source: &Source,
    planned: &Planned,
    written: Option<&WrittenForm>,
    folder: &Path,
) -> anyhow::Result<()> {
    let (name, front) = (&source.name, &planned.front);
    let planned = written.map_or(planned, |form| &form.planned);
    let task = planned.task();
    let (graph, planned) = (task.graph, &planned.plan);
    let given = written.map_or(graph, |_| source.original());
    let file_order = given.file_order();
    let steps = step_names(graph, &planned.order);
    let after = PlanPicture {
        title: &format!("{name}: planned"),
        problem: &planned.arena.problem,
        plan: &planned.plan,
        steps: &steps,
    };
    let mut figures = vec![draw_plan(&after)?];
    let apart = Arena::new(given, &file_order, &overlaps::none(given), task.layout)?;
    if let Some((title, plan)) = best_published(&apart.problem) {
        let before_steps = step_names(given, &file_order);
        let before = PlanPicture {
            title: &format!("Best published planner: {title}"),
            problem: &apart.problem,
            plan: &plan,
            steps: &before_steps,
        };
        let after = PlanPicture {
            title: "This plan",
            ..after
        };
        figures.push(draw_plans(name, &before, &after)?);
    }
    // What lies in another tensor would be counted twice.
    if graph.views.is_empty() {
        let sets = working_sets(graph, &planned.order, task.layout.counted)?;
        figures.push(draw_working_sets(graph, &sets)?);
    }
    if let Some(front) = front {
        figures.push(draw_front(name, &front.front.points, front.macs)?);
    }
    pictures::write_all(&figures, folder)
}

/// Draws what lies in each of several memories, if anything does.
pub fn draw_memories(
    name: &str,
    planned: &Planned,
    placed: &PlacedModel,
    folder: &Path,
) -> anyhow::Result<()> {
    let steps = step_names(&planned.overlaps.graph, &planned.plan.order);
    let buffers = placed.arena.problem.buffers();
    let mut figures: Vec<Figure> = Vec::with_capacity(placed.regions.len());
    for known in placed.regions.iter().filter(|known| known.used_bytes > 0) {
        let bytes = known.start..known.end();
        let inside = buffers.iter().zip(&placed.offsets);
        let inside = inside.filter(|(_, offset)| bytes.contains(offset));
        let (buffers, offsets): (Vec<Buffer>, Vec<u64>) = inside
            .map(|(buffer, offset)| (buffer.clone(), offset - bytes.start))
            .unzip();
        let figure = draw_plan(&PlanPicture {
            title: &format!("{name}: {}", known.region.name),
            problem: &Problem::new(buffers, &[])?,
            plan: &Plan { offsets },
            steps: &steps,
        })?;
        figures.push(Figure {
            name: unique(figure.name, &figures),
            ..figure
        });
    }
    pictures::write_all(&figures, folder)
}

/// The name, with a number where another figure has it: names of memories that differ may give files
/// of one name.
fn unique(name: String, others: &[Figure]) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    names.find(is_free).unwrap_or(name)
}
