//! The bit-band alias of internal RAM, where Cortex-M3 and M4 have one: each word of it is one bit
//! of [0x20000000, 0x20100000).
//!
//! It is not emulated. What a program loads and stores there would be missed in the buffer that it
//! changes, so that no memory may be mapped over it.

use crate::elf::image::Image;
use crate::mcu::cpu::{Cpu, Model};
use crate::mcu::memory::{MemoryError, MemoryOptions};
use dmo_analysis::trace::Address;
use std::ops::Range;

const ALIAS: Range<u64> = 0x2200_0000..0x2400_0000;
const RAM: u32 = 0x2000_0000;

/// The alias of this CPU.
fn alias_of(cpu: &Cpu) -> Option<Range<u64>> {
    matches!(cpu.model, Model::CortexM3 | Model::CortexM4).then_some(ALIAS)
}

/// The byte of RAM, and the bit of it, that an address in the alias of this CPU stands for.
pub fn aliased_bit(cpu: &Cpu, address: Address) -> Option<(Address, u32)> {
    let alias = alias_of(cpu)?;
    let offset = u64::from(address.0).checked_sub(alias.start)? as u32;
    let is_in_alias = alias.contains(&u64::from(address.0));
    is_in_alias.then_some((Address(RAM + offset / 32), offset / 4 % 8))
}

/// Checks that the memory that the user names leaves the alias free, unless the image itself has
/// something there: then this microcontroller has no alias.
///
/// # Errors
/// When RAM or a device is named there.
pub fn check(cpu: &Cpu, options: &MemoryOptions, image: &Image) -> Result<(), MemoryError> {
    let Some(alias) = alias_of(cpu) else {
        return Ok(());
    };
    let overlaps = |range: &Range<u64>| {
        !range.is_empty() && range.start < alias.end && alias.start < range.end
    };
    if image
        .segments
        .iter()
        .any(|segment| overlaps(&segment.run_range()))
    {
        return Ok(());
    }
    let mut named = options.device.iter().chain(&options.ram);
    match named.find(|range| overlaps(range)) {
        None => Ok(()),
        Some(range) => Err(MemoryError::OverBitBand {
            start: range.start,
            end: range.end,
            cpu: cpu.name,
        }),
    }
}
