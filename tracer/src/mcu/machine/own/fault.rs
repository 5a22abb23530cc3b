//! Faults of the engine as the machine tells them.

use super::OwnEngine;
use crate::mcu::machine::watch::kind;
use crate::mcu::machine::{FaultCause, Pause};
use dmo_analysis::trace::Address;
use dmo_engine::fault::Fault;

impl OwnEngine<'_> {
    /// The program cannot go on: where it is when it is told so, and why.
    pub(super) fn fault(&mut self, fault: Fault) -> Pause {
        match fault {
            // The exception would be taken after it.
            Fault::SupervisorCall { .. } => self.pass(),
            // The program counter is where a branch went that has been executed.
            Fault::Fetch { .. } | Fault::NotThumb { .. } => {}
            _ => self.at_instruction = true,
        }
        Pause::Fault(cause(fault))
    }
}

fn cause(fault: Fault) -> FaultCause {
    match fault {
        Fault::Access {
            kind: which,
            address,
            size_bytes,
            mapped,
        } => FaultCause::Access {
            kind: kind(which),
            address: Address(address),
            size_bytes: size_bytes as usize,
            mapped,
        },
        Fault::Fetch { address } => FaultCause::Fetch {
            address: Address(address),
        },
        Fault::NotThumb { address } => FaultCause::NotThumb {
            address: Address(address),
        },
        Fault::Unaligned {
            name,
            address,
            alignment,
        } => FaultCause::Unaligned {
            what: name,
            address: Address(address),
            alignment,
        },
        Fault::StackLimit { address } => FaultCause::StackLimit {
            address: Address(address),
        },
        Fault::DivisionByZero => FaultCause::DivisionByZero,
        Fault::Undefined => FaultCause::Undefined,
        Fault::Lacks { name, needs } => FaultCause::Lacks { name, needs },
        Fault::Unpredictable { name } => FaultCause::Unpredictable { name },
        Fault::FloatingPointOff => FaultCause::FloatingPointOff,
        Fault::SupervisorCall { .. } => FaultCause::SupervisorCall,
    }
}
