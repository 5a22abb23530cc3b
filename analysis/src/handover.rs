//! A plan for others to use: as JSON, as C, and as what TensorFlow Lite Micro will make of
//! it.

mod rewrite;
mod tiled;

pub use rewrite::rewrite;
pub use tiled::{TiledError, TiledModel, tiled};

use crate::arena::{Arena, ArenaError, Layout};
use crate::graph::overlaps::{self, SafeOverlap};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::optimise::{Certificate, ModelPlan, Task};
use crate::schedule::lifetime::lifetimes;
use crate::transform::Recipe;
use dmo_planner::plan::{Plan, tflm};
use serde::{Deserialize, Serialize};

/// Name of the JSON form and its version.
pub const SCHEMA: &str = "dmo-trace/plan/1";

/// A plan of a model's arena, complete in itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the model's file.
    pub model: String,
    /// SHA-256 of the model's file; none where it was built in code.
    pub model_sha256: Option<String>,
    /// Where the overlaps come from: `none`, `analytic`, `traced`.
    pub overlap: String,
    /// The kernels that they were measured on; none where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<PlannedKernels>,
    /// What is done to the model first: order, tensors and scratch are those of what comes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// What the arena holds, and how.
    pub layout: Layout,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// No arena for this order is smaller, in bytes.
    pub order_bound_bytes: u64,
    /// No arena for any order is smaller, in bytes.
    pub bound_bytes: u64,
    /// What that proves.
    pub certificate: Certificate,
    /// Tensors that were to lie where they lie: what is proven holds with them there.
    pub fixed: Vec<TensorId>,
    /// Operators of the file in the order in which they run.
    pub order: Vec<OperatorId>,
    /// The tensors in the arena, in the file's order.
    pub tensors: Vec<PlannedTensor>,
    /// The scratch buffers in the arena.
    pub scratch: Vec<PlannedScratch>,
    /// What the plan relies on: the pairs that lie closer than their sizes.
    pub overlaps: Vec<UsedOverlap>,
}

/// Kernels whose overlaps were measured for a plan: it is safe with these, and nothing is known
/// of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedKernels {
    /// Name of the set, or of the file.
    pub name: String,
    /// CPU model that they ran on.
    pub cpu: String,
    /// SHA-256 of all code and data that the library loads.
    pub code_sha256: String,
    /// The function that computes each operator, in the file's order.
    pub functions: Vec<String>,
}

/// The kernels as a user is told of them; the code by the start of its hash.
impl std::fmt::Display for PlannedKernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code: String = self.code_sha256.chars().take(12).collect();
        let name = self.name.escape_debug();
        write!(f, "{name} on {}, code {code}", self.cpu.escape_debug())
    }
}

/// Where a tensor lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTensor {
    /// Its index in the file.
    pub tensor: TensorId,
    /// Its name.
    pub name: String,
    /// First byte in the arena.
    pub offset: u64,
    /// Size in bytes, not rounded up.
    pub size_bytes: u64,
}

/// Where a scratch buffer lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedScratch {
    /// The operator.
    pub operator: OperatorId,
    /// Which of the operator's scratch buffers.
    pub index: usize,
    /// First byte in the arena.
    pub offset: u64,
    /// Size in bytes, not rounded up.
    pub size_bytes: u64,
}

/// An overlap that a plan makes use of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsedOverlap {
    /// The operator.
    pub operator: OperatorId,
    /// The pair and what is safe.
    #[serde(flatten)]
    pub pair: SafeOverlap,
}

impl PlanFile {
    /// The plan of a task, which is to be that of `planned`.
    pub fn new(
        model: &str,
        model_sha256: Option<String>,
        overlap: &str,
        task: Task<'_>,
        planned: &ModelPlan,
    ) -> Self {
        let offsets = planned.arena.tensor_offsets(&planned.plan);
        let tensors = offsets.iter().enumerate().filter_map(|(index, offset)| {
            let tensor = &task.graph.tensors[index];
            Some(PlannedTensor {
                tensor: TensorId(index),
                name: tensor.name.clone(),
                offset: (*offset)?,
                size_bytes: tensor.size_bytes,
            })
        });
        let scratch = planned.arena.scratch.iter().map(|scratch| {
            let node = &task.graph.operators[scratch.operator.0];
            PlannedScratch {
                operator: scratch.operator,
                index: scratch.index,
                offset: planned.plan.offsets[scratch.buffer],
                size_bytes: node.scratch_bytes[scratch.index],
            }
        });
        Self {
            schema: SCHEMA.to_owned(),
            model: model.to_owned(),
            model_sha256,
            overlap: overlap.to_owned(),
            kernels: None,
            recipe: None,
            layout: task.layout,
            arena_bytes: planned.arena_bytes,
            order_bound_bytes: planned.order_bound_bytes,
            bound_bytes: planned.bound_bytes,
            certificate: planned.certificate(),
            fixed: task.fixed.iter().map(|&(tensor, _)| tensor).collect(),
            order: planned.order.clone(),
            tensors: tensors.collect(),
            scratch: scratch.collect(),
            overlaps: used_overlaps(task, &offsets),
        }
    }

