//! A planned model as a C library: no interpreter, every tensor at its place in the arena.
//!
//! ```text
//! deployment, order, placement --network--> calls --loops--> loops --model_source--> C
//!                                   |
//!                                   +-> constants --library--> weights, kernels, test, build files
//! ```
//!
//! The calls are those that the model is verified with under emulation: the same functions with
//! the same arguments, read back from the registers and the memory that they are given in
//! ([`value`]), with the types of the kernels' headers ([`c_interface`]).
//!
//! | module | what it holds |
//! |---|---|
//! | `template` | texts with places to fill |
//! | `literal` | numbers as C text |
//! | [`c_interface`] | the kernels' structures and functions |
//! | [`kernel_sources`] | the kernels' C sources, and which of them some functions need |
//! | [`description`] | what generated code says of its model |
//! | [`memory`] | the arrays that the application provides |
//! | `memory_text` | the same as C text |
//! | [`value`] | arguments as C values |
//! | [`network`] | a deployed model in its arena as calls |
//! | [`loops`] | calls rolled up into loops: tiles |
//! | [`call_size`] | how much flash calls and their tables take, about |
//! | `expression` | values as C text |
//! | `model_source` | calls as C text |
//! | `reset_source` | what states begin with, as C text |
//! | [`library`] | all files of a library |
//! | `test_source` | the library's own test |
//! | [`drop_in`] | the kernels alone, in place of CMSIS-NN |
//! | [`compilation`] | the library, compiled for the target |

pub mod c_interface;
pub mod call_size;
pub mod compilation;
pub mod description;
pub mod drop_in;
mod expression;
pub mod kernel_sources;
pub mod library;
mod literal;
pub mod loops;
pub mod memory;
mod memory_text;
mod model_source;
pub mod network;
mod reset_source;
mod template;
mod test_source;
pub mod value;
