//! What of its inputs an operator needs for a region of its output.

use crate::graph::{Graph, Kernel, TensorId};
use crate::operator::{Concat, Elementwise, ElementwiseBinary, Operator, Pad, Shape, Window};
use std::ops::Range;

/// Rows and columns of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Region {
    /// Rows, not none.
    pub rows: Range<u32>,
    /// Columns, not none.
    pub columns: Range<u32>,
}

impl Region {
    /// All of a tensor of this shape.
    pub fn whole([_, height, width, _]: Shape) -> Self {
        Self {
            rows: 0..height,
            columns: 0..width,
        }
    }

    /// The smallest region that contains both.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        let hull = |one: &Range<u32>, other: &Range<u32>| {
            one.start.min(other.start)..one.end.max(other.end)
        };
        Self {
            rows: hull(&self.rows, &other.rows),
            columns: hull(&self.columns, &other.columns),
        }
    }

    /// Where it is in another region, which contains it.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        let from = |range: &Range<u32>, start: u32| range.start - start..range.end - start;
        Self {
            rows: from(&self.rows, outer.rows.start),
            columns: from(&self.columns, outer.columns.start),
        }
    }

    /// A tensor of this shape, cut to the region.
    pub fn shape(&self, [batch, _, _, depth]: Shape) -> Shape {
        [
            batch,
            self.rows.len() as u32,
            self.columns.len() as u32,
            depth,
        ]
    }
}

/// An operator that computes a region of another one's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialOperator {
    /// Its loops.
    pub operator: Operator,
    /// What it needs of each of the other's inputs. What it computes with them alone is what the
    /// other computes with all of them.
    pub inputs: Vec<Region>,
}

/// Whether the inputs in the arena have the rows and columns that [`part`] takes them to have: an operator
/// that goes element by element says only how many elements there are.
pub(super) fn has_rows_of_its_inputs(graph: &Graph, kernel: &Kernel, output: Shape) -> bool {
    let known: Vec<Shape> = match &kernel.operator {
        Operator::Elementwise(_) => vec![output],
        Operator::ElementwiseBinary(known) if is_as_large(known, output) => vec![output; 2],
        Operator::ElementwiseBinary(known) => known.inputs.to_vec(),
        Operator::Pad(known) => vec![known.input],
        Operator::Concat(known) => known.inputs.clone(),
        operator => match operator.windowed() {
            Some((_, input, _)) => vec![input],
            None => return false,
        },
    };
    let mut inputs = kernel.inputs.iter().zip(known);
    inputs.all(|(&input, known)| !graph.in_arena(input) || shape(graph, input) == Some(known))
}

/// The operator that computes a region of the output of `operator`, whose shape is `output`; none
/// where an output element depends on more than a window, or taps lie wholly outside the input.
pub fn part(operator: &Operator, output: Shape, region: &Region) -> Option<PartialOperator> {
    let cut = region.shape(output);
    let mut loops = operator.clone();
    if let Some((window, input, computed)) = loops.windowed_mut() {
        let needs;
        (needs, *window) = windowed(window, *input, region)?;
        *input = needs.shape(*input);
        *computed = cut;
        return Some(PartialOperator::of_one(loops, needs));
    }
    match operator {
        Operator::Elementwise(known) => {
            let whole: u32 = output.iter().product();
            let operator = Operator::Elementwise(Elementwise {
                elements: cut.iter().product(),
                ..*known
            });
            (known.elements == whole).then(|| PartialOperator::of_one(operator, region.clone()))
        }
        Operator::ElementwiseBinary(known) => binary(known, output, region),
        Operator::Pad(known) => padded(known, region),
        Operator::Concat(known) if known.axis == 3 => {
            let inputs = known.inputs.iter();
            Some(PartialOperator {
                inputs: vec![region.clone(); known.inputs.len()],
                operator: Operator::Concat(Concat {
                    inputs: inputs.map(|&shape| region.shape(shape)).collect(),
                    ..known.clone()
                }),
            })
        }
        _ => None,
    }
}

