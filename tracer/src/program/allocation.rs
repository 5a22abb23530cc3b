//! How a program's TensorFlow Lite Micro lays out its models: the program is run to the first
//! inference of the model that is wanted, and its runtime is watched on the way.
//!
//! Source of the layouts: tensorflow/tflite-micro at 90b983c, `SubgraphAllocations` and
//! `ScratchBufferHandle` in `micro_allocator.h`, `TfLiteEvalTensor` in `core/c/common.h`.

use crate::mcu::machine::{Limits, Machine, MachineError, Observation};
use crate::program::execution::{RunError, describe_exit};
use crate::program::fault::Fault;
use crate::program::process::{Halt, Process};
use crate::program::runtime::{Function, Runtime};
use crate::program::semihosting::Host;
use crate::program::structures::{Structures, TENSOR_BYTES};
use crate::program::target::Target;
use dmo_analysis::firmware::Taken;
use dmo_analysis::graph::OperatorId;
use dmo_analysis::trace::Address;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A model that a program's interpreter has laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocated {
    /// Where its file lies.
    pub address: Address,
    /// The memory from there on, to the end of its region: the file, and what follows it.
    pub file: Vec<u8>,
    /// The object that stands for it in the interpreter's loop.
    pub graph: u32,
    /// The arenas that have been handed over.
    pub arenas: Vec<Range<u64>>,
    /// Scratch buffers of the first subgraph: the operator and the bytes that it has asked for.
    pub scratch: Vec<(OperatorId, u64)>,
    /// What it keeps of arenas from one inference to the next, as far as their bounds are found.
    pub kept: Vec<Range<u64>>,
    /// Addresses of the descriptions of its tensors, and of its scratch buffers.
    tensors: u32,
    scratch_buffers: u32,
    /// Position of each scratch buffer among those of all subgraphs.
    scratch_indices: Vec<u32>,
}

/// What the runtime says of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Where its first byte lies.
    pub address: u32,
    /// Elements on each axis.
    pub shape: Vec<u32>,
}

/// A program at the first inference of the model that was wanted.
pub struct AtInference<'a> {
    /// The model.
    pub model: Allocated,
    /// The program: none of the inference has been executed.
    pub(super) process: Process<'a>,
}

/// Why there is no such model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AllocationError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the program ended ({how}) before its interpreter began an inference{}", said(.printed))]
    NoInference { how: String, printed: String },
    #[error("the model's file is not in memory when its first inference begins")]
    NoFile,
    #[error("the program runs another model{}", places(.0))]
    OtherModels(Vec<Address>),
}

impl From<MachineError> for AllocationError {
    fn from(error: MachineError) -> Self {
        Self::Run(error.into())
    }
}

fn said(printed: &str) -> String {
    match printed {
        "" => String::new(),
        printed => format!("; the last that it printed: {printed:?}"),
    }
}

fn places(models: &[Address]) -> String {
    let addresses: Vec<String> = models.iter().map(ToString::to_string).collect();
    match addresses[..] {
        [] => String::new(),
        _ => format!(", at {}", addresses.join(", ")),
    }
}

/// An inference of a model that is not wanted may come before that of the one that is, but a
/// program that begins this many runs nothing else.
const MOST_OTHER_INFERENCES: usize = 16;

/// A model that an interpreter is to run in the place of another: its file lies in memory that the
/// program does not know, and is handed to the interpreter that is made for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// Where the file lies that the program hands over.
    pub replaced: Address,
    /// The root table of the other file.
    pub root: u32,
}

/// Runs a program to the first inference of a model that is wanted. An interpreter that is made for
/// the model of `replacement` is made for the other one instead.
///
/// # Errors
/// When the program cannot go on, ends before it, or runs other models only.
pub fn first_inference<'a>(
    target: &'a Target,
    runtime: &Runtime,
    limits: Limits,
    replacement: Option<Replacement>,
    wanted: &mut dyn FnMut(&Allocated) -> bool,
) -> Result<AtInference<'a>, AllocationError> {
    let printed = Arc::new(Mutex::new(Vec::new()));
    let console = printed.clone();
    let host = Host::console(Box::new(move |bytes| keep_last(&console, bytes)));
    let mut process = Process::load(target, Observation::Watch, limits, host)?;
    let addresses = runtime.addresses();
    process.machine.set_breakpoints(&addresses)?;
    let mut seen = Seen::default();
    let mut others = Vec::new();
    loop {
        let address = match next_breakpoint(&mut process, &printed) {
            Err(AllocationError::NoInference { how, .. }) if !others.is_empty() => {
                return Err(ended(how, &printed, others));
            }
            next => next?,
        };
        process.machine.stay_at(address)?;
        let Some(function) = runtime.at(address.0) else {
            process.machine.set_breakpoints(&addresses)?;
            continue;
        };
        if let (Function::Interpreter, Some(replacement)) = (function, replacement) {
            replace(&mut process.machine, replacement)?;
        }
        if let Some(model) = seen.call(function, &process) {
            if wanted(&model) {
                return Ok(AtInference { model, process });
            }
            others.push(model.address);
            if others.len() == MOST_OTHER_INFERENCES {
                return Err(ended(String::new(), &printed, others));
            }
        }
        // The others call functions that count.
        if matches!(
            function,
            Function::Interpreter | Function::Prepare | Function::Invoke
        ) {
            let rest: Vec<u32> = addresses
                .iter()
                .copied()
                .filter(|&one| one != address.0)
                .collect();
            process.machine.set_breakpoints(&rest)?;
        } else {
            process.stop_when_back()?;
        }
    }
}

