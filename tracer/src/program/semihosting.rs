//! Semihosting: what a program may ask of the debugger, by BKPT 0xAB with the operation
//! in r0 and its argument in r1. Exit and console; of the host's files those in one
//! [`Folder`], where the user names one.
//!
//! Source: Semihosting for AArch32 and AArch64 (Arm).

mod access;
#[cfg(unix)]
pub mod folder;
#[cfg(not(unix))]
#[path = "semihosting/no_folder.rs"]
pub mod folder;

use crate::mcu::machine::{Machine, MachineError};
use access::{Access, MAX_FILE_BYTES, MAX_NAME_BYTES};
use dmo_analysis::trace::{AccessKind, Address};
use folder::{Errno, Folder};

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
const SYS_SEEK: u32 = 0x0a;
const SYS_FLEN: u32 = 0x0c;
const SYS_TMPNAM: u32 = 0x0d;
const SYS_REMOVE: u32 = 0x0e;
const SYS_RENAME: u32 = 0x0f;
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
const CONSOLE_ERROR: u32 = CONSOLE_IN + 2;
/// Handles of files are above those of the console.
const FIRST_FILE: u32 = CONSOLE_ERROR + 1;

/// Instructions that count as one hundredth of a second, and as one tick.
const INSTRUCTIONS_PER_CENTISECOND: u64 = 1_000_000;

/// Bytes that a program may print; the rest is dropped.
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Bytes that are moved between a file and memory at once.
const PIECE_BYTES: u32 = 64 << 10;

/// Receives the bytes that a program prints.
pub type Console<'a> = Box<dyn FnMut(&[u8]) + Send + 'a>;

/// The parts of the host that a program can reach through semihosting.
pub struct Host<'a> {
    /// Takes what it prints.
    pub console: Console<'a>,
    /// The folder of its files; `None` if it has no access to files.
    pub folder: Option<Folder>,
}

impl<'a> Host<'a> {
    /// Nothing but a console.
    pub fn console(console: Console<'a>) -> Self {
        Self {
            console,
            folder: None,
        }
    }
}

/// Answers semihosting calls.
pub struct Semihosting<'a> {
    host: Host<'a>,
    printed_bytes: usize,
    /// The user was told that output is dropped.
    told_cut: bool,
    /// The user was told that files are full.
    told_full: bool,
    /// Why the last operation on files failed, as `errno` has it.
    error: u32,
    /// Where the stack of a program begins that does not say so itself; else 0.
    stack_top: u32,
}

/// How a program goes on after a semihosting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The program goes on.
    Continue,
    /// The program has ended with this status.
    Exit(i32),
}

impl<'a> Semihosting<'a> {
    /// The program reaches of the host what `host` has.
    pub fn new(host: Host<'a>) -> Self {
        Self {
            host,
            printed_bytes: 0,
            told_cut: false,
            told_full: false,
            error: 0,
            stack_top: 0,
        }
    }

    /// Answers programs that ask where their stack begins, as those without a vector table do.
    pub fn with_stack_top(self, stack_top: u32) -> Self {
        Self { stack_top, ..self }
    }

    /// Answers the call that the machine is stopped at. The result goes to r0. Memory that it
    /// takes, arguments and names as well as what it prints or writes to a file, counts as loaded
    /// there, also where output is dropped; memory that it fills counts as stored.
    ///
    /// # Errors
    /// When the emulator refuses to write a register or memory.
    pub fn call(&mut self, machine: &mut Machine) -> Result<Reply, MachineError> {
        let (operation, argument) = (machine.register(0), machine.register(1));
        if let Some(status) = exit_status(machine, operation, argument) {
            return Ok(Reply::Exit(status));
        }
        let result = self.answer(machine, operation, argument)?;
        machine.set_register(0, result)?;
        Ok(Reply::Continue)
    }

