//! Executes a case with Unicorn.

use crate::case::Case;
use crate::cpu::Cpu;
use crate::layout;
use crate::state::{Access, CONTROL_BITS, End, Execution, FLAGS, IT, State};
use dmo_engine::fault::AccessKind;
use unicorn_engine::{
    Arch, Context, HookType, MemType, Mode, Prot, RegisterARM, Unicorn, uc_error,
};

/// Blocks until an execution counts as endless.
const MOST_BLOCKS: usize = 100;
/// Numbers that Unicorn gives its exceptions.
const BREAKPOINT: u32 = 7;
/// Where nothing is.
const NOWHERE: u64 = 0xf000_0000;

/// What the callbacks know.
#[derive(Default)]
struct Session {
    end: Option<End>,
    blocks: usize,
    accesses: Vec<Access>,
}

type Emulator = Unicorn<'static, Session>;

/// Unicorn.
pub struct Theirs {
    emulator: Emulator,
    /// The registers after reset, the floating-point unit in use.
    reset: Context,
    has_floats: bool,
}

const SPECIAL: [RegisterARM; 4] = [
    RegisterARM::PRIMASK,
    RegisterARM::BASEPRI,
    RegisterARM::FAULTMASK,
    RegisterARM::CONTROL,
];

/// r0 to r15.
fn register(index: usize) -> i32 {
    match index {
        13 => RegisterARM::SP as i32,
        14 => RegisterARM::LR as i32,
        15 => RegisterARM::PC as i32,
        index => RegisterARM::R0 as i32 + index as i32,
    }
}

impl Theirs {
    /// A core and its memory.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn new(cpu: &Cpu) -> Result<Self, uc_error> {
        let mut emulator = Unicorn::new_with_data(Arch::ARM, Mode::THUMB, Session::default())?;
        emulator.ctl_set_cpu_model(cpu.model as i32)?;
        let length = |range: &std::ops::Range<u64>| range.end - range.start;
        let (code, ram) = (layout::CODE, layout::RAM);
        emulator.mem_map(code.start, length(&code), Prot::READ | Prot::EXEC)?;
        emulator.mem_map(ram.start, length(&ram), Prot::READ | Prot::WRITE)?;
        let filling = layout::fillings(code.start as u32..code.end as u32);
        emulator.mem_write(code.start, &filling)?;
        emulator.add_intr_hook(on_interrupt)?;
        emulator.add_insn_invalid_hook(on_undefined)?;
        emulator.add_mem_hook(HookType::MEM_INVALID, 1, 0, on_bad_access)?;
        emulator.add_block_hook(1, 0, on_block)?;
        let accesses = HookType::MEM_READ | HookType::MEM_WRITE;
        emulator.add_mem_hook(accesses, 1, 0, on_access)?;
        let has_floats = emulator.reg_write(RegisterARM::S0, 0).is_ok() && cpu.has_floats();
        if has_floats {
            use_floats(&mut emulator)?;
        }
        let reset = emulator.context_init()?;
        Ok(Self {
            emulator,
            reset,
            has_floats,
        })
    }

    /// Executes a case.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn execute(&mut self, case: &Case, ram: &[u8]) -> Result<Execution, uc_error> {
        let code = case.code();
        let start = u64::from(case.address);
        let end = start + code.len() as u64;
        self.enter(case, ram)?;
        self.emulator.mem_write(start, &code)?;
        self.emulator.ctl_remove_cache(start, end + 4)?;
        let result = self.emulator.emu_start(start | 1, NOWHERE, 0, 0);
        let end_of_run = match (self.emulator.get_data_mut().end.take(), result) {
            (Some(end), _) => end,
            (None, Err(error)) => End::Fault(format!("{error:?}")),
            // WFI.
            (None, Ok(())) => End::Hint,
        };
        let state = self.state()?;
        let filling = layout::fillings(start as u32..end as u32);
        self.emulator.mem_write(start, &filling)?;
        self.emulator.ctl_remove_cache(start, end + 4)?;
        Ok(Execution {
            end: end_of_run,
            state,
            accesses: std::mem::take(&mut self.emulator.get_data_mut().accesses),
            time: None,
        })
    }

    fn enter(&mut self, case: &Case, ram: &[u8]) -> Result<(), uc_error> {
        let emulator = &mut self.emulator;
        *emulator.get_data_mut() = Session::default();
        emulator.context_restore(&self.reset)?;
        for (index, value) in case.registers.into_iter().enumerate() {
            emulator.reg_write(register(index), u64::from(value))?;
        }
        emulator.reg_write(RegisterARM::XPSR_NZCVQG, u64::from(case.status))?;
        if self.has_floats {
            emulator.reg_write(RegisterARM::FPSCR, u64::from(case.float_status))?;
            for (index, value) in (0..).zip(case.floats) {
                emulator.reg_write(RegisterARM::S0 as i32 + index, u64::from(value))?;
            }
        }
        emulator.mem_write(layout::RAM.start, ram)
    }

    fn state(&self) -> Result<State, uc_error> {
        let emulator = &self.emulator;
        let mut registers = [0; 16];
        for (index, value) in registers.iter_mut().enumerate() {
            *value = emulator.reg_read(register(index))? as u32;
        }
        let mut special = [0; 4];
        for (value, id) in special.iter_mut().zip(SPECIAL) {
            *value = emulator.reg_read(id)? as u32;
        }
        special[3] &= CONTROL_BITS;
        let mut floats = [0; 32];
        let mut float_status = 0;
        if self.has_floats {
            float_status = emulator.reg_read(RegisterARM::FPSCR)? as u32;
            for (index, value) in (0..).zip(floats.iter_mut()) {
                *value = emulator.reg_read(RegisterARM::S0 as i32 + index)? as u32;
            }
        }
        Ok(State {
            registers,
            status: emulator.reg_read(RegisterARM::XPSR)? as u32 & (FLAGS | IT),
            float_status,
            floats,
            special,
            ram: emulator.mem_read_as_vec(layout::RAM.start, layout::RAM_BYTES as usize)?,
        })
    }
}

