//! Which memory an image needs, and of which kind, where the user does not say so.
//!
//! Segments lie in memories: stretches of addresses with at most [`SAME_MEMORY_BYTES`] between two
//! of their parts. The flags of a segment alone do not tell flash from RAM. Linker scripts mark code
//! in flash as writable in many ways: words that the linker writes itself (tables for the start-up
//! code), constructors, vectors and registered descriptors that are not `const`. What the start-up
//! code does tells them apart, for it copies and clears RAM only, and copies it out of flash.

use super::{MemoryRegion, RegionKind, region};
use crate::elf::image::{Image, Segment};
use std::ops::Range;

/// Here the Armv7-M address map has internal RAM and peripherals. Below it are flash and RAM for
/// code, above it external memory of either kind.
const INTERNAL_RAM: Range<u64> = 0x2000_0000..0x6000_0000;

/// RAM and flash that no segment names may exist between segments, up to this distance; so does RAM
/// between a segment and the top of the stack.
const SAME_REGION_BYTES: u64 = 16 << 20;

/// Parts of an image with at most this many bytes between them lie in one memory.
const SAME_MEMORY_BYTES: u64 = 64 << 10;

/// What a part of the image says of the memory that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clue {
    /// The start-up code writes it, the stack ends there, or the address map says so: RAM.
    Written,
    /// Initial content of something that runs elsewhere, so it outlasts a reset: flash.
    Copied,
    /// Data that is loaded where it is used, and that the program may write.
    Data,
    /// Code or constants, loaded where they are used.
    Constant,
}

#[derive(Debug, Clone)]
struct Part {
    range: Range<u64>,
    clue: Clue,
}

/// RAM and flash for all that `named` regions do not hold. If these include RAM, there is no other
/// RAM; if they include flash, there is no other flash.
pub(super) fn regions(
    image: &Image,
    named: &[MemoryRegion],
    stack_top: Option<u32>,
) -> Vec<MemoryRegion> {
    let is_named = |kind| named.iter().any(|region| region.kind == kind);
    let (ram_named, flash_named) = (is_named(RegionKind::Ram), is_named(RegionKind::Flash));
    let mut parts: Vec<Part> = image.segments.iter().flat_map(parts).collect();
    parts.retain(|part| !named.iter().any(|region| region.holds(&part.range)));
    if !ram_named {
        parts.extend(stack_top.map(end_of_stack));
    }
    parts.sort_by_key(|part| part.range.start);
    let mut regions: Vec<MemoryRegion> = Vec::new();
    for memory in memories(&parts) {
        let kind = match kind_of(memory, stack_top) {
            RegionKind::Ram if ram_named => RegionKind::Flash,
            kind => kind,
        };
        for part in memory {
            let missing = match kind {
                RegionKind::Flash => flash_named || part.clue == Clue::Written,
                _ => ram_named,
            };
            if !missing {
                extend(&mut regions, region(kind, &part.range), named);
            }
        }
    }
    regions
}

/// Adds a region to ascending ones: to the last one, if both may be parts of one region.
fn extend(regions: &mut Vec<MemoryRegion>, next: MemoryRegion, named: &[MemoryRegion]) {
    if let Some(last) = regions.last_mut() {
        let starts = last.range.start..next.range.start;
        let is_divided = named
            .iter()
            .any(|region| starts.contains(&region.range.start));
        let is_near = next.range.start <= last.range.end.saturating_add(SAME_REGION_BYTES);
        if last.kind == next.kind && is_near && !is_divided {
            last.range.end = last.range.end.max(next.range.end);
            return;
        }
    }
    regions.push(next);
}

fn end_of_stack(top: u32) -> Part {
    // The stack pointer starts one past the end of RAM.
    let top = u64::from(top);
    Part {
        range: top.saturating_sub(8)..top,
        clue: Clue::Written,
    }
}

/// The parts of a segment: where it is loaded, and where it runs.
fn parts(segment: &Segment) -> Vec<Part> {
    let (loaded, runs) = (segment.load_range(), segment.run_range());
    let is_copied = !loaded.is_empty() && segment.load_address != segment.run_address;
    let is_cleared = segment.run_bytes as usize > segment.content.len();
    let clue = if is_copied || is_cleared {
        Clue::Written
    } else if segment.writable && !segment.executable {
        Clue::Data
    } else {
        Clue::Constant
    };
    let mut parts = Vec::new();
    if is_copied {
        parts.push(part(loaded, Clue::Copied));
    }
    parts.push(part(runs, clue));
    parts
}

fn part(range: Range<u64>, clue: Clue) -> Part {
    let is_internal_ram = INTERNAL_RAM.contains(&range.start);
    Part {
        clue: if is_internal_ram { Clue::Written } else { clue },
        range,
    }
}

/// The parts, in ascending order, memory by memory.
fn memories(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    let mut end = 0;
    parts.chunk_by(move |a, b| {
        end = a.range.end.max(end);
        b.range.start <= end.saturating_add(SAME_MEMORY_BYTES)
    })
}

/// RAM wins over flash: a program can do with it whatever it can do with flash.
fn kind_of(memory: &[Part], stack_top: Option<u32>) -> RegionKind {
    let has = |clue| memory.iter().any(|part| part.clue == clue);
    let ends = memory.iter().map(|part| part.range.end);
    let (start, end) = (memory[0].range.start, ends.max().unwrap_or(0));
    let below_stack = start..end.saturating_add(SAME_REGION_BYTES);
    let holds_stack = stack_top.is_some_and(|top| below_stack.contains(&u64::from(top)));
    let is_flash = has(Clue::Copied) || !has(Clue::Data);
    if has(Clue::Written) || holds_stack || !is_flash {
        RegionKind::Ram
    } else {
        RegionKind::Flash
    }
}
