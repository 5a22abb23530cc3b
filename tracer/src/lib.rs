//! Runs ARMv7-M machine code under an emulator and records what its layers do to their
//! buffers.
//!
//! `examples/plan_and_verify.rs` plans a model and verifies the plan in ten lines: [`study`] is
//! where to begin.
//!
//! Each module uses only those above it in this table.
//!
//! | module | what it holds |
//! |---|---|
//! | [`temporary`] | how temporary files are named |
//! | [`elf`] | an ELF file: segments, names, lines, variables, what it was built for |
//! | [`mcu`] | the emulated microcontroller; its `machine` executes the code |
//! | [`program`] | a program on it: its layers, its recorded run |
//! | [`explain`] | why a pair of buffers overlaps no further |
//! | [`call`] | calls of single functions of an image or a static library |
//! | [`kernels`] | which kernels there are, and how each is called |
//! | [`measure`] | the O_s of a kernel on a shape, traced and proven by execution |
//! | [`model`] | a whole model on the kernels: outputs, overlaps, verification |
//! | [`codegen`] | a planned model as a C library |
//! | [`study`] | what is done with whole models: planned, changed, checked, verified, measured |
//! | [`words`] | results in words and as JSON |
//! | [`page`] | results as a page to look at |
//! | [`cli`] | the command line |

// Guest addresses are 32 bits; casts between them and host indices are lossless.
const _: () = assert!(usize::BITS == 64, "dmo-trace needs a 64-bit host");

// The command line names the library as other programs do.
extern crate self as dmo_trace;

pub mod call;
pub mod cli;
pub mod codegen;
pub mod elf;
pub mod explain;
pub mod kernels;
pub mod mcu;
pub mod measure;
pub mod model;
pub mod page;
pub mod program;
pub mod study;
pub mod temporary;
pub mod words;
