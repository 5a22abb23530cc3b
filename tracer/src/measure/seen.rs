//! A kernel's call, looked at while it runs.

use super::{Bench, MeasureError, call, caller};
use crate::explain::{Seen, Witness};
use crate::kernels::{Case, Contract, KernelLibrary};
use crate::mcu::machine::{Limits, Moment};
use std::collections::BTreeMap;

/// Makes the call that [`super::measure_kernel`] traces, and looks at these moments.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn see_kernel(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    limits: Limits,
    moments: &[Moment],
) -> Result<BTreeMap<Moment, Seen>, MeasureError> {
    let bench = Bench::new(library, case, contract, limits)?;
    let witness = Witness::new(library.image());
    let mut caller = caller(library, limits)?;
    let (layer, mut frame) = bench.apart()?;
    let calls = bench.prepare(&layer.tensors, &mut frame, 0)?;
    caller.fill(&frame)?;
    caller.machine.look_at(moments, witness.look())?;
    call(contract, &mut caller, &frame, &calls)?;
    Ok(witness.finish())
}
