//! Which function computes which operator of a model, and with what.

mod case;
mod executed;
mod linked;
mod variables;

use self::case::case;
use self::executed::Executed;
use super::kernel_source::{self, KernelSource};
use crate::call::{Argument, CallError, Caller, Frame};
use crate::kernels::{Buffers, Case, Contract, KernelLibrary};
use crate::mcu::machine::Limits;
use crate::measure::{self, MeasureError, ScratchMemory};
use dmo_analysis::graph::overlaps::SafeOverlap;
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::graph::tflite::{self, TfliteError, Unsupported};
use dmo_analysis::graph::{Graph, GraphTensor, Kind, Node, OperatorId, TensorId, TensorType};
use dmo_analysis::trace::{Address, ElementType};
use dmo_analysis::transform::remove::keeps_values;
use dmo_analysis::transform::{TransformError, Transformed};
use dmo_analysis::wording::grouped;

/// A model whose operators are functions of libraries.
pub struct Deployment<'a> {
    /// The model, each operator that is executed with the scratch memory that its function wants. After
    /// the file's tensors come those that operators keep for themselves, as variables.
    pub graph: Graph,
    /// The libraries, the preferred one first.
    pub sources: Vec<KernelSource<'a>>,
    /// What computes each operator, in the file's order.
    pub steps: Vec<Step<'a>>,
    /// How many tensors the model has.
    model_tensors: usize,
}

/// An operator, and what computes it.
pub struct Step<'a> {
    /// The operator.
    pub operator: OperatorId,
    /// The function that computes it, or why none can be called. What such a function does to
    /// memory is not known.
    pub kernel: Result<StepKernel, Reason>,
    /// What it computes with; `None` if that is not known.
    pub parameters: Option<Parameters<'a>>,
    /// The tensors that the function loads, in its order; where none can be called, all in the
    /// arena that the operator reads.
    pub inputs: Vec<TensorId>,
    /// The tensors that the function stores, in its order; where none can be called, all in the
    /// arena that the operator writes.
    pub outputs: Vec<TensorId>,
    /// The operator's state, in the order of its operands.
    pub states: Vec<TensorId>,
    /// Scratch memory that the function wants, in bytes.
    pub scratch: ScratchMemory,
    /// What the runtime copies itself where subgraphs are run, each from the first tensor of a pair
    /// to the second: no function is called for that. Nothing where nothing is left to do. `None` of
    /// other operators.
    pub copies: Option<Vec<(TensorId, TensorId)>>,
}

/// A function, and how it is called for an operator.
pub struct StepKernel {
    /// Position of its library among [`Deployment::sources`].
    pub source: usize,
    /// Shapes and types.
    pub case: Case,
    /// How the function is called.
    pub contract: &'static Contract,
    /// No more overlap than this is granted, whatever is measured; `None` for no such limit.
    pub most: Option<Vec<SafeOverlap>>,
}

/// Why a model cannot run on libraries.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DeployError {
    #[error(transparent)]
    Tflite(#[from] TfliteError),
    #[error("operator {} {kind}: {reason}", operator.0)]
    Operator {
        operator: OperatorId,
        kind: Kind,
        reason: Reason,
    },
    #[error(
        "operator {} {kind} is made for a plan in tiles or in place, and cannot be run: {reason}", operator.0
    )]
    Part {
        operator: OperatorId,
        kind: Kind,
        reason: String,
    },
}

/// Why an operator cannot run: it is not executed, or what is made of the model is refused.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Reason {
    #[error("its loops are not known, so that no kernel can be called for it")]
    Unknown,
    #[error(
        "its loops are not known with these types, shapes and options, so that no kernel can be called for it"
    )]
    NotThisWay,
    #[error("it runs a subgraph that is run from several places, which is one block of the plan")]
    Shared,
    #[error("a tensor has elements of type {given}, which no kernel takes")]
    ElementType { given: TensorType },
    #[error("operand {operand} is computed by the model; kernels take a constant there")]
    Computed { operand: usize },
    #[error("its {name} has {} bytes; the kernel takes {}", grouped(*given), grouped(*expected))]
    StateSize {
        name: &'static str,
        given: u64,
        expected: u64,
    },
    #[error("its inputs have elements of several types, {given} among them; kernels take one")]
    MixedTypes { given: TensorType },
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Transform(#[from] TransformError),
}