/// At the entry of an interpreter's constructor.
fn replace(machine: &mut Machine, replacement: Replacement) -> Result<(), MachineError> {
    const MODEL: usize = 1;
    let given = file_start(machine, machine.register(MODEL));
    if given == Some(replacement.replaced.0) {
        machine.set_register(MODEL, replacement.root)?;
    }
    Ok(())
}

/// Runs a program to the first inference of the model whose structures are known, in an arena that
/// begins at `start`. Without the runtime's functions, the requests for scratch memory are read
/// where it keeps them until its plan is made: at the arena's start.
///
/// # Errors
/// When the program cannot go on, or ends before it.
pub fn first_inference_of<'a>(
    target: &'a Target,
    structures: &Structures,
    arena: &Range<u64>,
    limits: Limits,
) -> Result<AtInference<'a>, AllocationError> {
    let printed = Arc::new(Mutex::new(Vec::new()));
    let console = printed.clone();
    let host = Host::console(Box::new(move |bytes| keep_last(&console, bytes)));
    let mut process = Process::load(target, Observation::Watch, limits, host)?;
    let addresses = structures.addresses();
    process.machine.set_breakpoints(&addresses)?;
    let mut requests = Requests::new(arena);
    let mut preparing = None;
    loop {
        let address = next_breakpoint(&mut process, &printed)?;
        process.machine.stay_at(address)?;
        if let Some(operator) = preparing.take() {
            requests.read(&process.machine, operator);
            process.machine.set_breakpoints(&addresses)?;
            continue;
        }
        let operator = structures.operator(process.machine.register(1));
        let functions = operator.map(|operator| structures.functions[operator]);
        let is = |function: Option<u32>| function == Some(address.0);
        match operator {
            Some(0) if is(functions.map(|it| it.invoke)) => {
                let model = requests.of_model(&process, structures, arena);
                let model = model.ok_or(AllocationError::NoFile)?;
                return Ok(AtInference { model, process });
            }
            // What prepares it anew does so in a new arena.
            Some(operator) if is(functions.and_then(|it| it.prepare)) => {
                if operator == 0 {
                    requests = Requests::new(arena);
                }
                preparing = Some(OperatorId(operator));
                process.stop_when_back()?;
            }
            // Another model's operator.
            _ => process.stop_when_back()?,
        }
    }
}

/// The next breakpoint of a program that has more to do.
fn next_breakpoint(
    process: &mut Process,
    printed: &Mutex<Vec<u8>>,
) -> Result<Address, AllocationError> {
    match process.run()? {
        Halt::Breakpoint(address) => Ok(address),
        Halt::Exited(exit) => {
            let how = describe_exit(exit, &process.target.image.symbols);
            Err(ended(how, printed, Vec::new()))
        }
        Halt::Fault(cause) => {
            let fault = Fault::new(process.target, &process.machine, cause, None);
            Err(RunError::Fault(Box::new(fault)).into())
        }
    }
}

/// The requests for scratch memory at an arena's start, as the operators are prepared.
struct Requests {
    next: u32,
    end: u64,
    found: Vec<(OperatorId, u64)>,
}

const REQUEST_BYTES: u32 = 12;
/// The operator of a request, until it has been prepared.
const UNASSIGNED: u32 = u32::MAX;

impl Requests {
    fn new(arena: &Range<u64>) -> Self {
        Self {
            next: arena.start.next_multiple_of(ALIGNMENT) as u32,
            end: arena.end,
            found: Vec::new(),
        }
    }

