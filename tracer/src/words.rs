//! What results say, to people as text and to machines as JSON: the one place that knows how a
//! finding, a clash, a buffer or a table is put.
//!
//! | module | what it holds |
//! |---|---|
//! | [`report`] | what all results of commands have in common: the envelope of their JSON |
//! | [`names`] | how tensors, scratch buffers, clashes and counts are named |
//! | [`table()`] | tables |
//! | [`finding`] | what a replay finds, and which instructions did it |
//! | [`cycles`] | estimated cycles |
//! | [`arena`] | what a firmware's arena holds |
//! | [`regions`] | the memories of a plan of several |
//! | [`region_plan`] | the plan of a model in several memories |
//! | [`forms`] | what memory the forms of a model take for what time |
//! | [`overlap`] | O_s of an operator on a shape |
//! | [`tenants`] | the models of a program that runs several |
//! | [`run`] | the report of a program's run |
//! | [`explanation`] | what limits an overlap |
//! | [`integer_io`] | which ends of a model are integers and were floats |
//! | [`pruning`] | what pruning did to a model |
//! | [`decoding`] | a model whose constants were packed |
//! | [`streaming`] | a model that takes the newest rows of its window |
//! | [`plan`] | a plan, what other planners need, what other kernels would save |
//! | [`foreign`] | what is wrong with a plan of another tool |
//! | [`layers`] | what kernel libraries take for each operator |
//! | [`savings`] | what each way of saving memory does |
//! | [`verification`] | what the three witnesses say of a plan |
//! | [`firmware_verification`] | what is said of a plan that a firmware has run in |
//! | [`whole_arena`] | the whole arena of TensorFlow Lite Micro |
//! | [`printable`] | what may reach a terminal |

pub mod arena;
pub mod build;
pub mod cycles;
pub mod decoding;
pub mod explanation;
pub mod finding;
pub mod firmware_verification;
pub mod foreign;
pub mod forms;
pub mod independence;
pub mod integer_io;
pub mod layers;
pub mod names;
pub mod overlap;
pub mod plan;
pub mod printable;
pub mod pruning;
pub mod recipe;
pub mod region_plan;
pub mod regions;
pub mod report;
pub mod run;
pub mod savings;
pub mod streaming;
mod table;
pub mod tenants;
pub mod verification;
pub mod whole_arena;

pub use table::table;
