//! The safe overlap of a kernel on a shape: traced, and proved by running the kernel in
//! overlapped buffers.

use crate::call::{Argument, CallError, Caller, Frame, Library};
use crate::kernels::{Buffers, Case, Contract};
use crate::machine::{Limits, MachineError, Observation, Watch};
use crate::record::{Message, RecordError};
use crate::run::{Panicked, on_two_threads};
use crate::vary::Variation;
use dmo_analysis::operator::ShapeError;
use dmo_analysis::pattern::PatternRecorder;
use dmo_analysis::profile::{LayerProfile, OtherInput, Profiler};
use dmo_analysis::trace::{Address, ElementType, Layer, Role, Span, Tensor, TraceSink};

/// What a kernel does on a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The kernel.
    pub function: &'static str,
    /// Its trace, with the O_s of each pair.
    pub layer: LayerProfile,
    /// For each of the layer's pairs, what execution says.
    pub proofs: Vec<Proof>,
}

impl Measurement {
    /// The kernel has the loops that the formulas are of.
    pub fn is_reference(&self) -> bool {
        self.function.starts_with("dmo_")
    }
}

/// What the kernel computes in buffers that overlap by O_s, and by one element more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// At O_s the output is that of separate buffers, on all inputs tried.
    pub equal_at_overlap: bool,
    /// With one element more it is not; none where the buffers cannot overlap further.
    pub differs_beyond: Option<bool>,
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MeasureError {
    #[error("no kernel of the library computes this{}", wanted(.functions))]
    NoKernel { functions: Vec<&'static str> },
    #[error("the library has no kernel '{function}' that computes this{}", served(.functions))]
    OtherKernel {
        function: String,
        functions: Vec<&'static str>,
    },
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{function} returns {status}: it does not take these arguments")]
    Status { function: &'static str, status: i32 },
    #[error("the output at {address} cannot be read")]
    Unreadable { address: Address },
    #[error("the emulating thread panicked")]
    Panic,
}

impl From<Panicked> for MeasureError {
    fn from(_: Panicked) -> Self {
        Self::Panic
    }
}

fn wanted(functions: &[&str]) -> String {
    if functions.is_empty() {
        String::new()
    } else {
        format!(": it has no {}", functions.join(", no "))
    }
}

fn served(functions: &[&str]) -> String {
    match functions {
        [] => String::new(),
        _ => format!("\n  hint: it has {}", functions.join(", ")),
    }
}

/// Unused bytes between buffers, so that what crosses an end is seen.
const GUARD_BYTES: u64 = 64;

/// A buffer, and unused bytes behind it.
fn reserve(frame: &mut Frame, name: &str, size_bytes: u32) -> Result<Address, CallError> {
    let address = frame.reserve(name, size_bytes.into())?;
    frame.reserve("the space between buffers", GUARD_BYTES)?;
    Ok(address)
}

/// Traces the kernel of `library` that computes `case` on `inputs` different inputs, and
/// proves the O_s of each pair by execution.
///
/// # Errors
/// When there is no such kernel, the buffers do not fit, or the kernel faults.
pub fn measure(
    library: &Library,
    case: &Case,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    measure_kernel(library, case, choose(library, case, None)?, inputs, limits)
}

/// The kernel of `library` that computes `case`: the first of them, or the one named.
///
/// # Errors
/// When there is none.
pub fn choose(
    library: &Library,
    case: &Case,
    function: Option<&str>,
) -> Result<&'static Contract, MeasureError> {
    Contract::find(library, case, function).ok_or_else(|| {
        let functions = Contract::functions(case);
        match function {
            None => MeasureError::NoKernel { functions },
            Some(function) => MeasureError::OtherKernel {
                function: function.to_owned(),
                functions: functions
                    .into_iter()
                    .filter(|name| library.has(name))
                    .collect(),
            },
        }
    })
}

/// [`measure`] for a kernel that [`choose`] gave.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn measure_kernel(
    library: &Library,
    case: &Case,
    contract: &'static Contract,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    let mut caller = Caller::new(library, Observation::None, limits)?;
    let bench = Bench::new(library, case, contract, limits, &mut caller)?;
    let layer = bench.trace(inputs)?;
    let proofs = layer
        .pairs
        .iter()
        .map(|pair| bench.prove(&mut caller, &layer, pair.input, pair.output, inputs))
        .collect::<Result<_, _>>()?;
    Ok(Measurement {
        function: contract.function,
        layer,
        proofs,
    })
}

