//! Convolutions that pad by themselves.

use super::places::Places;
use super::refused;
use crate::graph::{Graph, OperatorId, TensorId};
use crate::operator::{Conv2d, DepthwiseConv2d, Operator, Pad, Shape, Window};
use crate::transform::TransformError;
use std::collections::{BTreeSet, HashMap};

/// A graph whose convolutions take over the padding of what they read.
pub(super) struct Folds {
    graph: Graph,
    /// Each operator as often as it reads the tensor.
    readers: HashMap<TensorId, Vec<OperatorId>>,
    renamed: HashMap<OperatorId, HashMap<TensorId, TensorId>>,
}

impl Folds {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut readers: HashMap<TensorId, Vec<OperatorId>> = HashMap::new();
        for (index, node) in graph.operators.iter().enumerate() {
            for &input in &node.inputs {
                readers.entry(input).or_default().push(OperatorId(index));
            }
        }
        Self {
            graph: graph.clone(),
            readers,
            renamed: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> (Graph, HashMap<OperatorId, HashMap<TensorId, TensorId>>) {
        (self.graph, self.renamed)
    }

    /// Leaves a pad out. Of several that follow each other the last one is to come first.
    pub(super) fn fold(
        &mut self,
        pad: OperatorId,
        places: &Places,
        gone: &BTreeSet<OperatorId>,
    ) -> Result<(), TransformError> {
        let refused = |reason| refused(pad, reason);
        let kernel = self.graph.operators[pad.0].kernel.as_ref();
        let known = kernel.and_then(|kernel| match (&kernel.operator, &kernel.inputs[..]) {
            (Operator::Pad(known), &[input]) => Some((*known, input, *kernel.outputs.first()?)),
            _ => None,
        });
        let (known, input, output) = known.ok_or(refused("is no pad"))?;
        let is_end = self.graph.outputs.contains(&output);
        let &[reader] = self.readers.get(&output).map_or(&[][..], Vec::as_slice) else {
            return Err(refused("pads what not one operator alone reads"));
        };
        if is_end || gone.contains(&reader) || places.involve(output) {
            return Err(refused("pads what is needed for itself"));
        }
        let node = &mut self.graph.operators[reader.0];
        if node.inputs.contains(&input) {
            return Err(refused("pads what its reader reads without padding too"));
        }
        let kernel = node.kernel.as_mut();
        let kernel = kernel.filter(|kernel| kernel.inputs == [output]);
        let kernel = kernel.ok_or(refused("pads for what is no convolution"))?;
        let padded = padded(&kernel.operator, &known);
        kernel.operator = padded.ok_or(refused("pads for what cannot pad by itself"))?;
        kernel.inputs = vec![input];
        for id in node.inputs.iter_mut().filter(|id| **id == output) {
            *id = input;
        }
        let renamed = self.renamed.entry(reader).or_default();
        for new in renamed.values_mut().filter(|new| **new == output) {
            *new = input;
        }
        renamed.insert(output, input);
        let readers = self.readers.entry(input).or_default();
        for other in readers.iter_mut().filter(|other| **other == pad) {
            *other = reader;
        }
        Ok(())
    }
}

/// The convolution on what the pad reads.
fn padded(operator: &Operator, pad: &Pad) -> Option<Operator> {
    let same = [0, 3]
        .iter()
        .all(|&axis| pad.before[axis] == 0 && pad.input[axis] == pad.output[axis]);
    let window = |window: &Window, input: Shape| {
        let before = |axis: usize| window.padding_before[axis].checked_add(pad.before[axis + 1]);
        let padding_before = [before(0)?, before(1)?];
        let fits = same && input == pad.output;
        fits.then_some(Window {
            padding_before,
            ..*window
        })
    };
    let operator = match operator {
        Operator::Conv2d(conv) if conv.element_bytes == pad.element_bytes => {
            let window = window(&conv.window, conv.input)?;
            Operator::Conv2d(Conv2d {
                window,
                input: pad.input,
                ..*conv
            })
        }
        Operator::DepthwiseConv2d(conv) if conv.element_bytes == pad.element_bytes => {
            let window = window(&conv.window, conv.input)?;
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                window,
                input: pad.input,
                ..*conv
            })
        }
        _ => return None,
    };
    operator.buffers().is_ok().then_some(operator)
}
