//! A plan as JSON.

use super::planned_region::PlannedRegion;
use crate::arena::Layout;
use crate::graph::overlaps::SafeOverlap;
use crate::graph::{OperatorId, TensorId};
use crate::optimise::{Certificate, ModelPlan, Task};
use crate::transform::Recipe;
use crate::wording::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the JSON form and its version.
pub const SCHEMA: &str = "dmo-trace/plan/1";

/// A plan of a model's arena, complete in itself.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the model's file.
    pub model: String,
    /// SHA-256 of the model's file; `None` if it was built in code.
    pub model_sha256: Option<String>,
    /// Where the overlaps come from: `none`, `analytic`, `traced`.
    pub overlap: String,
    /// The kernels that they were measured on; `None` if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<PlannedKernels>,
    /// SHA-256 of the model's file without the conversions at its ends, where they are left out: all of
    /// the plan is for that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integer_io_sha256: Option<String>,
    /// SHA-256 of the file that pruning makes of the model's, where it does: all of the plan is for
    /// that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned_sha256: Option<String>,
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
    /// The memories that follow each other in the arena; none if it is one memory. A plan of several
    /// has a form of its own as JSON.
    #[serde(skip)]
    pub regions: Vec<PlannedRegion>,
}

/// Kernels whose overlaps were measured for a plan: it is safe with these, and nothing is known
/// of others.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedKernels {
    /// Name of the set, or of the file.
    pub name: String,
    /// CPU model that they ran on.
    pub cpu: String,
    /// SHA-256 of all code and data that the library loads.
    pub code_sha256: String,
    /// The function that computes each operator, in the file's order; `None` for one that no
    /// kernel can be called for, and that overlaps with nothing.
    pub functions: Vec<Option<String>>,
    /// The libraries of the functions that are not of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherKernels>,
}

/// A library that computes what the one before it does not.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FurtherKernels {
    /// Name of the set, or of the file.
    pub name: String,
    /// SHA-256 of all code and data that the library loads.
    pub code_sha256: String,
    /// The operators that it computes.
    pub operators: Vec<OperatorId>,
}

impl PlannedKernels {
    /// Whether the same code computes each operator, whatever the files are called.
    pub fn is_same_code(&self, other: &Self) -> bool {
        let code = |kernels: &Self| {
            let further = kernels.further.iter();
            let further = further.map(|it| (it.code_sha256.clone(), it.operators.clone()));
            further.collect::<Vec<_>>()
        };
        self.cpu == other.cpu
            && self.code_sha256 == other.code_sha256
            && self.functions == other.functions
            && code(self) == code(other)
    }
}

/// The kernels as a user sees them; the code by the start of its hash.
impl std::fmt::Display for PlannedKernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code: String = self.code_sha256.chars().take(12).collect();
        let name = self.name.escape_debug();
        write!(f, "{name} on {}, code {code}", self.cpu.escape_debug())?;
        for further in &self.further {
            let code: String = further.code_sha256.chars().take(12).collect();
            let count = counted(further.operators.len() as u64, "operator", "operators");
            let name = further.name.escape_debug();
            write!(f, ", and for {count} {name}, code {code}")?;
        }
        Ok(())
    }
}

/// Where a tensor lies.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
            integer_io_sha256: None,
            pruned_sha256: None,
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
            regions: Vec::new(),
        }
    }

    /// The same in several memories, which follow each other in the arena, with an offset in it for
    /// each of the task's tensors. Of its size nothing is proven.
    #[must_use]
    pub fn in_regions(
        mut self,
        task: Task<'_>,
        regions: Vec<PlannedRegion>,
        offsets: &[Option<u64>],
        scratch: Vec<PlannedScratch>,
    ) -> Self {
        for tensor in &mut self.tensors {
            if let Some(offset) = offsets[tensor.tensor.0] {
                tensor.offset = offset;
            }
        }
        self.arena_bytes = regions.iter().map(PlannedRegion::end).max().unwrap_or(0);
        self.order_bound_bytes = 0;
        self.bound_bytes = 0;
        self.certificate = Certificate::BestFound;
        self.overlaps = used_overlaps(task, offsets);
        self.scratch = scratch;
        self.regions = regions;
        self
    }

    /// An offset for each tensor of the file; `None` if it is not in the arena.
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
