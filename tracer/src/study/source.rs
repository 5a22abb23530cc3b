//! Where a model comes from: a file, or the zoo.

use super::error::{About, PlanError, SourceError, StudyError};
use super::input;
use super::integer_ends::IntegerEnds;
use super::kernel_request::ModelKernels;
use super::plan_file::NamedPlan;
use super::pruning::Pruning;
use super::streaming::Streaming;
use crate::elf::image::sha256;
use crate::mcu::machine::Limits;
use crate::model::Deployment;
use dmo_analysis::graph::tflite::{self, Linked, Model, OfflinePlan, TfliteError, WithVariables};
use dmo_analysis::graph::zoo::{self, Element, Network};
use dmo_analysis::graph::{Graph, GraphTensor, OperatorId, Storage, TensorType};
use dmo_analysis::handover::{OnDevice, on_device};
use dmo_analysis::tflm;
use dmo_analysis::transform::integer_io::{self, IntegerIoReport};
use dmo_analysis::transform::remove::{self, keeps_values};
use dmo_analysis::transform::{self, Recipe, Transformed};
use dmo_analysis::wording::grouped;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

/// A model and where it comes from.
pub struct Source {
    /// The file's name, or the network's.
    pub name: String,
    /// Of the file as it was given.
    pub sha256: Option<String>,
    /// The file, or what was made of it; none of a network of the zoo.
    pub file: Option<Vec<u8>>,
    /// What was read, at least one graph.
    pub model: Model,
    /// The plan that the file carries, `None` where it carries no plan.
    pub offline_plan: Result<Option<OfflinePlan>, TfliteError>,
    /// What was made of the ends of the file first.
    pub integer_ends: Option<IntegerEnds>,
    /// What was made of the file next.
    pub pruning: Option<Pruning>,
    /// What was made of the file so that it takes the newest rows of a window, after it was pruned.
    pub streaming: Option<Streaming>,
    /// All subgraphs as one graph, of a model of several.
    linked: Option<Linked>,
    /// The model as one graph in which resource variables are tensors, where it was made so.
    with_variables: Option<WithVariables>,
    /// What is made of the first graph.
    change: Option<(Recipe, Transformed)>,
}

/// No model of a microcontroller is larger.
const MOST_BYTES: u64 = 1 << 31;

impl Source {
    /// Reads a model file, or builds `zoo:NAME` or `zoo:NAME:int8`.
    ///
    /// # Errors
    /// When the file cannot be read or is no model, or there is no such network.
    pub fn load(given: impl AsRef<OsStr>) -> Result<Self, StudyError> {
        let given = given.as_ref();
        match given.to_str().and_then(|name| name.strip_prefix("zoo:")) {
            Some(name) => Self::of_zoo(name),
            None => Self::of_file(Path::new(given)),
        }
    }

    /// Reads a plan of the model, which from now on is what the plan makes of it: with integers as
    /// inputs and outputs, pruned, and what its recipe says.
    ///
    /// # Errors
    /// As [`NamedPlan::read`]; when the model cannot be pruned, or the recipe is not one for it.
    pub fn follow_plan(&mut self, plan: &Path) -> Result<NamedPlan, StudyError> {
        let plan = NamedPlan::read(plan)?;
        // Of another model's plan this would be of no use, and is refused later.
        let is_of_this = plan.plan.model_sha256 == self.sha256;
        if plan.plan.integer_io_sha256.is_some() && is_of_this {
            self.take_integers()?;
        }
        if plan.plan.pruned_sha256.is_some() && is_of_this {
            self.prune()?;
        }
        if let Some(recipe) = &plan.plan.recipe {
            self.follow(recipe.clone())?;
        }
        Ok(plan)
    }

    /// The model as one graph, all its subgraphs linked: as it is read, or what is made of it.
    pub fn graph(&self) -> &Graph {
        match &self.change {
            Some((_, transformed)) => &transformed.graph,
            None => self.original(),
        }
    }

    /// All subgraphs as one graph; `None` of a model of one.
    pub fn linked(&self) -> Option<&Linked> {
        self.linked.as_ref()
    }

