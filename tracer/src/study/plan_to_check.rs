//! A plan as somebody has written it: read, and checked for what needs no kernels.

use super::error::{About, StudyError};
use super::overlap_source::OverlapKind;
use super::plan::Planned;
use super::plan_file::NamedPlan;
use super::source::Source;
use crate::words::names;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::{PlanFile, PlannedKernels, SCHEMA, on_device};
use dmo_analysis::verify::{Occupant, Positions};
use dmo_planner::problem::common_multiple;
use std::collections::HashSet;

/// A plan that is to be checked.
#[derive(Debug, Clone)]
pub struct PlanToCheck {
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

/// What is wrong with a plan whatever may overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFault {
    /// An operator uses a tensor that lies nowhere.
    NoOffset(TensorId),
    /// Something ends beyond the arena that the plan declares, in bytes.
    BeyondArena {
        /// What ends there.
        occupant: Occupant,
        /// Where it ends: an end that does not fit in 64 bits is beyond every arena.
        end: u128,
        /// Size of the arena by the plan's own word.
        declared: u64,
    },
    /// Something does not start at a multiple of its alignment, in bytes.
    Misaligned {
        /// What starts there.
        occupant: Occupant,
        /// Where it starts.
        offset: u64,
        /// What that should be a multiple of.
        alignment: u64,
    },
    /// Kernels want more scratch memory than the plan gives.
    LittleScratch {
        /// How many operators do.
        operators: usize,
        /// The one that wants most.
        most: OperatorId,
        /// Its kernel.
        function: &'static str,
        /// What that wants, in bytes.
        bytes: u32,
    },
}

impl PlanFault {
    /// In words.
    pub fn describe(&self, graph: &Graph) -> String {
        match self {
            Self::NoOffset(id) => format!(
                "{} has no offset",
                names::occupant(graph, Occupant::Tensor(*id))
            ),
            Self::BeyondArena {
                occupant,
                end,
                declared,
            } => format!(
                "{} ends at {end}, beyond the plan's arena of {declared} bytes",
                names::occupant(graph, *occupant)
            ),
            Self::Misaligned {
                occupant,
                offset,
                alignment,
            } => format!(
                "{} lies at {offset}, not a multiple of {alignment}",
                names::occupant(graph, *occupant)
            ),
            Self::LittleScratch {
                operators,
                most,
                function,
                bytes,
            } => format!(
                "{} more scratch memory than the plan gives: operator {} {}, {function}, wants {bytes} \
                 bytes\n  hint: plan again with --overlap traced, or none, and --kernels",
                match operators {
                    1 => "1 operator wants".to_owned(),
                    count => format!("{count} operators want"),
                },
                most.0,
                graph.operators[most.0].kind.escape_debug(),
            ),
        }
    }
}

impl PlanToCheck {
    /// What is wrong with it whatever may overlap.
    pub fn faults(&self, graph: &Graph) -> Vec<PlanFault> {
        let mut faults = self.missing(graph);
        faults.extend(self.beyond_arena(graph));
        faults.extend(self.misaligned(graph));
        faults
    }

