//! Why a trace could not be written or read.

use super::VERSION;
use super::rules::Violation;

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file could not be written to.
    #[error("cannot write the trace: {0}")]
    Io(#[from] std::io::Error),
    /// What was to be written is not a trace.
    #[error("not a valid trace: {0}")]
    Violation(#[from] Violation),
    /// A program, layer or ending has too much text.
    #[error("{chunk} chunk of {given} bytes, limit {limit}; shorten names or locations")]
    ChunkTooLong {
        /// What it holds.
        chunk: &'static str,
        /// Its length in bytes.
        given: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A program, layer or ending could not be put into text.
    #[error("cannot put the {chunk} chunk into JSON: {error}")]
    Json {
        /// What it holds.
        chunk: &'static str,
        /// What went wrong.
        error: serde_json::Error,
    },
}

/// Why a saved trace was refused, and where.
#[derive(Debug, thiserror::Error)]
#[error("at byte {offset}: {problem}")]
pub struct ReadError {
    /// Position in the file: where it ends too early, or the start of the chunk (or
    /// field of the file's head) that is wrong.
    pub offset: u64,
    /// What is wrong.
    pub problem: FileDefect,
}

/// What is wrong with a saved trace.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum FileDefect {
    #[error("cannot read the file: {0}")]
    Io(std::io::Error),
    #[error("expected the magic number of a saved trace; this is another kind of file")]
    NotATrace,
    #[error(
        "version {found} of the trace format, expected version {VERSION}; \
         if the file is not damaged, another version of this program wrote it"
    )]
    Version { found: u32 },
    #[error("the file ends, expected {expected}; was its writer stopped?")]
    Truncated { expected: &'static str },
    #[error("chunk of kind {code}, expected 1 to 5; the file is damaged")]
    UnknownChunk { code: u8 },
    #[error("{chunk} chunk of {given} bytes, limit {limit}")]
    ChunkTooLong {
        chunk: &'static str,
        given: usize,
        limit: usize,
    },
    #[error(
        "{chunk} chunk with check {found:#010x}, expected {computed:#010x}; \
         the file is damaged here or before"
    )]
    Check {
        chunk: &'static str,
        found: u32,
        computed: u32,
    },
    #[error("{chunk} chunk does not decompress to the {raw_bytes} bytes that it promises")]
    Compression {
        chunk: &'static str,
        raw_bytes: usize,
    },
    #[error("{chunk} chunk, expected {expected}")]
    UnexpectedChunk {
        chunk: &'static str,
        expected: String,
    },
    #[error("{chunk} chunk does not say what it should: {error}")]
    Json {
        chunk: &'static str,
        error: serde_json::Error,
    },
    #[error("events chunk: {detail}")]
    Block { detail: &'static str },
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("expected the end of the file after the ending")]
    TrailingBytes,
}
