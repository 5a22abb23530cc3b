//! The page of a plan.

use super::layers::{MeasuredPart, rows};
use super::map::{ArenaMap, Group, Layout, OverlapFact};
use super::peak::{self, Peak};
use super::{Fact, Page, SCHEMA, front, text};
use crate::model::overlaps::KernelOverlaps;
use crate::study::others::best_published;
use crate::study::plan::Planned;
use crate::study::remedies::Remedies;
use crate::study::source::Source;
use crate::words::plan::PlanReport;
use dmo_analysis::arena::{Arena, ArenaError, Layout as ArenaLayout};
use dmo_analysis::graph::overlaps::{self, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::transform::Recipe;
use dmo_analysis::wording::{bytes, counted, grouped};
use dmo_planner::plan::peak_buffers;
use std::collections::HashMap;

/// The page of a plan and of its report.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn page(
    source: &Source,
    planned: &Planned,
    report: &PlanReport,
    tried: &Remedies,
) -> Result<Page, ArenaError> {
    let graph = &planned.overlaps.graph;
    let map = planned_map(source, planned);
    // Of a changed model the one that was given; of others with the scratch memory of the kernels.
    let unchanged = source.recipe().map_or(graph, |_| source.original());
    let before = map_without_overlaps(unchanged, planned.file.layout)?;
    let measured = planned.overlaps.measured.as_ref();
    let measured = measured.map_or(HashMap::new(), |measured| parts(&measured.layers));
    let layers = rows(graph, &map, |operator| source.origin(operator), &measured);
    let facts = facts(planned, report, before.as_ref());
    Ok(Page {
        schema: SCHEMA,
        model: text::name(&source.name),
        command: "plan",
        verdict: None,
        facts,
        peak: Some(Peak {
            buffers: peak::buffers(&map),
            remedies: Some(peak::remedies(graph, tried, map.arena_bytes)),
        }),
        maps: [Some(map), before].into_iter().flatten().collect(),
        front: front::chart(tried, planned.file.recipe.as_ref()),
        layers,
        witnesses: Vec::new(),
        notes: report.remarks().iter().map(|it| text::message(it)).collect(),
    })
}

/// The arena as planned.
pub fn planned_map(source: &Source, planned: &Planned) -> ArenaMap {
    let (graph, plan) = (&planned.overlaps.graph, &planned.plan);
    let peak = peak_buffers(&plan.arena.problem, &plan.plan);
    let layout = Layout::of_plan(graph, &plan.order, &plan.arena, &plan.plan.offsets, &peak);
    let facts = granted(graph, &planned.overlaps.overlaps, planned, &layout);
    let mut map = layout.map("This plan".to_owned(), &facts);
    if let Some(recipe) = source.recipe() {
        map.groups = groups(recipe, &map, |operator| source.origin(operator));
    }
    map
}

/// What each operator may overlap.
fn granted(
    graph: &Graph,
    granted: &[Vec<SafeOverlap>],
    planned: &Planned,
    layout: &Layout<'_>,
) -> Vec<OverlapFact> {
    let source = match &planned.overlaps.measured {
        Some(measured) if !measured.layers.is_empty() => {
            format!("measured on {}", text::name(&measured.planned.name))
        }
        _ => "by formula, for TensorFlow Lite's reference kernels".to_owned(),
    };
    let operators = granted.iter().enumerate();
    let pairs = operators.flat_map(|(operator, pairs)| pairs.iter().map(move |it| (operator, it)));
    pairs
        .map(|(operator, pair)| {
            let size = |id: TensorId| graph.tensor(id).size_bytes;
            let (input, output) = (size(pair.input), size(pair.output));
            let (safe, needed) = match pair.sharing {
                Sharing::Alias => (input.min(output), None),
                Sharing::Displaced(least) => (output.saturating_sub(least), Some(least)),
            };
            OverlapFact {
                operator,
                input: pair.input.0,
                output: pair.output.0,
                safe_overlap_bytes: Some(safe),
                needed_bytes: needed.and_then(|bytes| i64::try_from(bytes).ok()),
                distance_bytes: layout.distance(pair.input, pair.output),
                source: source.clone(),
                binding: Vec::new(),
            }
        })
        .collect()
}

