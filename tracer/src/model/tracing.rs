//! One operator with all its buffers apart, its accesses recorded.

use super::inference::{buffers, own_bytes};
use super::{Deployment, Placement, Step};
use crate::call::{CallError, Caller, Frame};
use crate::mcu::machine::{Limits, Observation, Watch};
use crate::measure::{MeasureError, SCRATCH};
use crate::program::data_decision::DataDecision;
use crate::program::record::{Listener, Message, Recorded, recording};
use dmo_analysis::graph::{OperatorId, Storage, TensorId};
use dmo_analysis::trace::{Address, ElementType, Layer, Role, Span, Tensor, TraceSink};

/// The bytes of the tensors that an operator loads, states included.
pub type Contents = Vec<(TensorId, Vec<u8>)>;

/// The buffer of the model that a layer's tensor stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelBuffer {
    /// A tensor of the model.
    Tensor(TensorId),
    /// The operator's scratch memory.
    Scratch,
    /// Memory beside the buffers.
    Beside,
}

/// An operator as it is traced.
pub struct TracedLayer {
    /// Name, kind and buffers.
    pub layer: Layer,
    /// For each of the layer's tensors the buffer of the model that it stands for.
    pub places: Vec<ModelBuffer>,
    /// The kernels that it enters are noted, and its estimated cycles are counted.
    pub in_detail: bool,
    /// What data decide in it is noted.
    pub follows_data: bool,
    addresses: Vec<Option<Address>>,
    frame: Frame,
}

/// The outcome.
pub struct Traced {
    /// What the recorder noticed that the trace does not contain.
    pub recorded: Recorded,
    /// The bytes that the operator has stored: its outputs, then its states.
    pub outputs: Contents,
    /// The kernels that it entered, by the address of their first instructions; none if they were
    /// not noted.
    pub entered: Vec<u32>,
    /// Its deepest stack in bytes; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// Where data decide what is accessed; `None` if that was not noted.
    pub decisions: Option<Vec<DataDecision>>,
}

impl TracedLayer {
    /// Places the buffers of an operator, each for itself, at addresses that are aligned as the
    /// offsets of `placement` are: a kernel may take another way by that, and a real core may
    /// fault.
    ///
    /// # Errors
    /// When they do not fit into RAM, or no kernel can be called for the operator.
    pub fn new(
        deployment: &Deployment,
        operator: OperatorId,
        placement: Option<&Placement>,
    ) -> Result<Self, MeasureError> {
        let step = deployment.step(operator);
        let kernel = step.kernel.as_ref();
        let kernel = kernel.map_err(|_| MeasureError::NotExecuted { operator })?;
        let mut layer = Self {
            layer: Layer {
                span: Span::Layer,
                name: kernel.contract.function.to_owned(),
                operator: deployment.graph.operators[operator.0].kind.to_string(),
                tensors: Vec::new(),
            },
            places: Vec::new(),
            in_detail: false,
            follows_data: false,
            addresses: vec![None; deployment.graph.tensors.len()],
            frame: deployment.library(kernel).frame(),
        };
        let offset = |tensor: TensorId| placement.and_then(|it| it.offset(tensor));
        layer.frame.guard()?;
        for (role, tensors) in [
            (Role::Input, &step.inputs),
            (Role::Output, &step.outputs),
            (Role::State, &step.states),
        ] {
            for &tensor in tensors {
                let residue = offset(tensor).unwrap_or(0);
                layer.place_tensor(deployment, step, role, tensor, residue)?;
            }
        }
        if step.scratch.total_bytes > 0 {
            let size_bytes = step.scratch.total_bytes;
            let scratch = (SCRATCH, ElementType::Uint8);
            let residue = placement.and_then(|it| it.scratch[operator.0]);
            let residue = residue.unwrap_or(0);
            layer.place(
                ModelBuffer::Scratch,
                Role::Scratch,
                scratch,
                size_bytes,
                residue,
            )?;
        }
        for guard in layer.frame.guards().ranges() {
            layer.places.push(ModelBuffer::Beside);
            layer.layer.tensors.push(Tensor {
                name: "memory beside the buffers".to_owned(),
                role: Role::Unlisted,
                address: Address(guard.start as u32),
                size_bytes: (guard.end - guard.start) as u32,
                element_type: ElementType::Uint8,
            });
        }
        Ok(layer)
    }

