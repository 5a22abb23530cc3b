//! The things that are checked of a model, and what came of each.

use schemars::JsonSchema;
use serde::Serialize;

/// One thing that is checked.
#[derive(Clone, JsonSchema, Serialize)]
pub struct Case {
    pub name: &'static str,
    pub outcome: Outcome,
    /// What is wrong, or why nothing is known; empty where all is well.
    pub message: String,
    /// The first findings.
    pub findings: Vec<String>,
}

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
    /// It could not be checked.
    Error,
}

/// The cases of geometry, replay of the trace, execution.
pub const WITNESSES: [&str; 3] = ["geometry", "replay", "execution"];
/// The case of inputs that were not tried.
pub const EVERY_INPUT: &str = "every_input";
/// The case of the arena's size.
pub const ARENA: &str = "arena";
/// The case of what the arena may have at most.
pub const CAPACITY: &str = "capacity";

impl Case {
    pub fn new(name: &'static str, outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            name,
            outcome,
            message: message.into(),
            findings: Vec::new(),
        }
    }

    /// Something is wrong.
    pub fn fails(&self) -> bool {
        self.outcome == Outcome::Failed
    }

    /// The answer of a witness, with its first objections.
    pub fn of_witness(name: &'static str, safe: bool, objections: Vec<String>) -> Self {
        if safe {
            return Self::new(name, Outcome::Passed, "");
        }
        Self {
            findings: objections,
            ..Self::new(name, Outcome::Failed, "the layout is unsafe")
        }
    }
}
