//! An ELF file: what it holds, and where its code comes from.
//!
//! | module | what it holds |
//! |---|---|
//! | [`image`] | segments, entry, everything below together |
//! | [`symbols`] | names and addresses |
//! | [`attributes`] | the core that it was built for |
//! | [`constructors`] | functions that run before all else |
//! | [`lines`] | source lines of instructions |
//! | [`reach`] | what the code of some functions may reach |
//! | [`debug`] | calls and variables at an instruction, from DWARF |

pub mod attributes;
pub mod constructors;
pub mod debug;
pub mod image;
pub mod lines;
pub mod reach;
pub mod symbols;
