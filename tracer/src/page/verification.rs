//! The page of a verified plan.

use super::layers::{MeasuredPart, rows};
use super::map::{ArenaMap, Layout, MapBuffer, OverlapFact};
use super::peak::{self, Peak};
use super::plan::{groups, map_without_overlaps, sizes};
use super::{Fact, Page, SCHEMA, Verdict, Witness, text};
use crate::mcu::disassembly::Disassembler;
use crate::model::Deployment;
use crate::model::verify::{MeasuredPair, Verification, VerifiedLayer, measured_overlaps};
use crate::study::source::Source;
use crate::study::verify::Verified;
use crate::words::cycles;
use crate::words::verification::VerifyReport;
use crate::words::whole_arena::verified_size;
use dmo_analysis::arena::{Arena, ArenaError, Layout as ArenaLayout};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::verify::Occupant;
use dmo_analysis::wording::{bytes, counted, grouped};
use dmo_planner::plan::{Plan, peak_buffers};
use std::collections::HashMap;
use std::ops::Range;

/// The page of a plan that was verified on kernels, and of its report.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn page(
    source: &Source,
    verified: &Verified<'_>,
    kernels: &str,
    report: &VerifyReport,
) -> Result<Page, ArenaError> {
    let deployment = verified.deployed.model();
    let graph = &deployment.graph;
    let found = verified.verification.as_ref();
    let map = verified_map(source, verified, kernels)?;
    let unchanged = source.recipe().map_or(graph, |_| source.original());
    let before = map_without_overlaps(unchanged, verified.plan.layout)?;
    let measured = found.map_or(HashMap::new(), |found| parts(&found.layers));
    let layers = map.as_ref();
    let layers = layers.map_or(Vec::new(), |map| rows(graph, map, &measured));
    // In an unsafe plan buffers do not rest on each other.
    let peak = map.as_ref().filter(|_| !verified.has_objections());
    let peak = peak.map(|map| Peak {
        buffers: peak::buffers(map),
        remedies: None,
    });
    // Without the plan's own map the other would pass for it.
    let before = before.filter(|_| map.is_some());
    Ok(Page {
        schema: SCHEMA,
        model: text::name(&source.name),
        command: "verify",
        verdict: Some(Verdict {
            holds: !verified.has_objections(),
            text: report.conclusion(),
        }),
        facts: facts(verified, kernels, before.as_ref(), report),
        maps: [map, before].into_iter().flatten().collect(),
        peak,
        front: None,
        layers,
        traced: Vec::new(),
        savings: Vec::new(),
        witnesses: witnesses(report),
        notes: report
            .notes
            .iter()
            .map(|note| text::message(note))
            .collect(),
    })
}

fn witnesses(report: &VerifyReport) -> Vec<Witness> {
    let names = ["Geometry", "Replay", "Execution"];
    let statements = report
        .statements()
        .map_or([const { None }; 3], |it| it.map(Some));
    let all = names.into_iter().zip(report.testimonies()).zip(statements);
    let witness = all.map(|((name, testimony), statement)| Witness {
        name,
        holds: testimony.as_ref().map(|it| it.safe),
        examined: statement.map_or(String::new(), |text| {
            let plain = text
                .strip_prefix("UNSAFE: ")
                .or(text.strip_prefix("safe: "));
            plain.unwrap_or(&text).to_owned()
        }),
        objections: testimony.map_or(Vec::new(), |it| {
            it.objections
                .iter()
                .map(|text| text::message(text))
                .collect()
        }),
    });
    witness.collect()
}

