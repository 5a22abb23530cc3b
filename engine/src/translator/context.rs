//! What translated code and the engine exchange.

use crate::core::Core;
use crate::memory::GIVEN;
use crate::timing::Flash;

/// Where translated code leaves.
#[repr(u32)]
pub(super) enum Exit {
    /// At an instruction that other translated code may begin with.
    Branch,
    /// At an instruction that the interpreter has to execute.
    Interpret,
    /// The same, and it has been fetched from memory that may make the core wait.
    InterpretFetched,
}

/// What translated code is given, [`PLACE`] from the host's memory for that of the guest. All pointers
/// are valid while it runs, and nothing else uses what they point to.
#[repr(C)]
pub(super) struct Context {
    pub(super) core: *mut Core,
    /// Where the next access is recorded.
    pub(super) event: *mut u8,
    /// From here on recorded accesses have to be taken.
    pub(super) events_end: *const u8,
    /// Executed instructions at which to leave, shifted by `memory::TIME_BITS`.
    pub(super) until: u64,
    /// Where cycles are counted: what was executed last (`cycles`).
    pub(super) previous: u32,
    /// Where flash memory makes the core wait; else null.
    pub(super) flash: *mut Flash,
}

const _: () = assert!(size_of::<Context>() <= GIVEN);

/// Where the context is.
pub(super) const PLACE: i32 = -(GIVEN as i32);

/// Translated code: given the host's memory for that of the guest, it begins with one of its entries, by
/// number, and returns an [`Exit`].
pub(super) type Code = unsafe extern "C" fn(*mut u8, u32) -> u32;
