//! Inferences of a firmware's interpreter, one after the other, on inputs from outside: the program
//! runs up to its first inference by itself. There its inputs are stored, and the runtime's function
//! is called once for each of them; what the program would do in between is not run.

use super::allocation::{AllocationError, AtInference};
use super::execution::{LayerSource, Program, ProgramEvent, RunError};
use super::fault::Fault;
use super::interpreter::Interpreted;
use super::process::Halt;
use super::record::{Listener, Message, Panicked, RecordError, Recorded, recording};
use super::run::{gap, with_unlisted};
use crate::mcu::machine::{Limits, MachineError, Watch};
use dmo_analysis::trace::{Address, Locations, Time, TraceSink};
use rangemap::RangeSet;
use std::ops::Range;

/// Bytes to be stored, and where.
pub type Content = Vec<(Address, Vec<u8>)>;

/// What is to be run.
pub struct Inferences<'a> {
    /// The model, as its interpreter has laid it out.
    pub interpreted: &'a Interpreted,
    /// The inputs of each inference.
    pub inputs: &'a [Content],
    /// What the arena's planned part holds before the first of them: nothing that is needed.
    pub fill: u8,
    /// Memory whose content counts.
    pub memory: &'a [Range<u64>],
    /// Bounds of all of it.
    pub limits: Limits,
}

/// What memory holds, one entry for each range that counts.
pub type Snapshot = Vec<Vec<u8>>;

/// What came out.
pub struct Run {
    /// For each inference what memory holds before the first operator, and after each.
    pub snapshots: Vec<Vec<Snapshot>>,
    /// Executed instructions of each inference.
    pub instructions: Vec<Time>,
    /// The instructions that touched the arena.
    pub locations: Locations,
}

/// Why they do not come to their end.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum InferenceError {
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("inference {number} of the firmware does not run the model's operators, each once")]
    OtherOperators { number: usize },
    #[error("memory that is to be compared, at {address}, is not readable")]
    Unreadable { address: Address },
}

impl From<MachineError> for InferenceError {
    fn from(error: MachineError) -> Self {
        Self::Run(error.into())
    }
}

impl From<RecordError> for InferenceError {
    fn from(error: RecordError) -> Self {
        Self::Run(error.into())
    }
}

impl From<Panicked> for InferenceError {
    fn from(error: Panicked) -> Self {
        Self::Run(error.into())
    }
}

/// Runs what is hosted to its first inference, as `start` does, and then inferences on these inputs.
/// The trace goes to `sink`.
///
/// # Errors
/// When the program cannot go on, or an inference is not what the model says.
pub fn run<H>(
    inferences: &Inferences,
    hosted: &H,
    start: impl FnOnce(&H) -> Result<AtInference, AllocationError>,
    sink: &mut dyn TraceSink,
) -> Result<(Run, Recorded), InferenceError> {
    let layers = LayerSource::Interpreted(inferences.interpreted);
    let emulate =
        |listener: Listener| Emulation::new(inferences, &layers, start(hosted)?, listener)?.run();
    recording(emulate, sink, &mut |_| ())
}

/// A program, and whom to tell of it.
struct Emulation<'a, 'b> {
    inferences: &'b Inferences<'a>,
    program: Program<'b>,
    listener: Listener<'b>,
    /// r0, r1, stack pointer, link register and program counter at the entry of the runtime's
    /// function.
    entry: [(usize, u32); 5],
    known: RangeSet<u64>,
}

