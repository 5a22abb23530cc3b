//! The operators of a model one after the other, in an arena.

use super::{Deployment, Step};
use crate::call::{Argument, CallError, Caller, Frame};
use crate::kernels::Buffers;
use crate::mcu::machine::{Limits, Observation};
use crate::measure::MeasureError;
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId};
use dmo_analysis::trace::Address;

/// Where everything lies, in bytes from the arena's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// One for each of the graph's tensors; what is in the arena and has none lies apart. Views
    /// lie in the tensors that they are views of.
    pub tensors: Vec<Option<u64>>,
    /// The scratch memory of each operator; what has none lies apart.
    pub scratch: Vec<Option<u64>>,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
}

/// A model in memory, ready to run.
pub struct Inference<'a> {
    deployment: &'a Deployment<'a>,
    caller: Caller<'a>,
    frame: Frame,
    /// Arguments of each operator's calls.
    calls: Vec<Vec<Vec<Argument>>>,
    arena: Address,
    arena_bytes: usize,
    /// Where each tensor that is loaded or stored lies.
    tensors: Vec<Option<Address>>,
}

impl<'a> Inference<'a> {
    /// Places the weights in flash, and everything else in RAM; the arena holds `poison`, states
    /// what they hold before the first inference. With
    /// [`Observation::None`] the limits do not hold.
    ///
    /// # Errors
    /// When there is not enough memory, or a kernel cannot compute with the model's numbers.
    pub fn new(
        deployment: &'a Deployment<'a>,
        placement: &Placement,
        poison: u8,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let mut frame = deployment.library.frame();
        let tensors = place_tensors(deployment, placement, &mut frame)?;
        let calls = deployment.steps.iter().map(|step| {
            let scratch = scratch(step, placement, tensors.arena, &mut frame)?;
            let buffers = buffers(step, &tensors.addresses, scratch);
            step.prepare(&buffers, &mut frame)
        });
        let calls = calls.collect::<Result<_, CallError>>()?;
        let arena_bytes = placement.arena_bytes as usize;
        frame.fill(tensors.arena, vec![poison; arena_bytes]);
        let mut caller = Caller::within(deployment.library, &frame, observation, limits)?;
        caller.fill(&frame)?;
        let mut inference = Self {
            deployment,
            caller,
            frame,
            calls,
            arena: tensors.arena,
            arena_bytes,
            tensors: tensors.addresses,
        };
        inference.reset()?;
        Ok(inference)
    }

    /// Stores what an inference begins with, the model's inputs. States are as the inference
    /// before has left them.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn begin(&mut self, inputs: &[(TensorId, Vec<u8>)]) -> Result<(), MeasureError> {
        for (tensor, bytes) in inputs {
            self.write(*tensor, bytes)?;
        }
        Ok(())
    }

    /// Stores what states hold before the first inference.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn reset(&mut self) -> Result<(), MeasureError> {
        for step in &self.deployment.steps {
            for (tensor, bytes) in step.initial_states()? {
                self.write(tensor, &bytes)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, tensor: TensorId, bytes: &[u8]) -> Result<(), MeasureError> {
        match self.tensors[tensor.0] {
            Some(address) => Ok(self.caller.machine.write(address, bytes)?),
            None => Ok(()),
        }
    }

    /// Runs one operator.
    ///
    /// # Errors
    /// When the kernel faults, does not come back, does not take its arguments, or stores
    /// beyond the arena.
    pub fn run(&mut self, operator: OperatorId) -> Result<(), MeasureError> {
        let step = self.deployment.step(operator);
        let calls = &self.calls[operator.0];
        step.call(&mut self.caller, &self.frame, calls)
    }

    /// The tensor's bytes.
    ///
    /// # Errors
    /// When it lies nowhere.
    pub fn tensor(&self, tensor: TensorId) -> Result<Vec<u8>, MeasureError> {
        let size_bytes = self.deployment.graph.tensor(tensor).size_bytes as usize;
        // Other memory must never pass for it.
        let address = self.tensors[tensor.0].ok_or(MeasureError::Nowhere { tensor })?;
        let bytes = self.caller.machine.read(address, size_bytes);
        bytes.ok_or(MeasureError::Unreadable { address })
    }

    /// The tensor's own bytes: of a view without what lies between them.
    ///
    /// # Errors
    /// When it lies nowhere.
    pub fn own_bytes(&self, tensor: TensorId) -> Result<Vec<u8>, MeasureError> {
        let bytes = self.tensor(tensor)?;
        Ok(own_bytes(&self.deployment.graph, tensor, bytes))
    }

    /// The whole arena.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn arena(&self) -> Result<Vec<u8>, MeasureError> {
        let address = self.arena;
        let bytes = self.caller.machine.read(address, self.arena_bytes);
        bytes.ok_or(MeasureError::Unreadable { address })
    }

    /// Instructions executed so far.
    pub fn instructions(&self) -> u64 {
        self.caller.machine.now()
    }
}

