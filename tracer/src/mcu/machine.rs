//! The emulated microcontroller. This file and its folder are all that knows the
//! emulator, Unicorn.
//!
//! What the recorder may rely on, and why it holds:
//!
//! * Every access to a watched range is reported once, with the exact instruction. The
//!   hooks cover the range and the few bytes before it, because Unicorn compares only the
//!   first byte of an access with a hook's range; accesses are filtered exactly here.
//! * A memory hook restores the core's state to find the PC, and with it leaves stale IT
//!   bits behind, which would garble the next block (upstream issue 2309). Each callback
//!   clears them: within a translated block they are always zero, and the block's own
//!   end writes them where it stops inside an IT block.
//! * Translated code depends on which hooks exist, so the translations are dropped
//!   whenever the hooks change, which is only while the program is paused.

mod breakpoints;
mod callbacks;
mod cause;
mod inspection;

pub use cause::FaultCause;
pub use inspection::{CoreState, ExecutionPoint, Inspector};

use crate::mcu::clock::Clock;
use crate::mcu::cpu::{Cpu, Model};
use crate::mcu::memory::{MemoryMap, RegionKind};
use crate::mcu::self_check::{CheckError, Checker};
use crate::mcu::system::{self, Exception, SystemControl};
use callbacks::{REGISTERS, Session};
use dmo_analysis::trace::{AccessKind, Address, Time};
use rangemap::RangeSet;
use std::ops::Range;
use std::time::{Duration, Instant};
use unicorn_engine::{
    Arch, ArmCpuModel, Context, HookType, Mode, Prot, RegisterARM, UcHookId, Unicorn, uc_error,
};

/// A load or store of a watched range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawAccess {
    /// When, in executed instructions.
    pub time: Time,
    /// Address of the instruction.
    pub pc: u32,
    /// First byte.
    pub address: u32,
    /// Length in bytes, 1 to 8.
    pub size_bytes: u8,
    /// Load or store.
    pub kind: AccessKind,
}

/// The accesses to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Addresses.
    pub range: Range<u64>,
    /// Report loads too, not only stores.
    pub loads: bool,
}

/// Receives accesses in batches; false stops the program.
pub type Deliver = Box<dyn FnMut(Vec<RawAccess>) -> bool>;

/// Bounds on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Executed instructions.
    pub max_instructions: u64,
    /// Real time.
    pub timeout: Duration,
}

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

/// The emulator refused to do something.
#[derive(Debug, thiserror::Error)]
#[error("the emulator refused to {what}: {reason}")]
pub struct MachineError {
    what: &'static str,
    reason: String,
}

fn refused(what: &'static str) -> impl Fn(uc_error) -> MachineError {
    move |error| MachineError {
        what,
        reason: format!("{error:?}"),
    }
}

/// The longest access: a double register.
const MAX_ACCESS_BYTES: u64 = 8;

/// Where a program never is: private peripherals cannot be executed.
const NOWHERE: u64 = system::START;

type Core = Unicorn<'static, Session>;

/// How a machine observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Not at all: no hook but those that end the run. The clock stands still, the limits
    /// do not hold. For benches and for comparing with the others.
    None,
    /// Reports accesses to watched ranges.
    Watch,
    /// Watches, and compares every access with an independent decoding of its instruction.
    SelfCheck,
}

/// An emulated microcontroller.
pub struct Machine {
    core: Core,
    observation: Observation,
    memory_hooks: Vec<UcHookId>,
    breakpoints: Vec<UcHookId>,
}

/// Instructions and time that a machine may still use, see [`Machine::limits_left`].
pub struct LimitsLeft {
    limits: Limits,
    last_instruction: Time,
    deadline: Option<Instant>,
    time: Time,
    instant: Instant,
}

/// The state of a machine, see [`Machine::snapshot`].
pub struct Snapshot {
    registers: Context,
    memory: Vec<(u32, Vec<u8>)>,
}

