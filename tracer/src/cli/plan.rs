//! `dmo-trace plan`: the smallest arena of a model, with proof, and what others would need.

mod change;
mod draw;
mod emit;
mod file;
pub mod given;
pub mod kernels;
pub mod problem;
mod regions;
mod report;
pub mod source;

use super::{Verdict, output, progress};
use anyhow::Context;
use change::{ChangeArguments, Found};
use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, TensorId};
use dmo_analysis::handover::{OnDevice, PlanFile, on_device};
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::schedule::Options;
use dmo_analysis::verify::{Positions, clashes};
use dmo_analysis::wording::parse_size;
use dmo_planner::plan::STRATEGIES;
use dmo_planner::plan::tflm::ALIGNMENT;
use dmo_planner::regions::Region;
use given::element_alignment;
use kernels::{Ground, KernelArguments, ground, loop_order_cost};
use report::{PlanReport, Planner};
use source::Source;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `dmo-trace plan`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file or zoo:NAME (see `dmo-trace zoo`); or a planning problem, a .csv in
    /// MiniMalloc's format
    model: String,
    #[command(flatten)]
    kernels: KernelArguments,
    /// Order in which the operators run
    #[arg(long, value_enum, default_value_t = OrderKind::Best)]
    order: OrderKind,
    #[command(flatten)]
    layout: LayoutArguments,
    #[command(flatten)]
    change: ChangeArguments,
    /// Fail (exit code 1) if the arena is larger than this, for example 64K
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    capacity: Option<u64>,
    /// Place this tensor, given by its index in the file, at this offset; repeatable
    #[arg(long, value_name = "TENSOR=OFFSET", value_parser = parse_fixed)]
    fix: Vec<(TensorId, u64)>,
    /// Stop searching after this many seconds and use the best plan found so far
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = super::parse_seconds)]
    time: f64,
    /// Write the plan: .json (docs/json.md), .h (C array of offsets), or .tflite (the model with
    /// the plan embedded, for TensorFlow Lite Micro); repeatable
    #[arg(long, value_name = "FILE")]
    emit: Vec<PathBuf>,
    /// Draw the plan, the best plan without overlaps, and the memory in use at each step, as SVG
    /// and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// A memory and its size, for example sram=64K; repeatable: buffers that do not fit into the
    /// first go to the next
    #[arg(long, value_name = "NAME=BYTES", value_parser = regions::parse, conflicts_with_all = ["capacity", "fix", "plot"])]
    region: Vec<Region>,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
}

/// What the arena holds.
#[derive(clap::Args)]
pub struct LayoutArguments {
    /// Round offsets and sizes up to multiples of this many bytes (TensorFlow Lite Micro uses 16)
    #[arg(long, value_name = "BYTES", default_value_t = ALIGNMENT, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    align: u64,
    /// Keep the model's inputs outside the arena
    #[arg(long)]
    exclude_inputs: bool,
    /// Keep the model's outputs outside the arena
    #[arg(long)]
    exclude_outputs: bool,
    /// Preserve the model's inputs: they are intact when an inference has ended
    #[arg(long, conflicts_with = "exclude_inputs")]
    keep_inputs: bool,
    /// Keep scratch buffers outside the arena
    #[arg(long)]
    exclude_scratch: bool,
}

impl LayoutArguments {
    /// The layout that they describe.
    pub fn layout(&self) -> Layout {
        Layout {
            alignment: self.align,
            round_sizes: true,
            counted: Options {
                count_graph_inputs: !self.exclude_inputs,
                count_graph_outputs: !self.exclude_outputs,
            },
            keep_inputs: self.keep_inputs,
            scratch: !self.exclude_scratch,
        }
    }
}

/// Where overlaps come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OverlapKind {
    /// No overlaps
    None,
    /// Overlaps of TensorFlow Lite's reference kernels, from formulas
    Analytic,
    /// Overlaps measured on the machine code of --kernels
    Traced,
}

