//! Firmware that runs a model by TensorFlow Lite Micro, and what it does with its arena.
//!
//! ```text
//! arena  | tensors, scratch buffers |  temporary  |   never touched   | persistent |
//!        ^ a multiple of 16                                                   end ^
//!        |<-------- head --------->|             |<--- head-room --->|<-- tail -->|
//! ```
//!
//! The head starts at the first multiple of 16 of the arena and is laid out by the offline plan
//! that the model carries, or by the greedy planner; the tail grows down from the arena's end.
//! Source of these facts: tensorflow/tflite-micro,
//! `arena_allocator/single_arena_buffer_allocator.cc` and `micro_allocator.cc`.
//!
//! [`Placed`] takes that layout from the runtime ([`Placement`]), or simulates it. What the
//! firmware then does has to agree with it: a
//! [`Witness`] sees each access to the arena, and a single one that the layout cannot explain is a
//! [`Contradiction`], after which nothing is said of the firmware.

mod contradiction;
mod placed;
mod touched;
mod usage;
mod witness;

pub use contradiction::Contradiction;
pub use placed::{Origin, PlaceError, Placed, PlacedLayer, Placement, Taken};
pub use usage::{ArenaUse, Overlapped, overlaps};
pub use witness::{ForeignStore, Observed, StoreBetween, Witness, Wrong};
