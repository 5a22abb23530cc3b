//! Where code and data are. Nearly all code but a case's own is breakpoints, so that a branch ends
//! the execution where it went; their numbers differ, to tell one literal from another.

use std::ops::Range;

/// Bytes of code: relative branches reach 16 MiB to both sides.
pub const CODE_BYTES: u32 = 34 << 20;
/// Code, which can be loaded from and not be stored to.
pub const CODE: Range<u64> = 0x0100_0000..0x0100_0000 + CODE_BYTES as u64;
/// Bytes of data.
pub const RAM_BYTES: u32 = 16 << 10;
/// Data, which cannot be executed.
pub const RAM: Range<u64> = 0x2000_0000..0x2000_0000 + RAM_BYTES as u64;
/// How far from a base register most accesses are.
pub const REACH: u32 = 5 << 10;

/// Bytes in the middle of the code where cases lie.
pub const CASES_BYTES: u32 = 1 << 20;
/// The first address where a case can be.
pub const CASES_START: u32 = CODE.start as u32 + CODE_BYTES / 2;
/// The most bytes of a case, and what its start is a multiple of.
pub const CASE_BYTES: u32 = 64;

/// What is at an address of the code: a breakpoint, or at the end of what a case may fill an
/// undefined instruction, so that a search of what can be reached ends there.
pub fn filling(address: u32) -> u16 {
    const UNDEFINED: u16 = 0xba80;
    if address % CASE_BYTES == CASE_BYTES - 2 {
        return UNDEFINED;
    }
    let number = (address >> 1).wrapping_mul(0x9e37_79b1) >> 24;
    0xbe00 | number as u16
}

/// The bytes of all that is in a stretch of the code.
pub fn fillings(range: Range<u32>) -> Vec<u8> {
    let halfwords = range.step_by(2).map(filling);
    halfwords.flat_map(u16::to_le_bytes).collect()
}
