//! Which function computes which operator of a model, and with what.

use crate::call::{Argument, CallError, Caller, Frame};
use crate::kernels::{Buffers, Case, Contract, KernelLibrary};
use crate::mcu::machine::Limits;
use crate::measure::{self, MeasureError};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::graph::tflite::{self, TfliteError, Unsupported};
use dmo_analysis::graph::{Graph, Kernel, Kind, Node, OperatorId, Storage, TensorId, TensorType};
use dmo_analysis::operator::{Operator, Reduce, Reduction, SpatialMean};
use dmo_analysis::trace::{Address, ElementType};
use dmo_analysis::transform::remove::keeps_values;
use dmo_analysis::transform::{TransformError, Transformed};

/// A model whose operators are functions of a library.
pub struct Deployment<'a> {
    /// The model, each operator with the scratch memory that its function wants.
    pub graph: Graph,
    /// The functions.
    pub library: &'a KernelLibrary,
    /// What computes each operator, in the file's order.
    pub steps: Vec<Step<'a>>,
    /// No more overlap than this is granted, whatever is measured; none for no such limit.
    pub most: Option<Overlaps>,
}

/// What computes an operator.
pub struct Step<'a> {
    /// The operator.
    pub operator: OperatorId,
    /// Its shapes and types.
    pub case: Case,
    /// How the function is called.
    pub contract: &'static Contract,
    /// What it computes with.
    pub parameters: Parameters<'a>,
    /// The tensors that the function loads, in its order.
    pub inputs: Vec<TensorId>,
    /// The tensors that the function stores, in its order.
    pub outputs: Vec<TensorId>,
    /// The operator's state, in the order of its operands.
    pub states: Vec<TensorId>,
    /// Scratch memory that the function wants, in bytes.
    pub scratch_bytes: u32,
}

/// Why a model cannot run on a library.
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
}

/// Why an operator cannot run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Reason {
    #[error("its loops are not known, so that no kernel can be called for it")]
    Unknown,
    #[error("a tensor has elements of type {given}, which no kernel takes")]
    ElementType { given: TensorType },
    #[error("operand {operand} is computed by the model; kernels take a constant there")]
    Computed { operand: usize },
    #[error("its inputs have elements of several types, {given} among them; kernels take one")]
    MixedTypes { given: TensorType },
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Transform(#[from] TransformError),
}

impl<'a> Deployment<'a> {
    /// The first subgraph of a model file on a library.
    ///
    /// # Errors
    /// When an operator has no kernel in the library.
    pub fn of_file(
        graph: &Graph,
        file: &'a [u8],
        library: &'a KernelLibrary,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        let parameters = tflite::parameters(file, 0)?;
        let parameters = parameters.into_iter();
        let parameters = parameters.map(|known| known.map_err(Reason::from));
        Self::new(graph, library, limits, parameters)
    }

    /// A network built in code on a library, with invented weights.
    ///
    /// # Errors
    /// When an operator has no kernel in the library.
    pub fn invented(
        graph: &Graph,
        library: &'a KernelLibrary,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        let parameters = operators(graph).map(|(_, node)| invented(graph, node, library));
        Self::new(graph, library, limits, parameters)
    }

    /// What a transformation makes of this model, on the same library.
    ///
    /// # Errors
    /// When an operator has no kernel in the library, or one that is left out has changed values
    /// as well as moved them.
    pub fn transformed(
        &self,
        transformed: &Transformed,
        limits: Limits,
    ) -> Result<Self, DeployError> {
        for &operator in &transformed.removed {
            let known = |operator: OperatorId| {
                let step = self.steps.get(operator.0);
                step.map(|step| &step.parameters)
            };
            keeps_values(&self.graph, operator, known).map_err(|error| {
                refused(operator, &self.graph.operators[operator.0], error.into())
            })?;
        }
        let parameters = transformed.origins.iter().map(|origin| {
            let mut parameters = self.step(origin.operator).parameters.clone();
            for tensor in parameters.tensors.iter_mut().flatten() {
                *tensor = origin.renamed.get(tensor).copied().unwrap_or(*tensor);
            }
            Ok(parameters)
        });
        let deployment = Self::new(&transformed.graph, self.library, limits, parameters)?;
        Ok(match self.most {
            Some(_) => deployment.standing_for_reference(),
            None => deployment,
        })
    }