    /// What the program finds in r0 when it goes on.
    fn answer(
        &mut self,
        machine: &mut Machine,
        operation: u32,
        argument: u32,
    ) -> Result<u32, MachineError> {
        let mut block = |word: u32| load(machine, argument, word);
        Ok(match operation {
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
                match handle {
                    FIRST_FILE.. => self.write_file(machine, handle, from, length),
                    0 | CONSOLE_IN => length,
                    _ => {
                        self.print(machine, from, length);
                        0
                    }
                }
            }
            SYS_READ => {
                let (handle, to, length) = (block(0), block(1), block(2));
                match handle {
                    FIRST_FILE.. => self.read_file(machine, handle, to, length)?,
                    // Nothing to read: all the bytes that were asked for are missing.
                    _ => length,
                }
            }
            SYS_OPEN => {
                let (name, mode) = ([block(0), block(2)], block(1));
                self.open(machine, name, mode)
            }
            SYS_CLOSE => match block(0) {
                handle @ FIRST_FILE.. => {
                    self.on_folder(|folder| folder.close(file_number(handle)).map(|()| 0))
                }
                _ => 0,
            },
            SYS_SEEK => {
                let (number, position) = (file_number(block(0)), block(1).into());
                self.on_folder(|folder| folder.seek(number, position).map(|()| 0))
            }
            SYS_FLEN => match block(0) {
                handle @ FIRST_FILE.. => self.on_folder(|folder| {
                    let length = folder.length(file_number(handle))?;
                    // Lengths are signed in C, and negative ones are failures.
                    i32::try_from(length).map_or(Err(Errno::OVERFLOW), |length| Ok(length as u32))
                }),
                _ => 0,
            },
            SYS_ISTTY => u32::from(block(0) < FIRST_FILE),
            SYS_TMPNAM => {
                let arguments = [block(0), block(1), block(2)];
                temporary_name(machine, arguments)?
            }
            SYS_REMOVE => {
                let place = [block(0), block(1)];
                let name = name(machine, place);
                self.on_folder(|folder| folder.remove(&name?).map(|()| 0))
            }
            SYS_RENAME => {
                let (from, to) = ([block(0), block(1)], [block(2), block(3)]);
                let (from, to) = (name(machine, from), name(machine, to));
                self.on_folder(|folder| folder.rename(&from?, &to?).map(|()| 0))
            }
            SYS_ERRNO => self.error,
            SYS_READC | SYS_TIME => 0,
            SYS_CLOCK => (machine.now() / INSTRUCTIONS_PER_CENTISECOND) as u32,
            SYS_TICKFREQ => (INSTRUCTIONS_PER_CENTISECOND * 100) as u32,
            SYS_ELAPSED => {
                let now = machine.now().to_le_bytes();
                store(machine, argument, &now)?;
                0
            }
            SYS_GET_CMDLINE => {
                let (buffer, length) = (block(0), block(1));
                if length == 0 {
                    FAILED
                } else {
                    store(machine, buffer, &[0])?;
                    store(machine, argument.wrapping_add(4), &[0; 4])?;
                    0
                }
            }
            SYS_HEAPINFO => {
                // Zeros: the program knows better from its linker script.
                let [heap_base, heap_limit, stack_limit] = [0; 3];
                let words = [heap_base, heap_limit, self.stack_top, stack_limit];
                let place = block(0);
                store(machine, place, &words.map(u32::to_le_bytes).concat())?;
                0
            }
            _ => FAILED,
        })
    }

    fn print(&mut self, machine: &mut Machine, from: u32, length: u32) {
        machine.moved(AccessKind::Load, Address(from), length);
        let left = MAX_OUTPUT_BYTES - self.printed_bytes;
        let printed = (length as usize).min(left);
        if let Some(bytes) = machine.read(Address(from), printed) {
            self.printed_bytes += printed;
            (self.host.console)(&bytes);
            if printed < length as usize && !std::mem::replace(&mut self.told_cut, true) {
                self.tell(&format!(
                    "the program has printed {MAX_OUTPUT_BYTES} bytes, the rest is dropped"
                ));
            }
        }
    }

    /// Tells the user something, in a line of its own.
    fn tell(&mut self, what: &str) {
        (self.host.console)(format!("\ndmo-trace: {what}\n").as_bytes());
    }

    fn print_text(&mut self, machine: &mut Machine, from: u32) {
        let length = text_bytes(machine, from);
        // The zero after it is read, too.
        machine.moved(AccessKind::Load, Address(from), length.saturating_add(1));
        self.print(machine, from, length);
    }

    /// The console, named ":tt", or a file.
    fn open(&mut self, machine: &mut Machine, place: [u32; 2], mode: u32) -> u32 {
        let name = name(machine, place);
        if matches!(name.as_deref(), Ok(b":tt")) {
            return match mode {
                0..4 => CONSOLE_IN,
                4..8 => CONSOLE_IN + 1,
                _ => CONSOLE_ERROR,
            };
        }
        self.on_folder(|folder| {
            let access = Access::of_mode(mode).ok_or(Errno::INVAL)?;
            let number = folder.open_file(&name?, access)?;
            Ok(FIRST_FILE + number as u32)
        })
    }

    /// Does something with the folder's files; without a folder there are none.
    fn on_folder(&mut self, work: impl FnOnce(&mut Folder) -> Result<u32, Errno>) -> u32 {
        let result = self.host.folder.as_mut().ok_or(Errno::NOENT);
        result.and_then(work).unwrap_or_else(|error| {
            self.error = error.raw_os_error() as u32;
            FAILED
        })
    }

    /// Gives how many bytes were not written.
    fn write_file(&mut self, machine: &mut Machine, handle: u32, from: u32, length: u32) -> u32 {
        let number = file_number(handle);
        let mut left = length;
        while left > 0 {
            let from = Address(from.wrapping_add(length - left));
            let piece = left.min(PIECE_BYTES);
            let Some(bytes) = machine.read(from, piece as usize) else {
                break;
            };
            let written = self.on_folder(|folder| {
                let written = folder.write(number, &bytes)?;
                Ok(written as u32)
            });
            if written == FAILED {
                break;
            }
            let taken = if written < piece { left } else { piece };
            machine.moved(AccessKind::Load, from, taken);
            left -= written;
            if written < piece {
                self.error = Errno::FBIG.raw_os_error() as u32;
                if !std::mem::replace(&mut self.told_full, true) {
                    self.tell(&format!(
                        "the program may write {MAX_FILE_BYTES} bytes to files, and so far into one; \
                         the rest is dropped"
                    ));
                }
                break;
            }
        }
        left
    }

    /// Gives how many bytes were not read.
    fn read_file(
        &mut self,
        machine: &mut Machine,
        handle: u32,
        to: u32,
        length: u32,
    ) -> Result<u32, MachineError> {
        let number = file_number(handle);
        let mut left = length;
        while left > 0 {
            let to = to.wrapping_add(length - left);
            let piece = left.min(PIECE_BYTES);
            let mut bytes = Vec::new();
            let read = self.on_folder(|folder| {
                bytes = folder.read(number, piece.into())?;
                Ok(bytes.len() as u32)
            });
            if read == FAILED || read == 0 {
                break;
            }
            store(machine, to, &bytes)?;
            left -= read;
        }
        Ok(left)
    }
}