impl Reason {
    /// Of an operator without loops in its graph.
    fn without_loops(kind: &Kind) -> Self {
        if kind.has_known_loops() {
            Self::NotThisWay
        } else {
            Self::Unknown
        }
    }
}

impl<'a> Deployment<'a> {
    /// The first subgraph of a model file, all of it on one library.
    ///
    /// # Errors
    /// When an operator has no kernel in the library.
    pub fn of_file(
        graph: &Graph,
        file: &'a [u8],
        library: &'a KernelLibrary,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        Self::of_file_on(graph, file, &[library.into()], limits)?.complete()
    }

    /// A network built in code, all of it on one library, with invented weights.
    ///
    /// # Errors
    /// When an operator has no kernel in the library.
    pub fn invented(
        graph: &Graph,
        library: &'a KernelLibrary,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        Self::invented_on(graph, &[library.into()], limits).complete()
    }

    /// The first subgraph of a model file on libraries, as far as these have kernels.
    ///
    /// # Errors
    /// When the file's constants make no sense.
    pub fn of_file_on(
        graph: &Graph,
        file: &'a [u8],
        sources: &[KernelSource<'a>],
        limits: Limits,
    ) -> Result<Self, DeployError> {
        let parameters = tflite::parameters(file, 0)?;
        let parameters = parameters.into_iter();
        let parameters = parameters.map(|known| known.map_err(Reason::from));
        Ok(Self::new(graph, sources, limits, parameters))
    }

    /// A network built in code on libraries, as far as these have kernels, with invented weights.
    pub fn invented_on(graph: &Graph, sources: &[KernelSource<'a>], limits: Limits) -> Self {
        let parameters = operators(graph).map(|(_, node)| invented(graph, node, sources));
        Self::new(graph, sources, limits, parameters)
    }

    /// What a transformation makes of this model, on the same libraries. A part of an operator that
    /// no function can be called for is not executed, even if the whole is: it costs the overlaps
    /// at that part.
    ///
    /// # Errors
    /// When one that is left out has changed values as well as moved them.
    pub fn transformed(
        &self,
        transformed: &Transformed,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        for &operator in &transformed.removed {
            let known = |operator: OperatorId| self.steps.get(operator.0)?.parameters.as_ref();
            keeps_values(&self.graph, operator, known).map_err(|error| {
                refused(operator, &self.graph.operators[operator.0], error.into())
            })?;
        }
        let made = transformed.origins.iter().zip(&transformed.graph.operators);
        let parameters = made.map(|(origin, node)| {
            if matches!(node.kind, Kind::InputRows | Kind::KeptRows) {
                return Ok(Parameters::default());
            }
            let known = self.step(origin.operator).parameters.clone();
            let mut parameters = known.ok_or(Reason::Unknown)?;
            for tensor in parameters.tensors.iter_mut().flatten() {
                *tensor = origin.renamed.get(tensor).copied().unwrap_or(*tensor);
            }
            Ok(parameters)
        });
        let (graph, sources) = (&transformed.graph, &self.sources);
        let mut made = Self::new(graph, sources, limits, parameters);
        for (step, origin) in made.steps.iter_mut().zip(&transformed.origins) {
            // Only what copies nothing is in a graph that can be transformed.
            step.copies.clone_from(&self.step(origin.operator).copies);
        }
        Ok(made)
    }

    /// Whether what works on parts of tensors or in place, or hands rows on, is executed. It is no
    /// operator of the model: nobody can say that it computes the same where no kernel was run.
    ///
    /// # Errors
    /// When one is not executed.
    pub fn ensure_parts_executed(&self) -> Result<(), DeployError> {
        let mut steps = self.steps.iter().zip(&self.graph.operators);
        let refusal = steps.find_map(|(step, node)| {
            let loops = node.kernel.as_ref().map(|kernel| &kernel.operator)?;
            let reason = step.kernel.as_ref().err()?;
            kernel_source::is_made(loops).then(|| DeployError::Part {
                operator: step.operator,
                kind: node.kind.clone(),
                reason: reason.to_string(),
            })
        });
        refusal.map_or(Ok(()), Err)
    }

    /// The same, if all operators are executed.
    ///
    /// # Errors
    /// When one is not.
    pub fn complete(mut self) -> Result<Self, DeployError> {
        match self.take_reason() {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }

    /// Why the first operator that is not executed is not.
    fn take_reason(&mut self) -> Option<DeployError> {
        let mut steps = self.steps.iter_mut().filter(|step| step.copies.is_none());
        steps.find_map(|step| {
            let reason = step.kernel.as_mut().err()?;
            let reason = std::mem::replace(reason, Reason::Unknown);
            let node = &self.graph.operators[step.operator.0];
            Some(refused(step.operator, node, reason))
        })
    }

    fn new(
        graph: &Graph,
        sources: &[KernelSource<'a>],
        limits: Limits,
        parameters: impl Iterator<Item = Result<Parameters<'a>, Reason>>,
    ) -> Self {
        let steps = operators(graph).zip(parameters);
        let steps = steps.map(|((operator, _), parameters)| {
            Step::new(graph, sources, limits, operator, parameters)
        });
        let steps: Vec<(Step, Vec<GraphTensor>)> = steps.collect();
        let mut graph = graph.clone();
        let model_tensors = graph.tensors.len();
        let steps = steps.into_iter().map(|(mut step, kept)| {
            for tensor in kept {
                step.states.push(TensorId(graph.tensors.len()));
                graph.tensors.push(tensor);
            }
            step
        });
        let steps: Vec<Step> = steps.collect();
        for (node, step) in graph.operators.iter_mut().zip(&steps) {
            // Of one that is not executed, what is known of TensorFlow Lite Micro's kernel stays.
            if step.kernel.is_ok() {
                let bytes = u64::from(step.scratch.total_bytes);
                node.scratch_bytes = Some(bytes).filter(|&bytes| bytes > 0).into_iter().collect();
            }
        }
        Self {
            graph,
            sources: sources.to_vec(),
            steps,
            model_tensors,
        }
    }

    /// The model without what operators keep for themselves: what is planned.
    pub fn model_graph(&self) -> Graph {
        let mut graph = self.graph.clone();
        graph.tensors.truncate(self.model_tensors);
        graph
    }

    /// What computes the operator.
    pub fn step(&self, operator: OperatorId) -> &Step<'a> {
        &self.steps[operator.0]
    }

    /// The library that a kernel is of.
    pub fn library(&self, kernel: &StepKernel) -> &'a KernelLibrary {
        self.sources[kernel.source].library
    }

    /// The operators that are not executed, in the file's order, each with the reason.
    pub fn not_executed(&self) -> impl Iterator<Item = (OperatorId, &Reason)> {
        let steps = self.steps.iter().filter(|step| step.copies.is_none());
        steps.filter_map(|step| Some((step.operator, step.kernel.as_ref().err()?)))
    }

    /// Type of the tensor's elements.
    pub fn element_type(&self, tensor: TensorId) -> ElementType {
        let element_type = self.graph.tensor(tensor).element_type;
        element_type.element().unwrap_or(ElementType::Uint8)
    }
}

fn operators(graph: &Graph) -> impl Iterator<Item = (OperatorId, &Node)> {
    graph
        .operators
        .iter()
        .enumerate()
        .map(|(index, node)| (OperatorId(index), node))
}

/// What an operator of a network without weights computes with.
fn invented<'a>(
    graph: &Graph,
    node: &Node,
    sources: &[KernelSource],
) -> Result<Parameters<'a>, Reason> {
    let case = case(graph, node)?;
    let contract = kernel_source::any_kernel(sources, &case)?;
    let parameters = contract.invented(&case).map_err(MeasureError::from)?;
    Ok(parameters)
}

