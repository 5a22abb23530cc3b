//! Results of the library as Python's own objects.

use crate::error::raised;
use dmo_trace::words::report::Report;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use serde_json::Value;

/// What a report prints as JSON: its schema, and what it holds.
pub fn value<R: Report>(report: &R) -> Result<Value, anyhow::Error> {
    let mut value = serde_json::to_value(report)?;
    if let Value::Object(keys) = &mut value {
        let schema = keys.entry("schema");
        schema.or_insert_with(|| R::SCHEMA.into());
    }
    Ok(value)
}

/// A value as None, bool, int, float, str, list and dict.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(given) => PyBool::new(py, *given).to_owned().into_any(),
        Value::Number(given) => {
            if let Some(whole) = given.as_u64() {
                whole.into_pyobject(py)?.into_any()
            } else if let Some(whole) = given.as_i64() {
                whole.into_pyobject(py)?.into_any()
            } else {
                let real = given.as_f64().unwrap_or(f64::NAN);
                PyFloat::new(py, real).into_any()
            }
        }
        Value::String(given) => PyString::new(py, given).into_any(),
        Value::Array(given) => {
            let list = PyList::empty(py);
            for item in given {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(given) => {
            let dict = PyDict::new(py);
            for (key, item) in given {
                dict.set_item(key, to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// A report that was made, or why there is none.
pub fn reported<'py>(
    py: Python<'py>,
    report: Result<Value, anyhow::Error>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &report.map_err(raised)?)
}
