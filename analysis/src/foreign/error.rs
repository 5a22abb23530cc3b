//! Why a plan of another tool cannot be read or written.

use dmo_planner::problem::ProblemError;
use thiserror::Error;

/// What is wrong with a plan of another tool.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ForeignError {
    #[error("it is no JSON of the expected form: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "it is neither a program of ExecuTorch (execution_plan) nor a c_info.json of ST Edge AI \
         (memory_pools)\n  hint: flatc --json makes JSON of a .pte; a .json of dmo-trace goes with \
         its model: audit MODEL --plan FILE"
    )]
    UnknownForm,
    #[error("{place}: {what} is {given}, a number from 0 to {largest} is expected")]
    Number {
        place: String,
        what: &'static str,
        given: String,
        largest: u64,
    },
    #[error("{place}: {what} {given} is not among the {count} there are")]
    NoSuch {
        place: String,
        what: &'static str,
        given: i64,
        count: usize,
    },
    #[error("{place}: instructions of type {given:?} are not known")]
    InstructionType { place: String, given: String },
    #[error("{place}: the method has memories 1 to {count} only")]
    NoMemory { place: String, count: usize },
    #[error("its values lie at too many different places to be followed")]
    TooManyPlaces,
    #[error("{place}: element type {given} is not known")]
    ElementType { place: String, given: String },
    #[error("{place}: its epochs end at {end}, before they start, at {start}")]
    Epochs { place: String, start: i64, end: i64 },
    #[error("buffer {id} is there twice")]
    Twice { id: i64 },
    #[error(
        "memory pool {name:?} lies over other pools, and the address of one of them is no number: \
         where its buffers lie is not known"
    )]
    Address { name: String },
    #[error("{memory}: {error}")]
    Problem { memory: String, error: ProblemError },
    #[error("it has no memory plan: nothing in it has a place in memory")]
    NoPlan,
    #[error("{memory}: {given} offsets for {expected} buffers")]
    OffsetCount {
        memory: String,
        given: usize,
        expected: usize,
    },
}

/// A number that is not negative and no larger than this.
pub(super) fn number(
    given: i128,
    largest: u64,
    what: &'static str,
    place: impl FnOnce() -> String,
) -> Result<u64, ForeignError> {
    let number = u64::try_from(given).ok();
    let number = number.filter(|&number| number <= largest);
    number.ok_or_else(|| ForeignError::Number {
        place: place(),
        what,
        given: given.to_string(),
        largest,
    })
}
