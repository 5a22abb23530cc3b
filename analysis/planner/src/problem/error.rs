//! What can be wrong with a problem.

use super::{Buffer, Displacement, MAX_PAIRS, MAX_TOTAL_BYTES, common_multiple};
use crate::wording::grouped;
use thiserror::Error;

/// What is wrong with a problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProblemError {
    #[error("buffer {index} {name:?} has size 0, at least 1 byte is needed")]
    NoSize { index: usize, name: String },
    #[error("buffer {index} {name:?} is alive from step {start} up to {end}: that is never")]
    NeverAlive {
        index: usize,
        name: String,
        start: u32,
        end: u32,
    },
    #[error("all buffers, each where all are aligned, have more than {MAX_TOTAL_BYTES} bytes")]
    TooLarge,
    #[error("more than {MAX_PAIRS} pairs of buffers are alive together")]
    TooManyPairs,
    #[error("buffer {index} {name:?} has alignment 0; 1 stands for none")]
    NoAlignment { index: usize, name: String },
    #[error("buffer {index} {name:?} has to lie at {offset}, not a multiple of {alignment}")]
    Misaligned {
        index: usize,
        name: String,
        offset: u64,
        alignment: u64,
    },
    #[error(
        "buffers {lower} and {upper} are never alive together, so that none overlaps the other"
    )]
    NeverTogether { lower: usize, upper: usize },
    #[error(
        "buffer {lower} is to lie below buffer {upper} and lives no later: an output is created \
         after the input that it overlaps, or lives on when that dies"
    )]
    NotLater { lower: usize, upper: usize },
    #[error(
        "buffer {upper} may start {} bytes above buffer {lower}, which has {} bytes",
        grouped(*given),
        grouped(*size)
    )]
    TooFar {
        lower: usize,
        upper: usize,
        given: u64,
        size: u64,
    },
}

pub(crate) fn check(buffers: &[Buffer]) -> Result<(), ProblemError> {
    let (mut total, mut common) = (0_u64, 1);
    for (index, buffer) in buffers.iter().enumerate() {
        let name = || buffer.name.clone();
        let alignment = buffer.alignment;
        if alignment == 0 {
            return Err(ProblemError::NoAlignment {
                index,
                name: name(),
            });
        }
        common = common_multiple(common, alignment).ok_or(ProblemError::TooLarge)?;
        if buffer.size_bytes == 0 {
            return Err(ProblemError::NoSize {
                index,
                name: name(),
            });
        }
        if buffer.alive.is_empty() {
            return Err(ProblemError::NeverAlive {
                index,
                name: name(),
                start: buffer.alive.start,
                end: buffer.alive.end,
            });
        }
        let offset = buffer.fixed_offset.unwrap_or(0);
        if !offset.is_multiple_of(alignment) {
            return Err(ProblemError::Misaligned {
                index,
                name: name(),
                offset,
                alignment,
            });
        }
        total = total
            .saturating_add(buffer.size_bytes)
            .saturating_add(offset);
    }
    let gaps = common.saturating_mul(buffers.len() as u64);
    if total.saturating_add(gaps) > MAX_TOTAL_BYTES {
        return Err(ProblemError::TooLarge);
    }
    Ok(())
}

pub(super) fn check_displacement(
    buffers: &[Buffer],
    displacement: &Displacement,
) -> Result<(), ProblemError> {
    let Displacement {
        lower,
        upper,
        bytes,
    } = *displacement;
    let together = |(one, other): (&Buffer, &Buffer)| {
        one.alive.start < other.alive.end && other.alive.start < one.alive.end
    };
    let pair = buffers.get(lower).zip(buffers.get(upper));
    if lower == upper || !pair.is_some_and(together) {
        return Err(ProblemError::NeverTogether { lower, upper });
    }
    let life = |buffer: usize| (buffers[buffer].alive.start, buffers[buffer].alive.end);
    if life(lower) <= life(upper) {
        return Err(ProblemError::NotLater { lower, upper });
    }
    let size = buffers[lower].size_bytes;
    if bytes > size {
        return Err(ProblemError::TooFar {
            lower,
            upper,
            given: bytes,
            size,
        });
    }
    Ok(())
}