/// The arena as it was verified; `None` where a tensor has no place in it.
fn verified_map(
    source: &Source,
    verified: &Verified<'_>,
    kernels: &str,
) -> Result<Option<ArenaMap>, ArenaError> {
    let deployment = verified.deployed.model();
    let (graph, plan) = (&deployment.graph, &verified.plan);
    let tensors = graph.with_views(plan.tensors.clone());
    let found = verified.verification.as_ref();
    let measured = found.map_or(overlaps::none(graph), |found| {
        measured_overlaps(deployment, &found.layers)
    });
    let layout = ArenaLayout {
        scratch: false,
        ..plan.layout
    };
    let Some((arena, offsets)) = placed(graph, &plan.order, &measured, layout, &tensors)? else {
        return Ok(None);
    };
    let offsets = Plan { offsets };
    let peak = peak_buffers(&arena.problem, &offsets);
    let mut layout = Layout::of_plan(graph, &plan.order, &arena, &offsets.offsets, &peak);
    // As the plan has them, views included.
    layout.offsets = tensors;
    let step = |operator: OperatorId| plan.order.iter().position(|&it| it == operator);
    for &(operator, offset, size_bytes) in &plan.scratch {
        let Some(step) = step(operator).filter(|_| size_bytes > 0) else {
            continue;
        };
        layout.buffers.push(MapBuffer {
            name: format!("scratch buffer of operator {}", operator.0),
            tensors: Vec::new(),
            shape: String::new(),
            offset,
            size_bytes,
            steps: [step as u32 + 1; 2],
            scratch_of: Some(operator.0),
            is_peak: false,
        });
    }
    let buffer_of = layout.buffer_of.clone();
    let facts = found.map_or(Vec::new(), |found| {
        facts_of_layers(deployment, &found.layers, kernels, &layout)
    });
    let mut map = layout.map("This plan".to_owned(), &facts, |it| source.origin(it));
    if let Some(recipe) = source.recipe() {
        map.groups = groups(recipe, &map);
    }
    if let Some(found) = found {
        mark_damage(&mut map, &buffer_of, found);
    }
    Ok(Some(map))
}

/// The planning problem of a layout and where its buffers lie: with what the kernels allow, or,
/// where tensors that could be one buffer lie apart, without; `None` where a tensor has no offset.
fn placed(
    graph: &Graph,
    order: &[OperatorId],
    measured: &Overlaps,
    layout: ArenaLayout,
    tensors: &[Option<u64>],
) -> Result<Option<(Arena, Vec<u64>)>, ArenaError> {
    for overlaps in [measured, &overlaps::none(graph)] {
        let arena = Arena::new(graph, order, overlaps, layout)?;
        let mut offsets = vec![None; arena.problem.buffers().len()];
        let mut is_one = true;
        for (tensor, &buffer) in arena.buffer_of.iter().enumerate() {
            let Some(buffer) = buffer.filter(|_| !graph.views.contains_key(&TensorId(tensor)))
            else {
                continue;
            };
            let Some(offset) = tensors.get(tensor).copied().flatten() else {
                return Ok(None);
            };
            is_one &= *offsets[buffer].get_or_insert(offset) == offset;
        }
        let offsets: Option<Vec<u64>> = offsets.into_iter().collect();
        if let Some(offsets) = offsets.filter(|_| is_one) {
            return Ok(Some((arena, offsets)));
        }
    }
    Ok(None)
}

/// What was measured of the overlaps, with the instructions that limit them.
fn facts_of_layers(
    deployment: &Deployment<'_>,
    layers: &[VerifiedLayer],
    kernels: &str,
    layout: &Layout<'_>,
) -> Vec<OverlapFact> {
    let disassembler = Disassembler::default();
    let fact = |layer: &VerifiedLayer, pair: &MeasuredPair| {
        let binding = pair.binding.map_or(Vec::new(), |binding| {
            let store = instruction(deployment, layer.operator, binding.store, &disassembler);
            let load = instruction(deployment, layer.operator, binding.load, &disassembler);
            vec![format!("store {store}"), format!("load {load}")]
        });
        let granted = pair.refusals.is_empty();
        let refusals: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
        let source = match (granted, pair.in_place) {
            (true, true) => format!("measured on {kernels}; both may start at the same byte"),
            (true, false) => format!("measured on {kernels}"),
            (false, _) => format!("no overlap is granted: {}", refusals.join("; ")),
        };
        OverlapFact {
            operator: layer.operator.0,
            input: pair.input.0,
            output: pair.output.0,
            safe_overlap_bytes: granted.then_some(pair.safe_overlap_bytes.into()),
            needed_bytes: granted.then_some(pair.displacement_bytes.into()),
            distance_bytes: layout.distance(pair.input, pair.output),
            source: text::message(&source),
            binding,
        }
    };
    let pairs = layers.iter();
    let pairs = pairs.flat_map(|layer| layer.pairs.iter().map(move |pair| fact(layer, pair)));
    pairs.collect()
}

