//! The bits of FPSCR that arithmetic reads and sets.

/// Cumulative: an invalid operation.
pub const INVALID: u32 = 1 << 0;
/// Cumulative: a division by zero.
pub const DIVISION_BY_ZERO: u32 = 1 << 1;
/// Cumulative: an overflow.
pub const OVERFLOW: u32 = 1 << 2;
/// Cumulative: an underflow.
pub const UNDERFLOW: u32 = 1 << 3;
/// Cumulative: an inexact result.
pub const INEXACT: u32 = 1 << 4;
/// Cumulative: an operand too small to be normal, taken as zero.
pub const DENORMAL_OPERAND: u32 = 1 << 7;
/// The rounding mode: nearest, up, down, towards zero.
pub const ROUNDING: u32 = 0b11 << 22;
/// What is too small to be normal counts as zero.
pub const FLUSH_TO_ZERO: u32 = 1 << 24;
/// Each NaN result is the default one.
pub const DEFAULT_NAN: u32 = 1 << 25;
/// Half precision has neither infinities nor NaNs.
pub const ALTERNATIVE_HALF: u32 = 1 << 26;

/// Whether these bits are set.
pub fn has(fpscr: u32, bits: u32) -> bool {
    fpscr & bits == bits
}