impl OverlapKind {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Analytic => "analytic",
            Self::Traced => "traced",
        }
    }

    /// The overlaps of a graph; none where they have to be measured.
    pub fn of(self, graph: &Graph) -> Option<Overlaps> {
        match self {
            Self::None => Some(overlaps::none(graph)),
            Self::Analytic => Some(overlaps::analytic(graph)),
            Self::Traced => None,
        }
    }
}

/// In which order the operators run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OrderKind {
    /// The order of the file
    File,
    /// The order with the smallest arena
    Best,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if problem::is_problem(&arguments.model) {
        return problem::run(arguments);
    }
    let mut source = Source::load(&arguments.model)?;
    for path in &arguments.emit {
        emit::check(path, &source, arguments.layout.align)?;
        let same = path
            .canonicalize()
            .ok()
            .zip(PathBuf::from(&arguments.model).canonicalize().ok());
        anyhow::ensure!(
            same.is_none_or(|(path, model)| path != model),
            "cannot emit {}: it is the model itself",
            path.display()
        );
    }
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    for (tensor, _) in &arguments.fix {
        anyhow::ensure!(
            tensor.0 < source.graph().tensors.len(),
            "--fix {}: the model has {} tensors",
            tensor.0,
            source.graph().tensors.len()
        );
    }
    let found = if arguments.change.reshapes() {
        changed(arguments, &mut source)?
    } else {
        None
    };
    for path in &arguments.emit {
        emit::check(path, &source, arguments.layout.align)?;
    }
    let ground = grounded(arguments, &source)?;
    let Ground {
        graph,
        overlaps,
        measured,
        ..
    } = &ground;
    let task = Task {
        graph,
        overlaps,
        layout: arguments.layout.layout(),
        reorder: arguments.order == OrderKind::Best,
        fixed: &arguments.fix,
    };
    let seconds = match &found {
        Some(_) => arguments.time * SHARES[2],
        None => arguments.time,
    };
    let (task, planned) = search(task, seconds).with_context(|| source.name.clone())?;
    if !arguments.region.is_empty() {
        let kernels = measured.as_ref().map(|measured| &measured.planned);
        return regions::run(arguments, &source, kernels, task, &planned);
    }
    let file = plan_file(&source, &ground, task, &planned)?;
    let loop_order_cost = match measured {
        Some(measured) if !measured.layers.is_empty() => Some(loop_order_cost(task, &planned)?),
        _ => None,
    };
    let carried = source.carried_offsets();
    let report = PlanReport {
        device: device(&source, task, &planned, carried.as_deref())?,
        planners: planners(task).with_context(|| source.name.clone())?,
        naive_bytes: source.original().naive_bytes(),
        operators: graph.operators.len(),
        unknown: unknown(graph),
        notes: source.notes(),
        found,
        carries_plan: carried.is_some(),
        capacity_bytes: arguments.capacity,
        fits: arguments
            .capacity
            .map(|capacity| planned.arena_bytes <= capacity),
        kernels: measured
            .as_ref()
            .map(|measured| measured.layers.clone())
            .filter(|layers| !layers.is_empty()),
        loop_order_cost,
        kinds: graph
            .operators
            .iter()
            .map(|node| node.kind.escape_debug().to_string())
            .collect(),
        reordered: planned.order != graph.file_order(),
        plan: file,
    };
    if let Some(folder) = &arguments.plot {
        draw::draw(&source.name, task, &planned, report.found.as_ref(), folder)?;
        output::message(&format!("pictures (SVG and PNG) in {}", folder.display()));
    }
    for path in &arguments.emit {
        output::write(path, &emit::content(path, &source, &report.plan)?)?;
    }
    output::report(&report, arguments.json)?;
    Ok(match arguments.capacity {
        Some(capacity) if report.plan.arena_bytes > capacity => {
            output::message(&format!(
                "dmo-trace: {}: the arena has {} bytes, {capacity} are allowed",
                source.name, report.plan.arena_bytes
            ));
            Verdict::Fails
        }
        _ => Verdict::Holds,
    })
}

/// Of the time: for the order, for what may be changed, for the plan.
const SHARES: [f64; 3] = [0.2, 0.6, 0.2];

