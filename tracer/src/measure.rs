//! The safe overlap of a kernel on a shape: traced, and proved by running the kernel in
//! overlapped buffers.

pub mod attribution;
mod calls;
mod choice;
mod error;
mod independence;
mod outcomes;
mod proof;
mod scratch;
pub(crate) mod sequence;
mod snapshot;

pub use choice::{choose, takes};
pub use error::MeasureError;
pub use proof::Proof;
pub use scratch::{ScratchMemory, scratch_memory};
pub use snapshot::snapshot_kernel;

use crate::call::{Argument, CallError, Caller, Frame, Leftovers, Overrun};
use crate::kernels::{Buffers, Case, Contract, KernelLibrary, State};
use crate::mcu::cycles::Cycles;
use crate::mcu::machine::{Deliver, Limits, Observation, Watch};
use crate::measure::attribution::{Accesses, Attribution};
use crate::measure::calls::{Calls, Stale, other_content};
use crate::measure::outcomes::Outcomes;
use crate::program::data_decision::DataDecision;
use crate::program::other_inputs::{Variation, inputs_of};
use crate::program::record::{Listener, Message, recording};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::profile::pattern::PatternRecorder;
use dmo_analysis::profile::{LayerProfile, OtherInput, Profiler};
use dmo_analysis::trace::{AccessKind, Address, ElementType, Layer, Role, Span, Tensor, TraceSink};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The measurement of a kernel on a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The kernel that was called.
    pub function: &'static str,
    /// Which functions did its work.
    pub work: Attribution,
    /// Its trace, with the O_s of each pair.
    pub layer: LayerProfile,
    /// Which stores it makes depends on the data, and each O_s holds whichever these are.
    pub every_outcome: bool,
    /// Estimated cycles of the call that was traced; `None` if they are not known, or were not
    /// asked for.
    pub cycles: Option<Cycles>,
    /// Of these addresses are conditional loads and stores that data are known to decide, which it
    /// accounts for.
    pub outcomes: BTreeSet<u32>,
    /// Where data decide what is accessed: nowhere, if it is empty, whatever the inputs are. `None`
    /// if it is not known, or was not asked for.
    pub decisions: Option<Vec<DataDecision>>,
    /// For each of the layer's pairs, what execution says.
    pub proofs: Vec<Proof>,
}

impl Measurement {
    /// The kernel has the loops that the formulas are of.
    pub fn is_reference(&self) -> bool {
        self.function.starts_with("dmo_") && !self.function.starts_with("dmo_dsp_")
    }
}

/// Name of a call's scratch memory.
pub(crate) const SCRATCH: &str = "scratch";

/// A machine that reports no access until it is given ranges to watch. The limits hold.
fn caller(library: &KernelLibrary, limits: Limits) -> Result<Caller<'_>, CallError> {
    Caller::new(library, Observation::Watch, limits)
}

/// Both the loads and the stores of these buffers.
fn watches<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Vec<Watch> {
    let watch = |tensor: &Tensor| Watch {
        range: tensor.address.0.into()..tensor.end(),
        loads: true,
    };
    tensors.into_iter().map(watch).collect()
}

/// Traces a kernel that [`choose`] gave on `inputs` different inputs, and proves the O_s of
/// each pair by execution.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn measure_kernel(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    Bench::new(library, case, contract, limits)?.measure(inputs)
}

/// [`measure_kernel`] with what data decide, which takes time.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn measure_following_data(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    let bench = Bench::new(library, case, contract, limits)?;
    let followed = Bench {
        followed_instructions: u64::MAX,
        ..bench
    };
    followed.measure(inputs)
}

/// [`measure_kernel`] with the estimated cycles of the first call and what data decide, both of which
/// take time.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn measure_in_detail(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    let bench = Bench::new(library, case, contract, limits)?;
    let detailed = Bench {
        in_detail: true,
        followed_instructions: u64::MAX,
        ..bench
    };
    detailed.measure(inputs)
}

