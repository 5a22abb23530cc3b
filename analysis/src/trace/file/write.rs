//! Writes a trace as it happens.

use super::chunk::{ChunkKind, ChunkWriter};
use super::error::WriteError;
use super::events::Encoder;
use super::rules::{Rules, outside};
use super::{LayerBegin, LayerEnd};
use crate::trace::{Ending, Event, Layer, Program, Time, TraceSink};
use serde::Serialize;
use std::io::Write;

/// Writes a saved trace, chunk by chunk.
///
/// As a [`TraceSink`] it cannot report that something went wrong. It remembers the first
/// error, ignores all that follows, and [`finish`](Self::finish) returns it. A file whose writer was
/// not finished is refused by the reader.
pub struct TraceWriter<W: Write> {
    chunks: ChunkWriter<W>,
    rules: Rules,
    encoder: Encoder,
    error: Option<WriteError>,
}

impl<W: Write> std::fmt::Debug for TraceWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceWriter")
            .field("layer", &self.rules.open)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace of `program`. Chunks are written whole, so that `writer` needs
    /// no buffer.
    ///
    /// # Errors
    /// When `writer` fails.
    pub fn new(writer: W, program: &Program) -> Result<Self, WriteError> {
        let mut chunks = ChunkWriter::new(writer)?;
        write_json(&mut chunks, ChunkKind::Program, program)?;
        Ok(Self {
            chunks,
            rules: Rules::default(),
            encoder: Encoder::default(),
            error: None,
        })
    }

    /// The first error, after which nothing more is written.
    pub fn error(&self) -> Option<&WriteError> {
        self.error.as_ref()
    }

    /// Ends the trace and gives the writer back, flushed.
    ///
    /// # Errors
    /// The first error of the whole trace.
    pub fn finish(mut self, ending: &Ending) -> Result<W, WriteError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.rules.end(ending)?;
        write_json(&mut self.chunks, ChunkKind::Ending, ending)?;
        self.chunks.finish()
    }

    fn attempt(&mut self, step: impl FnOnce(&mut Self) -> Result<(), WriteError>) {
        if self.error.is_none() {
            self.error = step(self).err();
        }
    }

    fn write_events(&mut self, mut events: &[Event]) -> Result<(), WriteError> {
        let layer = self
            .rules
            .open
            .as_mut()
            .ok_or_else(|| outside("an event"))?;
        while !events.is_empty() {
            events = self.encoder.push(events, layer)?;
            if self.encoder.is_full() {
                self.chunks
                    .write(ChunkKind::Events, self.encoder.take_block())?;
            }
        }
        Ok(())
    }
}

impl<W: Write> TraceSink for TraceWriter<W> {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.attempt(|writer| {
            writer.rules.begin_layer(layer, time)?;
            writer.encoder.begin(time);
            let begin = LayerBegin { time, layer };
            write_json(&mut writer.chunks, ChunkKind::LayerBegin, &begin)
        });
    }

    fn events(&mut self, events: &[Event]) {
        self.attempt(|writer| writer.write_events(events));
    }

    fn end_layer(&mut self, time: Time) {
        self.attempt(|writer| {
            writer.rules.end_layer(time)?;
            if !writer.encoder.is_empty() {
                writer
                    .chunks
                    .write(ChunkKind::Events, writer.encoder.take_block())?;
            }
            write_json(&mut writer.chunks, ChunkKind::LayerEnd, &LayerEnd { time })
        });
    }
}

fn write_json<W: Write>(
    chunks: &mut ChunkWriter<W>,
    kind: ChunkKind,
    value: &impl Serialize,
) -> Result<(), WriteError> {
    let text = serde_json::to_vec(value).map_err(|error| WriteError::Json {
        chunk: kind.name(),
        error,
    })?;
    chunks.write(kind, &text)
}