impl PartialOperator {
    fn of_one(operator: Operator, needs: Region) -> Self {
        Self {
            operator,
            inputs: vec![needs],
        }
    }
}

fn row(shape: Shape) -> Shape {
    [1, 1, 1, shape.iter().product()]
}

/// Both operands are as large as the output, in one row.
fn is_as_large(known: &ElementwiseBinary, output: Shape) -> bool {
    known.inputs == [known.output; 2] && known.output == row(output)
}

/// An operand of one pixel goes with all of them. Of operands that are as large as the output
/// only the number of elements is known.
fn binary(known: &ElementwiseBinary, output: Shape, region: &Region) -> Option<PartialOperator> {
    if is_as_large(known, output) {
        let cut = row(region.shape(output));
        return Some(PartialOperator {
            operator: Operator::ElementwiseBinary(ElementwiseBinary {
                inputs: [cut; 2],
                output: cut,
                ..*known
            }),
            inputs: vec![region.clone(); 2],
        });
    }
    if known.output != output {
        return None;
    }
    let of = |input: Shape| {
        if input[1..3] == known.output[1..3] {
            Some(region.clone())
        } else {
            (input[1..3] == [1, 1]).then(|| Region::whole(input))
        }
    };
    let inputs = known.inputs.map(of);
    let [Some(one), Some(other)] = inputs else {
        return None;
    };
    Some(PartialOperator {
        operator: Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [one.shape(known.inputs[0]), other.shape(known.inputs[1])],
            output: region.shape(known.output),
            ..*known
        }),
        inputs: vec![one, other],
    })
}

/// The input of a window's outputs, and the window from there.
fn windowed(window: &Window, input: Shape, region: &Region) -> Option<(Region, Window)> {
    let axis = |axis: usize, outputs: &Range<u32>| {
        let [kernel, stride, dilation, padding] = [
            window.kernel,
            window.stride,
            window.dilation,
            window.padding_before,
        ]
        .map(|extents| i64::from(extents[axis]));
        let first = i64::from(outputs.start) * stride - padding;
        let last = i64::from(outputs.end - 1) * stride - padding + (kernel - 1) * dilation;
        let extent = i64::from(input[axis + 1]);
        // Where all taps lie before the input, one row of it is there to have some input at all.
        let range = first.max(0)..(last + 1).min(extent).max(1);
        let padding = range.start - first;
        (range.start < range.end).then_some((
            range.start as u32..range.end as u32,
            u32::try_from(padding).ok()?,
        ))
    };
    let (rows, top) = axis(0, &region.rows)?;
    let (columns, left) = axis(1, &region.columns)?;
    let window = Window {
        padding_before: [top, left],
        ..*window
    };
    Some((Region { rows, columns }, window))
}

fn padded(known: &Pad, region: &Region) -> Option<PartialOperator> {
    let axis = |axis: usize, outputs: &Range<u32>| {
        let (before, extent) = (known.before[axis], known.input[axis]);
        let start = outputs.start.saturating_sub(before);
        let end = outputs.end.saturating_sub(before).min(extent);
        let before = before.saturating_sub(outputs.start);
        (start < end).then_some((start..end, before))
    };
    let (rows, top) = axis(1, &region.rows)?;
    let (columns, left) = axis(2, &region.columns)?;
    let needs = Region { rows, columns };
    let operator = Operator::Pad(Pad {
        input: needs.shape(known.input),
        before: [known.before[0], top, left, known.before[3]],
        output: region.shape(known.output),
        ..*known
    });
    Some(PartialOperator::of_one(operator, needs))
}

/// Of a tensor with rows and columns, and of one batch.
pub(super) fn shape(graph: &Graph, id: TensorId) -> Option<Shape> {
    let shape: Shape = graph.tensor(id).shape.as_slice().try_into().ok()?;
    (shape[0] == 1 && !shape.contains(&0)).then_some(shape)
}
