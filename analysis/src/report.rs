//! What a run found: as a table for people, and as JSON (docs/json.md) for machines.

use crate::firmware::{ArenaUse, Placed};
use crate::profile::overlap::Access;
use crate::profile::{LayerProfile, Pair, Profile};
use crate::trace::{Address, Ending, Exit, Location, Locations, Program, Role};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::fmt::Write;

/// Version of the JSON form.
pub const SCHEMA: &str = "dmo-trace/run/1";

/// Something that the reader of a report should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Warning {
    /// A layer loads beyond the end of a tensor. Only the bytes inside count for O_s.
    CrossingLoads {
        /// The layer.
        layer: String,
        /// The tensor.
        tensor: String,
        /// How many loads.
        count: u64,
        /// The first one's instruction.
        pc: Address,
    },
    /// The program has SysTick count and interrupt it.
    NoTicks,
    /// The run was stopped behind so many layers.
    Stopped {
        /// The layers.
        layers: u64,
    },
    /// A layer could not be run on another input.
    OtherInputFailed {
        /// The layer.
        layer: String,
        /// Why.
        reason: String,
    },
}

impl Warning {
    /// What the way in which a run ended leaves open.
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
            Self::Stopped { layers } => write!(
                f,
                "nothing is known of what the program does behind layer {layers}: an input that it loads again there must not be overlapped"
            ),
            Self::OtherInputFailed { layer, reason } => {
                write!(f, "layer '{layer}' fails on another input: {reason}")
            }
        }
    }
}

/// A run, ready to be written down.
#[derive(Debug)]
pub struct Report<'a> {
    /// The program.
    pub program: &'a Program,
    /// How it ended.
    pub ending: &'a Ending,
    /// The same in words.
    pub exit: &'a str,
    /// On how many inputs each layer was run, where that is known.
    pub inputs: Option<u64>,
    /// Whether the self-check was on, where that is known.
    pub self_checked: Option<bool>,
    /// The memory map, where it is known.
    pub memory: Option<String>,
    /// The layers.
    pub profile: &'a Profile,
    /// What else there is to know.
    pub warnings: Vec<Warning>,
    /// The arena of a model that the program runs, where it is known.
    pub arena: Option<(&'a Placed, &'a ArenaUse)>,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    program: &'a Program,
    exit: crate::trace::Exit,
    instructions: u64,
    inputs: Option<u64>,
    self_checked: Option<bool>,
    memory: Option<&'a str>,
    layers: &'a [LayerProfile],
    locations: &'a Locations,
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    arena: Option<&'a ArenaUse>,
}

impl Report<'_> {
    /// One JSON object, with a line feed behind it.
    ///
    /// # Errors
    /// Never for a report that a run has made; serde does not know that.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_string_pretty(&Json {
            schema: SCHEMA,
            program: self.program,
            exit: self.ending.exit,
            instructions: self.ending.instructions,
            inputs: self.inputs,
            self_checked: self.self_checked,
            memory: self.memory.as_deref(),
            layers: &self.profile.layers,
            locations: &self.ending.locations,
            warnings: &self.warnings,
            arena: self.arena.map(|(_, arena)| arena),
        })?;
        Ok(json + "\n")
    }

    /// A heading, a table (Markdown) with a row for each pair of an input and an output, and
    /// notes.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} on {}: {}, {} instructions, {} layer{}\n\n",
            self.program.name,
            self.program.cpu,
            self.exit,
            self.ending.instructions,
            self.profile.layers.len(),
            if self.profile.layers.len() == 1 {
                ""
            } else {
                "s"
            }
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", self.table());
        for note in self.notes() {
            let _ = writeln!(text, "\n{note}");
        }
        if let Some((placed, arena)) = self.arena {
            text += &arena.text(placed, &self.ending.locations);
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::ASCII_MARKDOWN);
        table.set_header([
            "#",
            "layer",
            "operator",
            "input → output",
            "loads",
            "stores",
            "instructions",
            "O_s",
            "O_s %",
            "data-dependent",
            "binding store, load",
        ]);
        for (index, layer) in self.profile.layers.iter().enumerate() {
            if layer.pairs.is_empty() {
                let columns = [String::new(), "-".to_owned(), String::new(), String::new()];
                table.add_row(row(index, layer, "no input or no output", columns));
            }
            for pair in &layer.pairs {
                table.add_row(self.pair_row(index, layer, pair));
            }
        }
        for column in [4, 5, 6, 7, 8] {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    fn pair_row(&self, index: usize, layer: &LayerProfile, pair: &Pair) -> Vec<String> {
        let buffer = |index: usize| {
            let tensor = &layer.tensors[index].tensor;
            format!("{} {}", plain(&tensor.name), tensor.size_bytes)
        };
        let overlap = if pair.refusals.is_empty() {
            pair.safe_overlap_bytes.to_string()
        } else {
            "none".to_owned()
        };
        let data_dependent = match layer.data_dependent {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not checked",
        };
        let binding = pair.binding.map_or_else(
            || "nothing binds".to_owned(),
            |binding| {
                let (store, load) = (self.place(&binding.store), self.place(&binding.load));
                // A file is named once.
                let load = match (store.rsplit_once(':'), load.rsplit_once(':')) {
                    (Some((a, _)), Some((b, line))) if a == b => format!(":{line}"),
                    _ => load,
                };
                format!("{store}, {load}")
            },
        );
        row(
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

    fn place(&self, access: &Access) -> String {
        let location = self.ending.locations.get(&access.pc);
        let known = location.filter(|location| **location != Location::default());
        match known {
            Some(location) if location.file.is_some() || location.function.is_some() => {
                let text = location.to_string();
                text.rsplit(['/', '\\']).next().unwrap_or(&text).to_owned()
            }
            _ => access.pc.to_string(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (index, layer) in self.profile.layers.iter().enumerate() {
            for pair in &layer.pairs {
                if pair.refusals.is_empty() {
                    continue;
                }
                let reasons: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
                notes.push(format!(
                    "no overlap for layer {} '{}', {} → {}: {} (this trace alone would allow {} bytes)",
                    index + 1,
                    plain(&layer.name),
                    plain(&layer.tensors[pair.input].tensor.name),
                    plain(&layer.tensors[pair.output].tensor.name),
                    reasons.join("; "),
                    pair.observed_overlap_bytes
                ));
            }
            notes.extend(loaded_between(index, layer, &self.ending.locations));
            notes.extend(several_inputs(index, layer));
        }
        notes.extend(
            self.warnings
                .iter()
                .map(|warning| plain(&format!("warning: {warning}"))),
        );
        notes
    }
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
                "layer {} '{}': {} is loaded again between layers ({}); an overlap holds only where that code can do without it",
                index + 1,
                plain(&layer.name),
                plain(&tensor.tensor.name),
                place
            ))
        })
        .collect()
}

/// A name as it may be printed: no control characters, nothing that ends a table's cell.
pub fn plain(name: &str) -> String {
    name.chars()
        .map(|character| match character {
            '|' => '¦',
            character if character.is_control() => '\u{fffd}',
            character => character,
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
            index + 1,
            plain(&layer.name)
        )
    })
}

fn row(index: usize, layer: &LayerProfile, buffers: &str, rest: [String; 4]) -> Vec<String> {
    let mut cells = vec![
        (index + 1).to_string(),
        plain(&layer.name),
        plain(&layer.operator),
        buffers.to_owned(),
        layer.loads().to_string(),
        layer.stores().to_string(),
        layer.instructions().to_string(),
    ];
    cells.extend(rest);
    cells
}