/// What may overlap in the model as it is now.
fn grounded(arguments: &Arguments, source: &Source) -> anyhow::Result<Ground> {
    let mut ground = ground(&arguments.kernels, source)?;
    if ground.overlap == OverlapKind::None {
        ground.overlaps = change::allowed(&ground.graph, ground.overlap, &arguments.change);
        ground.accumulates = arguments.change.accumulates();
    }
    Ok(ground)
}

/// Makes of the model what needs the smallest arena, and tells what else was found; none where
/// nothing is better than the model as it is.
fn changed(arguments: &Arguments, source: &mut Source) -> anyhow::Result<Option<Found>> {
    anyhow::ensure!(
        arguments.fix.is_empty() && arguments.region.is_empty(),
        "--allow other than accumulate goes with neither --fix nor --region"
    );
    let overlap = arguments.kernels.overlap();
    let graph = source.graph();
    let overlaps = change::allowed(graph, overlap, &arguments.change);
    let task = Task {
        graph,
        overlaps: &overlaps,
        layout: arguments.layout.layout(),
        reorder: arguments.order == OrderKind::Best,
        fixed: &[],
    };
    let start = Instant::now();
    let (_, planned) = search(task, arguments.time * SHARES[0])?;
    // What the order has left over, too.
    let time = Duration::from_secs_f64(arguments.time * (SHARES[0] + SHARES[1]));
    let time = time.saturating_sub(start.elapsed());
    let found = change::search(
        source,
        &planned.order,
        &arguments.change,
        &arguments.layout,
        overlap,
        time,
    )?;
    let best = found.best().filter(|best| best.recipe.changes());
    if let Some(recipe) = best.map(|best| best.recipe.clone()) {
        // What was found by formula may be worse on these kernels.
        let plain = measured_bytes(arguments, source)?;
        source.follow(recipe)?;
        if plain.is_some() && measured_bytes(arguments, source)? >= plain {
            source.follow_nothing();
        }
    }
    Ok(Some(found))
}

/// The arena of the model as it is now on measured kernels, in bytes; none by formula.
fn measured_bytes(arguments: &Arguments, source: &Source) -> anyhow::Result<Option<u64>> {
    if arguments.kernels.overlap() != OverlapKind::Traced {
        return Ok(None);
    }
    let ground = grounded(arguments, source)?;
    let (layout, seconds) = (arguments.layout.layout(), arguments.time * SHARES[2]);
    let plan = plan_of(source, &ground, layout, arguments.order, seconds)?;
    Ok(Some(plan.arena_bytes))
}

/// The plan of a model on its ground, with its certificate; the search ends after so many seconds.
pub fn plan_of(
    source: &Source,
    ground: &Ground,
    layout: Layout,
    order: OrderKind,
    seconds: f64,
) -> anyhow::Result<PlanFile> {
    let task = Task {
        graph: &ground.graph,
        overlaps: &ground.overlaps,
        layout,
        reorder: order == OrderKind::Best,
        fixed: &[],
    };
    let (task, planned) = search(task, seconds).with_context(|| source.name.clone())?;
    plan_file(source, ground, task, &planned)
}

/// What was found, complete in itself and checked.
fn plan_file(
    source: &Source,
    ground: &Ground,
    task: Task<'_>,
    planned: &ModelPlan,
) -> anyhow::Result<PlanFile> {
    let overlap = ground.overlap.name();
    let mut file = PlanFile::new(&source.name, source.sha256.clone(), overlap, task, planned);
    let measured = ground.measured.as_ref();
    file.kernels = measured.map(|measured| measured.planned.clone());
    file.recipe = source.recipe().cloned();
    if ground.accumulates {
        // The formulas grant what element-wise operators do.
        file.overlap = OverlapKind::Analytic.name().to_owned();
    }
    ensure_safe(task, &file).with_context(|| source.name.clone())?;
    Ok(file)
}

/// The last look at a plan before anyone sees it, by a check that shares nothing with the
/// planners.
fn ensure_safe(task: Task<'_>, plan: &PlanFile) -> anyhow::Result<()> {
    let tensors = plan.offsets(task.graph.tensors.len());
    let scratch = plan.scratch_positions();
    let positions = Positions {
        tensors: &tensors,
        scratch: &scratch,
        keep_inputs: task.layout.keep_inputs,
    };
    let found = clashes(task.graph, &plan.order, task.overlaps, positions, 1)?;
    anyhow::ensure!(
        found.is_empty(),
        "the plan found does not pass its check, please report this: {found:?}"
    );
    Ok(())
}

