//! Guest memory: regions, private peripherals, what is watched, and the accesses recorded.
//!
//! All regions lie one after the other in one buffer. Two tables by guest page, one for loads and
//! one for stores, say how far a page is in it from its guest address; tags in an entry's low bits
//! send an access the long way: to watched pages, where it is recorded, and to pages that hold
//! decoded code, where a store has the code decoded again.

mod code_page;
mod event;
mod event_list;
mod host;
mod page_table;
mod watch;

pub use event::{Condition, Event, Moment};
pub(crate) use event::{EVENT_BYTES, TIME_BITS, event_form};
pub use event_list::EventList;
pub(crate) use host::{BYTES, GIVEN, STORES};
pub(crate) use page_table::PageTable;
pub use watch::Watch;

use crate::fault::{AccessKind, Fault};
use crate::features::Traps;
use code_page::CodePage;
use host::HostMemory;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use watch::Watches;

/// Granularity of regions in bytes.
pub const PAGE_BYTES: u32 = 4096;
/// Accesses recorded before a run stops to have them taken.
pub const EVENTS: usize = 1 << 13;
/// Room for the accesses that translated code makes before it looks whether it has to stop.
pub(crate) const EVENTS_BEYOND: usize = 1 << 12;

pub(crate) const TAGS: u32 = PAGE_BYTES - 1;
pub(crate) const MAPPED: u32 = 1;
pub(crate) const WATCHED: u32 = 2;
const CODE: u32 = 4;

/// What a region is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Loads and fetches.
    Flash,
    /// Everything.
    Ram,
    /// Loads and stores, which read what was written last.
    Device,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// It does.
    Continue,
    /// It stops after this instruction.
    Stop,
}

/// The private peripherals of the core.
pub trait Peripherals {
    /// What a load of 1, 2 or 4 bytes gives.
    fn load(&mut self, moment: Moment, address: u32, size_bytes: u32) -> u32;
    /// A store of 1, 2 or 4 bytes.
    fn store(&mut self, moment: Moment, address: u32, size_bytes: u32, value: u32) -> Attention;
    /// Whether CPACR has the floating-point unit on.
    fn floating_point_enabled(&self) -> bool;
    /// What CCR says is a fault.
    fn traps(&self) -> Traps {
        Traps::NONE
    }
}

/// Why memory cannot be mapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// No whole pages below 4 GiB.
    #[error("[{:#x}, {:#x}) is not a range of whole pages of 4096 bytes below 4 GiB", .0.start, .0.end)]
    NotPages(Range<u64>),
    /// Something is there already.
    #[error("[{:#x}, {:#x}) overlaps with memory that is there already", .0.start, .0.end)]
    Overlap(Range<u64>),
}

struct Region {
    range: Range<u64>,
    kind: Kind,
}

impl Region {
    fn holds(&self, range: &Range<u64>) -> bool {
        self.range.start <= range.start && range.end <= self.range.end
    }
}

/// Guest memory.
pub struct Memory {
    host: HostMemory,
    regions: Vec<Region>,
    peripherals: Option<(Range<u64>, Box<dyn Peripherals>)>,
    watches: Watches,
    events: EventList,
    /// Conditional instructions are recorded whether or not their conditions hold.
    pub(crate) records_every_outcome: bool,
    /// What the condition of the instruction that is executed says, if that is recorded.
    pub(crate) condition: Condition,
    /// The instruction that is executed next follows an IT instruction, where outcomes are recorded.
    pub(crate) is_first_in_block: bool,
    /// Conditional instructions whose accesses with the other outcome are not known.
    pub(crate) unknown_outcomes: BTreeSet<u32>,
    /// The pages whose stores are noticed.
    code: HashMap<u32, CodePage>,
    /// Pages that are to be decoded anew.
    changed_code: Vec<u32>,
    /// The run has to look up: events to be taken, changed code, a request of the peripherals.
    pub attention: bool,
    /// The private peripherals have asked for a stop.
    pub stop_requested: bool,
    /// What is executed is undone later: it is no access.
    pub(crate) is_aside: bool,
}