/// Where an access comes from: its address, source line, disassembly, and the bytes.
fn instruction(
    deployment: &Deployment<'_>,
    operator: OperatorId,
    access: Access,
    disassembler: &Disassembler,
) -> String {
    let kernel = deployment.step(operator).kernel.as_ref();
    let library = kernel.ok().map(|kernel| deployment.library(kernel));
    let location = library.map(|library| library.location(access.pc, disassembler));
    let end = u64::from(access.offset) + u64::from(access.size_bytes);
    let place = location
        .as_ref()
        .map_or(String::new(), |it| format!(", {it}"));
    let code = location.and_then(|it| it.disassembly);
    let code = code.map_or(String::new(), |code| format!(": {code}"));
    text::message(&format!(
        "{}{place}{code}, bytes {} to {}",
        access.pc,
        grouped(access.offset.into()),
        grouped(end)
    ))
}

/// Marks the bytes to which a witness objects.
fn mark_damage(map: &mut ArenaMap, buffer_of: &[Option<usize>], found: &Verification) {
    let scratch: HashMap<usize, usize> = map
        .buffers
        .iter()
        .enumerate()
        .filter_map(|(index, buffer)| Some((buffer.scratch_of?, index)))
        .collect();
    let buffer = |occupant: Occupant| match occupant {
        Occupant::Tensor(id) => buffer_of.get(id.0).copied().flatten(),
        Occupant::Scratch(operator) => scratch.get(&operator.0).copied(),
    };
    let mut wrong: Vec<([Option<usize>; 2], Range<u64>)> = Vec::new();
    for clash in &found.clashes {
        wrong.push((
            [buffer(clash.one), buffer(clash.other)],
            clash.bytes.clone(),
        ));
    }
    for (_, finding) in found.layers.iter().flat_map(|layer| &layer.findings) {
        let writer = finding.writer.and_then(|writer| writer.subject.occupant);
        let subject = finding.subject.occupant;
        if let (Some(subject), Some(writer), Some(bytes)) = (subject, writer, &finding.arena_bytes)
        {
            wrong.push(([buffer(subject), buffer(writer)], bytes.clone()));
        }
    }
    map.mark_damaged(&wrong);
}

fn parts(layers: &[VerifiedLayer]) -> HashMap<OperatorId, MeasuredPart> {
    let part = |layer: &VerifiedLayer| {
        let part = MeasuredPart {
            function: Some(layer.work.chain(layer.function)),
            instructions: Some(layer.instructions),
            cycles: layer.cycles,
            stack_bytes: layer.stack_bytes.map(u64::from),
        };
        (layer.operator, part)
    };
    layers.iter().map(part).collect()
}

fn facts(
    verified: &Verified<'_>,
    kernels: &str,
    before: Option<&ArenaMap>,
    report: &VerifyReport,
) -> Vec<Fact> {
    let mut facts = sizes(verified.plan.arena_bytes, before);
    // Nobody may use an arena of that size where the plan is not safe.
    let is_usable = !verified.has_objections();
    let whole = report.whole_arenas.iter().filter(|_| is_usable);
    facts.extend(whole.map(|arena| Fact {
        name: "kTensorArenaSize",
        value: verified_size(arena),
    }));
    facts.push(Fact {
        name: "Kernels",
        value: format!(
            "{} on {}",
            text::name(kernels),
            text::name(&verified.kernels.cpu)
        ),
    });
    facts.push(Fact {
        name: "Inputs",
        value: counted(verified.inputs, "input", "different inputs"),
    });
    if let Some(found) = &verified.verification {
        facts.push(Fact {
            name: "Instructions of an inference",
            value: grouped(found.instructions),
        });
        if let Some(known) = &found.cycles {
            facts.push(Fact {
                name: "Estimated",
                value: cycles::sentence(known),
            });
        }
        let stack = found.layers.iter().filter_map(|layer| layer.stack_bytes);
        if let Some(deepest) = stack.max() {
            facts.push(Fact {
                name: "Deepest stack",
                value: bytes(deepest.into()),
            });
        }
    }
    facts
}
