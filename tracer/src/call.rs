//! Calls a function of an ELF by the Arm procedure call standard (AAPCS32), so that a kernel
//! runs on any shape without a program made for it.
//!
//! The first four words go to r0 to r3, the others on the stack; where the library has the
//! hard-float ABI, floats go to s0 onwards instead. The function returns to a trap.

pub mod archive;
mod frame;
mod leftovers;
mod preserved;

pub use frame::{Frame, Guards, Overrun};

use crate::elf::image::{Image, ImageError, Segment};
use crate::elf::symbols::nearest;
use crate::mcu::cpu::{self, Cpu, CpuError};
use crate::mcu::cycles::FlashTiming;
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{
    DataMarks, EngineKind, FaultCause, Limits, Machine, MachineError, Observation, Pause,
};
use crate::mcu::memory::{MemoryError, MemoryMap, MemoryOptions, PAGE_BYTES};
use crate::program::data_decision::{DataDecision, decisions};
use crate::program::fault::Fault;
use crate::program::semihosting;
use crate::program::target::Target;
use dmo_analysis::trace::{Address, Location};
use dmo_analysis::wording::grouped;
use frame::{Free, Guard, canary};
pub use leftovers::Leftovers;
use preserved::Preserved;
use std::ops::Range;

/// RAM of the machine that kernels are called on, unless said otherwise: 64 MB.
pub const DEFAULT_RAM: Range<u64> = 0x2000_0000..0x2400_0000;

/// Flash that holds parameters, weights and tables of the calls: 64 MB. No library is linked
/// there.
const CONSTANTS: Range<u64> = 0x1800_0000..0x1c00_0000;

/// Room for the stack at the start of what RAM the library leaves.
const STACK_BYTES: u32 = 64 << 10;

/// Alignment of everything that is placed: what any element type and LDRD need, and more.
pub const ALIGNMENT: u32 = 16;

/// Why a function cannot be called, or does not come back.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CallError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Cpu(#[from] CpuError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(
        "{} must run before all else; nothing of a library is started, and its kernels may do something else without\n  \
         hint: leave it out, or make what it sets up constant",
        name_or_address(.function, .address)
    )]
    Constructor {
        function: Option<String>,
        address: Address,
    },
    #[error("the library has no function '{name}'{}", nearest(.similar))]
    NoFunction { name: String, similar: Vec<String> },
    #[error(
        "{what} of {} bytes does not fit into the CPU's {memory}: {} of [{start:#010x}, {end:#010x}) are free",
        grouped(*size_bytes),
        grouped(*free_bytes)
    )]
    NoRoom {
        what: String,
        memory: &'static str,
        size_bytes: u64,
        free_bytes: u64,
        start: u64,
        end: u64,
    },
    #[error("{what} is {given}; the kernel takes {limit}")]
    Inexpressible {
        what: String,
        given: String,
        limit: String,
    },
    #[error("{what}, operand {operand}, is not a constant of the model, as the kernel requires")]
    NoConstant { what: String, operand: usize },
    #[error("{0}")]
    Fault(Box<Fault>),
    #[error("the function does not return: {how}")]
    NoReturn { how: String },
    #[error(
        "the function returns with {register} changed: what runs after it may compute something else"
    )]
    Settings { register: &'static str },
}

fn name_or_address(function: &Option<String>, address: &Address) -> String {
    match function {
        Some(name) => format!("{}, at {address},", name.escape_debug()),
        None => format!("the function at {address}"),
    }
}

/// A number that the interface of a kernel cannot express.
#[expect(
    clippy::needless_pass_by_value,
    reason = "numbers and texts are given alike"
)]
pub(crate) fn inexpressible(
    what: impl Into<String>,
    given: impl ToString,
    limit: impl Into<String>,
) -> CallError {
    CallError::Inexpressible {
        what: what.into(),
        given: given.to_string(),
        limit: limit.into(),
    }
}

/// Returns `true` if flash has room for this many bytes.
///
/// # Errors
/// When it has not.
pub(crate) fn fits_into_flash(what: &str, size_bytes: u64) -> Result<(), CallError> {
    Free::constants().take(what, size_bytes).map(|_| ())
}

/// An ELF whose functions can be called.
#[derive(Debug)]
pub struct Library {
    target: Target,
    ram: Range<u64>,
    /// What its functions' names begin with, before the names that they are asked for by.
    prefix: String,
}

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// An integer of at most 32 bits, or a pointer.
    Word(u32),
    /// A single-precision number.
    Float(f32),
}

