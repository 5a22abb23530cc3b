//! The page of a plan.

use super::layers::{MeasuredPart, rows};
use super::map::{ArenaMap, Group, Layout, MapRegion, OverlapFact};
use super::peak::{self, Peak, Remedy};
use super::{Fact, Page, SCHEMA, Verdict, front, text};
use crate::model::overlaps::KernelOverlaps;
use crate::study::emit::WrittenForm;
use crate::study::others::best_published;
use crate::study::placed::PlacedModel;
use crate::study::plan::Planned;
use crate::study::remedies::Remedies;
use crate::study::source::Source;
use crate::words::plan::PlanReport;
use crate::words::recipe::in_tiles;
use crate::words::regions;
use crate::words::whole_arena::changes;
use dmo_analysis::arena::{Arena, ArenaError, Layout as ArenaLayout};
use dmo_analysis::graph::overlaps::{self, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::transform::Recipe;
use dmo_analysis::wording::{bytes, counted, grouped};
use dmo_planner::plan::peak_buffers;
use std::collections::HashMap;

/// What a page says beside its plan.
#[derive(Debug, Clone)]
pub struct Sayings {
    /// The command whose result it is.
    pub command: &'static str,
    /// Whether the plan is safe, where that was asked.
    pub verdict: Option<Verdict>,
    /// What is known beside the sizes of the arena.
    pub facts: Vec<Fact>,
    /// What else the reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// The page of a plan.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn page(
    source: &Source,
    planned: &Planned,
    sayings: Sayings,
    tried: &Remedies,
) -> Result<Page, ArenaError> {
    let graph = &planned.overlaps.graph;
    let map = planned_map(source, planned);
    // Of a changed model the one that was given; of others with the scratch memory of the kernels.
    let unchanged = source.recipe().map_or(graph, |_| source.original());
    let before = map_without_overlaps(unchanged, planned.file.layout)?;
    let remedies = peak::remedies(planned, tried, map.arena_bytes);
    Ok(Page {
        front: front::chart(tried, planned),
        ..assembled(&source.name, planned, (map, before), sayings, remedies)
    })
}

/// The page of a form of the model that was written, in tiles that the runtime can run.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn page_of_form(
    source: &Source,
    form: &WrittenForm,
    sayings: Sayings,
) -> Result<Page, ArenaError> {
    let planned = &form.planned;
    let origin = |operator: OperatorId| form.origins.get(operator.0).copied().unwrap_or(operator);
    let map = map_of(
        "The written model".to_owned(),
        planned,
        origin,
        Some(&form.recipe),
    );
    let before = map_without_overlaps(source.original(), planned.file.layout)?;
    let mut page = assembled(&source.name, planned, (map, before), sayings, None);
    // Not of the parts that cut out, pad and join.
    let measured = planned.overlaps.measured.iter();
    let measured: Vec<&KernelOverlaps> = measured.flat_map(|it| &it.layers).collect();
    for row in &mut page.layers {
        let Some(node) = source.original().operators.get(row.operator) else {
            continue;
        };
        row.kind = text::name(node.kind.name());
        let parts = form.source.graph().operators.iter().zip(&form.origins);
        let mut parts = parts.zip(measured.iter().copied());
        let computes =
            parts.find(|((part, origin), _)| origin.0 == row.operator && part.kind == node.kind);
        if let Some((_, layer)) = computes {
            row.function = function(layer);
        }
    }
    Ok(page)
}

/// A page without what was tried beside the plan. The maps are that of the plan and the one that it
/// is compared with.
fn assembled(
    model: &str,
    planned: &Planned,
    (map, before): (ArenaMap, Option<ArenaMap>),
    sayings: Sayings,
    remedies: Option<Vec<Remedy>>,
) -> Page {
    let graph = &planned.overlaps.graph;
    let measured = planned.overlaps.measured.as_ref();
    let measured = measured.map_or(HashMap::new(), |measured| parts(&measured.layers));
    let sizes = match &planned.placed {
        Some(placed) => sizes_of_regions(placed),
        None => sizes(planned.file.arena_bytes, before.as_ref()),
    };
    Page {
        schema: SCHEMA,
        model: text::name(model),
        command: sayings.command,
        verdict: sayings.verdict,
        facts: [sizes, sayings.facts].concat(),
        peak: map.regions.is_empty().then(|| Peak {
            buffers: peak::buffers(&map),
            remedies,
        }),
        layers: rows(graph, &map, &measured),
        maps: [Some(map), before].into_iter().flatten().collect(),
        front: None,
        traced: Vec::new(),
        savings: Vec::new(),
        witnesses: Vec::new(),
        notes: sayings.notes.iter().map(|it| text::message(it)).collect(),
    }
}

/// The arena as planned.
pub fn planned_map(source: &Source, planned: &Planned) -> ArenaMap {
    let origin = |operator| source.origin(operator);
    map_of("This plan".to_owned(), planned, origin, source.recipe())
}

/// The arena as planned, of a model that a recipe made of another one; `origin` says of which of that
/// one's operators one is a part.
fn map_of(
    title: String,
    planned: &Planned,
    origin: impl Fn(OperatorId) -> OperatorId,
    recipe: Option<&Recipe>,
) -> ArenaMap {
    let (graph, plan) = (&planned.overlaps.graph, &planned.plan);
    let (arena, offsets) = planned.buffers();
    // Of several memories none is to be as small as can be.
    let peak = match &planned.placed {
        Some(_) => Vec::new(),
        None => peak_buffers(&plan.arena.problem, &plan.plan),
    };
    let layout = Layout::of_plan(graph, &plan.order, arena, offsets, &peak);
    let facts = granted(graph, &planned.overlaps.overlaps, planned, &layout);
    let mut map = layout.map(title, &facts, origin);
    if let Some(placed) = &planned.placed {
        map.regions = MapRegion::all(&placed.regions);
    }
    if let Some(recipe) = recipe {
        map.groups = groups(recipe, &map);
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
        layout.map(format!("Without overlaps: {title}"), &[], |it| it)
    }))
}

