//! Where buffers lie in the arena, step by step, and where two of them share bytes.

use super::steps::LayerSteps;
use super::text;
use dmo_analysis::arena::Arena;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::PlannedRegion;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// An arena over time. Step 0 is when the application stores the inputs; in step n the nth
/// operator of the order runs. Where `of_layers` is known, layer n runs in step n.
#[derive(Debug, Clone, Serialize)]
pub struct ArenaMap {
    /// What it shows.
    pub title: String,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// The memories that follow each other in it; none if it is one memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<MapRegion>,
    /// Number of steps, step 0 included.
    pub steps: usize,
    /// Names of kinds of operators, each once.
    pub kinds: Vec<String>,
    /// For each step from 1 on (where `of_layers` is known, from 0 on) the operator that runs, its
    /// kind, a position in `kinds`, and the operator of the model that it is a part of.
    pub operators: Vec<[usize; 3]>,
    /// Steps that compute one run of operators tile by tile.
    pub groups: Vec<Group>,
    /// What lies in the arena.
    pub buffers: Vec<MapBuffer>,
    /// Bytes that two buffers have at the same time.
    pub shared: Vec<SharedArea>,
    /// How many buffers are not in the map because there are too many.
    pub left_out: usize,
    /// What is known beside where the steps are the layers of a program that was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_layers: Option<LayerSteps>,
}

/// A memory of an arena that several make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MapRegion {
    /// Its name.
    pub name: String,
    /// What an access takes there, in cycles.
    pub access_cycles: u32,
    /// Its bytes in the arena, half-open, as far as they are used.
    pub bytes: [u64; 2],
}

impl MapRegion {
    /// The memories of a plan as far as they are used.
    pub fn all(regions: &[PlannedRegion]) -> Vec<Self> {
        let used = regions.iter().filter(|known| known.used_bytes > 0);
        used.map(|known| Self {
            name: text::name(&known.region.name),
            access_cycles: known.region.access_cost,
            bytes: [known.start, known.end()],
        })
        .collect()
    }
}

/// Steps that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// First and last step.
    pub steps: [u32; 2],
    /// What they compute.
    pub title: String,
}

/// A tensor or a scratch buffer in the arena.
#[derive(Debug, Clone, Serialize)]
pub struct MapBuffer {
    /// Names of what lies in it, most often one.
    pub name: String,
    /// The tensors; none for a scratch buffer.
    pub tensors: Vec<usize>,
    /// Shape and type; empty for a scratch buffer.
    pub shape: String,
    /// First byte.
    pub offset: u64,
    /// Size in bytes, as the arena has room for it.
    pub size_bytes: u64,
    /// First and last step in which it is in use.
    pub steps: [u32; 2],
    /// The operator whose scratch buffer it is.
    pub scratch_of: Option<usize>,
    /// It holds the arena up.
    pub is_peak: bool,
}

/// Bytes that two buffers have at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedArea {
    /// Two of the map's buffers, the one that lies lower first.
    pub buffers: [usize; 2],
    /// First and last step in which both are in use.
    pub steps: [u32; 2],
    /// The bytes of the arena, half-open.
    pub bytes: [u64; 2],
    /// What allows it, or does not.
    pub overlaps: Vec<OverlapFact>,
    /// It is wrong: a witness objects to these bytes.
    pub is_damaged: bool,
}

/// How far an operator's input and output may overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverlapFact {
    /// The operator.
    pub operator: usize,
    /// Its input, a tensor.
    pub input: usize,
    /// Its output, a tensor.
    pub output: usize,
    /// O_s in bytes; `None` if every overlap is refused.
    pub safe_overlap_bytes: Option<u64>,
    /// How far the input has to start above the output at least, in bytes; `None` if only the same
    /// bytes are safe, or no overlap is.
    pub needed_bytes: Option<i64>,
    /// How far it starts above the output, in bytes.
    pub distance_bytes: Option<i64>,
    /// Where that comes from: a formula, a measurement, and why no overlap is granted.
    pub source: String,
    /// The store and the load that limit it, with their sources, as far as they are known.
    pub binding: Vec<String>,
}

/// What a map is made of.
pub struct Layout<'a> {
    /// The model as it is planned.
    pub graph: &'a Graph,
    /// The order of its operators.
    pub order: &'a [OperatorId],
    /// What lies where.
    pub buffers: Vec<MapBuffer>,
    /// The buffer of each tensor.
    pub buffer_of: Vec<Option<usize>>,
    /// Where each tensor starts.
    pub offsets: Vec<Option<u64>>,
}

