//! Operators as far as their channels are concerned.
//!
//! A channel is an index of a tensor's last axis. What is not understood is
//! [`Opaque`](Layer::Opaque): its tensors stay as they are.

use super::known::Known;
use super::linked::Linked;
use super::moves;
use super::products::{Depthwise, Product};
use crate::graph::Kind;

/// An operator.
#[derive(Debug)]
pub(super) enum Layer<'a> {
    /// Each output channel is made of all input channels.
    Product(Product<'a>),
    /// Each output channel is made of one input channel, by weights.
    Depthwise(Depthwise<'a>),
    /// Each output channel is made of those that it is linked to.
    Linked(Linked),
    Opaque,
}

impl<'a> Layer<'a> {
    /// The operator, as far as it is understood.
    pub(super) fn of(known: Known<'a>) -> Self {
        Self::understood(known).unwrap_or(Self::Opaque)
    }

    fn understood(known: Known<'a>) -> Option<Self> {
        let output = known.output()?;
        known.int8(output)?;
        match known.node.kind {
            Kind::Conv2d => Product::convolution(known).map(Self::Product),
            Kind::FullyConnected => Product::fully_connected(known).map(Self::Product),
            Kind::DepthwiseConv2d => Depthwise::of(known).map(Self::Depthwise),
            _ => {
                let (links, flow) = moves::links(known)?;
                Some(Self::Linked(Linked {
                    output,
                    links,
                    flow,
                    shape_operand: moves::shape_operand(known)?,
                }))
            }
        }
    }
}