    /// What TensorFlow Lite Micro makes of a plan of `graph`, which is the model with the scratch
    /// buffers of some kernels.
    ///
    /// # Errors
    /// When the order is not one of the graph's, or an offset is not a multiple of 16.
    pub(super) fn on_device(
        &self,
        graph: &Graph,
        order: &[OperatorId],
        offsets: &[Option<u64>],
        keep_inputs: bool,
    ) -> Result<OnDevice, StudyError> {
        match (&self.linked, &self.file) {
            (Some(linked), Some(file)) => Ok(tflm::on_device(
                file,
                (&self.model, linked),
                graph,
                offsets,
                keep_inputs,
            )?),
            _ => Ok(on_device(graph, order, offsets, keep_inputs)?),
        }
    }

    /// Scratch memory of the operators of each subgraph of the model's file, in bytes. `graph` is the
    /// model with the scratch buffers of some kernels; of one subgraph, in this order.
    pub(super) fn scratch_bytes(&self, graph: &Graph, order: &[OperatorId]) -> Vec<Vec<Vec<u64>>> {
        match &self.linked {
            Some(linked) => linked.scratch_bytes(&self.model, graph),
            None => {
                let operators = order.iter().map(|id| &graph.operators[id.0]);
                vec![operators.map(|node| node.scratch_bytes.clone()).collect()]
            }
        }
    }

    /// From now on the model takes and gives the integers that it computes with. This counts as the
    /// model as it was given.
    ///
    /// # Errors
    /// When the model has no file, or ends in floats that are none of a quantised model.
    pub fn take_integers(&mut self) -> Result<(), StudyError> {
        if self.integer_ends.is_some() {
            return Ok(());
        }
        let (ends, file) = IntegerEnds::of(&self.name, self.file.as_deref())?;
        self.read_anew(file)?;
        self.integer_ends = Some(ends);
        Ok(())
    }

    /// Which ends of the model are integers now, and were floats; `None` if they are as in its file.
    pub fn integer_io(&self) -> Option<&IntegerIoReport> {
        self.integer_ends.as_ref().map(|ends| &ends.report)
    }

    /// SHA-256 of the file without the conversions at its ends; `None` where they are as they were.
    pub fn integer_io_sha256(&self) -> Option<&String> {
        self.integer_ends.as_ref().map(|ends| &ends.sha256)
    }

    /// From now on the model is without the channels that make no difference.
    ///
    /// # Errors
    /// When the model has no file, or one that cannot be pruned.
    pub fn prune(&mut self) -> Result<(), StudyError> {
        if self.pruning.is_some() {
            return Ok(());
        }
        if self.with_variables.is_some() {
            let model = self.name.clone();
            return Err(PlanError::Variables { model }.into());
        }
        let (pruning, file) = Pruning::of(&self.name, self.file.as_deref(), self.original())?;
        if pruning.sha256.is_some() {
            self.read_anew(file)?;
        }
        self.pruning = Some(pruning);
        Ok(())
    }

    /// From now on the model takes `new_rows` rows of its window over time, the newest ones. What
    /// was pruned before counts as the model as it was given.
    ///
    /// # Errors
    /// When the model has no file, or nothing in it can be reused from one window to the next.
    pub fn stream(&mut self, new_rows: u32) -> Result<(), StudyError> {
        let pruned = self.pruning.as_ref();
        let graph = pruned.map_or_else(|| self.original(), |pruning| &pruning.graph);
        let given = (self.given_file(), graph);
        let (streaming, file) = Streaming::of(&self.name, self.file.as_deref(), given, new_rows)?;
        self.read_anew(file)?;
        (self.pruning, self.streaming) = (None, Some(streaming));
        Ok(())
    }

