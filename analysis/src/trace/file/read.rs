//! Reads a saved trace in one pass.

use super::chunk::{Chunk, ChunkKind, ChunkReader};
use super::error::{FileDefect, ReadError};
use super::events::Decoder;
use super::rules::{Rules, Violation};
use super::{LayerBegin, LayerEnd};
use crate::trace::{Ending, Program, TraceSink};
use serde::de::DeserializeOwned;
use std::io::{BufReader, Read};

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
            let broken = |violation: Violation| fail(violation.into());
            match (chunk.kind, &mut rules.open) {
                (ChunkKind::LayerBegin, None) => {
                    let LayerBegin { time, layer } = parse(&chunk)?;
                    rules.begin_layer(&layer, time).map_err(broken)?;
                    decoder.begin();
                    sink.begin_layer(&layer, time);
                }
                (ChunkKind::Events, Some(layer)) => {
                    let decoded = decoder.decode(&chunk.raw, layer, sink);
                    decoded.map_err(fail)?;
                }
                (ChunkKind::LayerEnd, Some(_)) => {
                    let LayerEnd { time } = parse(&chunk)?;
                    rules.end_layer(time).map_err(broken)?;
                    sink.end_layer(time);
                }
                (ChunkKind::Ending, None) => {
                    let ending: Ending = parse(&chunk)?;
                    rules.end(&ending).map_err(broken)?;
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
        problem: FileDefect::UnexpectedChunk {
            chunk: chunk.kind.name(),
            expected,
        },
    }
}

fn parse<T: DeserializeOwned>(chunk: &Chunk) -> Result<T, ReadError> {
    serde_json::from_slice(&chunk.raw).map_err(|error| ReadError {
        offset: chunk.offset,
        problem: FileDefect::Json {
            chunk: chunk.kind.name(),
            error,
        },
    })
}
