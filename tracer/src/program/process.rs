//! A program under way, from breakpoint to breakpoint: what it asks of the debugger is answered in
//! between.

use crate::mcu::machine::{FaultCause, Limits, Machine, MachineError, Observation, Pause};
use crate::program::semihosting::{self, Host, Reply, Semihosting};
use crate::program::target::Target;
use dmo_analysis::trace::{Address, Exit};

/// Why a program has stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt {
    /// It is at a breakpoint. The instruction there has not been executed, but counts as such:
    /// [`Machine::stay_at`].
    Breakpoint(Address),
    /// It is at its end.
    Exited(Exit),
    /// It cannot go on.
    Fault(FaultCause),
}

/// A program on its microcontroller.
pub struct Process<'a> {
    /// The program.
    pub target: &'a Target,
    /// The microcontroller.
    pub machine: Machine<'a>,
    semihosting: Semihosting<'a>,
    /// The event register: set by SEV, cleared by the next WFE, which does not wait then.
    has_event: bool,
    /// How often the program has asked the host for something.
    pub(super) host_calls: u64,
}

/// Numbers of hints.
const WFE: u16 = 2;
const SEV: u16 = 4;

impl<'a> Process<'a> {
    /// Loads a program; none of it has been executed.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn load(
        target: &'a Target,
        observation: Observation,
        limits: Limits,
        host: Host<'a>,
    ) -> Result<Self, MachineError> {
        let semihosting = match target.boot.vectors {
            Some(_) => Semihosting::new(host),
            None => Semihosting::new(host).with_stack_top(target.boot.stack_top),
        };
        Ok(Self {
            target,
            machine: target.machine(observation, limits)?,
            semihosting,
            has_event: false,
            host_calls: 0,
        })
    }

    /// Runs to the next breakpoint, or to the end of the program.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn run(&mut self) -> Result<Halt, MachineError> {
        loop {
            match self.machine.run() {
                Pause::Breakpoint(address) => return Ok(Halt::Breakpoint(address)),
                Pause::SoftwareBreakpoint(semihosting::BREAKPOINT) => {
                    self.host_calls += 1;
                    match self.semihosting.call(&mut self.machine)? {
                        Reply::Continue => self.machine.pass_software_breakpoint()?,
                        Reply::Exit(status) => return Ok(Halt::Exited(Exit::Status(status))),
                    }
                }
                Pause::Hint(next) => {
                    let mut lengths = [2, 4].into_iter();
                    self.has_event |= lengths.any(|bytes| {
                        self.hint_at(next.0.wrapping_sub(bytes)) == Some((SEV, bytes))
                    });
                    self.machine.skip_to(next.0)?;
                }
                Pause::Sleep(address) if self.has_event => match self.hint_at(address.0) {
                    Some((WFE, bytes)) => {
                        self.has_event = false;
                        self.machine.pass(address, bytes)?;
                    }
                    _ => return Ok(Halt::Exited(Exit::Sleep(address))),
                },
                Pause::SoftwareBreakpoint(number) => {
                    return Ok(Halt::Fault(FaultCause::Breakpoint { number }));
                }
                Pause::Sleep(address) => return Ok(Halt::Exited(Exit::Sleep(address))),
                Pause::Loop(address) if self.is_exception_handler(address) => {
                    return Ok(Halt::Fault(FaultCause::Handler { address }));
                }
                Pause::Loop(address) => return Ok(Halt::Exited(Exit::Loop(address))),
                Pause::Fault(cause) => return Ok(Halt::Fault(cause)),
            }
        }
    }

    /// The number of the hint at an address, and its length in bytes.
    fn hint_at(&self, address: u32) -> Option<(u16, u32)> {
        let bytes = self.machine.read(Address(address), 4)?;
        let halves = [[bytes[0], bytes[1]], [bytes[2], bytes[3]]].map(u16::from_le_bytes);
        match halves {
            [0xf3af, second @ 0x8000..=0x8004] => Some((second & 0xf, 4)),
            [first @ 0xbf00..=0xbf40, _] if first & 0xf == 0 => Some((first >> 4 & 0xf, 2)),
            _ => None,
        }
    }

    /// At a function's entry: goes on, and stops where it returns.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn stop_when_back(&mut self) -> Result<(), MachineError> {
        let back = self.machine.register(14) & !1;
        let stack_pointer = self.machine.register(13);
        self.machine.stop_on_return(&[back], stack_pointer)
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
