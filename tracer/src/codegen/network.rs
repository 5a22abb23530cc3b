//! A deployed model in its planned arena as calls of C functions.

use super::c_interface::CInterface;
use super::memory::{Memory, MemoryError, Place, PlannedMemories};
use super::value::{CallMemory, Constants, Reader, Value, ValueError};
use crate::call::{Argument, CallError, Frame};
use crate::kernels::{NEXT_ROWS, ROWS_IN_MEMORY};
use crate::measure::MeasureError;
use crate::model::{Deployment, Placement, Step};
use dmo_analysis::graph::{GraphTensor, OperatorId, Storage, TensorId};
use dmo_analysis::handover::PlannedRegion;
use dmo_analysis::trace::Address;
use std::collections::BTreeSet;
use std::ops::Range;

/// A model as calls.
#[derive(Debug)]
pub struct Network {
    /// Calls in the order in which they run.
    pub calls: Vec<Call>,
    /// Functions that no call needs, and a proof does: they say how much scratch memory kernels want,
    /// or stand for the application.
    pub functions_of_proof: BTreeSet<&'static str>,
    /// The arrays that calls point to.
    pub constants: Constants,
    /// What the application stores before an inference.
    pub inputs: Vec<Endpoint>,
    /// At most this many rows of the input are handed over at once; `None` if it lies in the arena.
    pub most_rows: Option<u32>,
    /// What the application reads after an inference.
    pub outputs: Vec<Endpoint>,
    /// What persists from one inference to the next.
    pub states: Vec<StateBuffer>,
    /// Where states lie in the arena of the plan: all else is reused.
    pub state_bytes: Range<u32>,
    /// The arrays that the application provides: the arena, or one for each memory of the plan.
    pub memories: Vec<Memory>,
}

/// A call of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The operator that it computes.
    pub operator: OperatorId,
    /// The function.
    pub function: &'static str,
    /// It returns a status, 0 for success.
    pub returns_status: bool,
    /// Its arguments in order.
    pub arguments: Vec<Value>,
}

/// An input or output of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The tensor.
    pub tensor: TensorId,
    /// Where it lies.
    pub place: Place,
}

/// A state of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBuffer {
    /// The tensor.
    pub tensor: TensorId,
    /// Where it lies.
    pub place: Place,
    /// What it holds before the first inference.
    pub initial: Vec<u8>,
}

/// Why there is no C code of a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NetworkError {
    #[error("operator {} {kind}: {reason}", operator.0)]
    NotExecuted {
        operator: OperatorId,
        kind: String,
        reason: String,
    },
    #[error("tensor {} {name} lies outside the arena", tensor.0)]
    OutsideArena { tensor: TensorId, name: String },
    #[error(
        "output {name} of the model is a constant (tensor {}), for which no code is made\n  hint: a \
         model without this output",
        tensor.0
    )]
    ConstantOutput { tensor: TensorId, name: String },
    #[error(
        "input {name} of the model has data in the file (tensor {}), and whether the application may \
         store to it is not known\n  hint: a model whose inputs have none",
        tensor.0
    )]
    ConstantInput { tensor: TensorId, name: String },
    #[error("operator {}: its scratch buffer lies outside the arena", operator.0)]
    NoScratch { operator: OperatorId },
    #[error("operator {}: {function} is not declared in a header of ours", operator.0)]
    NoPrototype {
        operator: OperatorId,
        function: &'static str,
    },
    #[error("operator {}: {function} takes {declared} arguments, {given} are known", operator.0)]
    OtherInterface {
        operator: OperatorId,
        function: &'static str,
        declared: usize,
        given: usize,
    },
    #[error("operator {}, argument {parameter} of {function}: {error}", operator.0)]
    Value {
        operator: OperatorId,
        function: &'static str,
        parameter: String,
        error: ValueError,
    },
    #[error("the arena has {given} bytes; generated code takes at most {limit}")]
    LargeArena { given: u64, limit: u64 },
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Call(#[from] CallError),
}

/// No microcontroller has more RAM.
const MOST_ARENA_BYTES: u64 = 32 << 20;

/// States lie as far apart as anything that is planned.
const STATE_ALIGNMENT: u32 = crate::call::ALIGNMENT;

