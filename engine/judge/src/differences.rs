//! Where the two differ on purpose: our engine does what the manual says, Unicorn does not.
//! (Armv7-M: DDI 0403E; Armv8-M: DDI 0553.)
//!
//! What came before the last executed instruction is judged by itself, so that a difference has to
//! explain no more than that instruction.

use crate::case::{Case, Drawn};
use crate::state::{Access, End, Execution, IT, Notes, ROUNDING, State};
use dmo_engine::fault::{AccessKind, Fault};
use dmo_engine::features::Needs;
use dmo_engine::operation::{Operation, Precision};

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
    /// What our interpreter did.
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
        reference: "DDI 0403E A3.2.1: LDM, STM, LDRD, STRD, PUSH, POP, VLDR, VSTR, VLDM, VSTM fault; DDI 0553 B5.8: so do LDA and STL",
        explains: unaligned,
    },
    Known {
        what: "Unicorn keeps the lowest two bits of the stack pointer",
        reference: "DDI 0403E B1.4.1: bits 1 and 0 of SP are SBZP, writes to them are ignored",
        explains: stack_pointer,
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
        explains: lacks_dsp,
    },
    Known {
        what: "Unicorn's exclusive monitor knows the address",
        reference: "DDI 0403E A3.4.1: a local monitor may let each STREX after a LDREX succeed",
        explains: exclusive_store,
    },
    Known {
        what: "Unicorn forgets the rest of an IT block at ISB",
        reference: "DDI 0403E A7.7.37: ISB may be in an IT block, and does not end it",
        explains: |observed| ends_it_block(observed, (0xf3bf, 0x8f60)),
    },
    Known {
        what: "Unicorn's Cortex-M33 is in the secure state, where SG ends an IT block",
        reference: "DDI 0553, SG: without the security extension it does nothing",
        explains: |observed| ends_it_block(observed, (0xe97f, 0xe970)),
    },
    Known {
        what: "Unicorn keeps CONTROL.FPCA and SFPA, our engine does not",
        reference: "DDI 0403E B1.4.4: it says what an exception has to save, and there are none",
        explains: floating_point_context,
    },
    Known {
        what: "Unicorn has SG on cores before Armv8-M",
        reference: "DDI 0403E A6.3.6: LDRD and STRD with r14 and r15 are no instructions there",
        explains: secure_gateway,
    },
    Known {
        what: "Unicorn sets Q where the products of SMLAD overflow, though their sum with the addend does not",
        reference: "DDI 0403E A7.7, SMLAD: Q is set if the sum of all three does not fit",
        explains: sum_of_products,
    },
    Known {
        what: "Unicorn has SETEND of the A profile",
        reference: "DDI 0403E A5.2.5: of 1011 0110 only CPS is an instruction",
        explains: set_endianness,
    },
    Known {
        what: "Unicorn has LDREXD, STREXD, LDAEXD and STLEXD of the A profile",
        reference: "DDI 0403E A5.3.6: op3 0b0011 of loads, and stores of two words, are UNDEFINED",
        explains: exclusive_double,
    },
    Known {
        what: "Unicorn executes what are Advanced SIMD loads and stores in the A profile",
        reference: "DDI 0403E A5.3.1: op1 0b11 with op2 0b001xxx0 is UNDEFINED",
        explains: advanced_simd,
    },
];

/// The known difference that explains what differs.
pub fn explanation(observed: &Observed) -> Option<&'static Known> {
    KNOWN.iter().find(|known| (known.explains)(observed))
}

/// Unicorn has accessed the address that is refused, or found that an exclusive store must not.
fn unaligned(observed: &Observed) -> bool {
    let Some(Fault::Unaligned { address, .. }) = observed.notes.fault else {
        return false;
    };
    let last = observed.case.instructions.last();
    if let Some(Operation::StoreExclusive { rd, .. }) = last.and_then(Drawn::operation) {
        return observed.theirs.state.registers[usize::from(rd)] == 1;
    }
    let mut accesses = observed.theirs.accesses.iter();
    !address.is_multiple_of(4) && accesses.any(|access| access.address == address)
}

/// Only the lowest bits of the stack pointer differ.
fn stack_pointer(observed: &Observed) -> bool {
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut masked = theirs.clone();
    masked.registers[13] &= !3;
    theirs.registers[13] & 3 != 0 && is_all_else_same(observed, &masked, ours)
}

/// Only the number that was converted differs, by one in its last place.
fn fixed_to_float(observed: &Observed) -> bool {
    let Some(&Operation::FloatFixed {
        to_fixed: false,
        precision,
        d,
        ..
    }) = observed.notes.executed.last()
    else {
        return false;
    };
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let number = |state: &State| match precision {
        Precision::Single => u64::from(state.floats[usize::from(d)]),
        Precision::Double => {
            let low = 2 * usize::from(d);
            u64::from(state.floats[low]) | u64::from(state.floats[low + 1]) << 32
        }
    };
    let mut converted = theirs.clone();
    let registers = match precision {
        Precision::Single => usize::from(d)..usize::from(d) + 1,
        Precision::Double => 2 * usize::from(d)..2 * usize::from(d) + 2,
    };
    converted.floats[registers.clone()].copy_from_slice(&ours.floats[registers]);
    ours.float_status & ROUNDING != 0
        && number(ours).abs_diff(number(theirs)) == 1
        && is_all_else_same(observed, &converted, ours)
}

/// Only where they stopped differs.
fn hint(observed: &Observed) -> bool {
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut stopped = theirs.clone();
    stopped.registers[15] = ours.registers[15];
    stopped.status = ours.status & IT | theirs.status & !IT;
    observed.ours.end == End::Hint && stopped == *ours
}