impl Memory {
    /// Regions of zeros, which take no memory of the host until they are stored to.
    ///
    /// # Errors
    /// When one is no range of whole pages, or two overlap.
    pub fn new(regions: impl IntoIterator<Item = (Range<u64>, Kind)>) -> Result<Self, MapError> {
        let mut memory = Self {
            host: HostMemory::new(0),
            regions: Vec::new(),
            peripherals: None,
            watches: Watches::default(),
            events: EventList::with_room(),
            records_every_outcome: false,
            condition: Condition::Unconditional,
            is_first_in_block: false,
            unknown_outcomes: BTreeSet::new(),
            code: HashMap::new(),
            changed_code: Vec::new(),
            attention: false,
            stop_requested: false,
            is_aside: false,
        };
        let mut size_bytes = 0;
        for (range, kind) in regions {
            memory.check(&range)?;
            size_bytes += (range.end - range.start) as usize;
            memory.regions.push(Region { range, kind });
        }
        memory.host = HostMemory::new(size_bytes);
        memory.map();
        Ok(memory)
    }

    /// Enters all regions, one after the other.
    fn map(&mut self) {
        let tables = self.host.tables_mut();
        let mut place = 0_u32;
        for region in &self.regions {
            for page in pages(&region.range) {
                let entry = place.wrapping_sub((page as u32) << 12) | MAPPED;
                tables.loads[page] = entry;
                if region.kind != Kind::Flash {
                    tables.stores[page] = entry;
                }
                place = place.wrapping_add(PAGE_BYTES);
            }
        }
    }

    /// The addresses of flash memory.
    pub(crate) fn flash(&self) -> Vec<Range<u32>> {
        let flash = self.regions.iter().filter(|it| it.kind == Kind::Flash);
        flash
            .map(|it| it.range.start as u32..u32::try_from(it.range.end).unwrap_or(u32::MAX))
            .collect()
    }

    /// Adds the private peripherals.
    ///
    /// # Errors
    /// When the range is none of whole pages, or something is there.
    pub fn map_peripherals(
        &mut self,
        range: Range<u64>,
        peripherals: Box<dyn Peripherals>,
    ) -> Result<(), MapError> {
        self.check(&range)?;
        self.peripherals = Some((range, peripherals));
        Ok(())
    }

    fn check(&self, range: &Range<u64>) -> Result<(), MapError> {
        let page = u64::from(PAGE_BYTES);
        let whole = range.start.is_multiple_of(page) && range.end.is_multiple_of(page);
        if !whole || range.is_empty() || range.end > 1 << 32 {
            return Err(MapError::NotPages(range.clone()));
        }
        let regions = self.regions.iter().map(|region| &region.range);
        let peripherals = self.peripherals.iter().map(|(range, _)| range);
        let mut taken = regions.chain(peripherals);
        if taken.any(|other| other.start < range.end && range.start < other.end) {
            return Err(MapError::Overlap(range.clone()));
        }
        Ok(())
    }

    /// Records the accesses to these ranges from now on, and to no others. Accesses that were
    /// recorded and not taken are dropped.
    pub fn watch(&mut self, watches: &[Watch]) {
        for watch in std::mem::take(&mut self.watches).ranges() {
            self.tag(watch, |entry| entry & !WATCHED);
        }
        for watch in watches {
            self.tag(watch, |entry| entry | WATCHED);
        }
        self.watches = Watches::new(watches);
        self.events.clear();
    }

    fn tag(&mut self, watch: &Watch, change: impl Fn(u32) -> u32) {
        if watch.range.is_empty() {
            return;
        }
        for page in pages(&watch.range) {
            let tables = self.host.tables_mut();
            for table in [&mut tables.loads, &mut tables.stores] {
                if let Some(entry) = table.get_mut(page).filter(|entry| **entry != 0) {
                    *entry = change(*entry);
                }
            }
        }
    }

    /// The accesses to watched ranges since the last call, in order.
    pub fn take_events(&mut self) -> EventList {
        let mut taken = EventList::default();
        self.move_events_to(&mut taken);
        taken
    }

    /// The same, added to those in a list.
    pub fn move_events_to(&mut self, taken: &mut EventList) {
        let watches = &mut self.watches;
        self.events.retain(|event| watches.want(event));
        self.move_all_events_to(taken);
    }

