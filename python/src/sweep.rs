//! A grid of operators, shapes, kernels and CPUs.

use crate::error::wrong;
use crate::interruptible::interruptible;
use crate::options;
use crate::values::reported;
use dmo_trace::study::kernel_request::{KernelRequest, NamedKernels};
use dmo_trace::study::sweep::{self as study, Grid, Row, SweepRequest, shard};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options of `dmo-trace sweep`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SweepOptions {
    /// The grid's file, or its text.
    path: Option<PathBuf>,
    text: Option<String>,
    kernels: String,
    cpu: Option<String>,
    cmsis_nn_version: Option<u8>,
    formulas: bool,
    inputs: u64,
    every_input: bool,
    timeout: f64,
    shard: (usize, usize),
    /// As many as the machine has cores, if none are given.
    threads: Option<NonZeroUsize>,
    /// Only how many cases there are.
    count: bool,
}

#[derive(Serialize)]
struct Swept {
    /// Cases of the whole grid.
    cases: usize,
    notes: Vec<String>,
    /// What the rows depend on beside their cases.
    kernels: Vec<Kernels>,
    rows: Vec<Row>,
    /// How many of the rows each case has, in the order of the cases.
    rows_of_cases: Vec<usize>,
}

/// A set of kernels on a CPU.
#[derive(Serialize)]
struct Kernels {
    name: String,
    cpu: &'static str,
    /// Of the ELF file.
    sha256: String,
}

/// Measures the cases of a grid.
#[pyfunction]
pub fn sweep<'py>(py: Python<'py>, options: SweepOptions) -> PyResult<Bound<'py, PyAny>> {
    let (number, shards) = options.shard;
    if !(1..=shards).contains(&number) {
        return Err(wrong(format!(
            "shard ({number}, {shards}): expected (I, N) with I from 1 to N"
        )));
    }
    let request = SweepRequest {
        inputs: options::inputs(options.inputs)?,
        timeout: options::seconds("timeout", options.timeout)?,
        every_input: options.every_input,
        threads: options.threads,
    };
    let report = interruptible(py, move || swept(&options, request))?;
    reported(py, report)
}

fn swept(options: &SweepOptions, request: SweepRequest) -> Result<Value, anyhow::Error> {
    let kernels = KernelRequest {
        kernels: options.kernels.clone(),
        cpu: options.cpu.clone(),
        cmsis_nn_version: options.cmsis_nn_version,
        ..KernelRequest::default()
    };
    let kernels = (!options.formulas).then_some(&kernels);
    let grid = match (&options.path, &options.text) {
        (Some(path), _) => Grid::read(path, kernels)?,
        (None, text) => Grid::parse(text.as_deref().unwrap_or_default(), kernels)?,
    };
    let mut swept = Swept {
        cases: grid.entries.len(),
        notes: grid.notes.clone(),
        kernels: grid.libraries.iter().map(|it| kernels_of(it)).collect(),
        rows: Vec::new(),
        rows_of_cases: Vec::new(),
    };
    if !options.count {
        let (number, shards) = options.shard;
        let entries = shard(&grid, number, shards);
        study::sweep(&entries, request, |rows| {
            swept.rows_of_cases.push(rows.len());
            swept.rows.extend(rows);
            Ok::<_, anyhow::Error>(())
        })?;
    }
    Ok(serde_json::to_value(&swept)?)
}

fn kernels_of(library: &NamedKernels) -> Kernels {
    Kernels {
        name: library.name.clone(),
        cpu: library.library.cpu().name,
        sha256: library.library.image().sha256.clone(),
    }
}