    /// An operator has just been prepared: its requests are the next ones, without an operator yet.
    fn read(&mut self, machine: &Machine, operator: OperatorId) {
        loop {
            let word = |offset: u32| machine.read_word(Address(self.next.checked_add(offset)?));
            let request = [word(0), word(4), word(8)];
            let [Some(bytes), Some(UNASSIGNED), Some(0)] = request else {
                return;
            };
            if u64::from(self.next) + u64::from(REQUEST_BYTES) > self.end {
                return;
            }
            // One without bytes gets no memory.
            self.found
                .extend((bytes > 0).then_some((operator, bytes.into())));
            self.next += REQUEST_BYTES;
        }
    }

    fn of_model(
        self,
        process: &Process,
        structures: &Structures,
        arena: &Range<u64>,
    ) -> Option<Allocated> {
        Some(Allocated {
            address: structures.file,
            file: file_from(process, structures.file)?,
            graph: structures.nodes,
            arenas: vec![arena.clone()],
            scratch: self.found,
            kept: Vec::new(),
            tensors: structures.tensors,
            scratch_buffers: 0,
            scratch_indices: Vec::new(),
        })
    }
}

/// The memory from a file's start on, to the end of its region.
fn file_from(process: &Process, start: Address) -> Option<Vec<u8>> {
    let first = u64::from(start.0);
    let region = process.target.map.region_of(&(first..first + 8))?;
    let length = (region.range.end - first) as usize;
    process.machine.read(start, length)
}

/// Bytes of what the program prints that an error shows.
const MOST_SHOWN: usize = 200;

fn keep_last(printed: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
    printed.extend_from_slice(bytes);
    let excess = printed.len().saturating_sub(MOST_SHOWN);
    printed.drain(..excess);
}

fn ended(how: String, printed: &Mutex<Vec<u8>>, mut others: Vec<Address>) -> AllocationError {
    others.sort();
    others.dedup();
    match others[..] {
        [] => {
            let printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
            let printed = String::from_utf8_lossy(&printed).trim().to_owned();
            AllocationError::NoInference { how, printed }
        }
        _ => AllocationError::OtherModels(others),
    }
}

/// What the runtime has done so far.
#[derive(Default)]
struct Seen {
    arenas: Vec<Range<u64>>,
    models: Vec<Model>,
    /// The model that is being laid out.
    graph: u32,
    requests: Vec<Request>,
    /// Of each arena, one past the last byte that it can keep.
    tails: Vec<Option<u64>>,
    /// Whether it may keep more than is known.
    is_open: bool,
}

/// A model that is laid out.
struct Model {
    root: u32,
    graph: u32,
    allocations: u32,
    handles: u32,
    requests: Vec<Request>,
    kept: Vec<Range<u64>>,
}

/// A scratch buffer that an operator has asked for.
#[derive(Clone)]
struct Request {
    bytes: u32,
    subgraph: u32,
    operator: Option<u32>,
}

impl Seen {
    /// A function is entered. Returns the model whose inference begins.
    fn call(&mut self, function: Function, process: &Process) -> Option<Allocated> {
        let [object, first, second, third] =
            [0, 1, 2, 3].map(|index| process.machine.register(index));
        match function {
            Function::Arena => {
                self.close(&process.machine);
                let (start, bytes) = (u64::from(first), u64::from(second));
                self.arenas.push(start..start + bytes);
            }
            Function::StartModel => {
                self.close(&process.machine);
                self.requests.clear();
                self.tails = self.tails(&process.machine);
            }
            Function::Prepare => self.graph = object,
            Function::RequestScratch => self.requests.push(Request {
                bytes: first,
                subgraph: second,
                operator: None,
            }),
            Function::OperatorPrepared => {
                let open = self
                    .requests
                    .iter_mut()
                    .filter(|one| one.operator.is_none());
                open.for_each(|request| request.operator = Some(first));
            }
            Function::FinishModel => {
                self.models.retain(|model| model.graph != self.graph);
                self.models.push(Model {
                    root: first,
                    graph: self.graph,
                    allocations: second,
                    handles: third,
                    requests: self.requests.clone(),
                    kept: Vec::new(),
                });
                self.is_open = true;
            }
            Function::Invoke if first == 0 => {
                self.close(&process.machine);
                let model = self.models.iter().find(|model| model.graph == object)?;
                return model.read(process, &self.arenas);
            }
            Function::Interpreter | Function::Invoke | Function::OperatorDone => {}
        }
        None
    }
}

impl Seen {
    /// Down to where each arena is taken from its end.
    fn tails(&self, machine: &Machine) -> Vec<Option<u64>> {
        let tail = |arena: &Range<u64>| Some(arena.end - taken(machine, arena)?.tail_bytes);
        self.arenas.iter().map(tail).collect()
    }

