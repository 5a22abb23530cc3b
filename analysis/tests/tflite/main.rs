//! Models as files: what is written is read again, plans are added without loss, and no
//! damage to a file does more than give an error.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod codes;
mod contradictions;
mod damage;
mod lowered;
mod net;
mod packed;
mod parameters;
mod parts;
mod plans;
mod refused;
mod registered;
mod single;
mod subgraphs;
mod tree;
mod unusual;
mod variables;
mod whole_arena;

use net::{Net, network};
