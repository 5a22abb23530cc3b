//! A word for each page of the guest's address space.

use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

/// Pages of the guest's address space.
const PAGES: usize = 1 << 20;

type Words = [u32; PAGES];

/// A word for each page, at first 0. Pages that are never used take no memory of the host: an
/// allocator would store all of the zeros.
pub(crate) struct PageTable {
    memory: MmapMut,
}

impl PageTable {
    /// All words 0. Without memory for it the process ends, as with any collection.
    pub(crate) fn new() -> Self {
        match MmapMut::map_anon(size_of::<Words>()) {
            Ok(memory) => Self { memory },
            Err(_) => handle_alloc_error(Layout::new::<Words>()),
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
