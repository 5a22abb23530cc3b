//! Why an instruction does not execute.

use crate::features::Needs;

/// Whether an access loads or stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum AccessKind {
    Load,
    Store,
}

/// Why an instruction does not execute. The program counter stays at it, and nothing of it has
/// happened but, of several accesses, those before the one that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A load or store outside memory, or a store to memory that cannot be stored to.
    #[error("{size_bytes}-byte {kind:?} at {address:#010x}, where memory {}", if *mapped { "does not allow it" } else { "is not" })]
    Access {
        /// Load or store.
        kind: AccessKind,
        /// First byte.
        address: u32,
        /// Length in bytes.
        size_bytes: u32,
        /// Whether there is memory.
        mapped: bool,
    },
    /// The program counter is where no code can be.
    #[error("instruction fetch from {address:#010x}, where no code is")]
    Fetch {
        /// Where.
        address: u32,
    },
    /// No core has this instruction.
    #[error("undefined instruction")]
    Undefined,
    /// Other cores have this instruction.
    #[error("{name} needs {needs}")]
    Lacks {
        /// The instruction.
        name: &'static str,
        /// What it needs.
        needs: Needs,
    },
    /// The architecture does not say what this instruction does.
    #[error("{name} with operands that the architecture calls unpredictable")]
    Unpredictable {
        /// The instruction.
        name: &'static str,
    },
    /// An address that is no multiple of what this instruction needs.
    #[error("{name} at {address:#010x}, which is not a multiple of {alignment}")]
    Unaligned {
        /// The instruction.
        name: &'static str,
        /// The address.
        address: u32,
        /// What it has to be a multiple of, in bytes.
        alignment: u32,
    },
    /// A floating-point instruction while CPACR has the unit off.
    #[error("floating-point instruction while the unit is off")]
    FloatingPointOff,
    /// SVC.
    #[error("supervisor call {number}")]
    SupervisorCall {
        /// Its immediate.
        number: u8,
    },
    /// A branch to an even address; the program counter is there.
    #[error("jump to the even address {address:#010x}")]
    NotThumb {
        /// The address.
        address: u32,
    },
    /// A division by zero, which the program wants to be a fault (Armv7-M, Armv8-M Mainline).
    #[error("division by zero")]
    DivisionByZero,
    /// The stack pointer would fall below its limit (Armv8-M).
    #[error("the stack pointer {address:#010x} is below its limit")]
    StackLimit {
        /// The new stack pointer.
        address: u32,
    },
}
