//! Snapshots of a kernel's call.

use super::{Bench, MeasureError, call, caller};
use crate::explain::{Snapshot, SnapshotCollector};
use crate::kernels::{Case, Contract, KernelLibrary};
use crate::mcu::machine::{ExecutionPoint, Limits};
use std::collections::BTreeMap;

/// Repeats the call that [`super::measure_kernel`] traces, with a snapshot at each of these points.
///
/// # Errors
/// When the buffers do not fit, or the kernel faults.
pub fn snapshot_kernel(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    limits: Limits,
    points: &[ExecutionPoint],
) -> Result<BTreeMap<ExecutionPoint, Snapshot>, MeasureError> {
    let bench = Bench::new(library, case, contract, limits)?;
    let collector = SnapshotCollector::new(library.image());
    let mut caller = caller(library, limits)?;
    let (layer, mut frame) = bench.apart()?;
    let calls = bench.prepare(
        &layer.tensors,
        &mut frame,
        super::Stale::Other,
        super::varied(0),
    )?;
    caller.fill(&frame)?;
    caller.machine.inspect_at(points, collector.look())?;
    call(contract, &mut caller, &frame, &calls)?;
    Ok(collector.finish())
}
