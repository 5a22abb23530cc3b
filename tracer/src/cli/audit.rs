//! `dmo-trace audit`: whether somebody's plan is safe.

use super::plan::source::Source;
use super::plan::{OverlapKind, problem};
use super::{Verdict, output};
use anyhow::Context;
use clap::ValueEnum;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::tflite::offline_plan;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::{PlanFile, SCHEMA, on_device};
use dmo_analysis::plan::Plan;
use dmo_analysis::verify::{Clash, Occupant, Positions, clashes};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `dmo-trace audit`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Model that carries a plan for TensorFlow Lite Micro, or any model with --plan, or a
    /// MiniMalloc .csv with offsets
    model: String,
    /// The plan, as `dmo-trace plan --emit` has written it, .json
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// What outputs may overlap: nothing, or what TensorFlow Lite's reference kernels allow
    /// [default: what the plan.json says, else analytic]
    #[arg(long, value_enum)]
    overlap: Option<OverlapKind>,
    /// The arena may have at most so many bytes
    #[arg(long, value_name = "BYTES", value_parser = super::plan::parse_size)]
    capacity: Option<u64>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

/// So many clashes are told.
const MOST_CLASHES: usize = 100;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    model: String,
    /// Of what kernels.
    overlap: &'static str,
    safe: bool,
    arena_bytes: u64,
    capacity_bytes: Option<u64>,
    /// Whether the arena is within the capacity, where one is given.
    fits: Option<bool>,
    clashes: Vec<Clash>,
    /// The same in words.
    messages: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let report = match problem::is_problem(&arguments.model) {
        true => of_problem(arguments)?,
        false => of_model(arguments)?,
    };
    output::print(&if arguments.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&report)
    })?;
    Ok(match report.safe && report.fits != Some(false) {
        true => Verdict::Holds,
        false => Verdict::Fails,
    })
}

fn fits(arguments: &Arguments, arena_bytes: u64) -> Option<bool> {
    arguments.capacity.map(|capacity| arena_bytes <= capacity)
}

fn text(report: &Report) -> String {
    let mut text = format!("{}: arena {} bytes\n", report.model, report.arena_bytes);
    if let (Some(capacity), Some(false)) = (report.capacity_bytes, report.fits) {
        text += &format!("TOO LARGE: {capacity} bytes are allowed\n");
    }
    for message in &report.messages {
        text += &format!("{message}\n");
    }
    text + match (report.safe, report.overlap) {
        (false, _) => "UNSAFE\n",
        (true, "none") => {
            "SAFE with any kernels: all that is in use at the same time keeps apart\n"
        }
        (true, _) => {
            "SAFE with TensorFlow Lite's reference kernels: all that is in use at the same time \
             keeps apart, or overlaps as far as these allow\n"
        }
    }
}

fn of_model(arguments: &Arguments) -> anyhow::Result<Report> {
    let source = Source::load(&arguments.model)?;
    let graph = source.graph();
    let given = match &arguments.plan {
        Some(path) => read_plan(path, &source)?,
        None => carried(&source)?,
    };
    let overlap = arguments.overlap.unwrap_or(given.overlap);
    let overlaps = overlap.of(graph);
    let positions = Positions {
        tensors: &given.tensors,
        scratch: &given.scratch,
        keep_inputs: given.layout.keep_inputs,
    };
    let found = clashes(graph, &given.order, &overlaps, positions, MOST_CLASHES)
        .with_context(|| source.name.clone())?;
    let mut messages: Vec<String> = found.iter().map(|clash| describe(graph, clash)).collect();
    if found.len() == MOST_CLASHES {
        messages.push(format!("and perhaps more: only {MOST_CLASHES} are told"));
    }
    let mut missing = missing(graph, &given);
    missing.extend(beyond_arena(graph, &given));
    missing.extend(misaligned(graph, &given));
    messages.extend(missing.iter().cloned());
    Ok(Report {
        schema: "dmo-trace/audit/1",
        model: source.name.clone(),
        overlap: overlap.name(),
        safe: found.is_empty() && missing.is_empty(),
        arena_bytes: given.arena_bytes,
        capacity_bytes: arguments.capacity,
        fits: fits(arguments, given.arena_bytes),
        clashes: found,
        messages,
    })
}

/// A plan as it was found.
struct Given {
    order: Vec<OperatorId>,
    tensors: Vec<Option<u64>>,
    scratch: Vec<(OperatorId, u64, u64)>,
    arena_bytes: u64,
    /// The arena's size by the plan's own word.
    declared_bytes: Option<u64>,
    /// Overlaps that it was planned with.
    overlap: OverlapKind,
    /// What the arena was to hold.
    layout: Layout,
}

