//! A planned model in several memories, placed by how often each tensor is accessed.

use super::error::{About, PlanError, StudyError};
use super::placed::PlacedModel;
use super::plan::{Planned, ensure_safe};
use super::search_time::within_time;
use super::source::Source;
use crate::model::Deployment;
use crate::model::traffic::KernelTraffic;
use dmo_analysis::arena::{Arena, ArenaTraffic};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::PlannedRegion;
use dmo_analysis::optimise::ModelPlan;
use dmo_planner::budget::Budget;
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, Problem};
use dmo_planner::regions::{ArenaRegion, NoRoom, RegionOffset, RegionProblem, place_from};
use std::time::Duration;

/// How a model is to be placed in several memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionRequest {
    /// The memories.
    pub regions: Vec<ArenaRegion>,
    /// What has to lie in certain ones.
    pub pins: Vec<Pin>,
    /// The search ends after this time with the best so far.
    pub time: Duration,
}

impl RegionRequest {
    /// There are memories, in place of one arena.
    pub fn are_several(&self) -> bool {
        !self.regions.is_empty()
    }
}

/// Something that has to lie in certain regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// What is pinned.
    pub what: Pinned,
    /// Names of the regions in which it may lie.
    pub regions: Vec<String>,
}

/// What can be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinned {
    /// The model's inputs, for instance where DMA reaches.
    Inputs,
    /// The model's outputs.
    Outputs,
    /// All scratch buffers.
    Scratch,
    /// What persists from one inference to the next, for instance where power is kept.
    States,
    /// One tensor of the file.
    Tensor(TensorId),
}

/// Accesses of the kernels that will compute the model, and what these keep.
pub struct OnKernels<'a> {
    /// The model on the kernels.
    pub deployment: &'a Deployment<'a>,
    /// Their accesses in an inference.
    pub traffic: KernelTraffic,
    /// Size of all states in bytes: they are placed as one buffer.
    pub state_bytes: u64,
}

/// Places the tensors of a planned order so that their accesses cost least: those of the kernels
/// where they were measured, else those of the reference kernels' loops. The inner error is that
/// nothing fits, or was found that does.
///
/// # Errors
/// When the regions or pins make no sense, or what was found does not pass its checks.
pub fn place_model(
    source: &Source,
    planned: &Planned,
    request: &RegionRequest,
    on_kernels: Option<&OnKernels>,
) -> Result<Result<PlacedModel, NoRoom>, StudyError> {
    let task = planned.task();
    // Tensors keep their numbers where only conversions at the ends are left out.
    let is_changed = source.recipe().is_some() || source.pruned_sha256().is_some();
    let tensor = |pin: &Pin| match pin.what {
        Pinned::Tensor(id) => Some(id.0),
        _ => None,
    };
    if let Some(tensor) = request.pins.iter().find_map(tensor).filter(|_| is_changed) {
        return Err(PlanError::PinOfChanged { tensor }.into());
    }
    // With all overlaps: a plan of one arena may do without some.
    let arena = Arena::new(task.graph, &planned.plan.order, task.overlaps, task.layout);
    let arena = arena.about(&source.name)?;
    let pinning = Pinning {
        model: &source.name,
        arena: &arena,
        graph: task.graph,
        is_in_rows: source.recipe().is_some_and(|recipe| recipe.slices),
        state_bytes: on_kernels.map_or(0, |known| known.state_bytes),
    };
    let (problem, assumed) = region_problem(&pinning, request, on_kernels)?;
    let known = in_one_region(&planned.plan, &arena, &problem);
    let search = |budget: &mut Budget<'_>| place_from(&problem, known.as_ref(), budget);
    let found = match within_time(request.time, search) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    if !found.plan.check(&problem).is_empty() {
        let problem = source.name.clone();
        return Err(PlanError::InvalidPlan { problem }.into());
    }
    let places = &found.plan.places;
    let mut accesses = vec![0; problem.regions().len()];
    for (place, count) in places.iter().zip(problem.accesses()) {
        accesses[place.region] += count;
    }
    let used_bytes = problem.used_bytes(&found.plan);
    let aligned = problem.problem().common_alignment();
    let regions = PlannedRegion::in_one_arena(problem.regions(), &used_bytes, aligned);
    let regions = regions.ok_or(PlanError::NoCommonAlignment)?;
    for known in &regions {
        if known.used_bytes > known.region.capacity_bytes {
            let name = known.region.name.clone();
            return Err(PlanError::RegionOverflows { name }.into());
        }
    }
    let buffers = places.iter().take(arena.problem.buffers().len());
    let in_region = Plan {
        offsets: buffers.clone().map(|place| place.offset).collect(),
    };
    let tensors = arena.tensor_offsets(&in_region).into_iter();
    let tensors = tensors.zip(&arena.buffer_of).map(|(offset, buffer)| {
        let region = places[(*buffer)?].region;
        offset.map(|offset| RegionOffset { region, offset })
    });
    let scratch = arena.scratch.iter().map(|scratch| {
        let node = &task.graph.operators[scratch.operator.0];
        let bytes = node.scratch_bytes[scratch.index];
        let place = places[scratch.buffer];
        (scratch.operator, scratch.index, place, bytes)
    });
    let of_buffer = |buffer: &Option<usize>| buffer.map(|buffer| problem.accesses()[buffer]);
    let placed = PlacedModel {
        tensors: tensors.collect(),
        scratch: scratch.collect(),
        states: places.get(arena.problem.buffers().len()).copied(),
        accesses,
        state_accesses: on_kernels.map_or(0, |known| known.traffic.states),
        accesses_of: arena.buffer_of.iter().map(of_buffer).collect(),
        cost: found.cost,
        bound: found.bound,
        assumed,
        offsets: buffers
            .map(|place| regions[place.region].start + place.offset)
            .collect(),
        regions,
        arena,
    };
    let file = placed.in_one_arena(task, planned.file.clone());
    let tensors = file.offsets(placed.tensors.len());
    ensure_safe(task, &file.order, &tensors, &file.scratch_positions()).about(&source.name)?;
    Ok(Ok(placed))
}

