//! Whether the two agree on a case.

use crate::case::Case;
use crate::differences::{Known, Observed, explanation};
use crate::state::{End, Execution, Notes, State};
use dmo_engine::fault::Fault;

/// How the two compare on a case.
pub enum Verdict {
    /// They leave the same.
    Same,
    /// Neither can execute it.
    BothFault,
    /// They differ on purpose.
    Known(&'static Known),
    /// The architecture does not say what happens, or it goes on for ever.
    Undefined,
    /// They differ: the first difference.
    Differ(String),
}

/// Compares what the two did.
pub fn compare(case: &Case, ours: &Execution, notes: &Notes, theirs: &Execution) -> Verdict {
    let difference = match (&ours.end, &theirs.end) {
        _ if matches!(notes.fault, Some(Fault::Unpredictable { .. })) => return Verdict::Undefined,
        (End::Fault(_), End::Fault(_)) => return Verdict::BothFault,
        (ours_end, theirs_end) if ours_end != theirs_end => Some(format!(
            "ends with {ours_end:?}, Unicorn with {theirs_end:?}"
        )),
        _ => first_difference(&ours.state, &theirs.state),
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

/// CONTROL but for the bit that says that floating point was used, which our engine does not keep.
const CONTROL_BITS: u32 = 0b011;

fn first_difference(ours: &State, theirs: &State) -> Option<String> {
    let words = |name: &str, ours: &[u32], theirs: &[u32]| {
        let mut pairs = ours.iter().zip(theirs).enumerate();
        let (index, (a, b)) = pairs.find(|(_, (a, b))| a != b)?;
        Some(format!("{name}{index} is {a:#010x}, Unicorn's {b:#010x}"))
    };
    let word = |name: &str, a: u32, b: u32| {
        (a != b).then(|| format!("{name} is {a:#010x}, Unicorn's {b:#010x}"))
    };
    let special = |state: &State| {
        let [primask, basepri, faultmask, control] = state.special;
        [primask, basepri, faultmask, control & CONTROL_BITS]
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
        .or_else(|| words("special ", &special(ours), &special(theirs)))
        .or_else(ram)
}
