//! Where code and data are. All code but a case's own is breakpoints, so that each branch ends the
//! execution where it went; their numbers differ, to tell one literal from another.

use std::ops::Range;

/// Bytes of code: relative branches reach 16 MiB to both sides.
pub const CODE_BYTES: u32 = 34 << 20;
/// Code, which can be loaded from and not be stored to.
pub const CODE: Range<u64> = 0x0100_0000..0x0100_0000 + CODE_BYTES as u64;
/// Bytes of data.
pub const RAM_BYTES: u32 = 16 << 10;
/// Data, which can be executed too.
pub const RAM: Range<u64> = 0x2000_0000..0x2000_0000 + RAM_BYTES as u64;
/// How far from a base register most accesses are.
pub const REACH: u32 = 5 << 10;

/// Cases lie in the middle of the code, within so many bytes.
pub const CASES_BYTES: u32 = 1 << 20;
/// The first address where a case can be.
pub const CASES_START: u32 = CODE.start as u32 + CODE_BYTES / 2;
/// The most bytes of a case.
pub const CASE_BYTES: u32 = 64;

/// The breakpoint at an address of the code.
pub fn breakpoint(address: u32) -> u16 {
    let number = (address >> 1).wrapping_mul(0x9e37_79b1) >> 24;
    0xbe00 | number as u16
}

/// The bytes of all breakpoints in a stretch of the code.
pub fn breakpoints(range: Range<u32>) -> Vec<u8> {
    let halfwords = range.step_by(2).map(breakpoint);
    halfwords.flat_map(u16::to_le_bytes).collect()
}