/// The plan of one arena, with the states above it: what one of the regions may take. `None` if its
/// buffers are others.
fn in_one_region(known: &ModelPlan, arena: &Arena, problem: &RegionProblem) -> Option<Plan> {
    let mut offsets = known.plan.offsets.clone();
    for states in problem.problem().buffers().iter().skip(offsets.len()) {
        offsets.push(
            known
                .arena_bytes
                .checked_next_multiple_of(states.alignment)?,
        );
    }
    let are_the_same = known.arena.problem.buffers() == arena.problem.buffers();
    are_the_same.then_some(Plan { offsets })
}

/// What is to be placed, and the operators whose accesses are assumed. States are the last buffer.
fn region_problem(
    pinning: &Pinning,
    request: &RegionRequest,
    on_kernels: Option<&OnKernels>,
) -> Result<(RegionProblem, Vec<OperatorId>), PlanError> {
    let Pinning { arena, graph, .. } = pinning;
    let mut buffers = arena.problem.clone();
    let mut traffic = match on_kernels {
        Some(known) => ArenaTraffic {
            accesses: known.traffic.of_buffers(arena, known.deployment),
            assumed: Vec::new(),
        },
        None => arena.traffic(graph),
    };
    if let Some(known) = on_kernels.filter(|known| known.state_bytes > 0) {
        buffers = buffers.with_buffer(states(&buffers, known.state_bytes))?;
        traffic.accesses.push(known.traffic.states);
    }
    let regions = request.regions.clone();
    let mut problem = RegionProblem::new(buffers, regions, traffic.accesses)?;
    for pin in &request.pins {
        pinning.apply(pin, &mut problem)?;
    }
    Ok((problem, traffic.assumed))
}

/// All that persists, which is in use at every step.
fn states(others: &Problem, size_bytes: u64) -> Buffer {
    Buffer {
        name: "the states".to_owned(),
        size_bytes,
        alive: 0..others.steps().max(1),
        alignment: crate::call::ALIGNMENT.into(),
        fixed_offset: None,
    }
}

/// What can be pinned of a model.
struct Pinning<'a> {
    model: &'a str,
    arena: &'a Arena,
    graph: &'a Graph,
    /// The input is handed over in rows.
    is_in_rows: bool,
    state_bytes: u64,
}

impl Pinning<'_> {
    /// Pins the buffers of what is pinned.
    fn apply(&self, pin: &Pin, problem: &mut RegionProblem) -> Result<(), PlanError> {
        let mut regions = Vec::with_capacity(pin.regions.len());
        for name in &pin.regions {
            let mut known = problem.regions().iter();
            let region = known.position(|region| region.name == *name);
            regions.push(region.ok_or_else(|| PlanError::PinnedNowhere { name: name.clone() })?);
        }
        for buffer in self.buffers(pin)? {
            problem.pin(buffer, &regions)?;
        }
        Ok(())
    }

    fn buffers(&self, pin: &Pin) -> Result<Vec<usize>, PlanError> {
        Ok(match pin.what {
            Pinned::Inputs => {
                let why = if self.is_in_rows {
                    ": with --slices the input is handed over in rows while the model computes"
                } else {
                    ""
                };
                self.some(pin, self.placed(&self.graph.inputs), "inputs", why)?
            }
            Pinned::Outputs => self.some(pin, self.placed(&self.graph.outputs), "outputs", "")?,
            Pinned::Scratch => {
                let scratch = self.arena.scratch.iter().map(|it| it.buffer);
                let why = ": no operator has a scratch buffer with these kernels";
                self.some(pin, scratch.collect(), "scratch", why)?
            }
            Pinned::States if self.state_bytes == 0 => return Err(PlanError::PinOfStates),
            Pinned::States => vec![self.arena.problem.buffers().len()],
            Pinned::Tensor(id) => {
                let (tensor, tensors) = (id.0, self.graph.tensors.len());
                let known = self.arena.buffer_of.get(tensor);
                let buffer = known.ok_or(PlanError::PinOfNone { tensor, tensors })?;
                vec![buffer.ok_or_else(|| PlanError::PinOfOutside {
                    model: self.model.to_owned(),
                    tensor,
                    regions: pin.regions.join(","),
                })?]
            }
        })
    }

    /// The buffers of these tensors.
    fn placed(&self, tensors: &[TensorId]) -> Vec<usize> {
        let buffers = tensors.iter().filter_map(|id| self.arena.buffer_of[id.0]);
        buffers.collect()
    }

    /// These buffers, if there are any.
    fn some(
        &self,
        pin: &Pin,
        buffers: Vec<usize>,
        what: &'static str,
        why: &'static str,
    ) -> Result<Vec<usize>, PlanError> {
        if buffers.is_empty() {
            return Err(PlanError::PinOfNothing {
                model: self.model.to_owned(),
                what,
                regions: pin.regions.join(","),
                why,
            });
        }
        Ok(buffers)
    }
}