    fn new(
        graph: &Graph,
        library: &'a KernelLibrary,
        limits: Limits,
        parameters: impl Iterator<Item = Result<Parameters<'a>, Reason>>,
    ) -> Result<Self, DeployError> {
        let mut steps = Vec::new();
        for ((operator, node), parameters) in operators(graph).zip(parameters) {
            let step = case(graph, node)
                .and_then(|case| Step::new(graph, library, limits, operator, case, parameters?));
            steps.push(step.map_err(|reason| refused(operator, node, reason))?);
        }
        Ok(Self::of_steps(graph, library, steps))
    }

    fn of_steps(graph: &Graph, library: &'a KernelLibrary, steps: Vec<Step<'a>>) -> Self {
        let mut graph = graph.clone();
        for (node, step) in graph.operators.iter_mut().zip(&steps) {
            let bytes = u64::from(step.scratch_bytes);
            node.scratch_bytes = Some(bytes).filter(|&bytes| bytes > 0).into_iter().collect();
        }
        Self {
            graph,
            library,
            steps,
            most: None,
        }
    }

    /// For kernels that stand for those of TensorFlow Lite's reference: where these are known to
    /// allow less, for instance because they set their output to zero first, less is granted.
    #[must_use]
    pub fn standing_for_reference(mut self) -> Self {
        self.most = Some(overlaps::analytic(&self.graph));
        self
    }

    /// What computes the operator.
    pub fn step(&self, operator: OperatorId) -> &Step<'a> {
        &self.steps[operator.0]
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
    library: &KernelLibrary,
) -> Result<Parameters<'a>, Reason> {
    let case = case(graph, node)?;
    let contract = measure::choose(library, &case, None)?;
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
    fn new(
        graph: &Graph,
        library: &KernelLibrary,
        limits: Limits,
        operator: OperatorId,
        case: Case,
        parameters: Parameters<'a>,
    ) -> Result<Self, Reason> {
        let node = &graph.operators[operator.0];
        let kernel = node.kernel.as_ref().ok_or(Reason::Unknown)?;
        let contract = choose(library, &case, &parameters)?;
        let states = contract.states.iter();
        let states = states.filter_map(|state| *parameters.tensors.get(state.operand)?);
        let states: Vec<TensorId> = states.collect();
        for (operand, &tensor) in parameters.tensors.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let computed = graph.tensor(tensor).storage != Storage::Constant;
            if computed && !kernel.inputs.contains(&tensor) && !states.contains(&tensor) {
                return Err(Reason::Computed { operand });
            }
        }
        let scratch_bytes = measure::scratch_bytes(library, &case, contract, &parameters, limits)?;
        Ok(Self {
            operator,
            contract,
            inputs: kernel.inputs.clone(),
            outputs: kernel.outputs.clone(),
            states,
            scratch_bytes,
            case,
            parameters,
        })
    }
}

/// The first kernel of the library that computes with these numbers.
fn choose(
    library: &KernelLibrary,
    case: &Case,
    parameters: &Parameters,
) -> Result<&'static Contract, MeasureError> {
    let preferred = measure::choose(library, case, None)?;
    let sizes = case.operator.buffers()?;
    let anywhere = |count| vec![Address(0); count];
    let takes = |contract: &&Contract| {
        let buffers = Buffers {
            inputs: anywhere(sizes.inputs.len()),
            outputs: anywhere(sizes.outputs.len()),
            scratch: None,
            states: anywhere(contract.states.len()),
        };
        let mut frame = library.frame();
        contract.prepare(case, parameters, &buffers, &mut frame)
    };
    // Why the preferred one does not take them is what the user reads.
    let refusal = match takes(&preferred) {
        Ok(_) => return Ok(preferred),
        Err(refusal) => refusal,
    };
    Contract::candidates(library, case)
        .find(|contract| takes(contract).is_ok())
        .ok_or(MeasureError::Call(refusal))
}