    /// Where everything lies, for the geometric check.
    pub fn positions(&self) -> Positions<'_> {
        Positions {
            tensors: &self.tensors,
            scratch: &self.scratch,
            keep_inputs: self.layout.keep_inputs,
        }
    }

    /// All that has an offset: what it is, its offset, and its size in bytes.
    fn placed(&self, graph: &Graph) -> impl Iterator<Item = (Occupant, u64, u64)> {
        let tensors = self.tensors.iter().zip(&graph.tensors).enumerate();
        let tensors = tensors.filter_map(|(index, (offset, tensor))| {
            let occupant = Occupant::Tensor(TensorId(index));
            Some((occupant, (*offset)?, tensor.size_bytes))
        });
        let scratch = self.scratch.iter();
        tensors.chain(
            scratch.map(|&(operator, offset, size)| (Occupant::Scratch(operator), offset, size)),
        )
    }

    /// What does not start at a multiple of the alignment.
    fn misaligned(&self, graph: &Graph) -> impl Iterator<Item = PlanFault> {
        let placed = self.placed(graph).map(|(occupant, offset, _)| {
            let alignment = alignment_of(graph, occupant, self.layout.alignment);
            (occupant, offset, alignment)
        });
        placed
            .filter(|(_, offset, alignment)| !offset.is_multiple_of(*alignment))
            .map(|(occupant, offset, alignment)| PlanFault::Misaligned {
                occupant,
                offset,
                alignment,
            })
    }

    /// What ends beyond the arena that the plan declares.
    fn beyond_arena(&self, graph: &Graph) -> impl Iterator<Item = PlanFault> {
        let ends = self.declared_bytes.into_iter().flat_map(|declared| {
            let placed = self.placed(graph);
            placed.map(move |(occupant, offset, size)| PlanFault::BeyondArena {
                occupant,
                end: u128::from(offset) + u128::from(size),
                declared,
            })
        });
        ends.filter(|fault| match fault {
            PlanFault::BeyondArena { end, declared, .. } => *end > u128::from(*declared),
            _ => false,
        })
    }

    /// Tensors that an operator uses and that lie nowhere.
    fn missing(&self, graph: &Graph) -> Vec<PlanFault> {
        let counted = self.layout.counted;
        let elsewhere = |id: TensorId| {
            !counted.count_graph_inputs && graph.inputs.contains(&id)
                || !counted.count_graph_outputs && graph.outputs.contains(&id)
        };
        let mut faults = Vec::new();
        let mut seen = vec![false; graph.tensors.len()];
        let touched = graph.operators.iter().flat_map(|node| {
            let inputs = graph.arena_inputs(node).into_iter();
            inputs.chain(graph.arena_outputs(node))
        });
        let ends = graph.inputs.iter().chain(&graph.outputs).copied();
        for id in touched.chain(ends.filter(|&id| graph.in_arena(id))) {
            let unplaced = self.tensors[id.0].is_none() && graph.tensor(id).size_bytes > 0;
            if unplaced && !elsewhere(graph.root(id)) && !std::mem::replace(&mut seen[id.0], true) {
                faults.push(PlanFault::NoOffset(id));
            }
        }
        faults
    }
}

/// What an offset has to be a multiple of, in bytes: of a part of a tensor, no more than its
/// elements want.
fn alignment_of(graph: &Graph, occupant: Occupant, alignment: u64) -> u64 {
    match occupant {
        Occupant::Tensor(id) if graph.views.contains_key(&id) => {
            graph.tensor(id).element_type.alignment()
        }
        Occupant::Tensor(id) => {
            let element = graph.tensor(id).element_type.alignment();
            common_multiple(alignment, element).unwrap_or(alignment)
        }
        Occupant::Scratch(_) => alignment,
    }
}

/// Why a plan cannot be one of a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanToCheckError {
    #[error("schema {given:?}, expected {SCHEMA:?}")]
    Schema { given: String },
    #[error(
        "{plan} is the plan of another file than {model} (their SHA-256 differ); a plan belongs to \
         the file that was planned, not to the one that was emitted"
    )]
    OtherModel { plan: String, model: String },
    #[error("{plan} is the plan of a model that other operators are made of")]
    OtherRecipe { plan: String },
    #[error(
        "its order is not that of the operators that its recipe makes, {operators} in all; they run \
         as they are made"
    )]
    Order { operators: usize },
    #[error(
        "tensor {tensor} has {given} bytes in the plan; the model has {tensors} tensors, and \
         {size:?} bytes for this one"
    )]
    Size {
        tensor: usize,
        given: u64,
        tensors: usize,
        size: Option<u64>,
    },
    #[error("tensor {tensor} is placed twice")]
    Twice { tensor: usize },
    #[error("{tensor} is a part of another, which the plan has elsewhere")]
    View { tensor: String },
    #[error("scratch {index} is of operator {operator}, the model has {operators}")]
    NoOperator {
        index: usize,
        operator: usize,
        operators: usize,
    },
    #[error("scratch {index} of operator {operator} is placed twice")]
    ScratchTwice { index: usize, operator: usize },
    #[error(
        "scratch {index} of operator {operator} has {given} bytes, TensorFlow Lite Micro's kernel \
         wants {}\n  hint: dmo-trace verify, for a plan that was made for other kernels",
        .wanted.map_or("none".to_owned(), |bytes| bytes.to_string())
    )]
    ScratchSize {
        index: usize,
        operator: usize,
        given: u64,
        wanted: Option<u64>,
    },
    #[error("{placed} scratch buffers are placed, {needed} are needed, each once")]
    ScratchCount { placed: usize, needed: usize },
    #[error("alignment 0")]
    Alignment,
    #[error("overlap {given:?} is not known")]
    Overlap { given: String },
    #[error("there is no model file")]
    NoFile,
    #[error("{model} carries no plan (metadata OfflineMemoryAllocation): give one with --plan")]
    NoPlan { model: String },
    #[error(
        "{model} has several subgraphs, for each of which TensorFlow Lite Micro reads the offsets \
         of the first"
    )]
    Subgraphs { model: String },
    #[error("the plan has {offsets} offsets, the model {tensors} tensors")]
    Offsets { offsets: usize, tensors: usize },
    #[error("tensor {tensor} is to lie at {offset}")]
    Negative { tensor: usize, offset: i32 },
}

