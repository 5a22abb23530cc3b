//! What is done with whole models: planned, changed, checked, verified, measured.
//!
//! A study is a request, a plain struct with a [`Default`] where that makes sense, and a function
//! that answers it with values. Words, tables and files of results are up to the caller; model
//! files and plan files are read once and passed on. The command line is one such caller,
//! `examples/plan_and_verify.rs` another.
//!
//! Each module uses only those above it in this table.
//!
//! | module | what it holds |
//! |---|---|
//! | [`input`] | files of a limited size |
//! | [`error`] | why a study cannot be made |
//! | [`search_time`] | seconds of a user as the budget of a search |
//! | [`session`] | where measurements are kept, and who hears of progress |
//! | [`kernel_request`] | kernels that are built in, of an ELF file or of a static library |
//! | [`case`] | an operator and its shapes in words |
//! | [`sketch`] | a network as operators in words on tensors |
//! | [`compare`] | O_s of an operator by formula, by its loops, from machine code, by execution |
//! | [`single`] | one case on one kernel, measured |
//! | [`sweep`] | a grid of operators, shapes, kernels and CPUs |
//! | [`integer_ends`] | a model that takes and gives the integers that it computes with |
//! | [`pruning`] | a model without the channels that make no difference |
//! | [`decoding`] | a model whose constants are unpacked beforehand |
//! | [`streaming`] | a model that takes only the newest rows of its window over time |
//! | [`source`] | a model: a file or a network built in code, what it carries, what is made of it |
//! | [`whole_arena`] | what `kTensorArenaSize` has to be |
//! | [`overlap_source`] | which overlaps a plan may use, and where they come from |
//! | `region_file` | a plan of several memories, read as one of one arena |
//! | [`plan_file`] | a plan.json |
//! | [`change`] | searching for what may be changed of a model's work |
//! | [`placed`] | where a model's tensors lie in several memories |
//! | [`plan`] | the smallest arena of a model |
//! | [`regions`] | a planned model in several memories |
//! | [`region_words`] | memories, and what is pinned to them, in words |
//! | [`emit`] | a plan as JSON, as C, or within the model |
//! | [`peak`] | the operator at which most of a planned arena is in use |
//! | [`others`] | what a planned model would need with other planners, or other kernels |
//! | [`remedies`] | which changes would make a planned arena smaller |
//! | [`problem`] | a bare planning problem, a .csv |
//! | [`foreign`] | a plan of another tool, a .json |
//! | [`plan_to_check`] | a plan as somebody has written it |
//! | [`audit`] | a plan against overlaps that are known |
//! | [`verify`] | a plan against the machine code of kernels |
//! | [`windows`] | a model on the newest rows against the model on whole windows |
//! | [`form`] | what the forms of a model take |
//! | [`forms`] | forms of a model, from the fastest to the smallest |
//! | [`region_use`] | how often each memory of a plan is accessed |
//! | `recording` | inferences, and what they compute and take |
//! | `region_plan` | the plan of a library in several memories |
//! | [`prove`] | a generated library as compiled: every load and store, outputs, stack |
//! | [`build`] | a C library that computes a model in its planned arena |
//! | [`examine`] | a model of a baseline: planned, then audited or verified |
//! | [`layers`] | what kernel libraries take for each operator of a model |
//! | [`savings`] | each way of saving memory, one added to the other |
//! | [`firmware`] | the arena of a firmware that runs a model |
//! | [`run`] | a program run to its end |
//! | [`firmware_kernels`] | a firmware whose interpreter runs a model in place of its own |
//! | [`firmware_trial`] | what the kernels of such a firmware allow, and do in a plan |
//! | [`firmware_verify`] | a plan against a firmware |
//! | [`tenants`] | all models of a firmware, each against its own plan and what the others keep |

pub mod audit;
pub mod build;
pub mod carried_plan;
pub mod case;
pub mod change;
pub mod compare;
pub mod decoding;
pub mod emit;
pub mod error;
pub mod examine;
pub mod firmware;
pub mod firmware_kernels;
pub mod firmware_trial;
pub mod firmware_verify;
pub mod foreign;
pub mod form;
pub mod forms;
pub mod input;
pub mod integer_ends;
pub mod kernel_request;
pub mod layers;
pub mod others;
pub mod overlap_source;
pub mod peak;
pub mod placed;
pub mod plan;
pub mod plan_file;
pub mod plan_to_check;
pub mod problem;
pub mod prove;
pub mod pruning;
mod recording;
mod region_file;
mod region_plan;
pub mod region_use;
pub mod region_words;
pub mod regions;
pub mod remedies;
pub mod run;
mod runtime_scratch;
pub mod savings;
pub mod search_time;
pub mod session;
pub mod single;
pub mod sketch;
pub mod source;
mod state_lookup;
pub mod streaming;
pub mod sweep;
pub mod tenants;
pub mod verify;
pub mod whole_arena;
pub mod windows;

pub use error::StudyError;
pub use session::Session;

use crate::mcu::machine::Limits;
use std::time::Duration;

/// Bounds of one call of a kernel.
pub const KERNEL_LIMITS: Limits = Limits {
    max_instructions: 10_000_000_000,
    timeout: Duration::from_secs(600),
};

/// On how many different inputs a kernel of a model is measured, and a model verified: with one,
/// nothing says whether accesses depend on the data.
pub const INPUTS: u64 = 3;

/// How long the search for a plan may take.
pub const SEARCH_TIME: Duration = Duration::from_secs(10);
