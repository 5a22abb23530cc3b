//! Where the tiles of a run lie in its tensors, one axis after the other.
//!
//! What a tile computes of a tensor is a range of rows times a range of columns, each from those
//! of the tensors behind it. So a few ranges say what any grid on any run computes that ends with
//! the same operator.

use crate::graph::{Graph, OperatorId, TensorId};
use crate::operator::{Operator, Shape};
use crate::transform::macs;
use crate::transform::region::{Region, has_rows_of_its_inputs, part};
use std::collections::HashMap;
use std::ops::Range;

/// An operator that can compute a part of its output.
pub(super) struct Step<'a> {
    pub(super) operator: &'a Operator,
    /// Tensors that its loops read.
    pub(super) inputs: &'a [TensorId],
    pub(super) output: TensorId,
    pub(super) shape: Shape,
    /// Whether it can touch tensors whose rows have gaps.
    pub(super) pitched: bool,
    /// Multiply-accumulates of the whole operator.
    pub(super) macs: u64,
    /// Those of each pair of taps, one along the rows and one along the columns.
    weight: u64,
    /// For each axis, how many taps all outputs before this one have inside the input.
    taps: [Vec<u64>; 2],
}

/// Tensors with more rows or columns are not cut: what each of them needs is kept.
const MOST_EXTENT: u32 = 1 << 20;

impl<'a> Step<'a> {
    /// None if a part of the output is not computed from parts of the inputs.
    pub(super) fn new(graph: &'a Graph, operator: OperatorId) -> Option<Self> {
        let node = graph.operators.get(operator.0)?;
        let kernel = node.kernel.as_ref()?;
        let (&[output], &[_]) = (&kernel.outputs[..], &node.outputs[..]) else {
            return None;
        };
        let tensor = graph.tensor(output);
        let shape: Shape = tensor.shape.as_slice().try_into().ok()?;
        let is_large = shape[1].max(shape[2]) > MOST_EXTENT;
        if shape[0] != 1 || shape.contains(&0) || is_large || !graph.in_arena(output) {
            return None;
        }
        part(&kernel.operator, shape, &Region::whole(shape))?;
        if !has_rows_of_its_inputs(graph, kernel, shape) {
            return None;
        }
        let macs = macs::of_operator(&kernel.operator);
        let windowed = kernel.operator.windowed();
        let taps = windowed.map(|(window, input, output)| {
            [0, 1].map(|axis| running_sums(window.taps_along(axis, input, output)))
        });
        let taps = taps.unwrap_or_default();
        let all = |axis: usize| taps[axis].last().copied().unwrap_or(0);
        let mut touched = kernel.inputs.iter().chain([&output]);
        let has_pitched = |id: &TensorId| {
            let known = node.kind.has_pitched_kernel(graph.tensor(*id).element_type);
            known && graph.in_arena(*id)
        };
        Some(Self {
            operator: &kernel.operator,
            inputs: &kernel.inputs,
            output,
            shape,
            pitched: touched.any(has_pitched) && !graph.has_packed_weights(node),
            macs,
            weight: macs.checked_div(all(0).saturating_mul(all(1))).unwrap_or(0),
            taps,
        })
    }

    /// How far the taps of these outputs reach into the input, and how many there are.
    fn taps(&self, axis: usize, outputs: &Range<u32>) -> u64 {
        let before = |end: u32| self.taps[axis].get(end as usize).copied().unwrap_or(0);
        before(outputs.end) - before(outputs.start)
    }

    /// What it reads of each input for these outputs.
    fn reads(&self, axis: usize, outputs: &Range<u32>) -> Option<Vec<Range<u32>>> {
        let mut region = Region::whole(self.shape);
        *along(axis, &mut region) = outputs.clone();
        let part = part(self.operator, self.shape, &region)?;
        let inputs = part.inputs.into_iter();
        Some(
            inputs
                .map(|mut input| along(axis, &mut input).clone())
                .collect(),
        )
    }
}

fn along(axis: usize, region: &mut Region) -> &mut Range<u32> {
    if axis == 0 {
        &mut region.rows
    } else {
        &mut region.columns
    }
}

fn running_sums(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sum = 0;
    let sums = counts.map(|count| {
        sum += count;
        sum
    });
    [0].into_iter().chain(sums).collect()
}

/// The output of one step, cut along one axis, and what that asks of the steps before it.
pub(super) struct Cut {
    last: usize,
    /// The last step first.
    steps: Vec<CutStep>,
}

