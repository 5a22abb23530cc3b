//! A fingerprint of what code accesses, to compare runs in different layouts.

use crate::mcu::machine::{Condition, RawAccess};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::{AccessKind, Event, Layer, Time, TraceSink};

/// Hash of a sequence of accesses: which instruction loads or stores which bytes, in which order.
/// Times do not count: what comes between two accesses may take longer in another layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AccessSequence {
    hash: u64,
    accesses: u64,
}

impl AccessSequence {
    /// Whether a kernel that accesses this, which looks at no data, computes what one computes that
    /// accesses `apart`, with the buffers apart. It does as well if it copies its input, and does nothing
    /// where input and output are the same bytes.
    pub(crate) fn is_as(self, apart: Option<Self>, operator: &Operator) -> bool {
        let copies = matches!(operator, Operator::Reshape(_));
        apart == Some(self) || copies && self.accesses == 0
    }

    /// Adds the next access.
    pub(crate) fn extend(&mut self, access: &RawAccess) {
        let place = u64::from(access.address) | u64::from(access.pc) << 32;
        let kind = u64::from(access.size_bytes) << 1 | u64::from(access.kind == AccessKind::Store);
        self.accesses += 1;
        self.add(place);
        self.add(kind);
    }

    fn add(&mut self, word: u64) {
        self.hash = (self.hash ^ word)
            .wrapping_add(0xcbf2_9ce4_8422_2325)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
}

/// The accesses of one layer, as they would be in another layout.
pub(crate) struct Relocated {
    /// Of each of the layer's tensors the address of its first byte in that layout; `None` where it has none.
    addresses: Vec<Option<u32>>,
    sequence: AccessSequence,
    /// Something without an address there was accessed.
    is_lost: bool,
}

impl Relocated {
    pub(crate) fn to(addresses: Vec<Option<u32>>) -> Self {
        Self {
            addresses,
            sequence: AccessSequence::default(),
            is_lost: false,
        }
    }

    /// The accesses in the other layout; `None` where one has no address there.
    pub(crate) fn finish(self) -> Option<AccessSequence> {
        (!self.is_lost).then_some(self.sequence)
    }
}

impl TraceSink for Relocated {
    fn begin_layer(&mut self, _: &Layer, _: Time) {}

    fn events(&mut self, events: &[Event]) {
        for event in events {
            let address = self.addresses.get(usize::from(event.tensor));
            let Some(&Some(address)) = address else {
                self.is_lost = true;
                continue;
            };
            self.sequence.extend(&RawAccess {
                time: event.time,
                pc: event.pc.0,
                address: address.wrapping_add(event.offset),
                size_bytes: event.size_bytes,
                kind: event.kind,
                condition: Condition::Unconditional,
            });
        }
    }

    fn end_layer(&mut self, _: Time) {}
}
