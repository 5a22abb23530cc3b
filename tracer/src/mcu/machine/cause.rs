//! Why a program cannot go on.

use crate::mcu::self_check::CheckError;
use crate::mcu::system::Exception;
use dmo_analysis::trace::{AccessKind, Address};
use dmo_engine::features::Needs;
use std::time::Duration;

/// Why a program cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FaultCause {
    #[error("{size_bytes}-byte {} {} at {address}", .kind.name(), if *.mapped { "is not allowed" } else { "is outside memory" })]
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
    #[error(
        "{what} at {address}: a real core faults unless the address is a multiple of {alignment}"
    )]
    Unaligned {
        what: &'static str,
        address: Address,
        alignment: u32,
    },
    #[error("floating-point instruction while the FPU is off: the start-up code has not set CPACR")]
    FloatingPointOff,
    #[error("supervisor call (SVC): exceptions are not emulated")]
    SupervisorCall,
    #[error("breakpoint instruction {number}, which is not a semihosting call")]
    Breakpoint { number: u8 },
    #[error("semihosting call: a kernel that is called by itself has no host")]
    HostCall,
    #[error("jump to the even address {address}: Thumb code has odd ones")]
    NotThumb { address: Address },
    #[error("floating-point or coprocessor instruction, which this CPU does not have")]
    NoCoprocessor,
    #[error("{name} needs {needs}, which this CPU does not have")]
    Lacks { name: &'static str, needs: Needs },
    #[error("{name} with operands for which the architecture does not say what happens")]
    Unpredictable { name: &'static str },
    #[error("division by zero, which the program wants to be a fault (DIV_0_TRP in CCR)")]
    DivisionByZero,
    #[error("the stack pointer {address} is below the limit that the program has set")]
    StackLimit { address: Address },
    #[error("exception {number} of the emulator")]
    Exception { number: u32 },
    #[error("the program is in an exception handler, an endless loop at {address}")]
    Handler { address: Address },
    #[error(
        "the layer requests {exception}: exceptions are not emulated, so what its handler does is not known"
    )]
    ExceptionRequested { exception: Exception },
    #[error("the program asks for a system reset (AIRCR)")]
    Reset,
    #[error("limit of {limit} executed instructions reached")]
    InstructionLimit { limit: u64 },
    #[error("time limit of {} s reached", .limit.as_secs_f64())]
    Timeout { limit: Duration },
    #[error("self-check: {0}")]
    SelfCheck(CheckError),
    #[error("the emulator stopped without a reason: {0}")]
    Emulator(String),
}