impl<'a> Layout<'a> {
    /// The buffers of a planning problem where a plan puts them. `peak` says which of them hold the
    /// arena up.
    pub fn of_plan(
        graph: &'a Graph,
        order: &'a [OperatorId],
        arena: &Arena,
        offsets: &[u64],
        peak: &[bool],
    ) -> Self {
        let mut tensors: Vec<Vec<usize>> = vec![Vec::new(); arena.problem.buffers().len()];
        for (tensor, buffer) in arena.buffer_of.iter().enumerate() {
            if let Some(buffer) = buffer.filter(|_| !graph.views.contains_key(&TensorId(tensor))) {
                tensors[buffer].push(tensor);
            }
        }
        let buffers = arena.problem.buffers().iter().zip(offsets).enumerate();
        let buffers = buffers.map(|(index, (buffer, &offset))| {
            let scratch = arena.scratch.iter().find(|it| it.buffer == index);
            MapBuffer {
                name: names(graph, &tensors[index], &buffer.name),
                shape: shapes(graph, &tensors[index]),
                tensors: std::mem::take(&mut tensors[index]),
                offset,
                size_bytes: buffer.size_bytes,
                steps: [buffer.alive.start, buffer.alive.end.max(1) - 1],
                scratch_of: scratch.map(|it| it.operator.0),
                is_peak: peak.get(index).copied().unwrap_or(false),
            }
        });
        let buffers: Vec<MapBuffer> = buffers.collect();
        let plan = dmo_planner::plan::Plan {
            offsets: offsets.to_vec(),
        };
        Self {
            graph,
            order,
            buffers,
            buffer_of: arena.buffer_of.clone(),
            offsets: arena.tensor_offsets(&plan),
        }
    }

    /// The map, with what is known of the overlaps of operators; `origin` says of which operator of
    /// the model one is a part.
    pub fn map(
        self,
        title: String,
        facts: &[OverlapFact],
        origin: impl Fn(OperatorId) -> OperatorId,
    ) -> ArenaMap {
        let shared = with_facts(shared_areas(&self.buffers), facts, &self.buffer_of);
        let ends = self.buffers.iter().map(MapBuffer::end);
        let mut kinds: Vec<String> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let operators = self.order.iter().map(|operator| {
            let node = self.graph.operators.get(operator.0);
            let kind = text::name(node.map_or("", |node| node.kind.name()));
            let place = *known.entry(kind.clone()).or_insert_with(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            [operator.0, place, origin(*operator).0]
        });
        let operators: Vec<[usize; 3]> = operators.collect();
        let last = self.buffers.iter().map(|buffer| buffer.steps[1] as usize);
        ArenaMap {
            title,
            arena_bytes: ends.max().unwrap_or(0),
            regions: Vec::new(),
            steps: (operators.len() + 1).max(last.max().unwrap_or(0) + 1),
            kinds,
            operators,
            groups: Vec::new(),
            shared,
            buffers: self.buffers,
            left_out: 0,
            of_layers: None,
        }
    }

    /// How far the input of an overlap starts above its output, in bytes.
    pub fn distance(&self, input: TensorId, output: TensorId) -> Option<i64> {
        let offset = |id: TensorId| i64::try_from(self.offsets.get(id.0).copied()??).ok();
        Some(offset(input)? - offset(output)?)
    }
}

/// What lies in a buffer, by name.
fn names(graph: &Graph, tensors: &[usize], other: &str) -> String {
    const MOST: usize = 4;
    let names = tensors.iter().take(MOST).map(|&id| &graph.tensors[id].name);
    let names: Vec<String> = names.map(|name| text::name(name)).collect();
    match tensors.len().saturating_sub(MOST) {
        _ if names.is_empty() => text::name(other),
        0 => names.join(" = "),
        more => format!("{} = {more} more", names.join(" = ")),
    }
}

fn shapes(graph: &Graph, tensors: &[usize]) -> String {
    let Some(tensor) = tensors.first().map(|&id| &graph.tensors[id]) else {
        return String::new();
    };
    let shape: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
    format!("{} {}", shape.join("x"), tensor.element_type)
}

/// All bytes that two buffers have at the same time.
pub(super) fn shared_areas(buffers: &[MapBuffer]) -> Vec<SharedArea> {
    // In the order of their first steps: what follows one that begins later begins later, too.
    let mut by_start: Vec<usize> = (0..buffers.len()).collect();
    by_start.sort_by_key(|&index| buffers[index].steps[0]);
    let mut found = Vec::new();
    for (position, &one) in by_start.iter().enumerate() {
        for &other in &by_start[position + 1..] {
            let (first, second) = (&buffers[one], &buffers[other]);
            if second.steps[0] > first.steps[1] {
                break;
            }
            let bytes = [
                first.offset.max(second.offset),
                first.end().min(second.end()),
            ];
            if bytes[0] >= bytes[1] {
                continue;
            }
            let [lower, upper] = if first.offset <= second.offset {
                [one, other]
            } else {
                [other, one]
            };
            found.push(SharedArea {
                buffers: [lower, upper],
                steps: [second.steps[0], first.steps[1].min(second.steps[1])],
                bytes,
                overlaps: Vec::new(),
                is_damaged: false,
            });
        }
    }
    found
}

/// The same with what is known of the overlaps of the tensors in these buffers.
fn with_facts(
    areas: Vec<SharedArea>,
    facts: &[OverlapFact],
    buffer_of: &[Option<usize>],
) -> Vec<SharedArea> {
    const MOST: usize = 4;
    let mut of_pair: HashMap<[usize; 2], Vec<&OverlapFact>> = HashMap::new();
    for fact in facts {
        let buffer = |tensor: usize| buffer_of.get(tensor).copied().flatten();
        if let (Some(one), Some(other)) = (buffer(fact.input), buffer(fact.output)) {
            let pair = [one.min(other), one.max(other)];
            of_pair.entry(pair).or_default().push(fact);
        }
    }
    let known = |area: SharedArea| {
        let [one, other] = area.buffers;
        let facts = of_pair.get(&[one.min(other), one.max(other)]);
        let facts = facts.into_iter().flatten().take(MOST);
        SharedArea {
            overlaps: facts.map(|&fact| fact.clone()).collect(),
            ..area
        }
    };
    areas.into_iter().map(known).collect()
}

impl MapBuffer {
    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size_bytes)
    }
}

