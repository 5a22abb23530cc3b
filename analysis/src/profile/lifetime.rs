//! When each byte of the buffers was stored first, stored last and used last.
//!
//! 24 bytes for each byte that a tensor covers, whatever the length of the trace.

use crate::trace::{Address, Tensor, Time};
use std::collections::BTreeSet;

/// The life of one byte. Time 0 stands for 'never'.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteLife {
    /// First store within the current layer, if it is not older than the layer.
    pub first_store: Time,
    /// When the byte got the value it has.
    pub last_store: Time,
    /// Last use of that value, or of an older one.
    pub last_use: Time,
}

impl ByteLife {
    /// The stretch in which the byte holds a value that is needed, if there is one.
    pub fn in_use(&self) -> Option<(Time, Time)> {
        (self.last_use > self.last_store).then_some((self.last_store, self.last_use))
    }
}

const PAGE_BITS: u32 = 12;
const PAGE_SIZE: usize = 1 << PAGE_BITS;

/// [`ByteLife`] of every byte of the guest's buffers, in pages that exist only
/// where a tensor lies.
#[derive(Debug)]
pub struct Lifetimes {
    /// 1 + index into `pages` for each page of the address space, 0 where none is.
    index: Vec<u32>,
    pages: Vec<Vec<ByteLife>>,
    /// The pages that exist: of the index only these entries are ever read, so that the others
    /// take no memory.
    covered: BTreeSet<u32>,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            index: vec![0; 1 << (32 - PAGE_BITS)],
            pages: Vec::new(),
            covered: BTreeSet::new(),
        }
    }
}

impl Lifetimes {
    /// Makes room for the bytes of a tensor; those that are known keep their life.
    pub fn cover(&mut self, tensor: &Tensor) {
        let last_byte = (tensor.end() - 1) >> PAGE_BITS;
        for page in u64::from(tensor.address.0) >> PAGE_BITS..=last_byte {
            let slot = &mut self.index[page as usize];
            if *slot == 0 {
                self.pages.push(vec![ByteLife::default(); PAGE_SIZE]);
                *slot = self.pages.len() as u32;
                self.covered.insert(page as u32);
            }
        }
    }

    /// The life of a byte that [`cover`](Self::cover) has made room for.
    #[inline]
    pub fn byte(&mut self, address: u32) -> &mut ByteLife {
        let page = self.index[(address >> PAGE_BITS) as usize] as usize;
        &mut self.pages[page - 1][address as usize & (PAGE_SIZE - 1)]
    }

    /// The lives of bytes from an address on: as many, up to `most`, as lie in one page.
    #[inline]
    pub fn bytes(&mut self, address: u32, most: usize) -> &mut [ByteLife] {
        let page = self.index[(address >> PAGE_BITS) as usize] as usize;
        let start = address as usize & (PAGE_SIZE - 1);
        &mut self.pages[page - 1][start..PAGE_SIZE.min(start + most)]
    }

    /// The lives of a tensor's bytes, in address order.
    pub fn tensor<'a>(&'a self, tensor: &Tensor) -> impl Iterator<Item = &'a ByteLife> {
        (u64::from(tensor.address.0)..tensor.end()).map(|address| {
            let page = self.index[(address >> PAGE_BITS) as usize] as usize;
            &self.pages[page - 1][address as usize & (PAGE_SIZE - 1)]
        })
    }

    /// Every byte with room, in ascending address order.
    pub fn all(&self) -> impl Iterator<Item = (Address, &ByteLife)> {
        self.covered.iter().flat_map(|&page| {
            let base = page << PAGE_BITS;
            let slot = self.index[page as usize] as usize;
            let lives = self.pages[slot - 1].iter().enumerate();
            lives.map(move |(byte, life)| (Address(base + byte as u32), life))
        })
    }
}