/// The first floating-point instruction makes a context, with a status of its own.
fn use_floats(emulator: &mut Emulator) -> Result<(), uc_error> {
    const VMOV_S0_S0: [u8; 4] = [0xb0, 0xee, 0x40, 0x0a];
    let start = u64::from(layout::CASES_START);
    emulator.mem_write(start, &VMOV_S0_S0)?;
    emulator.emu_start(start | 1, start + 4, 0, 0)?;
    let filling = layout::fillings(start as u32..start as u32 + 4);
    emulator.mem_write(start, &filling)?;
    emulator.ctl_remove_cache(start, start + 4)
}

fn finish(emulator: &mut Unicorn<Session>, end: End) {
    emulator.get_data_mut().end.get_or_insert(end);
    // Cannot fail while it runs, and it does: this is called from callbacks.
    let _ = emulator.emu_stop();
}

fn on_interrupt(emulator: &mut Unicorn<Session>, number: u32) {
    let end = match number {
        BREAKPOINT => End::Breakpoint,
        number => End::Fault(format!("exception {number}")),
    };
    finish(emulator, end);
}

fn on_undefined(emulator: &mut Unicorn<Session>) -> bool {
    finish(emulator, End::Fault("undefined".to_owned()));
    false
}

fn on_access(
    emulator: &mut Unicorn<Session>,
    kind: MemType,
    address: u64,
    size_bytes: usize,
    _value: i64,
) -> bool {
    emulator.get_data_mut().accesses.push(Access {
        kind: match kind {
            MemType::WRITE => AccessKind::Store,
            _ => AccessKind::Load,
        },
        address: address as u32,
        size_bytes: size_bytes as u32,
    });
    // The hook leaves stale IT bits behind (upstream issue 2309).
    let status = emulator.reg_read(RegisterARM::XPSR).unwrap_or(0);
    if status & u64::from(IT) != 0 {
        // It exists on every core.
        let _ = emulator.reg_write(RegisterARM::XPSR, status & !u64::from(IT));
    }
    true
}

fn on_bad_access(
    emulator: &mut Unicorn<Session>,
    kind: MemType,
    address: u64,
    _size_bytes: usize,
    _value: i64,
) -> bool {
    finish(emulator, End::Fault(format!("{kind:?} at {address:#x}")));
    false
}

fn on_block(emulator: &mut Unicorn<Session>, _start: u64, _size_bytes: u32) {
    let session = emulator.get_data_mut();
    session.blocks += 1;
    if session.blocks > MOST_BLOCKS {
        finish(emulator, End::Endless);
    }
}
