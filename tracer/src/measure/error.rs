//! Why there is no measurement.

use super::SCRATCH;
use crate::call::{CallError, Overrun};
use crate::elf::symbols::nearest;
use crate::kernels::versions::Versions;
use crate::mcu::machine::MachineError;
use crate::program::record::{Panicked, RecordError};
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::operator::ShapeError;
use dmo_analysis::trace::Address;

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MeasureError {
    #[error("no kernel of the library computes this{}", wanted(.functions))]
    NoKernel { functions: Vec<&'static str> },
    #[error(
        "{function} of the library serves such operators, but this version of dmo-trace cannot call \
         it for these shapes and types"
    )]
    NotCallable { function: String },
    #[error("the library has no kernel '{function}' that computes this{}", nearest(.functions))]
    OtherKernel {
        function: String,
        functions: Vec<&'static str>,
    },
    #[error(
        "{function} cannot be called for this: the library may be of CMSIS-NN {given}, and the call is that of version {wanted}{}",
        narrower(.given)
    )]
    OtherVersion {
        function: &'static str,
        given: Versions,
        wanted: Versions,
    },
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{function} returns {status}: it does not take these arguments")]
    Status { function: &'static str, status: i32 },
    #[error(
        "{function} stores outside its buffers, at {}{}: no overlap is safe{}",
        .overrun.address,
        after(.overrun),
        too_little(.overrun, .scratch_size)
    )]
    Outside {
        function: &'static str,
        overrun: Overrun,
        scratch_size: Option<&'static str>,
    },
    #[error("scratch memory of {size_bytes} bytes exceeds 32-bit addresses")]
    Scratch { size_bytes: u64 },
    #[error(
        "{function} stores to a variable, which its kernel may find on a device and does not find here: no overlap is safe"
    )]
    SizeSetsVariable { function: &'static str },
    #[error("the output at {address} cannot be read")]
    Unreadable { address: Address },
    #[error("it is not known what every outcome of the conditions would access")]
    UnknownOutcomes,
    #[error("no kernel is called for operator {}", operator.0)]
    NotExecuted { operator: OperatorId },
    #[error("tensor {} lies nowhere", tensor.0)]
    Nowhere { tensor: TensorId },
    #[error("the emulating thread panicked")]
    Panic,
}

impl From<Panicked> for MeasureError {
    fn from(_: Panicked) -> Self {
        Self::Panic
    }
}

fn wanted(functions: &[&str]) -> String {
    if functions.is_empty() {
        String::new()
    } else {
        format!(": it has no {}", functions.join(", no "))
    }
}

fn after(overrun: &Overrun) -> String {
    let name = overrun.behind.as_ref();
    name.map_or(String::new(), |name| {
        format!(", after its {}", name.escape_debug())
    })
}

/// A library whose function for the size of the scratch memory is wrong.
fn too_little(overrun: &Overrun, scratch_size: &Option<&str>) -> String {
    match scratch_size {
        Some(function) if overrun.behind.as_deref() == Some(SCRATCH) => {
            format!("\n  hint: {function} asks for too little")
        }
        _ => String::new(),
    }
}

fn narrower(given: &Versions) -> &'static str {
    match given.bounds() {
        [first, last] if first == last => "",
        _ => "\n  hint: say which version it is: --cmsis-nn-version",
    }
}
