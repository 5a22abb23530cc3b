//! What an execution leaves.

use dmo_engine::fault::{AccessKind, Fault};
use dmo_engine::operation::Operation;

/// N, Z, C, V, Q and GE in a program status register.
pub const FLAGS: u32 = 0xf80f_0000;
/// GE in it.
pub const GE: u32 = 0x000f_0000;
/// The IT state in it.
pub const IT: u32 = 0x0600_fc00;

/// CONTROL but for what an exception would have to save, which our engine does not keep.
pub const CONTROL_BITS: u32 = 0b011;

/// The rounding mode in FPSCR; 0 is to nearest.
pub const ROUNDING: u32 = 3 << 22;

/// Whether it converts a fixed-point to a floating-point number.
pub fn is_fixed_to_float(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::FloatFixed {
            to_fixed: false,
            ..
        }
    )
}

/// What an execution leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// r0 to r15.
    pub registers: [u32; 16],
    /// Flags and IT state, as in the program status register.
    pub status: u32,
    /// Floating-point status and control.
    pub float_status: u32,
    /// s0 to s31.
    pub floats: [u32; 32],
    /// PRIMASK, BASEPRI, FAULTMASK, CONTROL.
    pub special: [u32; 4],
    /// The data.
    pub ram: Vec<u8>,
}

/// A load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Which of both.
    pub kind: AccessKind,
    /// First byte.
    pub address: u32,
    /// Length.
    pub size_bytes: u32,
}

/// How an execution has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// At a breakpoint.
    Breakpoint,
    /// At an instruction that waits or tells others something.
    Hint,
    /// At an instruction that cannot be executed.
    Fault(String),
    /// It did not end.
    Endless,
}

/// An execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// How it has ended.
    pub end: End,
    /// What it leaves.
    pub state: State,
    /// Loads and stores, in order.
    pub accesses: Vec<Access>,
    /// How many instructions were executed, where that is counted.
    pub time: Option<u64>,
}

/// What our interpreter knows besides.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// The instructions that were executed, or passed over in an IT block.
    pub executed: Vec<Operation>,
    /// Why the next one could not be.
    pub fault: Option<Fault>,
}
