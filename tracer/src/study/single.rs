//! One case on one kernel.

use super::error::{About, StudyError};
use super::kernel_request::NamedKernels;
use crate::kernels::{Case, Contract, KernelLibrary};
use crate::mcu::machine::Limits;
use crate::measure::{Measurement, choose, measure_in_detail};

/// Measures a case on a kernel of this library, the first that computes it unless one is named;
/// and what is to be said of the version of the library.
///
/// # Errors
/// When no kernel computes it, or it cannot be measured.
pub fn measure_case(
    kernels: &NamedKernels,
    case: &Case,
    function: Option<&str>,
    inputs: u64,
    limits: Limits,
) -> Result<(Measurement, Option<String>), StudyError> {
    let library = &kernels.library;
    let kernel = choose(library, case, function).about(&kernels.name)?;
    let measured = measure_in_detail(library, case, kernel, inputs, limits);
    let measured = measured.about(&kernels.name)?;
    Ok((measured, uncertain_version(library, kernel)))
}

/// That the library may be of several versions, which all call the kernel like this.
fn uncertain_version(library: &KernelLibrary, kernel: &Contract) -> Option<String> {
    let [first, last] = library.versions().bounds();
    (kernel.is_of_cmsis_nn() && first != last).then(|| {
        format!(
            "the library may be of CMSIS-NN {first} to {last}: {} is called alike in all of them",
            kernel.function
        )
    })
}