    /// An offset for each tensor of the file; none where it is not in the arena.
    ///
    /// Tensors that the graph does not have are left out.
    pub fn offsets(&self, tensors: usize) -> Vec<Option<u64>> {
        let mut offsets = vec![None; tensors];
        for planned in &self.tensors {
            if let Some(offset) = offsets.get_mut(planned.tensor.0) {
                *offset = Some(planned.offset);
            }
        }
        offsets
    }

    /// Scratch buffers as [`verify`](crate::verify) takes them: the operator, offset and size in
    /// bytes.
    pub fn scratch_positions(&self) -> Vec<(OperatorId, u64, u64)> {
        let scratch = self.scratch.iter();
        scratch
            .map(|scratch| (scratch.operator, scratch.offset, scratch.size_bytes))
            .collect()
    }

    /// The plan as C: the arena's size, an offset for each tensor of the file, -1 where it is
    /// not in the arena, the order of the operators, and the scratch buffers. `tensors` is the
    /// number of tensors.
    pub fn c_header(&self, tensors: usize) -> String {
        let name = identifier(&self.model);
        let upper = name.to_uppercase();
        let offsets = self.offsets(tensors);
        let mut names = vec![""; tensors];
        for planned in &self.tensors {
            if let Some(name) = names.get_mut(planned.tensor.0) {
                *name = &planned.name;
            }
        }
        let mut lines = String::new();
        for (offset, name) in offsets.iter().zip(names) {
            lines += &match offset {
                Some(offset) => format!("    {offset}, /* {} */\n", comment(name)),
                None => "    -1,\n".to_owned(),
            };
        }
        let safe = match (self.overlap.as_str(), &self.kernels) {
            (_, Some(kernels)) => format!(
                "Safe with these kernels ({}), no others,\n * and in the order of operators below.",
                comment(&kernels.to_string())
            ),
            ("none", None) => "Safe with any kernels, in the order of operators below.".to_owned(),
            (overlap, None) => format!(
                "Safe with kernels that have the overlaps ({}) it was planned with, no others,\n \
                 * and in the order of operators below.",
                comment(overlap)
            ),
        };
        let order: Vec<String> = self.order.iter().map(|id| id.0.to_string()).collect();
        let scratch: String = self
            .scratch
            .iter()
            .map(|scratch| {
                let operator = scratch.operator.0;
                format!(
                    "    {{{operator}, {}, {}, {}}},\n",
                    scratch.index, scratch.offset, scratch.size_bytes
                )
            })
            .collect();
        let scratch = if scratch.is_empty() {
            String::new()
        } else {
            format!(
                "/* Scratch buffers: operator, which of its own, offset in the arena, bytes. */\n\
                 static const int32_t {name}_scratch[{}][4] = {{\n{scratch}}};\n\n",
                self.scratch.len()
            )
        };
        format!(
            "/* Arena of {model}: {bytes} bytes, planned by dmo-trace.\n\
             \x20* {safe} */\n\
             #ifndef {upper}_PLAN_H\n#define {upper}_PLAN_H\n\n#include <stdint.h>\n\n\
             #define {upper}_ARENA_BYTES {bytes}u\n\
             #define {upper}_ARENA_ALIGNMENT {alignment}u\n\
             #define {upper}_TENSOR_COUNT {tensors}u\n\n\
             /* Offset in the arena of each tensor of the model, -1: not in the arena. */\n\
             static const int32_t {name}_tensor_offsets[{size}] = {{\n{lines}}};\n\n\
             /* Operators of the model in the order in which they run. */\n\
             static const int32_t {name}_operator_order[{operators}] = {{{order}}};\n\n\
             {scratch}#endif /* {upper}_PLAN_H */\n",
            model = comment(&self.model),
            bytes = self.arena_bytes,
            operators = self.order.len().max(1),
            order = order.join(", "),
            alignment = self.layout.alignment,
            size = tensors.max(1),
        )
    }
}

