//! What the emulator calls while the program runs: each callback notes what happened, and
//! pauses the program where it must.

use super::session::Session;
use crate::mcu::clock::{Block, is_exclusive_store};
use crate::mcu::decode::{Memory, decode, is_wide};
use crate::mcu::machine::inspection::Sight;
use crate::mcu::machine::{Condition, FaultCause, IT_BITS, Pause, RawAccess};
use crate::mcu::self_check::{CoreState, Reported};
use crate::mcu::system::{self, Request};
use dmo_analysis::trace::{AccessKind, Address};
use unicorn_engine::{MemType, RegisterARM, Unicorn};

pub(super) fn pause(core: &mut Unicorn<Session>, pause: Pause) {
    // The first reason counts.
    core.get_data_mut().pause.get_or_insert(pause);
    // Cannot fail while the core runs, and it does: this is called from hooks.
    let _ = core.emu_stop();
}

fn fault(core: &mut Unicorn<Session>, cause: FaultCause) {
    pause(core, Pause::Fault(cause));
}

/// The instructions with an address that has to be a multiple of 4 on all cores.
const SEVERAL_WORDS: &str = "LDM, LDRD, PUSH or the like";

/// Numbers that the emulator gives its exceptions.
const SUPERVISOR_CALL: u32 = 2;
const PREFETCH_ABORT: u32 = 3;
const DATA_ABORT: u32 = 4;
const BREAKPOINT: u32 = 7;
const EXCEPTION_EXIT: u32 = 8;
const NO_COPROCESSOR: u32 = 17;

pub(super) fn on_interrupt(core: &mut Unicorn<Session>, number: u32) {
    let pc = core.reg_read(RegisterARM::PC).unwrap_or(0) as u32;
    let address = Address(pc);
    let stop = match number {
        _ if !is_thumb(core) => Pause::Fault(FaultCause::NotThumb { address }),
        SUPERVISOR_CALL => Pause::Fault(FaultCause::SupervisorCall),
        BREAKPOINT => Pause::SoftwareBreakpoint(fetch(core, pc)[0] as u8),
        PREFETCH_ABORT | EXCEPTION_EXIT => Pause::Fault(FaultCause::Fetch { address }),
        DATA_ABORT => Pause::Fault(data_abort(core, pc)),
        NO_COPROCESSOR => Pause::Fault(FaultCause::NoCoprocessor),
        number => Pause::Fault(FaultCause::Exception { number }),
    };
    pause(core, stop);
}

/// The T bit of XPSR.
fn is_thumb(core: &Unicorn<Session>) -> bool {
    core.reg_read(RegisterARM::XPSR)
        .is_ok_and(|status| status >> 24 & 1 == 1)
}

/// The emulator raises an abort by itself only where an exclusive is unaligned, and on Armv6-M
/// where any access is.
fn data_abort(core: &Unicorn<Session>, pc: u32) -> FaultCause {
    let [first, second] = fetch(core, pc);
    let Memory::Access(access) = decode(first, second).memory else {
        return FaultCause::Exception { number: DATA_ABORT };
    };
    FaultCause::Unaligned {
        what: match (access.kind, access.bytes) {
            _ if access.must_be_aligned && is_wide(first) => "LDREX or STREX",
            _ if access.must_be_aligned => SEVERAL_WORDS,
            (AccessKind::Load, 2) => "LDRH",
            (AccessKind::Load, _) => "LDR",
            (AccessKind::Store, 2) => "STRH",
            (AccessKind::Store, _) => "STR",
        },
        address: Address(access.address(pc, &registers(core))),
        alignment: access.bytes.min(4),
    }
}

/// Undefined instructions, and the hints that the emulator tells in the same way, with the
/// program counter after them.
pub(super) fn on_undefined(core: &mut Unicorn<Session>) -> bool {
    let pc = core.reg_read(RegisterARM::PC).unwrap_or(0) as u32;
    let behind = core.get_data().clock.is_behind_block(pc);
    let stop = match hint_before(core, pc) {
        _ if !is_thumb(core) => Pause::Fault(FaultCause::NotThumb {
            address: Address(pc),
        }),
        Some(hint) if behind => hint,
        _ => Pause::Fault(FaultCause::Undefined),
    };
    pause(core, stop);
    false
}

/// The hint that ends at `pc`: YIELD and SEV do nothing, WFE and WFI sleep.
fn hint_before(core: &Unicorn<Session>, pc: u32) -> Option<Pause> {
    let narrow = fetch(core, pc.wrapping_sub(2))[0];
    let [first, second] = fetch(core, pc.wrapping_sub(4));
    let (number, length) = match (narrow, first, second) {
        (0xbf10..=0xbf40, _, _) if narrow & 0xf == 0 => (narrow >> 4 & 0xf, 2),
        (_, 0xf3af, 0x8001..=0x8004) => (second & 0xf, 4),
        _ => return None,
    };
    Some(match number {
        2 | 3 => Pause::Sleep(Address(pc.wrapping_sub(length))),
        _ => Pause::Hint(Address(pc)),
    })
}

