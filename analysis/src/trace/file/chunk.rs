//! The chain of chunks: what frames the payloads and guards them.
//!
//! ```text
//! kind u8 | stored length u32 | raw length u32 | payload (zstd) | check u32
//! ```
//!
//! The check is the CRC-32 of all that the file holds before it, earlier checks
//! left out: of the magic number, the version and each header and payload so far.

use super::error::{FileDefect, ReadError, WriteError};
use super::events::BLOCK_LIMIT_BYTES;
use super::{JSON_LIMIT_BYTES, MAGIC, VERSION};
use crc32fast::Hasher;
use std::io::{ErrorKind, Read, Write};

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkKind {
    Program = 1,
    LayerBegin = 2,
    Events = 3,
    LayerEnd = 4,
    Ending = 5,
}

impl ChunkKind {
    const ALL: [Self; 5] = [
        Self::Program,
        Self::LayerBegin,
        Self::Events,
        Self::LayerEnd,
        Self::Ending,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::LayerBegin => "layer begin",
            Self::Events => "events",
            Self::LayerEnd => "layer end",
            Self::Ending => "ending",
        }
    }

    fn limit_bytes(self) -> usize {
        match self {
            Self::Events => BLOCK_LIMIT_BYTES,
            _ => JSON_LIMIT_BYTES,
        }
    }
}

/// Fast, and the columns leave little for a higher level to find.
const COMPRESSION_LEVEL: i32 = 1;

pub(super) struct ChunkWriter<W> {
    writer: W,
    check: Hasher,
    compressor: zstd::bulk::Compressor<'static>,
    chunk: Vec<u8>,
}

impl<W: Write> ChunkWriter<W> {
    pub fn new(mut writer: W) -> Result<Self, WriteError> {
        let mut start = MAGIC.to_vec();
        start.extend(VERSION.to_le_bytes());
        writer.write_all(&start)?;
        let mut check = Hasher::new();
        check.update(&start);
        Ok(Self {
            writer,
            check,
            compressor: zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?,
            chunk: Vec::new(),
        })
    }

    pub fn write(&mut self, kind: ChunkKind, raw: &[u8]) -> Result<(), WriteError> {
        if raw.len() > kind.limit_bytes() {
            return Err(WriteError::ChunkTooLong {
                chunk: kind.name(),
                given: raw.len(),
                limit: kind.limit_bytes(),
            });
        }
        let stored = self.compressor.compress(raw)?;
        self.chunk.clear();
        self.chunk.push(kind as u8);
        self.chunk.extend((stored.len() as u32).to_le_bytes());
        self.chunk.extend((raw.len() as u32).to_le_bytes());
        self.chunk.extend(stored);
        self.check.update(&self.chunk);
        let check = self.check.clone().finalize();
        self.chunk.extend(check.to_le_bytes());
        self.writer.write_all(&self.chunk)?;
        Ok(())
    }

    pub fn finish(mut self) -> Result<W, WriteError> {
        self.writer.flush()?;
        Ok(self.writer)
    }
}

pub(super) struct ChunkReader<R> {
    reader: R,
    /// Bytes read so far.
    offset: u64,
    check: Hasher,
    decompressor: zstd::bulk::Decompressor<'static>,
    stored: Vec<u8>,
}

/// A chunk whose check is right.
pub(super) struct Chunk {
    /// Position of its first byte in the file.
    pub offset: u64,
    pub kind: ChunkKind,
    pub raw: Vec<u8>,
}

impl<R: Read> ChunkReader<R> {
    pub fn open(reader: R) -> Result<Self, ReadError> {
        let decompressor = zstd::bulk::Decompressor::new().map_err(|error| ReadError {
            offset: 0,
            problem: FileDefect::Io(error),
        })?;
        let mut reader = Self {
            reader,
            offset: 0,
            check: Hasher::new(),
            decompressor,
            stored: Vec::new(),
        };
        let magic: [u8; 8] = reader.array("the magic number of a trace")?;
        if magic != MAGIC {
            return Err(ReadError {
                offset: 0,
                problem: FileDefect::NotATrace,
            });
        }
        let version = u32::from_le_bytes(reader.array("the version of the format")?);
        if version != VERSION {
            return Err(ReadError {
                offset: MAGIC.len() as u64,
                problem: FileDefect::Version { found: version },
            });
        }
        reader.check.update(&magic);
        reader.check.update(&version.to_le_bytes());
        Ok(reader)
    }