/// Traces one call of a kernel that [`choose`] gave, without a proof.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn trace(
    library: &Library,
    case: &Case,
    contract: &'static Contract,
    limits: Limits,
) -> Result<LayerProfile, MeasureError> {
    let mut caller = Caller::new(library, Observation::None, limits)?;
    Bench::new(library, case, contract, limits, &mut caller)?.trace(1)
}

/// The bytes of all outputs of a kernel that [`choose`] gave, on input number `number`, in
/// separate buffers.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn outputs(
    library: &Library,
    case: &Case,
    contract: &'static Contract,
    number: u64,
    limits: Limits,
) -> Result<Vec<u8>, MeasureError> {
    let mut caller = Caller::new(library, Observation::None, limits)?;
    let bench = Bench::new(library, case, contract, limits, &mut caller)?;
    let (layer, mut frame) = bench.apart()?;
    let calls = bench.prepare(&layer.tensors, &mut frame, number)?;
    caller.fill(&frame)?;
    bench.call(&mut caller, &frame, &calls)?;
    let outputs = layer.tensors.iter();
    let outputs = outputs.filter(|tensor| tensor.role == Role::Output);
    let bytes = outputs.map(|output| content(&caller, output));
    Ok(bytes.collect::<Result<Vec<_>, _>>()?.concat())
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

/// How much scratch memory the kernel wants, as the library itself says.
fn scratch_bytes(
    caller: &mut Caller,
    library: &Library,
    contract: &Contract,
    case: &Case,
) -> Result<u32, MeasureError> {
    let Some(scratch) = contract.scratch else {
        return Ok(0);
    };
    let mut frame = library.frame();
    let arguments = (scratch.arguments)(case, &mut frame)?;
    let bytes = caller.call(scratch.function, &frame, &arguments)?;
    if bytes as i32 >= 0 {
        Ok(bytes)
    } else {
        Err(MeasureError::Status {
            function: scratch.function,
            status: bytes as i32,
        })
    }
}

/// One kernel on one shape.
struct Bench<'a> {
    library: &'a Library,
    contract: &'static Contract,
    case: &'a Case,
    limits: Limits,
    scratch_bytes: u32,
}

impl<'a> Bench<'a> {
    fn new(
        library: &'a Library,
        case: &'a Case,
        contract: &'static Contract,
        limits: Limits,
        caller: &mut Caller,
    ) -> Result<Self, MeasureError> {
        Ok(Self {
            library,
            contract,
            case,
            limits,
            scratch_bytes: scratch_bytes(caller, library, contract, case)?,
        })
    }

