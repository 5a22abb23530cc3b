//! A program under way: from layer to layer, with semihosting answered in between.

mod events;

use crate::elf::symbols::Symbols;
use crate::mcu::machine::{FaultCause, Limits, MachineError, Observation};
use crate::program::fault::Fault;
use crate::program::hooks::{BufferRange, HookError, HookedCall, Hooks, is_of_library};
use crate::program::interpreter::{EventError, EventKind, Interpreted, ReadError};
use crate::program::marks::{Mark, MarkError, Marks, read_layer};
use crate::program::process::{Halt, Process};
use crate::program::record::{Panicked, RecordError};
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::trace::{Address, Exit, Layer, Time};
use std::collections::BTreeSet;
use std::ops::Range;

/// Why a program has no trace.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RunError {
    #[error(transparent)]
    Marks(#[from] MarkError),
    #[error(transparent)]
    Hooks(#[from] HookError),
    #[error(transparent)]
    Events(#[from] EventError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("more than {limit} layers begin, the limit: hook, or mark, a part of them")]
    TooManyLayers { limit: usize },
    #[error("{0}")]
    Fault(Box<Fault>),
    #[error("the emulation panicked")]
    Panic,
}

impl From<Panicked> for RunError {
    fn from(_: Panicked) -> Self {
        Self::Panic
    }
}

impl From<ReadError> for RunError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Event(error) => Self::Events(error),
            ReadError::Mark(error) => Self::Marks(error),
        }
    }
}

/// Each layer takes a few kilobytes of the report.
const MAX_LAYERS: usize = 1 << 16;

/// Where a program has stopped. A mark has been executed by then, the first instruction of a hooked
/// function has not.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramEvent {
    /// A layer begins.
    Begin(Layer),
    /// The layer ends.
    End,
    /// The program is at its end.
    Exited(Exit),
}

/// How the layers of a program are found.
#[derive(Debug)]
pub enum LayerSource<'a> {
    /// By the marks that it calls.
    Marked(Marks),
    /// By the functions that are hooked; its marks, if it has any, do not count.
    Hooked {
        /// The functions.
        hooks: &'a Hooks,
        /// For each layer the buffers that only the function's return tells, where there are
        /// such: an earlier run has learned them.
        returned: Option<Vec<Vec<BufferRange>>>,
    },
    /// By what an interpreter does with a model that is known.
    Interpreted(&'a Interpreted),
}

impl<'a> LayerSource<'a> {
    /// How the layers of this program are found.
    ///
    /// # Errors
    /// When it has neither marks nor hooks. Where only the return of a hooked function tells
    /// its buffers, the program runs once, and may fail.
    pub fn find(target: &'a Target, limits: Limits) -> Result<Self, RunError> {
        if let Some(interpreted) = &target.interpreted {
            return Ok(Self::Interpreted(interpreted));
        }
        let Some(hooks) = &target.hooks else {
            return Ok(Self::Marked(Marks::find(&target.image)?));
        };
        let mut layers = Self::Hooked {
            hooks,
            returned: None,
        };
        if hooks.need_return() {
            let learned = learn_returned(target, &layers, limits)?;
            layers = Self::Hooked {
                hooks,
                returned: Some(learned),
            };
        }
        Ok(layers)
    }

    /// Where a layer may begin or, by a mark, end.
    fn addresses(&self) -> Vec<u32> {
        match self {
            Self::Marked(marks) => marks.addresses(),
            Self::Hooked { hooks, .. } => hooks.addresses(),
            Self::Interpreted(interpreted) => interpreted.events.addresses(),
        }
    }

    /// Memory that counts from the program's first instruction on, whatever the layers name.
    pub fn arena(&self) -> Option<Range<u64>> {
        match self {
            Self::Interpreted(interpreted) => Some(interpreted.placed.arena.clone()),
            _ => None,
        }
    }
}

