//! What a run of a program found.

pub mod timeline;
mod warnings;

use super::names::{plain, short};
use super::report::Report;
use super::{arena, cycles, table, tenants};
use crate::elf::symbols::without_parameters;
use crate::mcu::cycles::Cycles;
use crate::mcu::system::Exception;
use crate::program::data_decision::DataDecision;
use crate::program::ram::RamUse;
use crate::program::run::RunCycles;
use crate::study::tenants::Tenant;
use dmo_analysis::firmware::{ArenaUse, Placed};
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::profile::{LayerProfile, Pair, Profile};
use dmo_analysis::trace::{Address, Ending, Exit, Location, Locations, Program, Role};
use dmo_analysis::wording::{counted, first_lines, first_names, grouped};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::path::Path;

/// Something that the reader of a report should know.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Warning {
    /// A layer loads beyond the end of a tensor. Only the bytes inside count for O_s.
    CrossingLoads {
        /// Name of the layer.
        layer: String,
        /// Name of the tensor.
        tensor: String,
        /// Number of such loads.
        count: u64,
        /// The instruction of the first of them.
        pc: Address,
    },
    /// The program has SysTick count and interrupt it.
    NoTicks,
    /// The program runs other models besides the one that is followed.
    OtherModels {
        /// How many.
        count: usize,
    },
    /// The program calls functions of the library that the hooks are for, but no hook says where
    /// their buffers are.
    NotLayers {
        /// Their names.
        functions: Vec<String>,
    },
    /// Between its layers the program has requested an exception, whose handler has not run.
    NoException {
        /// Its number.
        exception: Exception,
    },
    /// The run was stopped after this many layers.
    Stopped {
        /// Number of layers that have run.
        layers: u64,
    },
    /// A compiler that may compare the addresses of buffers has built layers whose overlap is
    /// granted.
    MayCompareAddresses {
        /// Names of the layers.
        layers: Vec<String>,
    },
    /// A layer could not be run on another input.
    OtherInputFailed {
        /// Name of the layer.
        layer: String,
        /// The error's first line.
        reason: String,
    },
}

impl Warning {
    /// What a run that ended like this leaves open; `None` if it ran to its end.
    pub fn of_exit(exit: Exit) -> Option<Self> {
        match exit {
            Exit::Stopped(layers) => Some(Self::Stopped { layers }),
            Exit::Status(_) | Exit::Sleep(_) | Exit::Loop(_) => None,
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CrossingLoads {
                layer,
                tensor,
                count,
                pc,
            } => write!(
                f,
                "layer '{layer}': {count} loads reach beyond tensor '{tensor}', the first at {pc}; only the bytes inside count"
            ),
            Self::NoTicks => write!(
                f,
                "the program has switched on the interrupt of SysTick; here it counts, and no interrupt ever comes"
            ),
            Self::OtherModels { count } => write!(
                f,
                "the program also runs {}, whose operators are not in the table (--model MODEL.tflite picks one); where they share its arena, they overwrite its inputs and outputs between two inferences",
                counted(*count as u64, "other model", "other models")
            ),
            Self::NotLayers { functions } => write!(
                f,
                "the program calls {}, whose buffers the set of hooks does not know: these calls are no layers, only those of known functions inside them; --layer adds others (docs/hooks.md)",
                first_names(functions, 8),
            ),
            Self::NoException { exception } => write!(
                f,
                "between its layers the program has requested {exception}; no exception is emulated, so its handler has not run"
            ),
            Self::Stopped { .. } => write!(
                f,
                "nothing is known of what the program does after the last of these layers: an input that it loads again there must not be overlapped"
            ),
            Self::MayCompareAddresses { layers } => write!(
                f,
                "{}: built at -O3 or -Ofast, where GCC makes two forms of some loops and takes the faster one where buffers lie apart, as they do here: execute what is granted with the buffers overlapped, or build at -O2 (docs/theory.md)",
                first_names(layers, 4),
            ),
            Self::OtherInputFailed { layer, reason } => {
                write!(f, "layer '{layer}' fails on another input: {reason}")
            }
        }
    }
}

/// At most this many layers are named in which data decide something.
const MOST_DECIDED: usize = 5;

