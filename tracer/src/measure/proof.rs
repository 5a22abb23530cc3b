//! The proof of an O_s: the kernel is executed in overlapped buffers.

use super::{Bench, MeasureError, Placement, watches};
use crate::call::{CallError, Caller};
use crate::mcu::machine::{FaultCause, Limits};
use dmo_analysis::profile::{LayerProfile, Pair};

/// What the kernel computes in buffers that overlap by O_s, by less, and by one element more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// At O_s and at smaller overlaps the output is that of separate buffers, on all inputs
    /// tried.
    pub equal_at_overlap: bool,
    /// At O_s the alignment of the input is one at which a real core faults.
    pub misaligned_at_overlap: bool,
    /// With one element more it is not, or the kernel does not come back; `None` if the
    /// buffers cannot overlap further.
    pub differs_beyond: Option<bool>,
    /// At displacement 0 the output is that of separate buffers, on all inputs tried; none
    /// where the trace does not allow it, or O_s is all of the smaller buffer there.
    pub equal_in_place: Option<bool>,
}

/// What a call may take in overlapped buffers: on spoilt data a loop may have no end.
pub(super) fn limits(layer: &LayerProfile, limits: Limits) -> Limits {
    let instructions = layer.instructions().saturating_mul(64);
    Limits {
        max_instructions: limits
            .max_instructions
            .min(instructions.saturating_add(1 << 20)),
        ..limits
    }
}

impl Bench<'_> {
    /// Runs the kernel with the input overlapped by O_s, by less, and by one element more.
    pub(super) fn prove(
        &self,
        caller: &mut Caller,
        layer: &LayerProfile,
        pair: &Pair,
        inputs: u64,
    ) -> Result<Proof, MeasureError> {
        let [a, b] = [pair.input, pair.output].map(|index| &layer.tensors[index].tensor);
        let overlap = pair.safe_overlap_bytes;
        let displacement = b.size_bytes - overlap;
        let element = a.element_type.size_bytes();
        let further = displacement
            .checked_sub(element)
            .filter(|_| overlap + element <= a.size_bytes);
        let smaller = smaller_overlaps(overlap, element);
        // Where greater displacements are safe too, 0 is that of O_s.
        let in_place = pair.in_place && pair.displacement_bytes > 0;
        let overlapped = |displacement| Placement::Overlapped {
            input: pair.input,
            output: pair.output,
            displacement,
        };
        let mut proof = Proof {
            equal_at_overlap: true,
            misaligned_at_overlap: false,
            differs_beyond: further.map(|_| false),
            equal_in_place: in_place.then_some(true),
        };
        for number in 0..inputs {
            let alone = self.execute(caller, Placement::Apart, number)?;
            let alone = &alone[pair.output];
            let mut run = |displacement| {
                let outputs = self.execute(caller, overlapped(displacement), number);
                outcome(outputs.map(|outputs| &outputs[pair.output] == alone))
            };
            match run(displacement)? {
                Outcome::Equal => (),
                Outcome::Other => proof.equal_at_overlap = false,
                Outcome::Misaligned => proof.misaligned_at_overlap = true,
            }
            // All of them on the first input, one on each other.
            let others = smaller.iter().cycle().skip(number as usize);
            let some = others.take(if number == 0 { smaller.len() } else { 1 });
            for overlap in some {
                let displacement = b.size_bytes - overlap;
                proof.equal_at_overlap &= match run(displacement)? {
                    Outcome::Equal => true,
                    Outcome::Other => false,
                    // A matter of where the buffers lie, not of how far they overlap.
                    Outcome::Misaligned => !displacement.is_multiple_of(4),
                };
            }
            if let Some(equal) = &mut proof.equal_in_place {
                *equal &= run(0)? == Outcome::Equal;
            }
            if let Some(further) = further {
                let differs = run(further)? != Outcome::Equal;
                proof.differs_beyond = Some(proof.differs_beyond == Some(true) || differs);
            }
        }
        if !displacement.is_multiple_of(4) {
            proof.misaligned_at_overlap |= self.misaligned(caller, overlapped(displacement))?;
        }
        Ok(proof)
    }

    /// `true` if an access to the buffers is at an address at which a real core faults.
    fn misaligned(&self, caller: &mut Caller, placement: Placement) -> Result<bool, MeasureError> {
        let (tensors, _) = self.place(placement)?;
        caller.machine.watch(watches(&tensors))?;
        let outputs = self.execute(caller, placement, 0);
        caller.machine.watch(Vec::new())?;
        Ok(outcome(outputs.map(|_| true))? == Outcome::Misaligned)
    }
}

/// The outcome of a call in overlapped buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The output is that of separate buffers.
    Equal,
    /// It is not, or there is none.
    Other,
    /// An access is not aligned as a real core wants it.
    Misaligned,
}

/// A kernel that does not come back from a call tells something of that call, not of the
/// measurement.
pub(super) fn outcome(equal: Result<bool, MeasureError>) -> Result<Outcome, MeasureError> {
    match equal {
        Ok(true) => Ok(Outcome::Equal),
        Ok(false)
        | Err(
            MeasureError::Status { .. }
            | MeasureError::Outside { .. }
            | MeasureError::Call(CallError::NoReturn { .. }),
        ) => Ok(Outcome::Other),
        Err(MeasureError::Call(CallError::Fault(fault))) => Ok(match fault.cause {
            FaultCause::Unaligned { .. } => Outcome::Misaligned,
            _ => Outcome::Other,
        }),
        Err(error) => Err(error),
    }
}

/// Overlaps less than O_s, down to none: a kernel may look at where its buffers lie.
fn smaller_overlaps(overlap: u32, element: u32) -> Vec<u32> {
    let elements = overlap / element;
    let fewer = [1, elements / 4, elements / 2, elements - elements / 4];
    let fewer = fewer.into_iter().chain([elements.saturating_sub(1)]);
    let mut overlaps: Vec<u32> = fewer
        .map(|fewer| overlap.saturating_sub(fewer * element))
        .chain([0])
        .filter(|&smaller| smaller < overlap)
        .collect();
    overlaps.sort_unstable();
    overlaps.dedup();
    overlaps
}
