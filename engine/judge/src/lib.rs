//! Judges what the instructions of `dmo-engine` do by another emulator, Unicorn: random
//! instructions in random states are executed by both, and all that they leave is compared.
//!
//! It links Unicorn and is GPL-2.0-only for that reason; nothing else depends on it.
//!
//! Modules, from the ground up; one uses only those above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`random`] | reproducible random numbers, and words and floats that are apt to go wrong |
//! | [`cpu`] | the cores that both emulators know |
//! | [`layout`] | where code and data are |
//! | [`case`] | a state and the instructions to be executed in it |
//! | [`state`] | what an execution leaves |
//! | [`ours`] | executes a case with `dmo-engine` |
//! | [`theirs`] | executes a case with Unicorn |
//! | [`differences`] | where the two differ on purpose |
//! | [`compare`] | whether the two agree on a case |
//! | [`trial`] | many cases, and how they went |
//! | [`fuzz`] | a case made of any bytes |

pub mod case;
pub mod compare;
pub mod cpu;
pub mod differences;
pub mod fuzz;
pub mod layout;
pub mod ours;
pub mod random;
pub mod state;
pub mod theirs;
pub mod trial;
