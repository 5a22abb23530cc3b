//! Memory of a call: what a function is given, and places for its buffers.

use super::{ALIGNMENT, CONSTANTS, CallError, STACK_BYTES};
use crate::mcu::memory::PAGE_BYTES;
use dmo_analysis::trace::Address;
use std::ops::Range;

/// Memory of a call: what the function is given, and places for its buffers.
#[derive(Debug, Clone)]
pub struct Frame {
    pub(super) stack_top: u64,
    pub(super) ram: Free,
    pub(super) constants: Free,
    pub(super) data: Vec<(Address, Vec<u8>)>,
    pub(super) guards: Vec<Guard>,
    /// Chooses the content of the guards.
    pub(super) seed: u64,
    /// Name of the buffer reserved last.
    pub(super) last: Option<String>,
}

/// Bytes that no store may change.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) range: Range<u64>,
    pub(super) behind: Option<String>,
}

/// All guards of a frame.
#[derive(Debug, Clone)]
pub struct Guards(Vec<Guard>);

impl Guards {
    /// Where they are.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        self.0.iter().map(|guard| guard.range.clone()).collect()
    }

    /// The guard that a store hits, if it hits one.
    pub fn overrun_by(&self, store: &Range<u64>) -> Option<Overrun> {
        let touches = |range: &Range<u64>| store.start < range.end && range.start < store.end;
        let guard = self.0.iter().find(|guard| touches(&guard.range))?;
        Some(Overrun {
            address: Address(store.start.max(guard.range.start) as u32),
            behind: guard.behind.clone(),
        })
    }
}

/// A byte of a guard that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overrun {
    /// The first such byte.
    pub address: Address,
    /// Name of the buffer before the guard, if there is one.
    pub behind: Option<String>,
}

/// Memory that is handed out from its start to its end.
#[derive(Debug, Clone)]
pub(super) struct Free {
    pub(super) memory: &'static str,
    pub(super) next: u64,
    pub(super) range: Range<u64>,
}

impl Free {
    pub(super) fn constants() -> Self {
        Self {
            memory: "flash",
            next: CONSTANTS.start,
            range: CONSTANTS,
        }
    }

    pub(super) fn take(&mut self, what: &str, size_bytes: u64) -> Result<Address, CallError> {
        let start = self.next.next_multiple_of(u64::from(ALIGNMENT));
        let free_bytes = self.range.end.saturating_sub(start);
        if size_bytes > free_bytes {
            return Err(CallError::NoRoom {
                what: what.to_owned(),
                memory: self.memory,
                size_bytes,
                free_bytes,
                start: self.range.start,
                end: self.range.end,
            });
        }
        self.next = start + size_bytes;
        Ok(Address(start as u32))
    }
}

/// Bytes of a guard, so that what crosses the end of a buffer is seen.
const GUARD_BYTES: u64 = 64;

/// The content of a guard: no kernel stores it there by chance.
pub(super) fn canary(guard: &Range<u64>, seed: u64) -> Vec<u8> {
    let byte = |address: u64| {
        let number = address.wrapping_add(seed << 32);
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
    };
    guard.clone().map(byte).collect()
}

impl Frame {
    /// Other guards for each seed: what a kernel loads there makes a difference.
    #[must_use]
    pub fn with_guards(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Places bytes that no store may change, from the end of what was reserved last to
    /// the start of what is reserved next.
    ///
    /// # Errors
    /// When RAM is full.
    pub fn guard(&mut self) -> Result<(), CallError> {
        let start = self.ram.next;
        let end = self.ram.take("the space between buffers", GUARD_BYTES)?.0;
        let range = start..u64::from(end) + GUARD_BYTES;
        let content = canary(&range, self.seed);
        self.data.push((Address(start as u32), content));
        let behind = self.last.take();
        self.guards.push(Guard { range, behind });
        Ok(())
    }

    /// Places such bytes after everything, up to the end of the page, where the RAM of
    /// [`Caller::within`](super::Caller::within) ends.
    pub fn seal(&mut self) {
        let range = self.ram.next..self.ram.next.next_multiple_of(PAGE_BYTES);
        let range = range.start..range.end.min(self.ram.range.end);
        self.data
            .push((Address(range.start as u32), canary(&range, self.seed)));
        let behind = self.guards.last().and_then(|last| last.behind.clone());
        self.guards.push(Guard { range, behind });
    }

    /// Reserves RAM, aligned to 16 bytes.
    ///
    /// # Errors
    /// When RAM is full.
    pub fn reserve(&mut self, what: &str, size_bytes: u64) -> Result<Address, CallError> {
        self.last = Some(what.to_owned());
        self.ram.take(what, size_bytes)
    }

    /// Reserves RAM, and a guard after it.
    ///
    /// # Errors
    /// When RAM is full.
    pub fn reserve_guarded(&mut self, what: &str, size_bytes: u64) -> Result<Address, CallError> {
        let address = self.reserve(what, size_bytes)?;
        self.guard()?;
        Ok(address)
    }

    /// Reserves RAM that starts `residue` bytes after a multiple of 16.
    ///
    /// # Errors
    /// When RAM is full.
    pub fn reserve_at(
        &mut self,
        what: &str,
        size_bytes: u64,
        residue: u64,
    ) -> Result<Address, CallError> {
        let before = residue % u64::from(ALIGNMENT);
        let start = self.ram.take(what, size_bytes.saturating_add(before))?;
        Ok(Address(start.0 + before as u32))
    }

    /// Places bytes in flash, where the function can only load them.
    ///
    /// # Errors
    /// When flash is full.
    pub fn place(&mut self, what: &str, bytes: Vec<u8>) -> Result<Address, CallError> {
        let address = self.constants.take(what, bytes.len() as u64)?;
        self.data.push((address, bytes));
        Ok(address)
    }

    /// Places bytes in flash that are made only if there is room for them.
    ///
    /// # Errors
    /// When flash is full.
    pub fn place_made(
        &mut self,
        what: &str,
        size_bytes: u64,
        make: impl FnOnce() -> Vec<u8>,
    ) -> Result<Address, CallError> {
        let address = self.constants.take(what, size_bytes)?;
        self.data.push((address, make()));
        Ok(address)
    }

    /// Places words in flash: a structure of 32-bit fields, or an array of them.
    ///
    /// # Errors
    /// When flash is full.
    pub fn words(&mut self, what: &str, words: &[i32]) -> Result<Address, CallError> {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.place(what, bytes)
    }

    /// The memory of the stack, with what every call has on top of it.
    pub fn stack(&self) -> Range<u64> {
        self.stack_top - u64::from(STACK_BYTES)..self.stack_top
    }

    /// What was placed in flash so far, by its address.
    pub fn flash(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let data = self.data.iter();
        let in_flash = data.filter(|(address, _)| CONSTANTS.contains(&address.0.into()));
        in_flash.map(|(address, bytes)| (address.0, &bytes[..]))
    }

    /// The guards placed so far by [`Self::guard`].
    pub fn guards(&self) -> Guards {
        Guards(self.guards.clone())
    }

    /// Fills memory that has been reserved.
    pub fn fill(&mut self, address: Address, bytes: Vec<u8>) {
        self.data.push((address, bytes));
    }
}
