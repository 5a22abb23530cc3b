//! Runs a program and records its layers, or tries its layers on other inputs.
//!
//! The emulator has a thread of its own; the trace is taken on the caller's.

use crate::disassembly::Disassembler;
use crate::machine::{FaultCause, Limits, Observation, Watch};
use crate::marks::Marks;
use crate::program::{Program, Step};
use crate::record::{Message, RecordError, Recorded, Recorder};
use crate::semihosting::Console;
use crate::target::Target;
use crate::vary::Variation;
use dmo_analysis::pattern::PatternRecorder;
use dmo_analysis::profile::OtherInput;
use dmo_analysis::trace::{
    Address, ElementType, Exit, Layer, Locations, Role, Span, Tensor, Time, TraceSink,
};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

pub use crate::program::{RunError, describe_exit};
pub use crate::record::CrossingLoads;

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Bounds.
    pub limits: Limits,
    /// Hold every access against an independent decode.
    pub self_check: bool,
}

/// What a run was, beside its trace.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutcome {
    /// How it ended.
    pub exit: Exit,
    /// Executed instructions.
    pub instructions: Time,
    /// The instructions that touched a tensor.
    pub locations: Locations,
    /// Loads beyond the end of a tensor.
    pub crossing_loads: Vec<CrossingLoads>,
}

/// Runs a program to its end and sends its trace to `sink`. `progress` is told of the time
/// now and then.
///
/// # Errors
/// When the program faults, its marks are wrong or a limit is reached. What `sink` has
/// seen until then is no complete trace.
pub fn run(
    target: &Target,
    options: RunOptions,
    console: Console,
    sink: &mut dyn TraceSink,
    progress: &mut dyn FnMut(Time),
) -> Result<RunOutcome, RunError> {
    let marks = Marks::find(&target.image)?;
    let observation = if options.self_check {
        Observation::SelfCheck
    } else {
        Observation::Watch
    };
    let emulate = |sender| -> Result<_, RunError> {
        let program = Program::load(target, &marks, observation, options.limits, console)?;
        Emulation::new(program, sender).record()
    };
    let ((exit, instructions), recorded) = on_two_threads(emulate, sink, progress)?;
    let disassembler = Disassembler::default();
    Ok(RunOutcome {
        exit,
        instructions,
        locations: recorded
            .instructions
            .into_iter()
            .map(|pc| (pc, target.location(pc, &disassembler)))
            .collect(),
        crossing_loads: recorded.crossing_loads,
    })
}

/// Runs a program to its end and each of its layers `count` times more on the way, on
/// other inputs; afterwards everything is as it was, so that the rest of the program sees
/// nothing of it. One list a layer.
///
/// # Errors
/// When the program itself fails. A layer that fails on another input is no error.
pub fn try_other_inputs(
    target: &Target,
    limits: Limits,
    count: u64,
) -> Result<Vec<Vec<OtherInput>>, RunError> {
    let marks = Marks::find(&target.image)?;
    let emulate = |sender| -> Result<_, RunError> {
        let console = Box::new(|_: &[u8]| ());
        let program = Program::load(target, &marks, Observation::Watch, limits, console)?;
        Emulation::new(program, sender).try_other_inputs(count)
    };
    let mut sink = PatternRecorder::default();
    let (tried, _) = on_two_threads(emulate, &mut sink, &mut |_| ())?;
    let mut patterns = sink.patterns.into_iter();
    let found = |failure: Option<String>| match (patterns.next(), failure) {
        (Some(pattern), None) => OtherInput::Accesses(pattern),
        (_, failure) => OtherInput::Failed(failure.unwrap_or_default()),
    };
    let mut found = found;
    Ok(tried
        .into_iter()
        .map(|layer| layer.into_iter().map(&mut found).collect())
        .collect())
}

/// Batches that may wait between the two threads.
const WAITING_BATCHES: usize = 4;

/// The emulating thread panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Emulates on a thread of its own, and records here what it sends.
pub(crate) fn on_two_threads<T: Send, E: Send + From<RecordError> + From<Panicked>>(
    emulate: impl FnOnce(SyncSender<Message>) -> Result<T, E> + Send,
    sink: &mut dyn TraceSink,
    progress: &mut dyn FnMut(Time),
) -> Result<(T, Recorded), E> {
    let (sender, receiver) = sync_channel(WAITING_BATCHES);
    std::thread::scope(|scope| {
        let emulation = scope.spawn(|| emulate(sender));
        let recorded = record(&receiver, sink, progress);
        // A failed recorder no longer listens: the emulation then ends at once.
        drop(receiver);
        let emulated = emulation.join().map_err(|_| Panicked)?;
        let recorded = recorded?;
        Ok((emulated?, recorded))
    })
}

