//! A whole model on emulated kernels: every operator is a call of a function of a library,
//! with its weights in flash and its tensors in one arena.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kernel_source`] | the libraries that its kernels are taken from |
//! | [`deployment`] | which function computes which operator, and with what |
//! | [`inference`] | the operators one after the other, in an arena |
//! | [`overlaps`] | what its kernels allow |
//! | [`recording`] | a whole inference as one trace, for pictures |
//! | `stand_in` | contents for what an operator that is not executed would store |
//! | [`tracing`] | one operator with all its buffers apart, its accesses recorded |
//! | [`traffic`] | how often its kernels access each tensor |
//! | [`verify`] | whether a layout is safe: geometry, replay, execution |

pub mod deployment;
pub mod inference;
pub mod kernel_source;
pub mod overlaps;
pub mod recording;
mod stand_in;
pub mod tracing;
pub mod traffic;
pub mod verify;

pub use deployment::{DeployError, Deployment, Step, StepKernel};
pub use inference::{Inference, Placement};
pub use kernel_source::KernelSource;
