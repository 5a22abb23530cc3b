//! Where data decide what code accesses.

use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{Decision, Machine};
use crate::program::target::Target;
use dmo_analysis::trace::{Address, Location};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

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
    /// What a later call finds in a variable, which may be the same for all data.
    Variable,
}

impl DataDecision {
    /// What is wrong with that, as a clause without its full stop.
    pub fn clause(&self) -> String {
        match self.decides {
            // Also if what it stores is the same for all data: the next call goes on from it.
            Decides::Variable => format!("a later call may find {self}"),
            _ => format!("data decide {self}"),
        }
    }
}

impl fmt::Display for DataDecision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address, location, ..
        } = self;
        write!(formatter, "{} at {location}", self.decides)?;
        if let Some(function) = location
            .function
            .as_ref()
            .filter(|_| location.file.is_some())
        {
            write!(formatter, " in {function}")?;
        }
        match &location.disassembly {
            Some(text) => write!(formatter, " ({address}: {text})"),
            None => write!(formatter, " ({address})"),
        }
    }
}

impl fmt::Display for Decides {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Access => "whether it loads or stores",
            Self::Address => "where it loads or stores",
            Self::Branch => "where it branches",
            Self::Setting => "how the core works",
            Self::Code => "which instruction it is",
            Self::Variable => "what is stored to a variable",
        })
    }
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