impl ArenaMap {
    /// Marks the bytes that two buffers share and that are wrong: the buffers, where they are known,
    /// and bytes of the arena.
    pub(super) fn mark_damaged(&mut self, wrong: &[([Option<usize>; 2], Range<u64>)]) {
        for area in &mut self.shared {
            let [start, end] = area.bytes;
            area.is_damaged |= wrong.iter().any(|(buffers, bytes)| {
                let among =
                    |buffer: &Option<usize>| buffer.is_some_and(|it| area.buffers.contains(&it));
                buffers.iter().all(among) && bytes.start < end && start < bytes.end
            });
        }
    }

    /// The memory that a byte lies in; `None` where there is but one.
    pub fn region_of(&self, offset: u64) -> Option<&MapRegion> {
        let mut regions = self.regions.iter();
        regions.find(|region| (region.bytes[0]..region.bytes[1]).contains(&offset))
    }

    /// The same with at most `most` buffers: those that hold the arena up, then the largest.
    pub(super) fn limited(&self, most: usize) -> Self {
        let mut kept: Vec<usize> = (0..self.buffers.len()).collect();
        kept.sort_by_key(|&index| {
            let buffer = &self.buffers[index];
            (!buffer.is_peak, std::cmp::Reverse(buffer.size_bytes), index)
        });
        kept.truncate(most);
        kept.sort_unstable();
        let place: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(at, &of)| (of, at)).collect();
        let shared = self.shared.iter().filter_map(|area| {
            let [lower, upper] = area.buffers;
            Some(SharedArea {
                buffers: [*place.get(&lower)?, *place.get(&upper)?],
                ..area.clone()
            })
        });
        let mut shared: Vec<SharedArea> = shared.collect();
        shared.sort_by_key(|area| (!area.is_damaged, area.steps[0]));
        shared.truncate(2 * most);
        let shown = |index: &usize| {
            let mut buffer = self.buffers[*index].clone();
            buffer.tensors.truncate(most.min(64));
            buffer
        };
        let mut groups = self.groups.clone();
        groups.truncate(most);
        let mut kinds = self.kinds.clone();
        kinds.truncate(most);
        kinds.push(String::new());
        let operators = self.operators.iter().take(30 * most);
        let known = |&[operator, kind, origin]: &[usize; 3]| [operator, kind.min(most), origin];
        Self {
            operators: operators.map(known).collect(),
            kinds,
            buffers: kept.iter().map(shown).collect(),
            shared,
            groups,
            left_out: self.buffers.len() - kept.len(),
            of_layers: self.of_layers.as_ref().map(|it| it.limited(&kept, most)),
            ..self.clone()
        }
    }
}