    /// The same, and what else was accessed in the same pages.
    pub fn move_all_events_to(&mut self, taken: &mut EventList) {
        if taken.is_empty() && !self.events.is_empty() {
            *taken = std::mem::replace(&mut self.events, EventList::with_room());
        } else {
            self.events.move_to(taken);
        }
    }

    /// Where translated code finds the memory.
    pub(crate) fn host_memory(&mut self) -> *mut u8 {
        self.host.start()
    }

    /// Where translated code records the next access, and from where on it has to stop.
    pub(crate) fn event_places(&mut self) -> Range<*mut u8> {
        let count = self.events.len();
        let places = self.events.places();
        let at = |index: usize| places.wrapping_add(index).cast();
        at(count)..at(EVENTS)
    }

    /// Translated code has recorded accesses up to here.
    pub(crate) fn set_next_event(&mut self, place: *const u8) {
        let bytes = place.addr() - self.events.places().addr();
        self.events.set_count(bytes / size_of::<Event>());
        self.attention |= self.events_are_full();
    }

    /// Whether recorded accesses have to be taken before more are made.
    pub fn events_are_full(&self) -> bool {
        self.events.len() >= EVENTS
    }

    /// Reads memory from outside; `None` where there is none.
    pub fn read(&self, address: u32, size_bytes: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(size_bytes);
        let (mut address, end) = (u64::from(address), u64::from(address) + size_bytes as u64);
        while address < end {
            let start = offset(
                *self.host.tables().loads.get((address >> 12) as usize)?,
                address as u32,
            )?;
            let length = u64::from(PAGE_BYTES - (address as u32 & TAGS)).min(end - address);
            bytes.extend_from_slice(&self.host.bytes()[start..start + length as usize]);
            address += length;
        }
        Some(bytes)
    }

