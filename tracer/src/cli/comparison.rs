//! O_s of an operator by formula, by its loops, from machine code and by execution, side by
//! side.

use anyhow::{Context, bail};
use dmo_analysis::operator::{Operator, Overlap};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::measure::Measurement;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What a kernel or an operator's loops may take.
pub const LIMITS: Limits = Limits {
    max_instructions: 20_000_000_000,
    timeout: Duration::from_secs(600),
};

/// What is known of a pair of an input and an output. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub input: usize,
    pub output: usize,
    pub published_bytes: Option<f64>,
    pub published_is_unsafe: bool,
    pub closed_bytes: u32,
    pub algorithmic_bytes: u32,
    pub traced_bytes: Option<u32>,
    pub equal_at_overlap: Option<bool>,
    pub differs_beyond: Option<bool>,
}

/// A pair, and what speaks against it.
pub struct Compared {
    pub pair: Pair,
    /// Both may start at the same byte; none where no kernel was run.
    pub in_place: Option<bool>,
    /// What is wrong.
    pub findings: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Compares what the formulas, the loops and a measurement say of each pair.
pub fn compare(
    operator: &Operator,
    measured: Option<&Measurement>,
) -> anyhow::Result<Vec<Compared>> {
    let closed = operator.overlaps()?;
    let algorithmic = algorithmic(operator)?;
    let pairs = closed.iter().zip(&algorithmic).enumerate();
    Ok(pairs
        .map(|(index, (closed, algorithmic))| {
            let traced = measured.map(|measured| &measured.layer.pairs[index]);
            let proof = measured.map(|measured| measured.proofs[index]);
            let pair = Pair {
                input: closed.input,
                output: closed.output,
                published_bytes: closed.published_bytes,
                published_is_unsafe: closed.published_is_unsafe,
                closed_bytes: closed.bytes,
                algorithmic_bytes: algorithmic.bytes,
                traced_bytes: traced.map(|pair| pair.safe_overlap_bytes),
                equal_at_overlap: proof
                    .map(|proof| proof.equal_at_overlap && !proof.misaligned_at_overlap),
                differs_beyond: proof.and_then(|proof| proof.differs_beyond),
            };
            let differs = pair
                .traced_bytes
                .is_some_and(|traced| traced != pair.algorithmic_bytes);
            let reference = measured.is_some_and(Measurement::is_reference);
            let mut findings = Vec::new();
            if pair.closed_bytes != pair.algorithmic_bytes {
                findings.push("the closed form is not the algorithm's".to_owned());
            }
            if differs && reference {
                findings.push("the machine code is not what the algorithm says".to_owned());
            }
            if proof.is_some_and(|proof| !proof.equal_at_overlap) {
                let other = "at O_s, or at less, the kernel computes something else";
                findings.push(other.to_owned());
            }
            if proof.is_some_and(|proof| proof.equal_in_place == Some(false)) {
                let other = "at displacement 0 the kernel computes something else";
                findings.push(other.to_owned());
            }
            if proof.is_some_and(|proof| proof.misaligned_at_overlap) {
                let fault = "at O_s the alignment of the input makes a real core fault: it holds only where the buffers are displaced by multiples of 4";
                findings.push(fault.to_owned());
            }
            let refusals = traced.iter().flat_map(|pair| &pair.refusals);
            let mut notes: Vec<String> = refusals
                .map(|refusal| format!("no overlap is granted: {refusal}"))
                .collect();
            if pair.differs_beyond == Some(false) && notes.is_empty() {
                let same = "one element more overwrites a byte that is loaded later, but its value does not show in the output";
                notes.push(same.to_owned());
            }
            if differs && !reference {
                let other = "the formulas are of the reference kernel; this one has other loops";
                notes.push(other.to_owned());
            }
            let in_place = traced.zip(proof).map(|(traced, proof)| {
                traced.in_place
                    && proof.equal_at_overlap
                    && proof.equal_in_place.unwrap_or(true)
            });
            Compared {
                pair,
                in_place,
                findings,
                notes,
            }
        })
        .collect())
}

/// From the loops, unless they take too long.
fn algorithmic(operator: &Operator) -> anyhow::Result<Vec<Overlap>> {
    let (sender, receiver) = channel();
    let operator = operator.clone();
    // Not joined where it takes too long: it ends with the process.
    std::thread::spawn(move || {
        // Nobody listens any more when it took too long.
        let _ = sender.send(operator.traced_overlaps());
    });
    match receiver.recv_timeout(LIMITS.timeout) {
        Ok(overlaps) => Ok(overlaps?),
        Err(RecvTimeoutError::Timeout) => bail!(
            "the operator's loops take more than {} s\n  hint: a smaller shape",
            LIMITS.timeout.as_secs()
        ),
        Err(RecvTimeoutError::Disconnected) => {
            Err(RecvTimeoutError::Disconnected).context("the thread of the loops panicked")
        }
    }
}
