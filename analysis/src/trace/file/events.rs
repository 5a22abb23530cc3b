//! A block of events to bytes and back.
//!
//! ```text
//! events u32 | new sites u32 | site column bytes u32 | time column bytes u32
//! new sites, 8 bytes each: pc u32 | tensor u16 | size u8 | kind u8 (0 load, 1 store)
//! site column   per event: index of the site                          varint
//! time column   per event: time since the event before                varint
//! offset column per event: offset since this site's event before      zigzag varint
//! ```
//!
//! Sites are numbered in order of appearance within the layer, over all its blocks.
//! The first event of a layer counts its time from the layer's begin, the first event of a
//! site its offset from 0.

use super::EVENTS_PER_BLOCK_LIMIT;
use super::error::FileDefect;
use super::rules::{OpenLayer, Rule, Site, Violation};
use super::varint::{push_varint, take_varint, unzigzag, zigzag};
use crate::trace::{AccessKind, Address, Event, Time, TraceSink};
use std::collections::HashMap;

const HEADER_BYTES: usize = 16;
const SITE_BYTES: usize = 8;
/// Longest varints: a site index of 20 bits, a time of 64, an offset of 32.
const EVENT_LIMIT_BYTES: usize = 3 + 10 + 5;
/// Longest block: every event at a new site, every varint at its longest.
pub(super) const BLOCK_LIMIT_BYTES: usize =
    HEADER_BYTES + EVENTS_PER_BLOCK_LIMIT * (SITE_BYTES + EVENT_LIMIT_BYTES);

/// Events that the decoder hands over at once: few enough to stay in the cache.
const BATCH: usize = 1 << 12;

/// A site, and where it was last.
#[derive(Debug, Clone, Copy)]
struct SiteState {
    site: Site,
    highest_offset: u32,
    offset: u32,
    /// The site of the event that followed last time; a guess at what follows next.
    next: u32,
}

impl SiteState {
    fn new(site: Site, highest_offset: u32, index: u32) -> Self {
        Self {
            site,
            highest_offset,
            offset: 0,
            next: index,
        }
    }
}

/// Collects the events of one layer into blocks.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    sites: Vec<SiteState>,
    index: HashMap<Site, u32>,
    last_site: u32,
    time: Time,
    count: usize,
    new_sites: Vec<u8>,
    site_column: Vec<u8>,
    time_column: Vec<u8>,
    offset_column: Vec<u8>,
    block: Vec<u8>,
}

impl Encoder {
    /// A layer begins.
    pub fn begin(&mut self, time: Time) {
        self.sites.clear();
        self.index.clear();
        self.last_site = 0;
        self.time = time;
    }

    /// Takes events until the block is full; gives those that are left.
    pub fn push<'a>(
        &mut self,
        events: &'a [Event],
        layer: &mut OpenLayer,
    ) -> Result<&'a [Event], Violation> {
        let room = EVENTS_PER_BLOCK_LIMIT - self.count;
        let (now, later) = events.split_at(room.min(events.len()));
        for (position, event) in now.iter().enumerate() {
            let at = |rule| (position, rule);
            layer
                .check_time(event.time, self.time)
                .map_err(at)
                .and_then(|()| self.push_event(event, layer).map_err(at))
                .map_err(|(position, rule)| layer.violation(position, rule))?;
        }
        self.count += now.len();
        layer.pass(now.len(), self.time);
        Ok(later)
    }

    #[inline]
    fn push_event(&mut self, event: &Event, layer: &mut OpenLayer) -> Result<(), Rule> {
        let site = Site::from(event);
        let index = self.site_index(site, layer)?;
        let state = &mut self.sites[index as usize];
        if event.offset > state.highest_offset {
            return Err(layer.beyond_tensor(site, event.offset));
        }
        let step = event.offset.wrapping_sub(state.offset) as i32;
        state.offset = event.offset;
        push_varint(&mut self.site_column, u64::from(index));
        push_varint(&mut self.time_column, event.time - self.time);
        push_varint(&mut self.offset_column, u64::from(zigzag(step)));
        self.time = event.time;
        Ok(())
    }

    #[inline]
    fn site_index(&mut self, site: Site, layer: &mut OpenLayer) -> Result<u32, Rule> {
        let mut index = 0;
        let mut known = false;
        if let Some(last) = self.sites.get(self.last_site as usize) {
            index = last.next;
            known = self.sites[index as usize].site == site;
        }
        if !known {
            index = match self.index.get(&site) {
                Some(&index) => index,
                None => self.declare(site, layer)?,
            };
            self.sites[self.last_site as usize].next = index;
        }
        self.last_site = index;
        Ok(index)
    }

    fn declare(&mut self, site: Site, layer: &mut OpenLayer) -> Result<u32, Rule> {
        let highest_offset = layer.admit(site)?;
        let index = self.sites.len() as u32;
        self.sites.push(SiteState::new(site, highest_offset, index));
        self.index.insert(site, index);
        self.new_sites.extend(site.pc.0.to_le_bytes());
        self.new_sites.extend(site.tensor.to_le_bytes());
        self.new_sites.push(site.size_bytes);
        self.new_sites
            .push(u8::from(site.kind == AccessKind::Store));
        Ok(index)
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn is_full(&self) -> bool {
        self.count == EVENTS_PER_BLOCK_LIMIT
    }

    /// The events since the last block, as bytes.
    pub fn take_block(&mut self) -> &[u8] {
        let header = [
            self.count,
            self.new_sites.len() / SITE_BYTES,
            self.site_column.len(),
            self.time_column.len(),
        ];
        self.block.clear();
        for value in header {
            self.block.extend((value as u32).to_le_bytes());
        }
        for part in [
            &mut self.new_sites,
            &mut self.site_column,
            &mut self.time_column,
            &mut self.offset_column,
        ] {
            self.block.append(part);
        }
        self.count = 0;
        &self.block
    }
}