fn learn_returned(
    target: &Target,
    layers: &LayerSource,
    limits: Limits,
) -> Result<Vec<Vec<BufferRange>>, RunError> {
    let silent = Host::console(Box::new(|_| ()));
    let mut program = Program::load(target, layers, Observation::Watch, limits, silent)?;
    loop {
        if let ProgramEvent::Exited(_) = program.advance()? {
            return Ok(program.returned);
        }
    }
}

/// A program between its first instruction and its end.
pub struct Program<'a> {
    boundaries: &'a LayerSource<'a>,
    /// The program, on its microcontroller.
    pub process: Process<'a>,
    /// Name of the layer that it is in.
    layer: Option<String>,
    /// How many layers have begun.
    layers: usize,
    /// The call of a hooked function that the program is in or was in last.
    call: Option<HookedCall>,
    /// The operator that begins when the profiler's function returns.
    announced: Option<Layer>,
    /// Models that the program's interpreters run besides.
    other_models: BTreeSet<u32>,
    /// For each hooked layer that has ended the buffers that only the return told.
    returned: Vec<Vec<BufferRange>>,
    /// Entries of functions of the library that no hook knows, as long as none of them was called.
    not_hooked: Vec<u32>,
    /// Names of those that were called between layers, by code that is not of the library.
    skipped: Vec<String>,
}

