//! Where loads and stores are, by the registers as they are before the instruction at the program
//! counter.

use crate::core::Core;
use crate::operation::{Addressing, Offset};

/// A register as a source: r15 is the program counter plus 4.
#[inline]
pub(crate) fn register(core: &Core, index: u8) -> u32 {
    match index & 15 {
        15 => core.r[15].wrapping_add(4),
        index => core.r[usize::from(index)],
    }
}

/// A register as the base of a load: r15 rounded down to a multiple of 4.
#[inline]
fn base(core: &Core, rn: u8) -> u32 {
    match rn & 15 {
        15 => register(core, 15) & !3,
        rn => register(core, rn),
    }
}

/// Where the access is, and base plus offset.
#[inline]
pub(crate) fn of_one(core: &Core, addressing: Addressing) -> (u32, u32) {
    let base = base(core, addressing.rn);
    let sum = match addressing.offset {
        Offset::Immediate(offset) => base.wrapping_add_signed(offset),
        Offset::Register { rm, shift } => base.wrapping_add(register(core, rm) << shift),
    };
    (if addressing.index { sum } else { base }, sum)
}

/// First address of several accesses, of so many bytes in all, and what is written back.
pub(crate) fn of_several(core: &Core, rn: u8, bytes: u32, decrement: bool) -> (u32, u32) {
    let base = register(core, rn);
    let below = base.wrapping_sub(bytes);
    if decrement {
        (below, below)
    } else {
        (base, base.wrapping_add(bytes))
    }
}

/// Of VLDR and VSTR.
pub(crate) fn of_float(core: &Core, rn: u8, offset: i32) -> u32 {
    base(core, rn).wrapping_add_signed(offset)
}

/// The entry of a table branch.
pub(crate) fn of_entry(core: &Core, rn: u8, rm: u8, half: bool) -> u32 {
    let index = register(core, rm) << u32::from(half);
    register(core, rn).wrapping_add(index)
}
