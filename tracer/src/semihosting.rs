//! Semihosting: what a program may ask of the debugger, by BKPT 0xAB with the operation
//! in r0 and its argument in r1. Exit and console only; the host's files are out of reach.
//!
//! Source: Semihosting for AArch32 and AArch64 (Arm).

use crate::machine::{Machine, MachineError};
use dmo_analysis::trace::Address;

/// The BKPT number of a semihosting call.
pub const BREAKPOINT: u8 = 0xab;

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_READC: u32 = 0x07;
const SYS_ISTTY: u32 = 0x09;
const SYS_FLEN: u32 = 0x0c;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const SYS_ELAPSED: u32 = 0x30;
const SYS_TICKFREQ: u32 = 0x31;

const APPLICATION_EXIT: u32 = 0x20026;
const FAILED: u32 = u32::MAX;

/// Handles of the console, one for each way to open it.
const CONSOLE_IN: u32 = 1;

/// Instructions that count as one hundredth of a second, and as one tick.
const INSTRUCTIONS_PER_CENTISECOND: u64 = 1_000_000;

/// Bytes that a program may print; the rest is dropped.
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// What a program prints.
pub type Console<'a> = Box<dyn FnMut(&[u8]) + Send + 'a>;

/// Answers semihosting calls.
pub struct Semihosting<'a> {
    console: Console<'a>,
    printed_bytes: usize,
}

/// What follows from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The program goes on.
    Continue,
    /// The program has ended with this status.
    Exit(i32),
}

impl<'a> Semihosting<'a> {
    /// Prints what the program prints to `console`.
    pub fn new(console: Console<'a>) -> Self {
        Self {
            console,
            printed_bytes: 0,
        }
    }

    /// Answers the call that the machine is stopped at. The result goes to r0.
    ///
    /// # Errors
    /// When the emulator refuses to write a register or memory.
    pub fn call(&mut self, machine: &mut Machine) -> Result<Reply, MachineError> {
        let (operation, argument) = (machine.register(0), machine.register(1));
        let block = |word: u32| {
            machine
                .read_word(Address(argument.wrapping_add(4 * word)))
                .unwrap_or(0)
        };
        let result = match operation {
            SYS_EXIT if argument == APPLICATION_EXIT => return Ok(Reply::Exit(0)),
            SYS_EXIT => return Ok(Reply::Exit(1)),
            SYS_EXIT_EXTENDED => {
                let status = if block(0) == APPLICATION_EXIT {
                    block(1) as i32
                } else {
                    1
                };
                return Ok(Reply::Exit(status));
            }
            SYS_WRITEC => {
                self.print(machine, argument, 1);
                0
            }
            SYS_WRITE0 => {
                self.print_text(machine, argument);
                0
            }
            SYS_WRITE => {
                let (handle, from, length) = (block(0), block(1), block(2));
                if handle > CONSOLE_IN && handle <= CONSOLE_IN + 2 {
                    self.print(machine, from, length);
                    0
                } else {
                    length
                }
            }
            SYS_OPEN => open(machine, block(0), block(1), block(2)),
            SYS_CLOSE | SYS_ERRNO | SYS_FLEN => 0,
            // Nothing to read: all the bytes that were asked for are missing.
            SYS_READ => block(2),
            SYS_READC => 0,
            SYS_ISTTY => 1,
            SYS_CLOCK => (machine.now() / INSTRUCTIONS_PER_CENTISECOND) as u32,
            SYS_TIME => 0,
            SYS_TICKFREQ => (INSTRUCTIONS_PER_CENTISECOND * 100) as u32,
            SYS_ELAPSED => {
                let now = machine.now().to_le_bytes();
                machine.write(Address(argument), &now)?;
                0
            }
            SYS_GET_CMDLINE => {
                let (buffer, length) = (block(0), block(1));
                if length == 0 {
                    FAILED
                } else {
                    machine.write(Address(buffer), &[0])?;
                    machine.write(Address(argument.wrapping_add(4)), &[0; 4])?;
                    0
                }
            }
            SYS_HEAPINFO => {
                // Zeros: the program knows better from its linker script.
                machine.write(Address(block(0)), &[0; 16])?;
                0
            }
            _ => FAILED,
        };
        machine.set_register(0, result)?;
        Ok(Reply::Continue)
    }

    fn print(&mut self, machine: &Machine, from: u32, length: u32) {
        let left = MAX_OUTPUT_BYTES - self.printed_bytes;
        let length = (length as usize).min(left);
        if let Some(bytes) = machine.read(Address(from), length) {
            self.printed_bytes += length;
            (self.console)(&bytes);
        }
    }

    fn print_text(&mut self, machine: &Machine, from: u32) {
        let left = (MAX_OUTPUT_BYTES - self.printed_bytes) as u32;
        let length = (0..left)
            .find(|&at| {
                machine
                    .read(Address(from.wrapping_add(at)), 1)
                    .is_none_or(|byte| byte[0] == 0)
            })
            .unwrap_or(left);
        self.print(machine, from, length);
    }
}

/// Only the console, named ":tt", can be opened.
fn open(machine: &Machine, name: u32, mode: u32, length: u32) -> u32 {
    let console = length == 3 && machine.read(Address(name), 3).as_deref() == Some(b":tt");
    match mode {
        _ if !console => FAILED,
        0..4 => CONSOLE_IN,
        4..8 => CONSOLE_IN + 1,
        _ => CONSOLE_IN + 2,
    }
}
