//! The operators of a model one after the other, in an arena.

use super::deployment::StepKernel;
use super::{Deployment, Step, stand_in};
use crate::call::{Argument, CallError, Caller, DEFAULT_RAM, Frame, Leftovers};
use crate::kernels::Buffers;
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Limits, Observation, RawAccess, Watch};
use crate::measure::MeasureError;
use crate::program::data_decision::DataDecision;
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId};
use dmo_analysis::trace::Address;
use std::collections::BTreeSet;
use std::ops::Range;

/// Where everything lies, in bytes from the arena's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// By tensor, those of the model at least; what is in the arena and has none lies apart. Views lie
    /// in the tensors that they are views of.
    pub tensors: Vec<Option<u64>>,
    /// The scratch memory of each operator; what has none lies apart.
    pub scratch: Vec<Option<u64>>,
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
}

impl Placement {
    /// Where the tensor lies; `None` if it lies apart.
    pub fn offset(&self, tensor: TensorId) -> Option<u64> {
        self.tensors.get(tensor.0).copied().flatten()
    }
}

/// A model in memory, ready to run.
///
/// Libraries are linked each for itself, so that each has a machine of its own. The one whose
/// function runs next receives what the others have left in the arena and in states.
pub struct Inference<'a> {
    deployment: &'a Deployment<'a>,
    cores: Vec<Core<'a>>,
    /// The core with the latest memory.
    current: usize,
    arena_bytes: usize,
    poison: u8,
    /// How many inferences were begun.
    begun: u64,
}

/// A library on its machine, with all tensors of the model.
struct Core<'a> {
    /// Position of the library among the deployment's.
    source: usize,
    caller: Caller<'a>,
    frame: Frame,
    /// Arguments of the calls of each operator that its library computes.
    calls: Vec<Vec<Vec<Argument>>>,
    /// Where the scratch memory of each of these lies.
    scratch: Vec<Option<Address>>,
    tensors: Tensors,
}

