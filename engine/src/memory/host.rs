//! The host's memory for that of the guest: what translated code is given, a word for each page of the
//! guest's address space for loads, one for stores, then the bytes. One mapping, so that translated
//! code needs one pointer, to the first of the words.

use super::page_table::{Words, map};
use memmap2::MmapMut;

/// Bytes before the words, for what translated code is given: a page of the host.
pub(crate) const GIVEN: usize = 4096;
/// Where the words for stores begin.
pub(crate) const STORES: usize = size_of::<Words>();
/// Where the guest's bytes begin.
pub(crate) const BYTES: usize = 2 * size_of::<Words>();

/// Memory of the host.
pub(super) struct HostMemory {
    memory: MmapMut,
}

/// The tables of a [`HostMemory`].
#[repr(C)]
pub(super) struct Tables {
    /// By page: its place in the bytes less its address, and tags; 0 where there is none.
    pub(super) loads: Words,
    /// The same; 0 where nothing can be stored, too.
    pub(super) stores: Words,
}

impl HostMemory {
    /// With so many bytes of the guest, all 0.
    pub(super) fn new(guest_bytes: usize) -> Self {
        Self {
            memory: map(GIVEN + BYTES + guest_bytes),
        }
    }

    #[inline]
    pub(super) fn tables(&self) -> &Tables {
        // SAFETY: the mapping is longer, they are aligned to pages of the host, and any bytes are words.
        #[expect(unsafe_code, reason = "bytes become words")]
        unsafe {
            &*self.memory.as_ptr().add(GIVEN).cast()
        }
    }

    #[inline]
    pub(super) fn tables_mut(&mut self) -> &mut Tables {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "bytes become words")]
        unsafe {
            &mut *self.memory.as_mut_ptr().add(GIVEN).cast()
        }
    }

    /// The guest's bytes, one region after the other.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[GIVEN + BYTES..]
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[GIVEN + BYTES..]
    }

    /// For translated code: the first of the words, with [`GIVEN`] bytes before it.
    pub(super) fn start(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(GIVEN)
    }
}