impl Machine {
    /// A machine with empty memory.
    ///
    /// # Errors
    /// When the emulator refuses the memory map.
    pub fn new(
        cpu: Cpu,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MachineError> {
        let code = map
            .regions()
            .iter()
            .filter(|region| region.kind != RegionKind::Device)
            .map(|region| {
                let range = region.range.start as u32..(region.range.end - 1) as u32;
                (range, region.kind == RegionKind::Ram)
            });
        let system = SystemControl::new(cpu.cpu_id);
        let session = Session::new(Clock::new(code), system, limits);
        let mut core =
            Unicorn::new_with_data(Arch::ARM, Mode::THUMB, session).map_err(refused("start"))?;
        // The model must be set before any memory is mapped.
        let model = match cpu.model {
            Model::CortexM3 => ArmCpuModel::CORTEX_M3,
            Model::CortexM4 => ArmCpuModel::CORTEX_M4,
            Model::CortexM7 => ArmCpuModel::CORTEX_M7,
            Model::CortexM33 => ArmCpuModel::CORTEX_M33,
        };
        core.ctl_set_cpu_model(model as i32)
            .map_err(refused("select the CPU model"))?;
        for region in map.regions() {
            let protection = match region.kind {
                RegionKind::Flash => Prot::READ | Prot::EXEC,
                RegionKind::Ram => Prot::ALL,
                RegionKind::Device => Prot::READ | Prot::WRITE,
            };
            core.mem_map(
                region.range.start,
                region.range.end - region.range.start,
                protection,
            )
            .map_err(refused("map memory"))?;
        }
        core.mmio_map(
            system::START,
            system::SIZE_BYTES,
            Some(callbacks::load_system),
            Some(callbacks::store_system),
        )
        .map_err(refused("map the private peripherals"))?;
        let mut machine = Self {
            core,
            observation,
            memory_hooks: Vec::new(),
            breakpoints: Vec::new(),
        };
        machine.add_hooks().map_err(refused("add a hook"))?;
        Ok(machine)
    }

    fn add_hooks(&mut self) -> Result<(), uc_error> {
        let core = &mut self.core;
        core.add_intr_hook(callbacks::on_interrupt)?;
        core.add_insn_invalid_hook(callbacks::on_undefined)?;
        core.add_mem_hook(HookType::MEM_INVALID, 1, 0, callbacks::on_bad_access)?;
        if self.observation != Observation::None {
            core.add_block_hook(1, 0, callbacks::on_block)?;
        }
        if self.observation == Observation::SelfCheck {
            core.add_code_hook(1, 0, callbacks::on_instruction)?;
            core.add_mem_hook(
                HookType::MEM_READ | HookType::MEM_WRITE,
                1,
                0,
                callbacks::on_access,
            )?;
        }
        Ok(())
    }

    /// Where to send the accesses to watched ranges.
    pub fn deliver_to(&mut self, deliver: Deliver) {
        self.core.get_data_mut().deliver = Some(deliver);
    }

    /// Notes which of these functions, given by their first instructions, are entered. Once,
    /// before the first run.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn note_entries(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        for &address in addresses {
            let address = u64::from(address);
            self.core
                .add_code_hook(address, address, |core, address, _| {
                    let entered = &mut core.get_data_mut().entered;
                    let address = address as u32;
                    if !entered.contains(&address) {
                        entered.push(address);
                    }
                })
                .map_err(refused("note a function"))?;
        }
        self.drop_translations()
    }

    /// Those of the noted functions that were entered, in the order of their first entries.
    pub fn entered(&self) -> Vec<u32> {
        self.core.get_data().entered.clone()
    }

    /// Reports accesses to these ranges from now on, and to no others.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn watch(&mut self, watches: Vec<Watch>) -> Result<(), MachineError> {
        self.flush();
        if self.observation == Observation::Watch {
            for hook in self.memory_hooks.drain(..) {
                self.core
                    .remove_hook(hook)
                    .map_err(refused("remove a hook"))?;
            }
            for range in hook_ranges(&watches) {
                // Stores only when no range wants loads.
                let mut kind = HookType::MEM_WRITE;
                if watches.iter().any(|watch| watch.loads) {
                    kind |= HookType::MEM_READ;
                }
                let hook = self
                    .core
                    .add_mem_hook(kind, range.start, range.end - 1, callbacks::on_access)
                    .map_err(refused("add a memory hook"))?;
                self.memory_hooks.push(hook);
            }
            self.drop_translations()?;
        }
        self.core.get_data_mut().watches = watches;
        Ok(())
    }

    /// Returns `true` if the program expects interrupts of SysTick, which never come.
    pub fn expects_ticks(&self) -> bool {
        self.core.get_data().system.expects_ticks()
    }

    /// Whether an exception that the program requests, such as PendSV, is a fault. At first it is;
    /// where it is not, it is noted.
    pub fn fault_on_exceptions(&mut self, is_fault: bool) {
        self.core.get_data_mut().exceptions_are_faults = is_fault;
    }

    /// The first exception that was noted. Its handler has not run.
    pub fn requested_exception(&self) -> Option<Exception> {
        self.core.get_data().requested_exception
    }

    /// Writes memory from outside, read-only memory too.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), MachineError> {
        if let Some(checker) = &mut self.core.get_data_mut().checker {
            checker.write(address.0, bytes);
        }
        self.core
            .mem_write(u64::from(address.0), bytes)
            .map_err(refused("write memory"))
    }

    /// Reads memory from outside; `None` if none is mapped there.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.core
            .mem_read_as_vec(u64::from(address.0), size_bytes)
            .ok()
    }

    /// The instruction that the program is stopped at has had memory read or written for it:
    /// what is watched of that becomes accesses of its own.
    pub fn moved(&mut self, kind: AccessKind, address: Address, size_bytes: u32) {
        let pc = self.register(15);
        let start = u64::from(address.0);
        let range = start..start + u64::from(size_bytes);
        self.core.get_data_mut().report_moved(pc, kind, &range);
        self.flush();
    }

    /// A little-endian word of memory.
    pub fn read_word(&self, address: Address) -> Option<u32> {
        let bytes = self.read(address, 4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// Register r0 to r15.
    pub fn register(&self, index: usize) -> u32 {
        let id = REGISTERS.get(index).copied().unwrap_or(RegisterARM::PC);
        self.core.reg_read(id).unwrap_or(0) as u32
    }

    /// Sets register r0 to r15.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn set_register(&mut self, index: usize, value: u32) -> Result<(), MachineError> {
        let id = REGISTERS.get(index).copied().unwrap_or(RegisterARM::PC);
        // The Thumb bit goes with the program counter.
        let value = u64::from(if index == 15 { value | 1 } else { value });
        self.core
            .reg_write(id, value)
            .map_err(refused("set a register"))
    }

    /// The program status register.
    pub fn status(&self) -> u32 {
        self.core.reg_read(RegisterARM::XPSR).unwrap_or(0) as u32
    }

    /// Single-precision floating-point register s0 to s31, as bits; `None` without an FPU.
    pub fn float_register(&self, index: i32) -> Option<u32> {
        self.core
            .reg_read(RegisterARM::S0 as i32 + index)
            .ok()
            .map(|value| value as u32)
    }

    /// Sets single-precision register s0 to s31, as bits.
    ///
    /// # Errors
    /// When the CPU has none.
    pub fn set_float_register(&mut self, index: usize, bits: u32) -> Result<(), MachineError> {
        self.core
            .reg_write(RegisterARM::S0 as i32 + index as i32, u64::from(bits))
            .map_err(refused("set a floating-point register"))
    }

    /// Switches the floating-point unit on, as start-up code does.
    pub fn enable_floating_point(&mut self) {
        self.core.get_data_mut().floating_point_on = true;
    }

    /// The limits count from now on.
    pub fn renew_limits(&mut self, limits: Limits) {
        let now = self.now();
        let session = self.core.get_data_mut();
        session.limits = limits;
        session.last_instruction = now.saturating_add(limits.max_instructions);
        session.deadline = None;
    }

    /// The unused part of the limits, for another machine to go on with.
    pub fn limits_left(&self) -> LimitsLeft {
        let session = self.core.get_data();
        LimitsLeft {
            limits: session.limits,
            last_instruction: session.last_instruction,
            deadline: session.deadline,
            time: self.now(),
            instant: Instant::now(),
        }
    }

    /// Goes on with what was left of the limits; what has happened since does not count.
    pub fn resume_limits(&mut self, left: &LimitsLeft) {
        let meanwhile = self.now() - left.time;
        let session = self.core.get_data_mut();
        session.limits = left.limits;
        session.last_instruction = left.last_instruction.saturating_add(meanwhile);
        session.deadline = left
            .deadline
            .and_then(|deadline| deadline.checked_add(left.instant.elapsed()));
    }

    /// Executed instructions.
    pub fn now(&self) -> Time {
        self.core.get_data().clock.at(self.register(15))
    }

    /// The instruction at the program counter counts as executed, and the program goes on
    /// at `pc`.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn skip_to(&mut self, pc: u32) -> Result<(), MachineError> {
        let now = self.now();
        self.core.get_data_mut().clock.stop_at(now);
        self.set_register(15, pc)
    }

    /// Runs from the program counter until something stops it.
    pub fn run(&mut self) -> Pause {
        if let Err(error) = self.begin_run() {
            return Pause::Fault(FaultCause::Emulator(error.to_string()));
        }
        // What happens between two runs takes time, and may be all that happens.
        if self.observation != Observation::None
            && let Some(cause) = self.core.get_data().out_of_time()
        {
            return Pause::Fault(cause);
        }
        let pc = u64::from(self.register(15)) | 1;
        let result = self.core.emu_start(pc, NOWHERE, 0, 0);
        self.flush();
        let pause = self.core.get_data_mut().pause.take();
        let pause = match (pause, result) {
            (Some(pause), _) => pause,
            (None, Ok(())) => self.stopped_by_itself(),
            (None, Err(error)) => Pause::Fault(FaultCause::Emulator(format!("{error:?}"))),
        };
        let session = self.core.get_data();
        let off = session.floating_point_used_off && !session.system.floating_point_enabled();
        match pause {
            Pause::Fault(_) => pause,
            _ if off => Pause::Fault(FaultCause::FloatingPointOff),
            _ => pause,
        }
    }

    fn begin_run(&mut self) -> Result<(), MachineError> {
        if self.observation == Observation::SelfCheck && self.core.get_data().checker.is_none() {
            let memory = self.writable_memory()?;
            self.core.get_data_mut().checker = Some(Checker::new(memory));
        }
        let session = self.core.get_data_mut();
        if session.deadline.is_none() {
            session.deadline = Instant::now().checked_add(session.limits.timeout);
        }
        Ok(())
    }

    /// All of it or an error: a part would make a snapshot or the self-check worthless.
    fn writable_memory(&self) -> Result<Vec<(u32, Vec<u8>)>, MachineError> {
        let regions = self
            .core
            .mem_regions()
            .map_err(refused("list the memory regions"))?;
        regions
            .iter()
            .filter(|region| region.begin < system::START && region.perms & Prot::WRITE.0 != 0)
            .map(|region| {
                let length = (region.end - region.begin + 1) as usize;
                let bytes = self
                    .core
                    .mem_read_as_vec(region.begin, length)
                    .map_err(refused("read memory"))?;
                Ok((region.begin as u32, bytes))
            })
            .collect()
    }

    /// The emulator returned and no callback had asked for it: WFI, or a jump to nowhere.
    fn stopped_by_itself(&self) -> Pause {
        const WFI: [u8; 2] = [0x30, 0xbf];
        const WIDE_WFI: [u8; 4] = [0xaf, 0xf3, 0x03, 0x80];
        let pc = self.register(15);
        let holds = |address: u32, code: &[u8]| {
            self.read(Address(address), code.len()).as_deref() == Some(code)
        };
        let before = |length: u32| pc.wrapping_sub(length);
        if holds(before(2), &WFI) {
            return Pause::Sleep(Address(before(2)));
        }
        if holds(before(4), &WIDE_WFI) {
            return Pause::Sleep(Address(before(4)));
        }
        Pause::Fault(FaultCause::Fetch {
            address: Address(pc),
        })
    }

    /// Ends the self-check: settles the last instruction, replays the stores.
    ///
    /// # Errors
    /// What the self-check found.
    pub fn finish_check(&mut self) -> Result<(), CheckError> {
        let now = self.now();
        let Some(mut checker) = self.core.get_data_mut().checker.take() else {
            return Ok(());
        };
        checker.finish(now, |address, length| {
            self.read(Address(address), length).unwrap_or_default()
        })
    }

    /// Delivers the accesses that wait.
    pub fn flush(&mut self) {
        self.core.get_data_mut().deliver_batch();
    }

    /// All that the program can change: registers and writable memory.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn snapshot(&self) -> Result<Snapshot, MachineError> {
        Ok(Snapshot {
            registers: self
                .core
                .context_init()
                .map_err(refused("save the registers"))?,
            memory: self.writable_memory()?,
        })
    }

    /// Goes back to a snapshot. The clock goes on.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError> {
        let now = self.now();
        self.core.get_data_mut().clock.stop_at(now);
        for (address, bytes) in &snapshot.memory {
            self.write(Address(*address), bytes)?;
        }
        // The code in that memory may be another than the one that was translated.
        self.drop_translations()?;
        self.core
            .context_restore(&snapshot.registers)
            .map_err(refused("restore the registers"))
    }
}

/// The ranges to hook: from the last byte at which an access may start before the watched
/// range and still touch it. Ranges that are close to each other become one, for each
/// hook costs every access.
fn hook_ranges(watches: &[Watch]) -> Vec<Range<u64>> {
    const NEAR_BYTES: u64 = 256;
    let first = |watch: &Watch| watch.range.start.saturating_sub(MAX_ACCESS_BYTES - 1);
    // Each with what follows closely: ranges that touch become one.
    let near: RangeSet<u64> = watches
        .iter()
        .map(|watch| first(watch)..watch.range.end + NEAR_BYTES)
        .collect();
    near.iter()
        .map(|range| range.start..range.end - NEAR_BYTES)
        .collect()
}
