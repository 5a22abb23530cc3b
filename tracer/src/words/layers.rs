//! Kernels side by side, operator by operator.

use super::report::Report;
use super::{cycles, table};
use crate::study::layers::{ComparedKernels, ComparedLayer, ComparedModel, ExecutionCost};
use dmo_analysis::wording::{counted, first_lines, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::path::Path;

/// What kernel libraries take for the operators of some models.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LayersReport {
    /// In the order in which they were given.
    pub models: Vec<ComparedModel>,
}

impl Report for LayersReport {
    const SCHEMA: &'static str = "dmo-trace/layers/1";

    fn text(&self) -> String {
        let texts: Vec<String> = self.models.iter().map(text).collect();
        let next = "\nNext: `dmo-trace plan MODEL --kernels KERNELS` plans the arena for the kernels that you choose.\n";
        texts.join("\n") + if texts.is_empty() { "" } else { next }
    }
}

/// At most this many operators are named in a sentence.
const MOST_NAMED: usize = 8;

const STANDS_IN: &str = "*";

/// In what the time of kernels is given.
#[derive(Clone, Copy)]
enum Unit {
    Cycles,
    Instructions,
}

impl Unit {
    /// Cycles, where they are known of all libraries.
    fn of(model: &ComparedModel) -> Self {
        let are_known = model.kernels.iter().all(|it| it.cost.cycles.is_some());
        if are_known {
            Self::Cycles
        } else {
            Self::Instructions
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
        }
    }

    fn count(self, cost: &ExecutionCost) -> u64 {
        match (self, &cost.cycles) {
            (Self::Cycles, Some(cycles)) => cycles.total,
            _ => cost.instructions,
        }
    }

    fn text(self, cost: &ExecutionCost) -> String {
        match (self, &cost.cycles) {
            (Self::Cycles, Some(cycles)) => cycles::total(Some(cycles)),
            _ => grouped(cost.instructions),
        }
    }

    /// What one takes, divided by what another takes.
    fn ratio(self, cost: &ExecutionCost, first: &ExecutionCost) -> String {
        match self.count(first) {
            0 => cycles::UNKNOWN.to_owned(),
            first => format!("{:.2}", self.count(cost) as f64 / first as f64),
        }
    }
}

/// A table with a row for each operator, and what it amounts to.
fn text(model: &ComparedModel) -> String {
    let names: Vec<&str> = model.kernels.iter().map(short).collect();
    let unit = Unit::of(model);
    let mut header = ["", "operator", "output"].map(str::to_owned).to_vec();
    for (position, name) in names.iter().enumerate() {
        header.push(format!("{name}: {}", unit.name()));
        header.extend((position > 0).then(|| "ratio".to_owned()));
        header.extend(["scratch", "O_s"].map(str::to_owned));
    }
    let right = std::iter::once(0).chain(3..header.len());
    let rows = model.layers.iter().map(|layer| row(layer, unit));
    let rows = rows.chain([total(model, unit)]);
    let table = table(header, right, rows);
    let cpus = model.kernels.iter().zip(&names);
    let cpus = cpus.map(|(it, name)| format!("{name} on a {}", it.cpu));
    let cpus = cpus.collect::<Vec<_>>().join(", ");
    let operators = counted(model.layers.len() as u64, "operator", "operators");
    let sentences = sentences(model, unit);
    let tail: String = sentences.iter().map(|it| format!("{it}\n")).collect();
    format!("{}: {operators}; {cpus}\n\n{table}\n\n{tail}", model.model)
}

/// What each library takes, and what the table's marks mean.
fn sentences(model: &ComparedModel, unit: Unit) -> Vec<String> {
    let is_common = |it: &&ComparedLayer| it.figures.iter().all(Option::is_some);
    let common = model.layers.iter().filter(is_common).count();
    let compared = if common > 0 { model.kernels.len() } else { 1 };
    let compared = (1..compared).map(|other| comparison(model, other, unit));
    let mut sentences: Vec<String> = compared.collect();
    sentences.extend(arenas(model));
    let mut figures = model
        .layers
        .iter()
        .flat_map(|it| it.figures.iter().flatten());
    sentences.push(
        "O_s is what the inputs tried allow; `dmo-trace overlap` says whether it holds on every input."
            .to_owned(),
    );
    if figures.any(|it| it.stands_in) {
        sentences.push(format!(
            "{STANDS_IN} a reference kernel, since TensorFlow Lite Micro calls no function of the library for it."
        ));
    }
    let missing = model.layers.len() - common;
    if missing > 0 {
        sentences.push(format!(
            "{} not computed by all, and in no sum.",
            counted(missing as u64, "operator is", "operators are")
        ));
    }
    sentences
}

