//! When each byte of the buffers was stored first, stored last and used last.
//!
//! 24 bytes for each byte that a tensor covers, whatever the length of the trace.

use crate::trace::{Address, Tensor, Time};

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

/// The lives of a page of bytes. Apart from each other, as most loads need the last uses alone.
#[derive(Debug)]
struct Page {
    first_store: Vec<Time>,
    last_store: Vec<Time>,
    last_use: Vec<Time>,
}

impl Page {
    fn new() -> Self {
        let never = || vec![0; PAGE_SIZE];
        Self {
            first_store: never(),
            last_store: never(),
            last_use: never(),
        }
    }

    fn life(&self, byte: usize) -> ByteLife {
        ByteLife {
            first_store: self.first_store[byte],
            last_store: self.last_store[byte],
            last_use: self.last_use[byte],
        }
    }
}

/// The lives of adjacent bytes: of each, in address order, what [`ByteLife`] has.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of ByteLife")]
pub struct ByteLives<'a> {
    pub first_store: &'a mut [Time],
    pub last_store: &'a mut [Time],
    pub last_use: &'a mut [Time],
}

impl ByteLives<'_> {
    /// How many bytes they are of.
    #[inline]
    pub fn count(&self) -> usize {
        self.last_use.len()
    }

    /// The life of the byte at this position.
    #[inline]
    pub fn life(&self, index: usize) -> ByteLife {
        ByteLife {
            first_store: self.first_store[index],
            last_store: self.last_store[index],
            last_use: self.last_use[index],
        }
    }
}

/// The page of an access: the next one is usually in the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecentPage {
    number: Option<u32>,
    place: usize,
}

/// [`ByteLife`] of every byte of the guest's buffers, in pages that exist only
/// where a tensor lies.
#[derive(Debug)]
pub struct Lifetimes {
    index: PageIndex,
    pages: Vec<Page>,
}

/// 1 + place of each page of the address space, 0 where none is: a table of tables, of which most
/// are empty.
#[derive(Debug)]
struct PageIndex(Vec<Vec<u32>>);

const TABLE_BITS: u32 = (32 - PAGE_BITS) / 2;

impl PageIndex {
    /// Of the page with this byte, which is there.
    #[inline]
    fn place(&self, address: u32) -> usize {
        let table = &self.0[(address >> (PAGE_BITS + TABLE_BITS)) as usize];
        table[(address >> PAGE_BITS) as usize % (1 << TABLE_BITS)] as usize - 1
    }

    fn entry(&mut self, page: u32) -> &mut u32 {
        let table = &mut self.0[(page >> TABLE_BITS) as usize];
        if table.is_empty() {
            *table = vec![0; 1 << TABLE_BITS];
        }
        &mut table[page as usize % (1 << TABLE_BITS)]
    }

    /// Each page that is there, by address, and its place.
    fn all(&self) -> impl Iterator<Item = (u32, usize)> {
        let tables = self.0.iter().zip(0..);
        tables.flat_map(|(table, number)| {
            let pages = table.iter().zip(number << TABLE_BITS..);
            pages
                .filter(|(place, _)| **place != 0)
                .map(|(&place, page)| (page, place as usize - 1))
        })
    }
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            index: PageIndex(vec![Vec::new(); 1 << TABLE_BITS]),
            pages: Vec::new(),
        }
    }
}

impl Lifetimes {
    /// Makes room for the bytes of a tensor; those that are known keep their life.
    pub fn cover(&mut self, tensor: &Tensor) {
        let last_byte = (tensor.end() - 1) >> PAGE_BITS;
        for page in u64::from(tensor.address.0) >> PAGE_BITS..=last_byte {
            let place = self.index.entry(page as u32);
            if *place == 0 {
                self.pages.push(Page::new());
                *place = self.pages.len() as u32;
            }
        }
    }

    /// The lives of bytes that [`cover`](Self::cover) has made room for, from an address on: of as
    /// many, up to `most`, as lie in one page.
    #[inline]
    pub fn bytes(&mut self, address: u32, most: usize) -> ByteLives<'_> {
        let page = self.index.place(address);
        let start = address as usize & (PAGE_SIZE - 1);
        let range = start..PAGE_SIZE.min(start + most);
        let page = &mut self.pages[page];
        ByteLives {
            first_store: &mut page.first_store[range.clone()],
            last_store: &mut page.last_store[range.clone()],
            last_use: &mut page.last_use[range],
        }
    }

    /// The same of the bytes of an access, if all of them lie in one page. The page of the last access
    /// that `recent` knows is found at once.
    #[inline]
    pub fn in_page(
        &mut self,
        recent: &mut RecentPage,
        address: u32,
        size_bytes: u8,
    ) -> Option<ByteLives<'_>> {
        let number = address >> PAGE_BITS;
        if recent.number != Some(number) {
            *recent = RecentPage {
                number: Some(number),
                place: self.index.place(address),
            };
        }
        let start = address as usize & (PAGE_SIZE - 1);
        let range = start..start + usize::from(size_bytes);
        let page = &mut self.pages[recent.place];
        Some(ByteLives {
            first_store: page.first_store.get_mut(range.clone())?,
            last_store: page.last_store.get_mut(range.clone())?,
            last_use: page.last_use.get_mut(range)?,
        })
    }

    /// Calls `change` with the lives of all bytes of a tensor, in address order.
    pub fn each_of(&mut self, tensor: &Tensor, mut change: impl FnMut(ByteLives<'_>)) {
        let mut address = u64::from(tensor.address.0);
        while address < tensor.end() {
            let lives = self.bytes(address as u32, (tensor.end() - address) as usize);
            address += lives.count() as u64;
            change(lives);
        }
    }

    /// The lives of a tensor's bytes, in address order.
    pub fn tensor(&self, tensor: &Tensor) -> impl Iterator<Item = ByteLife> {
        (u64::from(tensor.address.0)..tensor.end()).map(|address| {
            let page = self.index.place(address as u32);
            self.pages[page].life(address as usize & (PAGE_SIZE - 1))
        })
    }

    /// Every byte with room, in ascending address order.
    pub fn all(&self) -> impl Iterator<Item = (Address, ByteLife)> {
        self.index.all().flat_map(|(page, place)| {
            let base = page << PAGE_BITS;
            let lives = &self.pages[place];
            (0..PAGE_SIZE).map(move |byte| (Address(base + byte as u32), lives.life(byte)))
        })
    }
}