impl<'a> Inference<'a> {
    /// Places the weights in flash, and everything else in RAM; the arena holds `poison`, states
    /// what they hold before the first inference. Free stack and registers hold zeros in one inference
    /// and noise in the next; the noise comes first where `poison` is odd. With
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
        let steps: Vec<&Step> = deployment.steps.iter().collect();
        Self::of_steps(deployment, &steps, placement, poison, observation, limits)
    }

    /// The same of these operators alone: nothing else is placed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn of_steps(
        deployment: &'a Deployment<'a>,
        steps: &[&Step],
        placement: &Placement,
        poison: u8,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let kernels = steps.iter();
        let used = kernels.filter_map(|step| Some(step.kernel.as_ref().ok()?.source));
        // Where no operator is executed, their tensors still lie somewhere.
        let used: BTreeSet<usize> = used.collect();
        let used = if used.is_empty() {
            BTreeSet::from([0])
        } else {
            used
        };
        let cores = used.into_iter().map(|source| {
            let core = (deployment, source, steps);
            Core::new(core, placement, poison, observation, limits)
        });
        let mut inference = Self {
            deployment,
            cores: cores.collect::<Result<_, MeasureError>>()?,
            current: 0,
            arena_bytes: placement.arena_bytes as usize,
            poison,
            begun: 0,
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
        let leftovers = self.leftovers();
        for core in &mut self.cores {
            core.caller.leave(leftovers);
        }
        self.begun += 1;
        for (tensor, bytes) in inputs {
            self.write(*tensor, bytes)?;
        }
        Ok(())
    }

    /// By turns zeros, as after reset, and noise. A machine whose poison is odd begins with noise, so
    /// that two machines show what a kernel makes of memory that nobody has stored.
    fn leftovers(&self) -> Leftovers {
        if (self.begun + u64::from(self.poison)).is_multiple_of(2) {
            Leftovers::Zeros
        } else {
            Leftovers::Noise(self.begun)
        }
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

    /// The model.
    pub(super) fn graph(&self) -> &Graph {
        &self.deployment.graph
    }

    fn core(&self) -> &Core<'a> {
        &self.cores[self.current]
    }

    fn write(&mut self, tensor: TensorId, bytes: &[u8]) -> Result<(), MeasureError> {
        let core = &mut self.cores[self.current];
        match core.tensors.addresses[tensor.0] {
            Some(address) => Ok(core.caller.machine.write(address, bytes)?),
            None => Ok(()),
        }
    }

    /// Runs one operator; of one that no kernel can be called for, stores what stands in for its
    /// result (`stand_in.rs`).
    ///
    /// # Errors
    /// When the kernel faults, does not come back, does not take its arguments, or stores
    /// beyond the arena.
    pub fn run(&mut self, operator: OperatorId) -> Result<(), MeasureError> {
        let step = self.deployment.step(operator);
        let Ok(kernel) = &step.kernel else {
            return match &step.copies {
                Some(copies) => self.copy(copies),
                None => self.stand_in(step),
            };
        };
        let of_library = |core: &Core| core.source == kernel.source;
        let core = self.cores.iter().position(of_library);
        let core = core.ok_or(MeasureError::NotExecuted { operator })?;
        self.hand_over_to(core)?;
        let core = &mut self.cores[core];
        let calls = &core.calls[operator.0];
        step.call(&mut core.caller, &core.frame, calls)
    }

    /// One inference: [`begin`](Self::begin), then each operator.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn infer<'o>(
        &mut self,
        inputs: &[(TensorId, Vec<u8>)],
        order: impl IntoIterator<Item = &'o OperatorId>,
    ) -> Result<(), MeasureError> {
        self.begin(inputs)?;
        let mut order = order.into_iter();
        order.try_for_each(|&operator| self.run(operator))
    }

    /// Gives a core the memory as the others have left it.
    fn hand_over_to(&mut self, core: usize) -> Result<(), MeasureError> {
        if core == self.current {
            return Ok(());
        }
        let arena = self.arena()?;
        let apart = self.core().tensors.apart.iter();
        let apart = apart.map(|&tensor| Ok((tensor, self.tensor(tensor)?)));
        let apart = apart.collect::<Result<Vec<_>, MeasureError>>()?;
        self.current = core;
        let core = &mut self.cores[core];
        core.caller.machine.write(core.tensors.arena, &arena)?;
        for (tensor, bytes) in apart {
            self.write(tensor, &bytes)?;
        }
        Ok(())
    }

    /// What the runtime copies where subgraphs are run, in its order (`kernel_util.cc`).
    fn copy(&mut self, copies: &[(TensorId, TensorId)]) -> Result<(), MeasureError> {
        for &(from, to) in copies {
            let bytes = self.tensor(from)?;
            self.write(to, &bytes)?;
        }
        Ok(())
    }

    /// An operator whose kernel is not known does the worst that a kernel may do within its
    /// buffers: it stores all over its outputs before it loads its inputs, and its outputs depend
    /// on each byte of these.
    fn stand_in(&mut self, step: &Step) -> Result<(), MeasureError> {
        for &output in &step.outputs {
            let bytes = self.deployment.graph.tensor(output).size_bytes;
            self.write_own(output, &vec![stand_in::SPOILT; bytes as usize])?;
        }
        let graph = &self.deployment.graph;
        // An accelerator's scratch tensor is one of its inputs, and nobody has stored it.
        let mut inputs = step.inputs.clone();
        inputs.retain(|input| {
            let mut stored = graph.operators.iter().flat_map(|node| &node.outputs);
            graph.inputs.contains(input) || stored.any(|output| output == input)
        });
        let inputs = inputs.iter().map(|&input| self.own_bytes(input));
        let inputs = inputs.collect::<Result<Vec<_>, MeasureError>>()?;
        let outputs = stand_in::outputs(self.deployment, step, &inputs);
        for (tensor, bytes) in outputs {
            self.write_own(tensor, &bytes)?;
        }
        Ok(())
    }

    /// Stores the tensor's own bytes of all from its first to its last.
    fn write_own(&mut self, tensor: TensorId, bytes: &[u8]) -> Result<(), MeasureError> {
        let graph = &self.deployment.graph;
        if !graph.views.contains_key(&tensor) {
            return self.write(tensor, bytes);
        }
        let mut all = self.tensor(tensor)?;
        for run in graph.own_bytes(tensor) {
            let run = run.start as usize..run.end as usize;
            if let (Some(own), Some(new)) = (all.get_mut(run.clone()), bytes.get(run)) {
                own.copy_from_slice(new);
            }
        }
        self.write(tensor, &all)
    }

    /// The tensor's bytes.
    ///
    /// # Errors
    /// When it lies nowhere.
    pub fn tensor(&self, tensor: TensorId) -> Result<Vec<u8>, MeasureError> {
        let size_bytes = self.deployment.graph.tensor(tensor).size_bytes as usize;
        let core = self.core();
        // Other memory must never pass for it.
        let address = core.tensors.addresses[tensor.0].ok_or(MeasureError::Nowhere { tensor })?;
        let bytes = core.caller.machine.read(address, size_bytes);
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
        let core = self.core();
        let address = core.tensors.arena;
        let bytes = core.caller.machine.read(address, self.arena_bytes);
        bytes.ok_or(MeasureError::Unreadable { address })
    }

    /// Counts the estimated cycles from now on. Before the first operator runs.
    pub fn count_cycles(&mut self) {
        for core in &mut self.cores {
            core.caller.machine.count_cycles();
        }
    }

    /// Delivers every access to the arena from now on; addresses are bytes from the arena's start.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn watch_arena(
        &mut self,
        deliver: impl Fn(RawAccess) + Clone + 'static,
    ) -> Result<(), MeasureError> {
        let arena_bytes = self.arena_bytes as u64;
        let arena_of = |core: &Core<'_>| {
            let start = core.tensors.arena.0;
            (start, u64::from(start)..u64::from(start) + arena_bytes)
        };
        self.watch(arena_of, deliver)
    }

    /// Delivers every access to RAM from now on, by its address; the stack's too.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub(super) fn watch_ram(
        &mut self,
        deliver: impl Fn(RawAccess) + Clone + 'static,
    ) -> Result<(), MeasureError> {
        self.watch(|_| (0, DEFAULT_RAM), deliver)
    }

    /// Delivers every access to RAM but the stack and the libraries' own variables from now on.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub(super) fn watch_buffers(
        &mut self,
        deliver: impl Fn(RawAccess) + Clone + 'static,
    ) -> Result<(), MeasureError> {
        let buffers = |core: &Core<'_>| (0, core.frame.stack().end..DEFAULT_RAM.end);
        self.watch(buffers, deliver)
    }

    /// Follows in all operators from now on what data decide; false if the engine cannot.
    #[must_use]
    pub(super) fn follow_data(&mut self) -> bool {
        let mut cores = self.cores.iter_mut();
        cores.all(|core| core.caller.follow_data())
    }

    /// What data have decided so far, where they are followed.
    pub(super) fn decisions(&self) -> Vec<DataDecision> {
        let cores = self.cores.iter();
        cores.flat_map(|core| core.caller.decisions()).collect()
    }

    /// Delivers every access to a range of each machine's memory from now on; addresses are bytes
    /// from an address that comes with the range.
    fn watch(
        &mut self,
        watched: impl Fn(&Core<'_>) -> (u32, Range<u64>),
        deliver: impl Fn(RawAccess) + Clone + 'static,
    ) -> Result<(), MeasureError> {
        for core in &mut self.cores {
            let (start, range) = watched(core);
            let deliver = deliver.clone();
            core.caller.machine.deliver_to(Box::new(move |batch| {
                for access in batch.iter() {
                    deliver(RawAccess {
                        address: access.address.wrapping_sub(start),
                        ..access
                    });
                }
                true
            }));
            let watch = Watch { range, loads: true };
            core.caller.machine.watch(vec![watch])?;
        }
        Ok(())
    }

    /// Where the arena and the tensors lie on the machine that runs an operator; `None` if none
    /// does.
    pub(super) fn addresses_of(
        &self,
        operator: OperatorId,
    ) -> Option<(Address, &[Option<Address>])> {
        let kernel = self.deployment.step(operator).kernel.as_ref().ok()?;
        let core = self
            .cores
            .iter()
            .find(|core| core.source == kernel.source)?;
        Some((core.tensors.arena, &core.tensors.addresses))
    }

    /// Where an operator's scratch memory lies on the machine that runs it; `None` if it has none.
    pub(super) fn scratch_of(&self, operator: OperatorId) -> Option<Address> {
        let mut cores = self.cores.iter();
        cores.find_map(|core| core.scratch[operator.0])
    }

    /// The deepest stack of a call so far in bytes; `None` before the first, and if the engine does
    /// not measure it.
    pub fn deepest_stack_bytes(&self) -> Option<u32> {
        let cores = self.cores.iter();
        cores
            .filter_map(|core| core.caller.deepest_stack_bytes())
            .max()
    }

    /// Estimated cycles so far; `None` if they are not known of a core, or not counted.
    pub fn cycles(&self) -> Option<Cycles> {
        let cores = self.cores.iter();
        let cycles = cores.map(|core| core.caller.machine.cycles());
        cycles.reduce(|a, b| Some(a?.plus(b?))).flatten()
    }

    /// Instructions executed so far.
    pub fn instructions(&self) -> u64 {
        let cores = self.cores.iter();
        cores.map(|core| core.caller.machine.now()).sum()
    }
}

