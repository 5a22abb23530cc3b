//! The private peripherals of the core, [0xe0000000, 0xe0100000): what start-up code
//! touches there, answered so that it goes on.
//!
//! Registers keep what is written to them. Those that count or identify are answered:
//! CPUID, SysTick, the cycle counter. Interrupts never happen; a program that requests an exception
//! by itself (PendSV, NMI, an interrupt by its number) is noticed.

use dmo_analysis::trace::Time;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// First address.
pub const START: u64 = 0xe000_0000;
/// Length in bytes.
pub const SIZE_BYTES: u64 = 0x0010_0000;

const DWT_CTRL: u32 = 0xe000_1000;
const DWT_CYCCNT: u32 = 0xe000_1004;
const SYST_CSR: u32 = 0xe000_e010;
const SYST_RVR: u32 = 0xe000_e014;
const SYST_CVR: u32 = 0xe000_e018;
const CPUID: u32 = 0xe000_ed00;
/// Interrupts to be pended, a bit each, 32 words.
const NVIC_ISPR: std::ops::Range<u32> = 0xe000_e200..0xe000_e280;
const ICSR: u32 = 0xe000_ed04;
/// The number of an interrupt to be pended.
const STIR: u32 = 0xe000_ef00;
const AIRCR: u32 = 0xe000_ed0c;
/// Configuration and control.
const CCR: u32 = 0xe000_ed14;
const UNALIGN_TRP: u32 = 1 << 3;
const DIV_0_TRP: u32 = 1 << 4;
const STKALIGN: u32 = 1 << 9;
const CPACR: u32 = 0xe000_ed88;
const MPU_TYPE: u32 = 0xe000_ed90;

/// The state of the private peripherals.
#[derive(Debug)]
pub struct SystemControl {
    cpu_id: u32,
    registers: HashMap<u32, u32>,
    systick_wraps_seen: u64,
    cycles_offset: u64,
}

/// A side effect that a write to a system register requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing.
    Nothing,
    /// A reset of the system.
    Reset,
    /// An exception.
    Exception(Exception),
}

/// An exception by its number, as the vector table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct Exception(pub u32);

impl std::fmt::Display for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            2 => f.write_str("NMI"),
            14 => f.write_str("PendSV"),
            15 => f.write_str("SysTick's exception"),
            number => write!(f, "interrupt {}", number.saturating_sub(16)),
        }
    }
}

/// The exception that a store of these bits to this register requests.
fn requested(register: u32, bits: u32) -> Option<Exception> {
    let number = match register {
        ICSR => [(31, 2), (28, 14), (26, 15)]
            .into_iter()
            .find_map(|(bit, number)| (bits >> bit & 1 == 1).then_some(number)),
        STIR => Some(16 + (bits & 0x1ff)),
        _ if NVIC_ISPR.contains(&register) => bits
            .checked_ilog2()
            .map(|bit| 16 + 8 * (register - NVIC_ISPR.start) + bit),
        _ => None,
    };
    number.map(Exception)
}

impl SystemControl {
    /// The state after reset; `cpu_id` is what the CPUID register reads.
    pub fn new(cpu_id: u32) -> Self {
        Self {
            cpu_id,
            registers: HashMap::new(),
            systick_wraps_seen: 0,
            cycles_offset: 0,
        }
    }

    /// Returns `true` if the program has switched the floating-point unit on.
    pub fn floating_point_enabled(&self) -> bool {
        self.word(CPACR) >> 20 & 0xf == 0xf
    }

    /// Whether divisions by zero, and accesses that are not aligned, are to be faults.
    pub fn traps(&self) -> [bool; 2] {
        [DIV_0_TRP, UNALIGN_TRP].map(|bit| self.word(CCR) & bit != 0)
    }

    /// Returns `true` if SysTick runs with its interrupt enabled.
    pub fn expects_ticks(&self) -> bool {
        self.word(SYST_CSR) & 3 == 3
    }

    fn word(&self, register: u32) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    /// Loads `size_bytes` (1, 2 or 4) bytes from `address` at time `now`.
    pub fn load(&mut self, address: u32, size_bytes: usize, now: Time) -> u64 {
        let register = address & !3;
        let word = match register {
            CPUID => self.cpu_id,
            DWT_CTRL => self.word(DWT_CTRL) | 4 << 28,
            DWT_CYCCNT => now.wrapping_sub(self.cycles_offset) as u32,
            SYST_CSR => self.systick_status(now),
            SYST_CVR => {
                let period = u64::from(self.word(SYST_RVR) & 0xff_ffff) + 1;
                (period - 1 - now % period) as u32
            }
            AIRCR => 0xfa05_0000 | self.word(AIRCR) & 0xffff,
            CCR => self.word(CCR) | STKALIGN,
            MPU_TYPE => 8 << 8,
            _ => self.word(register),
        };
        u64::from(word >> (8 * (address & 3))) & mask(size_bytes)
    }

    /// COUNTFLAG: the counter has wrapped since the last read.
    fn systick_status(&mut self, now: Time) -> u32 {
        let status = self.word(SYST_CSR) & 7;
        let wraps = now / (u64::from(self.word(SYST_RVR) & 0xff_ffff) + 1);
        let wrapped = status & 1 == 1 && wraps > self.systick_wraps_seen;
        self.systick_wraps_seen = wraps;
        status | u32::from(wrapped) << 16
    }

    /// Stores `size_bytes` (1, 2 or 4) bytes to `address` at time `now`.
    pub fn store(&mut self, address: u32, size_bytes: usize, value: u64, now: Time) -> Request {
        let register = address & !3;
        let shift = 8 * (address & 3);
        let mask = (mask(size_bytes) as u32) << shift;
        let word = self.word(register) & !mask | (value as u32) << shift & mask;
        self.registers.insert(register, word);
        if register == DWT_CYCCNT {
            self.cycles_offset = now.wrapping_sub(u64::from(word));
        }
        if register == AIRCR && word >> 16 == 0x05fa && word & 4 != 0 {
            return Request::Reset;
        }
        let exception = requested(register, (value as u32) << shift & mask);
        exception.map_or(Request::Nothing, Request::Exception)
    }
}

fn mask(size_bytes: usize) -> u64 {
    if size_bytes >= 4 {
        0xffff_ffff
    } else {
        (1 << (8 * size_bytes)) - 1
    }
}