pub(super) fn refused(operator: OperatorId, node: &Node, reason: Reason) -> DeployError {
    DeployError::Operator {
        operator,
        kind: node.kind.clone(),
        reason,
    }
}

impl<'a> Step<'a> {
    /// The step, and what the operator keeps for itself, which is no tensor yet.
    fn new(
        graph: &Graph,
        sources: &[KernelSource],
        limits: Limits,
        operator: OperatorId,
        parameters: Result<Parameters<'a>, Reason>,
    ) -> (Self, Vec<GraphTensor>) {
        let (parameters, executed) = match parameters {
            Ok(parameters) => {
                let executed = Executed::new(graph, sources, limits, operator, &parameters);
                (Some(parameters), executed)
            }
            Err(reason) => (None, Err(reason)),
        };
        let node = &graph.operators[operator.0];
        let mut kept = Vec::new();
        let step = match executed {
            Ok(executed) => Self {
                operator,
                kernel: Ok(executed.kernel),
                parameters,
                inputs: executed.loops.inputs.clone(),
                outputs: executed.loops.outputs.clone(),
                states: {
                    kept = executed.kept;
                    executed.states
                },
                scratch: executed.scratch,
                copies: None,
            },
            Err(reason) => Self {
                operator,
                kernel: Err(reason),
                parameters,
                inputs: graph.arena_inputs(node),
                outputs: graph.arena_outputs(node),
                states: Vec::new(),
                scratch: ScratchMemory::default(),
                copies: None,
            },
        };
        (step, kept)
    }
}

