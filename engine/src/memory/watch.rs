//! What is watched of the memory.

use super::Event;
use crate::fault::AccessKind;
use std::ops::Range;

/// A range whose accesses are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Addresses.
    pub range: Range<u64>,
    /// Loads too, not only stores.
    pub loads: bool,
}

impl Watch {
    #[inline]
    fn wants(&self, event: &Event) -> bool {
        let start = u64::from(event.address());
        let end = start + u64::from(event.size_bytes());
        (self.loads || event.kind() == AccessKind::Store)
            && start < self.range.end
            && self.range.start < end
    }
}

/// Instructions that are told apart, by the bits of their addresses.
const LIKELY: usize = 256;

/// All ranges.
pub(super) struct Watches {
    ranges: Vec<Watch>,
    /// For each instruction the range that it accessed last: the first to be looked at.
    likely: Box<[u32; LIKELY]>,
}

impl Default for Watches {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Watches {
    pub(super) fn new(ranges: &[Watch]) -> Self {
        Self {
            ranges: ranges.to_vec(),
            likely: Box::new([0; LIKELY]),
        }
    }

    pub(super) fn ranges(&self) -> &[Watch] {
        &self.ranges
    }

    /// Whether one of them wants an access.
    #[inline]
    pub(super) fn want(&mut self, event: &Event) -> bool {
        let likely = &mut self.likely[event.pc() as usize / 2 % LIKELY];
        let wants = |watch: &Watch| watch.wants(event);
        if self.ranges.get(*likely as usize).is_some_and(wants) {
            return true;
        }
        let found = self.ranges.iter().position(wants);
        if let Some(found) = found {
            *likely = found as u32;
        }
        found.is_some()
    }
}
