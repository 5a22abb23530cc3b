//! What can be wrong with regions, and why there is no plan.

use crate::problem::ProblemError;
use crate::wording::grouped;
use thiserror::Error;

/// What is wrong with a problem of several regions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RegionsError {
    #[error("{given} regions are given, from 1 to {most} can be planned", most = super::MOST_REGIONS)]
    Count { given: usize },
    #[error("two regions are called {name:?}")]
    Twice { name: String },
    #[error("region {name:?} has an access cost of 0, at least 1 cycle is needed")]
    NoCost { name: String },
    #[error("region {name:?}, aligned to {alignment} bytes: {error}")]
    Alignment {
        name: String,
        alignment: u64,
        error: ProblemError,
    },
    #[error("accesses are given for {given} buffers, the problem has {buffers}")]
    Accesses { given: usize, buffers: usize },
    #[error("the cost of all accesses together does not fit in 64 bits")]
    TooManyAccesses,
    #[error("buffer {buffer:?} is pinned to regions that have none in common")]
    PinnedApart { buffer: String },
    #[error("there is no region {region}, {regions} are given")]
    NoRegion { region: usize, regions: usize },
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoRoom {
    /// There is none.
    #[error(
        "no plan for this order fits into the regions, which is proven: {cause}",
        cause = largest(left)
    )]
    Proven {
        /// What was left over where the others were placed.
        left: LeftOver,
    },
    /// None was found.
    #[error(
        "no plan was found in time, which does not mean that there is none: {cause}",
        cause = largest(left)
    )]
    Unknown {
        /// What was left over where the others were placed.
        left: LeftOver,
    },
}

/// Buffers for which there was no room beside the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOver {
    /// How many.
    pub buffers: usize,
    /// Their sizes together, in bytes.
    pub bytes: u64,
    /// Name of the largest.
    pub largest: String,
    /// Its size in bytes.
    pub largest_bytes: u64,
}

fn largest(left: &LeftOver) -> String {
    let LeftOver {
        buffers,
        bytes,
        largest,
        largest_bytes,
    } = left;
    if *buffers == 1 {
        return format!("{largest:?}, {} bytes, did not fit", grouped(*bytes));
    }
    format!(
        "{} buffers, {} bytes together, did not fit; the largest, {largest:?}, has {} bytes",
        grouped(*buffers as u64),
        grouped(*bytes),
        grouped(*largest_bytes)
    )
}