/// Our engine has executed nothing, and Unicorn the instruction.
fn lacks_dsp(observed: &Observed) -> bool {
    let refused = matches!(
        observed.notes.fault,
        Some(Fault::Lacks {
            needs: Needs::Dsp,
            ..
        })
    );
    refused && observed.theirs.end == End::Breakpoint
}

/// Only the IT state differs, after an instruction whose encoding but for its last four bits is this.
fn ends_it_block(observed: &Observed, encoding: (u16, u16)) -> bool {
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let is_it =
        last(observed.case).is_some_and(|[first, second]| (first, second & 0xfff0) == encoding);
    let mut in_block = theirs.clone();
    in_block.status |= ours.status & IT;
    is_it && theirs.status & IT == 0 && is_all_else_same(observed, &in_block, ours)
}

/// Only bit 2, in the secure state bit 3 too, of a register that CONTROL was read to differs.
fn floating_point_context(observed: &Observed) -> bool {
    const CONTROL: u8 = 20;
    let Some(&Operation::ReadSpecial {
        rd,
        special: CONTROL,
    }) = observed.notes.executed.last()
    else {
        return false;
    };
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut without = theirs.clone();
    without.registers[usize::from(rd)] &= !0b1100;
    is_all_else_same(observed, &without, ours)
}

/// Our engine has executed nothing, and Unicorn the instruction.
fn secure_gateway(observed: &Observed) -> bool {
    let refused = matches!(
        observed.notes.fault,
        Some(Fault::Lacks {
            name: "SG",
            needs: Needs::Armv8,
        })
    );
    refused && observed.theirs.end == End::Breakpoint
}

/// Our engine has executed nothing, and Unicorn the instruction.
fn advanced_simd(observed: &Observed) -> bool {
    let is_one = last(observed.case).is_some_and(|[first, _]| first & 0xff10 == 0xf900);
    is_one && observed.notes.fault == Some(Fault::Undefined)
}

/// Only Q differs, of two products that are both 2^30.
fn sum_of_products(observed: &Observed) -> bool {
    const Q: u32 = 1 << 27;
    let is_it = matches!(
        observed.notes.executed.last(),
        Some(Operation::MultiplyDual {
            subtract: false,
            ra: Some(_),
            ..
        })
    );
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut without = theirs.clone();
    without.status &= !Q;
    is_it && ours.status & Q == 0 && is_all_else_same(observed, &without, ours)
}

/// Our engine has executed nothing, and Unicorn the instruction.
fn set_endianness(observed: &Observed) -> bool {
    let is_one = last(observed.case).is_some_and(|[first, _]| first & 0xfff7 == 0xb650);
    is_one && observed.notes.fault == Some(Fault::Undefined)
}

/// Our engine has executed nothing, and Unicorn the instruction.
fn exclusive_double(observed: &Observed) -> bool {
    let is_one = last(observed.case)
        .is_some_and(|[first, second]| first & 0xffe0 == 0xe8c0 && second & 0x70 == 0x70);
    is_one && observed.notes.fault == Some(Fault::Undefined)
}

/// The halfwords of the last instruction.
fn last(case: &Case) -> Option<[u16; 2]> {
    case.instructions.last().map(|drawn| drawn.halfwords)
}

/// The store succeeds here and fails there: only its bytes and its result differ.
fn exclusive_store(observed: &Observed) -> bool {
    let Some(&Operation::StoreExclusive { rd, .. }) = observed.notes.executed.last() else {
        return false;
    };
    let (ours, theirs) = (&observed.ours.state, &observed.theirs.state);
    let mut accesses = observed.ours.accesses.iter();
    let Some(store) = accesses.rfind(|access| access.kind == AccessKind::Store) else {
        return false;
    };
    let mut stored = theirs.clone();
    stored.registers[usize::from(rd)] = 0;
    let start = (store.address - crate::layout::RAM.start as u32) as usize;
    let bytes = start..start + store.size_bytes as usize;
    stored.ram[bytes.clone()].copy_from_slice(&ours.ram[bytes]);
    theirs.registers[usize::from(rd)] == 1 && stored == *ours
}

/// Whether nothing else differs: `theirs` with what the difference explains put right.
fn is_all_else_same(observed: &Observed, theirs: &State, ours: &State) -> bool {
    observed.ours.end == observed.theirs.end
        && access_difference(observed.ours, observed.notes, observed.theirs).is_none()
        && theirs == ours
}

/// Which bytes are accessed, in order. An exclusive store of Unicorn's loads before it stores.
pub(crate) fn access_difference(
    ours: &Execution,
    notes: &Notes,
    theirs: &Execution,
) -> Option<String> {
    let mut executed = notes.executed.iter();
    let is_exclusive = executed.any(|one| matches!(one, Operation::StoreExclusive { .. }));
    let bytes = |accesses: &[Access]| {
        let counted = |access: &&Access| !is_exclusive || access.kind == AccessKind::Store;
        let accesses = accesses.iter().filter(counted);
        let bytes = accesses.flat_map(|access| {
            let range = access.address..access.address + access.size_bytes;
            range.map(|byte| (access.kind, byte))
        });
        bytes.collect::<Vec<_>>()
    };
    (bytes(&ours.accesses) != bytes(&theirs.accesses)).then(|| {
        let (ours, theirs) = (&ours.accesses, &theirs.accesses);
        format!("accesses {ours:x?}, Unicorn {theirs:x?}")
    })
}
