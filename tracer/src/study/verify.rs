//! A plan against the machine code of kernels: the whole model is run in it.

use super::error::{About, OtherKernels, StudyError};
use super::kernel_request::ModelKernels;
use super::overlap_source::{OverlapSource, planned_kernels};
use super::plan::{PlanRequest, plan_with};
use super::plan_to_check::{PlanFault, PlanToCheck};
use super::session::{Session, Work};
use super::source::{Deployed, Source};
use super::{INPUTS, KERNEL_LIMITS};
use crate::mcu::machine::Limits;
use crate::model::verify::{self, Runs, Subject, Verification, differences_from};
use crate::model::{Deployment, Placement};
use dmo_analysis::graph::{OperatorId, overlaps};
use dmo_analysis::handover::PlannedKernels;
use dmo_analysis::schedule::ScheduleError;
use dmo_analysis::verify::{Clash, Occupant, Positions, clashes};
use schemars::JsonSchema;
use serde::Serialize;

/// How a plan is to be verified.
#[derive(Debug, Clone, Copy)]
pub struct VerifyRequest {
    /// On how many different inputs the model is run.
    pub inputs: u64,
    /// Bounds of one call of an operator.
    pub limits: Limits,
    /// What data decide in each operator is found: see [`Runs`].
    pub follows_data: bool,
    /// What is made of the model has to compute what the model computes on the same kernels.
    pub compares_original: bool,
}

impl Default for VerifyRequest {
    fn default() -> Self {
        Self {
            inputs: INPUTS,
            limits: KERNEL_LIMITS,
            follows_data: false,
            compares_original: true,
        }
    }
}

/// Where a plan comes from that is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanOrigin {
    /// From a file of its own.
    #[default]
    Given,
    /// The model carries it.
    Carried,
    /// There was none: it was made for the reference kernels, by formula.
    Made,
}

/// A plan that was verified.
pub struct Verified<'a> {
    /// The plan.
    pub plan: PlanToCheck,
    /// Where it comes from.
    pub plan_origin: PlanOrigin,
    /// Which code computes each operator.
    pub kernels: PlannedKernels,
    /// The model on the kernels.
    pub deployed: Deployed<'a>,
    /// What is wrong with the plan whatever the kernels do, or what it does not give them.
    pub faults: Vec<PlanFault>,
    /// What the three witnesses say; `None` where the plan has holes and cannot be run.
    pub verification: Option<Verification>,
    /// On how many inputs the model was to run.
    pub inputs: u64,
    /// What data decide in each operator was to be found.
    pub follows_data: bool,
    /// How many subgraphs the model has.
    pub subgraphs: usize,
    placement: Placement,
}

impl Verified<'_> {
    /// All operators were executed, nothing is wrong with the plan, and no witness objects.
    pub fn is_safe(&self) -> bool {
        !self.has_objections() && self.deployed.model().not_executed().next().is_none()
    }

    /// Something is wrong with the plan, or a witness objects. Where none does, an operator that
    /// is not executed overlaps with nothing: that is safe with any kernel that keeps to its
    /// tensors and to the scratch memory of the plan.
    pub fn has_objections(&self) -> bool {
        let verification = self.verification.as_ref();
        !self.faults.is_empty() || !verification.is_some_and(Verification::is_safe)
    }

    /// The plan as it was run.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            order: &self.plan.order,
            placement: &self.placement,
            keep_inputs: self.plan.layout.keep_inputs,
        }
    }
}

