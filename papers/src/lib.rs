//! What the papers on memory planning print in their tables, and what comes out of the
//! planners of `dmo-trace` for the same networks.
//!
//! | module | what it holds |
//! |---|---|
//! | [`orders`] | the orders and the allocator of papers on operator reordering |
//! | [`published`] | the papers' tables, as data |
//! | [`reading`] | what else the texts of published planners can mean |
//! | [`tables`] | each figure beside the one that is computed here |
//!
//! The binary `dmo-papers` prints them:
//!
//! ```text
//! cargo run --release -p dmo-papers -- tables dmo-3
//! ```

pub mod orders;
pub mod published;
pub mod reading;
pub mod tables;