/// What data decide is found in kernels of a library of the user's that execute at most so many
/// instructions: it takes a second or two.
pub(crate) const FOLLOWED_OF_A_LIBRARY: u64 = 20_000_000;

/// [`measure_kernel`] with the numbers of a model. What data decide is found where the kernel executes
/// at most so many instructions.
///
/// # Errors
/// When the buffers do not fit, the kernel cannot compute with these numbers, or it faults.
pub fn measure_with(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    parameters: Parameters<'_>,
    (inputs, limits): (u64, Limits),
    followed_instructions: u64,
) -> Result<Measurement, MeasureError> {
    let bench = Bench::with(library, case, contract, parameters, limits)?;
    let followed = Bench {
        followed_instructions,
        ..bench
    };
    followed.measure(inputs)
}

/// Traces one call of a kernel that [`choose`] gave, without a proof.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn trace(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    limits: Limits,
) -> Result<LayerProfile, MeasureError> {
    Ok(Bench::new(library, case, contract, limits)?
        .trace(1, false)?
        .0)
}

fn content(caller: &Caller, tensor: &Tensor) -> Result<Vec<u8>, MeasureError> {
    let size_bytes = tensor.size_bytes as usize;
    // Nothing read must never pass for equal outputs.
    caller
        .machine
        .read(tensor.address, size_bytes)
        .ok_or(MeasureError::Unreadable {
            address: tensor.address,
        })
}

/// Calls a kernel, once for each list of arguments; the frame's data are in place.
///
/// # Errors
/// When it faults, does not return, returns a status, or stores into a guard.
pub fn call(
    contract: &Contract,
    caller: &mut Caller,
    frame: &Frame,
    calls: &[Vec<Argument>],
) -> Result<(), MeasureError> {
    let function = contract.function;
    for arguments in calls {
        let result = caller.call_on(function, frame, arguments)?;
        // The status is an enumeration of one byte, or of four.
        let status = i32::from(result as i8);
        if status != 0 && contract.returns_status {
            return Err(MeasureError::Status { function, status });
        }
        if let Some(overrun) = caller.changed_guard(frame) {
            return Err(outside(contract, overrun));
        }
    }
    Ok(())
}

fn outside(contract: &Contract, overrun: Overrun) -> MeasureError {
    MeasureError::Outside {
        function: contract.function,
        overrun,
        scratch_size: contract.size_functions().next().map(|it| it.name),
    }
}

/// Sends accesses on, and remembers the first store into a guard, whatever becomes of its
/// bytes later.
fn deliver<'a>(
    listener: Listener<'a>,
    frame: &Frame,
    overrun: &Arc<Mutex<Option<Overrun>>>,
    outcomes: &Outcomes,
) -> Deliver<'a> {
    let (guards, overrun) = (frame.guards(), Arc::clone(overrun));
    let mut keeps = outcomes.filter();
    Box::new(move |mut batch| {
        if let Some(keeps) = &mut keeps {
            batch.retain(keeps);
        }
        if let Ok(mut overrun) = overrun.lock()
            && overrun.is_none()
        {
            let stores = batch.iter().filter(|it| it.kind == AccessKind::Store);
            let mut ranges = stores.map(|it| {
                let start = u64::from(it.address);
                start..start + u64::from(it.size_bytes)
            });
            *overrun = ranges.find_map(|range| guards.overrun_by(&range));
        }
        listener(Message::Accesses(batch))
    })
}

/// One kernel on one shape.
struct Bench<'a> {
    library: &'a KernelLibrary,
    contract: &'static Contract,
    case: &'a Case,
    parameters: Parameters<'a>,
    limits: Limits,
    scratch_bytes: u32,
    /// How many calls were prepared.
    prepared: AtomicU64,
    /// The estimated cycles of the first call are counted, and data are followed through two calls.
    in_detail: bool,
    /// Data are followed in kernels that execute at most so many instructions.
    followed_instructions: u64,
}

impl<'a> Bench<'a> {
    fn new(
        library: &'a KernelLibrary,
        case: &'a Case,
        contract: &'static Contract,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let parameters = contract.invented(case)?;
        Self::with(library, case, contract, parameters, limits)
    }

