//! Runs a program and records its layers, or tries its layers on other inputs.
//!
//! The trace is taken on the emulator's thread: what the emulator has just written is in the cache
//! of its core, and fetching it from there took another core longer than the rest of its work.

use crate::mcu::cycles::Cycles;
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{FaultCause, Limits, Observation, Watch};
use crate::mcu::system::Exception;
use crate::program::execution::{LayerSource, Program, ProgramEvent};
use crate::program::other_inputs::{Variation, inputs_of};
use crate::program::ram::{LowestStack, RamUse};
use crate::program::record::{Listener, Message, RecordError, recording};
use crate::program::semihosting::Host;
use crate::program::semihosting::folder::Folder;
use crate::program::target::Target;
use dmo_analysis::profile::OtherInput;
use dmo_analysis::profile::pattern::PatternRecorder;
use dmo_analysis::trace::{
    Address, ElementType, Exit, Layer, Locations, Role, Span, Tensor, Time, TraceSink,
};
use rangemap::RangeSet;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

pub use crate::program::execution::{RunError, describe_exit};
pub use crate::program::record::CrossingLoads;

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Bounds.
    pub limits: Limits,
    /// Hold every access against an independent decode.
    pub self_check: bool,
}

/// The outcome of a run, without its trace.
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
    /// Estimated cycles; `None` if they are not known.
    pub cycles: Option<RunCycles>,
    /// The program expects interrupts of SysTick, which never come.
    pub expects_ticks: bool,
    /// Models that its interpreters have run besides the one that is followed.
    pub other_models: usize,
    /// The first exception that the program has requested between its layers; its handler has not
    /// run.
    pub requested_exception: Option<Exception>,
    /// Functions of the library that the hooks are for, that were called and are no layers.
    pub skipped: Vec<String>,
    /// The RAM that it takes.
    pub ram: RamUse,
}

/// Estimated cycles of a run.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RunCycles {
    /// All of them.
    pub total: Cycles,
    /// Those of each layer.
    pub layers: Vec<Cycles>,
}

/// Runs a program to its end and sends its trace to `sink`. `progress` receives the time
/// now and then.
///
/// # Errors
/// When the program faults, its layers make no sense or a limit is reached. What `sink` has
/// seen until then is no complete trace.
pub fn run(
    target: &Target,
    options: RunOptions,
    host: Host,
    sink: &mut dyn TraceSink,
    progress: &mut dyn FnMut(Time),
) -> Result<RunOutcome, RunError> {
    let layers = LayerSource::find(target, options.limits)?;
    let observation = if options.self_check {
        Observation::SelfCheck
    } else {
        Observation::Watch
    };
    let emulate = |listener: Listener| -> Result<_, RunError> {
        let mut program = Program::load(target, &layers, observation, options.limits, host)?;
        program.process.machine.count_cycles();
        let mut emulation = Emulation::new(program, listener, options.limits);
        let arena = layers.arena().filter(|arena| !arena.is_empty());
        emulation.known.extend(arena);
        emulation.record()
    };
    let (ended, recorded) = recording(emulate, sink, progress)?;
    let disassembler = Disassembler::default();
    Ok(RunOutcome {
        exit: ended.exit,
        instructions: ended.instructions,
        locations: recorded
            .instructions
            .into_iter()
            .map(|pc| (pc, target.location(pc, &disassembler)))
            .collect(),
        crossing_loads: recorded.crossing_loads,
        cycles: ended.cycles.map(|total| RunCycles {
            total,
            layers: recorded.cycles,
        }),
        expects_ticks: ended.expects_ticks,
        other_models: ended.other_models,
        requested_exception: ended.requested_exception,
        skipped: ended.skipped,
        ram: ended.ram,
    })
}

