//! A model as pruning sees it.

use super::channels::Channels;
use super::known::Known;
use super::layers::Layer;
use super::products::{BIAS, FILTER};
use super::range::Range;
use crate::graph::parameters::{Constant, Parameters};
use crate::graph::tflite::Unsupported;
use crate::graph::{Graph, Node, OperatorId, Storage, TensorId, TensorType};
use std::collections::BTreeSet;

/// A graph and what its operators compute with.
pub(super) struct Model<'a> {
    pub graph: &'a Graph,
    pub layers: Vec<Layer<'a>>,
    parameters: &'a [Result<Parameters<'a>, Unsupported>],
    /// How many operands each tensor is, or ends of the graph.
    pub uses: Vec<usize>,
}

impl<'a> Model<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        parameters: &'a [Result<Parameters<'a>, Unsupported>],
        channels: &Channels,
    ) -> Self {
        let nodes = graph.operators.iter().zip(parameters);
        let layer = |(node, parameters): (&'a Node, &'a Result<Parameters<'a>, Unsupported>)| {
            let Ok(parameters) = parameters else {
                return Layer::Opaque;
            };
            let layer = Layer::of(Known {
                graph,
                node,
                parameters,
            });
            // Too many channels to be looked at.
            let seen = |id: &TensorId| channels.count(*id) > 0;
            let [input, output] = [node.inputs.first(), node.outputs.first()];
            if input.is_some_and(seen) && output.is_some_and(seen) {
                layer
            } else {
                Layer::Opaque
            }
        };
        Self {
            layers: nodes.map(layer).collect(),
            graph,
            parameters,
            uses: graph.uses(),
        }
    }

    pub(super) fn parameters(&self, operator: OperatorId) -> Option<&'a Parameters<'a>> {
        self.parameters.get(operator.0)?.as_ref().ok()
    }

    /// Tensors whose channels stay.
    pub(super) fn pinned(&self) -> BTreeSet<TensorId> {
        let ends = self.graph.inputs.iter().chain(&self.graph.outputs);
        let mut pinned: BTreeSet<TensorId> = ends.copied().collect();
        let constants = self.graph.tensors.iter().zip(&self.uses).enumerate();
        let unused = constants
            .filter(|(_, (tensor, uses))| tensor.storage == Storage::Constant && **uses == 0);
        pinned.extend(unused.map(|(index, _)| TensorId(index)));
        for (layer, node) in self.layers.iter().zip(&self.graph.operators) {
            match layer {
                Layer::Opaque => {
                    pinned.extend(node.inputs.iter().chain(&node.outputs));
                }
                // Filters are cut along with what they are for.
                Layer::Product(_) | Layer::Depthwise(_) => {
                    let constants = node.inputs.iter().skip(FILTER).take(BIAS);
                    pinned.extend(constants);
                }
                Layer::Linked(layer) => {
                    pinned.extend(layer.shape_operand.and_then(|at| node.inputs.get(at)));
                }
            }
        }
        pinned
    }

    /// What every channel can be, whatever the model is given.
    pub(super) fn find_ranges(&self, channels: &mut Channels) {
        for (index, layer) in self.layers.iter().enumerate() {
            self.constants(OperatorId(index), channels);
            let (output, ranges) = match layer {
                Layer::Product(layer) => (layer.output, layer.ranges(channels)),
                Layer::Depthwise(layer) => (layer.output, layer.ranges(channels)),
                Layer::Linked(layer) => (layer.output, layer.ranges(channels)),
                Layer::Opaque => continue,
            };
            channels.set(output, ranges);
        }
    }

    /// Operands that are constants have the values that they have.
    fn constants(&self, operator: OperatorId, channels: &mut Channels) {
        let Some(parameters) = self.parameters(operator) else {
            return;
        };
        let operands = parameters.tensors.iter().zip(&parameters.constants);
        for (tensor, constant) in operands {
            if let (Some(tensor), Some(constant)) = (tensor, constant)
                && self.graph.tensor(*tensor).storage == Storage::Constant
                && constant.element_type == TensorType::Int8
            {
                channels.set(*tensor, values(constant, channels.count(*tensor)));
            }
        }
    }
}

fn values(constant: &Constant, count: usize) -> Vec<Range> {
    let mut ranges: Vec<Option<Range>> = vec![None; count];
    for (index, byte) in constant.bytes.iter().enumerate() {
        let value = Range::only(byte.cast_signed().into());
        if let Some(range) = index
            .checked_rem(count)
            .and_then(|index| ranges.get_mut(index))
        {
            *range = Some(range.map_or(value, |known| known.or(value)));
        }
    }
    let known = ranges.into_iter();
    known.map(|range| range.unwrap_or(Range::ANY)).collect()
}
