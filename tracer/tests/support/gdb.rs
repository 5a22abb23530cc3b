//! QEMU, led from breakpoint to breakpoint by GDB's remote protocol.

use super::tools::Process;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The QEMU that plays the microcontroller.
pub const QEMU: &str = "qemu-system-arm";

/// Longer than any program here runs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes per packet, twice that in digits: QEMU's packets have at most 4096.
const CHUNK_BYTES: usize = 1024;

pub struct Qemu {
    process: Process,
    connection: UnixStream,
    received: Vec<u8>,
    /// Holds the socket.
    _folder: TempDir,
}

/// Why a program has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Breakpoint,
    Exit(u8),
}

impl Qemu {
    /// A board with the program loaded, stopped before its first instruction.
    pub fn start(board: &str, elf: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let socket = folder.path().join("gdb");
        let mut command = Command::new(QEMU);
        command
            .args([
                "-M",
                board,
                "-nographic",
                "-monitor",
                "none",
                "-serial",
                "none",
            ])
            .args([
                "-semihosting-config",
                "enable=on,target=native",
                "-S",
                "-gdb",
            ])
            .arg(format!("unix:{},server=on,wait=off", socket.display()))
            .arg("-kernel")
            .arg(elf);
        let process = Process::start(&mut command)?;
        let connection = connect(&socket)?;
        connection
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| connection.set_write_timeout(Some(PATIENCE)))
            .map_err(|error| error.to_string())?;
        let mut qemu = Self {
            process,
            connection,
            received: Vec::new(),
            _folder: folder,
        };
        qemu.ask("qSupported")?;
        let halted = qemu.ask("?")?;
        if !halted.starts_with('T') {
            return Err(format!("QEMU is not halted: '{halted}'"));
        }
        Ok(qemu)
    }

    pub fn break_at(&mut self, address: u32) -> Result<(), String> {
        self.expect_ok(&format!("Z0,{address:x},2"))
    }

    /// Goes on to the next breakpoint or the end. A breakpoint at the program counter does
    /// not count.
    pub fn resume(&mut self) -> Result<Stop, String> {
        // A single step is not held up by a breakpoint.
        match self.go("s")? {
            Stop::Breakpoint => self.go("c"),
            exit => Ok(exit),
        }
    }

    fn go(&mut self, how: &str) -> Result<Stop, String> {
        let reply = self.ask(how)?;
        if let Some(status) = reply.strip_prefix('W') {
            let digits = status.split(';').next().unwrap_or_default();
            return u8::from_str_radix(digits, 16)
                .map(Stop::Exit)
                .map_err(|error| format!("'{reply}': {error}"));
        }
        // SIGTRAP
        if reply.starts_with("T05") || reply.starts_with("S05") {
            return Ok(Stop::Breakpoint);
        }
        Err(format!("QEMU stopped by '{reply}'"))
    }

    /// Register r0 to r15.
    pub fn register(&mut self, index: usize) -> Result<u32, String> {
        let digits = self.ask("g")?;
        let registers = bytes(&digits)?;
        let register = registers.chunks_exact(4).nth(index);
        let register = register.and_then(|bytes| bytes.try_into().ok());
        register
            .map(u32::from_le_bytes)
            .ok_or_else(|| format!("registers are '{digits}'"))
    }

    pub fn read(&mut self, address: u32, size_bytes: usize) -> Result<Vec<u8>, String> {
        let mut content = Vec::with_capacity(size_bytes);
        while content.len() < size_bytes {
            let length = (size_bytes - content.len()).min(CHUNK_BYTES);
            let at = address + content.len() as u32;
            let digits = self.ask(&format!("m{at:x},{length:x}"))?;
            let chunk = bytes(&digits)?;
            if chunk.len() != length {
                return Err(format!("{length} bytes at {at:#x}: '{digits}'"));
            }
            content.extend(chunk);
        }
        Ok(content)
    }

    /// Exit status of QEMU's process, once its program has ended.
    pub fn finish(self) -> Result<Option<i32>, String> {
        drop(self.connection);
        Ok(self.process.finish(PATIENCE)?.status.code())
    }

    fn expect_ok(&mut self, request: &str) -> Result<(), String> {
        match self.ask(request)?.as_str() {
            "OK" => Ok(()),
            other => Err(format!("'{request}' is answered by '{other}'")),
        }
    }

    /// Sends a packet and waits for the answer.
    fn ask(&mut self, request: &str) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("'{request}': {error}");
        let packet = format!("${request}#{:02x}", checksum(request.as_bytes()));
        self.connection
            .write_all(packet.as_bytes())
            .map_err(failed)?;
        loop {
            if let Some(answer) = self.take_packet() {
                // QEMU may be gone after its last word.
                let _ = self.connection.write_all(b"+");
                return Ok(answer);
            }
            let mut chunk = [0; 4096];
            let length = self.connection.read(&mut chunk).map_err(failed)?;
            if length == 0 {
                return Err(format!("'{request}': QEMU is gone"));
            }
            self.received.extend_from_slice(&chunk[..length]);
        }
    }

    /// The first whole packet of what was received; acknowledgements are dropped.
    fn take_packet(&mut self) -> Option<String> {
        let start = self.received.iter().position(|&byte| byte == b'$')?;
        let length = self.received[start..]
            .iter()
            .position(|&byte| byte == b'#')?;
        let end = start + length;
        if self.received.len() < end + 3 {
            return None;
        }
        let answer = String::from_utf8_lossy(&self.received[start + 1..end]).into_owned();
        self.received.drain(..end + 3);
        Some(answer)
    }
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, &byte| sum.wrapping_add(byte))
}

/// Bytes from their hexadecimal digits.
fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect::<Option<_>>()
        .ok_or_else(|| format!("'{digits}' is not hexadecimal"))
}

fn connect(socket: &Path) -> Result<UnixStream, String> {
    let start = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(connection) => return Ok(connection),
            Err(error) if start.elapsed() > Duration::from_secs(30) => {
                return Err(format!("QEMU opens no socket: {error}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
