//! The engine of Unicorn. This file and its folder are all that knows it.
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

mod callbacks;
mod construction;
mod inspection;
mod session;

use super::engine::{Engine, Snapshot};
use super::inspection::{ExecutionPoint, Inspector, Sight};
use super::limits::Allowance;
use super::watch::{self, MAX_ACCESS_BYTES, Precision};
use super::{Accompanied, Deliver, FaultCause, MachineError, Observation, Pause, Settings, Watch};
use crate::mcu::self_check::{CheckError, Checker};
use crate::mcu::system::{self, Exception};
use dmo_analysis::trace::{AccessKind, Address, Time};
use rangemap::RangeSet;
use session::{REGISTERS, Session};
use std::ops::Range;
use unicorn_engine::{Context, HookType, Prot, RegisterARM, UcHookId, Unicorn, uc_error};

fn refused(what: &'static str) -> impl Fn(uc_error) -> MachineError {
    move |error| MachineError {
        what,
        reason: format!("{error:?}"),
    }
}

/// Where a program never is: private peripherals cannot be executed.
const NOWHERE: u64 = system::START;

type Core<'a> = Unicorn<'a, Session<'a>>;

/// A microcontroller emulated by Unicorn.
pub(super) struct UnicornEngine<'a> {
    core: Core<'a>,
    observation: Observation,
    memory_hooks: Vec<UcHookId>,
    breakpoints: Vec<UcHookId>,
    companions: Vec<Accompanied>,
}

impl UnicornEngine<'_> {
    /// Code is translated anew, with the hooks that there are now.
    fn drop_translations(&mut self) -> Result<(), MachineError> {
        self.core
            .ctl_flush_tb()
            .map_err(refused("drop translations"))
    }

    fn begin_run(&mut self) -> Result<(), MachineError> {
        if self.observation == Observation::SelfCheck && self.core.get_data().checker.is_none() {
            let mut checker = Checker::new(self.writable_memory()?);
            for (companion, stride) in std::mem::take(&mut self.companions) {
                checker.follow_by(companion, stride, |address, size_bytes| {
                    self.read(Address(address), size_bytes)
                });
            }
            self.core.get_data_mut().checker = Some(checker);
        }
        let (state, floats) = (
            callbacks::core_state(&self.core, self.register(15)),
            self.floats(),
        );
        if let Some(checker) = &mut self.core.get_data_mut().checker {
            checker.begin(&state, floats.as_ref());
        }
        self.allowance_mut().begin();
        Ok(())
    }

    /// s0 to s31.
    fn floats(&self) -> Option<[u32; 32]> {
        let mut floats = [0; 32];
        for (index, register) in (0..).zip(&mut floats) {
            *register = self.float_register(index)?;
        }
        Some(floats)
    }

    /// A run has stopped: what the check has found is why, if it has found something.
    fn pause_check(&mut self, pause: Pause) -> Pause {
        if self.observation != Observation::SelfCheck {
            return pause;
        }
        let (pc, floats) = (self.register(15), self.floats());
        let Some(checker) = &mut self.core.get_data_mut().checker else {
            return pause;
        };
        checker.pause(pc, floats.as_ref());
        match checker.error() {
            Some(error) => Pause::Fault(FaultCause::SelfCheck(error.clone())),
            None => pause,
        }
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
}

impl Sight for UnicornEngine<'_> {
    fn register(&self, index: usize) -> u32 {
        self.core.register(index)
    }

    fn float_register(&self, index: i32) -> Option<u32> {
        self.core.float_register(index)
    }

    fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.core.read(address, size_bytes)
    }
}

