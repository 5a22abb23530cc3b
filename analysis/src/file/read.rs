//! Reads a saved trace in one pass.

use super::chunk::{Chunk, ChunkKind, ChunkReader};
use super::events::{BlockProblem, Decoder};
use super::rules::{Rules, Violation};
use super::{LayerBegin, LayerEnd, VERSION};
use crate::trace::{Ending, Program, TraceSink};
use serde::de::DeserializeOwned;
use std::io::{BufReader, Read};

/// Why a saved trace was refused, and where.
#[derive(Debug, thiserror::Error)]
#[error("at byte {offset}: {problem}")]
pub struct ReadError {
    /// Position in the file: where it ends too early, or the start of the chunk (or
    /// field of the file's head) that is wrong.
    pub offset: u64,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a saved trace.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Problem {
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

/// Reads a saved trace.
pub struct TraceReader<R: Read> {
    chunks: ChunkReader<BufReader<R>>,
    program: Program,
}

impl<R: Read> std::fmt::Debug for TraceReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceReader")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl<R: Read> TraceReader<R> {
    /// Reads the head of the file. `reader` needs no buffer of its own.
    ///
    /// # Errors
    /// When this is not a saved trace of a known version, or it is damaged.
    pub fn open(reader: R) -> Result<Self, ReadError> {
        let mut chunks = ChunkReader::open(BufReader::new(reader))?;
        let chunk = chunks.next()?;
        if chunk.kind != ChunkKind::Program {
            return Err(unexpected(&chunk, "a program chunk".to_owned()));
        }
        Ok(Self {
            chunks,
            program: parse(&chunk)?,
        })
    }

    /// The program that was traced.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Drives `sink` with the layers and events of the file. Each step is checked before it
    /// is handed over; after an error `sink` holds the beginning of the trace.
    ///
    /// # Errors
    /// When the file is damaged, incomplete, or not a valid trace.
    pub fn read_into(mut self, sink: &mut (impl TraceSink + ?Sized)) -> Result<Ending, ReadError> {
        let mut rules = Rules::default();
        let mut decoder = Decoder::default();
        loop {
            let chunk = self.chunks.next()?;
            let fail = |problem| ReadError {
                offset: chunk.offset,
                problem,
            };
            match (chunk.kind, &mut rules.open) {
                (ChunkKind::LayerBegin, None) => {
                    let LayerBegin { time, layer } = parse(&chunk)?;
                    rules
                        .begin_layer(&layer, time)
                        .map_err(|violation| fail(violation.into()))?;
                    decoder.begin();
                    sink.begin_layer(&layer, time);
                }
                (ChunkKind::Events, Some(layer)) => {
                    decoder
                        .decode(&chunk.raw, layer, sink)
                        .map_err(|problem| match problem {
                            BlockProblem::Malformed(detail) => fail(Problem::Block { detail }),
                            BlockProblem::Violation(violation) => fail(violation.into()),
                        })?;
                }
                (ChunkKind::LayerEnd, Some(_)) => {
                    let LayerEnd { time } = parse(&chunk)?;
                    rules
                        .end_layer(time)
                        .map_err(|violation| fail(violation.into()))?;
                    sink.end_layer(time);
                }
                (ChunkKind::Ending, None) => {
                    let ending: Ending = parse(&chunk)?;
                    rules
                        .end(&ending)
                        .map_err(|violation| fail(violation.into()))?;
                    self.chunks.end()?;
                    return Ok(ending);
                }
                (_, None) => {
                    return Err(unexpected(
                        &chunk,
                        "the begin of a layer or the ending".to_owned(),
                    ));
                }
                (_, Some(layer)) => {
                    let expected = format!("events or the end of layer '{}'", layer.name());
                    return Err(unexpected(&chunk, expected));
                }
            }
        }
    }
}

fn unexpected(chunk: &Chunk, expected: String) -> ReadError {
    ReadError {
        offset: chunk.offset,
        problem: Problem::UnexpectedChunk {
            chunk: chunk.kind.name(),
            expected,
        },
    }
}

fn parse<T: DeserializeOwned>(chunk: &Chunk) -> Result<T, ReadError> {
    serde_json::from_slice(&chunk.raw).map_err(|error| ReadError {
        offset: chunk.offset,
        problem: Problem::Json {
            chunk: chunk.kind.name(),
            error,
        },
    })
}
