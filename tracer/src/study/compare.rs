//! O_s of an operator by formula, by its loops, from machine code and by execution, side by
//! side.

use crate::mcu::machine::Limits;
use crate::measure::{Measurement, Proof};
use dmo_analysis::operator::{Operator, Overlap, ShapeError};
use dmo_analysis::profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// On how many different inputs a kernel is measured by itself.
pub const INPUTS: u64 = 5;

/// What a kernel or an operator's loops may take.
pub const LIMITS: Limits = Limits {
    max_instructions: 20_000_000_000,
    timeout: Duration::from_secs(600),
};

/// What is known of a pair of an input and an output. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Pair {
    /// Position among the operator's inputs.
    pub input: usize,
    /// Position among the operator's outputs.
    pub output: usize,
    /// O_s by the published formula; `None` where there is none.
    pub published_bytes: Option<f64>,
    /// Whether the published formula grants more than the loops allow.
    pub published_is_unsafe: bool,
    /// O_s by the closed form.
    pub closed_bytes: u32,
    /// O_s by the operator's loops.
    pub algorithmic_bytes: u32,
    /// O_s of the machine code; `None` where no kernel was run, as of the next two.
    pub traced_bytes: Option<u32>,
    /// Whether the kernel, run at O_s and at less, computes what it computes in separate buffers.
    pub equal_at_overlap: Option<bool>,
    /// Whether it computes something else one element beyond O_s.
    pub differs_beyond: Option<bool>,
}

/// Why nothing can be compared.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CompareError {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("the operator's loops take more than {} s\n  hint: a smaller shape, or more time (--timeout)", .limit.as_secs_f64())]
    Slow { limit: Duration },
    #[error("the thread of the loops panicked")]
    Panic,
}

/// A pair, and what speaks against it.
pub struct Compared {
    /// What each way says.
    pub pair: Pair,
    /// Both may start at the same byte; `None` where no kernel was run.
    pub in_place: Option<bool>,
    /// What is wrong.
    pub findings: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Compares what the formulas, the loops and a measurement say of each pair. The loops may take
/// `limit`.
///
/// # Errors
/// When the operator's shapes make no sense, or its loops take too long.
pub fn compare(
    operator: &Operator,
    measured: Option<&Measurement>,
    limit: Duration,
) -> Result<Vec<Compared>, CompareError> {
    let closed = operator.overlaps()?;
    let algorithmic = algorithmic(operator, limit)?;
    let pairs = closed.iter().zip(&algorithmic).enumerate();
    let compared = pairs.map(|(index, both)| {
        let measured = measured.map(|measured| Measured {
            traced: &measured.layer.pairs[index],
            proof: measured.proofs[index],
            is_reference: measured.is_reference(),
        });
        compared(both, measured)
    });
    Ok(compared.collect())
}

/// What was measured of a pair.
struct Measured<'a> {
    traced: &'a profile::Pair,
    proof: Proof,
    is_reference: bool,
}

fn compared((closed, algorithmic): (&Overlap, &Overlap), measured: Option<Measured>) -> Compared {
    let proof = measured.as_ref().map(|measured| measured.proof);
    let traced_bytes = measured
        .as_ref()
        .map(|measured| measured.traced.safe_overlap_bytes);
    let pair = Pair {
        input: closed.input,
        output: closed.output,
        published_bytes: closed.published_bytes,
        published_is_unsafe: closed.published_is_unsafe,
        closed_bytes: closed.bytes,
        algorithmic_bytes: algorithmic.bytes,
        traced_bytes,
        equal_at_overlap: proof.map(|proof| proof.equal_at_overlap && !proof.misaligned_at_overlap),
        differs_beyond: proof.and_then(|proof| proof.differs_beyond),
    };
    let differs = pair.closed_bytes != pair.algorithmic_bytes;
    let mut findings = vec![(differs, "the closed form is not the algorithm's")];
    findings.extend(
        measured
            .iter()
            .flat_map(|measured| measured.findings(&pair)),
    );
    findings.retain(|(found, _)| *found);
    let notes = measured.as_ref().map(|measured| measured.notes(&pair));
    Compared {
        pair,
        in_place: measured.map(|Measured { traced, proof, .. }| {
            traced.in_place && proof.equal_at_overlap && proof.equal_in_place.unwrap_or(true)
        }),
        findings: findings
            .iter()
            .map(|(_, words)| (*words).to_owned())
            .collect(),
        notes: notes.unwrap_or_default(),
    }
}

impl Measured<'_> {
    /// What may be wrong: whether it is, and how.
    fn findings(&self, pair: &Pair) -> [(bool, &'static str); 4] {
        let proof = self.proof;
        [
            (
                self.differs(pair) && self.is_reference,
                "the machine code is not what the algorithm says",
            ),
            (
                !proof.equal_at_overlap,
                "at O_s, or at less, the kernel computes something else",
            ),
            (
                proof.equal_in_place == Some(false),
                "at displacement 0 the kernel computes something else",
            ),
            (
                proof.misaligned_at_overlap,
                "at O_s the alignment of the input makes a real core fault: it holds only where the \
                 buffers are displaced by multiples of 4",
            ),
        ]
    }

    /// What is worth knowing.
    fn notes(&self, pair: &Pair) -> Vec<String> {
        let refusals = self.traced.refusals.iter();
        let mut notes: Vec<String> = refusals
            .map(|refusal| format!("no overlap is granted: {refusal}"))
            .collect();
        if pair.differs_beyond == Some(false) && notes.is_empty() {
            let same = "one element more overwrites a byte that is loaded later, but its value does \
                        not show in the output";
            notes.push(same.to_owned());
        }
        if self.differs(pair) && !self.is_reference {
            let other = "the formulas are of the reference kernel; this one has other loops";
            notes.push(other.to_owned());
        }
        notes
    }

    fn differs(&self, pair: &Pair) -> bool {
        self.traced.safe_overlap_bytes != pair.algorithmic_bytes
    }
}

/// From the loops, unless they take too long.
fn algorithmic(operator: &Operator, limit: Duration) -> Result<Vec<Overlap>, CompareError> {
    let (sender, receiver) = channel();
    let operator = operator.clone();
    // Not joined where it takes too long: it ends with the process.
    std::thread::spawn(move || {
        // Nobody listens any more when it took too long.
        let _ = sender.send(operator.traced_overlaps());
    });
    match receiver.recv_timeout(limit) {
        Ok(overlaps) => Ok(overlaps?),
        Err(RecvTimeoutError::Timeout) => Err(CompareError::Slow { limit }),
        Err(RecvTimeoutError::Disconnected) => Err(CompareError::Panic),
    }
}
