//! The part of the Python package `dmo_trace` that is not Python: the module `dmo_trace._native`.
//!
//! It calls the library as the command line does, and hands over what the reports of the commands
//! hold as JSON. What users see, with names, types and defaults, is in `dmo_trace/*.py`.

#![allow(
    clippy::needless_pass_by_value,
    reason = "arguments of Python arrive converted, as values"
)]

mod error;
mod graph;
mod interruptible;
mod model;
mod options;
mod oracle;
mod overlap;
mod placement;
mod plan;
mod run;
mod sweep;
mod values;
mod verify;

use pyo3::prelude::*;

/// What the package `dmo_trace` is made of; no interface for others.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::error::DmoTraceError;
    #[pymodule_export]
    use super::graph::NativeGraph;
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::oracle::{NativeNeeds, NativeOracle};
    #[pymodule_export]
    use super::overlap::overlap;
    #[pymodule_export]
    use super::placement::{NativePlacement, place};
    #[pymodule_export]
    use super::plan::{PlannedModel, plan};
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::sweep::sweep;
    #[pymodule_export]
    use super::verify::verify;
    #[pymodule_export]
    use super::version;
}

/// Runs the command line, the program's name first, and gives the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| dmo_trace::cli::main(arguments))
}

/// The version of the program.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
