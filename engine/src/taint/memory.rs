//! Which bytes of memory depend on data.

use crate::memory::{PAGE_BYTES, PageTable};
use std::ops::Range;

const WORDS: usize = PAGE_BYTES as usize / 64;
const NONE: u32 = 0;

/// A bit for each byte; pages of which none depends take no memory.
pub(super) struct TaintedMemory {
    /// By page: one more than its place in `pages`.
    places: PageTable,
    pages: Vec<[u64; WORDS]>,
}

impl TaintedMemory {
    pub(super) fn new() -> Self {
        Self {
            places: PageTable::new(),
            pages: Vec::new(),
        }
    }

    /// Whether any of these bytes depends.
    #[inline]
    pub(super) fn any(&self, address: u32, size_bytes: u32) -> bool {
        if size_bytes < 64 && address % 64 + size_bytes <= 64 {
            let bits = !(u64::MAX << (size_bytes % 64));
            return self.word(address) >> (address % 64) & bits != 0;
        }
        let mut bytes = (0..size_bytes).map(|index| address.wrapping_add(index));
        bytes.any(|address| self.word(address) >> (address % 64) & 1 == 1)
    }

    /// Whether any byte of this range may depend, or of the 64 bytes around its ends.
    pub(super) fn may_be_in(&self, range: &Range<u64>) -> bool {
        let page_bytes = u64::from(PAGE_BYTES);
        let mut address = range.start;
        while address < range.end {
            if self.places[(address / page_bytes) as usize] == NONE {
                address = (address / page_bytes + 1) * page_bytes;
            } else if self.word(address as u32) != 0 {
                return true;
            } else {
                address = (address / 64 + 1) * 64;
            }
        }
        false
    }

    /// The bits of 64 bytes.
    #[inline]
    fn word(&self, address: u32) -> u64 {
        let place = self.places[(address >> 12) as usize].wrapping_sub(1);
        let page = self.pages.get(place as usize);
        page.map_or(0, |page| page[word_of(address)])
    }

    /// Says whether these bytes depend.
    pub(super) fn set(&mut self, address: u32, size_bytes: u32, depend: bool) {
        for address in (0..size_bytes).map(|index| address.wrapping_add(index)) {
            let place = &mut self.places[(address >> 12) as usize];
            if *place == NONE {
                if !depend {
                    continue;
                }
                self.pages.push([0; WORDS]);
                *place = self.pages.len() as u32;
            }
            let word = &mut self.pages[*place as usize - 1][word_of(address)];
            let bit = 1 << (address % 64);
            *word = if depend { *word | bit } else { *word & !bit };
        }
    }
}

fn word_of(address: u32) -> usize {
    (address % PAGE_BYTES) as usize / 64
}