/// The arena of a library in bytes: what is planned, and after it the states.
///
/// # Errors
/// When the size of a state is not known.
pub fn arena_with_states(deployment: &Deployment, planned_bytes: u64) -> Result<u64, MeasureError> {
    let aligned = |bytes: u64| bytes.next_multiple_of(STATE_ALIGNMENT.into());
    let mut arena_bytes = planned_bytes;
    let mut known = BTreeSet::new();
    for step in &deployment.steps {
        let mut states = step.initial_states()?;
        states.retain(|(tensor, _)| known.insert(*tensor));
        for (_, initial) in states {
            arena_bytes = aligned(aligned(arena_bytes) + initial.len() as u64);
        }
    }
    Ok(arena_bytes)
}

impl Network {
    /// The calls of a model in a layout, whose arena is made of memories.
    ///
    /// # Errors
    /// When an operator has no kernel whose call can be written in C, or a tensor no place.
    pub fn new(
        deployment: &Deployment,
        order: &[OperatorId],
        placement: &Placement,
        memories: &PlannedMemories,
        interface: &CInterface,
    ) -> Result<Self, NetworkError> {
        let arena_bytes = placement.arena_bytes;
        let ends = memories.regions.iter().map(PlannedRegion::end);
        let arena_bytes = ends.fold(arena_bytes, u64::max);
        if arena_bytes > MOST_ARENA_BYTES {
            return Err(NetworkError::LargeArena {
                given: arena_bytes,
                limit: MOST_ARENA_BYTES,
            });
        }
        let mut offsets = placement.tensors.clone();
        offsets.resize(deployment.graph.tensors.len(), None);
        let mut places = Places {
            deployment,
            offsets,
            memories: Vec::new(),
        };
        let states_from = match memories.states {
            Some(place) => memories.regions[place.region].start + place.offset,
            None => arena_bytes.next_multiple_of(STATE_ALIGNMENT.into()),
        };
        let states = places.states(order, states_from as u32)?;
        let ends = states.iter();
        let ends = ends.map(|(_, start, initial)| start + initial.len() as u32);
        let states_end = ends.max().unwrap_or(states_from as u32);
        let states_end = states_end.next_multiple_of(STATE_ALIGNMENT);
        places.memories = if memories.regions.is_empty() {
            vec![Memory::arena(match states[..] {
                [] => arena_bytes as u32,
                _ => states_end,
            })]
        } else {
            Memory::of_regions(&memories.regions)?
        };
        let states = states.into_iter().map(|(tensor, _, initial)| {
            let place = places.place(tensor)?;
            Ok(StateBuffer {
                tensor,
                place,
                initial,
            })
        });
        let states = states.collect::<Result<Vec<_>, NetworkError>>()?;
        let graph = &deployment.graph;
        let is_constant = |id: &&TensorId| graph.tensor(**id).storage == Storage::Constant;
        if let Some(&tensor) = graph.outputs.iter().find(is_constant) {
            return Err(NetworkError::ConstantOutput {
                tensor,
                name: graph.tensor(tensor).name.escape_debug().to_string(),
            });
        }
        if let Some(&tensor) = graph.inputs.iter().find(is_constant) {
            return Err(NetworkError::ConstantInput {
                tensor,
                name: graph.tensor(tensor).name.escape_debug().to_string(),
            });
        }
        let endpoints = |tensors: &[TensorId]| {
            let endpoint = |&tensor: &TensorId| {
                Ok(Endpoint {
                    tensor,
                    place: places.place(tensor)?,
                })
            };
            tensors
                .iter()
                .map(endpoint)
                .collect::<Result<Vec<_>, NetworkError>>()
        };
        let mut in_arena = deployment.graph.inputs.clone();
        in_arena.retain(|&tensor| deployment.graph.in_arena(tensor));
        let mut network = Self {
            calls: Vec::new(),
            functions_of_proof: BTreeSet::new(),
            constants: Constants::default(),
            inputs: endpoints(&in_arena)?,
            most_rows: None,
            outputs: endpoints(&deployment.graph.outputs)?,
            states,
            state_bytes: states_from as u32..states_end,
            memories: places.memories.clone(),
        };
        for &operator in order {
            let scratch = placement.scratch[operator.0];
            network.add_calls(deployment.step(operator), &places, scratch, interface)?;
        }
        Ok(network)
    }

