//! Whether data decide what a kernel accesses, in words.

use crate::program::data_decision::DataDecision;
use dmo_analysis::wording::{counted, first_lines};

/// At most this many instructions are named.
const MOST_NAMED: usize = 3;

/// What is said of a measurement in which data were not followed.
pub const UNKNOWN: &str =
    "O_s is what the inputs tried allow: this engine cannot tell whether it holds on every input";

/// What is known of all inputs, in a sentence without its full stop; `every_outcome` where O_s holds
/// whichever conditional loads and stores are made.
pub fn sentence(decisions: &[DataDecision], every_outcome: bool) -> String {
    if decisions.is_empty() && every_outcome {
        return "data decide nothing but which conditional loads and stores are made: O_s holds on every input"
            .to_owned();
    }
    if decisions.is_empty() {
        return "loads and stores do not depend on the data: O_s holds on every input".to_owned();
    }
    let count = counted(decisions.len() as u64, "instruction", "instructions");
    format!(
        "data decide loads and stores at {count}: no overlap is granted, whatever the inputs tried allow"
    )
}

/// The first few instructions, a line each.
pub fn lines(decisions: &[DataDecision]) -> Vec<String> {
    first_lines(
        decisions.iter().map(ToString::to_string).collect(),
        MOST_NAMED,
    )
}
