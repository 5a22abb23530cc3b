//! Memory traces of neural network layers, and what they say about overlapping a
//! layer's input with its output.
//!
//! This crate is pure: values in, values out. It opens no files, parses no command
//! line and knows no emulator.
//!
//! | module | what it holds |
//! |---|---|
//! | [`trace`] | layers, tensors, events: the vocabulary |
//! | [`mod@file`] | saved traces: a checked, compact, streaming format |
//! | [`lifetime`] | per byte: first store, last store, last use |
//! | [`overlap`] | the safe overlap O_s of a pair, and all safe displacements |
//! | [`operator`] | the safe overlap of reference kernels, from their shapes |
//! | [`pattern`] | a fingerprint of a layer's accesses, to compare runs |
//! | [`profile`] | one pass over a trace: everything about every layer |
//! | [`arena`] | a graph, an order and overlaps as a planning problem |
//! | [`graph`] | a model: operators, tensors, what may overlap |
//! | [`schedule`] | the order of operators, and the memory that an order needs |
//! | [`problem`] | buffers to be placed in an arena |
//! | [`plan`] | the planners, and the check of what they give |
//! | [`handover`] | plans for others to use: JSON, C, TensorFlow Lite Micro |
//! | [`optimise`] | order and placement of a whole model together |
//! | [`regions`] | buffers in several memories |
//! | [`verify`] | whether a layout of a model's tensors is safe |
//! | [`replay`] | the same by replaying what an operator did, where the layout has its buffers |
//! | [`published`] | the papers' tables, as data |
//! | [`tables`] | the papers' tables, with our figures beside them |
//! | [`firmware`] | the arena of firmware that runs a model by TensorFlow Lite Micro |
//! | [`report`] | tables and JSON |
//! | [`plot`] | pictures of a trace, from a second pass |

// Offsets and sizes are 32 bits by the guest's nature; casts between them and host
// indices are lossless on the 64-bit hosts that are supported.
const _: () = assert!(usize::BITS == 64, "dmo-analysis needs a 64-bit host");

pub mod arena;
// Tests inside the crate share graphs with those outside, which name the crate.
#[cfg(test)]
extern crate self as dmo_analysis;

pub mod file;
pub mod firmware;
pub mod graph;
pub mod handover;
pub mod lifetime;
pub mod operator;
pub mod optimise;
pub mod overlap;
pub mod pattern;
pub mod plan;
pub mod plot;
pub mod problem;
pub mod profile;
pub mod published;
pub mod regions;
pub mod replay;
pub mod report;
pub mod schedule;
pub mod tables;
pub mod trace;
pub mod transform;
pub mod verify;
