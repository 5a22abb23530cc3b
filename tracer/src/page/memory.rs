//! Where the buffers of a program's layers lie, by their addresses.
//!
//! A program names buffers layer by layer, and says nothing of the time between. A buffer is taken
//! to be in use
//!
//! * from the layer that stores it to the last one that loads it, where no other layer has stored to
//!   its bytes in between;
//! * that no layer has stored, from the layer that loads it first, and as long as its content is
//!   loaded again;
//! * as state, all the time; as scratch memory, in its layer alone.
//!
//! Weights are left out. Of memories that are far apart the one with most of the buffers is shown:
//! a stretch of which they take a quarter at least.

use super::map::{ArenaMap, MapBuffer, shared_areas};
use super::steps::{LayerSteps, PairInMap};
use super::text;
use dmo_analysis::profile::{LayerProfile, Profile, TensorProfile};
use dmo_analysis::trace::Role;
use dmo_analysis::wording::{bytes, counted, grouped};
use rangemap::{RangeMap, RangeSet};
use std::collections::HashMap;
use std::ops::Range;

/// The buffers have to take this part of the stretch of memory that is shown.
const LEAST_PART: u64 = 4;

/// Of a program with more layers there is no map.
const MOST_LAYERS: usize = 10_000;

/// A buffer is used by many layers: so many of them are named.
const MOST_USES: usize = 6;

/// Names of a buffer that are shown.
const MOST_NAMES: usize = 4;

/// What can be shown of the buffers, and what the reader should know of it.
#[derive(Debug, Default)]
pub struct MemoryMap {
    /// The map; `None` where it would not be true or could not be read.
    pub map: Option<ArenaMap>,
    /// Why there is none, or what is not in it.
    pub note: Option<String>,
}

/// A buffer while it holds one content.
struct Block {
    bytes: Range<u64>,
    names: Vec<String>,
    shape: String,
    steps: [usize; 2],
    uses: Vec<(Role, usize)>,
    /// A later load of these bytes is of this content.
    is_loaded_again: bool,
}

/// All blocks of a program.
#[derive(Default)]
struct Blocks {
    all: Vec<Block>,
    /// The block whose content each byte has.
    content: RangeMap<u64, usize>,
    states: HashMap<(u64, u64), usize>,
    /// The block of each layer's buffer.
    of_buffer: HashMap<(usize, usize), usize>,
}

/// The buffers of all layers.
pub fn map(profile: &Profile) -> MemoryMap {
    let layers = &profile.layers;
    if layers.len() > MOST_LAYERS {
        return MemoryMap::none(format!(
            "There is no map of memory: the program has {} layers, and more than {} cannot be read.",
            grouped(layers.len() as u64),
            grouped(MOST_LAYERS as u64)
        ));
    }
    let blocks = Blocks::of(layers);
    let Some(shown) = stretch(&blocks.all) else {
        return MemoryMap::default();
    };
    let note = elsewhere(&blocks.all, &shown);
    MemoryMap {
        map: Some(blocks.map(layers, &shown)),
        note,
    }
}

impl MemoryMap {
    fn none(note: String) -> Self {
        Self {
            map: None,
            note: Some(note),
        }
    }
}

impl Blocks {
    fn of(layers: &[LayerProfile]) -> Self {
        let mut blocks = Self::default();
        for (number, layer) in layers.iter().enumerate() {
            let tensors = || layer.tensors.iter().enumerate();
            // What a layer loads was there before it stores anything.
            for (position, tensor) in tensors().filter(|(_, it)| it.tensor.role == Role::Input) {
                let place = blocks.load(number, tensor);
                blocks.note_later_loads(place, tensor, layers);
                blocks.of_buffer.insert((number, position), place);
            }
            for (position, tensor) in tensors() {
                let place = match tensor.tensor.role {
                    Role::Output | Role::Scratch => blocks.begin(number, tensor),
                    Role::State => blocks.state(number, tensor, layers.len()),
                    Role::Input | Role::Constant | Role::Unlisted => continue,
                };
                blocks.of_buffer.insert((number, position), place);
            }
        }
        blocks
    }

