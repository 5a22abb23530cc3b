//! The emulated microcontroller: what the rest of the program sees of it. An engine executes its
//! instructions; there are several, and they give the same.
//!
//! | module | what it holds |
//! |---|---|
//! | `engine` | what an engine can do |
//! | `cause`, `inspection`, `limits`, `watch` | what it is told, and what it tells |
//! | `kind` | which engine |
//! | `own` | the engine of this project, `dmo-engine` |
//! | `unicorn` | the engine of Unicorn; all that knows it |

mod cause;
mod engine;
mod inspection;
mod kind;
mod limits;
mod own;
mod settings;
#[cfg(feature = "unicorn")]
mod unicorn;
mod watch;

pub use cause::FaultCause;
pub use engine::Snapshot;
pub use inspection::{CoreState, ExecutionPoint, Inspector};
pub use kind::{EngineKind, UnknownEngine};
pub use limits::{Limits, LimitsLeft};
pub use settings::Settings;
use watch::Precision;
pub use watch::{Batch, Condition, Deliver, MAX_ACCESS_BYTES, Observation, RawAccess, Watch};

use crate::mcu::cpu::Cpu;
use crate::mcu::cycles::Cycles;
use crate::mcu::memory::MemoryMap;
use crate::mcu::self_check::{CheckError, Companion};
use crate::mcu::system::Exception;
use dmo_analysis::trace::{AccessKind, Address, Time};
use dmo_engine::engine::Execution;
pub use dmo_engine::taint::Decision;
use engine::Engine;
use std::ops::Range;

/// Why the machine has stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Pause {
    /// The program counter is at a breakpoint; the instruction there has not executed.
    Breakpoint(Address),
    /// BKPT with this number; the program counter is at it.
    SoftwareBreakpoint(u8),
    /// A hint that does nothing; the program goes on here.
    Hint(Address),
    /// WFI or WFE: asleep, with no interrupt to wake it.
    Sleep(Address),
    /// A branch to itself.
    Loop(Address),
    /// The program cannot go on.
    Fault(FaultCause),
}

/// What depends on data when a function is entered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataMarks {
    /// Bytes that do.
    pub dependent: Vec<Range<u64>>,
    /// Bytes among them that do not after all: arguments on the stack, and where the function returns to.
    pub arguments: Vec<Range<u64>>,
    /// Memory of the function's own, of which nobody asks when it is accessed: the stack.
    pub own: Range<u64>,
    /// Memory that the function is given anew in each call; `None` if all of it is. What it stores
    /// elsewhere a later call may find.
    pub given: Option<Range<u64>>,
    /// Of r0 to r14 those that do, by bit; all flags do.
    pub registers: u16,
    /// Of s0 to s31 those that do, by bit.
    pub singles: u32,
}

/// The emulator refused to do something.
#[derive(Debug, thiserror::Error)]
#[error("the emulator refused to {what}: {reason}")]
pub struct MachineError {
    what: &'static str,
    reason: String,
}

/// An emulated microcontroller. What receives its accesses lives as long as `'a`.
pub struct Machine<'a> {
    engine: Box<dyn Engine<'a> + 'a>,
}

/// An engine that executes the same, and after how many instructions it is compared.
type Accompanied = (Box<dyn Companion>, u64);

/// Instructions after which the translator is compared: enough for loops to run within its code.
const TRANSLATOR_STRIDE: u64 = 4096;

/// Those of our own engines that are not the one that is checked. The interpreter is compared at
/// the end of each block.
fn companions(
    checked: EngineKind,
    cpu: &Cpu,
    map: &MemoryMap,
) -> Result<Vec<Accompanied>, MachineError> {
    let companion = |execution, stride| -> Result<Accompanied, MachineError> {
        Ok((
            Box::new(own::OwnCompanion::new(cpu, execution, map)?),
            stride,
        ))
    };
    let translator = companion(Execution::Translator, TRANSLATOR_STRIDE)?;
    Ok(match checked {
        EngineKind::Interpreter => vec![translator],
        _ => vec![companion(Execution::Interpreter, 0)?, translator],
    })
}

const PROGRAM_COUNTER: usize = 15;
/// The IT bits of XPSR.
const IT_BITS: u32 = 0x0600_fc00;

impl<'a> Machine<'a> {
    /// A machine with empty memory.
    ///
    /// # Errors
    /// When the emulator refuses the memory map.
    pub fn new(
        kind: EngineKind,
        cpu: Cpu,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MachineError> {
        let own = |execution| own::OwnEngine::new(cpu, execution, map, observation, limits);
        let is_checked = observation == Observation::SelfCheck;
        let kind = if is_checked {
            kind.checked()
        } else {
            kind.resolved()
        };
        let mut engine: Box<dyn Engine<'a> + 'a> = match kind {
            #[cfg(feature = "unicorn")]
            EngineKind::Unicorn => {
                Box::new(unicorn::UnicornEngine::new(cpu, map, observation, limits)?)
            }
            EngineKind::Interpreter => Box::new(own(Execution::Interpreter)?),
            _ => Box::new(own(Execution::Translator)?),
        };
        if is_checked {
            engine.accompany(companions(kind, &cpu, map)?);
        }
        Ok(Self { engine })
    }

    /// Where to send the accesses to watched ranges.
    pub fn deliver_to(&mut self, deliver: Deliver<'a>) {
        self.engine.deliver_to(deliver, Precision::Ranges);
    }

    /// The same, for a receiver that compares addresses itself: it may get other accesses to the
    /// same pages too, which takes less time.
    pub fn deliver_pages_to(&mut self, deliver: Deliver<'a>) {
        self.engine.deliver_to(deliver, Precision::Pages);
    }

    /// Notes which of these functions, given by their first instructions, are entered. Once,
    /// before the first run.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn note_entries(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        self.engine.note_entries(addresses)
    }