/// Of a tensor's bytes, from the first to the last, those that are its own.
pub(super) fn own_bytes(graph: &Graph, tensor: TensorId, bytes: Vec<u8>) -> Vec<u8> {
    if !graph.views.contains_key(&tensor) {
        return bytes;
    }
    let runs = graph.own_bytes(tensor);
    let own = runs.iter().filter_map(|run| {
        let [start, end] = [run.start, run.end].map(|at| at as usize);
        bytes.get(start..end)
    });
    own.flatten().copied().collect()
}

struct Tensors {
    arena: Address,
    addresses: Vec<Option<Address>>,
}

fn place_tensors(
    deployment: &Deployment,
    placement: &Placement,
    frame: &mut Frame,
) -> Result<Tensors, CallError> {
    frame.guard()?;
    let arena = frame.reserve("the arena", placement.arena_bytes)?;
    frame.guard()?;
    let mut addresses = vec![None; deployment.graph.tensors.len()];
    for step in &deployment.steps {
        let used = step.inputs.iter().chain(&step.outputs).chain(&step.states);
        for &tensor in used {
            let view = deployment.graph.views.get(&tensor);
            let root = view.map_or(tensor, |view| view.of);
            let address = match addresses[root.0] {
                Some(address) => address,
                None => {
                    let known = deployment.graph.tensor(root);
                    match known.storage {
                        Storage::Constant => step.place_constant(root, &known.name, frame)?,
                        _ => in_ram(deployment, placement, arena, root, frame)?,
                    }
                }
            };
            addresses[root.0] = Some(address);
            let within = view.map_or(0, |view| view.offset_bytes as u32);
            addresses[tensor.0] = Some(Address(address.0 + within));
        }
    }
    // What the application stores and reads, though no operator does.
    let graph = &deployment.graph;
    for &tensor in graph.inputs.iter().chain(&graph.outputs) {
        if graph.in_arena(tensor) && addresses[tensor.0].is_none() {
            let address = in_ram(deployment, placement, arena, tensor, frame)?;
            addresses[tensor.0] = Some(address);
        }
    }
    Ok(Tensors { arena, addresses })
}

/// In the arena, or, where the placement has no offset, apart.
fn in_ram(
    deployment: &Deployment,
    placement: &Placement,
    arena: Address,
    tensor: TensorId,
    frame: &mut Frame,
) -> Result<Address, CallError> {
    let known = deployment.graph.tensor(tensor);
    match (known.storage, placement.tensors[tensor.0]) {
        (Storage::Arena, Some(offset)) => Ok(Address(arena.0 + offset as u32)),
        _ => frame.reserve_guarded(&known.name, known.size_bytes),
    }
}

fn scratch(
    step: &Step,
    placement: &Placement,
    arena: Address,
    frame: &mut Frame,
) -> Result<Option<(Address, u32)>, CallError> {
    if step.scratch_bytes == 0 {
        return Ok(None);
    }
    let address = match placement.scratch[step.operator.0] {
        Some(offset) => Address(arena.0 + offset as u32),
        None => frame.reserve_guarded("scratch", step.scratch_bytes.into())?,
    };
    Ok(Some((address, step.scratch_bytes)))
}

/// What the function is given, of tensors that all lie somewhere.
pub(super) fn buffers(
    step: &Step,
    addresses: &[Option<Address>],
    scratch: Option<(Address, u32)>,
) -> Buffers {
    let of = |ids: &[TensorId]| {
        let address = |id: &TensorId| addresses[id.0].unwrap_or(Address(0));
        ids.iter().map(address).collect()
    };
    Buffers {
        inputs: of(&step.inputs),
        outputs: of(&step.outputs),
        scratch,
        states: of(&step.states),
    }
}