    /// What was laid out last keeps no more than it does now.
    fn close(&mut self, machine: &Machine) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let both = self.tails.iter().zip(self.tails(machine));
        let kept = both.filter_map(|(end, start)| Some(start?..(*end)?));
        let mut kept: Vec<Range<u64>> = kept.filter(|kept| !kept.is_empty()).collect();
        // Several allocators may have one arena.
        kept.dedup();
        if let Some(model) = self.models.last_mut() {
            model.kept = kept;
        }
    }
}

impl Model {
    fn read(&self, process: &Process, arenas: &[Range<u64>]) -> Option<Allocated> {
        let machine = &process.machine;
        let address = file_start(machine, self.root)?;
        let requests = (0..).zip(&self.requests);
        let first = requests.filter(|(_, request)| request.subgraph == 0 && request.bytes > 0);
        let owned =
            first.filter_map(|(index, request)| Some((index, request.operator?, request.bytes)));
        let owned: Vec<(u32, u32, u32)> = owned.collect();
        Some(Allocated {
            address: Address(address),
            file: file_from(process, Address(address))?,
            graph: self.graph,
            arenas: arenas.to_vec(),
            scratch: owned
                .iter()
                .map(|&(_, operator, bytes)| (OperatorId(operator as usize), bytes.into()))
                .collect(),
            kept: self.kept.clone(),
            tensors: machine.read_word(Address(self.allocations.wrapping_add(4)))?,
            scratch_buffers: machine.read_word(Address(self.handles)).unwrap_or(0),
            scratch_indices: owned.iter().map(|&(index, ..)| index).collect(),
        })
    }
}

/// How far before its root table a model's file may begin.
const FARTHEST_ROOT: u32 = 1 << 20;

/// A file begins with the distance to its root table and the identifier `TFL3`.
fn file_start(machine: &Machine, root: u32) -> Option<u32> {
    const IDENTIFIER: u32 = u32::from_le_bytes(*b"TFL3");
    let word = |address: u32| machine.read_word(Address(address));
    let distances = (8..FARTHEST_ROOT).step_by(4);
    distances
        .map_while(|distance| root.checked_sub(distance).map(|start| (start, distance)))
        .find(|&(start, distance)| {
            word(start) == Some(distance) && word(start + 4) == Some(IDENTIFIER)
        })
        .map(|(start, _)| start)
}

const HANDLE_BYTES: u32 = 4;
const MOST_AXES: u32 = 16;

impl AtInference<'_> {
    /// What the runtime says of a tensor of the first subgraph; `None` if that is no memory, or no
    /// description.
    pub fn tensor(&self, index: usize) -> Option<Described> {
        let word = |address: u32| self.process.machine.read_word(Address(address));
        let offset = u32::try_from(index).ok()?.checked_mul(TENSOR_BYTES)?;
        let description = self.model.tensors.checked_add(offset)?;
        let extents = word(description.checked_add(4)?)?;
        let axes = word(extents).filter(|&axes| axes <= MOST_AXES)?;
        let shape = (1..=axes).map(|axis| word(extents.checked_add(4 * axis)?));
        Some(Described {
            address: word(description)?,
            shape: shape.collect::<Option<_>>()?,
        })
    }

    /// What the runtime has taken of an arena.
    pub fn taken(&self, arena: &Range<u64>) -> Option<Taken> {
        taken(&self.process.machine, arena)
    }

    /// Where a scratch buffer lies, by its position in [`Allocated::scratch`].
    pub fn scratch_buffer(&self, position: usize) -> Option<u32> {
        let index = self.model.scratch_indices.get(position)?;
        let handle = self
            .model
            .scratch_buffers
            .checked_add(index.checked_mul(HANDLE_BYTES)?)?;
        self.process.machine.read_word(Address(handle))
    }
}

/// What a runtime has taken of an arena: an allocator that keeps itself at the end of its arena has
/// the arena's bounds, and then those of what is free.
fn taken(machine: &Machine, arena: &Range<u64>) -> Option<Taken> {
    const FARTHEST: u64 = 64;
    let first = arena.end.next_multiple_of(4).checked_sub(FARTHEST)?;
    let first = u32::try_from(first).ok()?;
    let bytes = machine.read(Address(first), FARTHEST as usize)?;
    let words = bytes.as_chunks().0.iter();
    let words: Vec<u64> = words.map(|&word| u32::from_le_bytes(word).into()).collect();
    let mut bounds = words.windows(4).filter_map(|four| {
        let &[start, end, head, tail] = four else {
            return None;
        };
        let fits = (start, end) == (arena.start, arena.end);
        let ordered = start <= head && head <= tail && tail <= end;
        (fits && ordered).then(|| Taken {
            head_bytes: head - start,
            tail_bytes: end - tail,
        })
    });
    bounds.next()
}