/// Has the three witnesses say whether a plan is safe with kernels. Without a plan it is the one
/// that the model carries, else the one that is found for the reference kernels.
///
/// # Errors
/// When the plan is for other kernels or does not fit the model, or the model cannot run even
/// without overlaps.
pub fn verify<'a>(
    source: &'a Source,
    plan: Option<PlanToCheck>,
    kernels: &'a ModelKernels,
    request: VerifyRequest,
    session: &Session,
) -> Result<Verified<'a>, StudyError> {
    if let Some(plan) = &plan {
        ensure_is_for(plan, kernels)?;
    }
    let VerifyRequest { inputs, limits, .. } = request;
    let deployed = source.deploy(kernels, limits)?;
    let deployment = deployed.model();
    deployment.ensure_parts_executed().about(&source.name)?;
    let now = planned_kernels(kernels, deployment);
    if let Some(plan) = &plan {
        ensure_is_same(plan, now.clone())?;
    }
    let plan_origin = match &plan {
        Some(_) => PlanOrigin::Given,
        None if source.carried_offsets().is_some() => PlanOrigin::Carried,
        None => PlanOrigin::Made,
    };
    let plan = match plan {
        Some(plan) => plan,
        None => plan_of_model(source, deployment, session)?,
    };
    let (placement, lacking) = place(source, deployment, &plan);
    let mut verified = Verified {
        kernels: now,
        faults: plan.faults(source.graph()),
        plan,
        plan_origin,
        deployed,
        verification: None,
        inputs,
        follows_data: request.follows_data,
        subgraphs: source.model.graphs.len(),
        placement,
    };
    if !verified.faults.is_empty() {
        // A layout with holes cannot be run.
        return Ok(verified);
    }
    let deployment = verified.deployed.model();
    let mut found = {
        let running = session.begin(Work::Verifying);
        verify::verify(
            deployment,
            &verified.subject(),
            Runs {
                inputs,
                limits,
                follows_data: request.follows_data,
            },
            &|done, all| running.parts(done, all),
        )
        .about(&source.name)?
    };
    // Where a part is not executed, and the whole is, arbitrary values stand in its place.
    let original = &verified.deployed.original;
    let comparable = |operator| original.step(source.origin(operator)).kernel.is_err();
    if let Some(changed) = &verified.deployed.changed
        && request.compares_original
        && (changed.not_executed()).all(|(operator, _)| comparable(operator))
    {
        let differences = differences_from(&verified.deployed.original, changed, inputs, limits);
        found.differences.extend(differences.about(&source.name)?);
    }
    let mut scratch = scratch_clashes(deployment, &verified.plan).about(&source.name)?;
    scratch.retain(|clash| !found.clashes.contains(clash));
    found.clashes.extend(scratch);
    verified.verification = Some(found);
    verified.faults.extend(lacking);
    Ok(verified)
}

/// What the scratch buffers of a plan clash with, whether or not these kernels use them: others
/// that compute the same may.
fn scratch_clashes(
    deployment: &Deployment,
    plan: &PlanToCheck,
) -> Result<Vec<Clash>, ScheduleError> {
    let graph = &deployment.model_graph();
    let apart = overlaps::none(graph);
    let mut found = clashes(graph, &plan.order, &apart, plan.positions(), usize::MAX)?;
    let is_scratch = |what: Occupant| matches!(what, Occupant::Scratch(_));
    found.retain(|clash| is_scratch(clash.one) || is_scratch(clash.other));
    Ok(found)
}

/// The plan to verify where none is given.
fn plan_of_model(
    source: &Source,
    deployment: &Deployment,
    session: &Session,
) -> Result<PlanToCheck, StudyError> {
    // The scratch memory is that of these kernels.
    if !matches!(source.offline_plan, Ok(None)) {
        return PlanToCheck::carried(source, &deployment.model_graph());
    }
    let mut overlaps = OverlapSource::analytic(&deployment.model_graph());
    for (operator, _) in deployment.not_executed() {
        overlaps.overlaps[operator.0].clear();
    }
    let planned = plan_with(source, overlaps, &PlanRequest::default(), session)?;
    PlanToCheck::of_planned(&planned, source)
}

/// A plan that was made for kernels is for these only.
///
/// # Errors
/// When it was made for other kernels than these.
pub fn ensure_is_for(plan: &PlanToCheck, kernels: &ModelKernels) -> Result<(), Box<OtherKernels>> {
    let Some(planned) = &plan.kernels else {
        return Ok(());
    };
    let code_sha256 = kernels.libraries[0].library.image().code_sha256();
    let cpu = kernels.cpu().name;
    let kernels = kernels.options();
    if planned.cpu != cpu {
        let planned = planned.cpu.clone();
        return Err(Box::new(OtherKernels::Cpu {
            planned,
            kernels,
            cpu,
        }));
    }
    if planned.code_sha256 != code_sha256 {
        return Err(Box::new(OtherKernels::Code {
            planned: planned.clone(),
            kernels,
            cpu,
            code_sha256,
        }));
    }
    Ok(())
}

