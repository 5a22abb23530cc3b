//! A plan against a firmware: its own interpreter runs the model in the plan.

use super::error::{About, FirmwareError, StudyError};
use super::firmware_kernels::{FirmwareKernels, Hosted};
use super::firmware_trial::{InPlan, Measured, Replayed, instructions, measure, run_in_plan};
use super::overlap_source::{OverlapKind, OverlapSource};
use super::plan::{PlanRequest, Planned, ensure_measured_there, plan_with};
use super::plan_to_check::PlanToCheck;
use super::session::{Session, Work};
use super::source::Source;
use crate::mcu::disassembly::Disassembler;
use dmo_analysis::firmware::Taken;
use dmo_analysis::graph::{Graph, OperatorId, TensorId, tflite};
use dmo_analysis::trace::Locations;
use dmo_analysis::verify::{Clash, Positions, clashes};

/// A plan that was verified on a firmware.
pub struct FirmwareVerified {
    /// The model, its operators in the plan's order.
    pub graph: Graph,
    /// For each of them which operator of the model's file it is.
    pub order: Vec<OperatorId>,
    /// How many operators of the first input were executed, in instructions.
    pub instructions: u64,
    /// On how many inputs the model was run.
    pub inputs: u64,
    /// What the firmware's planner takes of the arena for it, and what it takes in the plan.
    pub arenas: [FirmwareArena; 2],
    /// What is wrong with the plan whatever the kernels do, or how the firmware departs from it.
    pub faults: Vec<String>,
    /// Pairs that are closer than the measured overlaps allow.
    pub clashes: Vec<Clash>,
    /// The accesses without overlaps, replayed on the plan.
    pub replayed: Replayed,
    /// The firmware in the plan.
    pub in_plan: InPlan,
    /// Operators whose accesses depend on the data.
    pub data_dependent: Vec<OperatorId>,
    /// Where the instructions come from that are named.
    pub locations: Locations,
}

/// The parts of an arena, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct FirmwareArena {
    /// Tensors and scratch memory.
    pub head_bytes: u64,
    /// What the runtime has taken in all, where that is found.
    pub taken: Option<Taken>,
}

impl FirmwareVerified {
    /// Nothing is wrong with the plan, and no witness objects. All operators were executed.
    pub fn is_safe(&self) -> bool {
        self.faults.is_empty()
            && self.clashes.is_empty()
            && self.replay_is_clean()
            && self.in_plan.differences.is_empty()
            && self.in_plan.contradictions.is_empty()
    }

    /// The replay objects to nothing.
    pub fn replay_is_clean(&self) -> bool {
        let replayed = &self.replayed;
        replayed.findings.is_empty() && replayed.further_bytes == 0 && !replayed.incomplete
    }
}

/// Where everything is to lie.
struct Offsets {
    order: Vec<OperatorId>,
    tensors: Vec<Option<u64>>,
    /// What the plan says its arena has; `None` if it does not.
    declared_bytes: Option<u64>,
    keep_inputs: bool,
}

/// Verifies a plan of the model on a firmware. Without a plan it is the one that the model carries,
/// else the one that is found for the firmware.
///
/// # Errors
/// When the firmware cannot run the model even without overlaps, or lay it out in the plan.
pub fn verify_on_firmware(
    source: &Source,
    plan: Option<&PlanToCheck>,
    firmware: &FirmwareKernels,
    inputs: u64,
    session: &Session,
) -> Result<FirmwareVerified, StudyError> {
    let file = model_file(source)?;
    let carried = source.carried_offsets();
    let offsets = match (plan, carried) {
        (Some(plan), _) => Offsets {
            order: plan.order.clone(),
            tensors: plan.tensors.clone(),
            declared_bytes: plan.declared_bytes,
            keep_inputs: plan.layout.keep_inputs,
        },
        (None, Some(tensors)) => Offsets {
            order: source.graph().file_order(),
            tensors,
            declared_bytes: None,
            keep_inputs: false,
        },
        (None, None) => {
            let request = PlanRequest::default();
            let planned = plan_measured(source, &request, firmware, inputs, session)?;
            of_planned(&planned, source)
        }
    };
    let running = session.begin(Work::Verifying);
    running.parts(0, 3);
    let verified = verify_offsets(file, &offsets, firmware, inputs, &|done| {
        running.parts(done, 3);
    });
    verified.about(&source.name)
}

