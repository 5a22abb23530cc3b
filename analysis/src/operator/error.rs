//! Why an operator's shapes make no sense.

use super::Shape;

/// What the axes of a [`Shape`] are called.
const AXES: [&str; 4] = ["batch", "height", "width", "depth"];

/// Why a shape makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum ShapeError {
    #[error("the {what} is 0 or has an extent of 0, expected at least 1")]
    Zero { what: &'static str },
    #[error("the {what} is {given}, limit {limit}")]
    TooLarge {
        what: String,
        given: u32,
        limit: u32,
    },
    #[error("the {what} is {given}, expected at least {least} ({reason})")]
    TooSmall {
        what: String,
        given: u32,
        least: u64,
        reason: &'static str,
    },
    #[error("elements of the {buffer} have {given} bytes, expected 1, 2, 4 or 8")]
    ElementSize { buffer: &'static str, given: u32 },
    #[error(
        "the {buffer} {shape:?} with {element_bytes}-byte elements does not fit \
         in 32-bit addresses"
    )]
    BufferTooLarge {
        buffer: &'static str,
        shape: Shape,
        element_bytes: u32,
    },
    #[error("the {what} is {given}, expected {expected} ({reason})")]
    Mismatch {
        what: String,
        given: u64,
        expected: u64,
        reason: &'static str,
    },
    #[error("the {what} is {given}, expected 1 or {expected} (that of the output)")]
    Broadcast {
        what: String,
        given: u32,
        expected: u32,
    },
    #[error("the {what} is {given}, which {groups} groups do not divide")]
    Groups {
        what: &'static str,
        given: u32,
        groups: u32,
    },
    #[error("the {what} is at {given}, expected 0 to {last} (inside the input)")]
    Outside { what: String, given: i64, last: u32 },
    #[error("the axis is {given}, expected 0 to 3")]
    Axis { given: u32 },
    #[error("the permutation is {given:?}, expected each of 0 to 3 once")]
    Permutation { given: [u32; 4] },
    #[error(
        "the operator has no pitched form; convolutions, pooling and padding have, and what goes \
         element by element without broadcasting"
    )]
    NoPitch,
    #[error("there is no {what} {index}, expected less than {count}")]
    NoSuchBuffer {
        what: &'static str,
        index: usize,
        count: usize,
    },
}

/// "output's width", say.
pub(super) fn extent_of(buffer: &str, axis: usize) -> String {
    format!("{buffer}'s {}", AXES[axis])
}

pub(super) fn expect_equal(
    what: impl FnOnce() -> String,
    given: impl Into<u64>,
    expected: impl Into<u64>,
    reason: &'static str,
) -> Result<(), ShapeError> {
    let (given, expected) = (given.into(), expected.into());
    if given != expected {
        return Err(ShapeError::Mismatch {
            what: what(),
            given,
            expected,
            reason,
        });
    }
    Ok(())
}

/// The output agrees with the input on these axes.
pub(super) fn expect_same_extents(
    input: Shape,
    output: Shape,
    axes: &[usize],
) -> Result<(), ShapeError> {
    axes.iter().try_for_each(|&axis| {
        expect_equal(
            || extent_of("output", axis),
            output[axis],
            input[axis],
            "that of the input",
        )
    })
}

/// An axis given by its number.
pub(super) fn axis_index(axis: u32) -> Result<usize, ShapeError> {
    match axis {
        0..=3 => Ok(axis as usize),
        given => Err(ShapeError::Axis { given }),
    }
}
