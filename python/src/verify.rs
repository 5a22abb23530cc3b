//! Whether a plan is safe with kernels.

use crate::error::wrong;
use crate::interruptible::interruptible;
use crate::model::Model;
use crate::options;
use crate::placement::{NativePlacement, Placed};
use crate::plan::{Inner, PlannedModel};
use crate::values::{reported, value};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::study::kernel_request::{KernelRequest, ModelKernels};
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::session::Session;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{self as study, VerifyRequest};
use dmo_trace::study::whole_arena::verified_arena;
use dmo_trace::words::pruning::PruneSummary;
use dmo_trace::words::verification::VerifyReport;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `dmo-trace verify`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct VerifyOptions {
    plan: Option<PathBuf>,
    allow: Vec<String>,
    kernels: Vec<String>,
    cpu: Option<String>,
    cmsis_nn_version: Option<u8>,
    inputs: u64,
    max_instructions: u64,
    timeout: f64,
    every_input: bool,
}

/// What is verified.
enum Subject {
    Model(Model),
    Planned(Arc<Inner>),
    Placed(Arc<Placed>),
}

/// Verifies a model's plan, or one that was made before.
#[pyfunction]
pub fn verify<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    options: VerifyOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let subject = if let Ok(planned) = model.cast::<PlannedModel>() {
        Subject::Planned(Arc::clone(&planned.get().0))
    } else if let Ok(placed) = model.cast::<NativePlacement>() {
        Subject::Placed(Arc::clone(&placed.get().0))
    } else {
        Subject::Model(Model::of(model)?)
    };
    if !matches!(subject, Subject::Model(_))
        && (options.plan.is_some() || !options.allow.is_empty())
    {
        return Err(wrong("a planned model has its plan: no plan=, no allow="));
    }
    if let Some(given) = options.allow.iter().find(|given| *given != "prune") {
        return Err(wrong(format!("allow '{given}': expected prune")));
    }
    let request = VerifyRequest {
        inputs: options::inputs(options.inputs)?,
        limits: Limits {
            max_instructions: options.max_instructions,
            timeout: options::seconds("timeout", options.timeout)?,
        },
        follows_data: options.every_input,
        ..VerifyRequest::default()
    };
    let report = interruptible(py, move || verified(subject, &options, request))?;
    reported(py, report)
}

fn verified(
    subject: Subject,
    options: &VerifyOptions,
    request: VerifyRequest,
) -> Result<Value, anyhow::Error> {
    let (cpu, version) = (options.cpu.clone(), options.cmsis_nn_version);
    let kernels = KernelRequest::of_model(&options.kernels, cpu, version);
    match subject {
        Subject::Planned(inner) => {
            let plan = PlanToCheck::of_planned(&inner.planned, &inner.source)?;
            report(&inner.source, Some(plan), &kernels.load()?, request)
        }
        Subject::Placed(placed) => {
            let Inner {
                source, planned, ..
            } = &*placed.inner;
            let plan = PlanToCheck::of_file(&placed.file, planned, source)?;
            report(source, Some(plan), &kernels.load()?, request)
        }
        Subject::Model(model) => {
            let mut source = model.load()?;
            let plan = options.plan.as_ref();
            let plan = plan.map(|path| source.follow_plan(path)).transpose()?;
            if !options.allow.is_empty() {
                source.prune()?;
            }
            let kernels = kernels.load()?;
            let plan = plan.map(|plan| PlanToCheck::new(&plan, &source, None));
            report(&source, plan.transpose()?, &kernels, request)
        }
    }
}

fn report(
    source: &Source,
    plan: Option<PlanToCheck>,
    kernels: &ModelKernels,
    request: VerifyRequest,
) -> Result<Value, anyhow::Error> {
    let carries_plan = plan.is_none() && source.carried_offsets().is_some();
    let session = Session::default();
    let verified = study::verify(source, plan, kernels, request, &session)?;
    let mut report = VerifyReport::new(&source.name, &kernels.name(), &verified);
    report.integer_io = source.integer_io().cloned();
    let pruning = source.pruning.as_ref();
    report.pruning = pruning.map(|it| PruneSummary::new(&it.report));
    if carries_plan {
        report.whole_arenas = verified_arena(source, &verified)?.into_iter().collect();
    }
    value(&report)
}
