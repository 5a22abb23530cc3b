//! The layers of a program that was run: what each costs, its buffers, and how far its outputs may
//! overlap its inputs.

use super::text;
use crate::elf::symbols::without_parameters;
use crate::words::cycles;
use crate::words::run::RunReport;
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::profile::{LayerProfile, Pair, TensorProfile};
use dmo_analysis::trace::{AccessKind, Locations};
use dmo_analysis::wording::grouped;
use serde::Serialize;

/// Of a layer at most this many buffers, and as many pairs of them, are shown.
const MOST_OF_LAYER: usize = 64;

/// A layer of a program that was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TracedLayer {
    /// Its number, from 0.
    pub layer: usize,
    /// Its name, as the program gives it.
    pub name: String,
    /// What it computes.
    pub operator: String,
    /// Loads of its buffers.
    pub loads: u64,
    /// Stores to its buffers.
    pub stores: u64,
    /// Executed instructions.
    pub instructions: u64,
    /// Estimated cycles, in words; `None` if they are not known.
    pub cycles: Option<String>,
    /// Cycles that the core waits for code and for data, in words; `None` where it never waits.
    pub stalls: Option<[String; 2]>,
    /// Its part of the cycles of all layers, or of their instructions, in thousandths.
    pub share_permille: u64,
    /// The stack while it runs, in bytes; `None` if it is not measured.
    pub stack_bytes: Option<u64>,
    /// Whether its accesses depend on the values of the inputs; `None` if that was not checked.
    pub data_dependent: Option<bool>,
    /// Its buffers.
    pub buffers: Vec<TracedBuffer>,
    /// How far each output may overlap each input.
    pub pairs: Vec<TracedPair>,
    /// How many buffers and pairs are not shown because there are too many.
    pub left_out: usize,
}

/// A buffer of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedBuffer {
    /// Its name.
    pub name: String,
    /// What the layer uses it for.
    pub role: &'static str,
    /// Type of its elements.
    pub element_type: &'static str,
    /// The address of its first byte.
    pub address: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

/// How far an output may overlap an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedPair {
    /// Name of the input.
    pub input: String,
    /// Its size in bytes.
    pub input_bytes: u64,
    /// Name of the output.
    pub output: String,
    /// Its size in bytes.
    pub output_bytes: u64,
    /// O_s in bytes; `None` if no overlap is granted.
    pub safe_overlap_bytes: Option<u64>,
    /// O_s in per cent of the smaller of the two buffers.
    pub percent: String,
    /// How far the input has to start above the output at least, in bytes; `None` if no overlap is
    /// granted.
    pub needed_bytes: Option<u64>,
    /// Both may start at the same byte.
    pub in_place: bool,
    /// Why no overlap is granted, and what this trace alone would allow; empty where one is granted.
    pub refusal: String,
    /// The store and the load that limit it, if any do.
    pub binding: Vec<TracedAccess>,
}

/// A load or a store that limits an overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedAccess {
    /// Load or store.
    pub kind: &'static str,
    /// The instruction's address.
    pub address: String,
    /// Its function.
    pub function: Option<String>,
    /// Its source file and line.
    pub source: Option<String>,
    /// The instruction in assembly language.
    pub code: Option<String>,
    /// The bytes of the buffer, half-open.
    pub bytes: [u64; 2],
}

/// All layers of a run.
pub fn layers(report: &RunReport<'_>) -> Vec<TracedLayer> {
    let layers = &report.profile.layers;
    let cycles = report.cycles.map(|it| &it.layers);
    let cost = |(index, layer): (usize, &LayerProfile)| match cycles {
        Some(cycles) => cycles.get(index).map_or(0, |it| it.total),
        None => layer.instructions(),
    };
    let all: u64 = layers.iter().enumerate().map(cost).sum();
    let traced = layers.iter().enumerate();
    traced
        .map(|(index, layer)| {
            let known = cycles.and_then(|cycles| cycles.get(index));
            let locations = &report.ending.locations;
            let buffers = layer.tensors.iter().take(MOST_OF_LAYER);
            let pairs = layer.pairs.iter().take(MOST_OF_LAYER);
            let (buffers, pairs): (Vec<_>, Vec<_>) = (
                buffers.map(buffer).collect(),
                pairs.map(|it| pair(layer, it, locations)).collect(),
            );
            let all_parts = layer.tensors.len() + layer.pairs.len();
            let stack = report.ram.as_ref();
            let stack = stack.and_then(|ram| ram.layer_stack_bytes.get(index).copied().flatten());
            TracedLayer {
                layer: index,
                name: text::name(&layer.name),
                operator: text::name(&layer.operator),
                loads: layer.loads(),
                stores: layer.stores(),
                instructions: layer.instructions(),
                cycles: known.map(|known| cycles::total(Some(known))),
                stalls: report.has_stalls().then(|| cycles::stalls(known)),
                share_permille: permille(cost((index, layer)), all),
                stack_bytes: stack,
                data_dependent: layer.data_dependent,
                left_out: all_parts - buffers.len() - pairs.len(),
                buffers,
                pairs,
            }
        })
        .collect()
}

fn permille(part: u64, all: u64) -> u64 {
    let share = u128::from(part) * 1000 / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(1000)
}

fn buffer(profile: &TensorProfile) -> TracedBuffer {
    let tensor = &profile.tensor;
    TracedBuffer {
        name: text::name(&tensor.name),
        role: tensor.role.name(),
        element_type: tensor.element_type.name(),
        address: tensor.address.to_string(),
        size_bytes: tensor.size_bytes.into(),
        loads: profile.loads,
        stores: profile.stores,
    }
}

fn pair(layer: &LayerProfile, pair: &Pair, locations: &Locations) -> TracedPair {
    let [input, output] = [pair.input, pair.output].map(|it| &layer.tensors[it].tensor);
    let is_granted = pair.refusals.is_empty();
    let reasons: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
    let refusal = (!is_granted).then(|| {
        format!(
            "{} (this trace alone would allow {} bytes)",
            reasons.join("; "),
            grouped(pair.observed_overlap_bytes.into())
        )
    });
    let binding = pair.binding.map_or(Vec::new(), |binding| {
        vec![
            access(AccessKind::Store, &binding.store, locations),
            access(AccessKind::Load, &binding.load, locations),
        ]
    });
    TracedPair {
        input: text::name(&input.name),
        input_bytes: input.size_bytes.into(),
        output: text::name(&output.name),
        output_bytes: output.size_bytes.into(),
        safe_overlap_bytes: is_granted.then_some(pair.safe_overlap_bytes.into()),
        percent: format!("{:.1} %", pair.percent(layer)),
        needed_bytes: is_granted.then_some(pair.displacement_bytes.into()),
        in_place: pair.in_place,
        refusal: text::message(&refusal.unwrap_or_default()),
        binding,
    }
}

fn access(kind: AccessKind, access: &Access, locations: &Locations) -> TracedAccess {
    let location = locations.get(&access.pc);
    let function = location.and_then(|it| it.function.as_deref());
    let file = location.and_then(|it| Some((it.file.as_deref()?, it.line)));
    let source = file.map(|(file, line)| match line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    });
    let code = location.and_then(|it| it.disassembly.as_deref());
    let start = u64::from(access.offset);
    TracedAccess {
        kind: kind.name(),
        address: access.pc.to_string(),
        function: function.map(|name| text::name(without_parameters(name))),
        source: source.map(|source| text::name(&source)),
        code: code.map(text::name),
        bytes: [start, start + u64::from(access.size_bytes)],
    }
}