    /// Bytes of all arrays that the application provides.
    pub fn ram_bytes(&self) -> u32 {
        self.memories.iter().map(Memory::bytes).sum()
    }

    /// The byte after the last one of the plan's arena.
    fn end(&self) -> u32 {
        let ends = self.memories.iter().map(|memory| memory.extent.end);
        ends.max().unwrap_or(0)
    }

    /// Where the states begin; of a model without any, where they would.
    pub fn states_at(&self) -> Place {
        let place = Memory::locate(&self.memories, self.state_bytes.start);
        place.unwrap_or(Place {
            memory: 0,
            offset_bytes: self.state_bytes.start,
        })
    }

    fn add_calls(
        &mut self,
        step: &Step,
        places: &Places,
        scratch: Option<u64>,
        interface: &CInterface,
    ) -> Result<(), NetworkError> {
        let operator = step.operator;
        let kernel = match &step.kernel {
            Ok(kernel) => kernel,
            Err(_) if step.copies.as_ref().is_some_and(Vec::is_empty) => return Ok(()),
            Err(reason) => {
                let node = &places.deployment.graph.operators[operator.0];
                return Err(NetworkError::NotExecuted {
                    operator,
                    kind: node.kind.escape_debug().to_string(),
                    reason: reason.to_string(),
                });
            }
        };
        let contract = kernel.contract;
        let function = contract.function;
        if function == ROWS_IN_MEMORY {
            self.functions_of_proof.insert(function);
            let (call, rows) = places.next_rows(step)?;
            self.most_rows = self.most_rows.max(Some(rows));
            self.calls.push(call);
            return Ok(());
        }
        let sizes = contract.size_functions().map(|it| it.name);
        self.functions_of_proof.extend(sizes);
        let prototype = interface.function(function);
        let prototype = prototype.ok_or(NetworkError::NoPrototype { operator, function })?;
        let mut frame = places.deployment.library(kernel).frame();
        let arena = frame.reserve("the arena", self.end().into())?;
        let addresses = places.addresses(step, arena, &mut frame)?;
        if step.scratch.total_bytes > 0 && scratch.is_none() {
            return Err(NetworkError::NoScratch { operator });
        }
        let scratch =
            scratch.map(|offset| (Address(arena.0 + offset as u32), step.scratch.total_bytes));
        let buffers = crate::model::inference::buffers(step, &addresses, scratch);
        let calls = step.prepare(&buffers, &mut frame)?;
        for arguments in calls {
            if arguments.len() != prototype.parameters.len() {
                return Err(NetworkError::OtherInterface {
                    operator,
                    function,
                    declared: prototype.parameters.len(),
                    given: arguments.len(),
                });
            }
            let mut reader = Reader {
                interface,
                memory: CallMemory {
                    arena: arena.0,
                    memories: &self.memories,
                    flash: frame.flash().collect(),
                },
                constants: &mut self.constants,
            };
            let values = prototype.parameters.iter().zip(&arguments);
            let values = values.map(|(parameter, argument)| {
                let word = match *argument {
                    Argument::Word(word) => word,
                    Argument::Float(float) => float.to_bits(),
                };
                let value = reader.word(&parameter.name, &parameter.ctype, word);
                value.map_err(|error| NetworkError::Value {
                    operator,
                    function,
                    parameter: parameter.name.clone(),
                    error,
                })
            });
            let arguments = values.collect::<Result<_, _>>()?;
            self.calls.push(Call {
                operator,
                function,
                returns_status: contract.returns_status,
                arguments,
            });
        }
        Ok(())
    }
}

/// Where tensors lie in the arena.
struct Places<'a> {
    deployment: &'a Deployment<'a>,
    /// Of each tensor, in the arena of the plan.
    offsets: Vec<Option<u64>>,
    memories: Vec<Memory>,
}