impl Step<'_> {
    /// Which of the operator's operands the tensor is.
    fn operand(&self, tensor: TensorId) -> Option<usize> {
        let mut operands = self.parameters.tensors.iter();
        operands.position(|&operand| operand == Some(tensor))
    }

    /// What its states hold before the first inference.
    ///
    /// # Errors
    /// When their sizes are not known.
    pub(super) fn initial_states(&self) -> Result<Vec<(TensorId, Vec<u8>)>, CallError> {
        let states = self.contract.states.iter().zip(&self.states);
        states
            .map(|(state, &tensor)| Ok((tensor, state.initial(&self.case, &self.parameters)?)))
            .collect()
    }

    /// Places an operand that the kernel takes like an activation and that is the same every
    /// time.
    ///
    /// # Errors
    /// When flash is full.
    pub(super) fn place_constant(
        &self,
        tensor: TensorId,
        name: &str,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        let operand = self.operand(tensor);
        let constant = operand.and_then(|operand| self.parameters.constant(operand));
        frame.place(name, constant.map_or(Vec::new(), |it| it.bytes.to_vec()))
    }

    /// Places parameters and weights in the frame, and gives the arguments of each call.
    ///
    /// # Errors
    /// When flash is full, or the kernel cannot compute with the parameters.
    pub(super) fn prepare(
        &self,
        buffers: &Buffers,
        frame: &mut Frame,
    ) -> Result<Vec<Vec<Argument>>, CallError> {
        self.contract
            .prepare(&self.case, &self.parameters, buffers, frame)
    }

    /// Calls the function; the frame's data are in place.
    ///
    /// # Errors
    /// When it faults, does not return, returns a status, or stores into a guard.
    pub(super) fn call(
        &self,
        caller: &mut Caller,
        frame: &Frame,
        calls: &[Vec<Argument>],
    ) -> Result<(), MeasureError> {
        measure::call(self.contract, caller, frame, calls)
    }
}

/// The operator as kernels know it.
fn case(graph: &Graph, node: &Node) -> Result<Case, Reason> {
    let kernel = node.kernel.as_ref().ok_or(Reason::Unknown)?;
    let type_of = |ids: &[TensorId]| {
        let given = ids.first().ok_or(Reason::Unknown)?;
        let given = graph.tensor(*given).element_type;
        given.element().ok_or(Reason::ElementType { given })
    };
    let input_type = type_of(&kernel.inputs)?;
    for id in &kernel.inputs {
        if type_of(&[*id])? != input_type {
            let given = graph.tensor(*id).element_type;
            return Err(Reason::MixedTypes { given });
        }
    }
    let output_type = type_of(&kernel.outputs)?;
    Ok(Case {
        operator: operator(kernel, input_type),
        kind: node.kind.computed_as(input_type).ok_or(Reason::Unknown)?,
        input_type,
        output_type,
    })
}

/// A mean of integers sums in a register. Over one axis, or several that follow each other, it
/// is a mean over the pixels of a row.
fn operator(kernel: &Kernel, input_type: ElementType) -> Operator {
    match &kernel.operator {
        Operator::Reduce(reduce)
            if reduce.reduction == Reduction::Mean && input_type != ElementType::Float32 =>
        {
            let row = row_mean(reduce);
            row.map_or_else(|| kernel.operator.clone(), Operator::SpatialMean)
        }
        operator => operator.clone(),
    }
}

/// None where axes that stay lie between those that go.
fn row_mean(reduce: &Reduce) -> Option<SpatialMean> {
    // An axis of one element goes or stays as its neighbours do.
    let axes = (0..4).filter(|&axis| reduce.input[axis] > 1);
    let (mut outer, mut row, mut inner) = (1u32, 1u32, 1u32);
    for axis in axes {
        let extent = reduce.input[axis];
        let goes = reduce.axes[axis];
        let part = match (goes, row > 1) {
            (true, _) if inner > 1 => return None,
            (true, _) => &mut row,
            (false, true) => &mut inner,
            (false, false) => &mut outer,
        };
        *part = part.checked_mul(extent)?;
    }
    Some(SpatialMean {
        input: [outer, 1, row, inner],
        input_element_bytes: reduce.input_element_bytes,
        output_element_bytes: reduce.output_element_bytes,
    })
}