    /// New content.
    fn begin(&mut self, layer: usize, tensor: &TensorProfile) -> usize {
        let buffer = &tensor.tensor;
        let place = self.all.len();
        let bytes = bytes_of(tensor);
        self.content.insert(bytes.clone(), place);
        self.all.push(Block {
            bytes,
            names: Vec::new(),
            shape: buffer.element_type.name().to_owned(),
            steps: [layer; 2],
            uses: Vec::new(),
            is_loaded_again: buffer.role == Role::Output,
        });
        self.all[place].is_used(layer, tensor);
        place
    }

    /// What an earlier layer has stored or loaded, if it is still there.
    fn load(&mut self, layer: usize, tensor: &TensorProfile) -> usize {
        let wanted = bytes_of(tensor);
        let found = self.content.overlapping(&wanted);
        let found: Vec<(Range<u64>, usize)> = found.map(|(at, &it)| (at.clone(), it)).collect();
        if let [(at, place)] = &found[..]
            && at.start <= wanted.start
            && wanted.end <= at.end
            && self.all[*place].is_loaded_again
        {
            let block = &mut self.all[*place];
            block.steps[1] = block.steps[1].max(layer);
            block.is_used(layer, tensor);
            return *place;
        }
        // Of several parts: they are in use until here, and from here on as one.
        for (_, place) in found {
            let block = &mut self.all[place];
            if block.is_loaded_again {
                block.steps[1] = block.steps[1].max(layer.saturating_sub(1));
            }
        }
        self.begin(layer, tensor)
    }

    fn note_later_loads(&mut self, place: usize, tensor: &TensorProfile, layers: &[LayerProfile]) {
        let block = &mut self.all[place];
        block.is_loaded_again = tensor.used_again_by.is_some();
        if let Some(load) = tensor.loaded_between_layers {
            let begun = layers.partition_point(|layer| layer.begin <= load.time);
            block.steps[1] = block.steps[1].max(begun.saturating_sub(1));
        }
    }

    fn state(&mut self, layer: usize, tensor: &TensorProfile, layers: usize) -> usize {
        let bytes = bytes_of(tensor);
        let key = (bytes.start, bytes.end);
        if let Some(&place) = self.states.get(&key) {
            self.all[place].is_used(layer, tensor);
            return place;
        }
        let place = self.begin(layer, tensor);
        self.all[place].steps = [0, layers - 1];
        self.states.insert(key, place);
        place
    }

    /// Those of a stretch of memory as a map.
    fn map(&self, layers: &[LayerProfile], shown: &Range<u64>) -> ArenaMap {
        let all = self.all.iter().enumerate();
        let inside = all.filter(|(_, block)| is_inside(&block.bytes, shown));
        let mut place_of: HashMap<usize, usize> = HashMap::new();
        let mut buffers: Vec<MapBuffer> = Vec::new();
        let mut uses: Vec<String> = Vec::new();
        for (index, block) in inside {
            place_of.insert(index, buffers.len());
            buffers.push(block.shown(shown.start));
            uses.push(block.sentence());
        }
        let in_map = |layer: usize, buffer: usize| {
            let block = self.of_buffer.get(&(layer, buffer))?;
            place_of.get(block).copied()
        };
        let numbered = layers.iter().enumerate();
        let pairs = numbered.flat_map(|(layer, profile)| {
            let pairs = profile.pairs.iter().enumerate();
            pairs.filter_map(move |(pair, it)| {
                Some(PairInMap {
                    buffers: [in_map(layer, it.input)?, in_map(layer, it.output)?],
                    layer,
                    pair,
                })
            })
        });
        let of_layers = LayerSteps {
            start: shown.start,
            pairs: pairs.collect(),
            uses,
        };
        let names = layers.iter().map(|layer| &*layer.name);
        ArenaMap::of_layers(names, shown.end - shown.start, buffers, of_layers)
    }
}

