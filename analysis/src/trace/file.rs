//! Saved traces (`.dmotrace`): written as the program runs, read in one pass.
//!
//! A file is a chain of chunks, each with a checksum over everything before its end,
//! so that no chunk can be altered, lost, doubled or moved unseen:
//!
//! ```text
//! magic, version | program | layer begin | events ... | layer end | ... | ending
//! ```
//!
//! Events take well under a byte each: an instruction of a kernel touches its tensor
//! in regular steps, so an event is stored as *which instruction*, *how much later*
//! and *how much further*, in three columns that are nearly periodic and that zstd
//! folds up. `docs/trace-format.md` tells a stranger everything needed to read one.
//!
//! The reader trusts nothing. What it hands to a [`TraceSink`](crate::trace::TraceSink)
//! satisfies all that [`crate::trace`] documents, whatever the file says, and memory
//! is bounded by the limits below. The writer refuses what the reader would refuse.
//!
//! | file | what it holds |
//! |---|---|
//! | `rules.rs` | what a valid trace is; asked by writer and reader alike |
//! | `chunk.rs` | the chain of chunks and its checksums |
//! | `events.rs` | a block of events to bytes and back |
//! | `varint.rs` | numbers in as few bytes as they need |
//! | `write.rs`, `read.rs` | the two ends |
//! | `error.rs` | why a trace could not be written or read |

mod chunk;
mod error;
mod events;
mod read;
mod rules;
mod varint;
mod write;

pub use error::{FileDefect, ReadError, WriteError};
pub use read::TraceReader;
pub use rules::{Rule, Violation};
pub use write::TraceWriter;

use crate::trace::{Layer, Time};
use serde::{Deserialize, Serialize};

/// First bytes of every saved trace. The byte above 127 and the line endings betray
/// a transfer that took the file for text.
pub const MAGIC: [u8; 8] = *b"\x89DMOT\r\n\x1a";

/// Version of the format that this program writes, and the only one it reads.
pub const VERSION: u32 = 1;

/// Events in a block.
pub const EVENTS_PER_BLOCK_LIMIT: usize = 1 << 16;
/// Distinct (instruction, tensor, load or store, size) in one layer.
pub const SITES_PER_LAYER_LIMIT: usize = 1 << 20;
/// Tensors of one layer.
pub const TENSORS_PER_LAYER_LIMIT: usize = 1 << 15;
/// Pairs of an input and an output of one layer.
pub const PAIRS_PER_LAYER_LIMIT: usize = 1 << 10;
/// The same of all layers together.
pub const PAIRS_LIMIT: usize = 1 << 18;
/// Tensors of one gap, which names the memory of all earlier layers.
pub const TENSORS_PER_GAP_LIMIT: usize = 1 << 16;
/// Layers and gaps of a trace.
pub const LAYERS_LIMIT: usize = 1 << 20;
/// Memory that the tensors of all layers together may touch, in pages of 4096 bytes.
pub const TENSOR_MEMORY_LIMIT_BYTES: u64 = 64 << 20;
/// JSON text of one program, layer or ending.
pub const JSON_LIMIT_BYTES: usize = 16 << 20;

/// Payload of a 'layer begin' chunk.
#[derive(Debug, Serialize, Deserialize)]
struct LayerBegin<L = Layer> {
    time: Time,
    layer: L,
}

/// Payload of a 'layer end' chunk.
#[derive(Debug, Serialize, Deserialize)]
struct LayerEnd {
    time: Time,
}
