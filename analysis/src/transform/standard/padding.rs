//! Windows that reach beyond the tensor.

use super::Builder;
use crate::graph::{Graph, Kind, Node, OperatorId, TensorId};
use crate::operator::{Operator, Pad, Padding, Shape, Window};
use crate::transform::TransformError;
use std::collections::HashMap;

impl Builder<'_> {
    /// The loops, with the padding that they lack in front of them.
    pub(super) fn standard_loops(
        &mut self,
        graph: &Graph,
        operator: OperatorId,
        loops: &Operator,
        renamed: &mut HashMap<TensorId, TensorId>,
    ) -> Result<Operator, TransformError> {
        let node = &graph.operators[operator.0];
        let refused = |reason| TransformError::Operator { operator, reason };
        let mut loops = loops.clone();
        let is_pool = matches!(loops, Operator::Pool2d(_));
        if let Some((window, input, output)) = loops.windowed_mut()
            && needs_pad(window, *input, *output)
        {
            let kind = match (is_pool, &node.kind) {
                (false, _) => Kind::Pad,
                (true, Kind::MaxPool2d) => Kind::Padv2,
                (true, _) => return Err(refused(POOL)),
            };
            let padded = self.padded(node, kind, *window, [*input, *output], renamed);
            *input = padded.ok_or(refused(BEYOND))?;
            window.padding_before = [0, 0];
        }
        // Graphs built in code may leave the paddings out.
        if let (Operator::Pad(pad), Some(&paddings)) = (&loops, node.inputs.get(1)) {
            let new = self.paddings(pad).ok_or(refused(BEYOND))?;
            renamed.insert(paddings, new);
        }
        Ok(loops)
    }

    /// Pads the first input of a node, so that its window stays inside, and gives its shape: by
    /// zero points, or with `PADV2` by the lowest number.
    pub(super) fn padded(
        &mut self,
        node: &Node,
        kind: Kind,
        window: Window,
        [input, output]: [Shape; 2],
        renamed: &mut HashMap<TensorId, TensorId>,
    ) -> Option<Shape> {
        let original = *node.kernel.as_ref()?.inputs.first()?;
        let from = *renamed.get(&original)?;
        let mut padded = input;
        for axis in [0, 1] {
            let reach = (window.kernel[axis] - 1).checked_mul(window.dilation[axis])?;
            let last = (output[axis + 1] - 1).checked_mul(window.stride[axis])?;
            padded[axis + 1] = last.checked_add(reach)?.checked_add(1)?;
        }
        let pad = Pad {
            input,
            before: [0, window.padding_before[0], window.padding_before[1], 0],
            output: padded,
            element_bytes: self.element_bytes(from),
        };
        let paddings = self.paddings(&pad)?;
        let new = self.piece(original, "padded", padded);
        let mut inputs = vec![from, paddings];
        if kind == Kind::Padv2 {
            inputs.push(self.lowest(original));
        }
        self.insert(kind, Operator::Pad(pad), vec![from], inputs, new);
        renamed.insert(original, new);
        Some(padded)
    }

    /// The constant that says how to pad; `None` if the output is too small.
    pub(super) fn paddings(&mut self, pad: &Pad) -> Option<TensorId> {
        let mut values = Vec::new();
        for axis in 0..4 {
            let after = pad.output[axis].checked_sub(pad.before[axis])?;
            let after = after.checked_sub(pad.input[axis])?;
            values.extend([pad.before[axis], after].map(u32::cast_signed));
        }
        Some(self.constant(vec![4, 2], values))
    }
}

const BEYOND: &str = "has a window that lies wholly outside its input";
const POOL: &str = "averages a part that reaches beyond the tensor's border, which no padding of \
                    standard operators says; hint: end the run before it";

/// Whether a runtime, told SAME or VALID, makes another window.
fn needs_pad(window: &Window, input: Shape, output: Shape) -> bool {
    let known = [Padding::Same, Padding::Valid];
    !known
        .iter()
        .any(|&padding| window.is_padded(padding, input, output))
}
