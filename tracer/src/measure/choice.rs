//! Which kernel of a library computes a case, or why none does.

use super::MeasureError;
use crate::kernels::{Buffers, Case, Contract, KernelLibrary};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::trace::Address;

/// The kernel of `library` that computes `case`: the first of them, or the one named.
///
/// # Errors
/// When there is none.
pub fn choose(
    library: &KernelLibrary,
    case: &Case,
    function: Option<&str>,
) -> Result<&'static Contract, MeasureError> {
    Contract::find(library, case, function).ok_or_else(|| {
        let functions = Contract::functions(case);
        let mut others = Contract::of_any_version(library, case);
        if let Some(other) = others.find(|it| it.is_meant(function)) {
            return MeasureError::OtherVersion {
                function: other.function,
                given: library.versions(),
                wanted: other.versions,
            };
        }
        let serving = match function {
            None => Contract::serving(library, case),
            Some(name) => Contract::serving_by_name(library, case, name),
        };
        if let Some(function) = serving {
            return MeasureError::NotCallable { function };
        }
        match function {
            None => MeasureError::NoKernel { functions },
            Some(function) => MeasureError::OtherKernel {
                function: function.to_owned(),
                functions: functions
                    .into_iter()
                    .filter(|name| library.has(name))
                    .collect(),
            },
        }
    })
}

/// Whether the kernel can be told these numbers.
///
/// # Errors
/// When it cannot, or the case has no buffers.
pub fn takes(
    contract: &Contract,
    library: &KernelLibrary,
    case: &Case,
    parameters: &Parameters,
) -> Result<(), MeasureError> {
    let sizes = case.operator.buffers()?;
    let anywhere = |count| vec![Address(0); count];
    let buffers = Buffers {
        inputs: anywhere(sizes.inputs.len()),
        outputs: anywhere(sizes.outputs.len()),
        // As much as it may want.
        scratch: contract.scratch.map(|_| (Address(0), u32::MAX)),
        states: anywhere(contract.states.len()),
    };
    contract.prepare(case, parameters, &buffers, &mut library.frame())?;
    Ok(())
}