/// Plans a model with the overlaps that a firmware's kernels allow, and has the firmware run in the
/// plan.
///
/// # Errors
/// When the firmware cannot run the model, or the plan is not safe there.
pub fn plan_on_firmware(
    source: &Source,
    request: &PlanRequest,
    firmware: &FirmwareKernels,
    inputs: u64,
    session: &Session,
) -> Result<(Planned, FirmwareVerified), StudyError> {
    let planned = plan_measured(source, request, firmware, inputs, session)?;
    let offsets = of_planned(&planned, source);
    let running = session.begin(Work::Verifying);
    let verified = verify_offsets(model_file(source)?, &offsets, firmware, inputs, &|done| {
        running.parts(done, 3);
    });
    let verified = verified.about(&source.name)?;
    if let Some(problem) = first_problem(&verified) {
        return Err(StudyError::from(FirmwareError::UnsafePlan { problem }).about(&source.name));
    }
    Ok((planned, verified))
}

fn first_problem(verified: &FirmwareVerified) -> Option<String> {
    if verified.is_safe() {
        return None;
    }
    let mut faults = verified
        .faults
        .iter()
        .chain(&verified.in_plan.contradictions);
    let operators = verified.in_plan.differences.iter();
    let operators = operators.map(|difference| difference.operator);
    let replayed = verified.replayed.findings.iter();
    let operators = operators.chain(replayed.map(|(_, operator, _)| *operator));
    let mut operators = operators.chain(verified.clashes.iter().map(|clash| clash.operator));
    let operator = |operator: OperatorId| {
        let kind = &verified.graph.operators[operator.0].kind;
        format!("operator {} {}", operator.0, kind.escape_debug())
    };
    let fault = faults.next().cloned();
    Some(
        fault
            .or_else(|| operators.next().map(operator))
            .unwrap_or_default(),
    )
}

/// What is done to a model cannot be handed to an interpreter.
fn model_file(source: &Source) -> Result<&[u8], StudyError> {
    let changed = |given| StudyError::from(FirmwareError::Changed { given });
    if source.recipe().is_some() {
        return Err(changed(
            "a change of the model (--allow, or a plan with a recipe)",
        ));
    }
    if source.pruning.is_some() || source.streaming.is_some() || source.integer_ends.is_some() {
        return Err(changed("a change of the model"));
    }
    source.file.as_deref().ok_or_else(|| {
        changed("a network of the zoo, which `dmo-trace zoo export` writes to a file,")
    })
}

fn of_planned(planned: &Planned, source: &Source) -> Offsets {
    Offsets {
        order: planned.file.order.clone(),
        tensors: planned.file.offsets(source.graph().tensors.len()),
        declared_bytes: Some(planned.file.arena_bytes),
        keep_inputs: planned.file.layout.keep_inputs,
    }
}

fn plan_measured(
    source: &Source,
    request: &PlanRequest,
    firmware: &FirmwareKernels,
    inputs: u64,
    session: &Session,
) -> Result<Planned, StudyError> {
    ensure_measured_there(request.layout, true)?;
    let file = model_file(source)?;
    let graph = source.graph();
    let open = vec![-1; graph.tensors.len()];
    let running = session.begin(Work::Measuring);
    running.parts(0, 1);
    let unplanned = tflite::with_plan(file, None, &open).about(&source.name)?;
    let hosted = firmware.host(&unplanned)?;
    let (measured, _) = measure(&hosted, inputs, None).about(&source.name)?;
    running.parts(1, 1);
    drop(running);
    let overlaps = OverlapSource {
        kind: OverlapKind::Traced,
        graph: Graph {
            name: graph.name.clone(),
            ..hosted.graph
        },
        overlaps: measured.overlaps,
        accumulates: false,
        measured: None,
    };
    plan_with(source, overlaps, request, session)
}