/// Runs a program to its end and each of its layers `count` times more on the way, short ones more
/// often ([`inputs_of`]), on other inputs; afterwards everything is as it was, so that the rest of the program sees
/// nothing of it. One list a layer. What it prints is dropped; files are as `folder` has them.
///
/// # Errors
/// When the program itself fails. A layer that fails on another input is no error.
pub fn try_other_inputs(
    target: &Target,
    limits: Limits,
    count: u64,
    folder: Option<Folder>,
) -> Result<Vec<Vec<OtherInput>>, RunError> {
    let layers = LayerSource::find(target, limits)?;
    let emulate = |listener: Listener| -> Result<_, RunError> {
        let host = Host {
            console: Box::new(|_| ()),
            folder,
        };
        let program = Program::load(target, &layers, Observation::Watch, limits, host)?;
        Emulation::new(program, listener, limits).try_other_inputs(count)
    };
    let mut sink = PatternRecorder::default();
    let (tried, _) = recording(emulate, &mut sink, &mut |_| ())?;
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

/// How a program ended, and the interrupts that it did without.
struct Ended {
    exit: Exit,
    instructions: Time,
    cycles: Option<Cycles>,
    expects_ticks: bool,
    other_models: usize,
    requested_exception: Option<Exception>,
    skipped: Vec<String>,
    ram: RamUse,
}

/// A program, and whom to tell of it.
struct Emulation<'a> {
    program: Program<'a>,
    listener: Listener<'a>,
    limits: Limits,
    /// Memory that layers have named so far: disjoint, ascending.
    known: RangeSet<u64>,
}

impl<'a> Emulation<'a> {
    fn new(mut program: Program<'a>, listener: Listener<'a>, limits: Limits) -> Self {
        program
            .process
            .machine
            .deliver_pages_to(Box::new(move |batch| listener(Message::Accesses(batch))));
        Self {
            program,
            listener,
            limits,
            known: RangeSet::new(),
        }
    }

    fn record(mut self) -> Result<Ended, RunError> {
        let mut begun = None;
        if !self.known.is_empty() {
            self.watch_known()?;
            self.send(Message::Begin(gap(&self.known), 0));
        }
        let mut lowest = LowestStack::default();
        loop {
            let step = self.program.advance()?;
            let now = self.program.now();
            match step {
                ProgramEvent::Begin(layer) => {
                    lowest.end_gap(&mut self.program.process.machine);
                    if !self.known.is_empty() {
                        self.send(Message::End(now));
                    }
                    let layer = with_unlisted(layer, &mut self.known)?;
                    self.watch(bytes_of(&layer.tensors))?;
                    self.send(Message::Begin(layer, now));
                    begun = self.program.process.machine.cycles();
                }
                ProgramEvent::End => {
                    let cycles = self.program.process.machine.cycles_since(begun);
                    cycles
                        .into_iter()
                        .for_each(|it| self.send(Message::Cycles(it)));
                    lowest.end_layer(&mut self.program.process.machine);
                    self.watch_known()?;
                    self.send(Message::End(now));
                    self.send(Message::Begin(gap(&self.known), now));
                }
                ProgramEvent::Exited(exit) => {
                    let machine = &mut self.program.process.machine;
                    machine
                        .finish_check()
                        .map_err(|error| self.program.fault(FaultCause::SelfCheck(error)))?;
                    self.send(Message::End(now));
                    lowest.end_gap(&mut self.program.process.machine);
                    let machine = &self.program.process.machine;
                    return Ok(Ended {
                        exit,
                        instructions: now,
                        cycles: machine.cycles(),
                        expects_ticks: machine.expects_ticks(),
                        other_models: self.program.other_models(),
                        requested_exception: machine.requested_exception(),
                        skipped: self.program.skipped().to_vec(),
                        ram: RamUse::of(self.program.process.target, machine, &lowest),
                    });
                }
            }
        }
    }

    /// For each layer and each other input: `None` if the run succeeded, otherwise why it failed.
    fn try_other_inputs(mut self, count: u64) -> Result<Vec<Vec<Option<String>>>, RunError> {
        let mut layers = Vec::new();
        loop {
            match self.program.advance()? {
                ProgramEvent::Begin(layer) => {
                    let layer = with_unlisted(layer, &mut self.known)?;
                    layers.push(self.vary(&layer, count)?);
                }
                // Each layer is left after its end.
                ProgramEvent::End => {}
                ProgramEvent::Exited(_) => return Ok(layers),
            }
        }
    }