impl Places<'_> {
    /// Gives each state its place, one after the other from a byte of the plan's arena on.
    fn states(
        &mut self,
        order: &[OperatorId],
        from: u32,
    ) -> Result<Vec<(TensorId, u32, Vec<u8>)>, NetworkError> {
        let mut states = Vec::new();
        let mut next = from;
        for &operator in order {
            let mut initial = self.deployment.step(operator).initial_states()?;
            // A variable may be a state of several operators.
            initial.retain(|(tensor, _)| self.offsets[tensor.0].is_none());
            for (tensor, initial) in initial {
                let end = u64::from(next) + initial.len() as u64;
                if end > MOST_ARENA_BYTES {
                    return Err(NetworkError::LargeArena {
                        given: end,
                        limit: MOST_ARENA_BYTES,
                    });
                }
                self.offsets[tensor.0] = Some(next.into());
                states.push((tensor, next, initial));
                next = (end as u32).next_multiple_of(STATE_ALIGNMENT);
            }
        }
        Ok(states)
    }

    /// The tensor that this one lies in, which may be itself, and where in it, in bytes.
    fn root(&self, tensor: TensorId) -> (TensorId, u32) {
        let view = self.deployment.graph.views.get(&tensor);
        view.map_or((tensor, 0), |view| (view.of, view.offset_bytes as u32))
    }

    fn offset(&self, tensor: TensorId) -> Result<u32, NetworkError> {
        let graph = &self.deployment.graph;
        let (root, within) = self.root(tensor);
        let outside = || NetworkError::OutsideArena {
            tensor,
            name: graph.tensor(tensor).name.escape_debug().to_string(),
        };
        let offset = self.offsets[root.0].ok_or_else(outside)?;
        Ok(offset as u32 + within)
    }

    /// The memory that a tensor lies in, and where in it.
    fn place(&self, tensor: TensorId) -> Result<Place, NetworkError> {
        let offset = self.offset(tensor)?;
        let place = Memory::locate(&self.memories, offset);
        place.ok_or_else(|| NetworkError::OutsideArena {
            tensor,
            name: (self.deployment.graph.tensor(tensor).name)
                .escape_debug()
                .to_string(),
        })
    }

    /// The call that has the application store the rows of its input that are needed next, after
    /// those that are there, and how many.
    fn next_rows(&self, step: &Step) -> Result<(Call, u32), NetworkError> {
        let graph = &self.deployment.graph;
        let (Some(&new), Some(&output)) = (step.inputs.last(), step.outputs.first()) else {
            let operator = step.operator;
            return Err(MeasureError::NotExecuted { operator }.into());
        };
        let (input, from_bytes) = self.root(new);
        let [input, new] = [input, new].map(|id| graph.tensor(id));
        let rows_of = |tensor: &GraphTensor| tensor.shape.get(1).copied().unwrap_or(1).max(1);
        let row_bytes = (input.size_bytes / u64::from(rows_of(input))).max(1) as u32;
        let rows = rows_of(new);
        let output = Value::Arena(self.place(output)?);
        let (kept, kept_bytes) = match step.inputs[..] {
            [kept, _] => (
                Value::Arena(self.place(kept)?),
                graph.tensor(kept).size_bytes as i32,
            ),
            _ => (output.clone(), 0),
        };
        let call = Call {
            operator: step.operator,
            function: NEXT_ROWS,
            returns_status: true,
            arguments: vec![
                Value::Parameter("read"),
                Value::Parameter("user"),
                Value::Integer((from_bytes / row_bytes) as i32),
                Value::Integer(rows as i32),
                kept,
                Value::Integer(kept_bytes),
                output,
            ],
        };
        Ok((call, rows))
    }

    /// Addresses of a step's tensors; constants are placed in the frame.
    fn addresses(
        &self,
        step: &Step,
        arena: Address,
        frame: &mut Frame,
    ) -> Result<Vec<Option<Address>>, NetworkError> {
        let graph = &self.deployment.graph;
        let mut addresses = vec![None; graph.tensors.len()];
        for &tensor in step.inputs.iter().chain(&step.outputs).chain(&step.states) {
            let (root, within) = self.root(tensor);
            let known = graph.tensor(root);
            addresses[tensor.0] = Some(match known.storage {
                Storage::Constant => {
                    let start = step.place_constant(root, &known.name, frame)?;
                    Address(start.0 + within)
                }
                _ => Address(arena.0 + self.offset(tensor)?),
            });
        }
        Ok(addresses)
    }
}
