//! Emulates Arm microcontroller cores: Armv6-M, Armv7-M, Armv7E-M, Armv8-M and the scalar
//! instructions of Armv8.1-M.
//!
//! Exceptions, the security extension and Helium are not emulated.
//!
//! Modules, from the ground up; one uses only those above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`features`] | what a core has, and what an instruction needs |
//! | [`operation`] | what an instruction does, decoded |
//! | [`cycles`] | counted cycles |
//! | [`core`] | the registers |
//! | [`fault`] | why an instruction does not execute |
//! | [`memory`] | guest memory, what is watched, and what was recorded |
//! | [`arithmetic`] | integer arithmetic, as the manual has it |
//! | [`float`] | floating-point arithmetic, as the manual has it |
//! | [`decode`] | the instruction set: one table |
//! | [`timing`] | how many cycles code takes |
//! | [`interpreter`] | executes one instruction |
//! | [`taint`] | which registers and bytes depend on data, and what that decides |
//! | [`engine`] | runs a program; with the private `endless`, which finds idle loops, and `translator`, of hot code to the host's |

pub mod arithmetic;
pub mod core;
pub mod cycles;
pub mod decode;
mod endless;
pub mod engine;
pub mod fault;
pub mod features;
pub mod float;
pub mod interpreter;
pub mod memory;
pub mod operation;
pub mod taint;
pub mod timing;
mod translator;
