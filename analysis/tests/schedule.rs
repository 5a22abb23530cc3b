//! Orders of operators: against all orders of small graphs, and at their limits.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "schedule/extents.rs"]
mod extents;
#[path = "schedule/graphs.rs"]
mod graphs;
#[path = "schedule/judge.rs"]
mod judge;
#[path = "schedule/orders.rs"]
mod orders;
#[path = "schedule/published.rs"]
mod published;
#[path = "schedule/refusals.rs"]
mod refusals;
#[path = "schedule/scale.rs"]
mod scale;