pub(super) fn on_bad_access(
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

pub(super) fn on_block(core: &mut Unicorn<Session>, start: u64, size_bytes: u32) {
    let address = start as u32;
    let known = core.get_data_mut().clock.enter(address, size_bytes);
    let block = match known {
        Some(block) if !block.writable => block,
        _ => look_at_code(core, address, size_bytes, known),
    };
    let session = core.get_data_mut();
    let off = !session.floating_point_on;
    if off && (block.floating_point || session.floating_point_used_off) {
        return check_floating_point(core, block.floating_point);
    }
    if block.endless {
        session.clock.abandon();
        return pause(core, Pause::Loop(Address(address)));
    }
    if session.clock.at_least() >= session.allowance.last_instruction {
        let cause = session.allowance.out_of_instructions();
        return fault(core, cause);
    }
    match session.blocks_until_look.checked_sub(1) {
        Some(left) => session.blocks_until_look = left,
        None => look_at_time(core),
    }
}

/// Reads the code of a block that is not known, or whose code may have changed.
fn look_at_code(
    core: &mut Unicorn<Session>,
    start: u32,
    size_bytes: u32,
    known: Option<Block>,
) -> Block {
    let code = core
        .mem_read_as_vec(start.into(), size_bytes as usize)
        .unwrap_or_default();
    let clock = &mut core.get_data_mut().clock;
    match known {
        Some(block) if clock.is_unchanged(&block, &code) => block,
        _ => clock.learn(start, size_bytes, &code),
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
    if let Some(cause) = session.allowance.out_of_time() {
        fault(core, cause);
    }
}

pub(super) fn on_access(
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
    let exclusive = core.get_data().clock.has_exclusive_store();
    if exclusive && kind == AccessKind::Load && is_load_of_exclusive_store(core, pc) {
        return true;
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
    let moment = session.clock.executing(pc);
    if session.watched(kind, &(address..address + size_bytes as u64)) {
        let access = RawAccess {
            time: moment.time,
            pc,
            address: address as u32,
            size_bytes: size_bytes as u8,
            kind,
            condition: Condition::Unconditional,
        };
        if !session.report(access) {
            let cause = FaultCause::Emulator("nobody listens to the trace".to_owned());
            fault(core, cause);
        }
    }
    if moment.maybe_in_it_block {
        clear_stale_it_bits(core);
    }
    true
}

#[cold]
fn is_load_of_exclusive_store(core: &mut Unicorn<Session>, pc: u32) -> bool {
    let [first, second] = fetch(core, pc);
    let found = is_exclusive_store(&decode(first, second));
    if found {
        clear_stale_it_bits(core);
    }
    found
}

/// See the top of this file.
fn clear_stale_it_bits(core: &mut Unicorn<Session>) {
    let it_bits = u64::from(IT_BITS);
    let status = core.reg_read(RegisterARM::XPSR).unwrap_or(0);
    if status & it_bits != 0 {
        // Cannot fail: the register exists on every M-profile core.
        let _ = core.reg_write(RegisterARM::XPSR, status & !it_bits);
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
                what: SEVERAL_WORDS,
                address: Address(address as u32),
                alignment: 4,
            },
        );
    }
}

/// r0 to r14.
fn registers(core: &Unicorn<Session>) -> [u32; 15] {
    std::array::from_fn(|index| core.register(index))
}

/// Two halfwords of code.
fn fetch(core: &Unicorn<Session>, pc: u32) -> [u16; 2] {
    let halfword = |address: u64| {
        let mut bytes = [0; 2];
        // After the end of memory nothing is executed either.
        let _ = core.mem_read(address, &mut bytes);
        u16::from_le_bytes(bytes)
    };
    [halfword(u64::from(pc)), halfword(u64::from(pc) + 2)]
}

/// The state before the instruction there.
pub(super) fn core_state(core: &Unicorn<Session>, pc: u32) -> CoreState {
    CoreState {
        pc,
        registers: registers(core),
        status: core.reg_read(RegisterARM::XPSR).unwrap_or(0) as u32,
    }
}

pub(super) fn on_instruction(core: &mut Unicorn<Session>, pc: u64, _size_bytes: u32) {
    let state = core_state(core, pc as u32);
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

pub(super) fn load_system(core: &mut Unicorn<Session>, offset: u64, size_bytes: usize) -> u64 {
    let session = core.get_data_mut();
    let now = session.clock.at_least();
    let address = (system::START + offset) as u32;
    let value = session.system.load(address, size_bytes, now);
    if let Some(checker) = &mut session.checker {
        checker.answer(value as u32);
    }
    value
}

pub(super) fn store_system(
    core: &mut Unicorn<Session>,
    offset: u64,
    size_bytes: usize,
    value: u64,
) {
    let session = core.get_data_mut();
    let now = session.clock.at_least();
    let request = session
        .system
        .store((system::START + offset) as u32, size_bytes, value, now);
    match request {
        Request::Nothing => {}
        Request::Reset => fault(core, FaultCause::Reset),
        Request::Exception(exception) if session.exceptions_are_faults => {
            fault(core, FaultCause::ExceptionRequested { exception });
        }
        Request::Exception(exception) => {
            session.requested_exception.get_or_insert(exception);
        }
    }
}

/// `stack_pointer`: the program passes while its stack reaches further down.
pub(super) fn on_breakpoint(core: &mut Unicorn<Session>, address: u32, stack_pointer: u32) {
    if core.register(13) >= stack_pointer {
        pause(core, Pause::Breakpoint(Address(address)));
    }
}
