//! A model as users of the module give it.

use crate::error::wrong;
use crate::graph::NativeGraph;
use dmo_analysis::graph::Graph;
use dmo_trace::study::StudyError;
use dmo_trace::study::source::Source;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;

/// A model that is not read yet.
pub enum Model {
    /// A file, or `zoo:NAME`.
    Named(PathBuf),
    /// The content of a file.
    Content(Vec<u8>),
    /// A network built in Python.
    Built(Box<Graph>),
}

impl Model {
    /// What an argument stands for.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(graph) = given.cast::<NativeGraph>() {
            return Ok(Self::Built(Box::new(graph.borrow().graph()?.clone())));
        }
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return Ok(Self::Content(bytes.as_bytes().to_vec()));
        }
        if let Ok(bytes) = given.cast::<PyByteArray>() {
            return Ok(Self::Content(bytes.to_vec()));
        }
        match given.extract::<PathBuf>() {
            Ok(path) => Ok(Self::Named(path)),
            Err(_) => Err(wrong(format!(
                "the model is a {}, expected a path, bytes or a dmo_trace.Graph",
                given.get_type().name()?
            ))),
        }
    }

    /// Reads it.
    pub fn load(self) -> Result<Source, StudyError> {
        match self {
            Self::Named(path) => Source::load(path),
            Self::Content(bytes) => Source::of_bytes("model", bytes),
            Self::Built(graph) => Ok(Source::of_graph(*graph)),
        }
    }
}
