//! Which channels go.

use super::channels::{Channel, Channels};
use super::groups::Groups;
use super::layers::Layer;
use super::model::Model;
use super::products::Product;
use crate::graph::TensorId;

/// What goes, and what that does to the layers that read it.
pub(super) struct Removal {
    /// Of each channel, by its number.
    pub gone: Vec<bool>,
    /// The bias of each layer with weights that reads all channels; empty of others.
    pub biases: Vec<Vec<i64>>,
}

/// A layer with weights, as one that reads channels.
struct Reader<'a> {
    layer: &'a Product<'a>,
    operator: usize,
    /// Of each input channel the rows that have weights for it, and their sum.
    rows: Vec<Vec<(usize, i64)>>,
    /// The sum of the weights' magnitudes of each row.
    magnitudes: Vec<i64>,
}

/// No difference of two numbers of eight bits is larger.
const MOST_DIFFERENCE: i64 = 255;

impl Removal {
    /// Removes what can be, until nothing more can.
    pub(super) fn of(model: &Model, channels: &Channels) -> Self {
        let groups = Groups::of(model, channels);
        let mut work = Work::new(model, channels, &groups);
        // A layer that has lost outputs may no longer need all of its inputs.
        loop {
            let before = work.removed.iter().filter(|gone| **gone).count();
            for group in (0..groups.members.len()).rev() {
                work.try_to_remove(group);
            }
            if work.removed.iter().filter(|gone| **gone).count() == before {
                break;
            }
        }
        let gone = groups.of.iter().map(|&group| work.removed[group]);
        Self {
            gone: gone.collect(),
            biases: work.biases,
        }
    }
}

struct Work<'a> {
    channels: &'a Channels,
    groups: &'a Groups,
    readers: Vec<Reader<'a>>,
    /// Indices of the readers of each tensor.
    readers_of: Vec<Vec<usize>>,
    removed: Vec<bool>,
    /// How many channels each tensor still has.
    kept: Vec<usize>,
    biases: Vec<Vec<i64>>,
}

impl<'a> Work<'a> {
    fn new(model: &'a Model, channels: &'a Channels, groups: &'a Groups) -> Self {
        let tensors = model.graph.tensors.len();
        let mut readers = Vec::new();
        let mut readers_of = vec![Vec::new(); tensors];
        let mut biases = vec![Vec::new(); model.layers.len()];
        for (operator, layer) in model.layers.iter().enumerate() {
            if let Layer::Product(layer) = layer {
                readers_of[layer.input.0].push(readers.len());
                readers.push(Reader::new(layer, operator));
                biases[operator].clone_from(&layer.weights.bias_values);
            }
        }
        Self {
            channels,
            groups,
            readers,
            readers_of,
            removed: vec![false; groups.members.len()],
            kept: (0..tensors)
                .map(|tensor| channels.count(TensorId(tensor)))
                .collect(),
            biases,
        }
    }

    fn try_to_remove(&mut self, group: usize) {
        let members = &self.groups.members[group];
        if self.removed[group] || self.groups.pinned[group] || self.empties_a_tensor(members) {
            return;
        }
        self.removed[group] = true;
        let mut changed: Vec<(usize, Vec<i64>)> = Vec::new();
        for &member in members {
            for &reader in &self.readers_of[member.tensor.0] {
                let reader = &self.readers[reader];
                let known = changed
                    .iter()
                    .position(|(known, _)| *known == reader.operator);
                let before = match known {
                    Some(index) => &changed[index].1,
                    None => &self.biases[reader.operator],
                };
                let Some(after) = self.without(reader, member, before) else {
                    self.removed[group] = false;
                    return;
                };
                match known {
                    Some(index) => changed[index].1 = after,
                    None => changed.push((reader.operator, after)),
                }
            }
        }
        for (operator, bias) in changed {
            self.biases[operator] = bias;
        }
        for member in members {
            self.kept[member.tensor.0] -= 1;
        }
    }

    /// Whether a tensor would be left without channels.
    fn empties_a_tensor(&self, members: &[Channel]) -> bool {
        // The members of a tensor follow one another.
        let mut runs = members.chunk_by(|one, other| one.tensor == other.tensor);
        runs.any(|run| self.kept[run[0].tensor.0] <= run.len())
    }

    /// The bias of a layer that no longer reads a channel; `None` if it needs it.
    ///
    /// It does not where its weights for it are 0, or the channel is always the same: at the zero
    /// point it adds nothing, else what it adds is added to the bias, if it does so in every
    /// window and there is a bias that can hold it.
    fn without(&self, reader: &Reader, channel: Channel, bias: &[i64]) -> Option<Vec<i64>> {
        let layer = reader.layer;
        let mut bias = bias.to_vec();
        for &(row, weights) in &reader.rows[channel.index as usize] {
            if self.is_gone(Channel {
                tensor: layer.output,
                index: row as u32,
            }) {
                continue;
            }
            let value = self.channels.range(channel).constant()?;
            let difference = i64::from(value) - i64::from(layer.input_zero_point);
            if difference == 0 {
                continue;
            }
            bias[row] += weights * difference;
            let most = bias[row].abs() + MOST_DIFFERENCE * reader.magnitudes[row];
            let can_hold = layer.weights.bias.is_some() && most <= i64::from(i32::MAX);
            if layer.is_padded || !can_hold {
                return None;
            }
        }
        Some(bias)
    }

    fn is_gone(&self, channel: Channel) -> bool {
        let number = self.channels.number(channel);
        number.is_some_and(|number| self.removed[self.groups.of[number]])
    }
}

impl<'a> Reader<'a> {
    fn new(layer: &'a Product<'a>, operator: usize) -> Self {
        let mut rows = vec![Vec::new(); layer.channels];
        let mut magnitudes = vec![0; layer.rows()];
        for (row, magnitude) in magnitudes.iter_mut().enumerate() {
            let mut sums: Vec<Option<i64>> = vec![None; layer.channels];
            for column in 0..layer.columns {
                let weight = layer.weight(row, column);
                if weight != 0 {
                    *magnitude += weight.abs();
                    *sums[column % layer.channels].get_or_insert(0) += weight;
                }
            }
            for (channel, sum) in sums.into_iter().enumerate() {
                if let Some(sum) = sum {
                    rows[channel].push((row, sum));
                }
            }
        }
        Self {
            layer,
            operator,
            rows,
            magnitudes,
        }
    }
}
