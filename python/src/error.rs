//! Errors of the library as exceptions.

use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(
    dmo_trace,
    DmoTraceError,
    PyException,
    "What dmo-trace says when something cannot be done: what, where, what was given, which limit, and a hint."
);

/// The whole message, as the command line prints it.
pub fn raised(error: impl Into<anyhow::Error>) -> PyErr {
    DmoTraceError::new_err(format!("{:#}", error.into()))
}

/// The same of a text.
pub fn wrong(message: impl Into<String>) -> PyErr {
    DmoTraceError::new_err(message.into())
}
