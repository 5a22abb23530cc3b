//! The emulated microcontroller. The only file that knows the emulator, Unicorn.
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

use crate::check::{CheckError, Checker, CoreState, Reported};
use crate::clock::Clock;
use crate::cpu::{Cpu, Model};
use crate::decode::{Memory, decode};
use crate::memory::{MemoryMap, RegionKind};
use crate::system::{self, Request, SystemControl};
use dmo_analysis::trace::{AccessKind, Address, Time};
use std::ops::Range;
use std::time::{Duration, Instant};
use unicorn_engine::{
    Arch, ArmCpuModel, Context, HookType, MemType, Mode, Prot, RegisterARM, UcHookId, Unicorn,
    uc_error,
};

/// A load or store of a watched range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawAccess {
    /// When, in executed instructions.
    pub time: Time,
    /// The instruction.
    pub pc: u32,
    /// First byte.
    pub address: u32,
    /// Length in bytes, 1 to 8.
    pub size_bytes: u8,
    /// Load or store.
    pub kind: AccessKind,
}

/// What to report.
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
    /// WFI: asleep, with no interrupt to wake it.
    Sleep(Address),
    /// A branch to itself.
    Loop(Address),
    /// The program cannot go on.
    Fault(FaultCause),
}

/// Why a program cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FaultCause {
    #[error("{size_bytes}-byte {} {} at {address}", kind_name(*.kind), if *.mapped { "is not allowed" } else { "is outside memory" })]
    Access {
        kind: AccessKind,
        address: Address,
        size_bytes: usize,
        mapped: bool,
    },
    #[error("instruction fetch from {address}, where no code is")]
    Fetch { address: Address },
    #[error("undefined instruction")]
    Undefined,
    #[error("{what} at {address}: a real core faults unless the address is a multiple of 4")]
    Unaligned {
        what: &'static str,
        address: Address,
    },
    #[error("floating-point instruction while the FPU is off: the start-up code has not set CPACR")]
    FloatingPointOff,
    #[error("supervisor call (SVC): exceptions are not emulated")]
    SupervisorCall,
    #[error("breakpoint instruction {number}, which is not a semihosting call")]
    Breakpoint { number: u8 },
    #[error(
        "exception {number} of the emulator (18: jump to an even address, which is not Thumb code)"
    )]
    Exception { number: u32 },
    #[error("the program is in an exception handler, an endless loop at {address}")]
    Handler { address: Address },
    #[error("the program asks for a system reset (AIRCR)")]
    Reset,
    #[error("limit of {limit} executed instructions reached\n  hint: --max-instructions")]
    InstructionLimit { limit: u64 },
    #[error("time limit of {} s reached\n  hint: --timeout", .limit.as_secs_f64())]
    Timeout { limit: Duration },
    #[error("self-check: {0}")]
    SelfCheck(CheckError),
    #[error("the emulator stopped without a reason: {0}")]
    Emulator(String),
}

fn kind_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
    }
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

/// Accesses per batch.
const BATCH: usize = 1 << 15;

/// The longest access: a double register.
const MAX_ACCESS_BYTES: u64 = 8;

/// Where a program never is: private peripherals cannot be executed.
const NOWHERE: u64 = system::START;

/// The IT bits of XPSR.
const IT_BITS: u64 = 0x0600_fc00;

/// What the callbacks share.
struct Session {
    clock: Clock,
    watches: Vec<Watch>,
    batch: Vec<RawAccess>,
    deliver: Option<Deliver>,
    pause: Option<Pause>,
    system: SystemControl,
    checker: Option<Checker>,
    limits: Limits,
    deadline: Option<Instant>,
    blocks_until_look: u32,
    /// As far as known: it is looked at when a floating-point instruction comes.
    floating_point_on: bool,
    /// The previous block has floating-point instructions, and the unit was off.
    floating_point_used_off: bool,
}

type Core = Unicorn<'static, Session>;

/// How a machine observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Not at all: no hook but those that end the run. The clock stands still, the limits
    /// do not hold. For benches and for comparing with the others.
    None,
    /// Reports accesses to watched ranges.
    Watch,
    /// The same, and holds every access against an independent decode.
    SelfCheck,
}

/// An emulated microcontroller.
pub struct Machine {
    core: Core,
    observation: Observation,
    memory_hooks: Vec<UcHookId>,
}

/// The state of a machine, see [`Machine::snapshot`].
pub struct Snapshot {
    registers: Context,
    memory: Vec<(u32, Vec<u8>)>,
}

