//! O_s of one operator and shape.

use crate::error::wrong;
use crate::graph::with_options;
use crate::interruptible::interruptible;
use crate::options::{self, one_of};
use crate::values::{reported, value};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::study::case::CaseRequest;
use dmo_trace::study::compare::{LIMITS, compare};
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::single::measure_case;
use dmo_trace::words::overlap::{Method, OverlapReport};
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// Options of `dmo-trace overlap` that are not of the operator.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct OverlapOptions {
    kernels: String,
    cpu: Option<String>,
    cmsis_nn_version: Option<u8>,
    function: Option<String>,
    method: Option<String>,
    formulas: bool,
    inputs: u64,
    timeout: f64,
}

/// Computes O_s by all methods.
#[pyfunction]
pub fn overlap<'py>(
    py: Python<'py>,
    operator: String,
    input: Vec<String>,
    words: BTreeMap<String, String>,
    options: OverlapOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let request = CaseRequest {
        operator,
        input,
        ..CaseRequest::default()
    };
    let request = with_options(request, words)?;
    let method = match (&options.method, options.formulas) {
        (Some(name), _) => one_of("method", name, &Method::ALL, Method::name)?,
        (None, false) => Method::Traced,
        (None, true) => Method::Closed,
    };
    if options.formulas && method == Method::Traced {
        return Err(wrong(
            "method 'traced' runs machine code, which formulas=True leaves out",
        ));
    }
    let limits = Limits {
        timeout: options::seconds("timeout", options.timeout)?,
        ..LIMITS
    };
    options::inputs(options.inputs)?;
    let report = interruptible(py, move || report(&request, method, limits, options))?;
    reported(py, report)
}

fn report(
    request: &CaseRequest,
    method: Method,
    limits: Limits,
    options: OverlapOptions,
) -> Result<Value, anyhow::Error> {
    let case = request.case()?;
    let (mut measured, mut note) = (None, None);
    if !options.formulas {
        let kernels = KernelRequest {
            kernels: options.kernels,
            cpu: options.cpu,
            cmsis_nn_version: options.cmsis_nn_version,
            ..KernelRequest::default()
        };
        let function = options.function.as_deref();
        let found = measure_case(
            &kernels.load_one()?,
            &case,
            function,
            options.inputs,
            limits,
        )?;
        (measured, note) = (Some(found.0), found.1);
    }
    let compared = compare(&case.operator, measured.as_ref(), limits.timeout)?;
    let mut report = OverlapReport::new(case, method, compared, measured.as_ref())?;
    report.notes.extend(note);
    value(&report)
}