impl<'a: 'b, 'b> Emulation<'a, 'b> {
    fn new(
        inferences: &'b Inferences<'a>,
        layers: &'b LayerSource<'b>,
        start: AtInference<'b>,
        listener: Listener<'b>,
    ) -> Result<Self, InferenceError> {
        let mut program = Program::resume(start.process, layers)?;
        let machine = &mut program.process.machine;
        machine.renew_limits(inferences.limits);
        machine.deliver_pages_to(Box::new(move |batch| listener(Message::Accesses(batch))));
        let entry = [0, 1, 13, 14, 15].map(|index| (index, machine.register(index)));
        let arena = &inferences.interpreted.placed.arena;
        Ok(Self {
            inferences,
            program,
            listener,
            entry,
            known: RangeSet::from_iter([arena.clone()]),
        })
    }

    fn run(mut self) -> Result<Run, InferenceError> {
        let mut run = Run {
            snapshots: Vec::new(),
            instructions: Vec::new(),
            locations: Locations::default(),
        };
        for number in 0..self.inferences.inputs.len() {
            let before = self.program.now();
            let snapshots = self.infer(number)?;
            run.instructions.push(self.program.now() - before);
            run.snapshots.push(snapshots);
        }
        self.program.process.machine.flush();
        Ok(run)
    }

    fn infer(&mut self, number: usize) -> Result<Vec<Snapshot>, InferenceError> {
        let machine = &mut self.program.process.machine;
        machine.watch(Vec::new())?;
        for (index, value) in self.entry {
            machine.set_register(index, value)?;
        }
        if number == 0 {
            let head = &self.inferences.interpreted.placed.head;
            let bytes = vec![self.inferences.fill; (head.end - head.start) as usize];
            machine.write(Address(head.start as u32), &bytes)?;
        }
        for (address, bytes) in &self.inferences.inputs[number] {
            machine.write(*address, bytes)?;
        }
        let mut snapshots = vec![self.snapshot()?];
        self.program.stop_between_layers()?;
        let operators = self.inferences.interpreted.placed.layers.len();
        let other = InferenceError::OtherOperators { number };
        for operator in 0..operators {
            let ProgramEvent::Begin(layer) = self.program.advance()? else {
                return Err(other);
            };
            if operator > 0 {
                self.send(Message::End(self.program.now()));
            }
            let layer = with_unlisted(layer, &mut self.known)?;
            self.watch()?;
            self.send(Message::Begin(layer, self.program.now()));
            if self.program.advance()? != ProgramEvent::End {
                return Err(other);
            }
            self.program.process.machine.flush();
            self.send(Message::End(self.program.now()));
            if operator + 1 < operators {
                self.send(Message::Begin(gap(&self.known), self.program.now()));
            }
            snapshots.push(self.snapshot()?);
        }
        self.return_from_inference()?;
        Ok(snapshots)
    }

    /// All of the arena, whatever a layer names of it.
    fn watch(&mut self) -> Result<(), InferenceError> {
        let watches = self.known.iter().cloned();
        let watches = watches.map(|range| Watch { range, loads: true });
        Ok(self.program.process.machine.watch(watches.collect())?)
    }

    fn return_from_inference(&mut self) -> Result<(), InferenceError> {
        let [_, _, (_, stack_pointer), (_, link), _] = self.entry;
        let process = &mut self.program.process;
        process.machine.watch(Vec::new())?;
        process
            .machine
            .stop_on_return(&[link & !1], stack_pointer)?;
        match process.run()? {
            Halt::Breakpoint(address) => Ok(process.machine.stay_at(address)?),
            Halt::Fault(cause) => {
                let fault = Fault::new(process.target, &process.machine, cause, None);
                Err(RunError::Fault(Box::new(fault)).into())
            }
            Halt::Exited(_) => Err(InferenceError::OtherOperators { number: 0 }),
        }
    }

    fn snapshot(&self) -> Result<Snapshot, InferenceError> {
        let machine = &self.program.process.machine;
        let read = |range: &Range<u64>| {
            let address = Address(range.start as u32);
            let bytes = machine.read(address, (range.end - range.start) as usize);
            bytes.ok_or(InferenceError::Unreadable { address })
        };
        self.inferences.memory.iter().map(read).collect()
    }

    /// Whether anybody still listens shows when the next batch is delivered.
    fn send(&self, message: Message) {
        let _ = (self.listener)(message);
    }
}