/// A run of a program, of now or of a saved trace.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// The program that ran.
    pub program: &'a Program,
    /// Its file, to be named in commands; `None` for a saved trace, which does not say.
    pub file: Option<&'a Path>,
    /// How it ended, and the sources of its instructions.
    pub ending: &'a Ending,
    /// How it ended, in words.
    pub exit: &'a str,
    /// On how many inputs each layer was run; `None` for a saved trace, which does not say.
    pub inputs: Option<u64>,
    /// Whether the self-check was on; `None` for a saved trace.
    pub self_checked: Option<bool>,
    /// The memory map; `None` for a saved trace.
    pub memory: Option<String>,
    /// Estimated cycles; `None` if they are not known.
    pub cycles: Option<&'a RunCycles>,
    /// What the layers did to their buffers.
    pub profile: &'a Profile,
    /// For each layer where data decide what it accesses, or `None` where it is not known; `None` if that
    /// was not asked for.
    pub decisions: Option<&'a [Option<Vec<DataDecision>>]>,
    /// What the reader should know besides.
    pub warnings: Vec<Warning>,
    /// The RAM that the run took; `None` for a saved trace.
    pub ram: Option<RamUse>,
    /// The arena of the model that the program runs; `None` if no model was named.
    pub arena: Option<(&'a Placed, &'a ArenaUse)>,
    /// All models of a program that runs several.
    pub models: Vec<Tenant>,
}

/// The JSON form, without its schema.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Run")]
struct Json<'a> {
    program: &'a Program,
    exit: Exit,
    instructions: u64,
    inputs: Option<u64>,
    self_checked: Option<bool>,
    memory: Option<&'a str>,
    cycles: Option<&'a RunCycles>,
    ram: Option<&'a RamUse>,
    layers: &'a [LayerProfile],
    /// For each layer the instructions at which data decide what it accesses: none if that is the same on
    /// every input. Null where it is not known, or was not asked for.
    data_decisions: Option<&'a [Option<Vec<DataDecision>>]>,
    locations: &'a Locations,
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    arena: Option<&'a ArenaUse>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    models: &'a [Tenant],
}

impl Serialize for RunReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = Json {
            program: self.program,
            exit: self.ending.exit,
            instructions: self.ending.instructions,
            inputs: self.inputs,
            self_checked: self.self_checked,
            memory: self.memory.as_deref(),
            cycles: self.cycles,
            ram: self.ram.as_ref(),
            layers: &self.profile.layers,
            data_decisions: self.decisions,
            locations: &self.ending.locations,
            warnings: &self.warnings,
            arena: self.arena.map(|(_, arena)| arena),
            models: &self.models,
        };
        json.serialize(serializer)
    }
}

impl JsonSchema for RunReport<'_> {
    fn schema_name() -> Cow<'static, str> {
        Json::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Json::json_schema(generator)
    }
}

impl Report for RunReport<'_> {
    const SCHEMA: &'static str = "dmo-trace/run/1";

    /// A heading, a table with a row for each pair of an input and an output, and notes.
    fn text(&self) -> String {
        let mut text = format!(
            "{} on {}: {}, {} instructions, {}\n\n{}\n",
            self.program.name,
            self.program.cpu,
            self.exit,
            grouped(self.ending.instructions),
            counted(self.profile.layers.len() as u64, "layer", "layers"),
            self.table()
        );
        for note in self.ram.iter().map(ram_sentence).chain(self.notes()) {
            text += &format!("\n{note}\n");
        }
        if let Some((placed, arena)) = self.arena {
            let file = self.file.map(Path::to_string_lossy);
            let file = file.as_deref().unwrap_or(&self.program.name);
            text += &arena::text(arena, placed, &self.ending.locations, file);
        }
        text += &tenants::text(&self.models);
        text
    }
}

