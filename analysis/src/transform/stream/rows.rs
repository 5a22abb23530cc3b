//! Which rows of a tensor an operator computes anew when the window moves on.

use crate::graph::{Graph, Kind, Node, TensorId};
use crate::operator::{Operator, Pad, Window};

/// A tensor of which only the newest rows are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// The axis of time. All before it have one element, so that a row's bytes lie together.
    pub axis: usize,
    /// Rows of the whole window.
    pub window: u32,
    /// Those of them that are new, the last ones.
    pub new: u32,
}

impl Rows {
    /// Of a tensor whose first axis of more than one element is time.
    pub(super) fn of_input(shape: &[u32], new: u32) -> Option<Self> {
        let axis = shape.iter().position(|&extent| extent != 1)?;
        let window = shape[axis];
        Some(Self { axis, window, new })
    }

    /// The axis among the four that operators have.
    fn of_four(self, shape: &[u32]) -> Option<usize> {
        Some(self.axis + 4usize.checked_sub(shape.len())?)
    }

    /// It has these rows, one after the other in memory.
    pub(super) fn fits(self, shape: &[u32]) -> bool {
        shape.get(self.axis) == Some(&self.window)
            && shape[..self.axis].iter().all(|&extent| extent == 1)
    }
}

/// What an operator does when its input has new rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It runs on this many of the last rows, and stores new rows.
    New { read: u32, stored: Rows },
    /// It runs on the whole window, and why.
    Whole(&'static str),
    /// The same: no output of it is of an earlier window.
    Last,
}

/// What an operator does whose inputs are these tensors, `None` where one is whole or constant.
pub(super) fn step(graph: &Graph, node: &Node, inputs: &[Option<Rows>]) -> Step {
    let shape = |id: &TensorId| &graph.tensor(*id).shape[..];
    let first = inputs.iter().position(Option::is_some);
    let first = first.and_then(|first| Some((inputs[first]?, node.inputs.get(first)?)));
    let (Some((rows, first)), Some(kernel), [output]) =
        (first, node.kernel.as_ref(), &node.outputs[..])
    else {
        return Step::Whole("its loops are not known");
    };
    if inputs.iter().flatten().any(|other| *other != rows) {
        return Step::Whole("its inputs move on by different rows");
    }
    let Some(axis) = rows.of_four(shape(first)) else {
        return Step::Whole("its input has more than four axes");
    };
    let moves_otherwise = |(of, other): (&TensorId, &Option<Rows>)| {
        other.is_some_and(|other| other.of_four(shape(of)) != Some(axis))
    };
    // Operands are aligned by their last axes.
    if node.inputs.iter().zip(inputs).any(moves_otherwise) {
        return Step::Whole("its inputs have time on different axes");
    }
    let same = Step::New {
        read: rows.new,
        stored: rows,
    };
    let is_kept = |is_so: bool, why| {
        let output = shape(output);
        if is_so && rows.fits(output) && rows.of_four(output) == Some(axis) {
            same
        } else {
            Step::Whole(why)
        }
    };
    match &kernel.operator {
        _ if RESHAPES.contains(&node.kind) => reshaped(rows, shape(first), shape(output)),
        Operator::Conv2d(conv) => windowed(rows, axis, conv.window, conv.output),
        Operator::DepthwiseConv2d(conv) => windowed(rows, axis, conv.window, conv.output),
        Operator::Pool2d(pool) => windowed(rows, axis, pool.window, pool.output),
        Operator::Elementwise(_) => is_kept(true, "its output has another shape"),
        Operator::ElementwiseBinary(_) => {
            let extent = |of: &TensorId| {
                let shape = shape(of);
                let place = (axis + shape.len()).checked_sub(4);
                place.map_or(1, |place| shape[place])
            };
            let serves = |(of, rows): (&TensorId, &Option<Rows>)| rows.is_some() || extent(of) == 1;
            let all = node.inputs.iter().zip(inputs).all(serves);
            is_kept(all, "an input that stays differs from row to row")
        }
        Operator::Softmax(_) => is_kept(axis < 3, "it is over time"),
        Operator::Concat(concat) => {
            let count = inputs.iter().flatten().count();
            let all = count == concat.inputs.len() && concat.axis as usize != axis;
            is_kept(all, "it joins along time, or with what stays")
        }
        Operator::Pad(Pad {
            input,
            before,
            output,
            ..
        }) => is_kept(
            before[axis] == 0 && input[axis] == output[axis],
            "it pads in time",
        ),
        Operator::FullyConnected(_) => is_kept(
            axis < 3 && shape(output).len() == shape(first).len(),
            "its weights go over all rows",
        ),
        _ => Step::Whole("it needs all rows"),
    }
}

/// A window over time. Of the outputs, the last ones are new; they need the rows that their windows
/// reach, from the first one's first tap to the end.
fn windowed(rows: Rows, axis: usize, window: Window, output: [u32; 4]) -> Step {
    let Some(over) = axis.checked_sub(1).filter(|&over| over < 2) else {
        return Step::Whole("time is none of the axes of its window");
    };
    let [taps, stride, dilation, before] = [
        window.kernel,
        window.stride,
        window.dilation,
        window.padding_before,
    ]
    .map(|of| u64::from(of[over]));
    let (all, stored) = (u64::from(rows.window), output[axis]);
    let reach = (taps - 1) * dilation + 1;
    if before > 0 || u64::from(stored - 1) * stride + reach > all {
        return Step::Whole("it pads in time");
    }
    if !u64::from(rows.new).is_multiple_of(stride) {
        return Step::Whole("its stride in time does not divide the new rows");
    }
    let new = rows.new / stride as u32;
    if new >= stored {
        return Step::Last;
    }
    let read = all - u64::from(stored - new) * stride;
    if read < u64::from(rows.new) {
        return Step::Whole("its windows leave out rows between them");
    }
    Step::New {
        read: read as u32,
        stored: Rows {
            axis: rows.axis,
            window: stored,
            new,
        },
    }
}

/// Operators that give the same elements another shape.
const RESHAPES: [Kind; 3] = [Kind::Reshape, Kind::ExpandDims, Kind::Squeeze];

/// The axis of time may become another one.
fn reshaped(rows: Rows, from: &[u32], to: &[u32]) -> Step {
    if from.get(rows.axis) != Some(&rows.window) {
        return Step::Whole("it needs all rows");
    }
    let axis = to.iter().position(|&extent| extent != 1);
    let axis = axis.filter(|&axis| to[axis] == rows.window);
    axis.map_or(Step::Whole("it makes other rows"), |axis| Step::New {
        read: rows.new,
        stored: Rows { axis, ..rows },
    })
}
