//! A program on its microcontroller, and what its layers do.
//!
//! | module | what it holds |
//! |---|---|
//! | [`target`] | an image, its CPU and its memory, ready to start |
//! | [`data_decision`] | where data decide what code accesses |
//! | [`process`] | the same under way: from breakpoint to breakpoint |
//! | [`execution`] | from layer to layer |
//! | [`marks`] | layers that the program marks itself |
//! | [`hooks`] | layers that are calls of functions, for a program without marks |
//! | [`interpreter`] | layers that are an interpreter's operators, by what it tells its profiler |
//! | [`runtime`] | the functions of TensorFlow Lite Micro in an image |
//! | [`structures`] | its structures in memory, for a program without these names |
//! | [`allocation`] | where it has put a model's tensors and scratch memory |
//! | [`semihosting`] | output, files and exit of the program |
//! | [`record`] | accesses to events of layers and tensors |
//! | [`ram`] | the RAM that a run takes |
//! | [`run`] | a whole recorded run |
//! | [`inferences`] | an interpreter's inferences on inputs from outside |
//! | [`other_inputs`] | the same layers on other inputs |
//! | [`followed`] | what data decide in the layers |
//! | [`fault`] | why a program could not go on |

pub mod allocation;
pub mod data_decision;
pub mod execution;
pub mod fault;
pub mod followed;
pub mod hooks;
pub mod inferences;
pub mod interpreter;
pub mod marks;
pub mod other_inputs;
pub mod process;
pub mod ram;
pub mod record;
pub mod run;
pub mod runtime;
pub mod semihosting;
pub mod structures;
pub mod target;
