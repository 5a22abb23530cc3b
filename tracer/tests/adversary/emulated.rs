//! What no model file can say: operators that are left out, or that work in place. Such plans run
//! on the emulated reference kernels, and are compared with the model as it is.

use crate::tally::Tally;
use dmo_analysis::arena::Layout;
use dmo_analysis::random::SplitMix64;
use dmo_analysis::transform::Recipe;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::kernel_request::ModelKernels;
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_to_check::{PlanFault, PlanToCheck};
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use dmo_trace::study::{KERNEL_LIMITS, Session};
use std::time::Duration;

/// For each plan.
const SEARCH_TIME: Duration = Duration::from_millis(500);
/// On how many inputs each plan is verified.
const INPUTS: u64 = 2;

/// Plans a model with other kernels and fewer operators, and verifies that. Of many models an
/// operator has no emulated kernel: nothing is done with them.
pub fn attempt(seed: u64, file: &[u8], kernels: &ModelKernels, tally: &mut Tally) {
    let mut source = Source::of_bytes("model", file.to_vec()).unwrap();
    let deployed = source.deploy(kernels, KERNEL_LIMITS);
    if deployed.map_or(true, |deployed| {
        deployed.model().not_executed().next().is_some()
    }) {
        return;
    }
    let request = any_request(&mut SplitMix64::new(seed.reverse_bits()));
    let session = Session::default();
    let planned = plan(&mut source, &request, &session).unwrap();
    let checked = PlanToCheck::of_planned(&planned, &source).unwrap();
    let verify_request = VerifyRequest {
        inputs: INPUTS,
        ..VerifyRequest::default()
    };
    let verified = verify(&source, Some(checked), kernels, verify_request, &session);
    let is_changed = source.recipe().is_some_and(Recipe::changes);
    match verified {
        // The whole model has kernels, but its parts may lack them.
        Err(_) => tally.unverified += 1,
        Ok(verified) if !verified.has_objections() => tally.verified(is_changed),
        // Kernels here take one buffer where the runtime's of sequences take several, which are
        // planned: docs/verification.md.
        Ok(verified) if verified.faults.iter().any(is_of_scratch) => tally.unverified += 1,
        Ok(verified) => {
            let found = verified.verification.as_ref();
            let clashes = found.map(|found| &found.clashes);
            let differences = found.map(|found| &found.differences);
            let what = format!(
                "a plan is not SAFE on emulated kernels: {:?} {clashes:?} {differences:?}\n  \
                 {request:?}\n  {:?}",
                verified.faults,
                source.recipe()
            );
            tally.object(seed, &what, &[("model", file)]);
        }
    }
}

fn is_of_scratch(fault: &PlanFault) -> bool {
    matches!(fault, PlanFault::LittleScratch { .. })
}

fn any_request(random: &mut SplitMix64) -> PlanRequest {
    let mut once_in = |times: usize| random.below(times) == 0;
    PlanRequest {
        changes: ChangeRequest {
            in_place: once_in(2),
            remove: !once_in(3),
            split: once_in(4),
            patch: once_in(4),
            cache: once_in(4),
            ..ChangeRequest::default()
        },
        layout: Layout {
            keep_inputs: once_in(3),
            ..Layout::tflm()
        },
        time: SEARCH_TIME,
        ..PlanRequest::default()
    }
}
