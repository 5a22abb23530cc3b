//! Concatenation.

use super::error::{axis_index, expect_equal, extent_of};
use super::store_lead::longest;
use super::{Buffer, Buffers, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Concatenation along one axis: for each position on the axes before it, one run of
/// each input.
///
/// A run is one `memcpy`, taken here for one that loads and stores each element in
/// ascending order. The result also holds for a `memcpy` that moves disjoint groups of
/// bytes in ascending order and loads each group before it stores any of it. It does
/// **not** hold for one that goes downwards, stores the end of a run first, clears
/// ahead of what it stores, or comes back to bytes below the last store (an overlapping
/// last group): such a `memcpy` has to be traced.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Concat {
    /// Shapes of the inputs, which agree on all axes but one.
    pub inputs: Vec<Shape>,
    /// That axis: 0 for the batch, 3 for the depth.
    pub axis: u32,
    /// Bytes per element of all buffers.
    pub element_bytes: u32,
}

impl Concat {
    fn axis(&self) -> usize {
        self.axis.min(3) as usize
    }

    /// The output's extent on the axis.
    fn extent(&self) -> u64 {
        self.inputs
            .iter()
            .map(|shape| u64::from(shape[self.axis()]))
            .sum()
    }

    /// An extent that does not fit counts as the largest, and no inputs as one element:
    /// `check` refuses both.
    fn output(&self) -> Shape {
        let Some(&(mut output)) = self.inputs.first() else {
            return [1; 4];
        };
        output[self.axis()] = u32::try_from(self.extent()).unwrap_or(u32::MAX);
        output
    }

    /// How often all inputs take turns.
    fn rounds(&self) -> u32 {
        self.inputs[0][..self.axis()].iter().product()
    }

    /// Elements of each input's run.
    fn runs(&self) -> impl Iterator<Item = u32> {
        self.inputs
            .iter()
            .map(|shape| shape[self.axis()..].iter().product())
    }
}

impl ReferenceKernel for Concat {
    fn check(&self) -> Result<(), ShapeError> {
        let axis = axis_index(self.axis)?;
        let Some((first, others)) = self.inputs.split_first() else {
            return Err(ShapeError::Zero {
                what: "number of inputs",
            });
        };
        if self.extent() > u64::from(u32::MAX) {
            return Err(ShapeError::BufferTooLarge {
                buffer: "output",
                shape: self.output(),
                element_bytes: self.element_bytes,
            });
        }
        for (index, shape) in others.iter().enumerate() {
            for other in (0..4).filter(|&other| other != axis) {
                expect_equal(
                    || extent_of(&format!("input {}", index + 1), other),
                    shape[other],
                    first[other],
                    "that of input 0",
                )?;
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Buffers {
        let buffer = |name, &shape: &Shape| Buffer::new(name, shape, self.element_bytes);
        Buffers {
            inputs: self
                .inputs
                .iter()
                .map(|shape| buffer("input", shape))
                .collect(),
            outputs: vec![buffer("output", &self.output())],
        }
    }

    fn displacement_bytes(&self, input: usize, _: usize) -> Option<i64> {
        // A round stores more than the input's run, and the runs before it come first.
        let (mut before, mut own, mut round) = (0, 0, 0);
        for (index, run) in self.runs().map(i64::from).enumerate() {
            if index < input {
                before += run;
            } else if index == input {
                own = run;
            }
            round += run;
        }
        let elements = longest(self.rounds(), round - own) + before;
        Some(elements * i64::from(self.element_bytes))
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let mut stored = 0;
        for round in 0..self.rounds() {
            for (input, run) in self.runs().enumerate() {
                for element in 0..run {
                    visit(AccessKind::Load, input, round * run + element);
                    visit(AccessKind::Store, 0, stored + element);
                }
                stored += run;
            }
        }
    }
}
