//! Kernels side by side, operator by operator.

use super::report::Report;
use super::{cycles, table};
use crate::study::layers::{ComparedKernels, ComparedLayer, ComparedModel, LayerFigures};
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
        texts.join("\n")
    }
}

/// At most this many operators are named in a sentence.
const MOST_NAMED: usize = 8;

const STANDS_IN: &str = "*";

/// A table with a row for each operator, and what it amounts to.
fn text(model: &ComparedModel) -> String {
    let names: Vec<&str> = model.kernels.iter().map(short).collect();
    let are_cycles = model.kernels.iter().all(|it| it.cycles.is_some());
    let unit = if are_cycles { "cycles" } else { "instructions" };
    let mut header = vec!["".to_owned(), "operator".to_owned(), "output".to_owned()];
    for (position, name) in names.iter().enumerate() {
        header.push(format!("{name}: {unit}"));
        header.extend((position > 0).then(|| "ratio".to_owned()));
        header.extend(["scratch", "O_s"].map(str::to_owned));
    }
    let right = std::iter::once(0).chain(3..header.len());
    let rows = model.layers.iter().map(|layer| row(layer, are_cycles));
    let rows = rows.chain([total(model, are_cycles)]);
    let table = table(header, right, rows);
    let is_common = |it: &&ComparedLayer| it.figures.iter().all(Option::is_some);
    let others = match model.layers.iter().find(is_common) {
        Some(_) => 1..model.kernels.len(),
        None => 0..0,
    };
    let mut sentences: Vec<String> = others.map(|other| comparison(model, other, unit)).collect();
    let figures = model
        .layers
        .iter()
        .flat_map(|it| it.figures.iter().flatten());
    if figures.into_iter().any(|it| it.stands_in) {
        sentences.push(format!(
            "{STANDS_IN} a reference kernel, since the library has no function for it that can be called."
        ));
    }
    let is_missing = |it: &&ComparedLayer| it.figures.iter().any(Option::is_none);
    let missing = model.layers.iter().filter(is_missing).count();
    if missing > 0 {
        sentences.push(format!(
            "{} not computed by all, and in no sum.",
            counted(missing as u64, "operator is", "operators are")
        ));
    }
    let cpus = model.kernels.iter().zip(&names);
    let cpus: Vec<String> = cpus
        .map(|(it, name)| format!("{name} on a {}", it.cpu))
        .collect();
    let operators = counted(model.layers.len() as u64, "operator", "operators");
    let head = format!("{}: {operators}; {}", model.model, cpus.join(", "));
    let tail: String = sentences.iter().map(|it| format!("{it}\n")).collect();
    format!("{head}\n\n{table}\n\n{tail}")
}

/// The name of a set, or of a file without its folder.
fn short(kernels: &ComparedKernels) -> &str {
    let file = Path::new(&kernels.name).file_name();
    file.and_then(|name| name.to_str()).unwrap_or(&kernels.name)
}

fn row(layer: &ComparedLayer, are_cycles: bool) -> Vec<String> {
    let mut cells = vec![
        layer.operator.0.to_string(),
        layer.kind.clone(),
        layer.outputs.clone(),
    ];
    let first = layer.figures.first().and_then(Option::as_ref);
    for (position, figures) in layer.figures.iter().enumerate() {
        let known = figures.as_ref();
        let mark = known.filter(|it| it.stands_in).map_or("", |_| STANDS_IN);
        let time = known.map_or(cycles::UNKNOWN.to_owned(), |it| {
            if are_cycles {
                cycles::total(it.cycles.as_ref())
            } else {
                grouped(it.instructions)
            }
        });
        cells.push(time + mark);
        cells.extend((position > 0).then(|| {
            let known = known.zip(first);
            known.map_or(String::new(), |(it, first)| {
                ratio(time_of(it, are_cycles), time_of(first, are_cycles))
            })
        }));
        let unknown = || cycles::UNKNOWN.to_owned();
        cells.push(known.map_or_else(unknown, |it| grouped(it.scratch_bytes.into())));
        let overlap = known.and_then(|it| it.safe_overlap_bytes);
        cells.push(overlap.map_or_else(unknown, |bytes| grouped(bytes.into())));
    }
    cells
}

fn total(model: &ComparedModel, are_cycles: bool) -> Vec<String> {
    let mut cells = vec!["".to_owned(), "all".to_owned(), "".to_owned()];
    for (position, kernels) in model.kernels.iter().enumerate() {
        let time = time_of_all(kernels, are_cycles);
        cells.push(match &kernels.cycles {
            Some(known) if are_cycles => cycles::total(Some(known)),
            _ => grouped(time),
        });
        let first = time_of_all(&model.kernels[0], are_cycles);
        cells.extend((position > 0).then(|| ratio(time, first)));
        cells.extend([grouped(kernels.scratch_bytes.into()), String::new()]);
    }
    cells
}

fn time_of(figures: &LayerFigures, are_cycles: bool) -> u64 {
    match &figures.cycles {
        Some(cycles) if are_cycles => cycles.total,
        _ => figures.instructions,
    }
}

fn time_of_all(kernels: &ComparedKernels, are_cycles: bool) -> u64 {
    match kernels.cycles {
        Some(cycles) if are_cycles => cycles.total,
        _ => kernels.instructions,
    }
}

fn ratio(time: u64, first: u64) -> String {
    if first == 0 {
        return cycles::UNKNOWN.to_owned();
    }
    format!("{:.2}", time as f64 / first as f64)
}

/// What another library than the first takes, where it takes more, and where it overlaps less.
fn comparison(model: &ComparedModel, other: usize, unit: &str) -> String {
    let are_cycles = unit == "cycles";
    let (first, second) = (&model.kernels[0], &model.kernels[other]);
    let all = ratio(
        time_of_all(second, are_cycles),
        time_of_all(first, are_cycles),
    );
    let (mut faster, mut slower, mut further, mut less) = (0, Vec::new(), 0, Vec::new());
    for layer in &model.layers {
        let (Some(one), Some(two)) = (&layer.figures[0], &layer.figures[other]) else {
            continue;
        };
        let name = format!("{} {}", layer.operator.0, layer.kind);
        let overlaps = [one, two].map(|it| it.safe_overlap_bytes);
        let [one, two] = [one, two].map(|it| time_of(it, are_cycles));
        match two.cmp(&one) {
            Ordering::Less => faster += 1,
            Ordering::Equal => {}
            Ordering::Greater => slower.push(format!("{name} ({} times)", ratio(two, one))),
        }
        match overlaps[1].cmp(&overlaps[0]) {
            Ordering::Less => less.push(name),
            Ordering::Equal => {}
            Ordering::Greater => further += 1,
        }
    }
    let names = [short(second), short(first)];
    format!(
        "{} takes {all} times the {unit} of {}, fewer on {}, more on {}; its overlaps are larger on {}, smaller on {}.",
        names[0],
        names[1],
        counted(faster, "operator", "operators"),
        listed(slower),
        counted(further, "operator", "operators"),
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
