//! Estimates how many cycles code takes: rules for each core, from what is published of it
//! (docs/cycles.md).
//!
//! An instruction has a cost of its own, a difference that comes from the instruction executed
//! just before it, and a part that its operands decide. The first two are known when code is
//! decoded, so that translated code only adds constants.
//!
//! Both count in halves of a cycle: half a cycle is what a superscalar core gains on average by
//! issuing two instructions together.
//!
//! | module | what it holds |
//! |---|---|
//! | `registers` | which registers an instruction reads and writes |
//! | `class` | instructions that take the same time |
//! | `rules` | what each class takes on each core |
//! | `pairs` | what an instruction takes more or less after another |
//! | `operands` | what its operands decide |
//! | `flash` | memory that makes the core wait |
//! | `counter` | counts, one instruction after the other |

mod class;
mod counter;
mod flash;
mod operands;
mod pairs;
mod registers;
mod rules;

pub use flash::{FlashTiming, Held};

pub(crate) use counter::{Counter, Previous};
pub(crate) use flash::Flash;
pub(crate) use operands::{DIVIDE, LONG_MULTIPLY_EXTRA, Operands, UNALIGNED_WORD_HALVES};

use crate::cycles::{Cycles, HALVES};
use class::Class;

/// A pipeline whose timing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// Cortex-M0+: two stages, one bus.
    CortexM0Plus,
    /// Cortex-M3.
    CortexM3,
    /// Cortex-M4.
    CortexM4,
    /// Cortex-M7: superscalar, with branch prediction. Rough.
    CortexM7,
    /// Cortex-M33. Rough.
    CortexM33,
    /// Cortex-M55, its scalar instructions. Rough.
    CortexM55,
}

impl Pipeline {
    /// Whether its rules give an order of magnitude rather than a figure.
    pub fn is_rough(self) -> bool {
        matches!(self, Self::CortexM7 | Self::CortexM33 | Self::CortexM55)
    }
}

/// What is known of a core's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Its pipeline.
    pub pipeline: Pipeline,
    /// Its flash memory; `None` if it never makes the core wait.
    pub flash: Option<FlashTiming>,
}

/// What is known of an instruction's time before it executes.
///
/// Aligned, as it is copied at each instruction that is interpreted ([`Previous`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(8))]
pub(crate) struct Cost {
    /// Cycles, where it executes.
    pub(crate) cycles: u8,
    /// Further cycles where it branches.
    pub(crate) taken: u8,
    /// What its operands decide besides.
    pub(crate) operands: Operands,
    class: Class,
    /// It branches to where a register or memory says.
    pub(crate) is_indirect: bool,
    /// Its address may be unaligned.
    pub(crate) may_be_unaligned: bool,
    /// It has 16 bits.
    is_narrow: bool,
    sets_flags: bool,
    /// It has 32 bits and does not begin at a word.
    is_unaligned: bool,
    /// Registers that it needs in time, by bit; not those that it stores or accumulates onto.
    reads: u16,
    /// Registers that make its address.
    address: u16,
    /// Registers that it writes.
    writes: u16,
    /// Those of them that it loads.
    loads: u16,
    /// The register that is its base and that it writes back.
    written_back: Option<u8>,
}

/// Cycles of an instruction whose condition fails.
pub(crate) const SKIPPED_CYCLES: u8 = 1;