impl From<Address> for Argument {
    fn from(address: Address) -> Self {
        Self::Word(address.0)
    }
}

impl Library {
    /// Reads an ELF program for its functions. `cpu` names the model, by default what the
    /// code was built for.
    ///
    /// # Errors
    /// When the file is no such program, or does not fit into memory.
    pub fn new(elf: &[u8], cpu: Option<&str>, ram: Range<u64>) -> Result<Self, CallError> {
        let image = Image::parse(elf)?;
        if let Some(&address) = image.constructors().first() {
            let function = image.symbols.function_at(address.0);
            return Err(CallError::Constructor {
                function: function.map(|(function, _)| function.name.clone()),
                address,
            });
        }
        let cpu = cpu::choose(cpu, &image.attributes)?;
        let options = MemoryOptions {
            ram: vec![ram.clone()],
            constants: vec![CONSTANTS],
            ..MemoryOptions::default()
        };
        let map = MemoryMap::new(&image, &options, None)?;
        let boot = crate::mcu::boot::Boot {
            pc: 0,
            stack_top: 0,
            vectors: None,
        };
        Ok(Self {
            target: Target {
                image,
                cpu,
                engine: EngineKind::Auto,
                map,
                boot,
                hooks: None,
                interpreted: None,
                stop_after: None,
            },
            ram,
            prefix: String::new(),
        })
    }

    /// The same library, whose functions have this before their names.
    #[must_use]
    pub fn with_prefix(self, prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            ..self
        }
    }

    /// The library, executed by this engine.
    #[must_use]
    pub fn with_engine(mut self, engine: EngineKind) -> Self {
        self.target.engine = engine;
        self
    }

    /// The same on a CPU whose flash memory makes it wait, as far as cycles are estimated.
    #[must_use]
    pub fn with_flash(mut self, flash: Option<FlashTiming>) -> Self {
        self.target.cpu = self.target.cpu.with_flash(flash);
        self
    }

    /// The CPU that it runs on.
    pub fn cpu(&self) -> Cpu {
        self.target.cpu
    }

    /// The image, for its fingerprint and names.
    pub fn image(&self) -> &Image {
        &self.target.image
    }

    /// Returns `true` if it has a function of this name.
    pub fn has(&self, name: &str) -> bool {
        self.address_of(name).is_some()
    }

    /// Where the instruction at `pc` comes from.
    pub fn location(&self, pc: Address, disassembler: &Disassembler) -> Location {
        self.target.location(pc, disassembler)
    }

    /// Where the function of this name begins; `None` if there is none.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.target
            .image
            .symbols
            .named(&format!("{}{name}", self.prefix))
            .filter(|symbol| symbol.function)
            .map(|symbol| symbol.address)
    }

    fn function(&self, name: &str) -> Result<u32, CallError> {
        self.address_of(name).ok_or_else(|| CallError::NoFunction {
            name: name.to_owned(),
            similar: self.target.image.symbols.similar(name),
        })
    }

    /// Room for what a call needs beside the stack.
    pub fn frame(&self) -> Frame {
        let segments = self.target.image.segments.iter();
        let used = segments
            .map(Segment::run_range)
            .filter(|range| range.start < self.ram.end && self.ram.start < range.end)
            .map(|range| range.end)
            .max()
            .unwrap_or(self.ram.start);
        // The buffers begin in a page of their own: in a watched page each access is looked at.
        let stack_top = (used + u64::from(STACK_BYTES)).next_multiple_of(PAGE_BYTES);
        Frame {
            stack_top,
            ram: Free {
                memory: "RAM",
                next: stack_top,
                range: self.ram.clone(),
            },
            constants: Free::constants(),
            data: Vec::new(),
            guards: Vec::new(),
            seed: 0,
            last: None,
        }
    }
}

/// A machine with a library on it, for one call after the other.
pub struct Caller<'a> {
    library: &'a Library,
    /// The machine, to watch and to read buffers.
    pub machine: Machine<'a>,
    limits: Limits,
    leftovers: Leftovers,
    deepest_stack_bytes: Option<u32>,
    follows_data: bool,
}

/// The instruction to which every call returns: BKPT with a number of our own.
const TRAP: u16 = 0xbe00 | TRAP_NUMBER as u16;
const TRAP_NUMBER: u8 = 0xd0;

