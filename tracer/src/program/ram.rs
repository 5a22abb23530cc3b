//! The RAM that a run of a program takes: what a device needs for it.

use crate::elf::image::{Image, Section};
use crate::mcu::machine::Machine;
use crate::mcu::memory::{MemoryMap, RegionKind};
use crate::program::target::Target;
use dmo_analysis::trace::Address;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// The RAM that a run of a program takes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RamUse {
    /// Sections that are filled when the program starts: `.data`, and code that runs in RAM.
    pub data_bytes: u64,
    /// Sections without content, as `.bss`, but those that only reserve room for heap or stack.
    pub bss_bytes: u64,
    /// Memory between the sections and the stack, up to the last byte that is not zero at the end:
    /// at least so much of it was stored to. `None` if the stack is not measured.
    pub heap_bytes: Option<u64>,
    /// From the initial stack pointer to the lowest one; `None` if the engine does not measure it.
    pub stack_bytes: Option<u64>,
    /// All of these.
    pub total_bytes: Option<u64>,
    /// The arena of the model that the program runs, which lies in these.
    pub arena_bytes: Option<u64>,
    /// The same as `stack_bytes` while each layer runs, with what its callers have on the stack.
    pub layer_stack_bytes: Vec<Option<u64>>,
}

/// The lowest stack pointers of a run.
#[derive(Debug, Clone, Default)]
pub struct LowestStack {
    run: Option<u32>,
    layers: Vec<Option<u32>>,
}

impl LowestStack {
    /// A stretch of the run that is no layer has ended.
    pub fn end_gap(&mut self, machine: &mut Machine) {
        let lowest = machine.take_lowest_stack_pointer();
        self.run = self.run.into_iter().chain(lowest).min();
    }

    /// A layer has ended.
    pub fn end_layer(&mut self, machine: &mut Machine) {
        let lowest = machine.take_lowest_stack_pointer();
        self.run = self.run.into_iter().chain(lowest).min();
        self.layers.push(lowest);
    }
}

impl RamUse {
    /// Of a program that has ended, on its machine.
    pub fn of(target: &Target, machine: &Machine, lowest: &LowestStack) -> Self {
        let top = u64::from(target.boot.stack_top);
        let depth = |lowest: u32| top.saturating_sub(lowest.into());
        let sections = in_ram(&target.image, &target.map, top);
        let bytes = |has_content: bool| {
            let counted = sections.iter().filter(|it| it.has_content == has_content);
            counted.map(|it| it.range.end - it.range.start).sum()
        };
        let (data_bytes, bss_bytes) = (bytes(true), bytes(false));
        let heap_bytes = lowest
            .run
            .map(|lowest| heap_bytes(target, machine, &sections, lowest.into()..top));
        let stack_bytes = lowest.run.map(depth);
        let interpreted = target.interpreted.as_ref();
        Self {
            data_bytes,
            bss_bytes,
            heap_bytes,
            stack_bytes,
            total_bytes: stack_bytes
                .zip(heap_bytes)
                .map(|(stack, heap)| data_bytes + bss_bytes + heap + stack),
            arena_bytes: interpreted.map(|it| it.placed.arena.end - it.placed.arena.start),
            layer_stack_bytes: lowest.layers.iter().map(|it| it.map(depth)).collect(),
        }
    }
}

/// The sections in RAM. Where the file has none, its segments stand for them.
fn in_ram(image: &Image, map: &MemoryMap, stack_top: u64) -> Vec<Section> {
    let is_in_ram = |range: &Range<u64>| {
        map.region_of(range)
            .is_some_and(|region| region.kind == RegionKind::Ram)
    };
    let mut sections = image.sections.clone();
    if sections.is_empty() {
        sections = image.segments.iter().flat_map(parts).collect();
    }
    sections.retain(|it| is_in_ram(&it.range) && !only_reserves(it, stack_top));
    sections
}

/// What a segment has content for, and the rest of it.
fn parts(segment: &crate::elf::image::Segment) -> [Section; 2] {
    let Range { start, end } = segment.run_range();
    let middle = start + segment.content.len() as u64;
    [(start..middle, true), (middle..end, false)].map(|(range, has_content)| Section {
        name: String::new(),
        range,
        has_content,
    })
}

/// Linker scripts reserve room for heap and stack by sections of such names, up to the top of the
/// stack or not.
fn only_reserves(section: &Section, stack_top: u64) -> bool {
    let name = section.name.to_ascii_lowercase();
    let named = name.contains("heap") || name.contains("stack");
    !section.has_content && (named || section.range.end == stack_top)
}

/// What was stored to between the sections and the stack, in each region of RAM.
fn heap_bytes(target: &Target, machine: &Machine, sections: &[Section], stack: Range<u64>) -> u64 {
    let regions = target.map.regions().iter();
    let regions = regions.filter(|region| region.kind == RegionKind::Ram);
    let in_region = regions.map(|region| {
        let region = &region.range;
        let ends = sections.iter().map(|section| section.range.end);
        let below = ends.filter(|&end| region.start < end && end <= region.end);
        let start = below.max().unwrap_or(region.start);
        let end = if start <= stack.start && stack.end <= region.end {
            stack.start
        } else if stack.end <= start || stack.start >= region.end {
            region.end
        } else {
            return 0;
        };
        let length = end.saturating_sub(start) as usize;
        let bytes = machine.read(Address(start as u32), length);
        let last = bytes.and_then(|bytes| bytes.iter().rposition(|&byte| byte != 0));
        last.map_or(0, |last| last as u64 + 1)
    });
    in_region.sum()
}