/// What the parts ask of one step.
#[derive(Default)]
pub(super) struct CutStep {
    /// What each part computes of the output; nothing where no step behind it reads it.
    pub(super) computed: Vec<Range<u32>>,
    /// What each part needs of the output that is kept of the parts before.
    pub(super) kept: Vec<Range<u32>>,
    /// What each part reads of each input.
    pub(super) read: Vec<Vec<Range<u32>>>,
    /// Taps of all parts.
    taps: u64,
}

impl Cut {
    /// Back from the last step to the first, or as far as parts can be computed. What the parts before
    /// have computed is kept, or else computed again.
    pub(super) fn new(
        steps: &[Option<Step<'_>>],
        producers: &HashMap<TensorId, usize>,
        run: Range<usize>,
        axis: usize,
        parts: u32,
        cached: bool,
    ) -> Self {
        let last = run.end - 1;
        let mut cut = Self {
            last,
            steps: Vec::new(),
        };
        let mut needed: Vec<Vec<Range<u32>>> = vec![Vec::new(); run.len()];
        if let Some(step) = &steps[last] {
            needed[last - run.start] = ranges(step.shape[axis + 1], parts);
        }
        for at in run.clone().rev() {
            let needed_here = std::mem::take(&mut needed[at - run.start]);
            let Some(known) = steps[at]
                .as_ref()
                .and_then(|step| CutStep::new(step, axis, &needed_here, cached))
            else {
                break;
            };
            let inputs = steps[at].iter().flat_map(|step| step.inputs);
            for (input, read) in inputs.zip(&known.read) {
                let Some(producer) = producers.get(input).filter(|at| run.contains(at)) else {
                    continue;
                };
                join(&mut needed[producer - run.start], read);
            }
            cut.steps.push(known);
        }
        cut
    }

    /// The first step that parts can be computed of.
    pub(super) fn first(&self) -> usize {
        self.last + 1 - self.steps.len()
    }

    /// What is asked of a step, not before the first one.
    pub(super) fn at(&self, step: usize) -> &CutStep {
        &self.steps[self.last - step]
    }

    /// Whether a part of the run keeps something for the next.
    pub(super) fn keeps(&self, run: &Range<usize>) -> bool {
        let mut kept = run.clone().flat_map(|at| &self.at(at).kept);
        kept.any(|range| !range.is_empty())
    }

    /// Multiply-accumulates of a step in the tiles of two cuts, one along each axis.
    pub(super) fn macs(&self, columns: &Self, at: usize, step: &Step<'_>) -> u64 {
        let taps = self.at(at).taps.saturating_mul(columns.at(at).taps);
        taps.saturating_mul(step.weight)
    }
}

impl CutStep {
    fn new(step: &Step<'_>, axis: usize, needed: &[Range<u32>], cached: bool) -> Option<Self> {
        let mut read: Vec<Vec<Range<u32>>> = vec![Vec::new(); step.inputs.len()];
        let (mut computed, mut kept) = (Vec::new(), Vec::new());
        let (mut taps, mut end) = (0, 0);
        for needed in needed {
            let there = if cached { end } else { 0 };
            let start = needed.start.max(there.min(needed.end));
            end = needed.end.max(end);
            kept.push(needed.start..start);
            let outputs = start..needed.end;
            taps += step.taps(axis, &outputs);
            let reads = if outputs.is_empty() {
                vec![0..0; read.len()]
            } else {
                step.reads(axis, &outputs)?
            };
            for (read, range) in read.iter_mut().zip(reads) {
                read.push(range);
            }
            computed.push(outputs);
        }
        Some(Self {
            computed,
            kept,
            read,
            taps,
        })
    }
}

/// An extent in parts that differ by at most one.
fn ranges(extent: u32, parts: u32) -> Vec<Range<u32>> {
    let at = |part: u32| (u64::from(extent) * u64::from(part) / u64::from(parts)) as u32;
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}

/// Each range grows to what is read of it too.
fn join(ranges: &mut Vec<Range<u32>>, read: &[Range<u32>]) {
    if ranges.is_empty() {
        ranges.extend_from_slice(read);
        return;
    }
    for (range, read) in ranges.iter_mut().zip(read) {
        if range.start == range.end {
            *range = read.clone();
        } else if !read.is_empty() {
            *range = range.start.min(read.start)..range.end.max(read.end);
        }
    }
}
