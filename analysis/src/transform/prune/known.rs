//! What is known of an operator.

use super::channels::MOST_CHANNELS;
use super::range::{Range, limits};
use crate::graph::parameters::Parameters;
use crate::graph::{Graph, Node, TensorId, TensorType};

/// What is known of an operator.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub graph: &'a Graph,
    pub node: &'a Node,
    pub parameters: &'a Parameters<'a>,
}

impl Known<'_> {
    /// The output, if there is one only.
    pub(super) fn output(&self) -> Option<TensorId> {
        match self.node.outputs[..] {
            [output] => Some(output),
            _ => None,
        }
    }

    pub(super) fn input(&self, operand: usize) -> Option<TensorId> {
        *self.parameters.tensors.get(operand)?
    }

    pub(super) fn shape(&self, tensor: TensorId) -> &[u32] {
        &self.graph.tensor(tensor).shape
    }

    /// The extent of the last axis; `None` if its channels are too many to be looked at.
    pub(super) fn channels(&self, tensor: TensorId) -> Option<u32> {
        let count = self.shape(tensor).last().copied();
        count.filter(|count| *count <= MOST_CHANNELS)
    }

    pub(super) fn int8(&self, tensor: TensorId) -> Option<()> {
        (self.graph.tensor(tensor).element_type == TensorType::Int8).then_some(())
    }

    /// Limits of the fused activation.
    pub(super) fn limits(&self) -> Range {
        limits(self.parameters.activation, self.parameters.output(0))
    }
}