impl<'a> Program<'a> {
    /// Loads a program; none of it has been executed.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn load(
        target: &'a Target,
        layers: &'a LayerSource<'a>,
        observation: Observation,
        limits: Limits,
        host: Host<'a>,
    ) -> Result<Self, RunError> {
        Self::resume(Process::load(target, observation, limits, host)?, layers)
    }

    /// A program that has been run up to here, and has begun no layer.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn resume(mut process: Process<'a>, layers: &'a LayerSource<'a>) -> Result<Self, RunError> {
        process.machine.fault_on_exceptions(false);
        let not_hooked = match layers {
            LayerSource::Hooked { hooks, .. } => {
                hooks.not_hooked().map(|(entry, _)| entry).collect()
            }
            _ => Vec::new(),
        };
        let mut program = Self {
            boundaries: layers,
            process,
            layer: None,
            layers: 0,
            call: None,
            announced: None,
            other_models: BTreeSet::new(),
            returned: Vec::new(),
            not_hooked,
            skipped: Vec::new(),
        };
        program.stop_between_layers()?;
        Ok(program)
    }

    /// Runs to the next begin or end of a layer, or to the end of the program.
    ///
    /// # Errors
    /// When the program cannot go on, or its layers make no sense.
    pub fn advance(&mut self) -> Result<ProgramEvent, RunError> {
        if let Some(layers) = self.process.target.stop_after
            && self.layer.is_none()
            && self.layers as u64 >= layers.get()
        {
            return self.exited(Exit::Stopped(layers.get()));
        }
        loop {
            let address = match self.process.run()? {
                Halt::Breakpoint(address) => address,
                Halt::Exited(exit) => return self.exited(exit),
                Halt::Fault(cause) => return Err(self.fault(cause)),
            };
            let step = match self.boundaries {
                LayerSource::Marked(marks) => {
                    Some(self.pass_mark(marks.at(address), |program| {
                        let process = &program.process;
                        let map = &process.target.map;
                        Ok(read_layer(&process.machine, map, program.layers)?)
                    })?)
                }
                LayerSource::Hooked { .. } if self.not_hooked.contains(&address.0) => {
                    self.skip(address)?;
                    None
                }
                LayerSource::Hooked { hooks, returned } => {
                    Some(self.pass_hook(hooks, returned.as_deref(), address)?)
                }
                LayerSource::Interpreted(interpreted) => self.pass_event(interpreted, address)?,
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    /// Executed instructions.
    pub fn now(&self) -> Time {
        self.process.machine.now()
    }

    /// How many layers have begun.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// How many models its interpreters have run besides the one that is followed.
    pub fn other_models(&self) -> usize {
        self.other_models.len()
    }

    /// The program is put back to where it was just after a layer had begun.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn is_back_in(&mut self, layer: &Layer) -> Result<(), RunError> {
        self.enter(layer);
        if let Some(call) = &self.call {
            call.stop_on_return(&mut self.process.machine)?;
        } else if let LayerSource::Interpreted(interpreted) = self.boundaries {
            match interpreted.events.kind {
                EventKind::Nodes { .. } => self.process.stop_when_back()?,
                _ => self.stop_at_next_event()?,
            }
        }
        Ok(())
    }

    /// The program has been put after the end of its layer.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn has_left_layer(&mut self) -> Result<(), RunError> {
        self.leave();
        match self.boundaries {
            LayerSource::Interpreted(interpreted) => match interpreted.events.kind {
                EventKind::Marks | EventKind::Nodes { .. } => self.stop_between_layers(),
                EventKind::Profiler | EventKind::Loop { .. } => {
                    Ok(self.process.stop_when_back()?)
                }
            },
            _ => self.stop_between_layers(),
        }
    }

    /// Between layers: stops where one may begin, and where a function is called that no hook
    /// knows.
    pub(super) fn stop_between_layers(&mut self) -> Result<(), RunError> {
        let mut addresses = self.boundaries.addresses();
        addresses.extend(&self.not_hooked);
        Ok(self.process.machine.set_breakpoints(&addresses)?)
    }

    /// Notes the first call of a function of the library that no hook knows.
    fn skip(&mut self, function: Address) -> Result<(), RunError> {
        self.process.machine.stay_at(function)?;
        self.not_hooked.retain(|&entry| entry != function.0);
        let symbols = &self.process.target.image.symbols;
        let name = |address| {
            symbols
                .function_at(address)
                .map(|(symbol, _)| symbol.name.clone())
        };
        let caller = name(self.process.machine.register(14) & !1);
        if !caller.is_some_and(|caller| is_of_library(&caller)) {
            self.skipped.extend(name(function.0));
        }
        self.stop_between_layers()
    }

    /// Functions of the library that a set of hooks is for, that were called and are no layers.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Why a layer that begins again or exits is an error.
    pub fn does_not_end(&self, layer: &Layer) -> MarkError {
        MarkError::NeverEnds {
            layer: layer.name.clone(),
            how: "it does not come to its end".to_owned(),
        }
    }

    fn pass_mark(
        &mut self,
        mark: Option<Mark>,
        read: impl FnOnce(&Self) -> Result<Layer, RunError>,
    ) -> Result<ProgramEvent, RunError> {
        let step = match mark {
            Some(Mark::Begin) => {
                let layer = read(self)?;
                self.begin(layer)?
            }
            _ => self.end_layer()?,
        };
        // The mark function is nothing but a return.
        let back = self.process.machine.register(14);
        self.process.machine.skip_to(back & !1)?;
        Ok(step)
    }

    fn pass_hook(
        &mut self,
        hooks: &Hooks,
        returned: Option<&[Vec<BufferRange>]>,
        address: Address,
    ) -> Result<ProgramEvent, RunError> {
        self.process.machine.stay_at(address)?;
        if self.layer.is_some() {
            self.leave_call(returned, address)
        } else {
            self.enter_call(hooks, returned, address)
        }
    }

    fn enter_call(
        &mut self,
        hooks: &Hooks,
        returned: Option<&[Vec<BufferRange>]>,
        function: Address,
    ) -> Result<ProgramEvent, RunError> {
        let index = self.layers;
        let known = returned
            .map(|layers| layers.get(index).ok_or(HookError::OtherCalls { index }))
            .transpose()?;
        let (call, layer) = HookedCall::enter(
            &self.process.machine,
            &self.process.target.map,
            (hooks, function),
            index,
            known.map(Vec::as_slice),
        )?;
        call.stop_on_return(&mut self.process.machine)?;
        self.call = Some(call);
        self.begun(layer)
    }

    fn leave_call(
        &mut self,
        returned: Option<&[Vec<BufferRange>]>,
        address: Address,
    ) -> Result<ProgramEvent, RunError> {
        if let Some(call) = &self.call {
            let index = self.layers.saturating_sub(1);
            let places = call.finish(&self.process.machine, address)?;
            match returned {
                None => self.returned.push(places),
                Some(known) if known.get(index) == Some(&places) => {}
                Some(_) => return Err(HookError::OtherCalls { index }.into()),
            }
        }
        self.has_left_layer()?;
        Ok(ProgramEvent::End)
    }

    fn begin(&mut self, layer: Layer) -> Result<ProgramEvent, RunError> {
        if let Some(outer) = self.layer.take() {
            let inner = layer.name;
            return Err(MarkError::Nested { outer, inner }.into());
        }
        self.begun(layer)
    }

    fn begun(&mut self, layer: Layer) -> Result<ProgramEvent, RunError> {
        if self.layers >= MAX_LAYERS {
            return Err(RunError::TooManyLayers { limit: MAX_LAYERS });
        }
        self.enter(&layer);
        self.layers += 1;
        Ok(ProgramEvent::Begin(layer))
    }

    fn end_layer(&mut self) -> Result<ProgramEvent, RunError> {
        let layers = self.layers;
        self.leave().ok_or(MarkError::EndWithoutBegin { layers })?;
        Ok(ProgramEvent::End)
    }

    /// What a handler does belongs to the layer that requests its exception.
    fn enter(&mut self, layer: &Layer) {
        self.layer = Some(layer.name.clone());
        self.process.machine.fault_on_exceptions(true);
    }

    /// The name of the layer that the program was in.
    fn leave(&mut self) -> Option<String> {
        self.process.machine.fault_on_exceptions(false);
        self.layer.take()
    }

    fn exited(&mut self, exit: Exit) -> Result<ProgramEvent, RunError> {
        let how = describe_exit(exit, &self.process.target.image.symbols);
        if let Some(layer) = self.layer.take() {
            return Err(match &self.call {
                Some(call) => call.never_returns(how).into(),
                None => MarkError::NeverEnds { layer, how }.into(),
            });
        }
        if self.layers == 0 {
            return Err(match self.boundaries {
                LayerSource::Marked(_) => MarkError::NoLayers { how }.into(),
                LayerSource::Hooked { hooks, .. } => {
                    let functions = hooks.functions();
                    HookError::NoCalls { how, functions }.into()
                }
                LayerSource::Interpreted(_) => EventError::NoOperators { how }.into(),
            });
        }
        Ok(ProgramEvent::Exited(exit))
    }

    /// Explains why the program cannot go on.
    pub fn fault(&self, cause: FaultCause) -> RunError {
        let fault = Fault::new(
            self.process.target,
            &self.process.machine,
            cause,
            self.layer.as_deref(),
        );
        RunError::Fault(Box::new(Fault {
            layers: Some(self.layers),
            ..fault
        }))
    }
}

/// How a program ended, in words.
pub fn describe_exit(exit: Exit, symbols: &Symbols) -> String {
    let place = |address: Address| match symbols.function_at(address.0) {
        Some((symbol, offset)) => format!("{address}, {}+{offset:#x}", symbol.name),
        None => address.to_string(),
    };
    match exit {
        Exit::Status(status) => format!("exit status {status}"),
        Exit::Sleep(address) => format!("asleep at {}", place(address)),
        Exit::Loop(address) => format!("endless loop at {}", place(address)),
        Exit::Stopped(1) => "stopped after 1 layer".to_owned(),
        Exit::Stopped(layers) => format!("stopped after {layers} layers"),
    }
}
