//! A plan as somebody has written it: read, and checked for what needs no kernels.

mod fault;

use super::error::{About, PlanToCheckError, StudyError};
use super::overlap_source::OverlapKind;
use super::plan::Planned;
use super::plan_file::NamedPlan;
use super::source::{Source, offset_of};
use super::state_lookup::taken_for_states;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId};
use dmo_analysis::handover::{PlanFile, PlannedKernels, PlannedRegion, SCHEMA};
use dmo_analysis::verify::Positions;
pub use fault::PlanFault;
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
    /// The memories that follow each other in the arena; none if it is one memory.
    pub regions: Vec<PlannedRegion>,
}

impl PlanToCheck {
    /// Where everything lies, for the geometric check.
    pub fn positions(&self) -> Positions<'_> {
        Positions {
            tensors: &self.tensors,
            scratch: &self.scratch,
            keep_inputs: self.layout.keep_inputs,
        }
    }

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
        if plan.integer_io_sha256.as_ref() != source.integer_io_sha256() {
            return Err(PlanToCheckError::OtherEnds { plan: name.clone() }.into());
        }
        if plan.pruned_sha256.as_ref() != source.pruned_sha256() {
            return Err(PlanToCheckError::OtherPruning { plan: name.clone() }.into());
        }
        if plan.recipe.as_ref() != source.recipe() {
            return Err(PlanToCheckError::OtherRecipe { plan: name.clone() }.into());
        }
        // Subgraphs run one another, operator by operator as the file has them.
        if source.linked().is_some() && plan.order != source.graph().file_order() {
            let operators = source.graph().operators.len();
            return Err(PlanToCheckError::Order { operators }).about(name);
        }
        Self::checked(plan, source.graph(), scratch_of).about(name)
    }

    /// A plan that was made of the model as it is now.
    ///
    /// # Errors
    /// When the plan is of another model.
    pub fn of_planned(planned: &Planned, source: &Source) -> Result<Self, StudyError> {
        Self::of_file(&planned.file, planned, source)
    }

    /// The same of what has become of the plan: one of several memories, as one of the arena that
    /// these make.
    ///
    /// # Errors
    /// When the plan is none of the model's.
    pub fn of_file(
        file: &PlanFile,
        planned: &Planned,
        source: &Source,
    ) -> Result<Self, StudyError> {
        let named = NamedPlan {
            name: "the plan that was made".to_owned(),
            plan: file.clone(),
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
        ensure_aligned_in_regions(graph, plan)?;
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
            regions: plan.regions.clone(),
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
        let offsets = carried_offsets(&plan.offsets, graph).about(&source.name)?;
        ensure_states_are_allocated(source, &offsets)?;
        let order = graph.file_order();
        let device = source.on_device(graph, &order, &offsets, false);
        let device = device.about(&source.name)?;
        Ok(Self {
            order,
            tensors: device.tensors,
            scratch: device.scratch,
            arena_bytes: device.arena_bytes,
            declared_bytes: None,
            overlap: OverlapKind::Analytic,
            layout: Layout::tflm(),
            kernels: None,
            regions: Vec::new(),
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
    let offset = |(tensor, &offset): (usize, &i32)| {
        offset_of(offset).ok_or(PlanToCheckError::Negative { tensor, offset })
    };
    let offsets: Vec<Option<u64>> = given
        .iter()
        .enumerate()
        .map(offset)
        .collect::<Result<_, _>>()?;
    ensure_no_state(&offsets, graph)?;
    Ok(offsets)
}

/// What is kept from one inference to the next lies outside of the plan. TensorFlow Lite Micro
/// obeys an offset of such a tensor, and puts others into its place.
fn ensure_no_state(offsets: &[Option<u64>], graph: &Graph) -> Result<(), PlanToCheckError> {
    let placed = offsets.iter().zip(&graph.tensors).enumerate();
    let mut states = placed
        .filter(|(_, (offset, tensor))| offset.is_some() && tensor.storage == Storage::Variable);
    match states.next() {
        None => Ok(()),
        Some((index, (_, tensor))) => Err(PlanToCheckError::State {
            tensor: TensorId(index),
            name: tensor.name.clone(),
        }),
    }
}

/// TensorFlow Lite Micro finds no offset where it looks for that of a state.
fn ensure_states_are_allocated(source: &Source, offsets: &[Option<u64>]) -> Result<(), StudyError> {
    let mut taken = taken_for_states(source).into_iter();
    let placed = taken.find(|tensor| offsets.get(tensor.0).is_some_and(Option::is_some));
    let Some(tensor) = placed else {
        return Ok(());
    };
    Err(PlanToCheckError::TakenForState { tensor }).about(&source.name)
}

/// Refuses a model that carries a plan which makes no sense for it.
///
/// # Errors
/// When it has an offset below -1, or one for a tensor that is kept between inferences.
pub(super) fn ensure_carried_plan(source: &Source) -> Result<(), StudyError> {
    let Ok(Some(plan)) = &source.offline_plan else {
        return Ok(());
    };
    let graph = source.original();
    if plan.offsets.len() == graph.tensors.len() {
        let offsets = carried_offsets(&plan.offsets, graph).about(&source.name)?;
        ensure_states_are_allocated(source, &offsets)?;
    }
    Ok(())
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
    ensure_no_state(&offsets, graph)?;
    let expected = graph.with_views(offsets.clone());
    match (0..tensors).find(|&index| expected[index] != offsets[index]) {
        None => Ok(offsets),
        Some(index) => Err(PlanToCheckError::View {
            tensor: TensorId(index),
            name: graph.tensors[index].name.clone(),
        }),
    }
}

/// What is no part of another tensor lies where its memory wants it, whatever the plan says of it.
fn ensure_aligned_in_regions(graph: &Graph, plan: &PlanFile) -> Result<(), PlanToCheckError> {
    for tensor in &plan.tensors {
        let mut regions = plan.regions.iter();
        let region = regions.find(|it| (it.start..it.end()).contains(&tensor.offset));
        let Some(PlannedRegion { region, start, .. }) = region else {
            continue;
        };
        let offset = tensor.offset - start;
        let is_part = graph.views.contains_key(&tensor.tensor);
        if !is_part && !offset.is_multiple_of(region.alignment) {
            return Err(PlanToCheckError::MisalignedInRegion {
                name: region.name.clone(),
                offset,
                alignment: region.alignment,
            });
        }
    }
    Ok(())
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
