//! Flash memory that makes the core wait, and the lines of it that are held.

use crate::cycles::Cycles;
use std::ops::Range;

/// What reads of flash memory cost, and what is kept of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashTiming {
    /// Cycles that a read takes beyond the first.
    pub wait_states: u16,
    /// Bytes of a read, a power of two.
    pub line_bytes: u16,
    /// The next line is read as soon as one has been.
    pub prefetch: bool,
    /// Lines that are held for instructions.
    pub code: Held,
    /// Lines that are held for data; `None` if they are the same as those for instructions.
    pub data: Option<Held>,
}

/// Lines that are held: a buffer, or a small cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Lines that may hold a given address; the least recently used is given up. 0: none is held.
    pub ways: u16,
    /// Groups of so many lines, a power of two; an address belongs to one.
    pub sets: u16,
}

/// No line.
const NO_LINE: u32 = u32::MAX;

/// The flash memory of a running core.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flash {
    /// The line that instructions were read from last.
    pub(crate) last_code_line: u32,
    timing: FlashTiming,
    line_bits: u32,
    ranges: Vec<Range<u32>>,
    code: Lines,
    data: Option<Lines>,
    /// When the line after the last one will be there, in cycles.
    prefetched_at: u64,
}

#[derive(Debug)]
struct Lines {
    held: Held,
    /// By set, the most recently used first.
    lines: Vec<u32>,
}

impl Lines {
    fn new(held: Held) -> Self {
        let lines = usize::from(held.ways) * usize::from(held.sets);
        Self {
            held,
            lines: vec![NO_LINE; lines],
        }
    }

    /// Whether a line is held; from now on it is, where there is room for any.
    fn hold(&mut self, line: u32) -> bool {
        let ways = usize::from(self.held.ways);
        let set = line as usize & (usize::from(self.held.sets).wrapping_sub(1));
        let Some(lines) = self.lines.get_mut(set * ways..(set + 1) * ways) else {
            return false;
        };
        let place = lines.iter().position(|&held| held == line);
        if let Some(used) = lines.get_mut(..=place.unwrap_or(ways.wrapping_sub(1)))
            && !used.is_empty()
        {
            used.rotate_right(1);
            used[0] = line;
        }
        place.is_some()
    }
}

impl Flash {
    /// Flash at these addresses, of which nothing is held.
    pub(crate) fn new(timing: FlashTiming, ranges: &[Range<u32>]) -> Self {
        Self {
            last_code_line: NO_LINE,
            timing,
            line_bits: u32::from(timing.line_bytes.max(1)).ilog2(),
            ranges: ranges.to_vec(),
            code: Lines::new(timing.code),
            data: timing.data.map(Lines::new),
            prefetched_at: 0,
        }
    }

    /// Whether an address is in flash memory.
    pub(crate) fn contains(&self, address: u32) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// How many bits of an address are within a line.
    pub(crate) fn line_bits(&self) -> u32 {
        self.line_bits
    }

    fn line(&self, address: u32) -> u32 {
        address >> self.line_bits
    }

    /// An instruction is fetched.
    pub(crate) fn fetch(&mut self, cycles: &mut Cycles, pc: u32, size_bytes: u32) {
        if !self.contains(pc) {
            return;
        }
        for line in self.line(pc)..=self.line(pc.saturating_add(size_bytes - 1)) {
            if line != self.last_code_line {
                self.fetch_line(cycles, line);
            }
        }
    }

    fn fetch_line(&mut self, cycles: &mut Cycles, line: u32) {
        let now = cycles.total();
        let wait = u64::from(self.timing.wait_states);
        let is_next = line == self.last_code_line.wrapping_add(1);
        let stall = match self.code.hold(line) {
            true => 0,
            false if self.timing.prefetch && is_next => {
                self.prefetched_at.saturating_sub(now).min(wait)
            }
            false => wait,
        };
        cycles.code_stalls += stall;
        self.last_code_line = line;
        self.prefetched_at = now + stall + wait + 1;
    }

    /// Data are loaded.
    pub(crate) fn load(&mut self, cycles: &mut Cycles, address: u32, size_bytes: u32) {
        if !self.contains(address) {
            return;
        }
        let last = address.saturating_add(size_bytes.saturating_sub(1));
        for line in self.line(address)..=self.line(last) {
            let lines = self.data.as_mut().unwrap_or(&mut self.code);
            if !lines.hold(line) {
                cycles.data_stalls += u64::from(self.timing.wait_states);
            }
        }
    }

    /// The addresses from the first to the last in flash memory.
    pub(crate) fn hull(&self) -> Range<u32> {
        let start = self.ranges.iter().map(|range| range.start).min();
        let end = self.ranges.iter().map(|range| range.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }
}
