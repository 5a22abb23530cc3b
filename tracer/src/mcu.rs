//! The emulated microcontroller.
//!
//! | module | what it holds |
//! |---|---|
//! | [`cycles`] | estimated cycles, and the flash memory of common parts |
//! | [`cpu`] | the CPU models |
//! | [`memory`], [`bit_band`], [`boot`] | the memory map, what may not be in it, and how a program starts in it |
//! | [`machine`] | load, run until something happens, accesses out; its `unicorn` is all that knows Unicorn |
//! | [`clock`] | time, in executed instructions |
//! | [`system`] | the core's private peripherals |
//! | [`decode`], [`self_check`] | an independent decode of memory accesses, and the check of the trace that uses it |
//! | [`disassembly`] | instructions as text |

pub mod bit_band;
pub mod boot;
pub mod clock;
pub mod cpu;
pub mod cycles;
pub mod decode;
pub mod disassembly;
pub mod machine;
pub mod memory;
pub mod self_check;
pub mod system;
