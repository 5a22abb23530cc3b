//! Memory traces of neural network layers, and what they say about overlapping a
//! layer's input with its output.
//!
//! This crate is pure: values in, values out. It opens no files, parses no command
//! line and knows no emulator.
//!
//! | module | what it holds |
//! |---|---|
//! | [`trace`] | layers, tensors, events: the vocabulary |
//! | [`lifetime`] | per byte: first store, last store, last use |
//! | [`overlap`] | the safe overlap O_s of a pair, and all safe displacements |
//! | [`profile`] | one pass over a trace: everything about every layer |

// Offsets and sizes are 32 bits by the guest's nature; casts between them and host
// indices are lossless on the 64-bit hosts that are supported.
const _: () = assert!(usize::BITS == 64, "dmo-analysis needs a 64-bit host");

pub mod lifetime;
pub mod overlap;
pub mod profile;
pub mod trace;