/// What does not start at a multiple of the alignment.
fn misaligned(graph: &Graph, given: &Given) -> Vec<String> {
    let alignment = given.layout.alignment;
    let tensors = given.tensors.iter().enumerate();
    let tensors =
        tensors.filter_map(|(index, offset)| Some((Occupant::Tensor(TensorId(index)), (*offset)?)));
    let scratch = given.scratch.iter();
    let scratch = scratch.map(|&(operator, offset, _)| (Occupant::Scratch(operator), offset));
    tensors
        .chain(scratch)
        .filter(|(_, offset)| !offset.is_multiple_of(alignment))
        .map(|(occupant, offset)| {
            format!(
                "{} lies at {offset}, not a multiple of {alignment}",
                name(graph, occupant)
            )
        })
        .collect()
}

/// What ends beyond the arena that the plan declares.
fn beyond_arena(graph: &Graph, given: &Given) -> Vec<String> {
    let Some(declared) = given.declared_bytes else {
        return Vec::new();
    };
    let tensors = given
        .tensors
        .iter()
        .enumerate()
        .filter_map(|(index, offset)| {
            let size = graph.tensors[index].size_bytes;
            Some((Occupant::Tensor(TensorId(index)), (*offset)?, size))
        });
    let scratch = given.scratch.iter();
    let scratch =
        scratch.map(|&(operator, offset, size)| (Occupant::Scratch(operator), offset, size));
    // 128 bits: an end that does not fit in 64 is beyond every arena.
    tensors
        .chain(scratch)
        .map(|(occupant, offset, size)| (occupant, u128::from(offset) + u128::from(size)))
        .filter(|&(_, end)| end > u128::from(declared))
        .map(|(occupant, end)| {
            format!(
                "{} ends at {end}, beyond the plan's arena of {declared} bytes",
                name(graph, occupant)
            )
        })
        .collect()
}

/// Tensors that an operator uses and that lie nowhere.
fn missing(graph: &Graph, given: &Given) -> Vec<String> {
    let counted = given.layout.counted;
    let elsewhere = |id: TensorId| {
        !counted.count_graph_inputs && graph.inputs.contains(&id)
            || !counted.count_graph_outputs && graph.outputs.contains(&id)
    };
    let mut messages = Vec::new();
    let mut told = vec![false; graph.tensors.len()];
    let touched = graph.operators.iter().flat_map(|node| {
        let inputs = graph.arena_inputs(node).into_iter();
        inputs.chain(graph.arena_outputs(node))
    });
    let ends = graph.inputs.iter().chain(&graph.outputs).copied();
    for id in touched.chain(ends.filter(|&id| graph.in_arena(id))) {
        let unplaced = given.tensors[id.0].is_none() && graph.tensor(id).size_bytes > 0;
        if unplaced && !elsewhere(id) && !std::mem::replace(&mut told[id.0], true) {
            messages.push(format!(
                "{} has no offset",
                name(graph, Occupant::Tensor(id))
            ));
        }
    }
    messages
}

fn read_plan(path: &Path, source: &Source) -> anyhow::Result<Given> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let plan: PlanFile = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is no plan of the form {SCHEMA}"))?;
    anyhow::ensure!(
        plan.schema == SCHEMA,
        "{shown}: schema {:?}, expected {SCHEMA:?}",
        plan.schema
    );
    anyhow::ensure!(
        plan.model_sha256 == source.sha256,
        "{shown} is the plan of another file than {} (their SHA-256 differ); a plan belongs to the \
         file that was planned, not to the one that was emitted",
        source.name
    );
    let graph = source.graph();
    let tensors = graph.tensors.len();
    for planned in &plan.tensors {
        let size = graph
            .tensors
            .get(planned.tensor.0)
            .map(|tensor| tensor.size_bytes);
        anyhow::ensure!(
            size == Some(planned.size_bytes),
            "{shown}: tensor {} has {} bytes in the plan; the model has {tensors} tensors, and \
             {size:?} bytes for this one",
            planned.tensor.0,
            planned.size_bytes
        );
    }
    let mut offsets = vec![None; tensors];
    for planned in &plan.tensors {
        let place = &mut offsets[planned.tensor.0];
        anyhow::ensure!(
            place.is_none(),
            "{shown}: tensor {} is placed twice",
            planned.tensor.0
        );
        *place = Some(planned.offset);
    }
    check_scratch(graph, &plan).with_context(|| shown.to_string())?;
    anyhow::ensure!(plan.layout.alignment > 0, "{shown}: alignment 0");
    let scratch = plan.scratch_positions();
    let ends = plan
        .tensors
        .iter()
        .map(|tensor| (tensor.offset, tensor.size_bytes));
    let ends = ends.chain(scratch.iter().map(|&(_, offset, size)| (offset, size)));
    let ends = ends.map(|(offset, size)| offset.saturating_add(size));
    let overlap = OverlapKind::value_variants()
        .iter()
        .find(|kind| kind.name() == plan.overlap)
        .with_context(|| format!("{shown}: overlap {:?} is not known", plan.overlap))?;
    Ok(Given {
        order: plan.order.clone(),
        arena_bytes: ends.max().unwrap_or(0).max(plan.arena_bytes),
        declared_bytes: Some(plan.arena_bytes),
        overlap: *overlap,
        tensors: offsets,
        scratch,
        layout: plan.layout,
    })
}