/// A word of the block of arguments that lies at `block`.
fn load(machine: &mut Machine, block: u32, word: u32) -> u32 {
    let address = Address(block.wrapping_add(4 * word));
    machine.moved(AccessKind::Load, address, 4);
    machine.read_word(address).unwrap_or(0)
}

/// With what the program ends, if this operation ends it.
fn exit_status(machine: &mut Machine, operation: u32, argument: u32) -> Option<i32> {
    match operation {
        SYS_EXIT => Some(i32::from(argument != APPLICATION_EXIT)),
        SYS_EXIT_EXTENDED if load(machine, argument, 0) == APPLICATION_EXIT => {
            Some(load(machine, argument, 1) as i32)
        }
        SYS_EXIT_EXTENDED => Some(1),
        _ => None,
    }
}

/// A name for a temporary file, in the folder like all others.
fn temporary_name(
    machine: &mut Machine,
    [buffer, number, length]: [u32; 3],
) -> Result<u32, MachineError> {
    let name = format!("dmo-trace-{number}.tmp\0");
    if number > 255 || name.len() > length as usize {
        return Ok(FAILED);
    }
    store(machine, buffer, name.as_bytes())?;
    Ok(0)
}

/// Fills memory for the program.
fn store(machine: &mut Machine, address: u32, bytes: &[u8]) -> Result<(), MachineError> {
    machine.write(Address(address), bytes)?;
    machine.moved(AccessKind::Store, Address(address), bytes.len() as u32);
    Ok(())
}

/// Length of a text that ends with a zero, or with memory.
fn text_bytes(machine: &Machine, from: u32) -> u32 {
    const PAGE_BYTES: u32 = 4096;
    let mut at = from;
    loop {
        let piece = PAGE_BYTES - at % PAGE_BYTES;
        let Some(bytes) = machine.read(Address(at), piece as usize) else {
            return at - from;
        };
        if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
            return at - from + end as u32;
        }
        match at.checked_add(piece) {
            Some(next) => at = next,
            None => return at - from,
        }
    }
}

fn file_number(handle: u32) -> usize {
    // A handle of the console is no file's.
    handle.checked_sub(FIRST_FILE).unwrap_or(u32::MAX) as usize
}

/// A name in memory, of which the program gives place and length.
fn name(machine: &mut Machine, [place, length]: [u32; 2]) -> Result<Vec<u8>, Errno> {
    if length > MAX_NAME_BYTES {
        return Err(Errno::NAMETOOLONG);
    }
    machine.moved(AccessKind::Load, Address(place), length);
    let name = machine.read(Address(place), length as usize);
    name.ok_or(Errno::FAULT)
}