impl PlanToCheck {
    /// A plan of the model as it is now. Its scratch buffers are to be those of `scratch_of`,
    /// where that is given.
    ///
    /// # Errors
    /// When it is the plan of another model, or names what the model does not have.
    pub fn new(
        named: &NamedPlan,
        source: &Source,
        scratch_of: Option<&Graph>,
    ) -> Result<Self, StudyError> {
        let NamedPlan { name, plan } = named;
        if plan.schema != SCHEMA {
            let given = plan.schema.clone();
            return Err(PlanToCheckError::Schema { given }).about(name);
        }
        if plan.model_sha256 != source.sha256 {
            return Err(PlanToCheckError::OtherModel {
                plan: name.clone(),
                model: source.name.clone(),
            }
            .into());
        }
        if plan.recipe.as_ref() != source.recipe() {
            return Err(PlanToCheckError::OtherRecipe { plan: name.clone() }.into());
        }
        Self::checked(plan, source.graph(), scratch_of).about(name)
    }

    /// A plan that was made of the model as it is now.
    ///
    /// # Errors
    /// When the plan is of another model.
    pub fn of_planned(planned: &Planned, source: &Source) -> Result<Self, StudyError> {
        let named = NamedPlan {
            name: "the plan that was made".to_owned(),
            plan: planned.file.clone(),
        };
        Self::new(&named, source, Some(&planned.overlaps.graph))
    }

    fn checked(
        plan: &PlanFile,
        graph: &Graph,
        scratch_of: Option<&Graph>,
    ) -> Result<Self, PlanToCheckError> {
        if plan.recipe.is_some() && plan.order != graph.file_order() {
            let operators = graph.operators.len();
            return Err(PlanToCheckError::Order { operators });
        }
        let tensors = tensor_offsets(graph, plan)?;
        match scratch_of {
            Some(graph) => check_scratch(graph, plan),
            None => check_scratch_names(graph, plan),
        }?;
        if plan.layout.alignment == 0 {
            return Err(PlanToCheckError::Alignment);
        }
        let scratch = plan.scratch_positions();
        let ends = plan
            .tensors
            .iter()
            .map(|tensor| (tensor.offset, tensor.size_bytes));
        let ends = ends.chain(scratch.iter().map(|&(_, offset, size)| (offset, size)));
        let ends = ends.map(|(offset, size)| offset.saturating_add(size));
        let kind = OverlapKind::ALL
            .into_iter()
            .find(|kind| kind.name() == plan.overlap);
        Ok(Self {
            order: plan.order.clone(),
            arena_bytes: ends.max().unwrap_or(0).max(plan.arena_bytes),
            declared_bytes: Some(plan.arena_bytes),
            overlap: kind.ok_or_else(|| PlanToCheckError::Overlap {
                given: plan.overlap.clone(),
            })?,
            tensors,
            scratch,
            layout: plan.layout,
            kernels: plan.kernels.clone(),
        })
    }

