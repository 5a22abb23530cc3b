//! Where a model comes from: a file, or the zoo.

use super::file::read_plan_file;
use crate::cli::input;
use anyhow::Context;
use dmo_analysis::graph::tflite::{self, Model};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, GraphTensor, OperatorId, Storage, TensorType};
use dmo_analysis::transform::remove::{self, keeps_values};
use dmo_analysis::transform::{self, Recipe, Transformed};
use dmo_trace::elf::image::sha256;
use dmo_trace::kernels::KernelLibrary;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::model::Deployment;
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
    /// What is made of the first graph.
    change: Option<(Recipe, Transformed)>,
}

/// The built-in set that stands for TensorFlow Lite's reference kernels.
pub const REFERENCE: &str = "reference";

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

    /// The first subgraph, where an inference begins: as it is read, or what is made of it.
    pub fn graph(&self) -> &Graph {
        match &self.change {
            Some((_, transformed)) => &transformed.graph,
            None => &self.model.graphs[0],
        }
    }

    /// The first subgraph as it is read.
    pub fn original(&self) -> &Graph {
        &self.model.graphs[0]
    }

    /// What is done to the model.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.change.as_ref().map(|(recipe, _)| recipe)
    }

    /// The operators that only move data, and the values too of a model whose numbers are known.
    pub fn removable(&self) -> anyhow::Result<Vec<OperatorId>> {
        let graph = self.original();
        let mut moving = remove::moving(graph);
        if let Some(file) = &self.file {
            let parameters = tflite::parameters(file, 0).with_context(|| self.name.clone())?;
            let known = |operator: OperatorId| parameters.get(operator.0)?.as_ref().ok();
            moving.retain(|&operator| keeps_values(graph, operator, known).is_ok());
        }
        Ok(moving)
    }

    /// From now on the model is what the recipe makes of it.
    pub fn follow(&mut self, recipe: Recipe) -> anyhow::Result<()> {
        let transformed = transform::apply(self.original(), &recipe);
        let transformed = transformed.with_context(|| self.name.clone())?;
        self.ensure_values_stay(&recipe.removed)?;
        self.change = Some((recipe, transformed));
        Ok(())
    }

    /// What a recipe leaves out only moves data; of a network without numbers nothing is known.
    fn ensure_values_stay(&self, removed: &[OperatorId]) -> anyhow::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| !removed.is_empty()) else {
            return Ok(());
        };
        let parameters = tflite::parameters(file, 0).with_context(|| self.name.clone())?;
        let known = |operator: OperatorId| parameters.get(operator.0)?.as_ref().ok();
        for &operator in removed {
            keeps_values(self.original(), operator, known).with_context(|| self.name.clone())?;
        }
        Ok(())
    }

    /// From now on the model is as it was read.
    pub fn follow_nothing(&mut self) {
        self.change = None;
    }

    /// The model that a plan is of: what the plan's recipe makes of it, where it has one.
    pub fn load_for(given: &str, plan: Option<&Path>) -> anyhow::Result<Self> {
        let mut source = Self::load(given)?;
        let plan = plan.map(read_plan_file).transpose()?;
        if let Some(recipe) = plan.and_then(|plan| plan.recipe) {
            source.follow(recipe)?;
        }
        Ok(source)
    }

    /// The model on the kernels of this name; a network of the zoo with invented weights.
    pub fn deploy<'a>(
        &'a self,
        library: &'a KernelLibrary,
        kernels: &str,
        limits: Limits,
    ) -> anyhow::Result<Deployment<'a>> {
        let original = self.deploy_original(library, kernels, limits)?;
        let Some((_, transformed)) = &self.change else {
            return Ok(original);
        };
        let deployment = original.transformed(transformed, limits);
        deployment.with_context(|| self.name.clone())
    }

    /// The same, of the model as it was read.
    pub fn deploy_original<'a>(
        &'a self,
        library: &'a KernelLibrary,
        kernels: &str,
        limits: Limits,
    ) -> anyhow::Result<Deployment<'a>> {
        let graph = self.original();
        let deployment = match &self.file {
            Some(file) => Deployment::of_file(graph, file, library, limits),
            None => Deployment::invented(graph, library, limits),
        };
        let deployment = deployment.with_context(|| self.name.clone())?;
        Ok(match kernels {
            // They are what a plan is tried on that TensorFlow Lite Micro's own kernels will run.
            REFERENCE => deployment.standing_for_reference(),
            _ => deployment,
        })
    }

    /// The offsets of the plan that the model carries, one for each tensor; none where there is
    /// no plan or none that could be obeyed.
    pub fn carried_offsets(&self) -> Option<Vec<Option<u64>>> {
        let plan = tflite::offline_plan(self.file.as_deref()?).ok()??;
        if self.change.is_some()
            || plan.offsets.len() != self.graph().tensors.len()
            || self.model.graphs.len() > 1
        {
            return None;
        }
        let offset = |&offset: &i32| match offset {
            -1 => Ok(None),
            offset => u64::try_from(offset).map(Some),
        };
        plan.offsets
            .iter()
            .map(offset)
            .collect::<Result<_, _>>()
            .ok()
    }

    /// What the user should know of this model.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let uint8 = |tensor: &GraphTensor| {
            tensor.storage == Storage::Arena && tensor.element_type == TensorType::Uint8
        };
        if self.file.is_some() && self.graph().tensors.iter().any(uint8) {
            notes.push(
                "TensorFlow Lite Micro has hardly any kernel for UINT8 and may refuse this model"
                    .to_owned(),
            );
        }
        if self.carried_offsets().is_some() {
            notes.push(
                "the model carries a plan, which --emit replaces; `dmo-trace audit` checks it"
                    .to_owned(),
            );
        }
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
        let file = input::read(path, MOST_BYTES).with_context(|| format!("cannot read {shown}"))?;
        let mut model = tflite::read(&file).with_context(|| shown.to_string())?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        if let [graph, ..] = &mut model.graphs[..] {
            graph.name = name.to_string_lossy().into_owned();
        }
        Ok(Self {
            name: name.to_string_lossy().escape_debug().to_string(),
            sha256: Some(sha256(&file)),
            file: Some(file),
            model,
            change: None,
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
                graphs: vec![Graph {
                    name: format!("zoo:{given}"),
                    ..network.build(element)
                }],
                ..Model::default()
            },
            change: None,
        })
    }
}

/// `NAME`, `NAME:float32` or `NAME:int8`.
pub fn element(given: &str) -> anyhow::Result<(&str, Element)> {
    let given = given.strip_prefix("zoo:").unwrap_or(given);
    match given.split_once(':') {
        None => Ok((given, Element::Float32)),
        Some((name, "float32")) => Ok((name, Element::Float32)),
        Some((name, "int8")) => Ok((name, Element::Int8)),
        Some((_, other)) => anyhow::bail!("element type {other:?}, expected float32 or int8"),
    }
}