    fn with(
        library: &'a KernelLibrary,
        case: &'a Case,
        contract: &'static Contract,
        parameters: Parameters<'a>,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let scratch = scratch_memory(library, case, contract, &parameters, limits)?;
        let scratch_bytes = scratch.total_bytes;
        Ok(Self {
            library,
            contract,
            case,
            parameters,
            limits,
            scratch_bytes,
            prepared: AtomicU64::new(0),
            in_detail: false,
            followed_instructions: 0,
        })
    }

    fn measure(&self, inputs: u64) -> Result<Measurement, MeasureError> {
        let (mut layer, work, cycles) = self.trace(inputs, true)?;
        let mut decisions = None;
        if layer.instructions() <= self.followed_instructions {
            decisions = self.follow_data(&mut layer, &BTreeSet::new())?;
        }
        let outcomes = self.grant_for_every_outcome(&mut layer, inputs, &mut decisions);
        if let (Some(conditional), Some([])) = (&outcomes, decisions.as_deref()) {
            // These are other overlaps.
            decisions = self.follow_data(&mut layer, conditional)?;
        }
        if decisions.iter().flatten().next().is_some() {
            layer.refuse_as_data_dependent();
        }
        let mut caller = caller(self.library, proof::limits(&layer, self.limits))?;
        let proofs = layer
            .pairs
            .iter()
            .map(|pair| self.prove(&mut caller, &layer, pair, inputs))
            .collect::<Result<_, _>>()?;
        Ok(Measurement {
            function: self.contract.function,
            work,
            layer,
            every_outcome: outcomes.is_some(),
            outcomes: outcomes.unwrap_or_default(),
            cycles,
            decisions,
            proofs,
        })
    }

    /// The layer with all its buffers apart, and the frame that holds them.
    fn apart(&self) -> Result<(Layer, Frame), MeasureError> {
        let seed = self.prepared.load(Ordering::Relaxed);
        let mut frame = self.library.frame().with_guards(seed);
        frame.guard()?;
        let mut tensors = Vec::new();
        let buffers = self.case.operator.buffers()?;
        for (role, list) in [
            (Role::Input, &buffers.inputs),
            (Role::Output, &buffers.outputs),
        ] {
            for (index, buffer) in list.iter().enumerate() {
                // Inputs and outputs may have one name for all.
                let name = match list.len() {
                    1 => buffer.name.to_owned(),
                    _ => format!("{} {}", buffer.name, index + 1),
                };
                let size_bytes = buffer.size_bytes();
                let address = frame.reserve_guarded(&name, size_bytes.into())?;
                tensors.push(Tensor {
                    name,
                    role,
                    address,
                    size_bytes,
                    element_type: match role {
                        Role::Input => self.case.input_type_of(index),
                        _ => self.case.output_type,
                    },
                });
            }
        }
        if self.scratch_bytes > 0 {
            let size_bytes = self.scratch_bytes;
            tensors.push(Tensor {
                name: SCRATCH.to_owned(),
                role: Role::Scratch,
                address: frame.reserve_guarded(SCRATCH, size_bytes.into())?,
                size_bytes,
                element_type: ElementType::Uint8,
            });
        }
        let layer = Layer {
            span: Span::Layer,
            name: self.contract.function.to_owned(),
            operator: self.case.kind.kernel_name().to_owned(),
            tensors,
        };
        Ok((layer, frame))
    }

