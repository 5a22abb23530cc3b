//! What results say, to people as text and to machines as JSON: the one place that knows how a
//! finding, a clash, a buffer or a table is put.
//!
//! | module | what it holds |
//! |---|---|
//! | [`report`] | what all results of commands have in common: the envelope of their JSON |
//! | [`names`] | how tensors, scratch buffers, clashes and counts are named |
//! | [`table()`] | tables |
//! | [`finding`] | what a replay finds, and which instructions did it |
//! | [`run`] | the report of a program's run |
//! | [`arena`] | what a firmware's arena holds |
//! | [`explanation`] | what limits an overlap |
//! | [`printable`] | what may reach a terminal |

pub mod arena;
pub mod explanation;
pub mod finding;
pub mod names;
pub mod printable;
pub mod report;
pub mod run;
mod table;

pub use table::table;
