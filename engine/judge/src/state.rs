//! What an execution leaves.

use dmo_engine::fault::Fault;
use dmo_engine::operation::Operation;

/// N, Z, C, V, Q and GE in a program status register.
pub const FLAGS: u32 = 0xf80f_0000;
/// GE in it.
pub const GE: u32 = 0x000f_0000;
/// The IT state in it.
pub const IT: u32 = 0x0600_fc00;

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
}

/// What our engine knows besides.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// The instructions that were executed.
    pub executed: Vec<Operation>,
    /// The instruction that could not be.
    pub refused: Option<Operation>,
    /// Why it could not be.
    pub fault: Option<Fault>,
}