    /// The profile of the kernel's first call, compared, where asked, with its traces in
    /// later calls on other inputs; on the same one where there is only one. And who did its
    /// work, in how many estimated cycles.
    fn trace(
        &self,
        inputs: u64,
        compare: bool,
    ) -> Result<(LayerProfile, Attribution, Option<Cycles>), MeasureError> {
        let mut profiler = Profiler::<()>::default();
        let mut accesses = Accesses::default();
        let (entered, cycles) = self.record(
            Calls::First,
            &Outcomes::Actual,
            &mut (&mut profiler, &mut accesses),
        )?;
        let work = Attribution::new(self.library, self.contract.function, &entered, &accesses);
        let (mut profile, ()) = profiler.finish();
        if compare {
            let mut later = PatternRecorder::default();
            let first = profile.layers.first();
            let inputs = first.map_or(inputs, |layer| inputs_of(layer.instructions(), inputs));
            self.record(Calls::Later { inputs }, &Outcomes::Actual, &mut later)?;
            let first = first.map(|layer| layer.pattern);
            let differs = later.patterns.iter().any(|&it| Some(it) != first);
            if inputs > 1 || differs {
                let later = later.patterns.into_iter().map(OtherInput::Accesses);
                profile.compare_inputs(&[later.collect()]);
            }
        }
        if self.case.accesses_by_data() {
            profile.set_data_dependent(&[Some(true)]);
        }
        Ok((profile.layers.remove(0), work, cycles))
    }

    /// Traces calls on one machine; gives the kernels that the first call entered, and the
    /// estimated cycles of the first call that is traced.
    fn record(
        &self,
        calls: Calls,
        outcomes: &Outcomes,
        sink: &mut dyn TraceSink,
    ) -> Result<(Vec<u32>, Option<Cycles>), MeasureError> {
        let emulate = |listener: Listener| {
            // A store after all buffers faults.
            let (layer, mut frame) = self.apart()?;
            self.prepare(&layer.tensors, &mut frame, Stale::Other, varied(0))?;
            let mut caller = Caller::within(self.library, &frame, Observation::Watch, self.limits)?;
            let are_all = outcomes.is_actual() || caller.machine.record_every_outcome();
            match calls {
                Calls::First => {
                    if self.in_detail {
                        caller.machine.count_cycles();
                    }
                    caller.machine.note_entries(&self.library.entries())?;
                }
                Calls::Later { .. } => {
                    self.execute(&mut caller, Placement::Apart, 0)?;
                }
            }
            for (number, stale) in calls.numbers(self.scratch_bytes > 0) {
                let (layer, mut frame) = self.apart()?;
                let arguments = self.prepare(&layer.tensors, &mut frame, stale, varied(number))?;
                if calls != Calls::First {
                    caller.leave(Leftovers::Noise(number));
                }
                let overrun = Arc::new(Mutex::new(None));
                caller
                    .machine
                    .deliver_to(deliver(listener, &frame, &overrun, outcomes));
                // Scratch memory lies apart from everything: what happens in it decides no O_s.
                let overlapping = layer.tensors.iter();
                let overlapping = overlapping.filter(|tensor| tensor.role != Role::Scratch);
                let guards = frame.guards().ranges().into_iter().map(|range| Watch {
                    range,
                    loads: false,
                });
                let watched = watches(overlapping).into_iter().chain(guards);
                caller.machine.watch(watched.collect())?;
                caller.fill(&frame)?;
                // Whether anybody still listens shows when a batch is delivered.
                let _ = listener(Message::Begin(layer, caller.machine.now()));
                let begun = caller.machine.cycles();
                call(self.contract, &mut caller, &frame, &arguments)?;
                caller.machine.flush();
                let cycles = caller.machine.cycles_since(begun);
                cycles
                    .into_iter()
                    .for_each(|it| _ = listener(Message::Cycles(it)));
                if let Some(overrun) = overrun.lock().ok().and_then(|mut it| it.take()) {
                    return Err(outside(self.contract, overrun));
                }
                let _ = listener(Message::End(caller.machine.now()));
            }
            if !are_all || outcomes.depend_on_any(&caller.machine.unknown_outcomes()) {
                return Err(MeasureError::UnknownOutcomes);
            }
            Ok::<_, MeasureError>(caller.machine.entered())
        };
        let (entered, recorded) = recording(emulate, sink, &mut |_| ())?;
        Ok((entered, recorded.cycles.first().copied()))
    }