    /// Those of the noted functions that were entered, in the order of their first entries.
    pub fn entered(&self) -> Vec<u32> {
        self.engine.entered()
    }

    /// Reports accesses to these ranges from now on, and to no others.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn watch(&mut self, watches: Vec<Watch>) -> Result<(), MachineError> {
        self.engine.watch(watches)
    }

    /// Returns `true` if the program expects interrupts of SysTick, which never come.
    pub fn expects_ticks(&self) -> bool {
        self.engine.expects_ticks()
    }

    /// Whether an exception that the program requests, such as PendSV, is a fault. At first it is;
    /// where it is not, it is noted.
    pub fn fault_on_exceptions(&mut self, is_fault: bool) {
        self.engine.fault_on_exceptions(is_fault);
    }

    /// The first exception that was noted. Its handler has not run.
    pub fn requested_exception(&self) -> Option<Exception> {
        self.engine.requested_exception()
    }

    /// Writes memory from outside, read-only memory too.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), MachineError> {
        self.engine.write(address, bytes)
    }

    /// Reads memory from outside; `None` if none is mapped there.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.engine.read(address, size_bytes)
    }

    /// A little-endian word of memory.
    pub fn read_word(&self, address: Address) -> Option<u32> {
        let bytes = self.read(address, 4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// The instruction that the program is stopped at has had memory read or written for it:
    /// what is watched of that becomes accesses of its own.
    pub fn moved(&mut self, kind: AccessKind, address: Address, size_bytes: u32) {
        let start = u64::from(address.0);
        self.engine
            .moved(kind, &(start..start + u64::from(size_bytes)));
    }

    /// Register r0 to r15.
    pub fn register(&self, index: usize) -> u32 {
        self.engine.register(index)
    }

    /// The lowest value that the stack pointer has had while instructions executed, since the last
    /// call or since it was set from outside; `None` where the engine does not measure it.
    pub fn take_lowest_stack_pointer(&mut self) -> Option<u32> {
        self.engine.take_lowest_stack_pointer()
    }

    /// Sets register r0 to r15.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn set_register(&mut self, index: usize, value: u32) -> Result<(), MachineError> {
        self.engine.set_register(index, value)
    }

    /// The program status register.
    pub fn status(&self) -> u32 {
        self.engine.status()
    }

    /// Single-precision floating-point register s0 to s31, as bits; `None` without an FPU.
    pub fn float_register(&self, index: i32) -> Option<u32> {
        self.engine.float_register(index)
    }

    /// Sets single-precision register s0 to s31, as bits.
    ///
    /// # Errors
    /// When the CPU has none.
    pub fn set_float_register(&mut self, index: usize, bits: u32) -> Result<(), MachineError> {
        self.engine.set_float_register(index, bits)
    }

    /// Switches the floating-point unit on, as start-up code does.
    pub fn enable_floating_point(&mut self) {
        self.engine.enable_floating_point();
    }

    /// The limits count from now on.
    pub fn renew_limits(&mut self, limits: Limits) {
        let now = self.now();
        self.engine.allowance_mut().renew(limits, now);
    }

    /// The unused part of the limits, for another machine to go on with.
    pub fn limits_left(&self) -> LimitsLeft {
        self.engine.allowance().left(self.now())
    }

    /// Goes on with what was left of the limits; what has happened since does not count.
    pub fn resume_limits(&mut self, left: &LimitsLeft) {
        let now = self.now();
        self.engine.allowance_mut().resume(left, now);
    }

    /// Executed instructions. At a breakpoint, BKPT or a fault the instruction there counts.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Reports the accesses of conditional instructions whether or not their conditions hold, and
    /// marks them, if the engine can. Before the first run.
    #[must_use]
    pub fn record_every_outcome(&mut self) -> bool {
        self.engine.record_every_outcome()
    }

    /// Addresses of the executed conditional instructions of which it is not known what they access
    /// with the other outcome.
    pub fn unknown_outcomes(&self) -> Vec<u32> {
        self.engine.unknown_outcomes()
    }

    /// Follows from now on which registers and bytes of memory depend on data, if the engine can, and
    /// where that decides what is accessed; or no longer. At first nothing depends. Running takes
    /// longer. False if the engine cannot.
    pub fn follow_data(&mut self, follow: bool) -> bool {
        self.engine.follow_data(follow)
    }

    /// Says what depends on data from now on, where that is followed.
    pub fn mark_data(&mut self, marks: &DataMarks) {
        self.engine.mark_data(marks);
    }

    /// What data have decided so far, where that is followed, by address of the instruction.
    pub fn decisions(&self) -> Vec<(Address, Decision)> {
        self.engine.decisions()
    }

    /// Counts the estimated cycles from now on, where the CPU's timing is known and the engine can.
    /// Before the first run; it makes each one take longer.
    pub fn count_cycles(&mut self) {
        self.engine.count_cycles();
    }

    /// Estimated cycles until now; `None` if they are not counted.
    pub fn cycles(&self) -> Option<Cycles> {
        self.engine.cycles()
    }

    /// Estimated cycles since they were `earlier`.
    pub fn cycles_since(&self, earlier: Option<Cycles>) -> Option<Cycles> {
        Some(self.cycles()?.since(earlier?))
    }

    /// The instruction at the program counter counts as executed, and the program goes on
    /// at `pc`.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn skip_to(&mut self, pc: u32) -> Result<(), MachineError> {
        let now = self.now();
        self.engine.stop_clock_at(now);
        self.set_register(PROGRAM_COUNTER, pc)
    }

    /// As [`Self::skip_to`], at the entry of a function: outside of an IT block, although a call before
    /// may have ended by a fault inside one.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn enter(&mut self, function: u32) -> Result<(), MachineError> {
        self.skip_to(function)?;
        self.engine.set_status(self.status() & !IT_BITS)
    }

    /// Sets these bits of the program status register.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn set_flags(&mut self, mask: u32, flags: u32) -> Result<(), MachineError> {
        let status = self.status() & !mask | flags & mask;
        self.engine.set_status(status)
    }

    /// What functions leave as they find it.
    pub fn settings(&self) -> Settings {
        self.engine.settings()
    }

    /// After a pause at a breakpoint: the instruction there does not count as executed, and
    /// is the first of the next run.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn stay_at(&mut self, breakpoint: Address) -> Result<(), MachineError> {
        let executed = self.now().saturating_sub(1);
        self.engine.stop_clock_at(executed);
        self.engine.withdraw_instruction();
        self.set_register(PROGRAM_COUNTER, breakpoint.0)
    }

    /// After [`Pause::SoftwareBreakpoint`]: goes on with the instruction after BKPT.
    ///
    /// An engine stops there with the IT state of BKPT itself (at a hint it is that of the next
    /// instruction). The next one has the state after that: the condition's last bit and the mask
    /// move up by one, and when nothing of the mask is left, the block ends.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn pass_software_breakpoint(&mut self) -> Result<(), MachineError> {
        self.pass(Address(self.register(PROGRAM_COUNTER)), 2)
    }

    /// Goes on after the instruction of so many bytes at an address, and with the next condition of an IT
    /// block that it is in, although the engine has not executed it.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn pass(&mut self, instruction: Address, bytes: u32) -> Result<(), MachineError> {
        self.skip_to(instruction.0.wrapping_add(bytes))?;
        let status = self.status();
        // Bits 1 and 0 of the IT state, then 7 to 2.
        let state = status >> 25 & 0b11 | status >> 8 & 0b1111_1100;
        let next = match state & 0b111 {
            0 => 0,
            _ => state & 0b1110_0000 | state << 1 & 0b0001_1111,
        };
        let status = status & !IT_BITS | (next & 0b11) << 25 | (next & 0b1111_1100) << 8;
        self.engine.set_status(status)
    }

    /// Stops before the instructions at these addresses from now on, and before no others.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn set_breakpoints(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        self.stop_on_return(addresses, 0)
    }

    /// Stops before the instructions at these addresses from now on, and before no others,
    /// but only where the stack pointer is at `stack_pointer` or above: a function that was
    /// entered with it there has then returned, and the calls inside it have long done so.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn stop_on_return(
        &mut self,
        addresses: &[u32],
        stack_pointer: u32,
    ) -> Result<(), MachineError> {
        self.engine.stop_on_return(addresses, stack_pointer)
    }

    /// Calls `look` at each of these points, in the order in which they are reached. The program is
    /// not stopped: it goes on where it was, even inside an IT block.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn inspect_at(
        &mut self,
        points: &[ExecutionPoint],
        look: Inspector,
    ) -> Result<(), MachineError> {
        self.engine.inspect_at(points, look)
    }

    /// Runs from the program counter until something stops it.
    pub fn run(&mut self) -> Pause {
        self.engine.run()
    }

    /// Ends the self-check: settles the last instruction, replays the stores.
    ///
    /// # Errors
    /// What the self-check found.
    pub fn finish_check(&mut self) -> Result<(), CheckError> {
        self.engine.finish_check()
    }

    /// Delivers the accesses that wait.
    pub fn flush(&mut self) {
        self.engine.flush();
    }

    /// All that the program can change: registers and writable memory.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn snapshot(&self) -> Result<Snapshot, MachineError> {
        self.engine.snapshot()
    }

    /// Goes back to a snapshot. The clock goes on.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError> {
        let now = self.now();
        self.engine.stop_clock_at(now);
        self.engine.restore(snapshot)
    }
}