impl RunReport<'_> {
    fn table(&self) -> String {
        let mut header = vec![
            "#",
            "layer",
            "operator",
            "input → output",
            "loads",
            "stores",
            "instructions",
            "cycles",
        ];
        if self.has_stalls() {
            header.extend(["code stalls", "data stalls"]);
        }
        let numbers = 4..=header.len() + 1;
        header.extend(["O_s", "O_s %", "data-dependent", "binding store, load"]);
        let layers = self.profile.layers.iter().enumerate();
        let rows = layers.flat_map(|(index, layer)| {
            if layer.pairs.is_empty() {
                let columns = [String::new(), "-".to_owned(), String::new(), String::new()];
                return vec![self.row(index, layer, "no input or no output", columns)];
            }
            let pairs = layer.pairs.iter();
            pairs
                .map(|pair| self.pair_row(index, layer, pair))
                .collect()
        });
        table(header, numbers, rows)
    }

    fn pair_row(&self, index: usize, layer: &LayerProfile, pair: &Pair) -> Vec<String> {
        let buffer = |index: usize| {
            let tensor = &layer.tensors[index].tensor;
            format!(
                "{} {}",
                plain(&short(&tensor.name)),
                grouped(tensor.size_bytes.into())
            )
        };
        let overlap = if pair.refusals.is_empty() {
            grouped(pair.safe_overlap_bytes.into())
        } else {
            "none".to_owned()
        };
        let data_dependent = match layer.data_dependent {
            Some(true) => "yes",
            _ if self.decisions_of(index).is_some_and(<[_]>::is_empty) => "never",
            Some(false) => "no",
            None => "not checked",
        };
        let binding = pair.binding.map_or_else(
            || "nothing binds".to_owned(),
            |binding| self.places(&binding.store, &binding.load),
        );
        self.row(
            index,
            layer,
            &format!("{} → {}", buffer(pair.input), buffer(pair.output)),
            [
                overlap,
                format!("{:.1}", pair.percent(layer)),
                data_dependent.to_owned(),
                binding,
            ],
        )
    }

    fn row(
        &self,
        index: usize,
        layer: &LayerProfile,
        buffers: &str,
        rest: [String; 4],
    ) -> Vec<String> {
        let cycles = self.cycles.and_then(|cycles| cycles.layers.get(index));
        let mut cells = vec![
            index.to_string(),
            plain(&short(&layer.name)),
            plain(&layer.operator),
            buffers.to_owned(),
            grouped(layer.loads()),
            grouped(layer.stores()),
            grouped(layer.instructions()),
            cycles::total(cycles),
        ];
        if self.has_stalls() {
            cells.extend(cycles::stalls(cycles));
        }
        cells.extend(rest);
        cells
    }

    /// Flash memory makes the core wait somewhere.
    pub fn has_stalls(&self) -> bool {
        self.cycles.is_some_and(|cycles| {
            let Cycles {
                code_stalls,
                data_stalls,
                ..
            } = cycles.total;
            code_stalls + data_stalls > 0
        })
    }

    fn place(&self, access: &Access) -> String {
        let location = self.ending.locations.get(&access.pc);
        let known = location.filter(|location| **location != Location::default());
        match known {
            Some(location) if location.file.is_some() => {
                let text = location.to_string();
                text.rsplit(['/', '\\']).next().unwrap_or(&text).to_owned()
            }
            Some(Location {
                function: Some(function),
                ..
            }) => short(without_parameters(function)),
            _ => access.pc.to_string(),
        }
    }

    /// Where data decide what a layer accesses; `None` if it is not known.
    fn decisions_of(&self, index: usize) -> Option<&[DataDecision]> {
        self.decisions?.get(index)?.as_deref()
    }

    /// On how many layers, and where not, what was shown holds on every input.
    fn every_input(&self) -> Option<String> {
        let all = self.decisions?;
        let layers = self.profile.layers.iter().enumerate();
        let decided = layers.filter_map(|(index, layer)| {
            let decided = self.decisions_of(index)?.first()?;
            Some(format!(
                "layer {index} '{}': {}",
                plain(&layer.name),
                decided.clause()
            ))
        });
        let never = all.iter().flatten().filter(|it| it.is_empty()).count();
        let sentence = format!(
            "every input: in {never} of {} loads and stores do not depend on its inputs",
            counted(all.len() as u64, "layer", "layers")
        );
        let lines = [sentence].into_iter().chain(decided).collect();
        Some(first_lines(lines, 1 + MOST_DECIDED).join("\n  "))
    }

    /// Both instructions of a binding; a file is named once.
    fn places(&self, store: &Access, load: &Access) -> String {
        let has_line = |access: &Access| {
            let location = self.ending.locations.get(&access.pc);
            location.is_some_and(|location| location.file.is_some() && location.line.is_some())
        };
        let both_have_lines = has_line(store) && has_line(load);
        let (store, load) = (self.place(store), self.place(load));
        let load = match (store.rsplit_once(':'), load.rsplit_once(':')) {
            (Some((a, _)), Some((b, line))) if both_have_lines && a == b => format!(":{line}"),
            _ => load,
        };
        format!("{store}, {load}")
    }

    /// What the reader should know besides, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let (mut notes, mut loaded) = (Vec::new(), Vec::new());
        for (index, layer) in self.profile.layers.iter().enumerate() {
            for pair in &layer.pairs {
                if pair.refusals.is_empty() {
                    notes.extend(in_place(index, layer, pair));
                    continue;
                }
                let reasons: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
                notes.push(format!(
                    "no overlap for layer {} '{}', {} → {}: {} (this trace alone would allow {} bytes)",
                    index,
                    plain(&layer.name),
                    plain(&layer.tensors[pair.input].tensor.name),
                    plain(&layer.tensors[pair.output].tensor.name),
                    reasons.join("; "),
                    grouped(pair.observed_overlap_bytes.into())
                ));
            }
            loaded.extend(loaded_between(index, layer, &self.ending.locations));
            notes.extend(several_inputs(index, layer));
        }
        match &mut loaded[..] {
            [] => (),
            [only] => *only += "; an overlap holds only where that code can do without it",
            _ => loaded.push(
                "where code between layers loads an input again, an overlap holds only if that code can do without it"
                    .to_owned(),
            ),
        }
        notes.extend(loaded);
        notes.extend(self.every_input());
        notes.extend(
            self.warnings
                .iter()
                .map(|warning| plain(&format!("warning: {warning}"))),
        );
        notes
    }
}

