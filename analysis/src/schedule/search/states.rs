//! The sets of operators that a search has found.

use super::super::bits;

const EMPTY: u32 = u32::MAX;

/// How a set was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct SetOrigin {
    /// The set from which, if it is not the first.
    pub(super) parent: u32,
    /// The operator that was run there.
    pub(super) operator: u32,
    /// Peak of the way to the set, in bytes.
    pub(super) peak_bytes: u64,
}

/// Sets of equally many words, each with the best way to it; a hash table with open
/// addressing, so that a set takes little more than its bits.
pub(super) struct States {
    words: usize,
    sets: Vec<u64>,
    origins: Vec<SetOrigin>,
    table: Vec<u32>,
}

impl States {
    pub(super) fn new(words: usize) -> Self {
        Self {
            words,
            sets: Vec::new(),
            origins: Vec::new(),
            table: vec![EMPTY; 64],
        }
    }

    /// An estimate from above of the memory that the sets take, in bytes, with an entry of
    /// a queue for each.
    pub(super) fn memory_bytes(&self) -> u64 {
        let state = self.words * 8 + size_of::<SetOrigin>() + 32;
        let growing = 2 * self.origins.len() * state + self.table.len() * size_of::<u32>();
        // No place is left for more than this many.
        let full = self.origins.len() >= EMPTY as usize - 1;
        if full { u64::MAX } else { growing as u64 }
    }

    pub(super) fn set(&self, index: u32) -> &[u64] {
        let begin = index as usize * self.words;
        &self.sets[begin..begin + self.words]
    }

    pub(super) fn origin(&self, index: u32) -> SetOrigin {
        self.origins[index as usize]
    }

    /// The set's index if it is new or this way to it is better than the one known.
    pub(super) fn insert(&mut self, set: &[u64], way: SetOrigin) -> Option<u32> {
        let place = self.place(set);
        let index = self.table[place];
        if index == EMPTY {
            let index = self.origins.len() as u32;
            self.table[place] = index;
            self.sets.extend_from_slice(set);
            self.origins.push(way);
            if 2 * self.origins.len() > self.table.len() {
                self.grow();
            }
            return Some(index);
        }
        let known = &mut self.origins[index as usize];
        let better = way.peak_bytes < known.peak_bytes;
        if better {
            *known = way;
        }
        better.then_some(index)
    }

    /// Where the set is in the table, or where it belongs.
    fn place(&self, set: &[u64]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(set) as usize & mask;
        while self.table[place] != EMPTY && self.set(self.table[place]) != set {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![EMPTY; self.table.len() * 2];
        for index in 0..self.origins.len() as u32 {
            let place = self.place(self.set(index));
            self.table[place] = index;
        }
    }

    /// The operators run and their peaks, from the first set to this one.
    pub(super) fn way_to(&self, index: u32) -> Vec<SetOrigin> {
        let mut way = Vec::new();
        let mut origin = self.origin(index);
        while origin.parent != EMPTY {
            way.push(origin);
            origin = self.origin(origin.parent);
        }
        way.reverse();
        way
    }
}

impl SetOrigin {
    /// Of the first set.
    pub(super) fn first(peak_bytes: u64) -> Self {
        Self {
            parent: EMPTY,
            operator: 0,
            peak_bytes,
        }
    }
}

fn hash(set: &[u64]) -> u64 {
    set.iter()
        .fold(bits::words(set.len()) as u64, |hash, &word| {
            let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        })
}
