//! Whether data decide what a kernel accesses, in words.

use crate::program::data_decision::{DataDecision, Decides};
use dmo_analysis::wording::{counted, first_lines};

/// At most this many instructions are named.
const MOST_NAMED: usize = 3;

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
    format!("data decide loads and stores at {count}: O_s holds on the inputs tried")
}

/// The first few instructions, a line each.
pub fn lines(decisions: &[DataDecision]) -> Vec<String> {
    first_lines(decisions.iter().map(line).collect(), MOST_NAMED)
}

/// What data decide at an instruction, and where that is.
pub fn line(decision: &DataDecision) -> String {
    let DataDecision {
        address, location, ..
    } = decision;
    let function = match &location.function {
        Some(function) if location.file.is_some() => format!(" in {function}"),
        _ => String::new(),
    };
    let instruction = match &location.disassembly {
        Some(text) => format!("{address}: {text}"),
        None => address.to_string(),
    };
    format!(
        "{} at {location}{function} ({instruction})",
        what(decision.decides)
    )
}

fn what(decides: Decides) -> &'static str {
    match decides {
        Decides::Access => "whether it loads or stores",
        Decides::Address => "where it loads or stores",
        Decides::Branch => "where it branches",
        Decides::Setting => "how the core works",
        Decides::Code => "which instruction it is",
        Decides::Variable => "what a later call finds in a variable,",
    }
}
