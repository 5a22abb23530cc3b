//! What is known of an operator for which a function can be called.

use super::case::case;
use super::{Reason, StepKernel};
use crate::kernels::{Case, Contract, KernelLibrary, State, StatePlace};
use crate::mcu::machine::Limits;
use crate::measure::{self, MeasureError, ScratchMemory};
use crate::model::kernel_source::{self, KernelSource};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::graph::{Graph, GraphTensor, Kernel, OperatorId, Storage, TensorId};

/// What is known of an operator for which a function can be called.
pub(super) struct Executed<'g> {
    pub kernel: StepKernel,
    pub loops: &'g Kernel,
    pub states: Vec<TensorId>,
    /// States that are no tensors of the model.
    pub kept: Vec<GraphTensor>,
    pub scratch: ScratchMemory,
}

impl<'g> Executed<'g> {
    pub fn new(
        graph: &'g Graph,
        sources: &[KernelSource],
        limits: Limits,
        operator: OperatorId,
        parameters: &Parameters,
    ) -> Result<Self, Reason> {
        let node = &graph.operators[operator.0];
        let given = case(graph, node)?;
        let loops = node.kernel.as_ref();
        let loops = loops.ok_or_else(|| Reason::without_loops(&node.kind))?;
        let output = loops.outputs.first().ok_or(Reason::Unknown)?;
        let axes = graph.tensor(*output).shape.len();
        let (source, (contract, case, scratch)) =
            kernel_source::first(sources, &given, |library| {
                let (contract, case) = match Contract::instead(library, &given, parameters, axes) {
                    None => (choose(library, &given, parameters)?, given.clone()),
                    Some((other, function)) => {
                        (named(library, &other, function, parameters)?, other)
                    }
                };
                let scratch =
                    measure::scratch_memory(library, &case, contract, parameters, limits)?;
                Ok((contract, case, scratch))
            })?;
        let (mut states, mut kept) = (Vec::new(), Vec::new());
        for state in contract.states {
            let expected = || {
                state
                    .size_bytes(&case, parameters)
                    .map_err(MeasureError::from)
            };
            if state.place == StatePlace::Own {
                kept.push(own_state(state, operator, expected()?)?);
            }
            let Some(tensor) = state.tensor(parameters, &loops.outputs) else {
                continue;
            };
            let given = graph.tensor(tensor).size_bytes;
            let expected = expected()?;
            if given != expected {
                return Err(Reason::StateSize {
                    name: state.name,
                    given,
                    expected,
                });
            }
            states.push(tensor);
        }
        for (operand, &tensor) in parameters.tensors.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let is_computed = graph.tensor(tensor).storage != Storage::Constant;
            let computed = is_computed && !node.kind.loads_no(operand);
            if computed && !loops.inputs.contains(&tensor) && !states.contains(&tensor) {
                return Err(Reason::Computed { operand });
            }
        }
        Ok(Self {
            kernel: StepKernel {
                source,
                contract,
                most: sources[source].most(graph, operator, contract, case.kind != given.kind),
                case,
            },
            loops,
            states,
            kept,
            scratch,
        })
    }
}

/// What an operator keeps for itself.
fn own_state(
    state: &State,
    operator: OperatorId,
    size_bytes: u64,
) -> Result<GraphTensor, MeasureError> {
    let elements = size_bytes / u64::from(state.element_type.size_bytes());
    let elements = u32::try_from(elements).map_err(|_| MeasureError::Scratch { size_bytes })?;
    Ok(GraphTensor {
        name: format!("{} of operator {}", state.name, operator.0),
        shape: vec![elements],
        element_type: state.element_type.into(),
        size_bytes,
        storage: Storage::Variable,
    })
}

/// The kernel of this name, which the runtime calls: where it cannot be called here, no other of the
/// library says anything, nor do the kernels of another one.
fn named(
    library: &KernelLibrary,
    case: &Case,
    function: &str,
    parameters: &Parameters,
) -> Result<&'static Contract, MeasureError> {
    let found = Contract::find(library, case, Some(function));
    let contract = found.ok_or_else(|| MeasureError::NotCallable {
        function: function.to_owned(),
    })?;
    measure::takes(contract, library, case, parameters)?;
    Ok(contract)
}

/// The first kernel of the library that computes with these numbers.
fn choose(
    library: &KernelLibrary,
    case: &Case,
    parameters: &Parameters,
) -> Result<&'static Contract, MeasureError> {
    let mut refusal = None;
    for contract in Contract::candidates_for(library, case, parameters) {
        match measure::takes(contract, library, case, parameters) {
            Ok(()) => return Ok(contract),
            // Why the preferred one does not take them is what the user reads.
            Err(reason) => _ = refusal.get_or_insert(reason),
        }
    }
    let serving = Contract::serving_int4(library, case, parameters);
    let by_name = serving.map(|function| MeasureError::NotCallable { function });
    if let Some(reason) = by_name.or(refusal) {
        return Err(reason);
    }
    let other = measure::choose(library, case, None)?;
    measure::takes(other, library, case, parameters).map(|()| other)
}