/// A plan that was made for kernels is for these only, all of them.
///
/// # Errors
/// When other code computes an operator now.
pub fn ensure_is_same(plan: &PlanToCheck, now: PlannedKernels) -> Result<(), Box<OtherKernels>> {
    match &plan.kernels {
        Some(planned) if !planned.is_same_code(&now) => {
            let planned = planned.clone();
            Err(Box::new(OtherKernels::Combination { planned, now }))
        }
        _ => Ok(()),
    }
}

/// A plan's layout, as far as kernels can run in it, and what scratch memory it does not give:
/// that lies apart. The scratch memory of each operator is the plan's first for it, if that is
/// large enough. Where a kernel only stands for the runtime's, and the plan gives what that asks
/// for, the kernel's own lies apart, too.
pub(super) fn place(
    source: &Source,
    deployment: &Deployment,
    plan: &PlanToCheck,
) -> (Placement, Option<PlanFault>) {
    let mut scratch = vec![None; deployment.steps.len()];
    let mut lacking = Vec::new();
    for step in deployment.steps.iter().filter(|_| plan.layout.scratch) {
        let planned = plan.scratch.iter();
        let mut planned = planned.filter(|(operator, _, _)| *operator == step.operator);
        let wanted = match step.kernel {
            // The kernel is given one block, its first.
            Ok(_) => step.scratch.total_bytes.into(),
            Err(_) => deployment.graph.operators[step.operator.0]
                .scratch_bytes
                .iter()
                .sum(),
        };
        if wanted == 0 {
            continue;
        }
        let enough = match &step.kernel {
            Ok(kernel) => {
                let first = planned.next().filter(|(_, _, bytes)| *bytes >= wanted);
                scratch[step.operator.0] = first.map(|(_, offset, _)| *offset);
                let stands_for_runtimes = deployment.sources[kernel.source].stands_for_reference;
                first.is_some()
                    || stands_for_runtimes && gives_what_runtime_asks(source, plan, step.operator)
            }
            Err(_) => planned.fold(0u64, |sum, (_, _, bytes)| sum.saturating_add(*bytes)) >= wanted,
        };
        if !enough {
            lacking.push((step, wanted));
        }
    }
    let most = lacking.iter().max_by_key(|(_, bytes)| *bytes);
    let fault = most.map(|&(step, bytes)| PlanFault::LittleScratch {
        operators: lacking.len(),
        most: step.operator,
        function: step.function(),
        bytes,
    });
    let placement = Placement {
        tensors: plan.tensors.clone(),
        scratch,
        arena_bytes: plan.arena_bytes,
    };
    (placement, fault)
}

/// Whether a plan that is for no kernels in particular gives an operator each scratch buffer that the
/// runtime's kernel asks for, and none of these shares a byte with anything that is in use at the same time.
fn gives_what_runtime_asks(source: &Source, plan: &PlanToCheck, operator: OperatorId) -> bool {
    let graph = source.graph();
    let node = &graph.operators[operator.0];
    if plan.kernels.is_some() || node.has_unknown_memory() {
        return false;
    }
    let of_operator = |it: &&(OperatorId, u64, u64)| it.0 == operator;
    let given: Vec<_> = plan.scratch.iter().filter(of_operator).copied().collect();
    let ascending = |sizes: &mut dyn Iterator<Item = u64>| {
        let mut sizes: Vec<u64> = sizes.filter(|&bytes| bytes > 0).collect();
        sizes.sort_unstable();
        sizes
    };
    let mut asked = node.scratch_bytes.iter().copied();
    let is_given = ascending(&mut given.iter().map(|it| it.2)) == ascending(&mut asked);
    let positions = Positions {
        scratch: &given,
        ..plan.positions()
    };
    let found = clashes(
        graph,
        &plan.order,
        &overlaps::none(graph),
        positions,
        usize::MAX,
    );
    let buffer = Occupant::Scratch(operator);
    let is_apart = |clash: &Clash| clash.one != buffer && clash.other != buffer;
    is_given && found.is_ok_and(|found| found.iter().all(is_apart))
}
