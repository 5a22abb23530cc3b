//! Options that several commands have, and what they ask of the library.

pub mod before;
pub mod cache;
pub mod change;
pub mod firmware;
pub mod firmware_kernels;
pub mod flash;
pub mod hooks;
pub mod kernels;
pub mod layout;
pub mod named;
pub mod numbers;
pub mod overlap;
pub mod page;
pub mod program;
pub mod regions;
