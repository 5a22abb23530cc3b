//! The arena: who owns each byte, and who stored it when.

use super::buffer::{Buffer, NO_OWNER, Neighbour, PlannedBuffer};
use super::{MOST_ARENA_BYTES, ReplayError};
use crate::trace::{Address, Event, Time};
use std::ops::Range;

/// From the lowest to the highest byte that anyone holds.
#[derive(Debug)]
pub(super) struct Memory {
    /// Of the first byte, in the arena.
    offset: u64,
    buffers: Vec<Buffer>,
    owners: Vec<u16>,
    /// When the operator stored it; 0 for what was there before.
    times: Vec<Time>,
    pcs: Vec<u32>,
}

impl Memory {
    pub(super) fn new(planned: &[PlannedBuffer]) -> Result<Self, ReplayError> {
        let occupied = || planned.iter().filter(|planned| planned.size > 0);
        let offset = occupied().map(|planned| planned.offset).min().unwrap_or(0);
        let end = occupied().map(PlannedBuffer::end).max().unwrap_or(0);
        let length = end.saturating_sub(u128::from(offset));
        if length > u128::from(MOST_ARENA_BYTES) {
            return Err(ReplayError::Arena {
                given: u64::try_from(length).unwrap_or(u64::MAX),
                limit: MOST_ARENA_BYTES,
            });
        }
        let length = length as usize;
        let buffers = planned.iter();
        let buffers = buffers.map(|planned| Buffer::new(planned, offset, length));
        let mut memory = Self {
            offset,
            buffers: buffers.collect(),
            owners: vec![NO_OWNER; length],
            times: vec![0; length],
            pcs: vec![0; length],
        };
        let mut pairs = Vec::new();
        memory.each_sharing(|one, other| {
            // What only waits for later operators does nothing by itself.
            if memory.buffers[one].acts() || memory.buffers[other].acts() {
                pairs.extend([(one, other), (other, one)]);
            }
        });
        for (buffer, other) in pairs {
            let neighbour = Neighbour::new(other as u16 + 1);
            memory.buffers[buffer].neighbours.push(neighbour);
        }
        Ok(memory)
    }

    /// Each pair of buffers that have bytes in common, by position, the lower number first.
    fn each_sharing(&self, mut visit: impl FnMut(usize, usize)) {
        let occupied = (0..self.buffers.len()).filter(|&index| self.buffers[index].size > 0);
        let mut by_start: Vec<usize> = occupied.collect();
        by_start.sort_by_key(|&index| self.buffers[index].start);
        let mut open: Vec<usize> = Vec::new();
        for index in by_start {
            let start = self.buffers[index].start;
            open.retain(|&other| self.buffers[other].bytes().end > start);
            for &other in &open {
                visit(other.min(index), other.max(index));
            }
            open.push(index);
        }
    }

    /// Each pair that holds content before the operator begins and shares bytes: which two,
    /// in the order in which they are laid, and which bytes of the memory.
    pub(super) fn each_shared_at_begin(&self, mut visit: impl FnMut(u16, u16, Range<usize>)) {
        self.each_sharing(|one, other| {
            let [a, b] = [one, other].map(|index| &self.buffers[index]);
            let [first, second] = [a.bytes_before(), b.bytes_before()];
            let bytes = first.start.max(second.start)..first.end.min(second.end);
            if !bytes.is_empty() {
                visit(one as u16 + 1, other as u16 + 1, bytes);
            }
        });
    }

    /// Gives the buffers of content their bytes.
    pub(super) fn lay(&mut self) {
        for (buffer, owner) in self.buffers.iter().zip(1..) {
            self.owners[buffer.bytes_before()].fill(owner);
        }
    }

    pub(super) fn buffer(&self, owner: u16) -> Option<&Buffer> {
        self.buffers.get(usize::from(owner).checked_sub(1)?)
    }

    /// Where a buffer starts in the memory.
    pub(super) fn start(&self, owner: u16) -> usize {
        self.buffer(owner).map_or(0, |buffer| buffer.start)
    }

    /// Where in the arena a byte of the memory lies.
    pub(super) fn offset(&self, at: usize) -> u64 {
        self.offset + at as u64
    }

    /// Its content is there from the start, and nobody else has bytes of its place.
    pub(super) fn is_alone(&self, owner: u16) -> bool {
        let alone = |buffer: &Buffer| buffer.is_whole_before() && buffer.neighbours.is_empty();
        self.buffer(owner).is_some_and(alone)
    }

    /// Notes a load, and whether all of its bytes are owned by this buffer.
    #[inline]
    pub(super) fn load(&mut self, owner: u16, event: &Event) -> bool {
        let Some(buffer) = self.buffers.get_mut(usize::from(owner).wrapping_sub(1)) else {
            return false;
        };
        buffer.lowest_load = buffer.lowest_load.min(event.offset);
        let first = buffer.start + event.offset as usize;
        match event.size_bytes {
            1 => self.owners.get(first) == Some(&owner),
            4 => self.owners.get(first..first + 4) == Some(&[owner; 4]),
            size => {
                let owners = self.owners.get(first..first + usize::from(size));
                owners.is_some_and(|owners| owners.iter().all(|&other| other == owner))
            }
        }
    }

