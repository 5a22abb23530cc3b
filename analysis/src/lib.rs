//! Memory traces of neural network layers, and what they say about overlapping a
//! layer's input with its output.
//!
//! This crate is pure: values in, values out. It opens no files, parses no command
//! line and knows no emulator.
//!
//! Each module uses only those above it in this table, and the planners of
//! [`dmo_planner`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`random`] | pseudo-random numbers, the same on every machine |
//! | [`wording`] | numbers for people |
//! | [`trace`] | layers, tensors, events: the vocabulary; saved traces |
//! | [`profile`] | one pass over a trace: lifetimes, the safe overlap O_s of each pair, fingerprints |
//! | [`operator`] | the safe overlap of reference kernels, from their shapes |
//! | [`graph`] | a model: operators, tensors, what may overlap; read from .tflite, or built in code |
//! | [`schedule`] | the order of operators, and the memory that an order needs |
//! | [`arena`] | a graph, an order and overlaps as a planning problem |
//! | [`transform`] | other operators for the same result: in bands and patches, in place, removed |
//! | [`optimise`] | order and placement of a whole model together |
//! | [`oracle`] | what memory one candidate network after the other needs |
//! | [`verify`] | whether a layout of a model's tensors is safe |
//! | [`replay`] | the same by replaying what an operator did, where the layout has its buffers |
//! | [`handover`] | plans for others to use: JSON, C, TensorFlow Lite Micro |
//! | [`tflm`] | the whole arena of TensorFlow Lite Micro |
//! | [`firmware`] | the arena of firmware that runs a model by TensorFlow Lite Micro |
//! | [`foreign`] | memory plans of ExecuTorch and ST Edge AI |

// Offsets and sizes are 32 bits by the guest's nature; casts between them and host
// indices are lossless on the 64-bit hosts that are supported.
const _: () = assert!(usize::BITS == 64, "dmo-analysis needs a 64-bit host");

// Tests inside the crate share graphs with those outside, which name the crate.
#[cfg(test)]
extern crate self as dmo_analysis;

pub mod arena;
pub mod firmware;
pub mod foreign;
pub mod graph;
pub mod handover;
pub mod operator;
pub mod optimise;
pub mod oracle;
pub mod profile;
pub mod random;
pub mod replay;
pub mod schedule;
pub mod tflm;
pub mod trace;
pub mod transform;
pub mod verify;
pub mod wording;