    /// The layer with all its buffers apart, and the frame that holds them.
    fn apart(&self) -> Result<(Layer, Frame), MeasureError> {
        let mut frame = self.library.frame();
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
                let address = reserve(&mut frame, &name, size_bytes)?;
                tensors.push(Tensor {
                    name,
                    role,
                    address,
                    size_bytes,
                    element_type: match role {
                        Role::Input => self.case.input_type,
                        _ => self.case.output_type,
                    },
                });
            }
        }
        if self.scratch_bytes > 0 {
            let size_bytes = self.scratch_bytes;
            tensors.push(Tensor {
                name: "scratch".to_owned(),
                role: Role::Scratch,
                address: reserve(&mut frame, "scratch", size_bytes)?,
                size_bytes,
                element_type: ElementType::Uint8,
            });
        }
        let layer = Layer {
            span: Span::Layer,
            name: self.contract.function.to_owned(),
            operator: self.case.kind.to_owned(),
            tensors,
        };
        Ok((layer, frame))
    }

    /// The profile of the kernel's trace, compared with its traces on other inputs.
    fn trace(&self, inputs: u64) -> Result<LayerProfile, MeasureError> {
        let mut profiler = Profiler::<()>::default();
        self.record(0, &mut profiler)?;
        let (mut profile, ()) = profiler.finish();
        let mut others = Vec::new();
        for number in 1..inputs {
            let mut patterns = PatternRecorder::default();
            self.record(number, &mut patterns)?;
            others.extend(patterns.patterns.into_iter().map(OtherInput::Accesses));
        }
        if inputs > 1 {
            profile.compare_inputs(&[others]);
        }
        Ok(profile.layers.remove(0))
    }

    /// Traces one call on input number `number`.
    fn record(&self, number: u64, sink: &mut dyn TraceSink) -> Result<(), MeasureError> {
        let (layer, mut frame) = self.apart()?;
        let calls = self.prepare(&layer.tensors, &mut frame, number)?;
        let emulate = |sender: std::sync::mpsc::SyncSender<Message>| {
            let mut caller = Caller::new(self.library, Observation::Watch, self.limits)?;
            let batches = sender.clone();
            caller.machine.deliver_to(Box::new(move |batch| {
                batches.send(Message::Accesses(batch)).is_ok()
            }));
            // Scratch memory lies apart from everything: what happens in it decides no O_s.
            let overlapping = layer.tensors.iter();
            let overlapping = overlapping.filter(|tensor| tensor.role != Role::Scratch);
            let watches = overlapping.map(|tensor| Watch {
                range: tensor.address.0.into()..tensor.end(),
                loads: true,
            });
            caller.machine.watch(watches.collect())?;
            caller.fill(&frame)?;
            // Whether anybody still listens shows when a batch is delivered.
            let _ = sender.send(Message::Begin(layer.clone(), caller.machine.now()));
            self.call(&mut caller, &frame, &calls)?;
            let _ = sender.send(Message::End(caller.machine.now()));
            Ok::<(), MeasureError>(())
        };
        let ((), _) = on_two_threads(emulate, sink, &mut |_| ())?;
        Ok(())
    }

    fn call(
        &self,
        caller: &mut Caller,
        frame: &Frame,
        calls: &[Vec<Argument>],
    ) -> Result<(), MeasureError> {
        let function = self.contract.function;
        for arguments in calls {
            let result = caller.call_on(function, frame, arguments)?;
            // The status is an enumeration of one byte, or of four.
            let status = i32::from(result as i8);
            if status != 0 && self.contract.returns_status {
                return Err(MeasureError::Status { function, status });
            }
        }
        Ok(())
    }

    /// Places the inputs' content, parameters and weights, and gives the arguments of each
    /// call.
    fn prepare(
        &self,
        tensors: &[Tensor],
        frame: &mut Frame,
        number: u64,
    ) -> Result<Vec<Vec<Argument>>, MeasureError> {
        let of = |role| tensors.iter().filter(move |tensor| tensor.role == role);
        let buffers = Buffers {
            inputs: of(Role::Input).map(|tensor| tensor.address).collect(),
            outputs: of(Role::Output).map(|tensor| tensor.address).collect(),
            scratch: of(Role::Scratch)
                .map(|tensor| (tensor.address, tensor.size_bytes))
                .next(),
        };
        for (index, tensor) in of(Role::Input).enumerate() {
            frame.fill(tensor.address, Variation(number).content(0, index, tensor));
        }
        Ok(self.contract.prepare(self.case, &buffers, frame)?)
    }

    /// Runs the kernel with the input overlapped by O_s, and by one element more.
    fn prove(
        &self,
        caller: &mut Caller,
        layer: &LayerProfile,
        input: usize,
        output: usize,
        inputs: u64,
    ) -> Result<Proof, MeasureError> {
        let (a, b) = (&layer.tensors[input].tensor, &layer.tensors[output].tensor);
        let overlap = layer
            .pairs
            .iter()
            .find(|pair| (pair.input, pair.output) == (input, output))
            .map_or(0, |pair| pair.safe_overlap_bytes);
        let displacement = b.size_bytes - overlap;
        let element = a.element_type.size_bytes();
        let further = displacement
            .checked_sub(element)
            .filter(|_| overlap + element <= a.size_bytes);
        let mut proof = Proof {
            equal_at_overlap: true,
            differs_beyond: further.map(|_| false),
        };
        for number in 0..inputs {
            let alone = self.execute(caller, input, output, None, number)?;
            let mut overlapped =
                |displacement| self.execute(caller, input, output, Some(displacement), number);
            proof.equal_at_overlap &= overlapped(displacement)? == alone;
            if let Some(further) = further {
                let differs = overlapped(further)? != alone;
                proof.differs_beyond = Some(proof.differs_beyond == Some(true) || differs);
            }
        }
        Ok(proof)
    }

    /// The output, with the input `displacement` bytes behind the output's start, or apart.
    fn execute(
        &self,
        caller: &mut Caller,
        input: usize,
        output: usize,
        displacement: Option<u32>,
        number: u64,
    ) -> Result<Vec<u8>, MeasureError> {
        let (mut layer, mut frame) = self.apart()?;
        if let Some(displacement) = displacement {
            let [a, b] = [input, output].map(|index| u64::from(layer.tensors[index].size_bytes));
            let arena = frame.reserve("overlapped buffers", b.max(u64::from(displacement) + a))?;
            layer.tensors[output].address = arena;
            layer.tensors[input].address = Address(arena.0 + displacement);
        }
        let calls = self.prepare(&layer.tensors, &mut frame, number)?;
        caller.fill(&frame)?;
        self.call(caller, &frame, &calls)?;
        content(caller, &layer.tensors[output])
    }
}
