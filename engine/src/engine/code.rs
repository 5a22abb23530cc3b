//! Decoded code, by page.

use crate::decode::{ItRule, decode, it_rule};
use crate::endless::{MOST_INSTRUCTIONS, is_endless};
use crate::fault::Fault;
use crate::features::Features;
use crate::memory::{Memory, PAGE_BYTES, PageTable};
use crate::operation::Operation;
use crate::timing::{Cost, Pipeline};
use crate::translator::Entry;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) operation: Operation,
    /// Length of the instruction; 0 where nothing is decoded.
    pub(super) bytes: u8,
    /// The run has to look up here: it is to stop, to note that it was here, or never ends.
    pub(super) look_up: bool,
    pub(super) floating_point: bool,
    /// It begins a loop that never ends.
    pub(super) endless: bool,
    /// Where it may be with respect to an IT block.
    pub(super) it_rule: ItRule,
    /// How often it was branched to.
    arrivals: u16,
    /// Where translated code can be entered.
    pub(super) entry: Option<Entry>,
    /// It was to be translated, and cannot be.
    pub(super) is_untranslatable: bool,
    /// What it takes, where cycles are counted.
    pub(super) cost: Option<Cost>,
}

/// What an address is to the engine.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    pub(super) look_up: bool,
    pub(super) entry: Option<Entry>,
    /// The pipeline whose cycles are counted.
    pub(super) pipeline: Option<Pipeline>,
}

const EMPTY: Slot = Slot {
    operation: Operation::Nop,
    bytes: 0,
    look_up: false,
    floating_point: false,
    endless: false,
    it_rule: ItRule::Any,
    arrivals: 0,
    entry: None,
    is_untranslatable: false,
    cost: None,
};

const SLOTS: usize = PAGE_BYTES as usize / 2;
const NONE: u32 = 0;

/// Decoded code.
pub(super) struct Code {
    /// By page: one more than its place in `decoded`.
    places: PageTable,
    decoded: Vec<Box<[Slot]>>,
}

impl Code {
    pub(super) fn new() -> Self {
        Self {
            places: PageTable::new(),
            decoded: Vec::new(),
        }
    }

    /// The instruction at an address, where it is decoded.
    #[inline]
    pub(super) fn at(&self, address: u32) -> Option<&Slot> {
        let place = self.places[(address >> 12) as usize].wrapping_sub(1);
        let page = self.decoded.get(place as usize)?;
        let slot = &page[slot_of(address)];
        (slot.bytes != 0).then_some(slot)
    }

    pub(super) fn decode(
        &mut self,
        address: u32,
        features: &Features,
        memory: &mut Memory,
        marks: Marks,
    ) -> Result<(), Fault> {
        let first = memory.fetch(address)?;
        let after = address.wrapping_add(2);
        let second = match crate::decode::length(first) {
            2 => 0,
            _ => memory.fetch(after)?,
        };
        let instruction = decode(first, second, features)?;
        let endless = is_endless(address, features, memory);
        let slot = Slot {
            operation: instruction.operation,
            bytes: instruction.bytes,
            look_up: marks.look_up || endless,
            endless,
            it_rule: it_rule(&instruction),
            arrivals: 0,
            entry: marks.entry,
            is_untranslatable: false,
            floating_point: instruction.operation.is_floating_point(),
            cost: marks
                .pipeline
                .map(|pipeline| Cost::of(pipeline, &instruction, address)),
        };
        self.page(address >> 12)[slot_of(address)] = slot;
        let reach = match instruction.operation {
            // A loop that does nothing is known by the instructions after its first one.
            Operation::Nop | Operation::Hint => 4 * MOST_INSTRUCTIONS,
            _ => instruction.bytes.into(),
        };
        memory.holds_code(address..address.saturating_add(reach));
        Ok(())
    }

    fn page(&mut self, page: u32) -> &mut [Slot] {
        let place = &mut self.places[page as usize];
        if *place == NONE {
            self.decoded.push(vec![EMPTY; SLOTS].into());
            *place = self.decoded.len() as u32;
        }
        &mut self.decoded[*place as usize - 1]
    }

    /// Whether the run has to look up at an address.
    pub(super) fn look_up_at(&mut self, address: u32, look_up: bool) {
        if self.places[(address >> 12) as usize] != NONE {
            let slot = &mut self.page(address >> 12)[slot_of(address)];
            slot.look_up = look_up || slot.endless;
        }
    }

    /// Counts a branch to an address where no translated code can be entered.
    pub(super) fn count(&mut self, address: u32) -> u16 {
        if self.places[(address >> 12) as usize] == NONE {
            return 0;
        }
        let slot = &mut self.page(address >> 12)[slot_of(address)];
        if slot.entry.is_some() {
            return 0;
        }
        slot.arrivals = slot.arrivals.saturating_add(1);
        slot.arrivals
    }

    /// Counts branches to an address anew.
    pub(super) fn forget_arrivals(&mut self, address: u32) {
        if self.places[(address >> 12) as usize] != NONE {
            self.page(address >> 12)[slot_of(address)].arrivals = 0;
        }
    }

    /// The instruction at an address was to be translated: if it has no entry now, it cannot be.
    pub(super) fn tried_to_translate(&mut self, address: u32) {
        if self.places[(address >> 12) as usize] != NONE {
            let slot = &mut self.page(address >> 12)[slot_of(address)];
            slot.is_untranslatable = slot.entry.is_none();
        }
    }

    /// Translated code can be entered at an address.
    pub(super) fn enter(&mut self, address: u32, entry: Entry) {
        if self.places[(address >> 12) as usize] != NONE {
            self.page(address >> 12)[slot_of(address)].entry = Some(entry);
        }
    }

    /// Translated code is no longer there.
    pub(super) fn drop_entries(&mut self, addresses: &[u32]) {
        for &address in addresses {
            if self.places[(address >> 12) as usize] != NONE {
                let slot = &mut self.page(address >> 12)[slot_of(address)];
                slot.entry = None;
                slot.is_untranslatable = false;
                slot.arrivals = 0;
            }
        }
    }

    /// Forgets a page, and the instruction before it, which may reach into it.
    pub(super) fn forget_page(&mut self, page: u32) {
        if self.places[page as usize] != NONE {
            self.page(page).fill(EMPTY);
        }
        let before = page.wrapping_sub(1) & 0xf_ffff;
        if self.places[before as usize] != NONE {
            self.page(before)[SLOTS - 1] = EMPTY;
        }
    }
}

fn slot_of(address: u32) -> usize {
    (address as usize & (PAGE_BYTES as usize - 1)) / 2
}