    /// From now on resource variables are tensors of the model, and there is one graph. Of a model
    /// that has none nothing changes.
    ///
    /// # Errors
    /// When it is not certain what the variables are, or what they begin with.
    pub fn keep_variables(&mut self) -> Result<(), StudyError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let with_variables = self.model.with_variables(file).about(&self.name)?;
        if with_variables.is_some() {
            self.linked = None;
            self.with_variables = with_variables;
        }
        Ok(())
    }

    /// Reads what was made of the file.
    fn read_anew(&mut self, file: Vec<u8>) -> Result<(), StudyError> {
        let mut model = tflite::read(&file).about(&self.name)?;
        if let [graph, ..] = &mut model.graphs[..] {
            graph.name.clone_from(&self.model.graphs[0].name);
        }
        self.offline_plan = model.offline_plan(&file);
        self.linked = linked(&model).about(&self.name)?;
        (self.file, self.model) = (Some(file), model);
        Ok(())
    }

    /// Whether inputs or outputs are in floats that could be the integers that the model computes with.
    pub fn has_float_ends(&self) -> bool {
        let file = self
            .file
            .as_ref()
            .filter(|_| self.ensure_changeable().is_ok());
        let parameters = file.and_then(|file| tflite::parameters(file, 0).ok());
        let ends = parameters.map(|known| integer_io::ends(&self.model.graphs[0], &known));
        ends.is_some_and(|ends| !ends.is_empty())
    }

    /// Whether the model is another one than that of the file.
    pub fn is_changed(&self) -> bool {
        self.recipe().is_some() || self.pruned_sha256().is_some() || self.integer_ends.is_some()
    }

    /// SHA-256 of the file that pruning made; `None` where it made none.
    pub fn pruned_sha256(&self) -> Option<&String> {
        self.pruning.as_ref()?.sha256.as_ref()
    }

    /// The file as the user has it, where there is one.
    pub fn file_as_read(&self) -> Option<&[u8]> {
        match &self.integer_ends {
            Some(ends) => Some(&ends.given),
            None => self.given_file(),
        }
    }

    /// The file before it was pruned, where there is one.
    pub fn given_file(&self) -> Option<&[u8]> {
        match &self.pruning {
            Some(pruning) => Some(&pruning.given),
            None => self.file.as_deref(),
        }
    }

    /// The model as one graph as it is read, or as pruning left it.
    pub fn original(&self) -> &Graph {
        match (&self.with_variables, &self.linked) {
            (Some(model), _) => &model.graph,
            (None, Some(linked)) => &linked.graph,
            (None, None) => &self.model.graphs[0],
        }
    }

    /// What is done to the model.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.change.as_ref().map(|(recipe, _)| recipe)
    }

    /// The operator of the model as it is read that one of the model as it is now is made of.
    pub fn origin(&self, operator: OperatorId) -> OperatorId {
        let origins = self.change.as_ref().map(|(_, changed)| &changed.origins);
        let origin = origins.and_then(|origins| origins.get(operator.0));
        origin.map_or(operator, |origin| origin.operator)
    }

    /// Refuses a model whose operators cannot be changed.
    ///
    /// # Errors
    /// When operators run on an accelerator, in memory whose layout is its compiler's, or the model
    /// has several subgraphs.
    pub fn ensure_changeable(&self) -> Result<(), PlanError> {
        if self.linked.is_some() {
            return Err(PlanError::Subgraphs {
                model: self.name.clone(),
                subgraphs: self.model.graphs.len(),
            });
        }
        if self.original().views.is_empty() {
            return Ok(());
        }
        let model = self.name.clone();
        Err(PlanError::Accelerated { model })
    }

    /// The operators that only move data, and the values too of a model whose numbers are known.
    ///
    /// # Errors
    /// When the file's constants make no sense.
    pub fn removable(&self) -> Result<Vec<OperatorId>, StudyError> {
        self.ensure_changeable()?;
        let graph = self.original();
        let mut moving = remove::moving(graph);
        if let Some(file) = &self.file {
            let parameters = tflite::parameters(file, 0).about(&self.name)?;
            let known = |operator: OperatorId| parameters.get(operator.0)?.as_ref().ok();
            moving.retain(|&operator| keeps_values(graph, operator, known).is_ok());
        }
        Ok(moving)
    }

    /// From now on the model is what the recipe makes of it.
    ///
    /// # Errors
    /// When the recipe cannot be followed, or leaves out what changes values.
    pub fn follow(&mut self, recipe: Recipe) -> Result<(), StudyError> {
        self.ensure_changeable()?;
        let transformed = transform::apply(self.original(), &recipe).about(&self.name)?;
        self.ensure_values_stay(&recipe.removed)?;
        self.change = Some((recipe, transformed));
        Ok(())
    }

    /// What a recipe leaves out only moves data; of a network without numbers nothing is known.
    fn ensure_values_stay(&self, removed: &[OperatorId]) -> Result<(), StudyError> {
        let Some(file) = self.file.as_ref().filter(|_| !removed.is_empty()) else {
            return Ok(());
        };
        let parameters = tflite::parameters(file, 0).about(&self.name)?;
        let known = |operator: OperatorId| parameters.get(operator.0)?.as_ref().ok();
        for &operator in removed {
            keeps_values(self.original(), operator, known).about(&self.name)?;
        }
        Ok(())
    }

    /// From now on the model is as it was read.
    pub fn follow_nothing(&mut self) {
        self.change = None;
    }

    /// The model on kernels, as far as there are some; a network of the zoo with invented weights.
    ///
    /// # Errors
    /// When the file's constants make no sense, or what is made of an operator with a kernel has
    /// none.
    pub fn deploy<'a>(
        &'a self,
        kernels: &'a ModelKernels,
        limits: Limits,
    ) -> Result<Deployed<'a>, StudyError> {
        let (graph, sources) = (self.original(), kernels.sources());
        let original = match (&self.file, &self.with_variables, &self.linked) {
            (None, ..) => Ok(Deployment::invented_on(graph, &sources, limits)),
            (Some(file), Some(model), _) => {
                Deployment::of_variables_on(model, file, &sources, limits)
            }
            (Some(file), None, Some(linked)) => {
                Deployment::of_linked_on(linked, file, &sources, limits)
            }
            (Some(file), None, None) => Deployment::of_file_on(graph, file, &sources, limits),
        };
        let original = original.about(&self.name)?;
        let changed = match &self.change {
            Some((_, transformed)) => Some(
                original
                    .transformed(transformed, limits)
                    .about(&self.name)?,
            ),
            None => None,
        };
        match &self.pruning {
            Some(pruning) if pruning.sha256.is_some() => {
                let (graph, file) = (&pruning.graph, &pruning.given);
                let given = Deployment::of_file_on(graph, file, &sources, limits);
                Ok(Deployed {
                    original: given.about(&self.name)?,
                    changed: Some(changed.unwrap_or(original)),
                })
            }
            _ => Ok(Deployed { original, changed }),
        }
    }

    /// The offsets of the plan that the model carries, one for each tensor; `None` where there is
    /// no plan or none that could be obeyed.
    pub fn carried_offsets(&self) -> Option<Vec<Option<u64>>> {
        let plan = self.offline_plan.as_ref().ok()?.as_ref()?;
        if self.change.is_some() || plan.offsets.len() != self.graph().tensors.len() {
            return None;
        }
        plan.offsets.iter().map(|&given| offset_of(given)).collect()
    }

    /// The same, where the simulation of TensorFlow Lite Micro's planner takes these offsets.
    pub fn obeyed_offsets(&self) -> Option<Vec<Option<u64>>> {
        let offsets = self.carried_offsets()?;
        let mut known = offsets.iter().flatten();
        let are_aligned = known.all(|offset| offset.is_multiple_of(ALIGNMENT));
        are_aligned.then_some(offsets)
    }

    /// The kinds of custom operators, each once, of whose memory nothing is known but their
    /// tensors.
    pub fn unknown_memory(&self) -> Vec<String> {
        let operators = self.graph().operators.iter();
        let unknown = operators.filter(|node| node.has_unknown_memory());
        let kinds: BTreeSet<String> = unknown
            .map(|node| node.kind.escape_debug().to_string())
            .collect();
        kinds.into_iter().collect()
    }

    /// An error that is about this model.
    pub fn about(&self, error: impl Into<StudyError>) -> StudyError {
        error.into().about(&self.name)
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
        if self.model.outside_bytes > 0 {
            notes.push(format!(
                "{} bytes of the model's data follow the flatbuffer, where TensorFlow Lite Micro \
                 does not look for them; hint: convert the model again without \
                 _experimental_use_buffer_offset",
                grouped(self.model.outside_bytes)
            ));
        }
        if self.carried_offsets().is_some() {
            notes.push(
                "the model carries a plan, which --out replaces; `dmo-trace audit` checks it"
                    .to_owned(),
            );
        }
        if self.linked.is_some() {
            notes.push(format!(
                "the model's {} subgraphs are planned together; their operators stay in the file's \
                 order, and are numbered as they run (IF, WHILE and CALL_ONCE once for each time \
                 that they copy)",
                self.model.graphs.len()
            ));
        }
        notes
    }

    fn of_file(path: &Path) -> Result<Self, StudyError> {
        let shown = path.display();
        let file = input::read(path, MOST_BYTES).about(format_args!("cannot read {shown}"))?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::of_bytes(&name.to_string_lossy(), file).about(shown)
    }

    /// Reads the content of a model file, which messages call by this name; what follows it does no
    /// harm.
    ///
    /// # Errors
    /// When it is no model.
    pub fn of_bytes(name: &str, file: Vec<u8>) -> Result<Self, StudyError> {
        let mut model = tflite::read(&file)?;
        if let [graph, ..] = &mut model.graphs[..] {
            graph.name = name.to_owned();
        }
        Ok(Self {
            linked: linked(&model)?,
            with_variables: None,
            name: name.escape_debug().to_string(),
            sha256: Some(sha256(&file)),
            offline_plan: model.offline_plan(&file),
            file: Some(file),
            model,
            integer_ends: None,
            pruning: None,
            streaming: None,
            change: None,
        })
    }

    fn of_zoo(given: &str) -> Result<Self, StudyError> {
        let (network, element) = network(given)?;
        Ok(Self::of_graph(Graph {
            name: format!("zoo:{given}"),
            ..network.build(element)
        }))
    }

    /// A network built in code, without weights.
    pub fn of_graph(graph: Graph) -> Self {
        Self {
            name: graph.name.escape_debug().to_string(),
            sha256: None,
            file: None,
            model: Model {
                graphs: vec![graph],
                ..Model::default()
            },
            offline_plan: Ok(None),
            integer_ends: None,
            pruning: None,
            streaming: None,
            linked: None,
            with_variables: None,
            change: None,
        }
    }
}