impl<'a> Core<'a> {
    fn new(
        (deployment, source, steps): (&'a Deployment<'a>, usize, &[&Step]),
        placement: &Placement,
        poison: u8,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let library = deployment.sources[source].library;
        let mut frame = library.frame();
        let tensors = place_tensors(deployment, steps, placement, &mut frame)?;
        let mut calls = vec![Vec::new(); deployment.steps.len()];
        let mut scratch_memory = vec![None; deployment.steps.len()];
        for step in steps {
            let of_library = |kernel: &StepKernel| kernel.source == source;
            if step.kernel.as_ref().is_ok_and(of_library) {
                let scratch = scratch(step, placement, tensors.arena, &mut frame)?;
                let buffers = buffers(step, &tensors.addresses, scratch);
                scratch_memory[step.operator.0] = scratch.map(|(address, _)| address);
                calls[step.operator.0] = step.prepare(&buffers, &mut frame)?;
            }
        }
        frame.fill(tensors.arena, vec![poison; placement.arena_bytes as usize]);
        let mut caller = Caller::within(library, &frame, observation, limits)?;
        caller.fill(&frame)?;
        Ok(Self {
            source,
            caller,
            frame,
            calls,
            scratch: scratch_memory,
            tensors,
        })
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

/// Where the tensors of a model lie.
struct Tensors {
    arena: Address,
    addresses: Vec<Option<Address>>,
    /// Those in RAM that lie apart from the arena.
    apart: Vec<TensorId>,
}

fn place_tensors(
    deployment: &Deployment,
    steps: &[&Step],
    placement: &Placement,
    frame: &mut Frame,
) -> Result<Tensors, CallError> {
    frame.guard()?;
    let arena = frame.reserve("the arena", placement.arena_bytes)?;
    frame.guard()?;
    let graph = &deployment.graph;
    let mut tensors = Tensors {
        arena,
        addresses: vec![None; graph.tensors.len()],
        apart: Vec::new(),
    };
    for step in steps {
        let used = step.inputs.iter().chain(&step.outputs).chain(&step.states);
        for &tensor in used {
            let view = graph.views.get(&tensor);
            let root = view.map_or(tensor, |view| view.of);
            let address = match (tensors.addresses[root.0], graph.tensor(root)) {
                (Some(address), _) => address,
                (None, known) if known.storage == Storage::Constant => {
                    step.place_constant(root, &known.name, frame)?
                }
                (None, _) => tensors.place_in_ram(graph, placement, root, frame)?,
            };
            tensors.addresses[root.0] = Some(address);
            let within = view.map_or(0, |view| view.offset_bytes as u32);
            tensors.addresses[tensor.0] = Some(Address(address.0 + within));
        }
    }
    // What the application stores and reads, though no operator does.
    for &tensor in graph.inputs.iter().chain(&graph.outputs) {
        if graph.in_arena(tensor) && tensors.addresses[tensor.0].is_none() {
            let address = tensors.place_in_ram(graph, placement, tensor, frame)?;
            tensors.addresses[tensor.0] = Some(address);
        }
    }
    Ok(tensors)
}

impl Tensors {
    /// In the arena, or, where the placement has no offset, apart.
    fn place_in_ram(
        &mut self,
        graph: &Graph,
        placement: &Placement,
        tensor: TensorId,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        let known = graph.tensor(tensor);
        match (known.storage, placement.offset(tensor)) {
            (Storage::Arena, Some(offset)) => Ok(Address(self.arena.0 + offset as u32)),
            _ => {
                self.apart.push(tensor);
                frame.reserve_guarded(&known.name, known.size_bytes)
            }
        }
    }
}

fn scratch(
    step: &Step,
    placement: &Placement,
    arena: Address,
    frame: &mut Frame,
) -> Result<Option<(Address, u32)>, CallError> {
    if step.scratch.total_bytes == 0 {
        return Ok(None);
    }
    let address = match placement.scratch[step.operator.0] {
        Some(offset) => Address(arena.0 + offset as u32),
        None => frame.reserve_guarded("scratch", step.scratch.total_bytes.into())?,
    };
    Ok(Some((address, step.scratch.total_bytes)))
}

/// What the function is given, of tensors that all lie somewhere.
pub(crate) fn buffers(
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