/// Each scratch buffer of each operator is there once, as large as the kernel wants it.
fn check_scratch(graph: &Graph, plan: &PlanFile) -> anyhow::Result<()> {
    let mut found = Vec::new();
    for scratch in &plan.scratch {
        let wanted = graph.operators.get(scratch.operator.0);
        let wanted = wanted.and_then(|node| node.scratch_bytes.get(scratch.index));
        anyhow::ensure!(
            wanted == Some(&scratch.size_bytes),
            "scratch {} of operator {} has {} bytes, expected {wanted:?}",
            scratch.index,
            scratch.operator.0,
            scratch.size_bytes
        );
        found.push((scratch.operator.0, scratch.index));
    }
    let mut expected = Vec::new();
    for (operator, node) in graph
        .operators
        .iter()
        .enumerate()
        .filter(|_| plan.layout.scratch)
    {
        for (index, _) in node
            .scratch_bytes
            .iter()
            .enumerate()
            .filter(|(_, bytes)| **bytes > 0)
        {
            expected.push((operator, index));
        }
    }
    found.sort_unstable();
    anyhow::ensure!(
        found == expected,
        "{} scratch buffers are placed, {} are needed, each once",
        found.len(),
        expected.len()
    );
    Ok(())
}

/// The plan in the model's metadata; what it leaves to the runtime is placed as TensorFlow
/// Lite Micro does.
fn carried(source: &Source) -> anyhow::Result<Given> {
    let file = source.file.as_deref().context("there is no model file")?;
    let plan = offline_plan(file)
        .with_context(|| source.name.clone())?
        .with_context(|| {
            format!(
                "{} carries no plan (metadata OfflineMemoryAllocation): give one with --plan",
                source.name
            )
        })?;
    anyhow::ensure!(
        source.model.graphs.len() == 1,
        "{} has several subgraphs, for each of which TensorFlow Lite Micro reads the offsets of \
         the first",
        source.name
    );
    let graph = source.graph();
    anyhow::ensure!(
        plan.offsets.len() == graph.tensors.len(),
        "{}: the plan has {} offsets, the model {} tensors",
        source.name,
        plan.offsets.len(),
        graph.tensors.len()
    );
    let offsets: Vec<Option<u64>> = plan
        .offsets
        .iter()
        .enumerate()
        .map(|(tensor, &offset)| match offset {
            -1 => Ok(None),
            offset => u64::try_from(offset)
                .map(Some)
                .with_context(|| format!("{}: tensor {tensor} is to lie at {offset}", source.name)),
        })
        .collect::<anyhow::Result<_>>()?;
    let order = graph.file_order();
    let device = on_device(graph, &order, &offsets).with_context(|| source.name.clone())?;
    Ok(Given {
        order,
        tensors: device.tensors,
        scratch: device.scratch,
        arena_bytes: device.arena_bytes,
        declared_bytes: None,
        overlap: OverlapKind::Analytic,
        layout: Layout::tflm(),
    })
}

fn describe(graph: &Graph, clash: &Clash) -> String {
    let node = &graph.operators[clash.operator.0];
    let needed = match clash.needed_displacement {
        Some(bytes) => format!("; the input has to start at least {bytes} bytes above the output"),
        None => String::new(),
    };
    let unknown = match node.kernel {
        Some(_) => "",
        None => "; nothing is known of this operator, so that no overlap is granted",
    };
    format!(
        "operator {} {}: {} and {} share arena bytes {}..{}{needed}{unknown}",
        clash.operator.0,
        node.kind.escape_debug(),
        name(graph, clash.one),
        name(graph, clash.other),
        clash.bytes.start,
        clash.bytes.end,
    )
}

fn name(graph: &Graph, occupant: Occupant) -> String {
    match occupant {
        Occupant::Tensor(id) => format!("tensor {} {:?}", id.0, graph.tensor(id).name),
        Occupant::Scratch(operator) => format!("a scratch buffer of operator {}", operator.0),
    }
}

fn of_problem(arguments: &Arguments) -> anyhow::Result<Report> {
    let table = problem::read(&arguments.model)?;
    let offsets = table.offsets.with_context(|| {
        format!(
            "{}: there is no column offset to be checked",
            arguments.model
        )
    })?;
    let plan = Plan { offsets };
    let broken = plan.check(&table.problem);
    let buffers = table.problem.buffers();
    let messages = broken.iter().take(MOST_CLASHES).map(|violation| {
        let other = match violation.kind {
            dmo_analysis::plan::ViolationKind::TooClose { other, .. } => {
                buffers[other].name.clone()
            }
            _ => String::new(),
        };
        format!(
            "buffers {} and {other} share bytes",
            buffers[violation.buffer].name
        )
    });
    Ok(Report {
        schema: "dmo-trace/audit/1",
        model: arguments.model.clone(),
        overlap: OverlapKind::None.name(),
        safe: broken.is_empty(),
        arena_bytes: plan.arena_bytes(&table.problem),
        capacity_bytes: arguments.capacity,
        fits: fits(arguments, plan.arena_bytes(&table.problem)),
        clashes: Vec::new(),
        messages: messages.collect(),
    })
}
