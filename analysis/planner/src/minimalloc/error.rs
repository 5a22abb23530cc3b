//! What can be wrong with a table.

use crate::problem::ProblemError;
use thiserror::Error;

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TableError {
    #[error(
        "line 1: the column {name:?} is missing; columns are id, lower, upper, size, alignment, hint, \
         gaps, offset"
    )]
    NoColumn { name: &'static str },
    #[error(
        "line 1: the column {name:?} is not known; columns are id, lower, upper, size, alignment, \
         hint, gaps, offset"
    )]
    UnknownColumn { name: String },
    #[error("line 1: the column {name:?} is there twice, perhaps by an older name")]
    TwoColumns { name: String },
    #[error("line {line}: {given} fields, the header has {expected}")]
    FieldCount {
        line: usize,
        given: usize,
        expected: usize,
    },
    #[error("line {line}: {column} is {given:?}, a number from 0 to {largest} is expected")]
    Number {
        line: usize,
        column: &'static str,
        given: String,
        largest: u64,
    },
    #[error("line {line}: gap {given:?}: {expected}")]
    Gap {
        line: usize,
        given: String,
        expected: &'static str,
    },
    #[error("the table is no comma-separated text: {reason}")]
    Text { reason: String },
    #[error(
        "{upper:?} may overlap {lower:?}: MiniMalloc has no column for that\n  hint: --overlap none"
    )]
    Overlap { lower: String, upper: String },
    #[error(transparent)]
    Problem(#[from] ProblemError),
}
