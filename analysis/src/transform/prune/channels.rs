//! The channels of a graph's tensors, and what is known of each.

use super::range::Range;
use crate::graph::{Graph, Storage, TensorId, TensorType};

/// An index of a tensor's last axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Channel {
    pub tensor: TensorId,
    pub index: u32,
}

/// All channels of tensors of eight bits.
#[derive(Debug)]
pub(super) struct Channels {
    /// Number of the first channel of each tensor, and one more.
    first: Vec<usize>,
    ranges: Vec<Range>,
}

/// A tensor of more channels has none that is looked at.
pub(super) const MOST_CHANNELS: u32 = 1 << 20;
/// And so has one beyond so many of them in all.
const MOST_IN_ALL: usize = 1 << 24;

impl Channels {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut first = vec![0];
        let mut sum = 0;
        for tensor in &graph.tensors {
            let known = tensor.element_type == TensorType::Int8
                && tensor.storage != Storage::Variable
                && tensor.size_bytes > 0;
            let count = tensor.shape.last().copied().filter(|_| known).unwrap_or(0);
            if count <= MOST_CHANNELS && sum + count as usize <= MOST_IN_ALL {
                sum += count as usize;
            }
            first.push(sum);
        }
        Self {
            first,
            ranges: vec![Range::ANY; sum],
        }
    }

    /// How many channels a tensor has.
    pub(super) fn count(&self, tensor: TensorId) -> usize {
        self.first[tensor.0 + 1] - self.first[tensor.0]
    }

    /// How many there are in all.
    pub(super) fn in_all(&self) -> usize {
        self.ranges.len()
    }

    /// The channel's number among all.
    pub(super) fn number(&self, channel: Channel) -> Option<usize> {
        let index = channel.index as usize;
        (index < self.count(channel.tensor)).then(|| self.first[channel.tensor.0] + index)
    }

    pub(super) fn of_tensor(&self, tensor: TensorId) -> impl Iterator<Item = Channel> + use<> {
        (0..self.count(tensor) as u32).map(move |index| Channel { tensor, index })
    }

    /// What a channel can be.
    pub(super) fn range(&self, channel: Channel) -> Range {
        let number = self.number(channel);
        number.map_or(Range::ANY, |number| self.ranges[number])
    }

    pub(super) fn set(&mut self, tensor: TensorId, ranges: Vec<Range>) {
        let own = self.first[tensor.0]..self.first[tensor.0 + 1];
        for (known, range) in self.ranges[own].iter_mut().zip(ranges) {
            *known = range;
        }
    }
}
