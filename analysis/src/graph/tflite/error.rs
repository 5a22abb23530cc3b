//! Why a model cannot be read or written, and an operator of it not computed.

use crate::graph::TensorType;

/// Why a model cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum TfliteError {
    #[error("not a TensorFlow Lite model: {problem}")]
    NotTflite { problem: String },
    #[error("damaged or truncated model: {problem}")]
    Damaged { problem: String },
    #[error(
        "the model's tables refer to the same bytes again and again: reading them takes more \
         than {limit} bytes, {times} times the file"
    )]
    Amplified { limit: usize, times: usize },
    #[error("{place}: {what} {given}, but there are {count}")]
    Index {
        place: String,
        what: &'static str,
        given: i64,
        count: usize,
    },
    #[error("the model has no subgraph")]
    NoSubgraph,
    #[error(
        "{tensor} has the shape {shape:?}, of which an extent is not known before the model \
         runs; hint: convert the model again with fixed shapes"
    )]
    DynamicShape { tensor: String, shape: Vec<i32> },
    #[error(transparent)]
    OpenBatch(Box<OpenBatch>),
    #[error(
        "{tensor} is sparse, and TensorFlow Lite Micro takes the data of any tensor for all of its \
         elements; hint: convert the model again with dense weights"
    )]
    Sparse { tensor: String },
    #[error("{tensor} has the element type {element_type}, whose size is not known")]
    ElementType {
        tensor: String,
        element_type: TensorType,
    },
    #[error(
        "{tensor} has the shape {shape:?}: its size, or that of all tensors, does not fit in \
         63 bits"
    )]
    TooLarge { tensor: String, shape: Vec<i32> },
    #[error("{place} reads {tensor}, which nothing has written")]
    NotWritten { place: String, tensor: String },
    #[error("{place} writes {tensor}, which {before}")]
    WrittenAgain {
        place: String,
        tensor: String,
        before: String,
    },
    #[error("the model's subgraphs run one another without end, or more than {depth} deep")]
    Calls { depth: usize },
    #[error(
        "the model's subgraphs are run from so many places that there are more than {limit} \
         operands in all"
    )]
    Operands { limit: usize },
    #[error("{0}")]
    Plan(String),
    #[error("{0}")]
    Export(String),
}

/// Shapes that are not those of one batch, in a model that leaves it open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place} makes the shape {output:?} of {input:?}, which it cannot: the model leaves its batch \
     open ({tensor} has the signature {signature:?}), and these are not the shapes of one batch; \
     hint: convert the model again with a fixed batch"
)]
#[expect(missing_docs, reason = "the message is the documentation")]
pub struct OpenBatch {
    pub place: String,
    pub input: Vec<u32>,
    pub output: Vec<u32>,
    pub tensor: String,
    pub signature: Vec<i32>,
}

/// Why it is not known what an operator computes with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Unsupported {
    #[error("only the program that has it knows what it computes")]
    Kind,
    #[error("what it computes with is not read for its kind")]
    NotRead,
    #[error("its options are those of number {given}, expected {expected}")]
    Options { given: u8, expected: u8 },
    #[error("its {option} is {given}, expected {expected}")]
    Option {
        option: &'static str,
        given: String,
        expected: &'static str,
    },
    #[error(
        "it takes floating point together with integers of 8 or 16 bits, and quantises as it goes"
    )]
    Hybrid,
    #[error("its tensor {tensor} {problem}")]
    Tensor {
        tensor: usize,
        problem: TensorProblem,
    },
}

/// Why it is not known what the elements of a tensor stand for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum TensorProblem {
    #[error("has the element type {element_type}, with which no kernel here computes")]
    ElementType { element_type: TensorType },
    #[error("is quantised in a way of its own, number {given}, expected by scale and zero point")]
    Details { given: u8 },
    #[error("has {scales} scales and {zero_points} zero points")]
    Counts { scales: usize, zero_points: usize },
    #[error("has the scale {given}, expected a positive number")]
    Scale { given: f32 },
    #[error("has the zero point {given}, expected {least} to {greatest}")]
    ZeroPoint {
        given: i64,
        least: i32,
        greatest: i32,
    },
    #[error("has {scales} scales along axis {axis}, but {rank} axes")]
    Axis {
        scales: usize,
        axis: i32,
        rank: usize,
    },
    #[error("has {scales} scales along axis {axis}, but {extent} elements on it")]
    Extent {
        scales: usize,
        axis: i32,
        extent: u32,
    },
    #[error("has {scales} scales and is no constant, expected one")]
    Channels { scales: usize },
}

impl TfliteError {
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        Self::Damaged {
            problem: problem.into(),
        }
    }
}

impl From<planus::Error> for TfliteError {
    fn from(error: planus::Error) -> Self {
        let at = error.source_location;
        Self::damaged(format!(
            "{}.{} of the table at byte {}: {}",
            at.type_, at.method, at.byte_offset, error.error_kind
        ))
    }
}
