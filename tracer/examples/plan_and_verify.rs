//! Plans a model's arena and verifies the plan on the machine code of the reference kernels:
//!
//! ```text
//! cargo run --example plan_and_verify -- model.tflite
//! ```

use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use dmo_trace::study::{Session, StudyError};

/// The size of the model's arena in bytes, and whether it is safe.
pub fn plan_and_verify(model: &str) -> Result<(u64, bool), StudyError> {
    let session = Session::default();
    let mut source = Source::load(model)?;
    let planned = plan(&mut source, &PlanRequest::default(), &session)?;
    let to_check = PlanToCheck::of_planned(&planned, &source)?;
    let kernels = KernelRequest::default().load()?;
    let request = VerifyRequest::default();
    let verified = verify(&source, Some(to_check), &kernels, request, &session)?;
    Ok((planned.file.arena_bytes, verified.is_safe()))
}

#[cfg_attr(test, allow(dead_code, reason = "a test calls what it calls"))]
fn main() -> Result<(), StudyError> {
    for model in std::env::args().skip(1) {
        let (arena_bytes, safe) = plan_and_verify(&model)?;
        let verdict = if safe { "SAFE" } else { "UNSAFE" };
        println!("{model}: {arena_bytes} bytes, {verdict}");
    }
    Ok(())
}
