//! Whether the engines agree on a case.

use crate::case::Case;
use crate::differences::{Known, Observed, access_difference, explanation};
use crate::state::{End, Execution, Notes, State};
use dmo_engine::fault::Fault;

/// How our interpreter and Unicorn compare on a case.
pub enum Verdict {
    /// They leave the same.
    Same,
    /// Neither can execute it.
    BothFault,
    /// They differ on purpose, in the last instruction that was executed.
    Known(&'static Known),
    /// The architecture does not say what happens, or it goes on without end.
    Undefined,
    /// They differ: the first difference.
    Differ(String),
}

/// Compares what the two did.
pub fn compare(case: &Case, ours: &Execution, notes: &Notes, theirs: &Execution) -> Verdict {
    let difference = match (&ours.end, &theirs.end) {
        _ if matches!(notes.fault, Some(Fault::Unpredictable { .. })) => return Verdict::Undefined,
        (End::Endless, End::Endless) => return Verdict::Undefined,
        (End::Fault(_), End::Fault(_)) => match fault_difference(case, ours, notes, theirs) {
            None => return Verdict::BothFault,
            difference => difference,
        },
        (ours_end, theirs_end) if ours_end != theirs_end => Some(format!(
            "ends with {ours_end:?}, Unicorn with {theirs_end:?}"
        )),
        _ => first_difference(&ours.state, &theirs.state)
            .or_else(|| access_difference(ours, notes, theirs)),
    };
    let Some(difference) = difference else {
        return Verdict::Same;
    };
    let observed = Observed {
        case,
        ours,
        notes,
        theirs,
    };
    match explanation(&observed) {
        Some(known) => Verdict::Known(known),
        None => Verdict::Differ(difference),
    }
}

/// Accesses that are refused are the same ones. The state is compared for lone instructions: in a
/// sequence Unicorn may go on for a while after a store that it refuses.
fn fault_difference(
    case: &Case,
    ours: &Execution,
    notes: &Notes,
    theirs: &Execution,
) -> Option<String> {
    if !matches!(notes.fault, Some(Fault::Access { .. })) {
        return None;
    }
    if ours.end != theirs.end {
        let (ours, theirs) = (&ours.end, &theirs.end);
        return Some(format!("ends with {ours:?}, Unicorn with {theirs:?}"));
    }
    let is_alone = case.instructions.len() == 1;
    let difference = || first_difference(&ours.state, &theirs.state);
    is_alone.then(difference).flatten()
}

fn first_difference(ours: &State, theirs: &State) -> Option<String> {
    let words = |name: &str, ours: &[u32], theirs: &[u32]| {
        let mut pairs = ours.iter().zip(theirs).enumerate();
        let (index, (a, b)) = pairs.find(|(_, (a, b))| a != b)?;
        Some(format!("{name}{index} is {a:#010x}, Unicorn's {b:#010x}"))
    };
    let word = |name: &str, a: u32, b: u32| {
        (a != b).then(|| format!("{name} is {a:#010x}, Unicorn's {b:#010x}"))
    };
    let ram = || {
        let mut pairs = ours.ram.iter().zip(&theirs.ram).enumerate();
        let (index, (a, b)) = pairs.find(|(_, (a, b))| a != b)?;
        Some(format!(
            "byte {index:#x} of memory is {a:#04x}, Unicorn's {b:#04x}"
        ))
    };
    words("r", &ours.registers, &theirs.registers)
        .or_else(|| word("status", ours.status, theirs.status))
        .or_else(|| words("s", &ours.floats, &theirs.floats))
        .or_else(|| word("FPSCR", ours.float_status, theirs.float_status))
        .or_else(|| words("special ", &ours.special, &theirs.special))
        .or_else(ram)
}

/// How translated code differs from the interpreter.
pub fn translation_difference(translated: &Execution, interpreted: &Execution) -> Option<String> {
    if translated == interpreted {
        return None;
    }
    let of_state = first_difference(&translated.state, &interpreted.state);
    let what = of_state.unwrap_or_else(|| {
        let rest = |execution: &Execution| {
            let Execution {
                end,
                accesses,
                time,
                ..
            } = execution;
            format!("{end:?} at {time:?} with {accesses:x?}")
        };
        format!(
            "{}, the interpreter {}",
            rest(translated),
            rest(interpreted)
        )
    });
    Some(format!(
        "translated (the interpreter in Unicorn's place): {what}"
    ))
}