impl<'a> Caller<'a> {
    /// Loads the library.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn new(
        library: &'a Library,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, CallError> {
        Self::on_map(library, &library.target.map, observation, limits)
    }

    /// Loads the library into a machine whose RAM ends, to the page, with the frame: what is
    /// stored far beyond it faults.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn within(
        library: &'a Library,
        frame: &Frame,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, CallError> {
        let map = library
            .target
            .map
            .with_ram_end(&library.ram, frame.ram.next);
        Self::on_map(library, &map, observation, limits)
    }

    fn on_map(
        library: &'a Library,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, CallError> {
        let mut machine = library.target.machine_with(map, observation, limits)?;
        // No start-up code runs that would do these two.
        for segment in &library.target.image.segments {
            if segment.run_address != segment.load_address {
                machine.write(Address(segment.run_address), &segment.content)?;
            }
        }
        machine.enable_floating_point();
        Ok(Self {
            library,
            machine,
            limits,
            leftovers: Leftovers::Own,
            deepest_stack_bytes: None,
            follows_data: false,
        })
    }

    /// Follows in all calls from now on what the data decide
    /// ([`decisions`](Machine::decisions)): all that lies in the frame's RAM, and what the free stack
    /// and registers without arguments happen to hold. False if the engine cannot.
    #[must_use]
    pub fn follow_data(&mut self) -> bool {
        self.follows_data = self.machine.follow_data(true);
        self.follows_data
    }

    /// What functions find below the stack pointer and in registers from now on.
    pub fn leave(&mut self, leftovers: Leftovers) {
        self.leftovers = leftovers;
    }

    /// What data have decided in the calls so far that were followed.
    pub fn decisions(&self) -> Vec<DataDecision> {
        decisions(&self.machine, &self.library.target)
    }

    /// Puts the arguments and their data in place and calls the function; gives r0.
    ///
    /// # Errors
    /// When there is no such function, it faults, or it does not return.
    pub fn call(
        &mut self,
        function: &str,
        frame: &Frame,
        arguments: &[Argument],
    ) -> Result<u32, CallError> {
        self.fill(frame)?;
        self.call_on(function, frame, arguments)
    }

    /// Puts the data of the frame in place.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn fill(&mut self, frame: &Frame) -> Result<(), CallError> {
        for (address, bytes) in &frame.data {
            self.machine.write(*address, bytes)?;
        }
        Ok(())
    }

    /// What the library's variables hold.
    pub fn variables(&self) -> Vec<Option<Vec<u8>>> {
        let segments = self.library.target.image.segments.iter();
        let ranges = segments.map(Segment::run_range).filter(|range| {
            range.start < self.library.ram.end && self.library.ram.start < range.end
        });
        let contents = ranges.map(|range| {
            let length = (range.end - range.start) as usize;
            self.machine.read(Address(range.start as u32), length)
        });
        contents.collect()
    }

    /// The first byte of the frame's guards that is not as [`Self::fill`] has left it.
    pub fn changed_guard(&self, frame: &Frame) -> Option<Overrun> {
        frame.guards.iter().find_map(|Guard { range, behind }| {
            let start = Address(range.start as u32);
            let length = (range.end - range.start) as usize;
            let found = self.machine.read(start, length).unwrap_or_default();
            let mut expected = canary(range, frame.seed).into_iter().enumerate();
            let changed = expected.find(|&(offset, byte)| found.get(offset) != Some(&byte));
            changed.map(|(offset, _)| Overrun {
                address: Address(start.0 + offset as u32),
                behind: behind.clone(),
            })
        })
    }

    /// Calls the function on memory as an earlier call has left it; gives r0.
    ///
    /// # Errors
    /// When there is no such function, it faults, or it does not return.
    pub fn call_on(
        &mut self,
        function: &str,
        frame: &Frame,
        arguments: &[Argument],
    ) -> Result<u32, CallError> {
        let address = self.library.function(function)?;
        let features = self.library.target.cpu.features;
        self.leftovers
            .leave(&mut self.machine, features, frame.stack_top)?;
        let passed = self.pass(arguments, frame.stack_top)?;
        let stack = passed.stack_pointer;
        // The trap lies on top of the stack: RAM can be executed.
        let trap = (frame.stack_top - u64::from(ALIGNMENT)) as u32;
        self.machine.write(Address(trap), &TRAP.to_le_bytes())?;
        self.machine.set_register(13, stack)?;
        self.machine.set_register(14, trap | 1)?;
        self.machine.renew_limits(self.limits);
        self.machine.enter(address)?;
        if self.follows_data {
            self.machine.mark_data(&passed.marks(frame));
        }
        let (settings, preserved) = (self.machine.settings(), Preserved::of(&self.machine));
        let pause = self.run()?;
        let lowest = self.machine.take_lowest_stack_pointer();
        let deepest = lowest.map(|lowest| trap.saturating_sub(lowest));
        self.deepest_stack_bytes = self.deepest_stack_bytes.max(deepest);
        match pause {
            Pause::SoftwareBreakpoint(TRAP_NUMBER) if self.machine.register(15) == trap => {
                let changed = self.machine.settings().changed(settings);
                let changed = changed.first().copied();
                match changed.or_else(|| preserved.changed(&Preserved::of(&self.machine))) {
                    None => Ok(self.machine.register(0)),
                    Some(register) => Err(CallError::Settings { register }),
                }
            }
            Pause::SoftwareBreakpoint(semihosting::BREAKPOINT) => {
                Err(self.fault(FaultCause::HostCall))
            }
            Pause::SoftwareBreakpoint(number) => Err(self.fault(FaultCause::Breakpoint { number })),
            Pause::Sleep(at) => Err(no_return(format!("asleep at {at}"))),
            Pause::Loop(at) => Err(no_return(format!("endless loop at {at}"))),
            Pause::Breakpoint(at) | Pause::Hint(at) => {
                Err(no_return(format!("breakpoint at {at}")))
            }
            Pause::Fault(cause) => Err(self.fault(cause)),
        }
    }

    /// The deepest stack of the calls so far in bytes, arguments on it included; `None` before the
    /// first, and if the engine does not measure it.
    pub fn deepest_stack_bytes(&self) -> Option<u32> {
        self.deepest_stack_bytes
    }

    /// Runs until something but a hint stops the machine.
    fn run(&mut self) -> Result<Pause, CallError> {
        loop {
            match self.machine.run() {
                Pause::Hint(next) => self.machine.skip_to(next.0)?,
                pause => return Ok(pause),
            }
        }
    }

    /// Passes arguments.
    fn pass(&mut self, arguments: &[Argument], stack_top: u64) -> Result<Passed, CallError> {
        let hard_float = self.library.image().attributes.float_arguments_in_registers;
        let (mut words, mut floats) = (Vec::new(), Vec::new());
        for argument in arguments {
            match *argument {
                Argument::Word(word) => words.push(word),
                Argument::Float(float) if hard_float => floats.push(float),
                Argument::Float(float) => words.push(float.to_bits()),
            }
        }
        for (index, float) in floats.iter().enumerate() {
            self.machine.set_float_register(index, float.to_bits())?;
        }
        for (index, &word) in words.iter().take(4).enumerate() {
            self.machine.set_register(index, word)?;
        }
        let rest = words.get(4..).unwrap_or_default();
        let bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
        // Below the trap; the stack pointer is a multiple of 8 at every entry.
        let top = stack_top as u32 - ALIGNMENT;
        let stack = (top - bytes.len() as u32) & !7;
        if !bytes.is_empty() {
            self.machine.write(Address(stack), &bytes)?;
        }
        Ok(Passed {
            stack_pointer: stack,
            stack_bytes: bytes.len() as u64,
            words: words.len().min(4),
            floats: floats.len(),
        })
    }

    fn fault(&self, cause: FaultCause) -> CallError {
        let fault = Fault::new(&self.library.target, &self.machine, cause, None);
        CallError::Fault(Box::new(fault.in_call()))
    }
}