fn record(
    receiver: &Receiver<Message>,
    sink: &mut dyn TraceSink,
    progress: &mut dyn FnMut(Time),
) -> Result<Recorded, RecordError> {
    let mut recorder = Recorder::new(sink);
    for message in receiver {
        match &message {
            Message::Begin(_, time) | Message::End(time) => progress(*time),
            Message::Accesses(accesses) => {
                if let Some(access) = accesses.last() {
                    progress(access.time);
                }
            }
        }
        recorder.take(message)?;
    }
    Ok(recorder.finish())
}

/// The emulating thread: a program, and whom to tell of it.
struct Emulation<'a> {
    program: Program<'a>,
    sender: SyncSender<Message>,
    /// Memory that layers have named so far: disjoint, ascending.
    known: Vec<Range<u64>>,
}

impl<'a> Emulation<'a> {
    fn new(mut program: Program<'a>, sender: SyncSender<Message>) -> Self {
        let batches = sender.clone();
        program.machine.deliver_to(Box::new(move |batch| {
            batches.send(Message::Accesses(batch)).is_ok()
        }));
        Self {
            program,
            sender,
            known: Vec::new(),
        }
    }

    fn record(mut self) -> Result<(Exit, Time), RunError> {
        loop {
            let step = self.program.advance()?;
            let now = self.program.now();
            match step {
                Step::Begin(layer) => {
                    if !self.known.is_empty() {
                        self.send(Message::End(now));
                    }
                    self.watch(&layer)?;
                    self.remember(&layer);
                    self.send(Message::Begin(layer, now));
                }
                Step::End => {
                    self.watch_known()?;
                    self.send(Message::End(now));
                    self.send(Message::Begin(gap(&self.known), now));
                }
                Step::Exited(exit) => {
                    self.program
                        .machine
                        .finish_check()
                        .map_err(|error| self.program.fault(FaultCause::SelfCheck(error)))?;
                    self.send(Message::End(now));
                    return Ok((exit, now));
                }
            }
        }
    }

    /// For each layer and each other input: none when it went well, else why it failed.
    fn try_other_inputs(mut self, count: u64) -> Result<Vec<Vec<Option<String>>>, RunError> {
        let mut layers = Vec::new();
        loop {
            match self.program.advance()? {
                Step::Begin(layer) => layers.push(self.vary(&layer, count)?),
                Step::End => {}
                Step::Exited(_) => return Ok(layers),
            }
        }
    }

    fn vary(&mut self, layer: &Layer, count: u64) -> Result<Vec<Option<String>>, RunError> {
        let snapshot = self.program.machine.snapshot()?;
        let mut failures = Vec::new();
        self.watch(layer)?;
        for number in 1..=count {
            for (position, tensor) in layer.tensors.iter().enumerate() {
                if tensor.role == Role::Input {
                    let layers = self.program.layers();
                    let bytes = Variation(number).content(layers, position, tensor);
                    self.program.machine.write(tensor.address, &bytes)?;
                }
            }
            self.send(Message::Begin(layer.clone(), self.program.now()));
            failures.push(match self.program.advance() {
                Ok(Step::End) => None,
                Ok(_) => Some("it does not come to its end mark".to_owned()),
                Err(error) => Some(error.to_string()),
            });
            self.program.machine.flush();
            self.send(Message::End(self.program.now()));
            self.program.machine.restore(&snapshot)?;
            self.program.is_back_in(layer);
        }
        self.program.machine.watch(Vec::new())?;
        Ok(failures)
    }

    fn watch(&mut self, layer: &Layer) -> Result<(), RunError> {
        let watches = layer.tensors.iter().map(|tensor| Watch {
            range: tensor.address.0.into()..tensor.end(),
            loads: true,
        });
        Ok(self.program.machine.watch(watches.collect())?)
    }

    /// Between layers only stores matter: they give the tensors' memory a new meaning.
    fn watch_known(&mut self) -> Result<(), RunError> {
        let watches = self.known.iter().map(|range| Watch {
            range: range.clone(),
            loads: false,
        });
        Ok(self.program.machine.watch(watches.collect())?)
    }

    fn remember(&mut self, layer: &Layer) {
        let tensors = layer.tensors.iter();
        self.known
            .extend(tensors.map(|tensor| tensor.address.0.into()..tensor.end()));
        self.known.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in self.known.drain(..) {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        self.known = merged;
    }

    /// Whether anybody still listens shows when the next batch is delivered.
    fn send(&self, message: Message) {
        let _ = self.sender.send(message);
    }
}

fn gap(known: &[Range<u64>]) -> Layer {
    let tensor = |range: &Range<u64>| Tensor {
        name: format!("{:#010x}", range.start),
        role: Role::State,
        address: Address(range.start as u32),
        size_bytes: (range.end - range.start) as u32,
        element_type: ElementType::Uint8,
    };
    Layer {
        span: Span::Gap,
        name: String::new(),
        operator: String::new(),
        tensors: known.iter().map(tensor).collect(),
    }
}