    /// The plan in the model's metadata; what it leaves to the runtime is placed as TensorFlow
    /// Lite Micro does. `graph` is the model with the scratch buffers of the kernels that are to
    /// run it.
    ///
    /// # Errors
    /// When the model carries no plan, or one that does not fit it.
    pub fn carried(source: &Source, graph: &Graph) -> Result<Self, StudyError> {
        let model = || source.name.clone();
        if source.file.is_none() {
            return Err(PlanToCheckError::NoFile.into());
        }
        let plan = source.offline_plan.as_ref().map_err(Clone::clone);
        let plan = plan.about(&source.name)?.as_ref();
        let plan = plan.ok_or_else(|| PlanToCheckError::NoPlan { model: model() })?;
        if source.model.graphs.len() != 1 {
            return Err(PlanToCheckError::Subgraphs { model: model() }.into());
        }
        let offsets = carried_offsets(&plan.offsets, graph).about(&source.name)?;
        let order = graph.file_order();
        let device = on_device(graph, &order, &offsets).about(&source.name)?;
        Ok(Self {
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
}

/// An offset for each tensor, `None` where it is left to the runtime.
fn carried_offsets(given: &[i32], graph: &Graph) -> Result<Vec<Option<u64>>, PlanToCheckError> {
    if given.len() != graph.tensors.len() {
        return Err(PlanToCheckError::Offsets {
            offsets: given.len(),
            tensors: graph.tensors.len(),
        });
    }
    let offset = |(tensor, &offset): (usize, &i32)| match offset {
        -1 => Ok(None),
        offset => u64::try_from(offset)
            .map(Some)
            .map_err(|_| PlanToCheckError::Negative { tensor, offset }),
    };
    given.iter().enumerate().map(offset).collect()
}

/// An offset for each tensor of the model, each as large as the plan says; tensors that lie
/// inside of others do.
fn tensor_offsets(graph: &Graph, plan: &PlanFile) -> Result<Vec<Option<u64>>, PlanToCheckError> {
    let tensors = graph.tensors.len();
    for planned in &plan.tensors {
        let tensor = planned.tensor.0;
        let size = graph.tensors.get(tensor).map(|tensor| tensor.size_bytes);
        if size != Some(planned.size_bytes) {
            return Err(PlanToCheckError::Size {
                tensor,
                given: planned.size_bytes,
                tensors,
                size,
            });
        }
    }
    let mut offsets = vec![None; tensors];
    for planned in &plan.tensors {
        let tensor = planned.tensor.0;
        if offsets[tensor].replace(planned.offset).is_some() {
            return Err(PlanToCheckError::Twice { tensor });
        }
    }
    let expected = graph.with_views(offsets.clone());
    match (0..tensors).find(|&index| expected[index] != offsets[index]) {
        None => Ok(offsets),
        Some(index) => Err(PlanToCheckError::View {
            tensor: names::occupant(graph, Occupant::Tensor(TensorId(index))),
        }),
    }
}

/// Scratch buffers are of operators that there are, none of them twice.
fn check_scratch_names(graph: &Graph, plan: &PlanFile) -> Result<(), PlanToCheckError> {
    let mut found: HashSet<(usize, usize)> = HashSet::new();
    let operators = graph.operators.len();
    for scratch in &plan.scratch {
        let (operator, index) = (scratch.operator.0, scratch.index);
        if operator >= operators {
            return Err(PlanToCheckError::NoOperator {
                index,
                operator,
                operators,
            });
        }
        if !found.insert((operator, index)) {
            return Err(PlanToCheckError::ScratchTwice { index, operator });
        }
    }
    Ok(())
}

/// Each scratch buffer of each operator is there once, as large as the kernel wants it.
fn check_scratch(graph: &Graph, plan: &PlanFile) -> Result<(), PlanToCheckError> {
    let mut found = Vec::new();
    for scratch in &plan.scratch {
        let (operator, index, given) = (scratch.operator.0, scratch.index, scratch.size_bytes);
        let wanted = graph.operators.get(operator);
        let wanted = wanted.and_then(|node| node.scratch_bytes.get(index).copied());
        if wanted != Some(given) {
            return Err(PlanToCheckError::ScratchSize {
                index,
                operator,
                given,
                wanted,
            });
        }
        found.push((operator, index));
    }
    let operators = graph.operators.iter().enumerate();
    let operators = operators.filter(|_| plan.layout.scratch);
    let expected: Vec<_> = operators
        .flat_map(|(operator, node)| {
            let scratch = node.scratch_bytes.iter().enumerate();
            let wanted = scratch.filter(|(_, bytes)| **bytes > 0);
            wanted.map(move |(index, _)| (operator, index))
        })
        .collect();
    found.sort_unstable();
    if found == expected {
        Ok(())
    } else {
        Err(PlanToCheckError::ScratchCount {
            placed: found.len(),
            needed: expected.len(),
        })
    }
}
