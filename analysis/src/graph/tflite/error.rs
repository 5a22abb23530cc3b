//! Why a model cannot be read or written.

/// Why a model cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum TfliteError {
    #[error("not a TensorFlow Lite model: no identifier TFL3 at byte 4 of {length}")]
    NotTflite { length: usize },
    #[error("damaged model: {problem}")]
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
    #[error("{tensor} has the element type {element_type}, whose size is not known")]
    ElementType {
        tensor: String,
        element_type: String,
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
    #[error("{0}")]
    Plan(String),
    #[error("{0}")]
    Export(String),
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