/// Gives back the events of one layer, block after block.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    sites: Vec<SiteState>,
    batch: Vec<Event>,
}

impl Decoder {
    /// A layer begins.
    pub fn begin(&mut self) {
        self.sites.clear();
    }

    /// Checks each event, then hands it to `sink`.
    pub fn decode(
        &mut self,
        block: &[u8],
        layer: &mut OpenLayer,
        sink: &mut (impl TraceSink + ?Sized),
    ) -> Result<(), FileDefect> {
        let mut columns = Columns::split(block)
            .ok_or_else(|| malformed("the lengths of its columns do not fit its own length"))?;
        if columns.count == 0 || columns.count > EVENTS_PER_BLOCK_LIMIT {
            return Err(malformed(
                "the number of its events is not within 1 to 65536",
            ));
        }
        for bytes in columns.new_sites.chunks_exact(SITE_BYTES) {
            let site =
                parse_site(bytes).ok_or_else(|| malformed("a site neither loads nor stores"))?;
            let highest_offset = layer.admit(site).map_err(|rule| layer.violation(0, rule))?;
            let index = self.sites.len() as u32;
            self.sites.push(SiteState::new(site, highest_offset, index));
        }
        let mut left = columns.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let time = self.decode_batch(&mut columns, batch, layer)?;
            layer.pass(batch, time);
            sink.events(&self.batch);
            left -= batch;
        }
        if !columns.are_empty() {
            return Err(malformed("its columns go on after its last event"));
        }
        Ok(())
    }

    fn decode_batch(
        &mut self,
        columns: &mut Columns,
        count: usize,
        layer: &OpenLayer,
    ) -> Result<Time, FileDefect> {
        let short = || malformed("a column ends, or its number is too long, before its last event");
        self.batch.clear();
        let begin = layer.begin();
        let mut time = layer.time();
        for position in 0..count {
            let site = take_varint(&mut columns.sites).ok_or_else(short)?;
            let later = take_varint(&mut columns.times).ok_or_else(short)?;
            let step = take_varint(&mut columns.offsets).ok_or_else(short)?;
            let state = self
                .sites
                .get_mut(site as usize)
                .ok_or_else(|| malformed("an event of a site that is not declared"))?;
            let step = u32::try_from(step).map_err(|_| malformed("a step of more than 32 bits"))?;
            state.offset = state.offset.wrapping_add(unzigzag(step) as u32);
            if state.offset > state.highest_offset {
                let rule = layer.beyond_tensor(state.site, state.offset);
                return Err(layer.violation(position, rule).into());
            }
            let last = time;
            time = time
                .checked_add(later)
                .ok_or_else(|| layer.violation(position, Rule::TimeOverflows))?;
            if time == begin {
                layer
                    .check_time(time, last)
                    .map_err(|rule| layer.violation(position, rule))?;
            }
            self.batch.push(Event {
                time,
                pc: state.site.pc,
                offset: state.offset,
                tensor: state.site.tensor,
                size_bytes: state.site.size_bytes,
                kind: state.site.kind,
            });
        }
        Ok(time)
    }
}

/// How a block is not what the writer writes.
fn malformed(detail: &'static str) -> FileDefect {
    FileDefect::Block { detail }
}

struct Columns<'a> {
    count: usize,
    new_sites: &'a [u8],
    sites: &'a [u8],
    times: &'a [u8],
    offsets: &'a [u8],
}

impl<'a> Columns<'a> {
    fn split(block: &'a [u8]) -> Option<Self> {
        let (header, rest) = block.split_first_chunk::<HEADER_BYTES>()?;
        let mut values = header
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize);
        let count = values.next()?;
        let (new_sites, rest) = rest.split_at_checked(values.next()? * SITE_BYTES)?;
        let (sites, rest) = rest.split_at_checked(values.next()?)?;
        let (times, offsets) = rest.split_at_checked(values.next()?)?;
        Some(Self {
            count,
            new_sites,
            sites,
            times,
            offsets,
        })
    }

    fn are_empty(&self) -> bool {
        self.sites.is_empty() && self.times.is_empty() && self.offsets.is_empty()
    }
}

fn parse_site(bytes: &[u8]) -> Option<Site> {
    let &[p0, p1, p2, p3, t0, t1, size_bytes, kind] = bytes else {
        return None;
    };
    Some(Site {
        pc: Address(u32::from_le_bytes([p0, p1, p2, p3])),
        tensor: u16::from_le_bytes([t0, t1]),
        size_bytes,
        kind: match kind {
            0 => AccessKind::Load,
            1 => AccessKind::Store,
            _ => return None,
        },
    })
}