impl<'a> Engine<'a> for UnicornEngine<'a> {
    fn accompany(&mut self, companions: Vec<Accompanied>) {
        self.companions = companions;
    }

    fn deliver_to(&mut self, deliver: Deliver<'a>, _: Precision) {
        self.core.get_data_mut().deliver = Some(deliver);
    }

    fn note_entries(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
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

    fn entered(&self) -> Vec<u32> {
        self.core.get_data().entered.clone()
    }

    fn watch(&mut self, watches: Vec<Watch>) -> Result<(), MachineError> {
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

    fn moved(&mut self, kind: AccessKind, range: &Range<u64>) {
        let pc = self.register(15);
        let session = self.core.get_data_mut();
        let time = session.clock.executing(pc).time;
        for access in watch::moved(&session.watches, (time, pc), kind, range) {
            session.report(access);
        }
        self.flush();
    }

    fn flush(&mut self) {
        self.core.get_data_mut().deliver_batch();
    }

    fn expects_ticks(&self) -> bool {
        self.core.get_data().system.expects_ticks()
    }

    fn fault_on_exceptions(&mut self, is_fault: bool) {
        self.core.get_data_mut().exceptions_are_faults = is_fault;
    }

    fn requested_exception(&self) -> Option<Exception> {
        self.core.get_data().requested_exception
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), MachineError> {
        if let Some(checker) = &mut self.core.get_data_mut().checker {
            checker.write(address.0, bytes);
        }
        self.core
            .mem_write(u64::from(address.0), bytes)
            .map_err(refused("write memory"))
    }

    fn take_lowest_stack_pointer(&mut self) -> Option<u32> {
        // It would take a hook on every instruction.
        None
    }

    fn set_register(&mut self, index: usize, value: u32) -> Result<(), MachineError> {
        let id = REGISTERS.get(index).copied().unwrap_or(RegisterARM::PC);
        // The Thumb bit goes with the program counter.
        let value = u64::from(if index == 15 { value | 1 } else { value });
        self.core
            .reg_write(id, value)
            .map_err(refused("set a register"))
    }

    fn status(&self) -> u32 {
        self.core.reg_read(RegisterARM::XPSR).unwrap_or(0) as u32
    }

    fn set_status(&mut self, status: u32) -> Result<(), MachineError> {
        self.core
            .reg_write(RegisterARM::XPSR, u64::from(status))
            .map_err(refused("set the status register"))
    }

    fn settings(&self) -> Settings {
        // 0 where the core has no such register.
        let read = |register| self.core.reg_read(register).unwrap_or(0) as u32;
        Settings {
            floating_point: read(RegisterARM::FPSCR) & Settings::FLOATING_POINT,
            masks: [
                read(RegisterARM::PRIMASK),
                read(RegisterARM::BASEPRI),
                read(RegisterARM::FAULTMASK),
            ],
            control: read(RegisterARM::CONTROL) & Settings::CONTROL,
        }
    }

    fn set_float_register(&mut self, index: usize, bits: u32) -> Result<(), MachineError> {
        self.core
            .reg_write(RegisterARM::S0 as i32 + index as i32, u64::from(bits))
            .map_err(refused("set a floating-point register"))
    }

    fn enable_floating_point(&mut self) {
        self.core.get_data_mut().floating_point_on = true;
    }

    fn allowance(&self) -> &Allowance {
        &self.core.get_data().allowance
    }

    fn allowance_mut(&mut self) -> &mut Allowance {
        &mut self.core.get_data_mut().allowance
    }

    fn now(&self) -> Time {
        self.core.get_data().clock.at(self.register(15))
    }

    fn stop_clock_at(&mut self, executed: Time) {
        self.core.get_data_mut().clock.stop_at(executed);
    }

    fn withdraw_instruction(&mut self) {
        if let Some(checker) = &mut self.core.get_data_mut().checker {
            checker.withdraw();
        }
    }

    fn stop_on_return(
        &mut self,
        addresses: &[u32],
        stack_pointer: u32,
    ) -> Result<(), MachineError> {
        for hook in self.breakpoints.drain(..) {
            self.core
                .remove_hook(hook)
                .map_err(refused("remove a breakpoint"))?;
        }
        for &address in addresses {
            let address = u64::from(address);
            let hook = self
                .core
                .add_code_hook(address, address, move |core, address, _| {
                    callbacks::on_breakpoint(core, address as u32, stack_pointer);
                })
                .map_err(refused("add a breakpoint"))?;
            self.breakpoints.push(hook);
        }
        self.drop_translations()
    }

    fn inspect_at(
        &mut self,
        points: &[ExecutionPoint],
        look: Inspector,
    ) -> Result<(), MachineError> {
        inspection::add_hooks(&mut self.core, points, look).map_err(refused("add a hook"))?;
        self.drop_translations()
    }

    fn run(&mut self) -> Pause {
        if let Err(error) = self.begin_run() {
            return Pause::Fault(FaultCause::Emulator(error.to_string()));
        }
        // What happens between two runs takes time, and may be all that happens.
        if self.observation != Observation::None
            && let Some(cause) = self.allowance().out_of_time()
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
        let pause = match pause {
            Pause::Fault(_) => pause,
            _ if off => Pause::Fault(FaultCause::FloatingPointOff),
            _ => pause,
        };
        self.pause_check(pause)
    }

    fn finish_check(&mut self) -> Result<(), CheckError> {
        let now = self.now();
        let Some(mut checker) = self.core.get_data_mut().checker.take() else {
            return Ok(());
        };
        checker.finish(now, |address, length| {
            self.read(Address(address), length).unwrap_or_default()
        })
    }

    fn snapshot(&self) -> Result<Snapshot, MachineError> {
        let registers = self
            .core
            .context_init()
            .map_err(refused("save the registers"))?;
        Ok(Snapshot {
            registers: Box::new(registers),
            memory: self.writable_memory()?,
        })
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError> {
        let registers: &Context = snapshot.registers()?;
        for (address, bytes) in &snapshot.memory {
            self.write(Address(*address), bytes)?;
        }
        // The code in that memory may be another than the one that was translated.
        self.drop_translations()?;
        self.core
            .context_restore(registers)
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
