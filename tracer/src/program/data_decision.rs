//! Where data decide what code accesses.

use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{Decision, Machine};
use crate::program::target::Target;
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
    /// What a later call finds in a variable.
    Variable,
}

impl From<Decision> for Decides {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Access => Self::Access,
            Decision::Address => Self::Address,
            Decision::Branch => Self::Branch,
            Decision::Setting => Self::Setting,
            Decision::Code => Self::Code,
            Decision::Variable => Self::Variable,
        }
    }
}

/// What data have decided so far, where they are followed.
pub fn decisions(machine: &Machine, target: &Target) -> Vec<DataDecision> {
    let disassembler = Disassembler::default();
    let decisions = machine.decisions().into_iter();
    decisions
        .map(|(address, decision)| DataDecision {
            address,
            decides: decision.into(),
            location: target.location(address, &disassembler),
        })
        .collect()
}
