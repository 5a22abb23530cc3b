//! Whether what a kernel accesses depends on data at all: shown for all inputs at once, by following
//! what is computed from them.

use super::{Bench, MeasureError, Stale, call, caller, varied};
use crate::call::{Caller, Library};
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::Decision;
use dmo_analysis::trace::{Address, Location};
use schemars::JsonSchema;
use serde::Serialize;

/// An instruction at which data decide what is accessed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DataDecision {
    /// Where it is.
    pub address: Address,
    /// What they decide.
    pub decides: Decides,
    /// Where it comes from.
    #[serde(flatten)]
    pub location: Location,
}

/// What data decide at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decides {
    /// Whether it loads or stores.
    Access,
    /// Where it loads or stores.
    Address,
    /// Where the program goes on.
    Branch,
    /// How the core works, or what a device is sent.
    Setting,
    /// Which instruction it is.
    Code,
}

impl From<Decision> for Decides {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Access => Self::Access,
            Decision::Address => Self::Address,
            Decision::Branch => Self::Branch,
            Decision::Setting => Self::Setting,
            Decision::Code => Self::Code,
        }
    }
}

/// What data have decided in the calls so far that were followed.
pub fn decisions(caller: &Caller, library: &Library) -> Vec<DataDecision> {
    let disassembler = Disassembler::default();
    let decisions = caller.machine.decisions().into_iter();
    decisions
        .map(|(address, decision)| DataDecision {
            address,
            decides: decision.into(),
            location: library.location(address, &disassembler),
        })
        .collect()
}

impl Bench<'_> {
    /// What data decide in the kernel's first calls, of which the second may find state of the first;
    /// `None` where the engine cannot tell.
    pub(super) fn follow_data(
        &self,
        calls: u64,
    ) -> Result<Option<Vec<DataDecision>>, MeasureError> {
        let mut caller = caller(self.library, self.limits)?;
        if !caller.follow_data() {
            return Ok(None);
        }
        for number in 0..calls {
            let (layer, mut frame) = self.apart()?;
            let calls = self.prepare(&layer.tensors, &mut frame, Stale::Other, varied(number))?;
            caller.fill(&frame)?;
            call(self.contract, &mut caller, &frame, &calls)?;
        }
        Ok(Some(decisions(&caller, self.library)))
    }
}