/// Where a function finds its arguments.
struct Passed {
    /// At its entry; what does not fit into registers lies from there on.
    stack_pointer: u32,
    /// How many bytes of them.
    stack_bytes: u64,
    /// How many core registers hold arguments, from r0 on.
    words: usize,
    /// How many floating-point registers, from s0 on.
    floats: usize,
}

impl Passed {
    /// All in RAM but these arguments, and the registers without them.
    fn marks(&self, frame: &Frame) -> DataMarks {
        let stack = u64::from(self.stack_pointer);
        let trap = frame.stack_top - u64::from(ALIGNMENT);
        // SP and LR are known.
        let known = ((1_u16 << self.words) - 1) | 1 << 13 | 1 << 14;
        let end = frame.ram.next.next_multiple_of(PAGE_BYTES);
        DataMarks {
            dependent: vec![frame.stack(), frame.stack_top..end],
            given: Some(frame.stack().start..end),
            arguments: vec![
                stack..stack + self.stack_bytes,
                trap..trap + size_of_val(&TRAP) as u64,
            ],
            own: frame.stack(),
            registers: !known & 0x7fff,
            singles: u32::MAX.checked_shl(self.floats as u32).unwrap_or(0),
        }
    }
}

fn no_return(how: String) -> CallError {
    CallError::NoReturn { how }
}
