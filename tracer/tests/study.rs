//! The library without the command line: a model is planned and verified in ten lines, and a plan
//! that is not safe is not called so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

#[path = "../examples/plan_and_verify.rs"]
mod example;

use dmo_analysis::graph::overlaps::Sharing;
use dmo_trace::study::Session;
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_file::NamedPlan;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};

const MODEL: &str = "zoo:liberis_lane_figure_1:int8";

#[test]
fn example() {
    assert_eq!(example::plan_and_verify(MODEL).unwrap(), (3680, true));
}

/// An overlap that is one byte too tight.
#[test]
fn a_plan_that_is_too_tight() {
    let session = Session::default();
    let mut source = Source::load(MODEL).unwrap();
    let planned = plan(&mut source, &PlanRequest::default(), &session).unwrap();
    let mut named = NamedPlan {
        name: "too tight".to_owned(),
        plan: planned.file,
    };
    let pair = named.plan.overlaps[0].pair;
    let Sharing::Displaced(needed) = pair.sharing else {
        panic!("{pair:?}");
    };
    let mut tensors = named.plan.tensors.iter();
    let output = tensors.find(|tensor| tensor.tensor == pair.output);
    let too_low = output.unwrap().offset + needed - 1;
    let mut tensors = named.plan.tensors.iter_mut();
    let input = tensors.find(|tensor| tensor.tensor == pair.input);
    input.unwrap().offset = too_low;
    named.plan.layout.alignment = 1;
    let to_check = PlanToCheck::new(&named, &source, None).unwrap();
    let kernels = KernelRequest::default().load().unwrap();
    let request = VerifyRequest::default();
    let verified = verify(&source, Some(to_check), &kernels, request, &session).unwrap();
    let found = verified.verification.as_ref().unwrap();
    assert!(!verified.is_safe());
    assert!(verified.faults.is_empty(), "{:?}", verified.faults);
    assert!(!found.clashes.is_empty());
}