    /// Whether there is room for the store.
    #[inline]
    pub(super) fn store(&mut self, owner: u16, event: &Event) -> bool {
        let Some(buffer) = self.buffers.get_mut(usize::from(owner) - 1) else {
            return false;
        };
        let offset = event.offset as usize;
        let length = usize::from(event.size_bytes);
        if offset + length > buffer.size {
            return false;
        }
        let bytes = buffer.start + offset..buffer.start + offset + length;
        let raises = event.end() > buffer.stored_end;
        if let Some(stored) = buffer.stored.get_mut(offset..offset + length) {
            stored.fill(true);
        }
        self.owners[bytes.clone()].fill(owner);
        self.times[bytes.clone()].fill(event.time);
        self.pcs[bytes].fill(event.pc.0);
        if raises {
            self.raise(usize::from(owner) - 1, event.end());
        }
        true
    }

    /// More of a buffer is stored from now on.
    fn raise(&mut self, number: usize, stored_end: u32) {
        for index in 0..self.buffers[number].neighbours.len() {
            let neighbour = self.buffers[number].neighbours[index].owner;
            self.settle(usize::from(neighbour) - 1);
        }
        self.buffers[number].stored_end = stored_end;
    }

    /// The loads since the last time, during which no neighbour stored further up, keep the buffer
    /// so far from what its neighbours have stored.
    fn settle(&mut self, number: usize) {
        let lowest = std::mem::replace(&mut self.buffers[number].lowest_load, u32::MAX);
        for index in 0..self.buffers[number].neighbours.len() {
            let neighbour = self.buffers[number].neighbours[index].owner;
            let stored_end = self.buffers[usize::from(neighbour) - 1].stored_end;
            let needed = &mut self.buffers[number].neighbours[index].needed_displacement;
            *needed = (*needed).max(stored_end.saturating_sub(lowest));
        }
    }

    /// Nothing is loaded or stored any more. What is needed later is loaded then, from its
    /// first byte on.
    pub(super) fn end(&mut self) {
        for number in 0..self.buffers.len() {
            let buffer = &mut self.buffers[number];
            if !buffer.needed.is_empty() {
                let first = buffer.needed.start as u32;
                buffer.lowest_load = buffer.lowest_load.min(first);
            }
            self.settle(number);
        }
    }

    /// The least displacement of one buffer above another that is safe with all larger ones.
    pub(super) fn needed_displacement(&self, owner: u16, writer: u16) -> Option<u64> {
        let neighbours = &self.buffer(owner)?.neighbours;
        let neighbour = neighbours
            .iter()
            .find(|neighbour| neighbour.owner == writer)?;
        Some(u64::from(neighbour.needed_displacement))
    }

    pub(super) fn owner_at(&self, at: usize) -> Option<u16> {
        self.owners.get(at).copied()
    }

    /// What instruction of the operator stored a byte, and when.
    pub(super) fn stored_at(&self, at: usize) -> Option<(Address, Time)> {
        let time = *self.times.get(at)?;
        (time > 0).then_some((Address(*self.pcs.get(at)?), time))
    }

    /// Whether the buffer's byte has had content: from before, or by a store.
    pub(super) fn was_whole(&self, owner: u16, byte: usize) -> bool {
        let whole = |buffer: &Buffer| {
            buffer.before.contains(&byte) || buffer.stored.get(byte) == Some(&true)
        };
        self.buffer(owner).is_some_and(whole)
    }

    /// Runs of these bytes that have had no content: not before, and not by the operator.
    pub(super) fn never_stored(&self, owner: u16, bytes: Range<usize>) -> Vec<Range<u64>> {
        let first = bytes.start as u64;
        let missing = bytes.map(|byte| (!self.was_whole(owner, byte)).then_some(()));
        let missing = runs(missing).map(|(bytes, ())| first + bytes.start..first + bytes.end);
        missing.collect()
    }

    /// Whose content has to be there in the end, and which bytes.
    pub(super) fn needed(&self) -> Vec<(u16, Range<usize>)> {
        let needed = self.buffers.iter().zip(1..);
        let needed = needed.filter(|(buffer, _)| !buffer.needed.is_empty());
        needed
            .map(|(buffer, owner)| (owner, buffer.needed.clone()))
            .collect()
    }

    /// Runs of needed bytes that the buffer has had and lost, each with the one that owns it now.
    pub(super) fn lost(&self, owner: u16, needed: Range<usize>) -> Vec<(Range<u64>, u16)> {
        let start = self.start(owner);
        let first = needed.start as u64;
        let lost = needed.map(|byte| {
            let found = self.owner_at(start + byte)?;
            (found != owner && self.was_whole(owner, byte)).then_some(found)
        });
        let lost = runs(lost).map(|(bytes, by)| (first + bytes.start..first + bytes.end, by));
        lost.collect()
    }
}

/// Runs of equal values.
fn runs<T: PartialEq + Copy>(
    values: impl Iterator<Item = Option<T>>,
) -> impl Iterator<Item = (Range<u64>, T)> {
    let mut found: Vec<(Range<u64>, T)> = Vec::new();
    for (at, value) in (0..).zip(values) {
        let Some(value) = value else {
            continue;
        };
        match found.last_mut() {
            Some((bytes, last)) if bytes.end == at && *last == value => bytes.end += 1,
            _ => found.push((at..at + 1, value)),
        }
    }
    found.into_iter()
}