impl Step<'_> {
    /// The function that computes it; `None` if none can be called.
    pub fn function(&self) -> Option<&'static str> {
        let kernel = self.kernel.as_ref().ok()?;
        Some(kernel.contract.function)
    }

    /// How the function is called, and with what.
    fn known(&self) -> Result<(&StepKernel, &Parameters<'_>), MeasureError> {
        match (&self.kernel, &self.parameters) {
            (Ok(kernel), Some(parameters)) => Ok((kernel, parameters)),
            _ => Err(MeasureError::NotExecuted {
                operator: self.operator,
            }),
        }
    }

    /// What its states hold before the first inference.
    ///
    /// # Errors
    /// When their sizes are not known.
    pub(crate) fn initial_states(&self) -> Result<Vec<(TensorId, Vec<u8>)>, MeasureError> {
        if self.states.is_empty() {
            return Ok(Vec::new());
        }
        let (kernel, parameters) = self.known()?;
        let states = kernel.contract.states.iter().zip(&self.states);
        states
            .map(|(state, &tensor)| Ok((tensor, state.initial(&kernel.case, parameters)?)))
            .collect()
    }

    /// Places an operand that the kernel takes like an activation and that is the same every
    /// time.
    ///
    /// # Errors
    /// When flash is full.
    pub(crate) fn place_constant(
        &self,
        tensor: TensorId,
        name: &str,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        let parameters = self.parameters.as_ref();
        let constant = parameters.and_then(|known| {
            let mut operands = known.tensors.iter();
            known.constant(operands.position(|&operand| operand == Some(tensor))?)
        });
        frame.place(name, constant.map_or(Vec::new(), |it| it.bytes.to_vec()))
    }

    /// Places parameters and weights in the frame, and gives the arguments of each call.
    ///
    /// # Errors
    /// When flash is full, or no kernel can compute with the parameters.
    pub(crate) fn prepare(
        &self,
        buffers: &Buffers,
        frame: &mut Frame,
    ) -> Result<Vec<Vec<Argument>>, MeasureError> {
        let (kernel, parameters) = self.known()?;
        let contract = kernel.contract;
        Ok(contract.prepare(&kernel.case, parameters, buffers, frame)?)
    }

    /// Calls the function; the frame's data are in place.
    ///
    /// # Errors
    /// When there is none, it faults, does not return, returns a status, or stores into a guard.
    pub(super) fn call(
        &self,
        caller: &mut Caller,
        frame: &Frame,
        calls: &[Vec<Argument>],
    ) -> Result<(), MeasureError> {
        let (kernel, _) = self.known()?;
        measure::call(kernel.contract, caller, frame, calls)
    }
}
