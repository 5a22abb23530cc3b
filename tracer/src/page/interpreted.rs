//! The arena of an interpreter that was run: what the plan of its model has where, operator by
//! operator of one inference.

use super::map::{ArenaMap, MapBuffer};
use super::steps::{LayerSteps, PairInMap};
use super::text;
use dmo_analysis::firmware::{ArenaUse, Placed};
use dmo_analysis::graph::TensorId;
use dmo_analysis::profile::{Pair, Profile};
use dmo_analysis::verify::Occupant;
use std::collections::HashMap;
use std::ops::Range;

/// A buffer, as findings name it, and where it lies: an operator may have several scratch buffers.
type Key = (Occupant, u64);

/// The planned part of the arena.
#[derive(Default)]
struct Head {
    buffers: Vec<MapBuffer>,
    uses: Vec<Vec<String>>,
    place_of: HashMap<Key, usize>,
}

/// The planned part of the arena, with what is wrong in it.
pub fn map(placed: &Placed, arena: &ArenaUse, profile: &Profile) -> ArenaMap {
    let mut head = Head::default();
    for (number, layer) in placed.layers.iter().enumerate() {
        let step = layer.step();
        for (tensor, place) in layer.layer.tensors.iter().zip(step.places) {
            let Some(place) = place else { continue };
            let key = (place.occupant, place.offset);
            let index = head.buffer(placed, key, tensor.size_bytes.into(), number);
            head.uses[index].push(format!("{} of operator {number}", tensor.role.name()));
        }
        for resident in step.before {
            let key = (Occupant::Tensor(resident.tensor), resident.offset);
            head.buffer(placed, key, resident.size_bytes, number);
        }
    }
    let pairs = head.pairs(placed, profile);
    let uses = head.uses.iter();
    let of_layers = LayerSteps {
        start: placed.head.start,
        uses: uses.map(|it| text::message(&it.join(", "))).collect(),
        pairs,
    };
    let kinds = placed.graph.operators.iter().map(|node| node.kind.name());
    let kinds = kinds.take(placed.layers.len());
    let size_bytes = placed.head.end - placed.head.start;
    let wrong = head.wrong(arena);
    let mut map = ArenaMap::of_layers(kinds, size_bytes, head.buffers, of_layers);
    map.mark_damaged(&wrong);
    map
}

impl Head {
    /// The buffer that is in use while this operator runs.
    fn buffer(&mut self, placed: &Placed, key: Key, size_bytes: u64, operator: usize) -> usize {
        let (occupant, offset) = key;
        let step = operator as u32;
        if let Some(&index) = self.place_of.get(&key) {
            let steps = &mut self.buffers[index].steps;
            *steps = [steps[0].min(step), steps[1].max(step)];
            return index;
        }
        let index = self.buffers.len();
        self.place_of.insert(key, index);
        self.uses.push(Vec::new());
        self.buffers.push(match occupant {
            Occupant::Tensor(id) => tensor(placed, id, offset, step),
            Occupant::Scratch(of) => MapBuffer {
                name: format!("scratch buffer of operator {}", of.0),
                tensors: Vec::new(),
                shape: String::new(),
                offset,
                size_bytes,
                steps: [step; 2],
                scratch_of: Some(of.0),
                is_peak: false,
            },
        });
        index
    }

    /// The pairs of each operator: of several inferences the one that allows least.
    fn pairs(&self, placed: &Placed, profile: &Profile) -> Vec<PairInMap> {
        let mut pairs = Vec::new();
        for (number, layer) in placed.layers.iter().enumerate() {
            let places = layer.step().places;
            let buffer = |index: usize| {
                let place = places.get(index)?.as_ref()?;
                self.place_of.get(&(place.occupant, place.offset)).copied()
            };
            let inferences = || {
                let layers = profile.layers.iter().enumerate().skip(number);
                layers.step_by(placed.layers.len())
            };
            let count = inferences().next().map_or(0, |(_, it)| it.pairs.len());
            for pair in 0..count {
                let allowed = |it: &Pair| (it.refusals.is_empty(), it.safe_overlap_bytes);
                let least = inferences()
                    .filter_map(|(layer, it)| Some((layer, pair_of(it, pair)?)))
                    .min_by_key(|(_, it)| allowed(it));
                if let Some((layer, it)) = least
                    && let (Some(input), Some(output)) = (buffer(it.input), buffer(it.output))
                {
                    pairs.push(PairInMap {
                        buffers: [input, output],
                        layer,
                        pair,
                    });
                }
            }
        }
        pairs
    }

    /// The bytes of the arena that findings are about, with the two buffers.
    fn wrong(&self, arena: &ArenaUse) -> Vec<([Option<usize>; 2], Range<u64>)> {
        let buffer = |occupant: Occupant| {
            let mut all = self.place_of.iter();
            let (_, index) = all.find(|((it, _), _)| *it == occupant)?;
            Some(*index)
        };
        let findings = arena.findings.iter().map(|wrong| &wrong.finding);
        let damage = findings.filter_map(|finding| {
            let writer = finding.writer?.subject.occupant?;
            let subject = finding.subject.occupant?;
            let bytes = finding.arena_bytes.clone()?;
            Some(([buffer(subject), buffer(writer)], bytes))
        });
        damage.collect()
    }
}

fn pair_of(layer: &dmo_analysis::profile::LayerProfile, pair: usize) -> Option<&Pair> {
    layer.pairs.get(pair)
}

fn tensor(placed: &Placed, id: TensorId, offset: u64, step: u32) -> MapBuffer {
    let tensor = placed.graph.tensor(id);
    let shape: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
    MapBuffer {
        name: text::name(&tensor.name),
        tensors: vec![id.0],
        shape: format!("{} {}", shape.join("x"), tensor.element_type),
        offset,
        size_bytes: tensor.size_bytes,
        steps: [step; 2],
        scratch_of: None,
        is_peak: false,
    }
}
