//! Pages that hold code, and perhaps data beside it.

use super::PAGE_BYTES;

/// How many stores beside code have a page taken for one of data.
///
/// Stores to pages with code are slow, and so is to decode code anew: about as slow as this many
/// stores, so that a page costs at most twice what it must, whether its code runs again or, as a
/// call's return address on top of the stack, never does.
const PATIENCE: u32 = 128;

/// A page with code.
pub(super) struct CodePage {
    /// For each halfword a bit: whether it is code.
    map: [u64; PAGE_BYTES as usize / 128],
    /// Stores beside it.
    stores: u32,
}

impl Default for CodePage {
    fn default() -> Self {
        Self {
            map: [0; PAGE_BYTES as usize / 128],
            stores: 0,
        }
    }
}

impl CodePage {
    /// The halfword there is code.
    pub(super) fn add(&mut self, address: u32) {
        let (word, bit) = place_of(address);
        self.map[word] |= bit;
    }

    /// Whether a store to the halfword there makes it necessary to decode the page anew.
    pub(super) fn is_spent_by(&mut self, address: u32) -> bool {
        let (word, bit) = place_of(address);
        self.stores += 1;
        self.map[word] & bit != 0 || self.stores >= PATIENCE
    }
}

/// Where a halfword's bit is.
fn place_of(address: u32) -> (usize, u64) {
    let half = address % PAGE_BYTES / 2;
    ((half / 64) as usize, 1 << (half % 64))
}