/// The granted pairs that lie closer than they might without: the plan is safe because of
/// these.
fn used_overlaps(task: Task<'_>, offsets: &[Option<u64>]) -> Vec<UsedOverlap> {
    let shares = |pair: &SafeOverlap| {
        let range = |id: TensorId| {
            let offset = offsets[id.0]?;
            Some(offset..offset + task.graph.tensor(id).size_bytes)
        };
        let (Some(input), Some(output)) = (range(pair.input), range(pair.output)) else {
            return false;
        };
        input.start < output.end && output.start < input.end
    };
    let operators = task.overlaps.iter().enumerate();
    operators
        .flat_map(|(operator, pairs)| pairs.iter().map(move |&pair| (OperatorId(operator), pair)))
        .filter(|(_, pair)| shares(pair))
        .map(|(operator, pair)| UsedOverlap { operator, pair })
        .collect()
}

/// Letters, digits and underlines, for C.
fn identifier(name: &str) -> String {
    let stem = name.strip_suffix(".tflite").unwrap_or(name);
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let mut identifier: String = stem.chars().map(plain).collect();
    if !identifier.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        identifier.insert_str(0, "model_");
    }
    identifier
}

/// Text that cannot end a C comment, nor continue its line, nor change its direction.
fn comment(text: &str) -> String {
    let plain = |letter: char| match letter {
        '*' | '\\' | '?' => '_',
        ' '..='~' => letter,
        letter if letter.is_alphanumeric() => letter,
        _ => '_',
    };
    text.chars().map(plain).collect()
}

/// What TensorFlow Lite Micro makes of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnDevice {
    /// The part of its arena that is shared by tensors and scratch buffers, in bytes. What it
    /// allocates for itself comes on top.
    pub arena_bytes: u64,
    /// Whether scratch buffers, which it places itself, keep apart from all else.
    pub scratch_is_apart: bool,
    /// Where each of the graph's tensors lies; none where it is not in the arena.
    #[serde(skip)]
    pub tensors: Vec<Option<u64>>,
    /// Scratch buffers: the operator, offset and size in bytes.
    #[serde(skip)]
    pub scratch: Vec<(OperatorId, u64, u64)>,
}

/// Simulates TensorFlow Lite Micro: tensors with an offset stay there, everything else is
/// placed by its greedy planner.
///
/// # Errors
/// When the order is not one of the graph's, or an offset is not a multiple of 16.
pub fn on_device(
    graph: &Graph,
    order: &[OperatorId],
    offsets: &[Option<u64>],
) -> Result<OnDevice, ArenaError> {
    lifetimes(graph, order)?;
    // The file that it is given has the operators in this order.
    let operators = order.iter().map(|id| graph.operators[id.0].clone());
    let graph = &Graph {
        operators: operators.collect(),
        ..graph.clone()
    };
    let arena = Arena::new(
        graph,
        &graph.file_order(),
        &overlaps::none(graph),
        Layout::tflm(),
    )?;
    let mut fixed = vec![None; arena.problem.buffers().len()];
    for (buffer, offset) in arena.buffer_of.iter().zip(offsets) {
        if let Some(buffer) = buffer {
            fixed[*buffer] = *offset;
        }
    }
    let problem = arena.problem.with_offsets(&fixed)?;
    let plan = tflm::plan(&problem);
    Ok(OnDevice {
        arena_bytes: plan.arena_bytes(&problem),
        scratch_is_apart: scratch_is_apart(&arena, &plan),
        tensors: arena.tensor_offsets(&plan),
        scratch: arena
            .scratch
            .iter()
            .map(|scratch| {
                let bytes = graph.operators[scratch.operator.0].scratch_bytes[scratch.index];
                let operator = order[scratch.operator.0];
                (operator, plan.offsets[scratch.buffer], bytes)
            })
            .collect(),
    })
}

fn scratch_is_apart(arena: &Arena, plan: &Plan) -> bool {
    let is_scratch = |buffer: usize| arena.scratch.iter().any(|scratch| scratch.buffer == buffer);
    plan.check(&arena.problem).iter().all(|broken| {
        let other = match broken.kind {
            dmo_planner::plan::ViolationKind::TooClose { other, .. } => other,
            _ => broken.buffer,
        };
        !is_scratch(broken.buffer) && !is_scratch(other)
    })
}