/// All subgraphs of a model of several as one graph.
fn linked(model: &Model) -> Result<Option<Linked>, TfliteError> {
    (model.graphs.len() > 1).then(|| model.linked()).transpose()
}

/// An offset of a plan that a model carries, `None` inside where it is left to the runtime; `None`
/// where it is negative.
pub(super) fn offset_of(given: i32) -> Option<Option<u64>> {
    match given {
        -1 => Some(None),
        given => u64::try_from(given).ok().map(Some),
    }
}

/// A model on kernels.
pub struct Deployed<'a> {
    /// As it was given.
    pub original: Deployment<'a>,
    /// What is made of it, where something is.
    pub changed: Option<Deployment<'a>>,
}

impl<'a> Deployed<'a> {
    /// The model as it is to run.
    pub fn model(&self) -> &Deployment<'a> {
        self.changed.as_ref().unwrap_or(&self.original)
    }

    /// The model as it is to run, alone.
    pub fn into_model(self) -> Deployment<'a> {
        self.changed.unwrap_or(self.original)
    }
}

/// The network of the zoo, and the type of its elements: `NAME`, `NAME:float32` or `NAME:int8`.
///
/// # Errors
/// When there is no such network, or none of such elements.
pub fn network(given: &str) -> Result<(&'static Network, Element), SourceError> {
    let given = given.strip_prefix("zoo:").unwrap_or(given);
    let (name, element) = match given.split_once(':') {
        None => (given, Element::Float32),
        Some((name, "float32")) => (name, Element::Float32),
        Some((name, "int8")) => (name, Element::Int8),
        Some((_, other)) => {
            return Err(SourceError::Element {
                given: other.to_owned(),
            });
        }
    };
    let network = zoo::find(name).ok_or_else(|| SourceError::NoNetwork {
        name: name.to_owned(),
        similar: similar_network(name),
    })?;
    Ok((network, element))
}

/// The network whose name is most like this one, unless none is.
fn similar_network(name: &str) -> Option<&'static str> {
    const LIKE: f64 = 0.8;
    let likeness = |network: &Network| {
        let begins = if network.name.starts_with(name) {
            1.0
        } else {
            0.0
        };
        strsim::jaro_winkler(name, network.name) + begins
    };
    let networks = zoo::NETWORKS.iter().rev();
    let similar = networks.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(similar) > LIKE).then_some(similar.name)
}