    /// Runs the layer that has just begun on its own input, then on others, and leaves it as
    /// its own input does.
    fn vary(&mut self, layer: &Layer, count: u64) -> Result<Vec<Option<String>>, RunError> {
        let begin = self.program.process.machine.snapshot()?;
        let begun = self.program.now();
        if self.program.advance()? != ProgramEvent::End {
            return Err(self.program.does_not_end(layer).into());
        }
        let end = self.program.process.machine.snapshot()?;
        let instructions = self.program.now() - begun;
        let limits = self.limits_for_others(instructions);
        let others = inputs_of(instructions, count + 1) - 1;
        let left = self.program.process.machine.limits_left();
        self.watch(bytes_of(&layer.tensors))?;
        let mut failures = Vec::new();
        for number in 1..=others {
            self.program.process.machine.restore(&begin)?;
            self.program.is_back_in(layer)?;
            for (position, tensor) in layer.tensors.iter().enumerate() {
                if matches!(tensor.role, Role::Input | Role::State) {
                    let layers = self.program.layers();
                    let bytes = Variation(number).content(layers, position, tensor);
                    self.program.process.machine.write(tensor.address, &bytes)?;
                }
            }
            self.program.process.machine.renew_limits(limits);
            self.send(Message::Begin(layer.clone(), self.program.now()));
            failures.push(match self.program.advance() {
                Ok(ProgramEvent::End) => None,
                Ok(_) => Some("it does not come to its end".to_owned()),
                Err(error) => Some(error.to_string()),
            });
            self.program.process.machine.flush();
            self.send(Message::End(self.program.now()));
        }
        self.program.process.machine.restore(&end)?;
        self.program.has_left_layer()?;
        self.program.process.machine.resume_limits(&left);
        self.program.process.machine.watch(Vec::new())?;
        Ok(failures)
    }

    /// A layer that takes very much longer on another input depends on its data: it need not
    /// be waited for.
    fn limits_for_others(&self, instructions: Time) -> Limits {
        const TIMES: u64 = 16;
        const AT_LEAST: u64 = 1_000_000;
        let most = instructions.saturating_mul(TIMES).saturating_add(AT_LEAST);
        Limits {
            max_instructions: self.limits.max_instructions.min(most),
            ..self.limits
        }
    }

    fn watch(&mut self, ranges: RangeSet<u64>) -> Result<(), RunError> {
        let watches = ranges.into_iter();
        let watches = watches.map(|range| Watch { range, loads: true });
        Ok(self.program.process.machine.watch(watches.collect())?)
    }

    /// Between layers: stores give the tensors' memory a new meaning, loads still need it.
    fn watch_known(&mut self) -> Result<(), RunError> {
        self.watch(self.known.clone())
    }

    /// Whether anybody still listens shows when the next batch is delivered.
    fn send(&self, message: Message) {
        let _ = (self.listener)(message);
    }
}

/// The layer with what earlier layers have named and it does not, and remembers what it names.
pub(super) fn with_unlisted(
    mut layer: Layer,
    known: &mut RangeSet<u64>,
) -> Result<Layer, RecordError> {
    let named = bytes_of(&layer.tensors);
    let mut unlisted = known.clone();
    for range in named.iter() {
        unlisted.remove(range.clone());
    }
    let unlisted = unlisted.iter();
    layer
        .tensors
        .extend(unlisted.map(|range| memory(Role::Unlisted, range)));
    if layer.tensors.len() > MAX_AREAS {
        return Err(RecordError::TooManyAreas {
            layer: layer.name,
            limit: MAX_AREAS,
        });
    }
    known.extend(named);
    Ok(layer)
}

/// Separate stretches of memory that the layers of a program may name; the trace's events have
/// 16 bits for them.
const MAX_AREAS: usize = 16_384;

/// The bytes of these tensors; they may share some.
fn bytes_of(tensors: &[Tensor]) -> RangeSet<u64> {
    let ranges = tensors.iter().filter(|tensor| tensor.size_bytes > 0);
    ranges
        .map(|tensor| tensor.address.0.into()..tensor.end())
        .collect()
}

/// A stretch of memory by its address.
fn memory(role: Role, range: &Range<u64>) -> Tensor {
    Tensor {
        name: format!("{:#010x}", range.start),
        role,
        address: Address(range.start as u32),
        size_bytes: (range.end - range.start) as u32,
        element_type: ElementType::Uint8,
    }
}

pub(super) fn gap(known: &RangeSet<u64>) -> Layer {
    let tensors = known.iter().map(|range| memory(Role::State, range));
    Layer {
        span: Span::Gap,
        name: String::new(),
        operator: String::new(),
        tensors: tensors.collect(),
    }
}