const REGISTERS: [RegisterARM; 15] = [
    RegisterARM::R0,
    RegisterARM::R1,
    RegisterARM::R2,
    RegisterARM::R3,
    RegisterARM::R4,
    RegisterARM::R5,
    RegisterARM::R6,
    RegisterARM::R7,
    RegisterARM::R8,
    RegisterARM::R9,
    RegisterARM::R10,
    RegisterARM::R11,
    RegisterARM::R12,
    RegisterARM::SP,
    RegisterARM::LR,
];

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
            .map(|region| region.range.start as u32..(region.range.end - 1) as u32);
        let session = Session {
            clock: Clock::new(code),
            watches: Vec::new(),
            batch: Vec::new(),
            deliver: None,
            pause: None,
            system: SystemControl::new(cpu.model),
            checker: None,
            limits,
            deadline: None,
            blocks_until_look: 0,
            floating_point_on: false,
            floating_point_used_off: false,
        };
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
            Some(load_system),
            Some(store_system),
        )
        .map_err(refused("map the private peripherals"))?;
        let mut machine = Self {
            core,
            observation,
            memory_hooks: Vec::new(),
        };
        machine.add_hooks().map_err(refused("add a hook"))?;
        Ok(machine)
    }

    fn add_hooks(&mut self) -> Result<(), uc_error> {
        let core = &mut self.core;
        core.add_intr_hook(on_interrupt)?;
        core.add_insn_invalid_hook(on_undefined)?;
        core.add_mem_hook(HookType::MEM_INVALID, 1, 0, on_bad_access)?;
        if self.observation != Observation::None {
            core.add_block_hook(1, 0, on_block)?;
        }
        if self.observation == Observation::SelfCheck {
            core.add_code_hook(1, 0, on_instruction)?;
            core.add_mem_hook(HookType::MEM_READ | HookType::MEM_WRITE, 1, 0, on_access)?;
        }
        Ok(())
    }

    /// Where to send the accesses to watched ranges.
    pub fn deliver_to(&mut self, deliver: Deliver) {
        self.core.get_data_mut().deliver = Some(deliver);
    }

    /// Stops before the instructions at these addresses. Once, before the first run.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn set_breakpoints(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        for &address in addresses {
            let address = u64::from(address);
            self.core
                .add_code_hook(address, address, |core, address, _| {
                    pause(core, Pause::Breakpoint(Address(address as u32)));
                })
                .map_err(refused("add a breakpoint"))?;
        }
        self.core
            .ctl_flush_tb()
            .map_err(refused("drop translations"))
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
                    .add_mem_hook(kind, range.start, range.end - 1, on_access)
                    .map_err(refused("add a memory hook"))?;
                self.memory_hooks.push(hook);
            }
            self.core
                .ctl_flush_tb()
                .map_err(refused("drop translations"))?;
        }
        self.core.get_data_mut().watches = watches;
        Ok(())
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

    /// Reads memory from outside; none where there is no memory.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.core
            .mem_read_as_vec(u64::from(address.0), size_bytes)
            .ok()
    }

    /// A little-endian word of memory.
    pub fn read_word(&self, address: Address) -> Option<u32> {
        let mut bytes = [0; 4];
        self.core
            .mem_read(u64::from(address.0), &mut bytes)
            .ok()
            .map(|()| u32::from_le_bytes(bytes))
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

    /// Single-precision floating-point register s0 to s31, as bits; none without an FPU.
    pub fn float_register(&self, index: i32) -> Option<u32> {
        self.core
            .reg_read(RegisterARM::S0 as i32 + index)
            .ok()
            .map(|value| value as u32)
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
        self.begin_run();
        let pc = u64::from(self.register(15)) | 1;
        let result = self.core.emu_start(pc, NOWHERE, 0, 0);
        self.flush();
        let pause = self.core.get_data_mut().pause.take();
        match (pause, result) {
            (Some(pause), _) => pause,
            (None, Ok(())) => self.stopped_by_itself(),
            (None, Err(error)) => Pause::Fault(FaultCause::Emulator(format!("{error:?}"))),
        }
    }

    fn begin_run(&mut self) {
        if self.observation == Observation::SelfCheck && self.core.get_data().checker.is_none() {
            let memory = self.writable_memory();
            self.core.get_data_mut().checker = Some(Checker::new(memory));
        }
        let session = self.core.get_data_mut();
        if session.deadline.is_none() {
            session.deadline = Instant::now().checked_add(session.limits.timeout);
        }
    }

    fn writable_memory(&self) -> Vec<(u32, Vec<u8>)> {
        let regions = self.core.mem_regions().unwrap_or_default();
        regions
            .iter()
            .filter(|region| region.begin < system::START && region.perms & Prot::WRITE.0 != 0)
            .filter_map(|region| {
                let length = (region.end - region.begin + 1) as usize;
                let bytes = self.core.mem_read_as_vec(region.begin, length).ok()?;
                Some((region.begin as u32, bytes))
            })
            .collect()
    }

    /// The emulator returned and no callback had asked for it: WFI, or a jump to nowhere.
    fn stopped_by_itself(&self) -> Pause {
        let pc = self.register(15);
        let at = |address: u32| {
            let bytes = self.read(Address(address), 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        const WFI: u16 = 0xbf30;
        if at(pc.wrapping_sub(2)) == Some(WFI) {
            return Pause::Sleep(Address(pc.wrapping_sub(2)));
        }
        if at(pc) == Some(WFI) {
            return Pause::Sleep(Address(pc));
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
            memory: self.writable_memory(),
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
        self.core
            .context_restore(&snapshot.registers)
            .map_err(refused("restore the registers"))
    }
}

impl Session {
    /// Hands the batch over; false when nobody listens any more.
    fn deliver_batch(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        match &mut self.deliver {
            Some(deliver) => deliver(batch),
            None => true,
        }
    }

    fn watched(&self, kind: AccessKind, range: &Range<u64>) -> bool {
        self.watches.iter().any(|watch| {
            (watch.loads || kind == AccessKind::Store)
                && range.start < watch.range.end
                && watch.range.start < range.end
        })
    }
}

/// The ranges to hook: from the last byte at which an access may start before the watched
/// range and still touch it. Ranges that are close to each other become one, for each
/// hook costs every access.
fn hook_ranges(watches: &[Watch]) -> Vec<Range<u64>> {
    const NEAR_BYTES: u64 = 256;
    let mut ranges: Vec<Range<u64>> = watches
        .iter()
        .map(|watch| watch.range.start.saturating_sub(MAX_ACCESS_BYTES - 1)..watch.range.end)
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end + NEAR_BYTES => {
                last.end = last.end.max(range.end);
            }
            _ => merged.push(range),
        }
    }
    merged
}

fn pause(core: &mut Unicorn<Session>, pause: Pause) {
    // The first reason counts.
    core.get_data_mut().pause.get_or_insert(pause);
    // Cannot fail while the core runs, and it does: this is called from hooks.
    let _ = core.emu_stop();
}

fn fault(core: &mut Unicorn<Session>, cause: FaultCause) {
    pause(core, Pause::Fault(cause));
}

fn on_interrupt(core: &mut Unicorn<Session>, number: u32) {
    let pc = core.reg_read(RegisterARM::PC).unwrap_or(0);
    let stop = match number {
        2 => Pause::Fault(FaultCause::SupervisorCall),
        7 => {
            let mut code = [0; 2];
            let number = core.mem_read(pc, &mut code).map_or(0, |()| code[0]);
            Pause::SoftwareBreakpoint(number)
        }
        8 => Pause::Fault(FaultCause::Fetch {
            address: Address(pc as u32),
        }),
        number => Pause::Fault(FaultCause::Exception { number }),
    };
    pause(core, stop);
}

fn on_undefined(core: &mut Unicorn<Session>) -> bool {
    fault(core, FaultCause::Undefined);
    false
}

fn on_bad_access(
    core: &mut Unicorn<Session>,
    kind: MemType,
    address: u64,
    size_bytes: usize,
    _value: i64,
) -> bool {
    let address = Address(address as u32);
    let access = |kind, mapped| FaultCause::Access {
        kind,
        address,
        size_bytes,
        mapped,
    };
    let cause = match kind {
        MemType::READ_UNMAPPED => access(AccessKind::Load, false),
        MemType::WRITE_UNMAPPED => access(AccessKind::Store, false),
        MemType::READ_PROT => access(AccessKind::Load, true),
        MemType::WRITE_PROT => access(AccessKind::Store, true),
        _ => FaultCause::Fetch { address },
    };
    fault(core, cause);
    false
}

/// Blocks between two looks at the real time.
const BLOCKS_PER_LOOK: u32 = 1 << 16;

fn on_block(core: &mut Unicorn<Session>, start: u64, size_bytes: u32) {
    let address = start as u32;
    let known = core.get_data_mut().clock.enter(address, size_bytes);
    let block = known.unwrap_or_else(|| {
        // Only the first time: the code is read and decoded.
        let code = core
            .mem_read_as_vec(start, size_bytes as usize)
            .unwrap_or_default();
        core.get_data_mut().clock.learn(address, size_bytes, &code)
    });
    let session = core.get_data_mut();
    let off = !session.floating_point_on;
    if off && (block.floating_point || session.floating_point_used_off) {
        return check_floating_point(core, block.floating_point);
    }
    if block.endless {
        return pause(core, Pause::Loop(Address(address)));
    }
    if session.clock.at_least() >= session.limits.max_instructions {
        let limit = session.limits.max_instructions;
        return fault(core, FaultCause::InstructionLimit { limit });
    }
    match session.blocks_until_look.checked_sub(1) {
        Some(left) => session.blocks_until_look = left,
        None => look_at_time(core),
    }
}

/// A block with floating-point instructions may itself switch the unit on; it is wrong
/// when the unit is still off as the next block begins.
#[cold]
fn check_floating_point(core: &mut Unicorn<Session>, in_this_block: bool) {
    let session = core.get_data_mut();
    session.floating_point_on = session.system.floating_point_enabled();
    if session.floating_point_on {
        return;
    }
    if session.floating_point_used_off {
        return fault(core, FaultCause::FloatingPointOff);
    }
    session.floating_point_used_off = in_this_block;
}

#[cold]
fn look_at_time(core: &mut Unicorn<Session>) {
    let session = core.get_data_mut();
    session.blocks_until_look = BLOCKS_PER_LOOK;
    if session
        .deadline
        .is_some_and(|deadline| Instant::now() > deadline)
    {
        let limit = session.limits.timeout;
        fault(core, FaultCause::Timeout { limit });
    }
}

fn on_access(
    core: &mut Unicorn<Session>,
    kind: MemType,
    address: u64,
    size_bytes: usize,
    value: i64,
) -> bool {
    let pc = core.reg_read(RegisterARM::PC).unwrap_or(0) as u32;
    let kind = match kind {
        MemType::WRITE => AccessKind::Store,
        _ => AccessKind::Load,
    };
    if !address.is_multiple_of(4) && size_bytes >= 4 {
        check_alignment(core, pc, address);
    }
    let session = core.get_data_mut();
    if let Some(checker) = &mut session.checker {
        checker.report(Reported {
            kind,
            address: address as u32,
            size_bytes: size_bytes as u32,
            value: value as u64,
        });
    }
    let moment = session.clock.moment(pc);
    if session.watched(kind, &(address..address + size_bytes as u64)) {
        session.batch.push(RawAccess {
            time: moment.time,
            pc,
            address: address as u32,
            size_bytes: size_bytes as u8,
            kind,
        });
        if session.batch.len() >= BATCH && !session.deliver_batch() {
            let cause = FaultCause::Emulator("nobody listens to the trace".to_owned());
            fault(core, cause);
        }
    }
    if moment.maybe_in_it_block {
        clear_stale_it_bits(core);
    }
    true
}

/// See the top of this file.
fn clear_stale_it_bits(core: &mut Unicorn<Session>) {
    let status = core.reg_read(RegisterARM::XPSR).unwrap_or(0);
    if status & IT_BITS != 0 {
        // Cannot fail: the register exists on every M-profile core.
        let _ = core.reg_write(RegisterARM::XPSR, status & !IT_BITS);
    }
}

/// The emulator lets LDM, LDRD and their kin access unaligned words; a real core faults.
#[cold]
fn check_alignment(core: &mut Unicorn<Session>, pc: u32, address: u64) {
    let [first, second] = fetch(core, pc);
    if let Memory::Access(access) = decode(first, second).memory
        && access.must_be_aligned
    {
        fault(
            core,
            FaultCause::Unaligned {
                what: "LDM, LDRD, PUSH or the like",
                address: Address(address as u32),
            },
        );
    }
}

/// Two halfwords of code.
fn fetch(core: &Unicorn<Session>, pc: u32) -> [u16; 2] {
    let halfword = |address: u64| {
        let mut bytes = [0; 2];
        // Behind the end of memory nothing is executed either.
        let _ = core.mem_read(address, &mut bytes);
        u16::from_le_bytes(bytes)
    };
    [halfword(u64::from(pc)), halfword(u64::from(pc) + 2)]
}

fn on_instruction(core: &mut Unicorn<Session>, pc: u64, _size_bytes: u32) {
    let state = CoreState {
        pc: pc as u32,
        registers: REGISTERS.map(|id| core.reg_read(id).unwrap_or(0) as u32),
        status: core.reg_read(RegisterARM::XPSR).unwrap_or(0) as u32,
    };
    let Some(mut checker) = core.get_data_mut().checker.take() else {
        return;
    };
    checker.execute(&state, |address| fetch(core, address));
    let error = checker.error().cloned();
    core.get_data_mut().checker = Some(checker);
    if let Some(error) = error {
        fault(core, FaultCause::SelfCheck(error));
    }
}

fn load_system(core: &mut Unicorn<Session>, offset: u64, size_bytes: usize) -> u64 {
    let session = core.get_data_mut();
    let now = session.clock.at_least();
    session
        .system
        .load((system::START + offset) as u32, size_bytes, now)
}

fn store_system(core: &mut Unicorn<Session>, offset: u64, size_bytes: usize, value: u64) {
    let session = core.get_data_mut();
    let now = session.clock.at_least();
    let request = session
        .system
        .store((system::START + offset) as u32, size_bytes, value, now);
    if request == Request::Reset {
        fault(core, FaultCause::Reset);
    }
}
