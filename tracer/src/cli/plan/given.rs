//! A plan as somebody has written it: read, and checked for what needs no kernels.

use super::OverlapKind;
use super::file::read_plan_file;
use super::source::Source;
use anyhow::Context;
use clap::ValueEnum;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::tflite::offline_plan;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::{PlanFile, PlannedKernels, SCHEMA, on_device};
use dmo_analysis::verify::Occupant;
use dmo_trace::words::names;
use std::collections::HashSet;
use std::path::Path;

/// A plan as it was found.
pub struct Given {
    /// Operators in the order in which they run.
    pub order: Vec<OperatorId>,
    /// Offset in the arena of each of the model's tensors.
    pub tensors: Vec<Option<u64>>,
    /// Scratch buffers: the operator, offset and size in bytes.
    pub scratch: Vec<(OperatorId, u64, u64)>,
    /// To the end of what lies last, in bytes.
    pub arena_bytes: u64,
    /// The arena's size by the plan's own word.
    pub declared_bytes: Option<u64>,
    /// Overlaps that it was planned with.
    pub overlap: OverlapKind,
    /// What the arena was to hold.
    pub layout: Layout,
    /// The kernels whose overlaps were measured for it.
    pub kernels: Option<PlannedKernels>,
}

impl Given {
    /// What is wrong with it whatever may overlap, in words.
    pub fn faults(&self, graph: &Graph) -> Vec<String> {
        let mut faults = missing(graph, self);
        faults.extend(beyond_arena(graph, self));
        faults.extend(misaligned(graph, self));
        faults
    }
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
        .map(|(occupant, offset)| (occupant, offset, wanted(graph, occupant, alignment)))
        .filter(|(_, offset, alignment)| !offset.is_multiple_of(*alignment))
        .map(|(occupant, offset, alignment)| {
            format!(
                "{} lies at {offset}, not a multiple of {alignment}",
                names::occupant(graph, occupant)
            )
        })
        .collect()
}

/// What an offset has to be a multiple of, in bytes: of a part of a tensor, no more than its
/// elements want.
fn wanted(graph: &Graph, occupant: Occupant, alignment: u64) -> u64 {
    match occupant {
        Occupant::Tensor(id) if graph.views.contains_key(&id) => element_alignment(graph, id),
        Occupant::Tensor(id) => alignment.max(element_alignment(graph, id)),
        Occupant::Scratch(_) => alignment,
    }
}

/// Bytes of a tensor's elements, as far as a core loads them at once.
pub fn element_alignment(graph: &Graph, id: TensorId) -> u64 {
    graph.tensor(id).element_type.alignment()
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
                names::occupant(graph, occupant)
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
        if unplaced && !elsewhere(graph.root(id)) && !std::mem::replace(&mut told[id.0], true) {
            messages.push(format!(
                "{} has no offset",
                names::occupant(graph, Occupant::Tensor(id))
            ));
        }
    }
    messages
}

/// A plan.json; its scratch buffers are to be those of `scratch_of`, where that is given.
pub fn read_plan(
    path: &Path,
    source: &Source,
    scratch_of: Option<&Graph>,
) -> anyhow::Result<Given> {
    let plan = read_plan_file(path)?;
    of_plan(plan, source, scratch_of, &path.display().to_string())
}

/// The same, of a plan that the user knows by this name.
pub fn of_plan(
    plan: PlanFile,
    source: &Source,
    scratch_of: Option<&Graph>,
    shown: &str,
) -> anyhow::Result<Given> {
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
    anyhow::ensure!(
        plan.recipe.as_ref() == source.recipe(),
        "{shown} is the plan of a model that other operators are made of"
    );
    anyhow::ensure!(
        plan.recipe.is_none() || plan.order == graph.file_order(),
        "{shown}: its order is not that of the operators that its recipe makes, {} in all; they run \
         as they are made",
        graph.operators.len()
    );
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
    check_views(graph, &offsets).with_context(|| shown.to_owned())?;
    match scratch_of {
        Some(graph) => check_scratch(graph, &plan),
        None => check_scratch_names(graph, &plan),
    }
    .with_context(|| shown.to_owned())?;
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
        kernels: plan.kernels,
    })
}

/// Tensors that lie inside of others do.
fn check_views(graph: &Graph, offsets: &[Option<u64>]) -> anyhow::Result<()> {
    let expected = graph.with_views(offsets.to_vec());
    let differ = |index: &usize| expected[*index] != offsets[*index];
    match (0..offsets.len()).find(differ) {
        None => Ok(()),
        Some(index) => anyhow::bail!(
            "{} is a part of another, which the plan has elsewhere",
            names::occupant(graph, Occupant::Tensor(TensorId(index)))
        ),
    }
}

/// Scratch buffers are of operators that there are, none of them twice.
fn check_scratch_names(graph: &Graph, plan: &PlanFile) -> anyhow::Result<()> {
    let mut found: HashSet<(usize, usize)> = HashSet::new();
    for scratch in &plan.scratch {
        let place = (scratch.operator.0, scratch.index);
        anyhow::ensure!(
            place.0 < graph.operators.len(),
            "scratch {} is of operator {}, the model has {}",
            place.1,
            place.0,
            graph.operators.len()
        );
        anyhow::ensure!(
            found.insert(place),
            "scratch {} of operator {} is placed twice",
            place.1,
            place.0
        );
    }
    Ok(())
}

/// Each scratch buffer of each operator is there once, as large as the kernel wants it.
fn check_scratch(graph: &Graph, plan: &PlanFile) -> anyhow::Result<()> {
    let mut found = Vec::new();
    for scratch in &plan.scratch {
        let wanted = graph.operators.get(scratch.operator.0);
        let wanted = wanted.and_then(|node| node.scratch_bytes.get(scratch.index));
        anyhow::ensure!(
            wanted == Some(&scratch.size_bytes),
            "scratch {} of operator {} has {} bytes, TensorFlow Lite Micro's kernel wants {}\n  hint: \
             dmo-trace verify, for a plan that was made for other kernels",
            scratch.index,
            scratch.operator.0,
            scratch.size_bytes,
            wanted.map_or("none".to_owned(), ToString::to_string)
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
///
/// `graph` is the model with the scratch buffers of the kernels that are to run it.
pub fn carried(source: &Source, graph: &Graph) -> anyhow::Result<Given> {
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
        kernels: None,
    })
}
