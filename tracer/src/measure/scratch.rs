//! How much scratch memory a kernel wants.

use super::{MeasureError, caller};
use crate::kernels::{Case, Contract, KernelLibrary};
use crate::mcu::machine::Limits;
use dmo_analysis::graph::parameters::Parameters;

/// Scratch memory that a kernel wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScratchMemory {
    /// What to reserve, in bytes.
    pub total_bytes: u32,
    /// What each of the library's functions says, in bytes: TensorFlow Lite Micro asks for a buffer
    /// for each.
    pub told_bytes: Vec<u32>,
}

/// How much scratch memory the kernel wants, as the library itself says.
///
/// # Errors
/// When it cannot be called, says no size or stores to a variable, or the memory exceeds 32 bits.
pub fn scratch_memory(
    library: &KernelLibrary,
    case: &Case,
    contract: &Contract,
    parameters: &Parameters,
    limits: Limits,
) -> Result<ScratchMemory, MeasureError> {
    let Some(scratch) = contract.scratch else {
        return Ok(ScratchMemory::default());
    };
    let mut told_bytes = Vec::new();
    for function in scratch.functions() {
        let mut frame = library.frame();
        let arguments = function.arguments(case, parameters, &mut frame)?;
        let function = function.name;
        let mut caller = caller(library, limits)?;
        let before = caller.variables();
        let bytes = caller.call(function, &frame, &arguments)?;
        if caller.variables() != before {
            return Err(MeasureError::SizeSetsVariable { function });
        }
        let status = bytes as i32;
        if status < 0 {
            return Err(MeasureError::Status { function, status });
        }
        told_bytes.push(bytes);
    }
    let size_bytes = scratch.total_bytes(case, &told_bytes);
    let total_bytes =
        u32::try_from(size_bytes).map_err(|_| MeasureError::Scratch { size_bytes })?;
    Ok(ScratchMemory {
        total_bytes,
        told_bytes,
    })
}
