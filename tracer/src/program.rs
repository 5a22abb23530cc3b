//! A program under way: from mark to mark, with semihosting answered in between.

use crate::explain::Fault;
use crate::machine::{FaultCause, Limits, Machine, MachineError, Observation, Pause};
use crate::marks::{Mark, MarkError, Marks, read_layer};
use crate::record::RecordError;
use crate::semihosting::{self, Console, Reply, Semihosting};
use crate::target::Target;
use dmo_analysis::trace::{Address, Exit, Layer, Time};

/// Why a program has no trace.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RunError {
    #[error(transparent)]
    Marks(#[from] MarkError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{0}")]
    Fault(Box<Fault>),
    #[error("the emulating thread panicked")]
    Panic,
}

/// What a program has come to. The mark itself has been executed.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A layer begins.
    Begin(Layer),
    /// The layer ends.
    End,
    /// The program is at its end.
    Exited(Exit),
}

/// A program between its first instruction and its end.
pub struct Program<'a> {
    target: &'a Target,
    marks: &'a Marks,
    /// The microcontroller that it runs on.
    pub machine: Machine,
    semihosting: Semihosting<'a>,
    /// Name of the layer that it is in.
    layer: Option<String>,
    /// How many layers have begun.
    layers: usize,
}

impl<'a> Program<'a> {
    /// Loads a program; none of it has been executed.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn load(
        target: &'a Target,
        marks: &'a Marks,
        observation: Observation,
        limits: Limits,
        console: Console<'a>,
    ) -> Result<Self, RunError> {
        let mut machine = target.machine(observation, limits)?;
        machine.set_breakpoints(&marks.addresses())?;
        Ok(Self {
            target,
            marks,
            machine,
            semihosting: Semihosting::new(console),
            layer: None,
            layers: 0,
        })
    }

    /// Runs to the next mark or to the end.
    ///
    /// # Errors
    /// When the program cannot go on, or its marks are wrong.
    pub fn advance(&mut self) -> Result<Step, RunError> {
        loop {
            match self.machine.run() {
                Pause::Breakpoint(address) => return self.pass_mark(address),
                Pause::SoftwareBreakpoint(semihosting::BREAKPOINT) => {
                    match self.semihosting.call(&mut self.machine)? {
                        Reply::Continue => {
                            let call = self.machine.register(15);
                            self.machine.skip_to(call.wrapping_add(2))?;
                        }
                        Reply::Exit(status) => return self.exited(Exit::Status(status)),
                    }
                }
                Pause::Hint(next) => self.machine.skip_to(next.0)?,
                Pause::SoftwareBreakpoint(number) => {
                    return Err(self.fault(FaultCause::Breakpoint { number }));
                }
                Pause::Sleep(address) => return self.exited(Exit::Sleep(address)),
                Pause::Loop(address) if self.is_exception_handler(address) => {
                    return Err(self.fault(FaultCause::Handler { address }));
                }
                Pause::Loop(address) => return self.exited(Exit::Loop(address)),
                Pause::Fault(cause) => return Err(self.fault(cause)),
            }
        }
    }

    /// Executed instructions.
    pub fn now(&self) -> Time {
        self.machine.now()
    }

    /// How many layers have begun.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// The program is put back to where it was just after a layer had begun.
    pub fn is_back_in(&mut self, layer: &Layer) {
        self.layer = Some(layer.name.clone());
    }

    /// The program is put behind the end of its layer.
    pub fn has_left_layer(&mut self) {
        self.layer = None;
    }

    /// Why a layer that begins again or exits is an error.
    pub fn does_not_end(&self, layer: &Layer) -> MarkError {
        MarkError::NeverEnds {
            layer: layer.name.clone(),
            how: "it does not come to its end mark".to_owned(),
        }
    }

    fn pass_mark(&mut self, address: Address) -> Result<Step, RunError> {
        let step = match self.marks.at(address) {
            Some(Mark::Begin) => self.begin_layer()?,
            _ => self.end_layer()?,
        };
        // The mark function is nothing but a return.
        let back = self.machine.register(14);
        self.machine.skip_to(back & !1)?;
        Ok(step)
    }

    fn begin_layer(&mut self) -> Result<Step, RunError> {
        let layer = read_layer(&self.machine, &self.target.map, self.layers)?;
        if let Some(outer) = self.layer.take() {
            let inner = layer.name;
            return Err(MarkError::Nested { outer, inner }.into());
        }
        self.layer = Some(layer.name.clone());
        self.layers += 1;
        Ok(Step::Begin(layer))
    }

    fn end_layer(&mut self) -> Result<Step, RunError> {
        let layers = self.layers;
        self.layer
            .take()
            .ok_or(MarkError::EndWithoutBegin { layers })?;
        Ok(Step::End)
    }

    fn exited(&mut self, exit: Exit) -> Result<Step, RunError> {
        let how = describe_exit(exit, self.target);
        if let Some(layer) = self.layer.take() {
            return Err(MarkError::NeverEnds { layer, how }.into());
        }
        if self.layers == 0 {
            return Err(MarkError::NoLayers { how }.into());
        }
        Ok(Step::Exited(exit))
    }

    /// Explains why the program cannot go on.
    pub fn fault(&self, cause: FaultCause) -> RunError {
        let layer = self.layer.as_deref();
        RunError::Fault(Box::new(Fault::new(
            self.target,
            &self.machine,
            cause,
            layer,
        )))
    }

    /// Whether one of the vector table's exception handlers is at this address.
    fn is_exception_handler(&self, address: Address) -> bool {
        const EXCEPTIONS: u32 = 16;
        let Some(vectors) = self.target.boot.vectors else {
            return false;
        };
        let function = self.target.image.symbols.function_at(address.0);
        // Entry 0 is the stack pointer, entry 1 the reset vector.
        (2..EXCEPTIONS)
            .filter_map(|entry| self.machine.read_word(Address(vectors.0 + 4 * entry)))
            .map(|handler| handler & !1)
            .any(|handler| {
                handler == address.0
                    || function.is_some_and(|(symbol, _)| symbol.address == handler)
            })
    }
}

/// How a program ended, in words.
pub fn describe_exit(exit: Exit, target: &Target) -> String {
    let place = |address: Address| match target.image.symbols.function_at(address.0) {
        Some((symbol, offset)) => format!("{address}, {}+{offset:#x}", symbol.name),
        None => address.to_string(),
    };
    match exit {
        Exit::Status(status) => format!("exit status {status}"),
        Exit::Sleep(address) => format!("asleep at {}", place(address)),
        Exit::Loop(address) => format!("endless loop at {}", place(address)),
    }
}