    /// Places the inputs' content (by position), parameters and weights, and gives the arguments
    /// of each call.
    fn prepare(
        &self,
        tensors: &[Tensor],
        frame: &mut Frame,
        stale: Stale,
        input: impl Fn(usize, &Tensor) -> Vec<u8>,
    ) -> Result<Vec<Vec<Argument>>, MeasureError> {
        let of = |role| tensors.iter().filter(move |tensor| tensor.role == role);
        let buffers = Buffers {
            inputs: of(Role::Input).map(|tensor| tensor.address).collect(),
            outputs: of(Role::Output).map(|tensor| tensor.address).collect(),
            scratch: of(Role::Scratch)
                .map(|tensor| (tensor.address, tensor.size_bytes))
                .next(),
            states: self.states(frame)?,
        };
        let seed = self.prepared.fetch_add(1, Ordering::Relaxed);
        if let (Some((address, size_bytes)), Stale::Other) = (buffers.scratch, stale) {
            frame.fill(address, other_content(seed, size_bytes));
        }
        for (index, tensor) in of(Role::Input).enumerate() {
            frame.fill(tensor.address, input(index, tensor));
        }
        let calls = self
            .contract
            .prepare(self.case, &self.parameters, &buffers, frame)?;
        frame.seal();
        Ok(calls)
    }

    /// States that start every call with the same content, apart from everything.
    fn states(&self, frame: &mut Frame) -> Result<Vec<Address>, CallError> {
        let place = |state: &State| {
            let size_bytes = state.size_bytes(self.case, &self.parameters)?;
            let address = frame.reserve_guarded(state.name, size_bytes)?;
            frame.fill(address, state.invented(size_bytes));
            Ok(address)
        };
        self.contract.states.iter().map(place).collect()
    }

    /// All tensors, the outputs with what the kernel computes on input number `number`.
    fn execute(
        &self,
        caller: &mut Caller,
        placement: Placement,
        number: u64,
    ) -> Result<Vec<Vec<u8>>, MeasureError> {
        let (tensors, mut frame) = self.place(placement)?;
        let ordinary = |index, tensor: &Tensor| Variation(number).ordinary(index, tensor);
        let calls = self.prepare(&tensors, &mut frame, Stale::Other, ordinary)?;
        caller.fill(&frame)?;
        caller.leave(match placement {
            Placement::Apart | Placement::Aligned { .. } => Leftovers::Own,
            Placement::Overlapped { .. } => Leftovers::Noise(number),
        });
        call(self.contract, caller, &frame, &calls)?;
        tensors
            .iter()
            .map(|tensor| content(caller, tensor))
            .collect()
    }

    /// The buffers where they are to lie, and the frame that holds them.
    fn place(&self, placement: Placement) -> Result<(Vec<Tensor>, Frame), MeasureError> {
        let (layer, mut frame) = self.apart()?;
        let mut tensors = layer.tensors;
        if let Placement::Overlapped {
            input,
            output,
            displacement,
        } = placement
        {
            let [a, b] = [input, output].map(|index| tensors[index].size_bytes);
            let size_bytes = b.max(displacement + a);
            let arena = frame.reserve_guarded("overlapped buffers", size_bytes.into())?;
            tensors[output].address = arena;
            tensors[input].address = Address(arena.0 + displacement);
        }
        if let Placement::Aligned { input, residue } = placement {
            let size_bytes = tensors[input].size_bytes.into();
            let address = frame.reserve_at("aligned input", size_bytes, residue.into())?;
            frame.guard()?;
            tensors[input].address = address;
        }
        Ok((tensors, frame))
    }
}

/// Where the buffers of a call lie.
#[derive(Debug, Clone, Copy)]
enum Placement {
    /// Each for itself.
    Apart,
    /// The same, with the input `residue` bytes after an aligned address.
    Aligned { input: usize, residue: u32 },
    /// The input `displacement` bytes after the output's start.
    Overlapped {
        input: usize,
        output: usize,
        displacement: u32,
    },
}

/// Inputs that may make a kernel access other memory.
fn varied(number: u64) -> impl Fn(usize, &Tensor) -> Vec<u8> {
    move |index, tensor| Variation(number).content(0, index, tensor)
}