    fn place_tensor(
        &mut self,
        deployment: &Deployment,
        step: &Step,
        role: Role,
        tensor: TensorId,
        residue: u64,
    ) -> Result<(), CallError> {
        if self.addresses[tensor.0].is_some() {
            return Ok(());
        }
        let known = deployment.graph.tensor(tensor);
        let address = if known.storage == Storage::Constant {
            step.place_constant(tensor, &known.name, &mut self.frame)?
        } else {
            let content = (known.name.as_str(), deployment.element_type(tensor));
            let size_bytes = known.size_bytes as u32;
            self.place(
                ModelBuffer::Tensor(tensor),
                role,
                content,
                size_bytes,
                residue,
            )?
        };
        self.addresses[tensor.0] = Some(address);
        Ok(())
    }

    fn place(
        &mut self,
        place: ModelBuffer,
        role: Role,
        (name, element_type): (&str, ElementType),
        size_bytes: u32,
        residue: u64,
    ) -> Result<Address, CallError> {
        let address = self.frame.reserve_at(name, size_bytes.into(), residue)?;
        self.frame.guard()?;
        self.places.push(place);
        self.layer.tensors.push(Tensor {
            name: name.to_owned(),
            role,
            address,
            size_bytes,
            element_type,
        });
        Ok(address)
    }

    fn scratch(&self) -> Option<(Address, u32)> {
        let place = self
            .places
            .iter()
            .position(|&place| place == ModelBuffer::Scratch)?;
        let tensor = &self.layer.tensors[place];
        Some((tensor.address, tensor.size_bytes))
    }

    /// Runs the operator and sends its trace to `sink`.
    ///
    /// # Errors
    /// When the kernel faults, does not come back, or stores outside its buffers.
    pub fn trace(
        mut self,
        deployment: &Deployment,
        operator: OperatorId,
        contents: Contents,
        limits: Limits,
        sink: &mut dyn TraceSink,
    ) -> Result<Traced, MeasureError> {
        let step = deployment.step(operator);
        let kernel = step.kernel.as_ref();
        let kernel = kernel.map_err(|_| MeasureError::NotExecuted { operator })?;
        let library = deployment.library(kernel);
        let buffers = buffers(step, &self.addresses, self.scratch());
        let calls = step.prepare(&buffers, &mut self.frame)?;
        for (tensor, bytes) in contents {
            if let Some(address) = self.addresses[tensor.0] {
                self.frame.fill(address, bytes);
            }
        }
        let watches = self.layer.tensors.iter().map(|tensor| Watch {
            range: tensor.address.0.into()..tensor.end(),
            loads: true,
        });
        let watches: Vec<Watch> = watches.collect();
        let emulate = |listener: Listener| {
            let mut caller = Caller::within(library, &self.frame, Observation::Watch, limits)?;
            if self.in_detail {
                caller.machine.count_cycles();
                caller.machine.note_entries(&library.entries())?;
            }
            let follows_data = self.follows_data && caller.follow_data();
            caller.fill(&self.frame)?;
            let deliver = |batch| listener(Message::Accesses(batch));
            caller.machine.deliver_pages_to(Box::new(deliver));
            caller.machine.watch(watches)?;
            // Whether anybody still listens shows when a batch is delivered.
            let _ = listener(Message::Begin(self.layer.clone(), caller.machine.now()));
            let begun = caller.machine.cycles();
            step.call(&mut caller, &self.frame, &calls)?;
            if let Some(cycles) = caller.machine.cycles_since(begun) {
                let _ = listener(Message::Cycles(cycles));
            }
            let _ = listener(Message::End(caller.machine.now()));
            let stored = step.outputs.iter().chain(&step.states);
            let outputs = stored.map(|&tensor| {
                let address = self.addresses[tensor.0].unwrap_or(Address(0));
                let size_bytes = deployment.graph.tensor(tensor).size_bytes as usize;
                let bytes = caller.machine.read(address, size_bytes);
                let bytes = bytes.ok_or(MeasureError::Unreadable { address })?;
                Ok((tensor, own_bytes(&deployment.graph, tensor, bytes)))
            });
            let outputs = outputs.collect::<Result<Contents, MeasureError>>()?;
            let entered = caller.machine.entered();
            let traced = Traced {
                recorded: Recorded::default(),
                outputs,
                entered,
                stack_bytes: caller.deepest_stack_bytes(),
                decisions: follows_data.then(|| caller.decisions()),
            };
            Ok::<_, MeasureError>(traced)
        };
        let (traced, recorded) = recording(emulate, sink, &mut |_| ())?;
        Ok(Traced { recorded, ..traced })
    }
}
