//! Where a model comes from: a file, or the zoo.

use anyhow::Context;
use dmo_analysis::graph::Graph;
use dmo_analysis::graph::tflite::{self, Model};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_trace::image::sha256;
use std::path::Path;

/// A model and where it comes from.
pub struct Source {
    /// The file's name, or the network's.
    pub name: String,
    /// Of the file.
    pub sha256: Option<String>,
    /// The file; none of a network of the zoo.
    pub file: Option<Vec<u8>>,
    /// What was read, at least one graph.
    pub model: Model,
}

/// No model of a microcontroller is larger.
const MOST_BYTES: u64 = 1 << 31;

impl Source {
    /// Reads a model file, or builds `zoo:NAME` or `zoo:NAME:int8`.
    pub fn load(given: &str) -> anyhow::Result<Self> {
        match given.strip_prefix("zoo:") {
            Some(name) => Self::of_zoo(name),
            None => Self::of_file(Path::new(given)),
        }
    }

    /// The first subgraph: where an inference begins.
    pub fn graph(&self) -> &Graph {
        &self.model.graphs[0]
    }

    /// What the user should know of this model.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let others = self.model.graphs.len() - 1;
        if others > 0 {
            notes.push(format!(
                "the model has {others} more subgraphs, which are not in this plan: they need \
                 memory of their own"
            ));
        }
        notes
    }

    fn of_file(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let size = std::fs::metadata(path)
            .with_context(|| format!("cannot read {shown}"))?
            .len();
        anyhow::ensure!(
            size <= MOST_BYTES,
            "{shown} has {size} bytes, more than a model can have ({MOST_BYTES})"
        );
        let file = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let mut model = tflite::read(&file).with_context(|| shown.to_string())?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        if let [graph, ..] = &mut model.graphs[..] {
            graph.name = name.to_string_lossy().into_owned();
        }
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            sha256: Some(sha256(&file)),
            file: Some(file),
            model,
        })
    }

    fn of_zoo(given: &str) -> anyhow::Result<Self> {
        let (name, element) = element(given)?;
        let network = zoo::find(name)
            .with_context(|| format!("no network {name:?}: `dmo-trace zoo` lists all"))?;
        Ok(Self {
            name: format!("zoo:{given}"),
            sha256: None,
            file: None,
            model: Model {
                graphs: vec![network.build(element)],
                ..Model::default()
            },
        })
    }
}

/// `NAME`, `NAME:float32` or `NAME:int8`.
pub fn element(given: &str) -> anyhow::Result<(&str, Element)> {
    match given.split_once(':') {
        None => Ok((given, Element::Float32)),
        Some((name, "float32")) => Ok((name, Element::Float32)),
        Some((name, "int8")) => Ok((name, Element::Int8)),
        Some((_, other)) => anyhow::bail!("element type {other:?}, expected float32 or int8"),
    }
}