/// The stretches of steps that compute a run of operators tile by tile.
pub fn groups(recipe: &Recipe, map: &ArenaMap) -> Vec<Group> {
    let mut run_of: HashMap<OperatorId, usize> = HashMap::new();
    for (run, split) in recipe.splits.iter().enumerate() {
        run_of.extend(split.operators.iter().map(|&operator| (operator, run)));
    }
    let mut groups: Vec<(usize, Group)> = Vec::new();
    for (index, &[_, _, origin]) in map.operators.iter().enumerate() {
        let Some(&run) = run_of.get(&OperatorId(origin)) else {
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
                    title: in_tiles(&recipe.splits[run]),
                },
            )),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The function that computes a layer, and what it calls for that.
fn function(layer: &KernelOverlaps) -> Option<String> {
    let function = layer.function.as_ref()?;
    Some(layer.work.chain(function))
}

fn parts(layers: &[KernelOverlaps]) -> HashMap<OperatorId, MeasuredPart> {
    let part = |(index, layer): (usize, &KernelOverlaps)| {
        let part = MeasuredPart {
            instructions: Some(layer.instructions),
            function: Some(function(layer)?),
            ..MeasuredPart::default()
        };
        Some((OperatorId(index), part))
    };
    layers.iter().enumerate().filter_map(part).collect()
}

/// What of each memory is used, and what the accesses cost.
fn sizes_of_regions(placed: &PlacedModel) -> Vec<Fact> {
    let regions = placed.regions.iter().zip(&placed.accesses);
    let regions = regions.map(|(known, accesses)| Fact {
        name: "Memory",
        value: format!(
            "{}: {} of {}, {} accesses planned at {} each",
            text::name(&known.region.name),
            grouped(known.used_bytes),
            bytes(known.region.capacity_bytes),
            grouped(*accesses),
            counted(known.region.access_cost.into(), "cycle", "cycles")
        ),
    });
    let proven = if placed.is_optimal() {
        ", proven: none for this order costs less"
    } else {
        ""
    };
    let cost = Fact {
        name: "Cost",
        value: format!("{} cycles for all accesses{proven}", grouped(placed.cost)),
    };
    regions.chain([cost]).collect()
}

/// The arena's size, and the one that it is compared with.
pub(super) fn sizes(arena_bytes: u64, before: Option<&ArenaMap>) -> Vec<Fact> {
    let arena = Fact {
        name: "Arena",
        value: bytes(arena_bytes),
    };
    let before = before.map(|before| Fact {
        name: "Without overlaps",
        value: format!(
            "{} bytes; the plan needs {}",
            grouped(before.arena_bytes),
            peak::beside(before.arena_bytes, arena_bytes)
        ),
    });
    [arena].into_iter().chain(before).collect()
}

impl Sayings {
    /// Those of a plan's report.
    pub fn of_plan(report: &PlanReport) -> Self {
        let file = &report.plan;
        let order = if report.reordered {
            "another than the file's"
        } else {
            "that of the file"
        };
        let device = report.device.as_ref().map(|[own, with_plan]| {
            format!(
                "{} bytes as the model is, {} with this plan",
                grouped(own.arena_bytes),
                grouped(with_plan.arena_bytes)
            )
        });
        let arena_changes = report.arena_changes.as_ref();
        let all = arena_changes.filter(|_| report.headlines.is_empty());
        let written = &report.written_changes;
        let whole = (!written.is_empty()).then(|| changes(written));
        let facts = [
            ("Whole arena, as written", whole),
            ("With all that the runtime keeps", all.map(|it| changes(it))),
            ("Proof", Some(report.certificate())),
            ("TensorFlow Lite Micro", device),
            (
                "Model",
                Some(format!(
                    "{}, {} in the arena",
                    counted(report.operators as u64, "operator", "operators"),
                    counted(file.tensors.len() as u64, "tensor", "tensors")
                )),
            ),
            ("Order", Some(order.to_owned())),
            (
                "Overlaps",
                Some(format!("{}, {} used", file.overlap, file.overlaps.len())),
            ),
        ];
        let facts = facts.into_iter();
        let facts = facts.filter_map(|(name, value)| Some((name, value?)));
        let headlines = report.headlines.iter().map(|it| ("Written", it.clone()));
        Self {
            command: "plan",
            verdict: None,
            facts: facts
                .chain(headlines)
                .map(|(name, value)| Fact {
                    name,
                    value: text::message(&value),
                })
                .collect(),
            notes: report.remarks(),
        }
    }

    /// Those of a plan in several memories.
    pub fn of_regions(planned: &Planned) -> Self {
        let kind = planned.overlaps.kind.name();
        let assumed = planned.placed.as_ref().map_or(0, |it| it.assumed.len());
        Self {
            command: "plan",
            verdict: None,
            facts: vec![Fact {
                name: "Overlaps",
                value: kind.to_owned(),
            }],
            notes: regions::remarks(kind, planned.file.kernels.as_ref(), assumed),
        }
    }
}