/// A layer that may work in place, where its O_s does not say so: O_s is of an output below its input.
fn in_place(index: usize, layer: &LayerProfile, pair: &Pair) -> Option<String> {
    let [input, output] = [pair.input, pair.output].map(|it| &layer.tensors[it].tensor);
    let is_hidden = pair.safe_overlap_bytes < output.size_bytes.min(input.size_bytes);
    (pair.in_place && is_hidden).then(|| {
        format!(
            "layer {} '{}', {} → {}: in place is safe, with both at one address",
            index,
            plain(&layer.name),
            plain(&input.name),
            plain(&output.name)
        )
    })
}

/// What a device needs, in one line.
fn ram_sentence(ram: &RamUse) -> String {
    let number = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), grouped);
    let arena = ram
        .arena_bytes
        .map(|bytes| format!(", the arena of {} among them", grouped(bytes)));
    let deepest = deepest_layer(ram).map(|(index, bytes)| {
        format!(
            "; in the layers at most {}, in layer {}",
            grouped(bytes),
            index
        )
    });
    format!(
        "RAM in bytes: {} in all: data {}, bss {}, heap {}, stack {}{}{}",
        number(ram.total_bytes),
        grouped(ram.data_bytes),
        grouped(ram.bss_bytes),
        number(ram.heap_bytes),
        number(ram.stack_bytes),
        arena.unwrap_or_default(),
        deepest.unwrap_or_default(),
    )
}

/// The layer with the deepest stack, the first of several, and its bytes.
pub fn deepest_layer(ram: &RamUse) -> Option<(usize, u64)> {
    let deepest = ram.layer_stack_bytes.iter().enumerate().rev();
    let (index, bytes) = deepest.max_by_key(|(_, bytes)| **bytes)?;
    Some((index, (*bytes)?))
}

/// An input that code between layers loads later: the program's own check, or a copy that is
/// needed.
fn loaded_between(index: usize, layer: &LayerProfile, locations: &Locations) -> Vec<String> {
    layer
        .tensors
        .iter()
        .filter_map(|tensor| {
            let access = tensor.loaded_between_layers?;
            let place = locations
                .get(&access.pc)
                .map_or_else(|| access.pc.to_string(), Location::to_string);
            Some(format!(
                "layer {} '{}': {} is loaded again between layers ({})",
                index,
                plain(&layer.name),
                plain(&tensor.tensor.name),
                place
            ))
        })
        .collect()
}

/// Each O_s of a layer holds for its input alone: inputs must not overlap each other.
fn several_inputs(index: usize, layer: &LayerProfile) -> Option<String> {
    let granted = layer
        .pairs
        .iter()
        .filter(|pair| pair.safe_overlap_bytes > 0)
        .count();
    let inputs = layer
        .tensors
        .iter()
        .filter(|tensor| tensor.tensor.role == Role::Input)
        .count();
    (inputs > 1 && granted > 1).then(|| {
        format!(
            "layer {} '{}' has {inputs} inputs: each O_s holds by itself, the inputs still need separate places",
            index,
            plain(&layer.name)
        )
    })
}
