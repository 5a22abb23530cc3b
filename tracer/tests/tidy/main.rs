//! Rules of the repository that no compiler checks: about its modules, its files and their language.
//!
//! Each rule is a function to complaints. It is held against the repository and, in
//! `made_up`, against violations.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

mod files;
mod language;
mod layers;
mod licences;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