fn verify_offsets(
    file: &[u8],
    offsets: &Offsets,
    firmware: &FirmwareKernels,
    inputs: u64,
    progress: &dyn Fn(usize),
) -> Result<FirmwareVerified, StudyError> {
    let open = vec![-1; offsets.tensors.len()];
    let word = |offset: &Option<u64>| match offset {
        Some(offset) => i32::try_from(*offset).unwrap_or(i32::MAX),
        None => -1,
    };
    let words: Vec<i32> = offsets.tensors.iter().map(word).collect();
    let with = |words: &[i32]| tflite::with_plan(file, Some(&offsets.order), words);
    let apart = firmware.host(&with(&open)?)?;
    let planned = firmware.host(&with(&words)?)?;
    progress(1);
    let (measured, replayed) = measure(&apart, inputs, Some(&planned))?;
    progress(2);
    let in_plan = run_in_plan(&planned, &measured, &apart)?;
    progress(3);
    let graph = &planned.graph;
    let start = planned.interpreted.placed.head.start;
    let ids = (0..graph.tensors.len()).map(TensorId);
    let tensors: Vec<Option<u64>> = ids.map(|id| planned.offset(id)).collect();
    let scratch = planned.placement.scratch.iter();
    let scratch = scratch.map(|&(operator, address, bytes)| (operator, address - start, bytes));
    let scratch: Vec<(OperatorId, u64, u64)> = scratch.collect();
    let positions = Positions {
        tensors: &tensors,
        scratch: &scratch,
        keep_inputs: offsets.keep_inputs,
    };
    let order = graph.file_order();
    Ok(FirmwareVerified {
        clashes: clashes(graph, &order, &measured.overlaps, positions, usize::MAX)?,
        faults: [not_obeyed(offsets, &planned), beyond_arena(offsets, graph)].concat(),
        locations: locations(&apart, &replayed),
        order: offsets.order.clone(),
        instructions: measured.instructions,
        inputs,
        arenas: [&apart, &planned].map(arena),
        data_dependent: Measured::data_dependent(&measured),
        replayed,
        in_plan,
        graph: planned.graph,
    })
}

fn arena(hosted: &Hosted) -> FirmwareArena {
    let placed = &hosted.interpreted.placed;
    FirmwareArena {
        head_bytes: placed.head.end - placed.head.start,
        taken: placed.taken,
    }
}

/// Tensors that end beyond what the plan says its arena has.
fn beyond_arena(offsets: &Offsets, graph: &Graph) -> Vec<String> {
    let Some(declared) = offsets.declared_bytes else {
        return Vec::new();
    };
    let tensors = offsets.tensors.iter().zip(&graph.tensors).enumerate();
    let beyond = tensors.filter_map(|(index, (offset, tensor))| {
        let end = (*offset)?.saturating_add(tensor.size_bytes);
        (end > declared).then(|| {
            format!(
                "tensor {index} {:?} ends at {end}, beyond the plan's arena of {declared} bytes",
                tensor.name
            )
        })
    });
    beyond.collect()
}

/// Tensors that the firmware does not have where the plan does.
fn not_obeyed(offsets: &Offsets, planned: &Hosted) -> Vec<String> {
    let tensors = offsets.tensors.iter().enumerate();
    let faults = tensors.filter_map(|(index, wanted)| {
        let (wanted, id) = ((*wanted)?, TensorId(index));
        let found = planned.offset(id)?;
        let name = &planned.graph.tensor(id).name;
        (found != wanted).then(|| {
            format!(
                "the firmware has tensor {index} {name:?} at offset {found} of its arena, and the plan at {wanted}"
            )
        })
    });
    faults.collect()
}

fn locations(hosted: &Hosted, replayed: &Replayed) -> Locations {
    let disassembler = Disassembler::default();
    let located = instructions(replayed).into_iter();
    let located = located.map(|pc| (pc, hosted.target().location(pc, &disassembler)));
    located.collect()
}
