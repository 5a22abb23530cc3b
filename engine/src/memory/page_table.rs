//! A word for each page of the guest's address space.

use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

/// Pages of the guest's address space.
const PAGES: usize = 1 << 20;

pub(super) type Words = [u32; PAGES];

/// Memory of the host, all 0, that takes none before it is used: an allocator would store all of the
/// zeros. Without memory for it the process ends, as with any collection.
pub(super) fn map(size_bytes: usize) -> MmapMut {
    match MmapMut::map_anon(size_bytes) {
        Ok(memory) => memory,
        Err(_) => handle_alloc_error(Layout::new::<Words>()),
    }
}

/// A word for each page, at first 0.
pub(crate) struct PageTable {
    memory: MmapMut,
}

impl PageTable {
    /// All words 0.
    pub(crate) fn new() -> Self {
        Self {
            memory: map(size_of::<Words>()),
        }
    }
}

impl Deref for PageTable {
    type Target = Words;

    fn deref(&self) -> &Words {
        // SAFETY: the mapping is as long, is aligned to pages of the host, and any bytes are words.
        #[expect(unsafe_code, reason = "bytes become words")]
        unsafe {
            &*self.memory.as_ptr().cast()
        }
    }
}

impl DerefMut for PageTable {
    fn deref_mut(&mut self) -> &mut Words {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "bytes become words")]
        unsafe {
            &mut *self.memory.as_mut_ptr().cast()
        }
    }
}