    /// The next chunk, which must be there.
    pub fn next(&mut self) -> Result<Chunk, ReadError> {
        let offset = self.offset;
        let fail = |problem| ReadError { offset, problem };
        let [code] = self.array("the kind of a chunk")?;
        let kind = ChunkKind::ALL
            .into_iter()
            .find(|&kind| kind as u8 == code)
            .ok_or_else(|| fail(FileDefect::UnknownChunk { code }))?;
        let stored_length: [u8; 4] = self.array("the stored length of a chunk")?;
        let raw_length: [u8; 4] = self.array("the raw length of a chunk")?;
        self.check.update(&[code]);
        self.check.update(&stored_length);
        self.check.update(&raw_length);
        let (stored_bytes, raw_bytes) = (
            u32::from_le_bytes(stored_length) as usize,
            u32::from_le_bytes(raw_length) as usize,
        );
        let limit = kind.limit_bytes();
        for (given, limit) in [
            (raw_bytes, limit),
            (stored_bytes, zstd::zstd_safe::compress_bound(limit)),
        ] {
            if given > limit {
                return Err(fail(FileDefect::ChunkTooLong {
                    chunk: kind.name(),
                    given,
                    limit,
                }));
            }
        }
        self.read_stored(stored_bytes, kind)?;
        self.check.update(&self.stored);
        let found = u32::from_le_bytes(self.array("the check of a chunk")?);
        let computed = self.check.clone().finalize();
        if found != computed {
            return Err(fail(FileDefect::Check {
                chunk: kind.name(),
                found,
                computed,
            }));
        }
        let raw = self
            .decompressor
            .decompress(&self.stored, raw_bytes)
            .ok()
            .filter(|raw| raw.len() == raw_bytes)
            .ok_or_else(|| {
                fail(FileDefect::Compression {
                    chunk: kind.name(),
                    raw_bytes,
                })
            })?;
        Ok(Chunk { offset, kind, raw })
    }

    /// Checks that nothing follows.
    pub fn end(&mut self) -> Result<(), ReadError> {
        let offset = self.offset;
        match self.array::<1>("nothing") {
            Ok(_) => Err(ReadError {
                offset,
                problem: FileDefect::TrailingBytes,
            }),
            Err(ReadError {
                problem: FileDefect::Truncated { .. },
                ..
            }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Memory grows with what the file holds, not with what it promises.
    fn read_stored(&mut self, length: usize, kind: ChunkKind) -> Result<(), ReadError> {
        self.stored.clear();
        let read = (&mut self.reader)
            .take(length as u64)
            .read_to_end(&mut self.stored);
        self.offset += self.stored.len() as u64;
        let offset = self.offset;
        let problem = match read {
            Err(error) => FileDefect::Io(error),
            Ok(read) if read < length => FileDefect::Truncated {
                expected: match kind {
                    ChunkKind::Events => "the rest of a block of events",
                    _ => "the rest of a chunk's text",
                },
            },
            Ok(_) => return Ok(()),
        };
        Err(ReadError { offset, problem })
    }

    fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        let mut filled = 0;
        while filled < N {
            let offset = self.offset;
            match self.reader.read(&mut array[filled..]) {
                Ok(0) => {
                    return Err(ReadError {
                        offset,
                        problem: FileDefect::Truncated { expected },
                    });
                }
                Ok(read) => {
                    filled += read;
                    self.offset += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(ReadError {
                        offset,
                        problem: FileDefect::Io(error),
                    });
                }
            }
        }
        Ok(array)
    }
}
