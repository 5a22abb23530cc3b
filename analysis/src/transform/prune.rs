//! Channels that make no difference, left out: for every input the result is the same, bit for bit.
//!
//! A channel goes if nothing reads it, or if it is the same for every input and what it adds to
//! its readers can be added to their biases. Conditions and proof: `docs/pruning.md`.
//!
//! | file | what it holds |
//! |---|---|
//! | `prune/range.rs` | the values that a channel can take, and what arithmetic makes of them |
//! | `prune/channels.rs` | the channels of all tensors |
//! | `prune/layers.rs` | operators as far as channels are concerned |
//! | `prune/products.rs` | layers with weights |
//! | `prune/moves.rs` | operators without weights |
//! | `prune/model.rs` | a model of these |
//! | `prune/groups.rs` | channels that come and go together |
//! | `prune/removal.rs` | which channels go |
//! | `prune/cut.rs` | what of the file that changes |

mod channels;
mod cut;
mod groups;
mod known;
mod layers;
mod linked;
mod model;
mod moves;
mod products;
mod range;
mod removal;

use super::macs;
use crate::graph::tflite::edit::edited;
use crate::graph::tflite::{self, TfliteError};
use crate::graph::{Graph, Kind, TensorId};
use channels::Channels;
use cut::Cuts;
use model::Model;
use removal::Removal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A model without the channels that make no difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The model's file; the given one where nothing was removed.
    pub file: Vec<u8>,
    /// What was done.
    pub report: PruneReport,
}

/// What pruning did to a model.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneReport {
    /// Tensors that have lost channels; activations, and constants that are added to them.
    pub tensors: Vec<PrunedTensor>,
    /// Before.
    pub before: Cost,
    /// After.
    pub after: Cost,
    /// Operators through which nothing is known of channels, and how often each is there: they
    /// keep all channels of their tensors.
    pub opaque: Vec<(String, usize)>,
}

/// What a model asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Multiply-accumulates of one inference.
    pub macs: u64,
    /// Filters of convolutions and fully connected layers, in bytes.
    pub weight_bytes: u64,
    /// Activations, in bytes.
    pub activation_bytes: u64,
    /// The file, in bytes.
    pub file_bytes: u64,
}

/// A tensor that has lost channels.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrunedTensor {
    /// Its index in the file, which stays.
    pub tensor: TensorId,
    /// Its name.
    pub name: String,
    /// How many channels it had.
    pub channels: usize,
    /// Those that went, ascending.
    pub removed: Vec<RemovedChannel>,
}

/// A channel that went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedChannel {
    /// Its index, before.
    pub channel: u32,
    /// What it is for every input; `None` of one that varies, and that nothing reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<i32>,
}

impl PruneReport {
    /// How many channels went.
    pub fn removed(&self) -> usize {
        let tensors = self.tensors.iter();
        tensors.map(|tensor| tensor.removed.len()).sum()
    }
}

/// Removes the channels of an int8 model that are the same for every input, or that nothing
/// reads, until there are no more. Inputs and outputs stay as they are, indices of tensors and
/// operators too.
///
/// # Errors
/// When the file is no model of one subgraph for a microcontroller's own processor, or has what
/// cannot be written anew.
pub fn prune(file: &[u8]) -> Result<Pruned, TfliteError> {
    let old = tflite::read(file)?;
    let [graph] = &old.graphs[..] else {
        return Err(TfliteError::Plan(format!(
            "the model has {} subgraphs, expected 1: what others do with a tensor is not known",
            old.graphs.len()
        )));
    };
    if !graph.views.is_empty() {
        return Err(TfliteError::Plan(
            "operators of the model run on an accelerator, which takes their weights from a \
             program of its compiler"
                .to_owned(),
        ));
    }
    let parameters = tflite::parameters(file, 0)?;
    let mut channels = Channels::of(graph);
    let model = Model::new(graph, &parameters, &channels);
    model.find_ranges(&mut channels);
    let removal = Removal::of(&model, &channels);
    let cuts = Cuts {
        model: &model,
        channels: &channels,
        removal: &removal,
    };
    let tensors = removed(&cuts);
    let before = cost(graph, file);
    let opaque = opaque(&model);
    if tensors.is_empty() {
        return Ok(Pruned {
            file: file.to_vec(),
            report: PruneReport {
                tensors,
                before,
                after: before,
                opaque,
            },
        });
    }
    let new = edited(file, &cuts.edits())?;
    let read = tflite::read(&new)?;
    let after = read.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let after = cost(after, &new);
    Ok(Pruned {
        file: new,
        report: PruneReport {
            tensors,
            before,
            after,
            opaque,
        },
    })
}

fn removed(cuts: &Cuts) -> Vec<PrunedTensor> {
    let tensors = cuts.model.graph.tensors.iter().enumerate();
    let tensors = tensors.filter_map(|(index, tensor)| {
        let id = TensorId(index);
        let kept = cuts.kept(id)?;
        let gone = cuts.channels.of_tensor(id);
        let gone = gone.filter(|channel| kept.binary_search(&channel.index).is_err());
        Some(PrunedTensor {
            tensor: id,
            name: tensor.name.clone(),
            channels: cuts.channels.count(id),
            removed: gone
                .map(|channel| RemovedChannel {
                    channel: channel.index,
                    constant: cuts.channels.range(channel).constant(),
                })
                .collect(),
        })
    });
    tensors.collect()
}

fn opaque(model: &Model) -> Vec<(String, usize)> {
    let layers = model.layers.iter().zip(&model.graph.operators);
    let opaque = layers.filter(|(layer, _)| matches!(layer, layers::Layer::Opaque));
    let mut kinds: Vec<String> = opaque.map(|(_, node)| node.kind.to_string()).collect();
    kinds.sort();
    let kinds = kinds.chunk_by(|one, other| one == other);
    kinds.map(|run| (run[0].clone(), run.len())).collect()
}

fn cost(graph: &Graph, file: &[u8]) -> Cost {
    let weighted = [
        Kind::Conv2d,
        Kind::DepthwiseConv2d,
        Kind::FullyConnected,
        Kind::TransposeConv,
    ];
    let nodes = graph.operators.iter();
    let nodes = nodes.filter(|node| weighted.contains(&node.kind));
    // All four have it second.
    let filters: BTreeSet<TensorId> = nodes
        .filter_map(|node| node.inputs.get(1))
        .copied()
        .collect();
    let filters = filters.into_iter().map(|id| graph.tensor(id).size_bytes);
    Cost {
        macs: macs::of_graph(graph),
        weight_bytes: filters.sum(),
        activation_bytes: graph.naive_bytes(),
        file_bytes: file.len() as u64,
    }
}