/// What the model needs with each library, where its arena is planned for it.
fn arenas(model: &ComparedModel) -> Option<String> {
    let arena = |kernels: &ComparedKernels| {
        let arena = kernels.arena.as_ref()?;
        let at_least = if arena.is_lower_bound {
            "at least "
        } else {
            ""
        };
        let runtime = arena.runtime.map_or(String::new(), |runtime| {
            let at_least = if runtime.is_lower_bound {
                "at least "
            } else {
                ""
            };
            format!(
                " (kTensorArenaSize {at_least}{})",
                grouped(runtime.after_bytes)
            )
        });
        Some(format!(
            "{at_least}{} with {}{runtime}",
            grouped(arena.planned_bytes),
            short(kernels)
        ))
    };
    let arenas: Vec<String> = model.kernels.iter().filter_map(arena).collect();
    (!arenas.is_empty()).then(|| format!("Planned arena in bytes: {}.", arenas.join(", ")))
}

/// The name of a set, or of a file without its folder.
fn short(kernels: &ComparedKernels) -> &str {
    let file = Path::new(&kernels.name).file_name();
    file.and_then(|name| name.to_str()).unwrap_or(&kernels.name)
}

fn row(layer: &ComparedLayer, unit: Unit) -> Vec<String> {
    let unknown = || cycles::UNKNOWN.to_owned();
    let number = |count: Option<u32>| count.map_or_else(unknown, |it| grouped(it.into()));
    let mut cells = vec![
        layer.operator.0.to_string(),
        layer.kind.clone(),
        layer.outputs.clone(),
    ];
    let first = layer.figures.first().and_then(Option::as_ref);
    for (position, figures) in layer.figures.iter().enumerate() {
        let known = figures.as_ref();
        cells.push(known.map_or_else(unknown, |it| {
            let mark = if it.stands_in { STANDS_IN } else { "" };
            unit.text(&it.cost) + mark
        }));
        cells.extend((position > 0).then(|| match (known, first) {
            (Some(it), Some(first)) => unit.ratio(&it.cost, &first.cost),
            _ => String::new(),
        }));
        cells.push(number(known.map(|it| it.scratch_bytes)));
        cells.push(number(known.and_then(|it| it.safe_overlap_bytes)));
    }
    cells
}

fn total(model: &ComparedModel, unit: Unit) -> Vec<String> {
    let mut cells = ["", "all", ""].map(str::to_owned).to_vec();
    for (position, kernels) in model.kernels.iter().enumerate() {
        cells.push(unit.text(&kernels.cost));
        let first = &model.kernels[0].cost;
        cells.extend((position > 0).then(|| unit.ratio(&kernels.cost, first)));
        cells.extend([grouped(kernels.scratch_bytes.into()), String::new()]);
    }
    cells
}

/// What another library than the first takes, where it takes more, and where it overlaps less.
fn comparison(model: &ComparedModel, other: usize, unit: Unit) -> String {
    let (first, second) = (&model.kernels[0], &model.kernels[other]);
    let (mut faster, mut slower, mut further, mut less) = (0, Vec::new(), 0, Vec::new());
    for layer in &model.layers {
        let (Some(one), Some(two)) = (&layer.figures[0], &layer.figures[other]) else {
            continue;
        };
        let name = format!("{} {}", layer.operator.0, layer.kind);
        match unit.count(&two.cost).cmp(&unit.count(&one.cost)) {
            Ordering::Less => faster += 1,
            Ordering::Equal => {}
            Ordering::Greater => {
                let ratio = unit.ratio(&two.cost, &one.cost);
                slower.push(format!("{name} ({ratio} times)"));
            }
        }
        match two.safe_overlap_bytes.cmp(&one.safe_overlap_bytes) {
            Ordering::Less => less.push(name),
            Ordering::Equal => {}
            Ordering::Greater => further += 1,
        }
    }
    format!(
        "{} takes {} times the {} of {}, fewer on {}, more on {}; its overlaps are larger on {}, smaller on {}.",
        short(second),
        unit.ratio(&second.cost, &first.cost),
        unit.name(),
        short(first),
        none_or(faster),
        listed(slower),
        none_or(further),
        listed(less),
    )
}

/// How many there are, and which: `2: 4 PAD, 6 PAD`.
fn listed(names: Vec<String>) -> String {
    match names.len() {
        0 => "none".to_owned(),
        count => format!(
            "{}: {}",
            grouped(count as u64),
            first_lines(names, MOST_NAMED).join(", ")
        ),
    }
}

fn none_or(operators: u64) -> String {
    match operators {
        0 => "none".to_owned(),
        _ => counted(operators, "operator", "operators"),
    }
}