/// The model in the file's order as the best published planner places it without overlaps; `None`
/// where none of them can.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn map_without_overlaps(
    graph: &Graph,
    layout: ArenaLayout,
) -> Result<Option<ArenaMap>, ArenaError> {
    let order = graph.file_order();
    let apart = Arena::new(graph, &order, &overlaps::none(graph), layout)?;
    let best = best_published(&apart.problem);
    Ok(best.map(|(title, plan)| {
        let peak = peak_buffers(&apart.problem, &plan);
        let layout = Layout::of_plan(graph, &order, &apart, &plan.offsets, &peak);
        layout.map(format!("Without overlaps: {title}"), &[])
    }))
}

/// The stretches of steps that compute a run of operators tile by tile.
pub fn groups(
    recipe: &Recipe,
    map: &ArenaMap,
    origin: impl Fn(OperatorId) -> OperatorId,
) -> Vec<Group> {
    let mut run_of: HashMap<OperatorId, usize> = HashMap::new();
    for (run, split) in recipe.splits.iter().enumerate() {
        run_of.extend(split.operators.iter().map(|&operator| (operator, run)));
    }
    let mut groups: Vec<(usize, Group)> = Vec::new();
    for (index, &[operator, _]) in map.operators.iter().enumerate() {
        let Some(&run) = run_of.get(&origin(OperatorId(operator))) else {
            continue;
        };
        let step = index as u32 + 1;
        match groups.last_mut() {
            Some((last, group)) if *last == run && group.steps[1] + 1 == step => {
                group.steps[1] = step;
            }
            _ => groups.push((
                run,
                Group {
                    steps: [step, step],
                    title: run_title(recipe, run),
                },
            )),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn run_title(recipe: &Recipe, run: usize) -> String {
    let split = &recipe.splits[run];
    let [rows, columns] = split.grid;
    let operators = match split.operators[..] {
        [first, .., last] => format!("{} to {}", first.0, last.0),
        [only] => only.0.to_string(),
        [] => String::new(),
    };
    format!("operators {operators} in {rows} x {columns} tiles")
}

fn parts(layers: &[KernelOverlaps]) -> HashMap<OperatorId, MeasuredPart> {
    let part = |(index, layer): (usize, &KernelOverlaps)| {
        let function = layer.function.clone()?;
        let part = MeasuredPart {
            instructions: Some(layer.instructions),
            function: Some(layer.work.chain(&function)),
            ..MeasuredPart::default()
        };
        Some((OperatorId(index), part))
    };
    layers.iter().enumerate().filter_map(part).collect()
}

fn facts(planned: &Planned, report: &PlanReport, before: Option<&ArenaMap>) -> Vec<Fact> {
    let file = &planned.file;
    let mut facts = vec![Fact {
        name: "Arena",
        value: bytes(file.arena_bytes),
    }];
    if let Some(before) = before {
        let less = peak::beside(before.arena_bytes, file.arena_bytes);
        facts.push(Fact {
            name: "Without overlaps",
            value: format!("{} bytes; the plan needs {less}", grouped(before.arena_bytes)),
        });
    }
    facts.push(Fact {
        name: "Proof",
        value: report.certificate(),
    });
    if let Some([own, with_plan]) = &report.device {
        facts.push(Fact {
            name: "TensorFlow Lite Micro",
            value: format!(
                "{} bytes as the model is, {} with this plan",
                grouped(own.arena_bytes),
                grouped(with_plan.arena_bytes)
            ),
        });
    }
    facts.push(Fact {
        name: "Model",
        value: format!(
            "{}, {} in the arena",
            counted(report.operators as u64, "operator", "operators"),
            counted(file.tensors.len() as u64, "tensor", "tensors")
        ),
    });
    let order = if report.reordered {
        "another than the file's"
    } else {
        "that of the file"
    };
    facts.push(Fact {
        name: "Order",
        value: order.to_owned(),
    });
    facts.push(Fact {
        name: "Overlaps",
        value: format!("{}, {} used", file.overlap, file.overlaps.len()),
    });
    facts.extend(report.headlines.iter().map(|headline| Fact {
        name: "Written",
        value: text::message(headline),
    }));
    facts
}
