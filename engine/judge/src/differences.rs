//! Where the two differ on purpose: our engine does what the manual says, Unicorn does not.
//! (Armv7-M: DDI 0403E; Armv8-M: DDI 0553.)

use crate::case::Case;
use crate::state::{End, Execution, IT, Notes, ROUNDING, is_fixed_to_float};
use dmo_engine::fault::Fault;
use dmo_engine::features::Needs;
use dmo_engine::operation::Operation;

/// A difference that is no error of our engine.
pub struct Known {
    /// What it is.
    pub what: &'static str,
    /// Where the manual says it.
    pub reference: &'static str,
    /// Whether it explains all that differs.
    explains: fn(&Observed) -> bool,
}

/// A case on which the two differ.
pub struct Observed<'a> {
    /// The case.
    pub case: &'a Case,
    /// What our engine did.
    pub ours: &'a Execution,
    /// What it knows besides.
    pub notes: &'a Notes,
    /// What Unicorn did.
    pub theirs: &'a Execution,
}

/// All differences that are known.
pub const KNOWN: &[Known] = &[
    Known {
        what: "Unicorn lets multiple and double accesses be unaligned",
        reference: "DDI 0403E A3.2.1: LDM, STM, LDRD, STRD, PUSH, POP, VLDR, VSTR, VLDM, VSTM fault",
        explains: |observed| matches!(observed.notes.fault, Some(Fault::Unaligned { .. })),
    },
    Known {
        what: "Unicorn keeps the lowest two bits of the stack pointer",
        reference: "DDI 0403E B1.4.1: bits 1 and 0 of SP are SBZP, writes to them are ignored",
        explains: stack_pointer_only,
    },
    Known {
        what: "Unicorn converts fixed point to floating point as FPSCR rounds",
        reference: "DDI 0403E A7.7.228: round_nearest is TRUE",
        explains: fixed_to_float,
    },
    Known {
        what: "Unicorn stops at hints as at undefined instructions, or goes on",
        reference: "DDI 0403E A7.7.261, A7.7.262, A7.7.263 and A7.7.129: they execute",
        explains: hint,
    },
    Known {
        what: "Unicorn has some of the DSP extension on cores without it",
        reference: "DDI 0403E A1.2, A5.1.2: they are UNDEFINED there",
        explains: |observed| {
            let needs = Needs::Dsp;
            matches!(observed.notes.fault, Some(Fault::Lacks { needs: lacking, .. }) if lacking == needs)
        },
    },
    Known {
        what: "Unicorn's exclusive monitor knows the address",
        reference: "DDI 0403E A3.4.1: a local monitor may let each STREX after a LDREX succeed",
        explains: |observed| {
            let executed = &observed.notes.executed;
            let mut stores = executed.iter();
            stores.any(|operation| matches!(operation, Operation::StoreExclusive { .. }))
                && executed.len() > 2
        },
    },
];

/// The known difference that explains what differs.
pub fn explanation(observed: &Observed) -> Option<&'static Known> {
    KNOWN.iter().find(|known| (known.explains)(observed))
}

/// Only where they stopped differs.
fn hint(observed: &Observed) -> bool {
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut stopped = theirs.clone();
    stopped.registers[15] = ours.registers[15];
    stopped.status = ours.status & IT | theirs.status & !IT;
    observed.ours.end == End::Hint && stopped == *ours
}

/// Numbers differ, after a conversion that was not to round as FPSCR says.
fn fixed_to_float(observed: &Observed) -> bool {
    let statuses = [observed.case.float_status, observed.ours.state.float_status];
    let directed = statuses.iter().any(|status| status & ROUNDING != 0);
    directed && observed.notes.executed.iter().any(is_fixed_to_float)
}

/// Only the lowest bits of the stack pointer differ, or what follows from them.
fn stack_pointer_only(observed: &Observed) -> bool {
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let (sp, unmasked) = (ours.registers[13], theirs.registers[13]);
    if unmasked & 3 == 0 || unmasked & !3 != sp {
        return false;
    }
    let mut masked = theirs.clone();
    masked.registers[13] = sp;
    masked == *ours || observed.case.instructions.len() > 2
}