    /// Writes memory from outside, read-only memory too; false where there is none, and nothing is
    /// written. Code that lies there has to be forgotten by the engine.
    #[must_use]
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        let (mut address, end) = (u64::from(address), u64::from(address) + bytes.len() as u64);
        let is_mapped = |page: u64| {
            self.host
                .tables()
                .loads
                .get(page as usize)
                .is_some_and(|&entry| entry != 0)
        };
        if address < end && !(address >> 12..=(end - 1) >> 12).all(is_mapped) {
            return false;
        }
        let mut bytes = bytes;
        while let Some(start) = (!bytes.is_empty())
            .then(|| {
                offset(
                    self.host.tables().loads[(address >> 12) as usize],
                    address as u32,
                )
            })
            .flatten()
        {
            let length = bytes
                .len()
                .min((PAGE_BYTES - (address as u32 & TAGS)) as usize);
            let (now, later) = bytes.split_at(length);
            self.host.bytes_mut()[start..start + length].copy_from_slice(now);
            bytes = later;
            address += length as u64;
        }
        true
    }

    /// Whether instructions can be fetched there.
    pub fn is_code(&self, address: u32) -> bool {
        let address = u64::from(address);
        let mut regions = self.regions.iter();
        regions.any(|region| region.kind != Kind::Device && region.range.contains(&address))
    }

    /// Whether these bytes can be loaded and not stored to.
    pub(crate) fn is_read_only(&self, address: u32, size_bytes: u32) -> bool {
        let tables = self.host.tables();
        let last = address.wrapping_add(size_bytes.saturating_sub(1));
        let mut ends = [page_of(address), page_of(last)].into_iter();
        ends.all(|page| tables.loads[page] != 0 && tables.stores[page] == 0)
    }

    /// Whether all these bytes can be loaded and not stored to.
    pub(crate) fn is_all_read_only(&self, range: &Range<u64>) -> bool {
        let tables = self.host.tables();
        let is_read_only = |page: usize| {
            let is_mapped = tables.loads.get(page).is_some_and(|&entry| entry != 0);
            is_mapped && tables.stores[page] == 0
        };
        !range.is_empty() && pages(range).all(is_read_only)
    }

    /// The halfword of code there.
    ///
    /// # Errors
    /// [`Fault::Fetch`] where no code can be.
    pub fn fetch(&self, address: u32) -> Result<u16, Fault> {
        let fault = Fault::Fetch { address };
        if !self.is_code(address) {
            return Err(fault);
        }
        let start = offset(self.host.tables().loads[page_of(address)], address).ok_or(fault)?;
        Ok(u16::from_le_bytes([
            self.host.bytes()[start],
            self.host.bytes()[start + 1],
        ]))
    }

    /// Whether this code is there.
    pub(crate) fn has_code(&self, address: u32, bytes: &[u8]) -> bool {
        let range = u64::from(address)..u64::from(address) + bytes.len() as u64;
        let mut regions = self.regions.iter();
        let region = regions.find(|region| region.holds(&range) && region.kind != Kind::Device);
        let start =
            region.and_then(|_| offset(self.host.tables().loads[page_of(address)], address));
        // The pages of a region are one after the other.
        start.is_some_and(|start| self.host.bytes().get(start..start + bytes.len()) == Some(bytes))
    }

    /// Stores to these bytes of code are to be noticed from now on.
    pub fn holds_code(&mut self, bytes: Range<u32>) {
        for address in bytes.step_by(2) {
            let entry = &mut self.host.tables_mut().stores[page_of(address)];
            if *entry != 0 {
                *entry |= CODE;
                let page = self.code.entry(address / PAGE_BYTES).or_default();
                page.add(address);
            }
        }
    }

    /// Pages to be decoded anew, because their code was stored to since the last call, or much beside
    /// it. Stores to them are no longer noticed.
    pub fn take_changed_code(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.changed_code)
    }

    /// Whether the private peripherals have the floating-point unit on.
    pub fn floating_point_enabled(&self) -> bool {
        let mut peripherals = self.peripherals.iter();
        peripherals.any(|(_, peripherals)| peripherals.floating_point_enabled())
    }

    /// What the program wants to be a fault.
    pub fn traps(&self) -> Traps {
        let mut peripherals = self.peripherals.iter();
        peripherals
            .next()
            .map_or(Traps::NONE, |(_, known)| known.traps())
    }

    /// Loads 1, 2, 4 or 8 bytes.
    ///
    /// # Errors
    /// [`Fault::Access`] where memory is missing.
    #[inline]
    pub fn load<const N: usize>(&mut self, moment: Moment, address: u32) -> Result<[u8; N], Fault> {
        let entry = self.host.tables().loads[page_of(address)];
        let within = (address & TAGS) as usize;
        if entry & TAGS == MAPPED && within + N <= PAGE_BYTES as usize {
            let start = address.wrapping_add(entry - MAPPED) as usize;
            if let Some(bytes) = self.host.bytes().get(start..start + N)
                && let Ok(bytes) = bytes.try_into()
            {
                return Ok(bytes);
            }
        }
        self.load_the_long_way(moment, address)
    }

    #[cold]
    fn load_the_long_way<const N: usize>(
        &mut self,
        moment: Moment,
        address: u32,
    ) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        if let Some(peripherals) = peripherals_at(&mut self.peripherals, address, N) {
            for (index, chunk) in bytes.chunks_mut(4).enumerate() {
                let size_bytes = chunk.len() as u32;
                let value = peripherals.load(moment, address + 4 * index as u32, size_bytes);
                chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
            }
            return Ok(bytes);
        }
        let entries = self.entries(AccessKind::Load, address, N)?;
        for (index, byte) in bytes.iter_mut().enumerate() {
            let start = offset(
                self.host.tables().loads[page_of(address.wrapping_add(index as u32))],
                address.wrapping_add(index as u32),
            );
            *byte = start.map_or(0, |start| self.host.bytes()[start]);
        }
        if entries & WATCHED != 0 {
            self.record(AccessKind::Load, moment, address, N);
        }
        Ok(bytes)
    }

    /// Stores 1, 2, 4 or 8 bytes.
    ///
    /// # Errors
    /// [`Fault::Access`] where memory is missing or cannot be stored to.
    #[inline]
    pub fn store<const N: usize>(
        &mut self,
        moment: Moment,
        address: u32,
        bytes: [u8; N],
    ) -> Result<(), Fault> {
        let entry = self.host.tables().stores[page_of(address)];
        let within = (address & TAGS) as usize;
        if entry & TAGS == MAPPED && within + N <= PAGE_BYTES as usize {
            let start = address.wrapping_add(entry - MAPPED) as usize;
            if let Some(place) = self.host.bytes_mut().get_mut(start..start + N) {
                place.copy_from_slice(&bytes);
                return Ok(());
            }
        }
        self.store_the_long_way(moment, address, bytes)
    }

    #[cold]
    fn store_the_long_way<const N: usize>(
        &mut self,
        moment: Moment,
        address: u32,
        bytes: [u8; N],
    ) -> Result<(), Fault> {
        if let Some(peripherals) = peripherals_at(&mut self.peripherals, address, N) {
            for (index, chunk) in bytes.chunks(4).enumerate() {
                let mut word = [0; 4];
                word[..chunk.len()].copy_from_slice(chunk);
                let value = u32::from_le_bytes(word);
                let address = address + 4 * index as u32;
                let attention = peripherals.store(moment, address, chunk.len() as u32, value);
                self.stop_requested |= attention == Attention::Stop;
            }
            // The floating-point unit may have been switched.
            self.attention = true;
            return Ok(());
        }
        let entries = self.entries(AccessKind::Store, address, N)?;
        for (index, byte) in bytes.into_iter().enumerate() {
            let address = address.wrapping_add(index as u32);
            if let Some(start) = offset(self.host.tables().stores[page_of(address)], address) {
                self.host.bytes_mut()[start] = byte;
            }
        }
        if entries & WATCHED != 0 {
            self.record(AccessKind::Store, moment, address, N);
        }
        if entries & CODE != 0 {
            self.note_changed_code(address, N);
        }
        Ok(())
    }

    /// The tags of all pages that an access touches.
    fn entries(&self, kind: AccessKind, address: u32, size: usize) -> Result<u32, Fault> {
        let table = match kind {
            AccessKind::Load => &self.host.tables().loads,
            AccessKind::Store => &self.host.tables().stores,
        };
        let first = page_of(address);
        let last = page_of(address.wrapping_add(size as u32 - 1));
        if table[first] != 0 && table[last] != 0 {
            return Ok((table[first] | table[last]) & TAGS);
        }
        Err(Fault::Access {
            kind,
            address,
            size_bytes: size as u32,
            mapped: self.host.tables().loads[first] != 0 && self.host.tables().loads[last] != 0,
        })
    }

    /// Records an access, made or not; what nobody watches is left out when it is taken.
    pub(crate) fn record(&mut self, kind: AccessKind, moment: Moment, address: u32, size: usize) {
        if self.is_aside {
            return;
        }
        let event = Event::new(kind, moment, address, size as u32);
        self.events.push(event.on(self.condition));
        self.attention |= self.events_are_full();
    }

    /// Data may lie in the same page as code.
    fn note_changed_code(&mut self, address: u32, size: usize) {
        let first = address & !1;
        let last = address.wrapping_add(size as u32 - 1);
        for address in (0..=last.wrapping_sub(first) / 2).map(|half| first.wrapping_add(2 * half)) {
            let number = address / PAGE_BYTES;
            let page = self.code.get_mut(&number);
            if page.is_some_and(|page| page.is_spent_by(address)) {
                self.host.tables_mut().stores[page_of(address)] &= !CODE;
                self.code.remove(&number);
                self.changed_code.push(number);
                self.attention = true;
            }
        }
    }
}

fn page_of(address: u32) -> usize {
    (address >> 12) as usize
}

fn pages(range: &Range<u64>) -> Range<usize> {
    (range.start >> 12) as usize..range.end.div_ceil(u64::from(PAGE_BYTES)) as usize
}

/// Where a byte is, by its page's entry.
fn offset(entry: u32, address: u32) -> Option<usize> {
    (entry != 0).then_some(address.wrapping_add(entry & !TAGS) as usize)
}

fn peripherals_at(
    peripherals: &mut Option<(Range<u64>, Box<dyn Peripherals>)>,
    address: u32,
    size: usize,
) -> Option<&mut dyn Peripherals> {
    let (range, peripherals) = peripherals.as_mut()?;
    let (start, end) = (u64::from(address), u64::from(address) + size as u64);
    (range.start <= start && end <= range.end).then_some(peripherals.as_mut())
}