fn parse_fixed(text: &str) -> Result<(TensorId, u64), String> {
    let pair = text
        .split_once('=')
        .and_then(|(tensor, offset)| Some((TensorId(tensor.parse().ok()?), offset.parse().ok()?)));
    pair.ok_or_else(|| format!("'{text}' is not TENSOR=OFFSET, two numbers"))
}

/// The smallest plan in which every tensor lies as its elements want it: a float at an odd
/// address makes a real core fault. The task is the one that was planned in the end.
fn search<'a>(task: Task<'a>, seconds: f64) -> anyhow::Result<(Task<'a>, ModelPlan)> {
    let planned = search_once(task, seconds)?;
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let elements = offsets.iter().enumerate().filter_map(|(index, offset)| {
        let element = element_alignment(task.graph, TensorId(index));
        (!(*offset)?.is_multiple_of(element)).then_some(element)
    });
    let Some(element) = elements.max() else {
        return Ok((task, planned));
    };
    let alignment = match task.layout.alignment {
        alignment if alignment.is_multiple_of(element) => alignment,
        alignment => alignment.saturating_mul(element),
    };
    output::message(&format!(
        "some tensors have elements of {element} bytes: offsets are multiples of {alignment}"
    ));
    let layout = Layout {
        alignment,
        ..task.layout
    };
    let task = Task { layout, ..task };
    Ok((task, search_once(task, seconds)?))
}

fn search_once(task: Task<'_>, seconds: f64) -> anyhow::Result<ModelPlan> {
    let bar = progress::spinner("planning");
    let start = Instant::now();
    let planned = optimise(task, Duration::from_secs_f64(seconds), &mut |progress| {
        let arena = progress
            .arena_bytes
            .map_or("no plan yet".to_owned(), |bytes| {
                format!("arena {bytes} bytes")
            });
        bar.set_message(format!(
            "{arena}, bound {} bytes, {} orders, {:.0} s",
            progress.bound_bytes,
            progress.orders,
            start.elapsed().as_secs_f64()
        ));
    });
    bar.finish_and_clear();
    Ok(planned?)
}

/// What each planner needs for the file's order.
fn planners(task: Task<'_>) -> anyhow::Result<Vec<Planner>> {
    let order = task.graph.file_order();
    let arena = Arena::new(task.graph, &order, task.overlaps, task.layout)?;
    let apart = Arena::new(task.graph, &order, &overlaps::none(task.graph), task.layout)?;
    let rows = STRATEGIES.iter().filter_map(|strategy| {
        // Without overlaps there are no aliases either.
        let problem = if strategy.uses_overlaps {
            &arena.problem
        } else {
            &apart.problem
        };
        Planner::of(strategy, problem)
    });
    Ok(rows.collect())
}

/// What TensorFlow Lite Micro needs, by itself and with the plan; none where it could not
/// use the plan.
fn device(
    source: &Source,
    task: Task<'_>,
    planned: &ModelPlan,
    carried: Option<&[Option<u64>]>,
) -> anyhow::Result<Option<[OnDevice; 2]>> {
    if !task.layout.alignment.is_multiple_of(ALIGNMENT) || emit::obstacle(source).is_some() {
        return Ok(None);
    }
    let graph = task.graph;
    let none = vec![None; graph.tensors.len()];
    let own = on_device(graph, &graph.file_order(), carried.unwrap_or(&none))?;
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let with_plan = on_device(graph, &planned.order, &offsets)?;
    Ok(Some([own, with_plan]))
}

/// Kinds of operators that get no overlap because they are not known.
fn unknown(graph: &Graph) -> Vec<String> {
    let nodes = graph.operators.iter().filter(|node| node.kernel.is_none());
    let kinds = nodes.map(|node| node.kind.escape_debug().to_string());
    let mut kinds: Vec<String> = kinds.collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
