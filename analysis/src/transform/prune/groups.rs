//! Channels that come and go together.

use super::channels::{Channel, Channels};
use super::layers::Layer;
use super::model::Model;
use crate::graph::TensorId;

/// Sets of channels, each to be removed as a whole or not at all.
pub(super) struct Groups {
    /// The group of each channel.
    pub of: Vec<usize>,
    pub members: Vec<Vec<Channel>>,
    /// Not to be touched.
    pub pinned: Vec<bool>,
}

impl Groups {
    pub(super) fn of(model: &Model, channels: &Channels) -> Self {
        let mut forest = Forest::new(channels.in_all());
        for layer in &model.layers {
            match layer {
                Layer::Depthwise(layer) => forest.link(channels, layer.links()),
                Layer::Linked(layer) => forest.link(channels, layer.links.iter().copied()),
                Layer::Product(_) | Layer::Opaque => {}
            }
        }
        let mut groups = Self {
            of: vec![0; channels.in_all()],
            members: Vec::new(),
            pinned: Vec::new(),
        };
        let mut numbers = vec![None; channels.in_all()];
        for tensor in (0..model.graph.tensors.len()).map(TensorId) {
            for channel in channels.of_tensor(tensor) {
                let Some(number) = channels.number(channel) else {
                    continue;
                };
                let root = forest.root(number);
                let group = *numbers[root].get_or_insert_with(|| {
                    groups.members.push(Vec::new());
                    groups.members.len() - 1
                });
                groups.of[number] = group;
                groups.members[group].push(channel);
            }
        }
        groups.pinned = vec![false; groups.members.len()];
        for tensor in model.pinned() {
            for channel in channels.of_tensor(tensor) {
                if let Some(number) = channels.number(channel) {
                    groups.pinned[groups.of[number]] = true;
                }
            }
        }
        groups
    }
}

/// Numbers in sets that are joined (Tarjan: Efficiency of a Good But Not Linear Set Union
/// Algorithm).
struct Forest(Vec<usize>);

impl Forest {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn link(&mut self, channels: &Channels, links: impl Iterator<Item = [Channel; 2]>) {
        for [one, other] in links {
            if let (Some(one), Some(other)) = (channels.number(one), channels.number(other)) {
                let [one, other] = [self.root(one), self.root(other)];
                self.0[one] = other;
            }
        }
    }
}