impl ArenaMap {
    /// A map whose steps are layers of these names.
    pub(super) fn of_layers<'a>(
        names: impl Iterator<Item = &'a str>,
        size_bytes: u64,
        buffers: Vec<MapBuffer>,
        of_layers: LayerSteps,
    ) -> Self {
        let mut kinds: Vec<String> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let operators = names.enumerate().map(|(layer, name)| {
            let kind = text::name(name);
            let place = *known.entry(kind.clone()).or_insert_with(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            [layer, place, layer]
        });
        let operators: Vec<[usize; 3]> = operators.collect();
        Self {
            title: "This program".to_owned(),
            arena_bytes: size_bytes,
            regions: Vec::new(),
            steps: operators.len(),
            operators,
            kinds,
            groups: Vec::new(),
            shared: shared_areas(&buffers),
            buffers,
            left_out: 0,
            of_layers: Some(of_layers),
        }
    }
}

impl Block {
    fn is_used(&mut self, layer: usize, tensor: &TensorProfile) {
        let name = text::name(&tensor.tensor.name);
        if self.names.len() < MOST_NAMES && !self.names.contains(&name) {
            self.names.push(name);
        }
        self.uses.push((tensor.tensor.role, layer));
    }

    fn shown(&self, start: u64) -> MapBuffer {
        let is_scratch = self.uses.iter().all(|(role, _)| *role == Role::Scratch);
        MapBuffer {
            name: self.names.join(" = "),
            tensors: Vec::new(),
            shape: self.shape.clone(),
            offset: self.bytes.start - start,
            size_bytes: self.bytes.end - self.bytes.start,
            steps: self.steps.map(|step| step as u32),
            scratch_of: is_scratch.then_some(self.steps[0]),
            is_peak: false,
        }
    }

    /// `output of layer 0, input of layer 1`.
    fn sentence(&self) -> String {
        let uses = self.uses.iter().take(MOST_USES);
        let uses = uses.map(|(role, layer)| format!("{} of layer {layer}", role.name()));
        let uses: Vec<String> = uses.collect();
        match self.uses.len() - uses.len() {
            0 => uses.join(", "),
            more => format!("{}, and {more} more", uses.join(", ")),
        }
    }
}

fn bytes_of(tensor: &TensorProfile) -> Range<u64> {
    let start = u64::from(tensor.tensor.address.0);
    start..tensor.tensor.end().max(start + 1)
}

fn is_inside(bytes: &Range<u64>, shown: &Range<u64>) -> bool {
    shown.start <= bytes.start && bytes.end <= shown.end
}

/// The memory to show: without what is so far away that it would be empty for the most part. At the
/// widest gap the smaller side is cut off until the rest is full enough.
fn stretch(blocks: &[Block]) -> Option<Range<u64>> {
    let used: RangeSet<u64> = blocks.iter().map(|block| block.bytes.clone()).collect();
    let used: Vec<Range<u64>> = used.iter().cloned().collect();
    let taken = |ranges: &[Range<u64>]| -> u64 { ranges.iter().map(|it| it.end - it.start).sum() };
    let mut shown = &used[..];
    loop {
        let (first, last) = (shown.first()?, shown.last()?);
        if last.end - first.start <= taken(shown) * LEAST_PART {
            return Some(first.start..last.end);
        }
        let gaps = shown.windows(2).map(|pair| pair[1].start - pair[0].end);
        let (widest, _) = gaps.enumerate().max_by_key(|(_, gap)| *gap)?;
        let (low, high) = shown.split_at(widest + 1);
        shown = if taken(low) > taken(high) { low } else { high };
    }
}

/// What is not in the map.
fn elsewhere(blocks: &[Block], shown: &Range<u64>) -> Option<String> {
    let others = blocks.iter().filter(|it| !is_inside(&it.bytes, shown));
    let others: RangeSet<u64> = others.map(|it| it.bytes.clone()).collect();
    let count = others.iter().count();
    let size: u64 = others.iter().map(|it| it.end - it.start).sum();
    let (first, last) = (others.first()?, others.last()?);
    Some(format!(
        "The map shows the memory from {:#010x} to {:#010x}. {} of {} in all, between {:#010x} and \
         {:#010x}, {} too far away to be in it.",
        shown.start,
        shown.end,
        counted(
            count as u64,
            "further stretch of buffers",
            "further stretches of buffers"
        ),
        bytes(size),
        first.start,
        last.end,
        if count == 1 { "lies" } else { "lie" }
    ))
}
